#include "server/calls/call_queue.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace belljar::server {

CallQueue::CallQueue(Options options) : options_(options) {
  threads_.reserve(options.running);
  while (threads_.size() < options.running && !start_error_) {
    core::Thread thread;
    const core::Result<void> started = thread.Start("run calls", [this] { Work(); });
    if (!started) start_error_ = started.error();
    threads_.push_back(std::move(thread));
  }
}

void CallQueue::Stop() {
  std::deque<Entry> dropped;
  {
    const std::lock_guard lock(mutex_);
    draining_ = closing_ = true;
    dropped.swap(entries_);
  }
  wake_.notify_all();
  idle_.notify_all();
  dropped.clear();  // without the mutex: what calls hold may use the queue when it is destroyed
  for (core::Thread& thread : threads_) thread.Join();
}

std::chrono::seconds CallQueue::RetryAfter() const {
  const double rounds = static_cast<double>(entries_.size() + 1) /
                        static_cast<double>(std::max<size_t>(options_.running, 1));
  const double seconds = std::ceil(mean_time_.count() * rounds);
  return std::chrono::seconds(static_cast<int64_t>(std::clamp(seconds, 1.0, 60.0)));
}

std::optional<CallQueue::Refusal> CallQueue::Submit(const std::string& caller, size_t caller_limit,
                                                    std::function<void()> call) {
  {
    const std::lock_guard lock(mutex_);
    const auto refuse = [&](Refusal::Reason reason) {
      ++refused_;
      return Refusal{reason, running_, entries_.size(), RetryAfter()};
    };
    if (draining_) return refuse(Refusal::Reason::kClosing);
    // An entry counts as waiting until a thread has taken it.
    const size_t idle = options_.running - std::min(running_, options_.running);
    if (entries_.size() >= options_.waiting + idle) return refuse(Refusal::Reason::kFull);
    size_t& of_caller = by_caller_[caller];
    if (caller_limit > 0 && of_caller >= caller_limit) {
      return refuse(Refusal::Reason::kCallerFull);
    }
    ++of_caller;
    entries_.push_back({caller, std::move(call)});
  }
  wake_.notify_one();
  return std::nullopt;
}

void CallQueue::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock,
               [&] { return closing_ || (!entries_.empty() && running_ < options_.running); });
    if (closing_) return;
    Entry entry = std::move(entries_.front());
    entries_.pop_front();
    ++running_;
    lock.unlock();
    const auto start = std::chrono::steady_clock::now();
    entry.call();
    entry.call = nullptr;  // release what it holds before the call counts as finished
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    lock.lock();
    mean_time_ += 0.1 * (took - mean_time_);
    --running_;
    const auto of_caller = by_caller_.find(entry.caller);
    if (--of_caller->second == 0) by_caller_.erase(of_caller);
    if (running_ == 0 && entries_.empty()) idle_.notify_all();
  }
}

void CallQueue::SetOptions(Options options) {
  {
    const std::lock_guard lock(mutex_);
    if (options.running == 0 || options.running > threads_.size()) std::abort();
    options_ = options;
  }
  wake_.notify_all();
}

CallQueue::Options CallQueue::options() const {
  const std::lock_guard lock(mutex_);
  return options_;
}

bool CallQueue::Drain(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  draining_ = true;
  return idle_.wait_until(lock, deadline, [&] { return running_ == 0 && entries_.empty(); });
}

CallQueue::Counters CallQueue::counters() const {
  const std::lock_guard lock(mutex_);
  return {running_, entries_.size(), refused_};
}

}  // namespace belljar::server
