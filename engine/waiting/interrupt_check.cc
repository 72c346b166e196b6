#include "engine/waiting/interrupt_check.h"

#include <chrono>

namespace belljar::waiting {
namespace {

constexpr std::chrono::milliseconds kInterval{50};

}  // namespace

InterruptCheck::InterruptCheck(const std::function<bool()>& interrupted)
    : interrupted_(interrupted), next_(core::Clock::now() + kInterval) {}

core::Deadline InterruptCheck::next() const { return interrupted_ ? next_ : core::Deadline::max(); }

void InterruptCheck::CheckSoon() { next_ = core::Clock::now(); }

bool InterruptCheck::Interrupted() {
  if (!interrupted_ || core::Clock::now() < next_) return false;
  const bool interrupted = interrupted_();
  next_ = core::Clock::now() + kInterval;
  return interrupted;
}

}  // namespace belljar::waiting
