// The launcher: to the programs of another language what a zygote (zygote.h) is to Python. It has
// no interpreter, so it is ready at once: it builds the private root of its language, takes the
// same spawn messages, and its clones are the same kind of workers, sealed while they wait. What a
// worker does with its request is in program_worker.h.
//
//   host ──start message (memfd)──▶ launcher ──"ready" or an error──▶ host
//   then as in zygote.h, but for sessions, which begin in the worker of a run
#ifndef BELLJAR_ENGINE_INSIDE_LAUNCHER_H_
#define BELLJAR_ENGINE_INSIDE_LAUNCHER_H_

#include "engine/core/fd.h"

namespace belljar::inside {

// Runs until the host closes `control`. Returns the process's exit code.
int RunLauncher(core::UniqueFd control);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_LAUNCHER_H_
