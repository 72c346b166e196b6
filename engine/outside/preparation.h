// Makes what a language starts faster with (core::Preparation), once on a machine: for
// `belljar languages --prepare`.
#ifndef BELLJAR_ENGINE_OUTSIDE_PREPARATION_H_
#define BELLJAR_ENGINE_OUTSIDE_PREPARATION_H_

#include <string>

#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "engine/outside/sandbox_options.h"

namespace belljar::outside {

struct Prepared {
  std::string path;
  core::Bytes size{0};
};

// Runs the command in a sandbox, like any program of the language, and moves the file that it
// leaves into the first of profiles::PreparedFolders, whole or not at all; files for other versions
// there are removed. `options` has the language as Installed, which must have a preparation. Open
// sandboxes do not change.
core::Result<Prepared> Prepare(SandboxOptions options);

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_PREPARATION_H_
