// The worker of a session: runs one cell after the other, and copies itself when the host asks.
//
// A copy is a clone of the worker: the same memory, the same seal, a socket of its own. It waits
// without running any Python. It then serves as a checkpoint: it can be copied any number of times,
// and a copy of it that is woken continues where the worker was.
//
//   worker ──cell──▶ worker ──copy──▶ worker ──cell──▶ …
//                      └─▶ checkpoint ──copy──▶ checkpoint
//                              └─▶ copy ──wake──▶ worker ──cell──▶ …
//
// All of this runs next to guest code: the host believes none of it. The kernel enforces what
// matters: the filter allows this one form of clone, RLIMIT_NPROC says when, and the host stops,
// counts and kills the processes (workers/session_family.h).
#ifndef BELLJAR_ENGINE_INSIDE_SESSION_WORKER_H_
#define BELLJAR_ENGINE_INSIDE_SESSION_WORKER_H_

#include <functional>

#include "engine/core/capture_layout.h"
#include "engine/core/wire.h"

namespace belljar::inside {

// Serves the host's orders on `socket`, whose number stays the same in all copies.
[[noreturn]] void ServeSession(int socket, core::CaptureLayout layout);

// The worker of a run that becomes that of a session, when an order arrives instead of its request.
// It is not copied: its filter refuses any clone. `lower` applies the session's limits; false: it
// could not. `limits_cpu`: whether it has a CPU time limit, which each cell counts anew.
[[noreturn]] void ServeKeptSession(int socket, core::CaptureLayout layout, bool limits_cpu,
                                   const std::function<bool(const core::SessionOrder&)>& lower);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_SESSION_WORKER_H_
