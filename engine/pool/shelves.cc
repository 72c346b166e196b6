#include "engine/pool/shelves.h"

#include <algorithm>
#include <cerrno>

namespace belljar::pool {
namespace {

// Further workers are only cloned when needed: each is one process more than a single run's worker.
constexpr size_t kSpareSessions = 1;

constexpr char kTake[] = "take a worker";
constexpr char kOnlyOne[] = "this sandbox was for a single run, which is over: open another one";

}  // namespace

Shelves::Shelves(size_t spares, bool only_one, waiting::Event wake)
    : spares_(spares), only_one_(only_one), wake_(std::move(wake)) {
  Of(workers::WorkerUse::kRun).spares = spares;
}

core::Result<workers::Worker> Shelves::Take(core::Deadline deadline, const run::RunOptions& run,
                                            workers::WorkerUse use) {
  std::unique_lock lock(mutex_);
  Shelf& shelf = Of(use);
  if (use == workers::WorkerUse::kSession) shelf.spares = std::min(spares_, kSpareSessions);
  while (!shelf.ready.empty()) {
    workers::Worker worker = TakeReady(shelf);
    if (!worker.process.HasEnded()) return worker;
    // Killed while waiting, by an operator or the OOM killer. Callers are not affected.
    retired_.push_back(std::move(worker));
  }
  if (closing_) return core::MakeError(kTake, "the sandbox is closing");
  if (IsUsedUp()) return core::MakeError(kTake, kOnlyOne);
  // The error applies until the next attempt.
  if (failure_ && core::Clock::now() < failure_until_) return *failure_;
  wake_.Raise();  // more takers than spares: the keeper starts more
  waiting::InterruptCheck interrupts(run.interrupted);
  const waiting::Wait wait{deadline, run.cancel_fd, run.interrupted ? &interrupts : nullptr};
  return shelf.takers.Take(lock, wait, kTake, [] {
    return "none became free in time: the machine is busy, or the profile takes long to start; try "
           "again";
  });
}

core::Result<workers::Worker> Shelves::TakeWith(core::UniqueFd workspace, core::Deadline deadline,
                                                const run::RunOptions& run) {
  if (!workspace) return core::MakeError(kTake, "there is no workspace for it");
  const auto order = std::make_shared<Order>(std::move(workspace));
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return core::MakeError(kTake, "the sandbox is closing");
    if (only_one_) return core::MakeError(kTake, kOnlyOne);
    if (failure_ && core::Clock::now() < failure_until_) return *failure_;
    orders_.push_back(order);
    wake_.Raise();
  }
  waiting::InterruptCheck interrupts(run.interrupted);
  const waiting::Wait wait{deadline, run.cancel_fd, run.interrupted ? &interrupts : nullptr};
  return order->Await(wait, kTake);
}

std::shared_ptr<Order> Shelves::NextOrder() {
  const std::lock_guard lock(mutex_);
  if (orders_.empty()) return nullptr;
  std::shared_ptr<Order> next = Carried(std::move(orders_.front()));
  orders_.pop_front();
  return next;
}

bool Shelves::HasOrders() const {
  const std::lock_guard lock(mutex_);
  return !orders_.empty();
}

// Requires mutex_, and a ready worker.
workers::Worker Shelves::TakeReady(Shelf& shelf) {
  workers::Worker worker = std::move(shelf.ready.front());
  shelf.ready.pop_front();
  // Other takers can no longer get a worker.
  if (only_one_) changed_.notify_all();
  // While spares are left, refilling waits until the run ends (Retire): a clone would compete for
  // the CPU with a run that a caller is waiting for.
  if (shelf.ready.size() <= shelf.spares / 2) wake_.Raise();
  return worker;
}

void Shelves::Deliver(workers::WorkerUse use, workers::Worker worker) {
  const std::lock_guard lock(mutex_);
  Shelf& shelf = Of(use);
  failure_.reset();
  has_delivered_ = true;
  if (shelf.takers.empty()) {
    shelf.ready.push_back(std::move(worker));
  } else {
    shelf.takers.Give(std::move(worker));
    if (only_one_) FailTakers(core::MakeError(kTake, kOnlyOne));
  }
  changed_.notify_all();
}

// Requires mutex_.
void Shelves::FailTakers(const core::Error& error) {
  for (Shelf& shelf : shelves_) shelf.takers.FailAll(error);
  for (const std::shared_ptr<Order>& order : std::exchange(orders_, {})) order->Settle(error);
}

core::Result<void> Shelves::WaitForSpare(core::Deadline deadline) {
  std::unique_lock lock(mutex_);
  const std::deque<workers::Worker>& ready = Of(workers::WorkerUse::kRun).ready;
  changed_.wait_until(lock, deadline, [&] { return !ready.empty() || failure_ || IsUsedUp(); });
  if (!ready.empty()) return {};
  if (IsUsedUp()) return core::MakeError("wait for a worker", kOnlyOne);
  if (failure_) return *failure_;
  return core::SystemErrorOf(ETIMEDOUT, "wait for a worker", "none became ready in time");
}

void Shelves::Retire(workers::Worker worker) {
  {
    const std::lock_guard lock(mutex_);
    retired_.push_back(std::move(worker));
  }
  wake_.Raise();
}

std::vector<workers::Worker> Shelves::TakeRetired() {
  const std::lock_guard lock(mutex_);
  return std::exchange(retired_, {});
}

Counters Shelves::counters() const {
  const std::lock_guard lock(mutex_);
  Counters counters = counters_;
  counters.waiting = Of(workers::WorkerUse::kRun).ready.size();
  return counters;
}

void Shelves::Close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    FailTakers(core::MakeError(kTake, "the sandbox is closing"));
  }
  wake_.Raise();
}

bool Shelves::is_closing() const {
  const std::lock_guard lock(mutex_);
  return closing_;
}

void Shelves::AwaitEmpty() {
  std::unique_lock lock(mutex_);
  for (Shelf& shelf : shelves_) shelf.takers.AwaitEmpty(lock);
}

// Requires mutex_.
bool Shelves::IsUsedUp() const {
  return only_one_ && has_delivered_ && Of(workers::WorkerUse::kRun).ready.empty();
}

size_t Shelves::Missing(workers::WorkerUse use, size_t on_their_way) const {
  const std::lock_guard lock(mutex_);
  const Shelf& shelf = Of(use);
  const size_t wanted = shelf.spares + shelf.takers.size();
  const size_t have = shelf.ready.size() + on_their_way;
  return wanted > have ? wanted - have : 0;
}

void Shelves::GiveUp(core::Error error, core::Deadline until) {
  {
    const std::lock_guard lock(mutex_);
    FailTakers(error);
    failure_ = std::move(error);
    failure_until_ = until;
  }
  changed_.notify_all();
}

bool Shelves::has_delivered() const {
  const std::lock_guard lock(mutex_);
  return has_delivered_;
}

void Shelves::Clear() {
  const std::lock_guard lock(mutex_);
  for (Shelf& shelf : shelves_) shelf.ready.clear();
  retired_.clear();
}

void Shelves::CountZygote(pid_t pid) {
  const std::lock_guard lock(mutex_);
  ++counters_.zygotes_started;
  counters_.zygote_pid = pid;
}

void Shelves::CountWorker() {
  const std::lock_guard lock(mutex_);
  ++counters_.workers_spawned;
}

void Shelves::CountOnlyWorker() {
  const std::lock_guard lock(mutex_);
  ++counters_.workers_spawned;
  counters_.zygote_pid = -1;
}

}  // namespace belljar::pool
