#include "engine/waiting/wait.h"

#include <algorithm>
#include <cerrno>

namespace belljar::waiting {

core::Result<void> WaitForAny(std::span<pollfd> watched, const Wait& wait) {
  for (;;) {
    const bool asks = wait.interrupts != nullptr;
    // Checked here too, for callers that always find something ready.
    if (asks && wait.interrupts->Interrupted()) {
      return core::SystemErrorOf(ECANCELED, "wait for the other end", "interrupted");
    }
    const core::Deadline next =
        asks ? std::min(wait.deadline, wait.interrupts->next()) : wait.deadline;
    const int timeout = next == core::Deadline::max() ? -1 : core::PollTimeout(next);
    const int ready = poll(watched.data(), watched.size(), timeout);
    if (ready < 0 && errno != EINTR) return core::SystemError("poll a channel");
    if (ready < 0 && asks) wait.interrupts->CheckSoon();
    if (ready > 0 && watched[0].revents == 0) return {};
    if (ready > 0) return core::SystemErrorOf(ECANCELED, "wait for the other end");
    if (ready == 0 && core::Clock::now() >= wait.deadline) {
      return core::SystemErrorOf(ETIMEDOUT, "wait for the other end");
    }
  }
}

}  // namespace belljar::waiting
