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
// Callers only meet the shelves (shelves.h), where the keeper puts each worker once it has passed
// admission (admission.h). The zygote that serves has the requests that it owes (serving_zygote.h).
//
// With zygote.kind.single_run there is only one worker, which was the zygote. Failures before it is
// ready are retried; once it has been taken, nothing more is started.
#ifndef BELLJAR_ENGINE_POOL_SPARE_POOL_H_
#define BELLJAR_ENGINE_POOL_SPARE_POOL_H_

#include <poll.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/core/thread.h"
#include "engine/host/backoff.h"
#include "engine/pool/admission.h"
#include "engine/pool/counters.h"
#include "engine/pool/serving_zygote.h"
#include "engine/pool/shelves.h"
#include "engine/pool/spare_pool_options.h"
#include "engine/run/run_options.h"
#include "engine/waiting/event.h"
#include "engine/workers/child_reaper.h"
#include "engine/workers/worker.h"
#include "engine/workers/zygote_process.h"

namespace belljar::pool {

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
                                     workers::WorkerUse use = workers::WorkerUse::kRun) {
    return shelves_.Take(deadline, run, use);
  }

  // A worker made for this call, in which `workspace`, a detached mount, is the workspace. Fails
  // like Take.
  core::Result<workers::Worker> TakeWith(core::UniqueFd workspace, core::Deadline deadline,
                                         const run::RunOptions& run = {}) {
    return shelves_.TakeWith(std::move(workspace), deadline, run);
  }

  // Waits until a worker is ready, without taking it. Fails like Take. The pool must outlive the
  // call.
  core::Result<void> WaitForSpare(core::Deadline deadline) {
    return shelves_.WaitForSpare(deadline);
  }

  // Kills a worker if it is still alive, and reaps it off the caller's path. Any thread.
  void Retire(workers::Worker worker);

  // Determines the layers in force on a worker by observing it from outside, as is done for each
  // worker before it is taken. Fails if a required one is missing. For copies of a session's
  // worker. Any thread.
  core::Result<void> Observe(workers::Worker& worker) const { return admission_.Observe(worker); }

  const SparePoolOptions& options() const { return options_; }

  Counters counters() const { return shelves_.counters(); }

  // How often the keeper has woken up: a few times per worker and zygote, and once a minute.
  uint64_t keeper_wakeups() const { return keeper_wakeups_; }

  // Zygotes that failed to start. While another one serves, nothing else shows this.
  uint64_t zygote_starts_failed() const { return zygote_starts_failed_; }

 private:
  static constexpr host::Backoff kBackoff{std::chrono::milliseconds(50), std::chrono::seconds(5)};

  SparePool(SparePoolOptions options, waiting::Event wake);

  void Keep();
  void LaunchZygoteWhenDue();
  core::Result<void> StartChildReaper();
  bool IsRotationDue(core::Deadline now) const;
  void FinishZygoteStart();
  void AbandonZygoteStart();
  void StartFailed(core::Error error);
  void RequestMissing();
  core::Result<bool> RequestNext();
  core::Result<void> BecomeOnly();
  bool IsComplete() const;
  void ReceiveRequested();
  void SettleRequests();
  void DropZygote();
  void PollOnce();
  void FinishSpawns(const std::vector<pollfd>& polled, size_t first);
  void AdoptRetired();
  void ReapDead(const std::vector<pollfd>& polled, size_t first);
  void WorkerFailed(core::Error error);  // gives up after a few in a row
  size_t Missing(workers::WorkerUse use) const;
  std::optional<workers::WorkerUse> NextMissing() const;
  bool WantsWorkers() const;
  core::Deadline NextStart() const;
  int PollTimeoutNow() const;

  const SparePoolOptions options_;
  const Admission admission_;
  Shelves shelves_;

  // Used only by the keeper.
  std::shared_ptr<workers::ChildReaper> reaper_;
  std::optional<ServingZygote> zygote_;
  std::optional<workers::ZygoteProcess> starting_;
  std::list<PendingWorker> pending_;
  std::list<workers::Worker> dying_;  // killed, not yet reaped
  int workers_failed_in_a_row_ = 0;
  core::Deadline start_deadline_{};  // for starting_
  bool zygote_proven_ = false;       // a worker has been sealed since the last zygote started
  host::Backoff start_backoff_ = kBackoff;   // for zygotes
  host::Backoff refill_backoff_ = kBackoff;  // for workers

  std::atomic<uint64_t> keeper_wakeups_ = 0;
  std::atomic<uint64_t> zygote_starts_failed_ = 0;

  core::Thread keeper_;
};

}  // namespace belljar::pool

#endif  // BELLJAR_ENGINE_POOL_SPARE_POOL_H_
