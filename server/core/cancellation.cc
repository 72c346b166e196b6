#include "server/core/cancellation.h"

#include <sys/eventfd.h>

namespace belljar::server {

void Cancellation::Cancel() {
  const std::lock_guard lock(mutex_);
  if (cancelled_.exchange(true, std::memory_order_acq_rel)) return;
  if (event_) (void)eventfd_write(event_.get(), 1);
}

core::Result<int> Cancellation::fd() const {
  const std::lock_guard lock(mutex_);
  if (!event_) {
    event_.Reset(eventfd(cancelled() ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!event_) return core::SystemError("create an event to cancel a call");
  }
  return event_.get();
}

}  // namespace belljar::server
