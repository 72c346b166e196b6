// Cancellation: one call's "stop now", as a descriptor that a run can wait on.
//
//   auto cancellation = std::make_shared<Cancellation>();
//   Result<int> fd = cancellation->fd();         // the thread that runs
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
  // Readable once cancelled, and from then on; borrowed. Made when it is first asked for, since
  // most messages are answered without. An error (EMFILE, ENFILE) is for the caller to end with: a
  // run without it could not be cancelled.
  core::Result<int> fd() const;

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> cancelled_ = false;
  mutable core::UniqueFd event_;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_CANCELLATION_H_
