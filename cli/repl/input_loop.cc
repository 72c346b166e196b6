#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/repl/cell.h"
#include "cli/repl/cell_text.h"
#include "cli/repl/commands.h"
#include "cli/repl/loop.h"

namespace belljar::cli::repl {
namespace {

// Lines of standard input, as they arrive.
class InputLines {
 public:
  // Drops what exceeds `limit` bytes of a line.
  InputLines(int cancel_fd, core::Bytes limit)
      : cancel_fd_(cancel_fd), limit_(static_cast<size_t>(limit.count)) {}

  // nullopt: the end, an interruption or an error.
  std::optional<std::string> Next();

 private:
  bool Fill();

  const int cancel_fd_;
  const size_t limit_;
  std::array<char, 65536> buffer_;
  size_t at_ = 0;
  size_t filled_ = 0;
};

bool InputLines::Fill() {
  for (;;) {
    pollfd polled[] = {{STDIN_FILENO, POLLIN, 0}, {cancel_fd_, POLLIN, 0}};
    if (poll(polled, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    if (polled[1].revents) return false;
    const ssize_t count = read(STDIN_FILENO, buffer_.data(), buffer_.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return false;
    at_ = 0;
    filled_ = static_cast<size_t>(count);
    return true;
  }
}

std::optional<std::string> InputLines::Next() {
  std::string line;
  for (bool is_any = false;; is_any = true) {
    if (at_ == filled_ && !Fill()) return is_any ? std::optional(std::move(line)) : std::nullopt;
    const char* const begin = buffer_.data() + at_;
    const char* const end =
        std::find(begin, static_cast<const char*>(buffer_.data()) + filled_, '\n');
    const auto length = static_cast<size_t>(end - begin);
    line.append(begin, std::min(length, limit_ + 1 - std::min(line.size(), limit_ + 1)));
    at_ += length;
    if (at_ == filled_) continue;
    ++at_;
    if (line.ends_with('\r')) line.pop_back();
    return line;
  }
}

class InputLoop {
 public:
  explicit InputLoop(Live& live)
      : live_(live), cell_(live.request.limits.source, SyntaxOf(live.language())) {}

  int Run();

 private:
  void Take(const std::string& line);
  void TakeAsFirst(const std::string& line);
  void RunTheCell();
  void Note(int code) {
    if (code != kExitOk) code_ = code;
  }
  bool is_over() const {
    return quits_ || live_.interruption.signal() != 0 || live_.printer.error() ||
           !live_.branches.current().session->closed().empty();
  }

  Live& live_;
  CellText cell_;
  size_t blanks_ = 0;  // empty lines after what `cell_` has
  bool is_timed_ = false;
  bool quits_ = false;
  int code_ = kExitOk;
};

void InputLoop::RunTheCell() {
  if (cell_.is_empty()) return;
  Note(RunCell(live_, cell_, is_timed_));
  cell_.Clear();
  is_timed_ = false;
  blanks_ = 0;
}

void InputLoop::TakeAsFirst(const std::string& line) {
  if (const std::optional<CellStart> start = StartOfCell(live_, line)) {
    is_timed_ = start->is_timed;
    return BeginCell(*start, cell_);
  }
  if (!IsCommand(line)) return cell_.Add(line);
  const CommandEnd end = RunCommand(live_, line);
  Note(end.code);
  quits_ = end.quits;
}

void InputLoop::Take(const std::string& line) {
  if (cell_.state() == CellText::State::kOpen) return cell_.Add(line);
  if (IsBlank(line)) {
    if (cell_.state() == CellText::State::kComplete) return RunTheCell();
    ++blanks_;
    return;
  }
  const bool begins = (blanks_ > 0 && !cell_.GoesOn(line)) || IsCommand(line);
  if (begins) RunTheCell();
  if (is_over()) return;
  if (cell_.is_empty()) return TakeAsFirst(line);
  // Keeps line numbers those of the input.
  for (; blanks_ > 0; --blanks_) cell_.Add("");
  cell_.Add(line);
}

int InputLoop::Run() {
  InputLines lines(live_.interruption.fd(), live_.request.limits.source);
  while (!is_over()) {
    const std::optional<std::string> line = lines.Next();
    if (!line) break;
    Take(*line);
  }
  if (!is_over()) RunTheCell();
  if (live_.interruption.signal() != 0) return ExitOfSignal(live_.interruption.signal());
  if (live_.printer.error()) return ExitAfterOutput(*live_.printer.error(), code_);
  // The exit code of the last cell, or of a failure of ours, which has been reported.
  const bool has_ended = !live_.branches.current().session->closed().empty();
  return has_ended && code_ == kExitOk ? kExitFailure : code_;
}

}  // namespace

int RunFromInput(Live& live) { return InputLoop(live).Run(); }

}  // namespace belljar::cli::repl
