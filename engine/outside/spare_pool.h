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
// There are two shelves: for workers of single runs and of sessions, which have one process more.
// The second stays empty until the first session is opened.
//
// With zygote.single_run there is only one worker, which was the zygote. Failures before it is
// ready are retried; once it has been taken, nothing more is started.
#ifndef BELLJAR_ENGINE_OUTSIDE_SPARE_POOL_H_
#define BELLJAR_ENGINE_OUTSIDE_SPARE_POOL_H_

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
#include "engine/outside/backend.h"
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
  core::Result<Worker> Take(core::Deadline deadline, const RunOptions& run = {},
                            WorkerUse use = WorkerUse::kRun);

  // Waits until a worker is ready, without taking it. Fails like Take. The pool must outlive the
  // call.
  core::Result<void> WaitForSpare(core::Deadline deadline);

  // Kills a worker if it is still alive, and reaps it off the caller's path. Any thread.
  void Retire(Worker worker);

  // Determines the layers in force on a worker by observing it from outside, as is done for each
  // worker before it is taken. Fails if a required one is missing. For copies of a session's
  // worker. Any thread.
  core::Result<void> Observe(Worker& worker) const;

  const SparePoolOptions& options() const { return options_; }

  Backend::Counters counters() const;

  // How often the keeper has woken up: a few times per worker and zygote, and once a minute.
  uint64_t keeper_wakeups() const { return keeper_wakeups_; }

  // Zygotes that failed to start. While another one serves, nothing else shows this.
  uint64_t zygote_starts_failed() const { return zygote_starts_failed_; }

 private:
  static constexpr host::Backoff kBackoff{std::chrono::milliseconds(50), std::chrono::seconds(5)};

  // A worker that has not yet reported that it is sealed.
  struct PendingWorker {
    Worker worker;
    core::Deadline deadline;
    WorkerUse use = WorkerUse::kRun;
    core::UniqueFd control;  // for a session: of the init, until that has been cloned
  };

  struct Shelf {
    size_t spares = 0;  // number to keep ready
    std::deque<Worker> ready;
    TakerQueue<Worker> takers;  // empty while a worker is ready
  };
  static constexpr WorkerUse kUses[] = {WorkerUse::kRun, WorkerUse::kSession};

  SparePool(SparePoolOptions options, Event wake);

  void Keep();
  void LaunchZygoteWhenDue();
  core::Result<void> StartChildReaper();
  host::LayerState CgroupLayer(pid_t pid) const;
  Shelf& ShelfOf(WorkerUse use) { return shelves_[static_cast<size_t>(use)]; }
  const Shelf& ShelfOf(WorkerUse use) const { return shelves_[static_cast<size_t>(use)]; }
  Worker TakeReady(Shelf& shelf);
  void Deliver(Shelf& shelf, Worker worker);
  void FailTakers(const core::Error& error);
  bool IsRotationDue(core::Deadline now) const;
  void FinishZygoteStart();
  void AbandonZygoteStart();
  void StartFailed(core::Error error);
  void RequestMissing();
  core::Result<PendingWorker> PreparePendingWorker(core::UniqueFd& socket) const;
  core::Result<void> RequestOne(WorkerUse use);
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
  core::Result<void> TakeWorkerResources(core::Descriptors descriptors, Worker& worker) const;
  core::Result<void> FinishSpawn(Worker& worker);
  core::Result<OwnSeal> ReadOwnSeal() const;
  void GiveUp(core::Error error, const host::Backoff& backoff);
  void WorkerFailed(core::Error error);  // gives up after a few in a row
  size_t Missing(WorkerUse use) const;
  std::optional<WorkerUse> NextMissing() const;
  bool WantsWorkers() const;
  core::Deadline NextStart() const;
  int PollTimeoutNow() const;

  const SparePoolOptions options_;
  const Event wake_;  // a worker was taken, or the pool is closing

  // Used only by the keeper.
  std::shared_ptr<ChildReaper> reaper_;
  std::optional<ZygoteProcess> zygote_;
  std::optional<ZygoteProcess> starting_;
  std::deque<PendingWorker>
      requested_;  // not yet cloned, in the order of replies; deadline: for the reply
  std::list<PendingWorker> pending_;
  std::list<Worker> dying_;  // killed, not yet reaped
  uint64_t spawned_by_zygote_ = 0;
  int workers_failed_in_a_row_ = 0;
  core::Deadline rotate_at_{};
  core::Deadline start_deadline_{};  // for starting_
  bool zygote_proven_ = false;       // a worker has been sealed since the last zygote started
  host::Backoff start_backoff_ = kBackoff;   // for zygotes
  host::Backoff refill_backoff_ = kBackoff;  // for workers

  mutable std::mutex mutex_;
  mutable std::optional<OwnSeal> own_seal_;
  std::condition_variable changed_;
  std::array<Shelf, std::size(kUses)> shelves_;
  std::vector<Worker> retired_;
  Backend::Counters counters_;
  std::optional<core::Error> failure_;  // why there are no workers; cleared by the next success
  core::Deadline failure_until_{};      // when to retry
  bool closing_ = false;
  bool has_spawned_ = false;  // a worker has been ready: the only one, in a single run

  std::atomic<uint64_t> keeper_wakeups_ = 0;
  std::atomic<uint64_t> zygote_starts_failed_ = 0;

  core::Thread keeper_;
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_SPARE_POOL_H_
