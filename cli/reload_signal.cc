#include "cli/reload_signal.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace belljar::cli {
namespace {

// Global, because a signal handler receives nothing but the signal number.
std::atomic<int> event_fd{-1};

// Async-signal-safe.
void Note(int) {
  const uint64_t one = 1;
  const int saved_errno = errno;
  (void)!write(event_fd.load(), &one, sizeof one);
  errno = saved_errno;
}

}  // namespace

ReloadSignal::ReloadSignal() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  event_fd = event_.get();
  struct sigaction inherited;
  const bool is_ignored =
      sigaction(SIGHUP, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN;
  if (!event_ || is_ignored) return;
  struct sigaction action {};
  action.sa_handler = Note;
  action.sa_flags = SA_RESTART;
  sigaction(SIGHUP, &action, nullptr);
}

ReloadSignal::~ReloadSignal() {
  struct sigaction ours;
  if (sigaction(SIGHUP, nullptr, &ours) == 0 && ours.sa_handler == Note) ::signal(SIGHUP, SIG_DFL);
  event_fd = -1;
}

}  // namespace belljar::cli
