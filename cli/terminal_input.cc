#include "cli/terminal_input.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "cli/console.h"
#include "engine/core/limits.h"
#include "engine/core/socket.h"
#include "engine/core/text.h"

namespace belljar::cli {
namespace {

constexpr char kCtrlC = 0x03;
constexpr char kCtrlZ = 0x1a;
// A terminal gives lines of at most 4,096 bytes.
constexpr size_t kMaxLine = size_t{64} << 10;

// Edits lines while it exists.
class LineMode {
 public:
  LineMode(bool is_hidden, bool keys_are_signals) {
    if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios mode = before_;
    if (!keys_are_signals) {
      mode.c_lflag |= ICANON | ECHO | ECHOE | ECHOK | IEXTEN;
      mode.c_lflag &= ~static_cast<tcflag_t>(ISIG);
      mode.c_iflag |= ICRNL;
      mode.c_cc[VEOL] = kCtrlC;
      mode.c_cc[VEOL2] = kCtrlZ;
    }
    if (is_hidden) mode.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    is_changed_ = (!keys_are_signals || is_hidden) && Set(mode);
  }
  ~LineMode() {
    if (is_changed_) (void)Set(before_);
  }
  LineMode(const LineMode&) = delete;

 private:
  static bool Set(const termios& mode) { return tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0; }

  termios before_{};
  bool is_changed_ = false;
};

// Takes the first line out of `bytes`.
std::optional<std::string> TakeLine(std::string& bytes) {
  const size_t end = bytes.find('\n');
  if (end == bytes.npos) return std::nullopt;
  std::string line = bytes.substr(0, end + 1);
  bytes.erase(0, end + 1);
  return line;
}

}  // namespace

bool TerminalInput::IsThere() { return isatty(STDIN_FILENO) == 1; }

TerminalInput::Found TerminalInput::ReadLine(std::string& line) {
  const core::Deadline end = core::Clock::now() + options_.timeout;
  const bool keys_are_signals = !options_.suspend;
  for (;;) {
    if (std::optional<std::string> whole = TakeLine(rest_)) {
      line = std::move(*whole);
      return Found::kLine;
    }
    pollfd polled[] = {{STDIN_FILENO, POLLIN, 0}, {options_.cancel_fd, POLLIN, 0}};
    const int ready = poll(polled, 2, core::PollTimeout(end));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return Found::kEnd;
    if (ready == 0) return Found::kLate;
    if (polled[1].revents) return Found::kInterrupted;
    char bytes[4096];
    const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0 && rest_.empty()) return Found::kEnd;
    if (count <= 0) {
      line = std::exchange(rest_, {});
      return Found::kLine;
    }
    rest_.append(bytes, static_cast<size_t>(count));
    if (!keys_are_signals && rest_.back() == kCtrlC) {
      rest_.clear();
      return Found::kInterrupted;
    }
    if (!keys_are_signals && rest_.back() == kCtrlZ) {
      rest_.pop_back();
      options_.suspend();
    }
    if (rest_.size() > kMaxLine) rest_ += '\n';
  }
}

run::InputAnswer TerminalInput::Ask(const run::InputQuestion& question) {
  if (options_.take_typed_ahead) {
    const std::string ahead = options_.take_typed_ahead();
    // Nobody has seen it yet.
    if (!question.is_hidden) {
      const std::string_view shown = std::string_view(ahead).substr(0, ahead.find('\n'));
      (void)WriteAll(STDOUT_FILENO, core::Printable(shown) + (ahead.ends_with('\n') ? "\n" : ""));
    }
    rest_ += ahead;
  }
  std::string line;
  Found found;
  {
    const LineMode mode(question.is_hidden, !options_.suspend);
    found = ReadLine(line);
  }
  // What ended the line was not shown.
  if (question.is_hidden || found == Found::kInterrupted || found == Found::kEnd) Say("\n");
  switch (found) {
    case Found::kInterrupted: return {run::InputAnswer::Kind::kNone, ""};
    case Found::kLate:
      Say("\nbelljar: nothing was entered for " + core::FormatDuration(options_.timeout) +
          " (--input-timeout): the program's input has ended\n");
      return {run::InputAnswer::Kind::kEnd, ""};
    case Found::kEnd: return {run::InputAnswer::Kind::kEnd, ""};
    case Found::kLine: break;
  }
  typed_ += line;
  return {run::InputAnswer::Kind::kLine, core::ValidUtf8(line)};
}

}  // namespace belljar::cli
