#include "engine/outside/interrupt_check.h"

#include <chrono>

namespace belljar {
namespace {

constexpr std::chrono::milliseconds kInterval{50};

}  // namespace

InterruptCheck::InterruptCheck(const std::function<bool()>& interrupted)
    : interrupted_(interrupted), next_(Clock::now() + kInterval) {}

Deadline InterruptCheck::next() const { return interrupted_ ? next_ : Deadline::max(); }

void InterruptCheck::Hurry() { next_ = Clock::now(); }

bool InterruptCheck::Interrupted() {
  if (!interrupted_ || Clock::now() < next_) return false;
  const bool interrupted = interrupted_();
  next_ = Clock::now() + kInterval;
  return interrupted;
}

}  // namespace belljar
