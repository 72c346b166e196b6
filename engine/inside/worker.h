// A worker: a clone of the zygote, or the zygote itself (single run). Sealed, used for one request
// or one session (session_worker.h), killed.
#ifndef BELLJAR_ENGINE_INSIDE_WORKER_H_
#define BELLJAR_ENGINE_INSIDE_WORKER_H_

#include "engine/inside/spawning.h"

namespace belljar::inside {

// Seals itself, reports that on its socket, waits for its request, runs it, reports, and waits to
// be killed. EOF there while it waits means that the host no longer needs it.
struct WorkerStart : UnsealedWorker {
  bool cloned = true;
  bool has_all_modules = true;
};
[[noreturn]] void RunWorker(const WorkerStart& start, SpawnOrder order);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_WORKER_H_
