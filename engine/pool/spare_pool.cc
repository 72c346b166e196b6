#include "engine/pool/spare_pool.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace belljar::pool {
namespace {

constexpr std::chrono::seconds kFirstMessageTimeout{10};
constexpr std::chrono::seconds kSettleTimeout{2};
constexpr int kMaxFailures = 3;

constexpr workers::WorkerUse kUses[] = {workers::WorkerUse::kRun, workers::WorkerUse::kSession};

constexpr char kStart[] = "start a pool of workers";

}  // namespace

SparePool::SparePool(SparePoolOptions options, waiting::Event wake)
    : options_(std::move(options)),
      admission_(options_),
      shelves_(options_.spares, options_.zygote.kind.single_run, std::move(wake)) {}

core::Result<std::unique_ptr<SparePool>> SparePool::Start(SparePoolOptions options) {
  core::Result<waiting::Event> wake = waiting::Event::Create(kStart);
  if (!wake) return wake.error();
  std::unique_ptr<SparePool> pool(new SparePool(std::move(options), std::move(*wake)));
  core::Result<void> started = pool->keeper_.Start(kStart, [pool = pool.get()] { pool->Keep(); });
  if (!started) return started.error();
  return pool;
}

SparePool::~SparePool() {
  shelves_.Close();
  keeper_.Join();
  shelves_.AwaitEmpty();
}

void SparePool::Retire(workers::Worker worker) {
  worker.process.Kill();
  shelves_.Retire(std::move(worker));
}

void SparePool::AdoptRetired() {
  for (workers::Worker& worker : shelves_.TakeRetired()) {
    // A worker that ended by itself has been reaped by its run.
    if (worker.process) dying_.push_back(std::move(worker));
  }
}

void SparePool::Keep() {
  while (!shelves_.is_closing()) {
    LaunchZygoteWhenDue();
    RequestMissing();
    AdoptRetired();
    PollOnce();
    ++keeper_wakeups_;
  }
  starting_.reset();
  SettleRequests();
  DropZygote();
  pending_.clear();
  dying_.clear();
  shelves_.Clear();
}

// The zygote of a single run is restarted until there has been a worker, and never while one
// exists.
bool SparePool::IsComplete() const {
  if (!options_.zygote.kind.single_run) return false;
  return shelves_.has_delivered() || !pending_.empty();
}

void SparePool::LaunchZygoteWhenDue() {
  if (IsComplete()) return;
  // Its workers died with the reaper, and new ones would need a new reaper.
  if (reaper_ && !reaper_->IsAlive()) {
    starting_.reset();
    DropZygote();
  }
  const core::Deadline now = core::Clock::now();
  if (starting_ || !start_backoff_.IsOver(now)) return;
  if (zygote_ && !IsRotationDue(now)) return;
  if (core::Result<void> started = StartChildReaper(); !started)
    return StartFailed(started.error());
  core::Result<workers::ZygoteProcess> launched = workers::ZygoteProcess::Launch(
      options_.zygote, options_.cgroup ? options_.cgroup->fd() : -1, reaper_);
  if (!launched) return StartFailed(launched.error());
  starting_.emplace(std::move(*launched));
  start_deadline_ = now + options_.zygote_start_timeout;
}

// Requires zygote_.
bool SparePool::IsRotationDue(core::Deadline now) const {
  return zygote_->spawned() >= options_.rotate_after_workers || now >= zygote_->rotate_at();
}

// Restarts it if it was killed.
core::Result<void> SparePool::StartChildReaper() {
  if (!options_.hides_children || (reaper_ && reaper_->IsAlive())) return {};
  core::Result<std::shared_ptr<workers::ChildReaper>> reaper = workers::ChildReaper::Start();
  if (!reaper) return reaper.error();
  reaper_ = std::move(*reaper);
  return {};
}

void SparePool::FinishZygoteStart() {
  core::Result<void> started = starting_->FinishStart();
  if (!started) {
    starting_.reset();
    return StartFailed(started.error());
  }
  // The old zygote ends here, after it has replied; its workers are our children and stay.
  SettleRequests();
  DropZygote();
  zygote_.emplace(std::move(*starting_), options_.zygote.layout,
                  core::Clock::now() + options_.rotate_after);
  starting_.reset();
  zygote_proven_ = false;
  shelves_.CountZygote(zygote_->pid());
}

void SparePool::AbandonZygoteStart() {
  core::Error late = starting_->AbandonStart(options_.zygote_start_timeout);
  starting_.reset();
  StartFailed(std::move(late));
}

// If the old zygote still serves, callers need not know.
void SparePool::StartFailed(core::Error error) {
  ++zygote_starts_failed_;
  start_backoff_.Fail(core::Clock::now());
  if (!zygote_) shelves_.GiveUp(std::move(error), start_backoff_.until());
}

void SparePool::WorkerFailed(core::Error error) {
  const core::Deadline now = core::Clock::now();
  refill_backoff_.Fail(now);
  // The worker died with its zygote: a zygote that starts but dies with each worker must not be
  // restarted without a pause.
  if (!zygote_) start_backoff_.Fail(now);
  // The loss of a single worker (killed from outside, a temporary lack of descriptors) is not
  // reported.
  if (++workers_failed_in_a_row_ >= kMaxFailures) {
    shelves_.GiveUp(std::move(error), refill_backoff_.until());
  }
}

size_t SparePool::Missing(workers::WorkerUse use) const {
  const auto sealing = static_cast<size_t>(std::ranges::count_if(
      pending_, [&](const PendingWorker& each) { return each.IsForAny(use); }));
  return shelves_.Missing(use, sealing + (zygote_ ? zygote_->Requested(use) : 0));
}

std::optional<workers::WorkerUse> SparePool::NextMissing() const {
  for (const workers::WorkerUse use : kUses) {
    if (Missing(use) > 0) return use;
  }
  return std::nullopt;
}

void SparePool::RequestMissing() {
  if (!zygote_ || !refill_backoff_.IsOver(core::Clock::now())) return;
  if (options_.zygote.kind.single_run) {
    if (core::Result<void> become = BecomeOnly(); !become) WorkerFailed(become.error());
    return;
  }
  while (zygote_->CanRequest()) {
    const core::Result<bool> requested = RequestNext();
    if (!requested) return WorkerFailed(requested.error());
    if (!*requested) return;
  }
}

// False: nobody needs one.
core::Result<bool> SparePool::RequestNext() {
  std::shared_ptr<Order> order = shelves_.NextOrder();
  const std::optional<workers::WorkerUse> use =
      order ? std::optional(workers::WorkerUse::kRun) : NextMissing();
  if (!use) return false;
  const core::Result<void> requested = zygote_->Request(*use, order);
  if (requested) return true;
  if (order) order->Settle(requested.error());
  return requested.error();
}

// The zygote of a single run becomes its worker. It is no longer a zygote, even if this fails.
core::Result<void> SparePool::BecomeOnly() {
  ServingZygote zygote = std::move(*zygote_);
  zygote_.reset();
  core::Result<PendingWorker> only = zygote.BecomeWorker();
  if (!only) return only.error();
  pending_.push_back(std::move(*only));
  shelves_.CountOnlyWorker();
  return {};
}

void SparePool::ReceiveRequested() {
  core::Result<std::optional<PendingWorker>> received = zygote_->Receive();
  if (zygote_->is_lost()) DropZygote();
  if (!received) return WorkerFailed(received.error());
  if (!*received) return;
  pending_.push_back(std::move(**received));
  shelves_.CountWorker();
}

// A clone whose reply nobody reads would be a child that nobody reaps.
void SparePool::SettleRequests() {
  const core::Deadline deadline = core::Clock::now() + kSettleTimeout;
  while (zygote_ && zygote_->has_requests() &&
         core::WaitReadable(zygote_->control_fd(), deadline)) {
    ReceiveRequested();
  }
}

void SparePool::DropZygote() {
  if (!zygote_) return;
  zygote_->End(reaper_.get());
  zygote_.reset();
}

bool SparePool::WantsWorkers() const {
  if (!zygote_) return false;
  return options_.zygote.kind.single_run ||
         (zygote_->CanRequest() && (NextMissing() || shelves_.HasOrders()));
}

// When the next action on a zygote is due. A due rotation does not count while a new zygote starts,
// or until the backoff is over.
core::Deadline SparePool::NextStart() const {
  if (starting_) return start_deadline_;
  if (IsComplete()) return core::Deadline::max();
  if (!zygote_ || IsRotationDue(core::Clock::now())) return start_backoff_.until();
  return std::max(zygote_->rotate_at(), start_backoff_.until());
}

int SparePool::PollTimeoutNow() const {
  core::Deadline next = core::Clock::now() + std::chrono::minutes(1);
  next = std::min(next, NextStart());
  for (const PendingWorker& pending : pending_) next = std::min(next, pending.deadline);
  if (zygote_) next = std::min(next, zygote_->reply_deadline());
  if (WantsWorkers()) next = std::min(next, refill_backoff_.until());
  return core::PollTimeout(next);
}

void SparePool::PollOnce() {
  std::vector<pollfd> polled;
  polled.push_back({shelves_.wake().fd(), POLLIN, 0});
  polled.push_back({starting_ ? starting_->control_fd() : -1, POLLIN, 0});
  polled.push_back({zygote_ ? zygote_->control_fd() : -1, POLLIN, 0});
  const size_t first_pending = polled.size();
  for (const PendingWorker& pending : pending_)
    polled.push_back({pending.worker.socket.get(), POLLIN, 0});
  const size_t first_dying = polled.size();
  for (const workers::Worker& worker : dying_)
    polled.push_back({worker.process.ended_fd(), POLLIN, 0});

  if (poll(polled.data(), polled.size(), PollTimeoutNow()) < 0) return;  // EINTR
  if (polled[0].revents) shelves_.wake().Lower();
  ReapDead(polled, first_dying);
  FinishSpawns(polled, first_pending);
  if (polled[2].revents) ReceiveRequested();
  if (zygote_ && core::Clock::now() >= zygote_->reply_deadline()) {
    DropZygote();
    WorkerFailed(core::SystemErrorOf(ETIMEDOUT, "spawn worker", "the zygote does not answer"));
  }
  if (polled[1].revents) {
    FinishZygoteStart();
  } else if (starting_ && core::Clock::now() >= start_deadline_) {
    AbandonZygoteStart();
  }
}

// Reaping a dead process takes the kernel a while; others can be cloned in the meantime.
void SparePool::ReapDead(const std::vector<pollfd>& polled, size_t first) {
  size_t index = first;
  dying_.remove_if([&](const workers::Worker&) { return polled[index++].revents != 0; });
}

void SparePool::FinishSpawns(const std::vector<pollfd>& polled, size_t first) {
  size_t index = first;
  for (auto pending = pending_.begin(); pending != pending_.end(); ++index) {
    const bool signalled = polled[index].revents != 0;
    if (!signalled && core::Clock::now() < pending->deadline) {
      ++pending;
      continue;
    }
    core::Result<void> spawned =
        signalled ? admission_.Admit(pending->worker, core::Clock::now() + kFirstMessageTimeout)
                  : core::SystemErrorOf(ETIMEDOUT, "seal a worker", "it did not answer");
    if (spawned) {
      refill_backoff_.Reset();
      // Only for the first worker of each zygote: workers of an old zygote say nothing about a
      // failing rotation.
      if (!std::exchange(zygote_proven_, true)) start_backoff_.Reset();
      workers_failed_in_a_row_ = 0;
      if (pending->order) {
        pending->order->Settle(std::move(pending->worker));
      } else {
        shelves_.Deliver(pending->use, std::move(pending->worker));
      }
    } else {
      if (pending->order) pending->order->Settle(spawned.error());
      WorkerFailed(spawned.error());
    }
    pending = pending_.erase(pending);
  }
}

}  // namespace belljar::pool
