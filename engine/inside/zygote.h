// Theory of operation.
//
// Host (trusted, no Python) ──clone3 into new namespaces, exec──▶ zygote, one per profile.
//   1. The zygote receives its start message: profile, paths, seal plan. All of it comes from the
//      operator; no guest byte ever reaches a zygote.
//   2. It starts CPython, imports the profile's modules, builds the policy, freezes the heap.
//   3. It applies the parts of the seal that all workers share (private root, identity, Landlock
//      rules).
//   4. It serves one message, spawn: {socket, capture memory} in, {pidfd} out. It stays single
//      threaded, so that a clone of it is a complete interpreter. For a session it clones an init
//      instead, which clones the worker (session_init.h).
//
// A worker is cloned with CLONE_PARENT: it is the host's child, not the zygote's. So the host reaps
// it itself, with its resource usage, and a zygote may die or be replaced while its workers run.
// Every worker gets SIGKILL when its parent dies, so all of them end with the host.
//
// A zygote for a single run does not clone: when asked for a worker, it applies the rest of the
// seal to itself and becomes that worker. It needs neither a fork nor CLONE_PARENT (which gVisor of
// 2022 accepts but ignores), and only one process's memory. It is the host's child already.
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
