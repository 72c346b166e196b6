// ServingZygote: a zygote that has started, and the requests that it has not answered yet. Only the
// keeper of a pool uses it.
#ifndef BELLJAR_ENGINE_POOL_SERVING_ZYGOTE_H_
#define BELLJAR_ENGINE_POOL_SERVING_ZYGOTE_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "engine/core/capture_layout.h"
#include "engine/core/fd.h"
#include "engine/core/reaper.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/pool/order.h"
#include "engine/workers/worker.h"
#include "engine/workers/zygote_process.h"

namespace belljar::pool {

// A worker that has not yet reported that it is sealed.
struct PendingWorker {
  workers::Worker worker;
  core::Deadline deadline;  // first for the zygote's reply, then for the worker's report
  workers::WorkerUse use = workers::WorkerUse::kRun;
  core::UniqueFd control;        // for a session: of the init, until that has been cloned
  std::shared_ptr<Order> order;  // for its taker alone; null: for any

  bool IsForAny(workers::WorkerUse wanted) const { return !order && use == wanted; }
};

class ServingZygote {
 public:
  // `rotate_at`: when its time is over.
  ServingZygote(workers::ZygoteProcess process, core::CaptureLayout layout,
                core::Deadline rotate_at)
      : process_(std::move(process)), layout_(layout), rotate_at_(rotate_at) {}

  pid_t pid() const { return process_.pid(); }
  // Readable when it has replied or has died.
  int control_fd() const { return process_.control_fd(); }
  core::Deadline rotate_at() const { return rotate_at_; }
  uint64_t spawned() const { return spawned_; }

  // Requests a worker. If the zygote is gone, the next poll shows it, after its remaining replies.
  core::Result<void> Request(workers::WorkerUse use, std::shared_ptr<Order> order = nullptr);
  bool CanRequest() const;
  size_t Requested(workers::WorkerUse use) const;  // without those of orders
  bool has_requests() const { return !requested_.empty(); }
  // When the reply to the oldest request is late; Deadline::max(): there is none.
  core::Deadline reply_deadline() const;

  // The reply to the oldest request; blocks until control_fd() is readable. An error is about this
  // worker; with is_lost, also about the zygote. nullopt: a reply to no request.
  core::Result<std::optional<PendingWorker>> Receive();
  // It cannot be used any more, or cannot be trusted: call End.
  bool is_lost() const { return is_lost_; }

  // Instead of requests, for a single run: it becomes the worker. It is no longer a zygote, even if
  // this fails. This object can then only be destroyed.
  core::Result<PendingWorker> BecomeWorker();

  // Ends it, and with it the workers that it has cloned and that have not been received. `reaper`
  // is their parent; null: this process.
  void End(core::Reaper* reaper);

 private:
  core::Result<PendingWorker> Prepare(core::UniqueFd& socket) const;
  core::Result<void> Send(PendingWorker& pending, int socket);

  workers::ZygoteProcess process_;
  core::CaptureLayout layout_;
  core::Deadline rotate_at_;
  std::deque<PendingWorker> requested_;  // in the order of replies
  uint64_t spawned_ = 0;
  bool is_lost_ = false;
};

}  // namespace belljar::pool

#endif  // BELLJAR_ENGINE_POOL_SERVING_ZYGOTE_H_
