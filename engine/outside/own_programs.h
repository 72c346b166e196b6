// OwnPrograms: the Python programs that a program starts by the language policy's view of
// subprocess. Each is a run of its own in the same sandbox, with what is left of the first one's
// time and CPU time, while that waits. It gets no files, starts none itself, and ends with the
// first one.
//
//   return RunWithOwnPrograms(options, request, run, run_first, run_others);
#ifndef BELLJAR_ENGINE_OUTSIDE_OWN_PROGRAMS_H_
#define BELLJAR_ENGINE_OUTSIDE_OWN_PROGRAMS_H_

#include <functional>

#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/outside/sandbox_options.h"
#include "engine/run/run_options.h"

namespace belljar::outside {

// A program may start so many.
inline constexpr int kMaxOwnPrograms = 16;

using RunProgram =
    std::function<core::Result<host::Outcome>(const host::Request&, const run::RunOptions&)>;

// Runs the request by `first`; `others` runs what it starts, on the same thread. The outcome has
// the CPU time, connections and security events of both.
core::Result<host::Outcome> RunWithOwnPrograms(const SandboxOptions& options,
                                               const host::Request& request,
                                               const run::RunOptions& run, const RunProgram& first,
                                               const RunProgram& others);

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_OWN_PROGRAMS_H_
