// Order: a worker made for one taker, because it gets something that no other may have: a
// workspace, which is mounted in it.
//
// The taker waits for it, and a pending worker carries it (serving_zygote.h). If that is lost on
// the way, alone or with its zygote, the taker gets an error: the workspace is gone with it.
#ifndef BELLJAR_ENGINE_POOL_ORDER_H_
#define BELLJAR_ENGINE_POOL_ORDER_H_

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/waiting/taker_queue.h"
#include "engine/workers/worker.h"

namespace belljar::pool {

class Order {
 public:
  // `workspace`: a detached mount.
  explicit Order(core::UniqueFd workspace) : workspace_(std::move(workspace)) {}

  const core::UniqueFd& workspace() const { return workspace_; }

  // Once, by the taker.
  core::Result<workers::Worker> Await(const waiting::Wait& wait, const char* operation) {
    std::unique_lock lock(mutex_);
    if (settled_) return std::move(*settled_);
    core::Result<workers::Worker> made = taker_.Take(lock, wait, operation, [] {
      return "its worker was not ready in time: the machine is busy; try again";
    });
    is_over_ = true;
    return made;
  }

  // The first time counts. A worker that nobody waits for any more ends.
  void Settle(core::Result<workers::Worker> made) {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_over_, true)) return;
    if (taker_.empty()) {
      settled_.emplace(std::move(made));
    } else if (made) {
      taker_.Give(std::move(*made));
    } else {
      taker_.FailAll(made.error());
    }
  }

 private:
  const core::UniqueFd workspace_;
  std::mutex mutex_;
  waiting::TakerQueue<workers::Worker> taker_;
  std::optional<core::Result<workers::Worker>> settled_;  // before somebody waited
  bool is_over_ = false;
};

// The same order, for who carries it out: the taker gets an error if it is dropped.
inline std::shared_ptr<Order> Carried(std::shared_ptr<Order> order) {
  Order* const carried = order.get();
  return {carried, [order = std::move(order)](Order* dropped) {
            dropped->Settle(core::MakeError("start a worker", "it was lost on the way; try again"));
          }};
}

}  // namespace belljar::pool

#endif  // BELLJAR_ENGINE_POOL_ORDER_H_
