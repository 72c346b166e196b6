#include "cli/interruption.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace belljar::cli {
namespace {

// Global, because a signal handler receives nothing but the signal number.
std::atomic<int> event_fd{-1};
std::atomic<int> first_signal{0};

// Async-signal-safe.
void Note(int signal) {
  int none = 0;
  first_signal.compare_exchange_strong(none, signal);
  const uint64_t one = 1;
  const int saved_errno = errno;
  (void)!write(event_fd.load(), &one, sizeof one);
  errno = saved_errno;
}

}  // namespace

Interruption::Interruption() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  first_signal = 0;
  event_fd = event_.get();
  if (!event_) return;
  struct sigaction action {};
  action.sa_handler = Note;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction inherited;
    // If the signal is ignored, as set by nohup or a shell's "&", it stays ignored.
    if (sigaction(signal, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction ours;
    if (sigaction(signal, nullptr, &ours) == 0 && ours.sa_handler == Note) {
      ::signal(signal, SIG_DFL);
    }
  }
  event_fd = -1;
}

int Interruption::signal() const { return first_signal; }

void Interruption::Raise(int signal) { Note(signal); }

}  // namespace belljar::cli
