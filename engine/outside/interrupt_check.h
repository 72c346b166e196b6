// InterruptCheck: when RunOptions::interrupted is asked: once a signal's handler has run on this
// thread, and now and then, since a signal that comes between two looks wakes no poll.
#ifndef BELLJAR_ENGINE_OUTSIDE_INTERRUPT_CHECK_H_
#define BELLJAR_ENGINE_OUTSIDE_INTERRUPT_CHECK_H_

#include <functional>

#include "engine/core/socket.h"

namespace belljar::outside {

class InterruptCheck {
 public:
  // Borrowed; an empty one is never asked.
  explicit InterruptCheck(const std::function<bool()>& interrupted);

  // The next look: to be polled until.
  core::Deadline next() const;
  // EINTR, or after something that may have had a signal of its own.
  void Hurry();
  // Asks, if it is time to; true: the caller wants no more of the run.
  bool Interrupted();

 private:
  const std::function<bool()>& interrupted_;
  core::Deadline next_;
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_INTERRUPT_CHECK_H_
