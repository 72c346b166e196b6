// Shelves: the workers that are ready, and the callers that wait for one. What callers and the
// keeper of a pool share, under one mutex: callers take, the keeper delivers.
//
// There are two: for workers of single runs and of sessions, which have one process more. The
// second stays empty until the first session is opened.
#ifndef BELLJAR_ENGINE_POOL_SHELVES_H_
#define BELLJAR_ENGINE_POOL_SHELVES_H_

#include <sys/types.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/pool/counters.h"
#include "engine/pool/order.h"
#include "engine/run/run_options.h"
#include "engine/waiting/event.h"
#include "engine/waiting/taker_queue.h"
#include "engine/workers/worker.h"

namespace belljar::pool {

// Any thread, unless it says that only the keeper calls it.
class Shelves {
 public:
  // `spares`: to keep ready for single runs. `only_one`: there is one worker in all, for a single
  // run. `wake` is raised when the keeper has something to do.
  Shelves(size_t spares, bool only_one, waiting::Event wake);

  // As in SparePool.
  core::Result<workers::Worker> Take(core::Deadline deadline, const run::RunOptions& run,
                                     workers::WorkerUse use);
  core::Result<workers::Worker> TakeWith(core::UniqueFd workspace, core::Deadline deadline,
                                         const run::RunOptions& run);
  core::Result<void> WaitForSpare(core::Deadline deadline);
  Counters counters() const;

  // Hands a worker to the keeper, which reaps it.
  void Retire(workers::Worker worker);

  // Fails all takers, and those that come later.
  void Close();
  bool is_closing() const;
  // Waits until all takers have left Take. After Close, when no further calls can come.
  void AwaitEmpty();

  // The others are called by the keeper only.

  const waiting::Event& wake() const { return wake_; }

  // The oldest order that is not being carried out; null: there is none.
  std::shared_ptr<Order> NextOrder();
  bool HasOrders() const;

  // How many workers there are too few, if `on_their_way` come.
  size_t Missing(workers::WorkerUse use, size_t on_their_way) const;

  // To the first taker, or onto the shelf.
  void Deliver(workers::WorkerUse use, workers::Worker worker);

  // Fails all waiting takers, and those that come before `until`, unless a worker is delivered.
  void GiveUp(core::Error error, core::Deadline until);

  // Whether a worker has ever been delivered.
  bool has_delivered() const;

  std::vector<workers::Worker> TakeRetired();
  void Clear();

  void CountZygote(pid_t pid);
  void CountWorker();
  // The zygote of a single run has become its worker.
  void CountOnlyWorker();

 private:
  struct Shelf {
    size_t spares = 0;  // number to keep ready
    std::deque<workers::Worker> ready;
    waiting::TakerQueue<workers::Worker> takers;  // empty while a worker is ready
  };

  Shelf& Of(workers::WorkerUse use) { return shelves_[static_cast<size_t>(use)]; }
  const Shelf& Of(workers::WorkerUse use) const { return shelves_[static_cast<size_t>(use)]; }
  workers::Worker TakeReady(Shelf& shelf);
  void FailTakers(const core::Error& error);
  bool IsUsedUp() const;

  const size_t spares_;
  const bool only_one_;
  const waiting::Event wake_;  // a worker was taken or retired, or the pool is closing

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Shelf, 2> shelves_;  // by WorkerUse
  std::deque<std::shared_ptr<Order>> orders_;
  std::vector<workers::Worker> retired_;
  Counters counters_;
  std::optional<core::Error> failure_;  // why there are no workers; cleared by the next success
  core::Deadline failure_until_{};      // when to retry
  bool closing_ = false;
  bool has_delivered_ = false;  // the only one, in a single run
};

}  // namespace belljar::pool

#endif  // BELLJAR_ENGINE_POOL_SHELVES_H_
