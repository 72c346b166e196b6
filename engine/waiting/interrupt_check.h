// InterruptCheck: decides when to call RunOptions::interrupted: after a signal handler has run on
// this thread, and periodically, since a signal between two checks does not wake a poll.
#ifndef BELLJAR_ENGINE_WAITING_INTERRUPT_CHECK_H_
#define BELLJAR_ENGINE_WAITING_INTERRUPT_CHECK_H_

#include <functional>

#include "engine/core/socket.h"

namespace belljar::waiting {

class InterruptCheck {
 public:
  // Borrowed; an empty one is never called.
  explicit InterruptCheck(const std::function<bool()>& interrupted);

  // When the next check is due, as a poll deadline.
  core::Deadline next() const;
  // Call after EINTR, or after code that may have received a signal.
  void CheckSoon();
  // Checks if it is due; true: the caller wants to end the run.
  bool Interrupted();

 private:
  const std::function<bool()>& interrupted_;
  core::Deadline next_;
};

}  // namespace belljar::waiting

#endif  // BELLJAR_ENGINE_WAITING_INTERRUPT_CHECK_H_
