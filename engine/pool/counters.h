// Counters: how many workers or containers a pool has started and has ready.
#ifndef BELLJAR_ENGINE_POOL_COUNTERS_H_
#define BELLJAR_ENGINE_POOL_COUNTERS_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace belljar::pool {

struct Counters {
  uint64_t zygotes_started = 0;
  uint64_t workers_spawned = 0;  // or containers started
  size_t waiting = 0;            // workers that are ready, whichever program comes next
  pid_t zygote_pid = -1;         // -1: none, or not on this machine
  pid_t light_zygote_pid = -1;   // of a second zygote (outside/start_plan.h)
};

}  // namespace belljar::pool

#endif  // BELLJAR_ENGINE_POOL_COUNTERS_H_
