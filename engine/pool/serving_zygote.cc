#include "engine/pool/serving_zygote.h"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace belljar::pool {
namespace {

// Enough to keep the zygote busy.
constexpr size_t kRequestsAhead = 3;
constexpr std::chrono::seconds kSpawnTimeout{10};
constexpr std::chrono::seconds kEndTimeout{2};
constexpr std::chrono::seconds kReadyTimeout{20};

// A zygote that dies between a clone and its reply never tells us the pid of our child. The worker
// reveals it when it reports that it is sealed, since the kernel identifies the sender; for a
// session, our child is the init, which does the same. If there is none, the other end of its
// socket was closed with the zygote.
void ReapUnannounced(int socket, core::Reaper* reaper) {
  if (!core::WaitReadable(socket, core::Clock::now() + kEndTimeout)) return;
  const core::Result<pid_t> worker = core::SenderOfNext(socket);
  if (!worker || *worker <= 0) return;
  core::KillAndReap(*worker, reaper);
}

}  // namespace

// Prepares what a request for a worker needs; `socket` becomes the worker's end.
core::Result<PendingWorker> ServingZygote::Prepare(core::UniqueFd& socket) const {
  auto pair = core::CreateSocketPair(SOCK_STREAM);
  if (!pair) return pair.error();
  if (core::Result<void> noted = core::NoteSenders(pair->first.get()); !noted) return noted.error();
  core::Result<workers::CaptureReader> capture = workers::CaptureReader::Create(layout_);
  if (!capture) return capture.error();
  socket = std::move(pair->second);
  return PendingWorker{{.capture = std::move(*capture), .socket = std::move(pair->first)}, {}};
}

bool ServingZygote::CanRequest() const { return requested_.size() < kRequestsAhead; }

size_t ServingZygote::Requested(workers::WorkerUse use) const {
  return static_cast<size_t>(std::ranges::count_if(
      requested_, [&](const PendingWorker& each) { return each.IsForAny(use); }));
}

core::Deadline ServingZygote::reply_deadline() const {
  return requested_.empty() ? core::Deadline::max() : requested_.front().deadline;
}

core::Result<void> ServingZygote::Request(workers::WorkerUse use, std::shared_ptr<Order> order) {
  core::UniqueFd socket;
  core::Result<PendingWorker> pending = Prepare(socket);
  if (!pending) return pending.error();
  pending->use = use;
  pending->order = std::move(order);
  core::Result<void> sent = Send(*pending, socket.get());
  if (!sent) return sent;
  pending->worker.capture.CloseMemory();
  pending->deadline = core::Clock::now() + kSpawnTimeout;
  requested_.push_back(std::move(*pending));
  return {};
}

core::Result<void> ServingZygote::Send(PendingWorker& pending, int socket) {
  workers::ZygoteProcess::Given given{.socket = socket,
                                      .capture_memory = pending.worker.capture.memory_fd()};
  if (pending.order) given.workspace = pending.order->workspace().get();
  if (pending.use == workers::WorkerUse::kRun) return process_.RequestWorker(given);
  auto pair = core::CreateSocketPair(SOCK_SEQPACKET);
  if (!pair) return pair.error();
  if (core::Result<void> noted = core::NoteSenders(pair->first.get()); !noted) return noted;
  pending.control = std::move(pair->first);
  given.init_socket = pair->second.get();
  return process_.RequestWorker(given);
}

core::Result<PendingWorker> ServingZygote::BecomeWorker() {
  core::UniqueFd socket;
  core::Result<PendingWorker> pending = Prepare(socket);
  if (!pending) return pending.error();
  workers::CaptureReader& capture = pending->worker.capture;
  core::Result<core::Process> process = process_.BecomeWorker(socket.get(), capture.memory_fd());
  if (!process) return process.error();
  capture.CloseMemory();
  pending->worker.process = std::move(*process);
  pending->deadline = core::Clock::now() + kReadyTimeout;
  return pending;
}

core::Result<std::optional<PendingWorker>> ServingZygote::Receive() {
  core::Result<core::Process> process = process_.ReceiveWorker();
  if (!process) {
    // If the kernel refused the clone, the zygote is unaffected; any other error is fatal for it.
    if (process.error().cause == core::Cause::kRefusedByKernel && !requested_.empty()) {
      if (const auto& order = requested_.front().order) order->Settle(process.error());
      requested_.pop_front();
    } else {
      is_lost_ = true;
    }
    return process.error();
  }
  if (requested_.empty()) {
    is_lost_ = true;  // an unexpected reply: the zygote is no longer trusted
    return std::optional<PendingWorker>();
  }
  PendingWorker pending = std::move(requested_.front());
  requested_.pop_front();
  if (pending.use == workers::WorkerUse::kSession) {
    pending.worker.family =
        std::make_shared<workers::SessionFamily>(std::move(*process), std::move(pending.control));
  } else {
    pending.worker.process = std::move(*process);
  }
  pending.deadline = core::Clock::now() + kReadyTimeout;
  ++spawned_;
  return std::optional<PendingWorker>(std::move(pending));
}

void ServingZygote::End(core::Reaper* reaper) {
  {
    workers::ZygoteProcess process = std::move(process_);
    process.Kill();
    // Earlier replies are still in the socket; those workers end here with their owners. The end of
    // the socket may come late: a worker holds the zygote's side of it until it is sealed.
    while (core::WaitReadable(process.control_fd(), core::Clock::now() + kEndTimeout)) {
      core::Result<core::Process> answered = process.ReceiveWorker();
      if (!answered && answered.error().cause != core::Cause::kRefusedByKernel) break;
      if (!requested_.empty()) requested_.pop_front();
    }
  }
  // The zygote clones one at a time, so no later clone can have begun.
  if (!requested_.empty()) {
    const PendingWorker& first = requested_.front();
    ReapUnannounced(first.control ? first.control.get() : first.worker.socket.get(), reaper);
  }
  requested_.clear();
}

}  // namespace belljar::pool
