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
std::atomic<bool> is_repeated{false};

// Async-signal-safe.
void Note(int signal) {
  int noted = 0;
  if (!first_signal.compare_exchange_strong(noted, signal) && is_repeated && noted == SIGINT) {
    // A signal that ends the process takes precedence over Ctrl-C.
    first_signal.compare_exchange_strong(noted, signal);
  }
  const uint64_t one = 1;
  const int saved_errno = errno;
  (void)!write(event_fd.load(), &one, sizeof one);
  errno = saved_errno;
}

}  // namespace

Interruption::Interruption(Kind kind) : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  first_signal = 0;
  is_repeated = kind == Kind::kRepeated;
  event_fd = event_.get();
  if (!event_) return;
  struct sigaction action {};
  action.sa_handler = Note;
  for (const int signal : {SIGINT, SIGTERM}) {
    const bool stays = is_repeated && signal == SIGINT;
    action.sa_flags = static_cast<int>(stays ? SA_RESTART : SA_RESTART | SA_RESETHAND);
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

void Interruption::Clear() {
  uint64_t count = 0;
  (void)!read(event_.get(), &count, sizeof count);
  int noted = SIGINT;
  // If another signal has been recorded since, the event must stay.
  if (!first_signal.compare_exchange_strong(noted, 0) && noted != 0) Note(noted);
}

}  // namespace belljar::cli
