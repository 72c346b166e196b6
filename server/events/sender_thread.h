// SenderThread: the thread of a sender (webhooks.h, trace_exporter.h): its start and end.
#ifndef BELLJAR_SERVER_EVENTS_SENDER_THREAD_H_
#define BELLJAR_SERVER_EVENTS_SENDER_THREAD_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "engine/core/result.h"
#include "engine/core/thread.h"
#include "engine/host/backoff.h"
#include "server/core/cancellation.h"

namespace belljar::server::events {

// Time between two attempts.
inline constexpr host::Backoff kBackoff{std::chrono::milliseconds(500), std::chrono::minutes(1)};

// The owner calls Stop before destroying it.
class SenderThread {
 public:
  // Accepts no more, and ends once everything queued has been sent or has failed.
  void Finish() {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  // After Finish.
  void Join(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [&] { return is_done_; });
  }
  // Ends at once; what is queued is lost.
  void Stop() {
    stop_.Cancel();
    Finish();
    thread_.Join();
  }

 protected:
  // `operation` is that of the error.
  core::Result<void> Run(std::string operation, std::function<void()> work) {
    return thread_.Start(std::move(operation), [this, work = std::move(work)] {
      work();
      const std::lock_guard lock(mutex_);
      is_done_ = true;
      changed_.notify_all();
    });
  }

  // Waits between two attempts. Returns false if it should end: once the server waits for it, a
  // failed attempt is not followed by another.
  bool Sleep(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, time, [&] { return ends_; });
  }

  Cancellation stop_;
  mutable std::mutex mutex_;
  // Changes of ends_, and of what the sender's thread waits for.
  std::condition_variable changed_;
  bool ends_ = false;

 private:
  bool is_done_ = false;
  core::Thread thread_;
};

}  // namespace belljar::server::events

#endif  // BELLJAR_SERVER_EVENTS_SENDER_THREAD_H_
