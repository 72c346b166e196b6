#include "container/backend/container_pool.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <utility>

#include "container/backend/container_owner.h"
#include "engine/core/text.h"

namespace belljar {
namespace {

using std::chrono::milliseconds;

// Engines do not start more of them in less time, and each wants a processor.
constexpr size_t kCrew = 4;
// One failure may be a moment of the engine's.
constexpr int kFailuresToGiveUp = 2;
constexpr milliseconds kFirstBackoff{200};
constexpr milliseconds kLongestBackoff{5000};
constexpr std::chrono::seconds kRemoveAgain{5};
// A start beside a run is one more for the same processors, and the run is what somebody waits for:
// a short one is over before its container is replaced.
constexpr milliseconds kRefillDelay{30};
constexpr size_t kShownErrors = 400;  // bytes

UniqueFd MakeEvent() { return UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

void Raise(const UniqueFd& event) {
  const uint64_t one = 1;
  // Fails only when the counter is full, and then it is raised already.
  (void)!write(event.get(), &one, sizeof one);
}

void Lower(const UniqueFd& event) {
  uint64_t count;
  (void)!read(event.get(), &count, sizeof count);
}

// A guest that waits has nothing to say: what is readable is its end, or what no guest says.
bool IsWaiting(const PooledContainer& container) {
  pollfd line{container.guest->fd(), POLLIN, 0};
  return poll(&line, 1, 0) == 0;
}

// Readable or cancelled or late.
Result<void> WaitForEvent(const UniqueFd& event, const Wait& wait) {
  pollfd watched[] = {{wait.cancel_fd, POLLIN, 0}, {event.get(), POLLIN, 0}};
  return WaitForAny(watched, wait);
}

// What the guest, its runtime or the engine has written to standard error.
Error WithErrors(Error error, const StartedContainer& container) {
  const std::string said = container.errors ? container.errors() : std::string();
  if (said.empty()) return error;
  const size_t start = said.size() > kShownErrors ? said.size() - kShownErrors : 0;
  if (!error.detail.empty()) error.detail += "; ";
  error.detail += "it wrote: " + Printable(std::string_view(said).substr(start));
  return error;
}

}  // namespace

ContainerPool::ContainerPool(ContainerPoolOptions options)
    : options_(std::move(options)),
      wake_(MakeEvent()),
      close_(MakeEvent()),
      crew_(std::min(kCrew, options_.most)) {
  keeper_ = std::thread([this] { Keep(); });
}

ContainerPool::~ContainerPool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    for (Taker* const taker : takers_) {
      Tell(*taker, MakeError("take a container", "the sandbox is closing"));
    }
    takers_.clear();
  }
  Raise(close_);
  WakeKeeper();
  changed_.notify_all();
  keeper_.join();
  crew_.join();
  std::vector<std::string> left;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return inside_ == 0; });
    left = not_removed_;
  }
  // The last try; then they are the next one's to remove. An engine that hangs does so for each.
  for (const std::string& id : left) {
    const Result<void> removed = options_.engine->Remove(id);
    if (!removed && removed.error().error_number == ETIMEDOUT) break;
  }
}

// --- for runs -------------------------------------------------------------------------------

Result<PooledContainer> ContainerPool::Take(const Wait& wait) {
  std::unique_lock lock(mutex_);
  if (std::optional<PooledContainer> waiting = TakeWaiting()) return std::move(*waiting);
  if (closing_) return MakeError("take a container", "the sandbox is closing");
  // The reason is as good as new until the next attempt.
  if (failure_ && Clock::now() < next_start_) return *failure_;
  Taker taker{MakeEvent(), {}};
  if (!taker.event) return SystemError("take a container");
  takers_.push_back(&taker);
  ++inside_;
  WakeKeeper();
  lock.unlock();
  const Result<void> told = WaitForEvent(taker.event, wait);
  lock.lock();
  if (--inside_ == 0 && closing_) changed_.notify_all();
  if (taker.given) return std::move(*taker.given);
  takers_.remove(&taker);
  if (!told && told.error().error_number == ETIMEDOUT) return NoneInTime();
  return told ? MakeError("take a container", "it was woken without one") : told.error();
}

std::optional<PooledContainer> ContainerPool::TakeWaiting() {
  while (!ready_.empty()) {
    PooledContainer container = std::move(ready_.front());
    ready_.pop_front();
    WakeKeeper();
    if (IsWaiting(container)) {
      if (const Deadline now = Clock::now(); refill_at_ <= now) refill_at_ = now + kRefillDelay;
      ++in_use_;
      container.warm = true;
      return container;
    }
    // Killed while it waited: no caller's concern.
    RemoveLater(std::move(container.id));
  }
  return std::nullopt;
}

Error ContainerPool::NoneInTime() const {
  const bool is_full = in_use_ + removing_ >= options_.most;
  return SystemErrorOf(ETIMEDOUT, "take a container",
                       is_full ? "all " + std::to_string(options_.most) +
                                     " that there may be are in use: ask again later, or allow more"
                               : "none became ready in time");
}

void ContainerPool::Retire(PooledContainer container) {
  container.guest.reset();
  const std::lock_guard lock(mutex_);
  --in_use_;
  refill_at_ = Clock::now();
  RemoveLater(std::move(container.id));
  WakeKeeper();
}

Result<void> ContainerPool::WaitForSpare(Deadline deadline) {
  std::unique_lock lock(mutex_);
  ++inside_;
  changed_.wait_until(lock, deadline, [&] { return !ready_.empty() || failure_ || closing_; });
  if (--inside_ == 0 && closing_) changed_.notify_all();
  if (!ready_.empty()) return {};
  if (failure_) return *failure_;
  return SystemErrorOf(ETIMEDOUT, "wait for a container", "none became ready in time");
}

Backend::Counters ContainerPool::counters() const {
  const std::lock_guard lock(mutex_);
  Backend::Counters counters;
  counters.workers_spawned = started_;
  counters.waiting = ready_.size();
  return counters;
}

// --- the keeper -----------------------------------------------------------------------------

void ContainerPool::Keep() {
  for (;;) {
    std::vector<pollfd> watched;
    Deadline next;
    {
      const std::lock_guard lock(mutex_);
      if (closing_) break;
      // One for all: what is not yet due to one of them must not be over to another.
      const Deadline now = Clock::now();
      RetireDead();
      RemoveAgain(now);
      StartMissing(now);
      watched = Watched();
      next = NextAttempt(now);
    }
    (void)poll(watched.data(), watched.size(), PollTimeout(next));
    Lower(wake_);
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

size_t ContainerPool::Missing(Deadline now) const {
  const size_t all = ready_.size() + starting_ + in_use_ + removing_;
  if (all >= options_.most || now < next_start_) return 0;
  const size_t wanted =
      takers_.size() + (now >= refill_at_ || !takers_.empty() ? options_.spares : 0);
  const size_t coming = ready_.size() + starting_;
  const size_t missing = std::min(wanted > coming ? wanted - coming : 0, options_.most - all);
  // After a failure one at a time, until it is known that it was only that.
  return failures_in_a_row_ == 0 ? missing : std::min<size_t>(missing, starting_ == 0 ? 1 : 0);
}

void ContainerPool::StartMissing(Deadline now) {
  for (size_t missing = Missing(now); missing > 0; --missing) {
    ++starting_;
    boost::asio::post(crew_, [this] { StartOne(); });
  }
}

void ContainerPool::RemoveAgain(Deadline now) {
  if (not_removed_.empty() || now < next_removal_) return;
  for (std::string& id : std::exchange(not_removed_, {})) RemoveLater(std::move(id));
}

std::vector<pollfd> ContainerPool::Watched() const {
  std::vector<pollfd> watched = {{wake_.get(), POLLIN, 0}};
  // One that is taken meanwhile wakes the keeper by what it says, and nothing comes of it.
  for (const PooledContainer& container : ready_) {
    watched.push_back({container.guest->fd(), POLLIN, 0});
  }
  return watched;
}

Deadline ContainerPool::NextAttempt(Deadline now) const {
  Deadline next = now + std::chrono::minutes(1);
  for (const Deadline each : {next_start_, refill_at_}) {
    if (each > now) next = std::min(next, each);
  }
  if (!not_removed_.empty()) next = std::min(next, next_removal_);
  return next;
}

void ContainerPool::WakeKeeper() const { Raise(wake_); }

// --- the crew -------------------------------------------------------------------------------

void ContainerPool::StartOne() {
  Result<PooledContainer> container = Start();
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

Result<PooledContainer> ContainerPool::Start() {
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return MakeError("start a container", "the sandbox is closing");
  }
  const Deadline began = Clock::now();
  ContainerSpec spec = options_.spec;
  Result<std::map<std::string, std::string>> labels = OwnerLabels(options_.instance);
  if (!labels) return labels.error();
  spec.labels = std::move(*labels);
  Result<StartedContainer> started = options_.engine->Start(spec);
  if (!started) return started.error();
  {
    const std::lock_guard lock(mutex_);
    ++started_;
  }
  const std::string id = started->id;
  Result<PooledContainer> ready = AwaitReady(std::move(*started), began);
  if (ready) return ready;
  Remove(id);
  // Where the engine itself has gone, that is the reason to tell.
  const Result<EngineFacts> engine = options_.engine->Check();
  return engine ? ready.error() : engine.error();
}

Result<PooledContainer> ContainerPool::AwaitReady(StartedContainer started, Deadline began) {
  Result<Line> line = Line::OfPipes(std::move(started.output), std::move(started.input));
  if (!line) return line.error();
  PooledContainer container;
  container.id = started.id;
  container.guest = std::make_unique<GuestConnection>(std::move(*line), options_.terms);
  const Result<void> ready =
      container.guest->AwaitReady({Clock::now() + options_.ready_timeout, close_.get()});
  if (!ready) return WithErrors(ready.error(), started);
  container.started_in =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began);
  return container;
}

void ContainerPool::Deliver(PooledContainer container) {
  failures_in_a_row_ = 0;
  backoff_ = milliseconds(0);
  failure_.reset();
  if (takers_.empty()) {
    ready_.push_back(std::move(container));
    changed_.notify_all();
    return;
  }
  ++in_use_;
  Taker* const first = takers_.front();
  takers_.pop_front();
  Tell(*first, std::move(container));
}

void ContainerPool::StartFailed(const Error& error) {
  if (closing_) return;
  backoff_ = std::clamp(backoff_ * 2, kFirstBackoff, kLongestBackoff);
  next_start_ = Clock::now() + backoff_;
  if (++failures_in_a_row_ < kFailuresToGiveUp) return;
  failure_ = error;
  // To whoever waits for a container it would say that waiting longer helps.
  if (error.error_number == ETIMEDOUT) failure_->error_number = 0;
  for (Taker* const taker : takers_) Tell(*taker, error);
  takers_.clear();
  changed_.notify_all();
}

// The taker may be gone once the mutex is free.
void ContainerPool::Tell(Taker& taker, Result<PooledContainer> given) {
  taker.given.emplace(std::move(given));
  Raise(taker.event);
}

void ContainerPool::RemoveLater(std::string id) {
  ++removing_;
  boost::asio::post(crew_, [this, id = std::move(id)] {
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
  next_removal_ = Clock::now() + kRemoveAgain;
}

}  // namespace belljar
