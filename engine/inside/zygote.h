// Theory of operation.
//
// Host (trusted, no Python) ──clone3 into new namespaces, exec──▶ zygote, one per profile.
//   1. The zygote receives its start message: profile, paths, seal plan. All of it is the
//      operator's; no guest byte ever reaches a zygote.
//   2. It brings CPython up, imports the profile's modules, builds the policy, freezes the heap.
//   3. It seals itself as far as all workers share it (private root, identity, Landlock rules).
//   4. It serves one message, spawn: {socket, capture memory} in, {pidfd} out. It stays single
//      threaded, so a clone of it is a whole interpreter.
//
// A worker is cloned with CLONE_PARENT: it is the host's child, not the zygote's. So the host reaps
// it itself, with its resource usage, and a zygote may die or be replaced while its workers run.
// Every worker has asked for SIGKILL at its parent's death: when the host goes, all of them go.
//
// A zygote for a single run clones nothing: asked for a worker, it becomes that worker, with the
// rest of the seal put on itself. So it takes neither a fork nor CLONE_PARENT (which gVisor of 2022
// takes and does not do), and one process' memory. It is the host's child already.
//
//   pipe                       from → to          what
//   control  SEQPACKET, fd 3   host ↔ zygote      start, spawn; EOF: the zygote exits
//   socket   STREAM, one each  host ↔ worker      request in, "sealed" and "done" out
//   capture  memfd, one each   worker → host      stdout, stderr, report
#ifndef BELLJAR_ENGINE_INSIDE_ZYGOTE_H_
#define BELLJAR_ENGINE_INSIDE_ZYGOTE_H_

#include "engine/core/fd.h"

namespace belljar::inside {

// Runs until the host closes `control`. Returns the process's exit code.
int RunZygote(core::UniqueFd control);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_ZYGOTE_H_
