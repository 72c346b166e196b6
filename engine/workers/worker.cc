#include "engine/workers/worker.h"

#include "engine/workers/process_tree.h"

namespace belljar::workers {

std::chrono::microseconds Worker::CpuTime() const {
  return runs_programs ? UsageOfTree(root_of_programs()).cpu_time : process.CpuTime();
}

pid_t Worker::root_of_programs() const { return owns_pid_namespace ? kAllOthers : process.pid(); }

}  // namespace belljar::workers
