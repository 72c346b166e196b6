// Wait: how long to wait, and what ends the wait early.
#ifndef BELLJAR_ENGINE_WAITING_WAIT_H_
#define BELLJAR_ENGINE_WAITING_WAIT_H_

#include <poll.h>

#include <span>

#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/waiting/interrupt_check.h"

namespace belljar::waiting {

struct Wait {
  core::Deadline deadline = core::Deadline::max();  // ETIMEDOUT
  int cancel_fd = -1;                               // borrowed; once it is readable: ECANCELED
  // Borrowed; null: not checked. ECANCELED once it reports an interruption. Belongs to the waiting
  // thread.
  InterruptCheck* interrupts = nullptr;
};

// Waits until one of `watched` is ready; errors as in Wait. Precondition: the first of `watched` is
// the cancellation. Entries of -1 are ignored.
core::Result<void> WaitForAny(std::span<pollfd> watched, const Wait& wait);

}  // namespace belljar::waiting

#endif  // BELLJAR_ENGINE_WAITING_WAIT_H_
