// SparePoolOptions: what a pool keeps ready, and when it replaces its zygote.
#ifndef BELLJAR_ENGINE_POOL_SPARE_POOL_OPTIONS_H_
#define BELLJAR_ENGINE_POOL_SPARE_POOL_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/seal/cgroup.h"
#include "engine/workers/zygote_process.h"

namespace belljar::pool {

struct SparePoolOptions {
  workers::ZygoteOptions zygote;
  size_t spares = 4;
  uint64_t rotate_after_workers = 10'000;
  std::chrono::milliseconds rotate_after{30 * 60 * 1000};
  // From the launch of a zygote until it is ready; afterwards it is killed, and the start has
  // failed. Longer than the largest profile takes on a slow and busy machine: for callers their own
  // timeout applies.
  std::chrono::milliseconds zygote_start_timeout{60'000};
  std::optional<seal::CgroupLeaf> cgroup;  // of zygote and workers
  std::string no_cgroup;                   // why there is none
  // A worker without these layers is refused. Names as in LayerState.
  std::vector<std::string> required_layers;
  // Make zygote and workers children of a ChildReaper, for a program with its own children.
  bool hides_children = false;
  bool owns_pid_namespace = false;  // see workers/worker.h
};

}  // namespace belljar::pool

#endif  // BELLJAR_ENGINE_POOL_SPARE_POOL_OPTIONS_H_
