// The version of a language as this machine has it: what its version command says, in a sandbox.
#ifndef BELLJAR_ENGINE_OUTSIDE_PROGRAM_VERSION_H_
#define BELLJAR_ENGINE_OUTSIDE_PROGRAM_VERSION_H_

#include <string>

#include "engine/outside/sandbox_options.h"

namespace belljar::outside {

// `options.profile` is of a language that is installed (profiles/languages.h). "5.2.15": the first
// number with a dot of what is printed; empty: there is none. Blocks for the time of a run.
std::string ProgramVersion(SandboxOptions options);

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_PROGRAM_VERSION_H_
