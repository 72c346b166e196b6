// CallQueue: a bounded number of running calls and of waiting calls; further calls are refused.
//
//   CallQueue queue({.running = 4, .waiting = 64});
//   if (queue.start_error()) return *queue.start_error();
//   if (auto refusal = queue.Submit("team-a", 8, [] { … })) return TryAgain(refusal->retry_after);
#ifndef BELLJAR_SERVER_CALLS_CALL_QUEUE_H_
#define BELLJAR_SERVER_CALLS_CALL_QUEUE_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/thread.h"

namespace belljar::server {

class CallQueue {
 public:
  struct Options {
    size_t running = 4;   // threads; each runs one call
    size_t waiting = 64;  // in addition to those
  };
  struct Counters {
    size_t running = 0;
    size_t waiting = 0;
    uint64_t refused = 0;
  };
  struct Refusal {
    enum class Reason { kFull, kCallerFull, kClosing } reason = Reason::kFull;
    size_t running = 0;
    size_t waiting = 0;
    std::chrono::seconds retry_after{1};  // derived from recent call durations
  };

  // Starts its threads.
  explicit CallQueue(Options options);
  ~CallQueue() { Stop(); }
  CallQueue(const CallQueue&) = delete;

  // Calls start in the order of submission. `caller` may have at most `caller_limit` calls running
  // or waiting (0: no per-caller limit). Any thread; never blocks. `call` must not throw.
  std::optional<Refusal> Submit(const std::string& caller, size_t caller_limit,
                                std::function<void()> call);

  // Takes effect for new calls: accepted calls are not refused afterwards. `running`: at least 1,
  // and at most its initial value, the number of threads.
  void SetOptions(Options options);
  Options options() const;
  size_t threads() const { return threads_.size(); }

  // Why there are fewer threads than options().running. If set, do not use the queue.
  const std::optional<core::Error>& start_error() const { return start_error_; }

  // Refuses new calls from now on and waits for the calls already accepted. False: some were still
  // running at `deadline`.
  bool Drain(std::chrono::steady_clock::time_point deadline);

  // Refuses new calls from now on, drops waiting calls, and waits for the running ones, however
  // long that takes: what calls use may only be destroyed afterwards. May be called again, but not
  // within a call.
  void Stop();

  Counters counters() const;

 private:
  struct Entry {
    std::string caller;
    std::function<void()> call;
  };
  void Work();
  std::chrono::seconds RetryAfter() const;

  mutable std::mutex mutex_;
  Options options_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::deque<Entry> entries_;
  std::map<std::string, size_t> by_caller_;  // running and waiting
  size_t running_ = 0;
  uint64_t refused_ = 0;
  bool draining_ = false;
  bool closing_ = false;
  std::chrono::duration<double> mean_time_{0.01};  // exponential moving average per call
  std::optional<core::Error> start_error_;
  std::vector<core::Thread> threads_;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CALLS_CALL_QUEUE_H_
