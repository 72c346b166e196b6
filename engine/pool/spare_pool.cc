#include "engine/pool/spare_pool.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/core/wire.h"
#include "engine/workers/observe.h"

namespace belljar::pool {
namespace {

// Keeps the zygote busy.
constexpr size_t kRequestsAhead = 3;
constexpr std::chrono::seconds kSpawnTimeout{10};
constexpr std::chrono::seconds kSettleTimeout{2};
constexpr std::chrono::seconds kReadyTimeout{20};
constexpr int kFailuresToGiveUp = 3;
// More are only cloned when they are needed: each is a process more than a single run's worker.
constexpr size_t kSpareSessions = 1;

constexpr char kStart[] = "start a pool of workers";
constexpr char kTake[] = "take a worker";
constexpr char kOnlyOne[] = "this sandbox was for a single run, which is over: open another one";

// A zygote that dies between a clone and its reply never tells us the pid of our child. The worker
// reveals it when it reports that it is sealed, since the kernel identifies the sender; for a
// session, our child is the init, which does the same. If there is none, the other end of its
// socket was closed with the zygote.
void ReapUnannounced(int socket, core::Reaper* reaper) {
  if (!core::WaitReadable(socket, core::Clock::now() + kSettleTimeout)) return;
  const core::Result<pid_t> worker = core::SenderOfNext(socket);
  if (!worker || *worker <= 0) return;
  core::KillAndReap(*worker, reaper);
}

}  // namespace

SparePool::SparePool(SparePoolOptions options, waiting::Event wake)
    : options_(std::move(options)), wake_(std::move(wake)) {
  ShelfOf(workers::WorkerUse::kRun).spares = options_.spares;
}

core::Result<std::unique_ptr<SparePool>> SparePool::Start(SparePoolOptions options) {
  core::Result<waiting::Event> wake = waiting::Event::Create(kStart);
  if (!wake) return wake.error();
  std::unique_ptr<SparePool> pool(new SparePool(std::move(options), std::move(*wake)));
  core::Result<void> started = pool->keeper_.Start(kStart, [pool = pool.get()] { pool->Keep(); });
  if (!started) return started.error();
  return pool;
}

SparePool::~SparePool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    FailTakers(core::MakeError(kTake, "the sandbox is closing"));
  }
  wake_.Raise();
  keeper_.Join();
  std::unique_lock lock(mutex_);
  for (Shelf& shelf : shelves_) shelf.takers.AwaitEmpty(lock);
}

core::Result<workers::Worker> SparePool::Take(core::Deadline deadline, const run::RunOptions& run,
                                              workers::WorkerUse use) {
  std::unique_lock lock(mutex_);
  Shelf& shelf = ShelfOf(use);
  if (use == workers::WorkerUse::kSession) {
    shelf.spares = std::min(options_.spares, kSpareSessions);
  }
  while (!shelf.ready.empty()) {
    workers::Worker worker = TakeReady(shelf);
    if (!worker.process.HasEnded()) return worker;
    // Killed while it waited, by an operator or the OOM killer. Callers are not affected.
    retired_.push_back(std::move(worker));
  }
  if (closing_) return core::MakeError(kTake, "the sandbox is closing");
  if (IsUsedUp()) return core::MakeError(kTake, kOnlyOne);
  // The error still applies until the next attempt.
  if (failure_ && core::Clock::now() < failure_until_) return *failure_;
  wake_.Raise();  // more takers than spares: the keeper starts more
  waiting::InterruptCheck interrupts(run.interrupted);
  const waiting::Wait wait{deadline, run.cancel_fd, run.interrupted ? &interrupts : nullptr};
  return shelf.takers.Take(lock, wait, kTake, [] {
    return "none became free in time: the machine is busy, or the profile takes long to start; try "
           "again";
  });
}

// Requires mutex_, and a ready worker.
workers::Worker SparePool::TakeReady(Shelf& shelf) {
  workers::Worker worker = std::move(shelf.ready.front());
  shelf.ready.pop_front();
  // Other takers can no longer get a worker.
  if (options_.zygote.single_run) changed_.notify_all();
  // While spares are left, refilling waits until the run ends (Retire): a clone would compete for
  // the CPU with a run that somebody waits for.
  if (shelf.ready.size() <= shelf.spares / 2) wake_.Raise();
  return worker;
}

// Requires mutex_.
void SparePool::Deliver(Shelf& shelf, workers::Worker worker) {
  failure_.reset();
  has_spawned_ = true;
  if (shelf.takers.empty()) {
    shelf.ready.push_back(std::move(worker));
  } else {
    shelf.takers.Give(std::move(worker));
    if (options_.zygote.single_run) FailTakers(core::MakeError(kTake, kOnlyOne));
  }
  changed_.notify_all();
}

// Requires mutex_.
void SparePool::FailTakers(const core::Error& error) {
  for (Shelf& shelf : shelves_) shelf.takers.FailAll(error);
}

core::Result<void> SparePool::WaitForSpare(core::Deadline deadline) {
  std::unique_lock lock(mutex_);
  const std::deque<workers::Worker>& ready = ShelfOf(workers::WorkerUse::kRun).ready;
  changed_.wait_until(lock, deadline, [&] { return !ready.empty() || failure_ || IsUsedUp(); });
  if (!ready.empty()) return {};
  if (IsUsedUp()) return core::MakeError("wait for a worker", kOnlyOne);
  if (failure_) return *failure_;
  return core::SystemErrorOf(ETIMEDOUT, "wait for a worker", "none became ready in time");
}

void SparePool::Retire(workers::Worker worker) {
  worker.process.Kill();
  {
    const std::lock_guard lock(mutex_);
    retired_.push_back(std::move(worker));
  }
  wake_.Raise();
}

void SparePool::AdoptRetired() {
  std::vector<workers::Worker> retired;
  {
    const std::lock_guard lock(mutex_);
    retired.swap(retired_);
  }
  for (workers::Worker& worker : retired) {
    // A worker that ended by itself has been reaped by its run.
    if (worker.process) dying_.push_back(std::move(worker));
  }
}

Counters SparePool::counters() const {
  const std::lock_guard lock(mutex_);
  Counters counters = counters_;
  counters.waiting = ShelfOf(workers::WorkerUse::kRun).ready.size();
  return counters;
}

void SparePool::Keep() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (closing_) break;
    }
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
  const std::lock_guard lock(mutex_);
  for (Shelf& shelf : shelves_) shelf.ready.clear();
  retired_.clear();
}

// Requires mutex_.
bool SparePool::IsUsedUp() const {
  return options_.zygote.single_run && has_spawned_ &&
         ShelfOf(workers::WorkerUse::kRun).ready.empty();
}

// The zygote of a single run is relaunched until there has been a worker, and never while there is
// one.
bool SparePool::IsComplete() const {
  if (!options_.zygote.single_run) return false;
  const std::lock_guard lock(mutex_);
  return has_spawned_ || !pending_.empty();
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

bool SparePool::IsRotationDue(core::Deadline now) const {
  return spawned_by_zygote_ >= options_.rotate_after_workers || now >= rotate_at_;
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
  zygote_ = std::move(starting_);
  starting_.reset();
  spawned_by_zygote_ = 0;
  zygote_proven_ = false;
  rotate_at_ = core::Clock::now() + options_.rotate_after;
  const std::lock_guard lock(mutex_);
  ++counters_.zygotes_started;
  counters_.zygote_pid = zygote_->pid();
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
  if (!zygote_) GiveUp(std::move(error), start_backoff_);
}

// Fails all waiting takers, and those that come before the next attempt.
void SparePool::GiveUp(core::Error error, const host::Backoff& backoff) {
  {
    const std::lock_guard lock(mutex_);
    FailTakers(error);
    failure_ = std::move(error);
    failure_until_ = backoff.until();
  }
  changed_.notify_all();
}

void SparePool::WorkerFailed(core::Error error) {
  const core::Deadline now = core::Clock::now();
  refill_backoff_.Fail(now);
  // The worker died with its zygote: a zygote that starts but dies with each worker must not be
  // restarted without a pause.
  if (!zygote_) start_backoff_.Fail(now);
  // The loss of a single worker (killed from outside, a temporary lack of descriptors) is not
  // reported.
  if (++workers_failed_in_a_row_ >= kFailuresToGiveUp) {
    GiveUp(std::move(error), refill_backoff_);
  }
}

size_t SparePool::Missing(workers::WorkerUse use) const {
  const auto is_same = [use](const PendingWorker& each) { return each.use == use; };
  const auto on_their_way = static_cast<size_t>(std::ranges::count_if(pending_, is_same) +
                                                std::ranges::count_if(requested_, is_same));
  const std::lock_guard lock(mutex_);
  const Shelf& shelf = ShelfOf(use);
  const size_t wanted = shelf.spares + shelf.takers.size();
  const size_t have = shelf.ready.size() + on_their_way;
  return wanted > have ? wanted - have : 0;
}

std::optional<workers::WorkerUse> SparePool::NextMissing() const {
  for (const workers::WorkerUse use : kUses) {
    if (Missing(use) > 0) return use;
  }
  return std::nullopt;
}

void SparePool::RequestMissing() {
  if (!zygote_ || !refill_backoff_.IsOver(core::Clock::now())) return;
  if (options_.zygote.single_run) {
    if (core::Result<void> become = BecomeOnly(); !become) WorkerFailed(become.error());
    return;
  }
  while (requested_.size() < kRequestsAhead) {
    const std::optional<workers::WorkerUse> use = NextMissing();
    if (!use) return;
    if (core::Result<void> requested = RequestOne(*use); !requested) {
      return WorkerFailed(requested.error());
    }
  }
}

// Prepares what a request for a worker needs; `socket` becomes the worker's end.
core::Result<SparePool::PendingWorker> SparePool::PreparePendingWorker(
    core::UniqueFd& socket) const {
  auto pair = core::CreateSocketPair(SOCK_STREAM);
  if (!pair) return pair.error();
  if (core::Result<void> noted = core::NoteSenders(pair->first.get()); !noted) return noted.error();
  core::Result<workers::CaptureReader> capture =
      workers::CaptureReader::Create(options_.zygote.layout);
  if (!capture) return capture.error();
  socket = std::move(pair->second);
  return PendingWorker{{.capture = std::move(*capture), .socket = std::move(pair->first)}, {}};
}

core::Result<void> SparePool::RequestOne(workers::WorkerUse use) {
  core::UniqueFd socket;
  core::Result<PendingWorker> pending = PreparePendingWorker(socket);
  if (!pending) return pending.error();
  pending->use = use;
  // If the zygote is gone, the next poll shows it, after its remaining replies.
  core::Result<void> sent = SendRequest(*pending, socket.get());
  if (!sent) return sent;
  pending->worker.capture.CloseMemory();
  pending->deadline = core::Clock::now() + kSpawnTimeout;
  requested_.push_back(std::move(*pending));
  return {};
}

core::Result<void> SparePool::SendRequest(PendingWorker& pending, int socket) {
  const int memory = pending.worker.capture.memory_fd();
  if (pending.use == workers::WorkerUse::kRun) return zygote_->RequestWorker(socket, memory);
  auto pair = core::CreateSocketPair(SOCK_SEQPACKET);
  if (!pair) return pair.error();
  if (core::Result<void> noted = core::NoteSenders(pair->first.get()); !noted) return noted;
  pending.control = std::move(pair->first);
  return zygote_->RequestSession(socket, memory, pair->second.get());
}

// The zygote of a single run becomes its worker. It is no longer a zygote, even if this fails.
core::Result<void> SparePool::BecomeOnly() {
  workers::ZygoteProcess zygote = std::move(*zygote_);
  zygote_.reset();
  core::UniqueFd socket;
  core::Result<PendingWorker> pending = PreparePendingWorker(socket);
  if (!pending) return pending.error();
  workers::CaptureReader& capture = pending->worker.capture;
  core::Result<core::Process> process = zygote.BecomeWorker(socket.get(), capture.memory_fd());
  if (!process) return process.error();
  capture.CloseMemory();
  pending->worker.process = std::move(*process);
  pending->deadline = core::Clock::now() + kReadyTimeout;
  pending_.push_back(std::move(*pending));
  const std::lock_guard lock(mutex_);
  ++counters_.workers_spawned;
  counters_.zygote_pid = -1;
  return {};
}

void SparePool::ReceiveRequested() {
  core::Result<core::Process> process = zygote_->ReceiveWorker();
  if (!process) {
    // If the kernel refused the clone, the zygote is unaffected; any other error is fatal for it.
    if (process.error().cause == core::Cause::kRefusedByKernel && !requested_.empty()) {
      requested_.pop_front();
    } else {
      DropZygote();
    }
    return WorkerFailed(process.error());
  }
  if (requested_.empty())
    return DropZygote();  // an unexpected reply: the zygote is no longer trusted
  PendingWorker pending = std::move(requested_.front());
  requested_.pop_front();
  if (pending.use == workers::WorkerUse::kSession) {
    pending.worker.family =
        std::make_shared<workers::SessionFamily>(std::move(*process), std::move(pending.control));
  } else {
    pending.worker.process = std::move(*process);
  }
  pending.deadline = core::Clock::now() + kReadyTimeout;
  pending_.push_back(std::move(pending));
  ++spawned_by_zygote_;
  const std::lock_guard lock(mutex_);
  ++counters_.workers_spawned;
}

// A clone whose reply nobody reads would be a child that nobody reaps.
void SparePool::SettleRequests() {
  const core::Deadline deadline = core::Clock::now() + kSettleTimeout;
  while (zygote_ && !requested_.empty() && core::WaitReadable(zygote_->control_fd(), deadline)) {
    ReceiveRequested();
  }
}

void SparePool::DropZygote() {
  if (!zygote_) return;
  zygote_->Kill();
  // Earlier replies are still in the socket; those workers end here with their owners. The end of
  // the socket may come late: a worker holds the zygote's side of it until it is sealed.
  while (core::WaitReadable(zygote_->control_fd(), core::Clock::now() + kSettleTimeout)) {
    core::Result<core::Process> answered = zygote_->ReceiveWorker();
    if (!answered && answered.error().cause != core::Cause::kRefusedByKernel) break;
    if (!requested_.empty()) requested_.pop_front();
  }
  zygote_.reset();
  // The zygote clones one at a time, so no later clone can have begun.
  if (!requested_.empty()) {
    const PendingWorker& first = requested_.front();
    ReapUnannounced(first.control ? first.control.get() : first.worker.socket.get(), reaper_.get());
  }
  requested_.clear();
}

bool SparePool::WantsWorkers() const {
  if (!zygote_) return false;
  return options_.zygote.single_run || (requested_.size() < kRequestsAhead && NextMissing());
}

// When the next action on a zygote is due. A due rotation does not count while a new zygote starts,
// or until the backoff is over.
core::Deadline SparePool::NextStart() const {
  if (starting_) return start_deadline_;
  if (IsComplete()) return core::Deadline::max();
  if (!zygote_ || IsRotationDue(core::Clock::now())) return start_backoff_.until();
  return std::max(rotate_at_, start_backoff_.until());
}

int SparePool::PollTimeoutNow() const {
  core::Deadline next = core::Clock::now() + std::chrono::minutes(1);
  next = std::min(next, NextStart());
  for (const PendingWorker& pending : pending_) next = std::min(next, pending.deadline);
  if (!requested_.empty()) next = std::min(next, requested_.front().deadline);
  if (WantsWorkers()) next = std::min(next, refill_backoff_.until());
  return core::PollTimeout(next);
}

void SparePool::PollOnce() {
  std::vector<pollfd> polled;
  polled.push_back({wake_.fd(), POLLIN, 0});
  polled.push_back({starting_ ? starting_->control_fd() : -1, POLLIN, 0});
  polled.push_back({zygote_ ? zygote_->control_fd() : -1, POLLIN, 0});
  const size_t first_pending = polled.size();
  for (const PendingWorker& pending : pending_)
    polled.push_back({pending.worker.socket.get(), POLLIN, 0});
  const size_t first_dying = polled.size();
  for (const workers::Worker& worker : dying_)
    polled.push_back({worker.process.ended_fd(), POLLIN, 0});

  if (poll(polled.data(), polled.size(), PollTimeoutNow()) < 0) return;  // EINTR
  if (polled[0].revents) wake_.Lower();
  ReapDead(polled, first_dying);
  FinishSpawns(polled, first_pending);
  if (polled[2].revents) ReceiveRequested();
  if (!requested_.empty() && core::Clock::now() >= requested_.front().deadline) {
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
        signalled ? FinishSpawn(pending->worker)
                  : core::SystemErrorOf(ETIMEDOUT, "seal a worker", "it did not answer");
    if (spawned) {
      refill_backoff_.Reset();
      // Only for the first worker of each zygote: workers of an old zygote say nothing about a
      // failing rotation.
      if (!std::exchange(zygote_proven_, true)) start_backoff_.Reset();
      workers_failed_in_a_row_ = 0;
      const std::lock_guard lock(mutex_);
      Deliver(ShelfOf(pending->use), std::move(pending->worker));
    } else {
      WorkerFailed(spawned.error());
    }
    pending = pending_.erase(pending);
  }
}

host::LayerState SparePool::CgroupLayer(pid_t pid) const {
  if (!options_.cgroup) return {"cgroup", false, options_.no_cgroup};
  const bool held = workers::IsInCgroup(pid, options_.cgroup->name());
  return {"cgroup", held,
          held ? "memory and processes of all workers together" : "not in its leaf"};
}

core::Result<void> SparePool::TakeWorkerResources(core::Descriptors descriptors,
                                                  workers::Worker& worker) const {
  const seal::SealPlan& plan = options_.zygote.plan;
  std::vector<core::UniqueFd*> places;
  if (plan.workspace) places.push_back(&worker.resources.workspace);
  if (plan.egress && plan.namespaces) places.push_back(&worker.resources.egress);
  if (descriptors.size() != places.size()) {
    return core::MakeError("seal a worker", "its file systems differ from those requested");
  }
  for (size_t i = 0; i < places.size(); ++i) *places[i] = std::move(descriptors[i]);
  return {};
}

core::Result<void> SparePool::FinishSpawn(workers::Worker& worker) {
  if (worker.family) {
    core::Result<void> adopted =
        worker.family->AdoptFirst(worker, core::Clock::now() + kSpawnTimeout);
    if (!adopted) return adopted;
  }
  core::WorkerSignal signal;
  core::Result<core::Message> message = core::ReceiveMessage(worker.socket.get(), sizeof signal);
  if (!message || message->bytes.size() != sizeof signal) {
    return core::MakeError("seal a worker", "it died while it was being sealed");
  }
  memcpy(&signal, message->bytes.data(), sizeof signal);
  if (signal.kind == core::WorkerSignal::kFailed) {
    return core::SystemErrorOf(static_cast<int>(signal.value), "seal a worker",
                               seal::SealStepName(static_cast<seal::SealStep>(signal.step)));
  }
  if (signal.kind != core::WorkerSignal::kSealed)
    return core::MakeError("seal a worker", "unknown signal");
  if (core::Result<void> taken = TakeWorkerResources(std::move(message->descriptors), worker);
      !taken) {
    return taken;
  }
  worker.self_report = signal.value;
  core::Result<core::UniqueFd> status = workers::OpenStatus(worker.process.pid());
  if (!status) return status.error();
  worker.status_fd = std::move(*status);
  if (core::Result<void> observed = Observe(worker); !observed) return observed;
  if (options_.zygote.single_run) worker.cpu_before = worker.process.CpuTime();
  worker.may_start_over = options_.zygote.named_modules.has_value();
  return {};
}

core::Result<workers::OwnSeal> SparePool::ReadOwnSeal() const {
  const std::lock_guard lock(mutex_);
  if (!own_seal_) {
    core::Result<workers::OwnSeal> own = workers::OwnSeal::Read();
    if (!own) return own.error();
    own_seal_ = *own;
  }
  return *own_seal_;
}

core::Result<void> SparePool::Observe(workers::Worker& worker) const {
  const core::Result<workers::OwnSeal> own = ReadOwnSeal();
  if (!own) return own.error();
  core::Result<std::vector<host::LayerState>> layers = workers::ObserveSeal(
      *own, worker.process.pid(), worker.status_fd.get(), worker.self_report,
      options_.zygote.plan.zygote_filter.empty() ? 1 : 2, worker.process.parent_pid());
  if (!layers) return core::MakeError("seal a worker", layers.error().ToString());
  // In the order of the seal: seccomp comes last.
  layers->insert(layers->end() - 1, CgroupLayer(worker.process.pid()));
  for (const host::LayerState& layer : *layers) {
    const auto& required = options_.required_layers;
    if (!layer.held && std::find(required.begin(), required.end(), layer.name) != required.end()) {
      return core::MakeError("seal a worker",
                             "layer " + layer.name + " does not hold: " + layer.detail);
    }
  }
  worker.layers = std::move(*layers);
  return {};
}

}  // namespace belljar::pool
