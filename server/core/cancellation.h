// Cancellation: cancels one call, through a descriptor that a run can wait on.
//
//   auto cancellation = std::make_shared<Cancellation>();
//   Result<int> fd = cancellation->fd();         // the thread that runs the call
//   options.cancel_fd = *fd;
//   cancellation->Cancel();                      // any other thread, any number of times
#ifndef BELLJAR_SERVER_CORE_CANCELLATION_H_
#define BELLJAR_SERVER_CORE_CANCELLATION_H_

#include <atomic>
#include <mutex>

#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::server {

class Cancellation {
 public:
  Cancellation() = default;
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  void Cancel();
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  // Becomes readable on cancellation and stays readable; borrowed. Created on first use, since most
  // messages never need it. On an error (EMFILE, ENFILE) the call must fail: without the descriptor
  // it could not be cancelled.
  core::Result<int> fd() const;

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> cancelled_ = false;
  mutable core::UniqueFd event_;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_CANCELLATION_H_
