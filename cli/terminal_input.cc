#include "cli/terminal_input.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "cli/console.h"
#include "engine/core/limits.h"
#include "engine/core/text.h"

namespace belljar::cli {
namespace {

// Shows nothing of what is typed while it exists.
class EchoOff {
 public:
  explicit EchoOff(bool is_hidden) {
    if (!is_hidden || tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios mode = before_;
    mode.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    is_changed_ = tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0;
  }
  ~EchoOff() {
    if (is_changed_) (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  EchoOff(const EchoOff&) = delete;

 private:
  termios before_{};
  bool is_changed_ = false;
};

using LineEnd = TerminalInput::LineEnd;

// `rest`: read, but not yet part of a line.
LineEnd ReadLine(int cancel_fd, core::Deadline deadline, std::string& rest, std::string& line) {
  for (;;) {
    if (const size_t end = rest.find('\n'); end != rest.npos) {
      line = rest.substr(0, end + 1);
      rest.erase(0, end + 1);
      return LineEnd::kLine;
    }
    pollfd polled[] = {{STDIN_FILENO, POLLIN, 0}, {cancel_fd, POLLIN, 0}};
    const int ready = poll(polled, 2, core::PollTimeout(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return LineEnd::kEnd;
    if (ready == 0) return LineEnd::kTimedOut;
    if (polled[1].revents) return LineEnd::kInterrupted;
    char bytes[4096];  // the longest line of a terminal: termios(3)
    const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) {
      line = std::exchange(rest, {});
      return line.empty() ? LineEnd::kEnd : LineEnd::kLine;
    }
    rest.append(bytes, static_cast<size_t>(count));
  }
}

}  // namespace

TerminalInput::LineReader LinesOfTerminal(int cancel_fd) {
  return [cancel_fd, rest = std::make_shared<std::string>()](
             bool is_hidden, core::Deadline deadline, std::string& line) {
    const EchoOff echo_off(is_hidden);
    return ReadLine(cancel_fd, deadline, *rest, line);
  };
}

bool TerminalInput::IsThere() { return isatty(STDIN_FILENO) == 1; }

run::InputAnswer TerminalInput::Ask(const run::InputQuestion& question) {
  std::string line;
  const LineEnd end = read_(question.is_hidden, core::Clock::now() + timeout_, line);
  // What ended the line was not shown.
  if (question.is_hidden || end == LineEnd::kInterrupted || end == LineEnd::kEnd) Say("\n");
  switch (end) {
    case LineEnd::kInterrupted: return {run::InputAnswer::Kind::kNone, ""};
    case LineEnd::kTimedOut:
      Say("\nbelljar: nothing was entered for " + core::FormatDuration(timeout_) +
          " (--input-timeout): the program's input has ended\n");
      return {run::InputAnswer::Kind::kEnd, ""};
    case LineEnd::kEnd: return {run::InputAnswer::Kind::kEnd, ""};
    case LineEnd::kLine: break;
  }
  typed_ += line;
  return {run::InputAnswer::Kind::kLine, core::ValidUtf8(line)};
}

}  // namespace belljar::cli
