#include "container/backend/container_pool.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <utility>

#include "container/backend/container_owner.h"
#include "engine/core/text.h"

namespace belljar::container::backend {
namespace {

using std::chrono::milliseconds;

// Engines do not start more containers in parallel any faster, and each start needs a CPU.
constexpr size_t kCrew = 4;
// A single failure may be temporary.
constexpr int kMaxFailures = 2;
constexpr std::chrono::seconds kRemoveAgain{5};
// Delay before a replacement: a start competes for the CPU with a run that a caller is waiting for,
// and a short run ends before that.
constexpr milliseconds kRefillDelay{30};
constexpr size_t kShownErrors = 400;  // bytes
constexpr char kStart[] = "start a pool of containers";
constexpr char kTake[] = "take a container";

// A waiting guest sends nothing: readable means that it has ended or misbehaves.
bool IsWaiting(const PooledContainer& container) {
  pollfd channel{container.guest->fd(), POLLIN, 0};
  return poll(&channel, 1, 0) == 0;
}

// Adds what the guest, its runtime or the engine has written to standard error.
core::Error WithErrors(core::Error error, const engines::StartedContainer& container) {
  const std::string said = container.errors ? container.errors() : std::string();
  if (said.empty()) return error;
  const size_t start = said.size() > kShownErrors ? said.size() - kShownErrors : 0;
  if (!error.detail.empty()) error.detail += "; ";
  error.detail += "it wrote: " + core::Printable(std::string_view(said).substr(start));
  return error;
}

}  // namespace

ContainerPool::ContainerPool(ContainerPoolOptions options, waiting::Event wake,
                             waiting::Event close)
    : options_(std::move(options)),
      wake_(std::move(wake)),
      close_(std::move(close)),
      more_work_(boost::asio::make_work_guard(work_)) {}

core::Result<std::unique_ptr<ContainerPool>> ContainerPool::Start(ContainerPoolOptions options) {
  core::Result<waiting::Event> wake = waiting::Event::Create(kStart);
  if (!wake) return wake.error();
  core::Result<waiting::Event> close = waiting::Event::Create(kStart);
  if (!close) return close.error();
  std::unique_ptr<ContainerPool> pool(
      new ContainerPool(std::move(options), std::move(*wake), std::move(*close)));
  if (core::Result<void> started = pool->StartThreads(); !started) return started.error();
  return pool;
}

// Not a boost::asio::thread_pool: if it can start only some of its threads, its constructor waits
// for them forever.
core::Result<void> ContainerPool::StartThreads() {
  for (size_t i = 0; i < std::min(kCrew, options_.max_containers); ++i) {
    core::Thread thread;
    core::Result<void> started = thread.Start(kStart, [this] { work_.run(); });
    if (!started) return started;
    crew_.push_back(std::move(thread));
  }
  return keeper_.Start(kStart, [this] { Keep(); });
}

ContainerPool::~ContainerPool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    takers_.FailAll(core::MakeError(kTake, "the sandbox is closing"));
  }
  close_.Raise();
  WakeKeeper();
  changed_.notify_all();
  keeper_.Join();
  more_work_.reset();  // they end once all work is done
  for (core::Thread& thread : crew_) thread.Join();
  std::vector<std::string> left;
  {
    std::unique_lock lock(mutex_);
    takers_.AwaitEmpty(lock);
    changed_.wait(lock, [&] { return inside_ == 0; });
    left = not_removed_;
  }
  // The last attempt; the next instance removes what is left. A hanging engine delays each attempt.
  for (const std::string& id : left) {
    const core::Result<void> removed = options_.engine->Remove(id);
    if (!removed && removed.error().error_number == ETIMEDOUT) break;
  }
}

// --- for runs -------------------------------------------------------------------------------

core::Result<PooledContainer> ContainerPool::Take(const waiting::Wait& wait) {
  std::unique_lock lock(mutex_);
  if (std::optional<PooledContainer> waiting = TakeWaiting()) return std::move(*waiting);
  if (closing_) return core::MakeError(kTake, "the sandbox is closing");
  // The error still applies until the next attempt.
  if (failure_ && !start_backoff_.IsOver(core::Clock::now())) return *failure_;
  WakeKeeper();
  return takers_.Take(lock, wait, kTake, [this] { return WhyNoneInTime(); });
}

std::optional<PooledContainer> ContainerPool::TakeWaiting() {
  while (!ready_.empty()) {
    PooledContainer container = std::move(ready_.front());
    ready_.pop_front();
    WakeKeeper();
    if (IsWaiting(container)) {
      if (const core::Deadline now = core::Clock::now(); refill_at_ <= now)
        refill_at_ = now + kRefillDelay;
      ++in_use_;
      container.warm = true;
      return container;
    }
    // Killed while waiting; callers are not affected.
    RemoveLater(std::move(container.id));
  }
  return std::nullopt;
}

std::string ContainerPool::WhyNoneInTime() const {
  if (in_use_ + removing_ < options_.max_containers) return "none became ready in time";
  return "all " + std::to_string(options_.max_containers) +
         " allowed containers are in use: try again later, or allow more";
}

void ContainerPool::Retire(PooledContainer container) {
  container.guest.reset();
  const std::lock_guard lock(mutex_);
  --in_use_;
  refill_at_ = core::Clock::now();
  RemoveLater(std::move(container.id));
  WakeKeeper();
}

core::Result<void> ContainerPool::WaitForSpare(core::Deadline deadline) {
  std::unique_lock lock(mutex_);
  ++inside_;
  changed_.wait_until(lock, deadline, [&] { return !ready_.empty() || failure_ || closing_; });
  if (--inside_ == 0 && closing_) changed_.notify_all();
  if (!ready_.empty()) return {};
  if (failure_) return *failure_;
  return core::SystemErrorOf(ETIMEDOUT, "wait for a container", "none became ready in time");
}

outside::Backend::Counters ContainerPool::counters() const {
  const std::lock_guard lock(mutex_);
  outside::Backend::Counters counters;
  counters.workers_spawned = started_;
  counters.waiting = ready_.size();
  return counters;
}

// --- the keeper -----------------------------------------------------------------------------

void ContainerPool::Keep() {
  for (;;) {
    std::vector<pollfd> watched;
    core::Deadline next;
    {
      const std::lock_guard lock(mutex_);
      if (closing_) break;
      // One timestamp for all checks, so that they agree on what is due.
      const core::Deadline now = core::Clock::now();
      RetireDead();
      RemoveAgain(now);
      StartMissing(now);
      watched = Watched();
      next = NextAttempt(now);
    }
    (void)poll(watched.data(), watched.size(), core::PollTimeout(next));
    wake_.Lower();
  }
  const std::lock_guard lock(mutex_);
  for (PooledContainer& container : ready_) RemoveLater(std::move(container.id));
  ready_.clear();
}

void ContainerPool::RetireDead() {
  for (auto container = ready_.begin(); container != ready_.end();) {
    if (IsWaiting(*container)) {
      ++container;
      continue;
    }
    RemoveLater(std::move(container->id));
    container = ready_.erase(container);
  }
}

size_t ContainerPool::Missing(core::Deadline now) const {
  const size_t all = ready_.size() + starting_ + in_use_ + removing_;
  if (all >= options_.max_containers || !start_backoff_.IsOver(now)) return 0;
  const size_t wanted =
      takers_.size() + (now >= refill_at_ || !takers_.empty() ? options_.spares : 0);
  const size_t coming = ready_.size() + starting_;
  const size_t missing =
      std::min(wanted > coming ? wanted - coming : 0, options_.max_containers - all);
  // After a failure one at a time, until one has succeeded.
  return failures_in_a_row_ == 0 ? missing : std::min<size_t>(missing, starting_ == 0 ? 1 : 0);
}

void ContainerPool::StartMissing(core::Deadline now) {
  for (size_t missing = Missing(now); missing > 0; --missing) {
    ++starting_;
    boost::asio::post(work_, [this] { StartOne(); });
  }
}

void ContainerPool::RemoveAgain(core::Deadline now) {
  if (not_removed_.empty() || now < next_removal_) return;
  for (std::string& id : std::exchange(not_removed_, {})) RemoveLater(std::move(id));
}

std::vector<pollfd> ContainerPool::Watched() const {
  std::vector<pollfd> watched = {{wake_.fd(), POLLIN, 0}};
  // One taken in the meantime may wake the keeper with its messages, which is harmless.
  for (const PooledContainer& container : ready_) {
    watched.push_back({container.guest->fd(), POLLIN, 0});
  }
  return watched;
}

core::Deadline ContainerPool::NextAttempt(core::Deadline now) const {
  core::Deadline next = now + std::chrono::minutes(1);
  for (const core::Deadline each : {start_backoff_.until(), refill_at_}) {
    if (each > now) next = std::min(next, each);
  }
  if (!not_removed_.empty()) next = std::min(next, next_removal_);
  return next;
}

void ContainerPool::WakeKeeper() const { wake_.Raise(); }

// --- the starter threads --------------------------------------------------------------------

void ContainerPool::StartOne() {
  core::Result<PooledContainer> container = StartContainer();
  const std::lock_guard lock(mutex_);
  --starting_;
  if (!container) {
    StartFailed(container.error());
  } else if (closing_) {
    RemoveLater(std::move(container->id));
  } else {
    Deliver(std::move(*container));
  }
  WakeKeeper();
}

core::Result<PooledContainer> ContainerPool::StartContainer() {
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return core::MakeError("start a container", "the sandbox is closing");
  }
  const core::Deadline began = core::Clock::now();
  engines::ContainerSpec spec = options_.spec;
  core::Result<std::map<std::string, std::string>> labels = OwnerLabels(options_.instance);
  if (!labels) return labels.error();
  spec.labels = std::move(*labels);
  core::Result<engines::StartedContainer> started = options_.engine->Start(spec);
  if (!started) return started.error();
  {
    const std::lock_guard lock(mutex_);
    ++started_;
  }
  const std::string id = started->id;
  core::Result<PooledContainer> ready = AwaitReady(std::move(*started), began);
  if (ready) return ready;
  Remove(id);
  // If the engine itself is gone, that is the error to report.
  const core::Result<engines::EngineFacts> engine = options_.engine->Check();
  return engine ? ready.error() : engine.error();
}

core::Result<PooledContainer> ContainerPool::AwaitReady(engines::StartedContainer started,
                                                        core::Deadline began) {
  core::Result<wire::Channel> channel =
      wire::Channel::OfPipes(std::move(started.output), std::move(started.input));
  if (!channel) return channel.error();
  PooledContainer container;
  container.id = started.id;
  container.guest = std::make_unique<GuestConnection>(std::move(*channel), options_.terms);
  const core::Result<void> ready =
      container.guest->AwaitReady({core::Clock::now() + options_.ready_timeout, close_.fd()});
  if (!ready) return WithErrors(ready.error(), started);
  container.started_in =
      std::chrono::duration_cast<std::chrono::microseconds>(core::Clock::now() - began);
  return container;
}

void ContainerPool::Deliver(PooledContainer container) {
  failures_in_a_row_ = 0;
  start_backoff_.Reset();
  failure_.reset();
  if (takers_.empty()) {
    ready_.push_back(std::move(container));
    changed_.notify_all();
    return;
  }
  ++in_use_;
  takers_.Give(std::move(container));
}

void ContainerPool::StartFailed(const core::Error& error) {
  if (closing_) return;
  start_backoff_.Fail(core::Clock::now());
  if (++failures_in_a_row_ < kMaxFailures) return;
  failure_ = error;
  // ETIMEDOUT would tell a waiting taker that waiting longer might help.
  if (error.error_number == ETIMEDOUT) failure_->error_number = 0;
  takers_.FailAll(error);
  changed_.notify_all();
}

void ContainerPool::RemoveLater(std::string id) {
  ++removing_;
  boost::asio::post(work_, [this, id = std::move(id)] {
    Remove(id);
    const std::lock_guard lock(mutex_);
    --removing_;
    WakeKeeper();
  });
}

void ContainerPool::Remove(const std::string& id) {
  if (options_.engine->Remove(id)) return;
  const std::lock_guard lock(mutex_);
  not_removed_.push_back(id);
  next_removal_ = core::Clock::now() + kRemoveAgain;
}

}  // namespace belljar::container::backend
