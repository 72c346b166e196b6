// Wait: until when somebody waits, and what else ends it.
#ifndef BELLJAR_ENGINE_OUTSIDE_WAIT_H_
#define BELLJAR_ENGINE_OUTSIDE_WAIT_H_

#include <poll.h>

#include <span>

#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/outside/interrupt_check.h"

namespace belljar::outside {

struct Wait {
  core::Deadline deadline = core::Deadline::max();  // ETIMEDOUT
  int cancel_fd = -1;                               // borrowed; once it is readable: ECANCELED
  // Borrowed; null: nobody is asked. Once it says so: ECANCELED. Of the thread that waits.
  InterruptCheck* interrupts = nullptr;
};

// Until one of `watched` has something; errors as Wait has them. Precondition: the first of
// `watched` is the cancellation. One that is -1 is left out.
core::Result<void> WaitForAny(std::span<pollfd> watched, const Wait& wait);

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_WAIT_H_
