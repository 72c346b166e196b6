// SparePool: keeps workers cloned, sealed, observed and waiting, so that a request holds no fork.
//
//   Result<std::unique_ptr<SparePool>> pool = SparePool::Start(options);
//   Result<Worker> worker = (*pool)->Take(deadline);   // any thread; usually at once
//
// One keeper thread owns the zygote, refills the pool off the request path, and replaces the zygote
// after so many workers or so much time (all children of a zygote share one address-space layout)
// and when it dies. Where a new zygote does not come up, the old one serves on, and the start is
// tried again later; refills and starts each have a backoff of their own. The keeper is the parent
// of all workers: it lives as long as the pool.
//
// With zygote.single_run there is one worker in all, which was the zygote: what fails before it
// waits is tried again, and once it has been taken nothing is started any more.
#ifndef BELLJAR_ENGINE_OUTSIDE_SPARE_POOL_H_
#define BELLJAR_ENGINE_OUTSIDE_SPARE_POOL_H_

#include <poll.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/outside/backend.h"
#include "engine/outside/backoff.h"
#include "engine/outside/event.h"
#include "engine/outside/observe.h"
#include "engine/outside/taker_queue.h"
#include "engine/outside/worker.h"
#include "engine/outside/zygote_process.h"
#include "engine/seal/cgroup.h"

namespace belljar::outside {

struct SparePoolOptions {
  ZygoteOptions zygote;
  size_t spares = 4;
  uint64_t rotate_after_workers = 10'000;
  std::chrono::milliseconds rotate_after{30 * 60 * 1000};
  // From the launch of a zygote until it is up; then it is killed, and that is an error. Longer
  // than the largest profile takes on a slow and busy machine: what is late for a caller is his
  // timeout.
  std::chrono::milliseconds zygote_start_timeout{60'000};
  std::optional<seal::CgroupLeaf> cgroup;  // where zygote and workers are placed
  std::string no_cgroup;                   // why there is none
  // Layers without which a worker is refused. Their names are LayerState's.
  std::vector<std::string> required_layers;
  // Zygote and workers are the children of a ChildReaper: for a program with children of its own.
  bool hides_children = false;
};

class SparePool {
 public:
  // Returns before the first worker is ready. Fails where the keeper cannot be started: no thread,
  // no descriptor to wake it by.
  static core::Result<std::unique_ptr<SparePool>> Start(SparePoolOptions options);
  SparePool(const SparePool&) = delete;
  ~SparePool();

  // Takers that have to wait are served in the order in which they came. Fails with the keeper's
  // reason when no zygote can be started or workers fail in a row, at the deadline (ETIMEDOUT), or
  // when the caller of the run has cancelled it (ECANCELED). For a single run: also once its worker
  // has been taken, at once.
  core::Result<Worker> Take(core::Deadline deadline, const RunOptions& run = {});

  // Until a worker waits, without taking it. Fails like Take. The pool outlives the call.
  core::Result<void> WaitForSpare(core::Deadline deadline);

  // Kills a worker, if nobody has yet, and reaps it off the caller's path. Any thread.
  void Retire(Worker worker);

  Backend::Counters counters() const;

  // How often the keeper has woken: a few times a worker and a zygote, and once a minute.
  uint64_t keeper_wakeups() const { return keeper_wakeups_; }

  // Zygotes that did not come up. With another one serving, nothing else tells of it.
  uint64_t zygote_starts_failed() const { return zygote_starts_failed_; }

 private:
  static constexpr Backoff kBackoff{std::chrono::milliseconds(50), std::chrono::seconds(5)};

  // A worker that has not yet said that it is sealed.
  struct PendingWorker {
    Worker worker;
    core::Deadline deadline;
  };

  SparePool(SparePoolOptions options, Event wake);

  void Keep();
  void LaunchZygoteWhenDue();
  core::Result<void> StartChildReaper();
  host::LayerState CgroupLayer(pid_t pid) const;
  Worker TakeReady();
  void Deliver(Worker worker);
  bool IsRotationDue(core::Deadline now) const;
  void FinishZygoteStart();
  void AbandonZygoteStart();
  void StartFailed(core::Error error);
  void RequestMissing();
  core::Result<PendingWorker> PreparePendingWorker(core::UniqueFd& socket) const;
  core::Result<void> RequestOne();
  core::Result<void> BecomeOnly();
  bool HasHadItsRun() const;
  bool IsComplete() const;
  void ReceiveRequested();
  void SettleRequests();
  void DropZygote();
  void PollOnce();
  void FinishSpawns(const std::vector<pollfd>& polled, size_t first);
  void AdoptRetired();
  void ReapDead(const std::vector<pollfd>& polled, size_t first);
  core::Result<void> TakeWorkerResources(std::vector<core::UniqueFd> descriptors,
                                         Worker& worker) const;
  core::Result<void> FinishSpawn(Worker& worker);
  void GiveUp(core::Error error, const Backoff& backoff);
  void WorkerFailed(core::Error error);  // gives up after a few in a row
  size_t Missing() const;
  bool WantsWorkers() const;
  core::Deadline NextStart() const;
  int PollTimeoutNow() const;

  const SparePoolOptions options_;
  const Event wake_;  // a worker was taken, or the pool is closing

  // Keeper's own.
  std::shared_ptr<core::ChildReaper> reaper_;
  std::optional<OwnSeal> own_seal_;
  std::optional<ZygoteProcess> zygote_;
  std::optional<ZygoteProcess> starting_;
  std::deque<PendingWorker>
      requested_;  // not yet cloned, in the order of the answers; deadline: for that
  std::list<PendingWorker> pending_;
  std::list<Worker> dying_;  // killed, not yet reaped
  uint64_t spawned_by_zygote_ = 0;
  int workers_failed_in_a_row_ = 0;
  core::Deadline rotate_at_{};
  core::Deadline start_deadline_{};    // of starting_
  bool zygote_proven_ = false;         // a worker has been sealed since the last one came up
  Backoff start_backoff_ = kBackoff;   // of zygotes
  Backoff refill_backoff_ = kBackoff;  // of workers

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Worker> ready_;
  std::vector<Worker> retired_;
  Backend::Counters counters_;
  std::optional<core::Error> failure_;  // why there are no workers; cleared by the next good one
  core::Deadline failure_until_{};      // when it is tried again
  TakerQueue<Worker> takers_;           // none while one is ready
  bool closing_ = false;
  bool has_spawned_ = false;  // a worker has been ready: for a single run, the only one

  std::atomic<uint64_t> keeper_wakeups_ = 0;
  std::atomic<uint64_t> zygote_starts_failed_ = 0;

  std::thread keeper_;
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_SPARE_POOL_H_
