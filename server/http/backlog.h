// Backlog: how much of a stream is waiting for its client. The writer adds and waits, on any
// thread; the connection subtracts what it has sent.
#ifndef BELLJAR_SERVER_HTTP_BACKLOG_H_
#define BELLJAR_SERVER_HTTP_BACKLOG_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace belljar::server::http {

class Backlog {
 public:
  void Add(size_t bytes) {
    std::lock_guard lock(mutex_);
    bytes_ += bytes;
  }

  void Take(size_t bytes) {
    std::lock_guard lock(mutex_);
    bytes_ -= bytes;
    has_room_.notify_all();
  }

  // The client is gone.
  void Close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    has_room_.notify_all();
  }

  // False: closed, or still above `bytes` at `deadline`.
  bool AwaitRoom(size_t bytes, std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    return has_room_.wait_until(lock, deadline, [&] { return closed_ || bytes_ <= bytes; }) &&
           !closed_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable has_room_;
  size_t bytes_ = 0;
  bool closed_ = false;
};

}  // namespace belljar::server::http

#endif  // BELLJAR_SERVER_HTTP_BACKLOG_H_
