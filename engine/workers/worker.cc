#include "engine/workers/worker.h"

#include <string_view>

#include "engine/core/socket.h"
#include "engine/core/wire.h"
#include "engine/workers/process_tree.h"

namespace belljar::workers {

std::chrono::microseconds Worker::CpuTime() const {
  return runs_programs ? UsageOfTree(root_of_programs()).cpu_time : process.CpuTime();
}

pid_t Worker::root_of_programs() const { return owns_pid_namespace ? kAllOthers : process.pid(); }

core::Result<void> BeginSession(Worker& worker, const core::Limits& limits) {
  // Takes a millisecond, unless the machine is busy.
  constexpr std::chrono::seconds kTimeout{20};
  constexpr char kBegin[] = "begin a session";
  const core::Deadline deadline = core::Clock::now() + kTimeout;
  worker.use = WorkerUse::kSession;
  core::SessionOrder order;
  order.kind = core::SessionOrder::kBegin;
  order.memory_limit = limits.memory.count;
  order.file_size_limit = limits.file_size.count;
  const std::string_view parts[] = {core::AsBytes(order)};
  const int socket = worker.socket.get();
  if (core::Result<void> sent = core::SendAll(socket, parts, deadline); !sent) return sent;
  if (core::Result<void> ready = core::WaitReadable(socket, deadline); !ready) return ready;
  core::WorkerSignal signal;
  // Sent by our own code, in one piece.
  if (core::Result<void> got = core::ReceiveExactly(socket, &signal, sizeof signal); !got) {
    return core::MakeError(kBegin, "its process has ended: " + got.error().ToString());
  }
  if (signal.kind == core::WorkerSignal::kAwake) return {};
  return core::MakeError(kBegin, "unknown signal");
}

}  // namespace belljar::workers
