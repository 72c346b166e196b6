#include "cli/repl/keyboard.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace belljar::cli::repl {
namespace {

constexpr unsigned char kCtrlC = 0x03;
constexpr unsigned char kCtrlZ = 0x1a;
constexpr size_t kMaxTypedAhead = 4096;
// Timeout for being stopped: an orphaned process group ignores SIGTSTP.
constexpr int kStopTimeout = 200;  // ms

// Global, because a signal handler receives nothing but the signal number.
std::atomic<int> changes_fd{-1};

// Async-signal-safe.
void NoteChange(int) {
  const int saved_errno = errno;
  const uint64_t one = 1;
  (void)!write(changes_fd.load(), &one, sizeof one);
  errno = saved_errno;
}

bool TakeEvent(int fd) {
  uint64_t count = 0;
  return read(fd, &count, sizeof count) == sizeof count;
}

}  // namespace

Keyboard::Keyboard(Interruption& interruption)
    : interruption_(interruption), changes_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  changes_fd = changes_.get();
  struct sigaction action {};
  action.sa_handler = NoteChange;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGWINCH, SIGCONT}) sigaction(signal, &action, nullptr);
}

Keyboard::~Keyboard() {
  for (const int signal : {SIGWINCH, SIGCONT}) ::signal(signal, SIG_DFL);
  changes_fd = -1;
}

int Keyboard::Next(core::Deadline deadline) {
  if (!typed_ahead_.empty()) {
    const unsigned char byte = typed_ahead_.front();
    typed_ahead_.pop_front();
    return byte;
  }
  for (;;) {
    pollfd polled[] = {
        {STDIN_FILENO, POLLIN, 0}, {interruption_.fd(), POLLIN, 0}, {changes_.get(), POLLIN, 0}};
    const int timeout = deadline == core::Deadline::max() ? -1 : core::PollTimeout(deadline);
    const int ready = poll(polled, 3, timeout);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return kEnd;
    if (ready == 0) return kTimedOut;
    if (polled[1].revents) return kInterrupted;
    if (polled[2].revents && TakeEvent(changes_.get())) return kChanged;
    if (!polled[0].revents) continue;
    unsigned char byte = 0;
    const ssize_t count = read(STDIN_FILENO, &byte, 1);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return kEnd;
    if (byte == kCtrlC) return kInterrupted;
    if (byte != kCtrlZ) return byte;
    Suspend();
    return kChanged;
  }
}

bool Keyboard::HasInput() const {
  pollfd polled{STDIN_FILENO, POLLIN, 0};
  return !typed_ahead_.empty() || poll(&polled, 1, 0) > 0;
}

void Keyboard::Suspend() {
  (void)TakeEvent(changes_.get());
  if (before_stop_) before_stop_();
  // Restores what the shell and its user expect.
  termios ours;
  if (tcgetattr(STDIN_FILENO, &ours) != 0) return;
  termios plain = ours;
  plain.c_lflag |= ISIG | ICANON | ECHO | IEXTEN;
  plain.c_iflag |= ICRNL;
  (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &plain);
  (void)kill(0, SIGTSTP);
  // The signal may be delivered a moment later, to another thread.
  pollfd polled{changes_.get(), POLLIN, 0};
  (void)poll(&polled, 1, kStopTimeout);
  (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &ours);
}

Keyboard::Watch::Watch(Keyboard& keyboard) : keyboard_(keyboard), stop_(eventfd(0, EFD_CLOEXEC)) {
  const core::Result<void> started = thread_.Start("watch the keyboard", [this] { Read(); });
  if (!started) error_ = started.error();
}

Keyboard::Watch::~Watch() {
  const uint64_t one = 1;
  (void)!write(stop_.get(), &one, sizeof one);
  thread_.Join();
}

void Keyboard::Watch::Read() {
  for (;;) {
    pollfd polled[] = {{STDIN_FILENO, POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (poll(polled, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (polled[1].revents) return;
    unsigned char byte = 0;
    const ssize_t count = read(STDIN_FILENO, &byte, 1);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return;  // the line editor will see it too
    std::deque<unsigned char>& ahead = keyboard_.typed_ahead_;
    if (byte == kCtrlC) {
      ahead.clear();
      keyboard_.interruption_.Raise(SIGINT);
    } else if (byte == kCtrlZ) {
      keyboard_.Suspend();
    } else if (ahead.size() < kMaxTypedAhead) {
      ahead.push_back(byte);
    }
  }
}

}  // namespace belljar::cli::repl
