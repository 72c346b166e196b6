// The init of a session: the first process of its PID namespace, cloned from the zygote, before any
// byte of a guest. It clones the session's worker, seals itself, and then only reaps: the worker
// and all copies of it are its children (CLONE_PARENT), and it tells the host how each of them
// ended. When it ends, the kernel kills all others of the namespace (pid_namespaces(7)); it ends
// when the host closes its socket, and with the host.
#ifndef BELLJAR_ENGINE_INSIDE_SESSION_INIT_H_
#define BELLJAR_ENGINE_INSIDE_SESSION_INIT_H_

#include "engine/inside/worker.h"

namespace belljar::inside {

// All of the order but `init_socket` (SEQPACKET) is the worker's (worker.h).
[[noreturn]] void RunSessionInit(const WorkerStart& start, SpawnOrder order);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_SESSION_INIT_H_
