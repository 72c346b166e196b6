// SparePool: keeps workers cloned, sealed, observed and waiting, so that no request waits for a
// fork.
//
//   Result<std::unique_ptr<SparePool>> pool = SparePool::Start(options);
//   Result<Worker> worker = (*pool)->Take(deadline);   // any thread; usually at once
//
// One keeper thread owns the zygote and refills the pool off the request path. It replaces the
// zygote when it dies, and after a number of workers or a period of time (all children of a zygote
// share one address-space layout). If a new zygote fails to start, the old one stays in use, and
// the start is retried later. Refills and starts have separate backoffs. The keeper is the parent
// of all workers and lives as long as the pool.
//
// There are two shelves: workers of single runs, and of sessions, which are a process more. The
// second stays empty until the first session is opened.
//
// With zygote.single_run there is only one worker, which was the zygote. Failures before it is
// ready are retried; once it has been taken, nothing more is started.
#ifndef BELLJAR_ENGINE_POOL_SPARE_POOL_H_
#define BELLJAR_ENGINE_POOL_SPARE_POOL_H_

#include <poll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/core/thread.h"
#include "engine/host/backoff.h"
#include "engine/pool/counters.h"
#include "engine/run/run_options.h"
#include "engine/seal/cgroup.h"
#include "engine/waiting/event.h"
#include "engine/waiting/taker_queue.h"
#include "engine/workers/observe.h"
#include "engine/workers/worker.h"
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
  std::optional<seal::CgroupLeaf> cgroup;  // where zygote and workers run
  std::string no_cgroup;                   // why there is none
  // A worker without these layers is refused. Names as in LayerState.
  std::vector<std::string> required_layers;
  // Make zygote and workers children of a ChildReaper, for a program with its own children.
  bool hides_children = false;
};

class SparePool {
 public:
  // Returns before the first worker is ready. Fails if the keeper cannot be started: no thread, no
  // descriptor for its event.
  static core::Result<std::unique_ptr<SparePool>> Start(SparePoolOptions options);
  SparePool(const SparePool&) = delete;
  ~SparePool();

  // Waiting takers are served in order. Fails with the keeper's error if no zygote can be started
  // or workers fail repeatedly, at the deadline (ETIMEDOUT), or if the run is cancelled
  // (ECANCELED). For a single run it also fails immediately once its worker has been taken.
  core::Result<workers::Worker> Take(core::Deadline deadline, const run::RunOptions& run = {},
                                     workers::WorkerUse use = workers::WorkerUse::kRun);

  // Waits until a worker is ready, without taking it. Fails like Take. The pool must outlive the
  // call.
  core::Result<void> WaitForSpare(core::Deadline deadline);

  // Kills a worker if it is still alive, and reaps it off the caller's path. Any thread.
  void Retire(workers::Worker worker);

  // Sets the layers that are in force on a worker, by looking at it from outside, as is done for
  // each before it is taken. Fails if a required one is not. For copies of a session's worker. Any
  // thread.
  core::Result<void> Observe(workers::Worker& worker) const;

  const SparePoolOptions& options() const { return options_; }

  Counters counters() const;

  // How often the keeper has woken: a few times per worker and zygote, and once a minute.
  uint64_t keeper_wakeups() const { return keeper_wakeups_; }

  // Zygotes that failed to start. While another one serves, nothing else shows this.
  uint64_t zygote_starts_failed() const { return zygote_starts_failed_; }

 private:
  static constexpr host::Backoff kBackoff{std::chrono::milliseconds(50), std::chrono::seconds(5)};

  // A worker that has not yet reported that it is sealed.
  struct PendingWorker {
    workers::Worker worker;
    core::Deadline deadline;
    workers::WorkerUse use = workers::WorkerUse::kRun;
    core::UniqueFd control;  // of a session's init, until that has been cloned
  };

  struct Shelf {
    size_t spares = 0;  // to keep ready
    std::deque<workers::Worker> ready;
    waiting::TakerQueue<workers::Worker> takers;  // empty while a worker is ready
  };
  static constexpr workers::WorkerUse kUses[] = {workers::WorkerUse::kRun,
                                                 workers::WorkerUse::kSession};

  SparePool(SparePoolOptions options, waiting::Event wake);

  void Keep();
  void LaunchZygoteWhenDue();
  core::Result<void> StartChildReaper();
  host::LayerState CgroupLayer(pid_t pid) const;
  Shelf& ShelfOf(workers::WorkerUse use) { return shelves_[static_cast<size_t>(use)]; }
  const Shelf& ShelfOf(workers::WorkerUse use) const { return shelves_[static_cast<size_t>(use)]; }
  workers::Worker TakeReady(Shelf& shelf);
  void Deliver(Shelf& shelf, workers::Worker worker);
  void FailTakers(const core::Error& error);
  bool IsRotationDue(core::Deadline now) const;
  void FinishZygoteStart();
  void AbandonZygoteStart();
  void StartFailed(core::Error error);
  void RequestMissing();
  core::Result<PendingWorker> PreparePendingWorker(core::UniqueFd& socket) const;
  core::Result<void> RequestOne(workers::WorkerUse use);
  core::Result<void> SendRequest(PendingWorker& pending, int socket);
  core::Result<void> BecomeOnly();
  bool IsUsedUp() const;
  bool IsComplete() const;
  void ReceiveRequested();
  void SettleRequests();
  void DropZygote();
  void PollOnce();
  void FinishSpawns(const std::vector<pollfd>& polled, size_t first);
  void AdoptRetired();
  void ReapDead(const std::vector<pollfd>& polled, size_t first);
  core::Result<void> TakeWorkerResources(core::Descriptors descriptors,
                                         workers::Worker& worker) const;
  core::Result<void> FinishSpawn(workers::Worker& worker);
  core::Result<workers::OwnSeal> ReadOwnSeal() const;
  void GiveUp(core::Error error, const host::Backoff& backoff);
  void WorkerFailed(core::Error error);  // gives up after a few in a row
  size_t Missing(workers::WorkerUse use) const;
  std::optional<workers::WorkerUse> NextMissing() const;
  bool WantsWorkers() const;
  core::Deadline NextStart() const;
  int PollTimeoutNow() const;

  const SparePoolOptions options_;
  const waiting::Event wake_;  // a worker was taken, or the pool is closing

  // Used only by the keeper.
  std::shared_ptr<workers::ChildReaper> reaper_;
  std::optional<workers::ZygoteProcess> zygote_;
  std::optional<workers::ZygoteProcess> starting_;
  std::deque<PendingWorker>
      requested_;  // not yet cloned, in the order of replies; deadline: for the reply
  std::list<PendingWorker> pending_;
  std::list<workers::Worker> dying_;  // killed, not yet reaped
  uint64_t spawned_by_zygote_ = 0;
  int workers_failed_in_a_row_ = 0;
  core::Deadline rotate_at_{};
  core::Deadline start_deadline_{};  // for starting_
  bool zygote_proven_ = false;       // a worker has been sealed since the last zygote started
  host::Backoff start_backoff_ = kBackoff;   // for zygotes
  host::Backoff refill_backoff_ = kBackoff;  // for workers

  mutable std::mutex mutex_;
  mutable std::optional<workers::OwnSeal> own_seal_;
  std::condition_variable changed_;
  std::array<Shelf, std::size(kUses)> shelves_;
  std::vector<workers::Worker> retired_;
  Counters counters_;
  std::optional<core::Error> failure_;  // why there are no workers; cleared by the next success
  core::Deadline failure_until_{};      // when to retry
  bool closing_ = false;
  bool has_spawned_ = false;  // a worker has been ready: in a single run, the only one

  std::atomic<uint64_t> keeper_wakeups_ = 0;
  std::atomic<uint64_t> zygote_starts_failed_ = 0;

  core::Thread keeper_;
};

}  // namespace belljar::pool

#endif  // BELLJAR_ENGINE_POOL_SPARE_POOL_H_
