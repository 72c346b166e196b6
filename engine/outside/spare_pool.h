// SparePool: keeps workers cloned, sealed, observed and waiting, so that a request holds no fork.
//
//   SparePool pool(options);
//   Result<Worker> worker = pool.Take(deadline);   // any thread; usually at once
//
// One keeper thread owns the zygote, refills the pool off the request path, and replaces the zygote
// after so many workers or so much time (all children of a zygote share one address-space layout)
// and when it dies. The keeper is the parent of all workers: it lives as long as the pool.
//
// With zygote.single_run there is one worker in all, which was the zygote: what fails before it
// waits is tried again, and once it has been taken nothing is started any more.
#ifndef BELLJAR_ENGINE_OUTSIDE_SPARE_POOL_H_
#define BELLJAR_ENGINE_OUTSIDE_SPARE_POOL_H_

#include <poll.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/outside/backend.h"
#include "engine/outside/observe.h"
#include "engine/outside/worker.h"
#include "engine/outside/zygote_process.h"
#include "engine/seal/cgroup.h"

namespace belljar {

struct SparePoolOptions {
  ZygoteOptions zygote;
  size_t spares = 4;
  uint64_t rotate_after_workers = 10'000;
  std::chrono::seconds rotate_after{30 * 60};
  std::optional<CgroupLeaf> cgroup;  // where zygote and workers are placed
  std::string no_cgroup;             // why there is none
  // Layers without which a worker is refused. Their names are LayerState's.
  std::vector<std::string> required_layers;
  // Zygote and workers are the children of a Parent: for a program with children of its own.
  bool hides_children = false;
};

class SparePool {
 public:
  explicit SparePool(SparePoolOptions options);
  SparePool(const SparePool&) = delete;
  ~SparePool();

  // Fails with the keeper's reason when no zygote can be started or workers fail in a row, at the
  // deadline (ETIMEDOUT), or when the caller of the run has cancelled it (ECANCELED).
  // For a single run: also once its worker has been taken, at once.
  Result<Worker> Take(Deadline deadline, const RunOptions& run = {});

  // Until a worker waits, without taking it. Fails like Take. The pool outlives the call.
  Result<void> WaitForSpare(Deadline deadline);

  // Kills a worker, if nobody has yet, and reaps it off the caller's path. Any thread.
  void Retire(Worker worker);

  Backend::Counters counters() const;

 private:
  // A worker that has not yet said that it is sealed.
  struct Embryo {
    Worker worker;
    Deadline deadline;
  };

  void Keep();
  void LaunchZygoteWhenDue();
  Result<void> StartParent();
  LayerState CgroupLayer(pid_t pid) const;
  Result<Worker> TakeLocked(std::unique_lock<std::mutex>& lock, Deadline deadline,
                            const RunOptions& run);
  bool AwaitSpare(std::unique_lock<std::mutex>& lock, Deadline deadline, const RunOptions& run);
  void FinishZygoteStart();
  void RequestMissing();
  Result<Embryo> PrepareEmbryo(UniqueFd& socket) const;
  Result<void> RequestOne();
  Result<void> BecomeOnly();
  bool HasHadItsRun() const;
  bool IsComplete() const;
  void ReceiveRequested();
  void SettleRequests();
  void DropZygote();
  void PollOnce();
  void HatchReady(const std::vector<pollfd>& polled, size_t first);
  void AdoptRetired();
  void ReapDead(const std::vector<pollfd>& polled, size_t first);
  Result<void> TakeFurnishings(std::vector<UniqueFd> descriptors, Worker& worker) const;
  Result<void> Hatch(Worker& worker);
  void BackOff();
  void GiveUp(Error error);        // tells all takers, until a worker is ready again
  void WorkerFailed(Error error);  // gives up after a few in a row
  size_t Missing() const;
  int PollTimeoutNow() const;

  const SparePoolOptions options_;
  UniqueFd wake_;  // eventfd: a worker was taken, or the pool is closing

  // Keeper's own.
  std::shared_ptr<Parent> parent_;
  std::optional<OwnSeal> own_seal_;
  std::optional<ZygoteProcess> zygote_;
  std::optional<ZygoteProcess> starting_;
  std::deque<Embryo> requested_;  // not yet cloned, in the order of the answers; deadline: for that
  std::list<Embryo> embryos_;
  std::list<Worker> dying_;  // killed, not yet reaped
  uint64_t spawned_by_zygote_ = 0;
  int workers_failed_in_a_row_ = 0;
  Deadline rotate_at_{};
  Deadline next_attempt_{};
  std::chrono::milliseconds backoff_{0};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Worker> ready_;
  std::vector<Worker> retired_;
  Backend::Counters counters_;
  std::optional<Error> failure_;  // why there are no workers; cleared by the next good one
  size_t takers_ = 0;
  bool closing_ = false;
  bool hatched_ = false;  // a worker has been ready: for a single run, the only one

  std::thread keeper_;
};

}  // namespace belljar

#endif  // BELLJAR_ENGINE_OUTSIDE_SPARE_POOL_H_
