// Cancellation: one call's "stop now", as a descriptor that a run can wait on.
//
//   auto cancellation = std::make_shared<Cancellation>();
//   options.cancel_fd = cancellation->fd();      // the thread that runs
//   cancellation->Cancel();                      // any other thread, any number of times
#ifndef BELLJAR_SERVER_CORE_CANCELLATION_H_
#define BELLJAR_SERVER_CORE_CANCELLATION_H_

#include <atomic>
#include <mutex>

#include "engine/core/fd.h"

namespace belljar {

class Cancellation {
 public:
  Cancellation() = default;
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  void Cancel();
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  // Readable once cancelled, and from then on; made when it is first asked for, since most messages
  // are answered without. -1 where the process has no descriptor left: the call then ends at its
  // own time limit.
  int fd() const;

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> cancelled_ = false;
  mutable UniqueFd event_;
};

}  // namespace belljar

#endif  // BELLJAR_SERVER_CORE_CANCELLATION_H_
