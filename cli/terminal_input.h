// TerminalInput: a line from the person at the terminal, when the program wants one (run/input.h).
//
//   TerminalInput input(timeout, LinesOfTerminal(interruption.fd()));
//   options.call = run::AnsweringInput([&](const auto& question) { return input.Ask(question); });
#ifndef BELLJAR_CLI_TERMINAL_INPUT_H_
#define BELLJAR_CLI_TERMINAL_INPUT_H_

#include <chrono>
#include <functional>
#include <string>

#include "engine/core/socket.h"
#include "engine/run/input.h"

namespace belljar::cli {

class TerminalInput {
 public:
  enum class LineEnd { kLine, kEnd, kInterrupted, kTimedOut };
  // Reads a line, with its end, and shows what is typed unless it is hidden. kInterrupted: whoever
  // is to answer ends the run.
  using LineReader =
      std::function<LineEnd(bool is_hidden, core::Deadline deadline, std::string& line)>;

  // `timeout`: the longest wait for one line. Afterwards the input has ended.
  TerminalInput(std::chrono::milliseconds timeout, LineReader read)
      : timeout_(timeout), read_(std::move(read)) {}

  // Whether standard input is a terminal.
  static bool IsThere();

  run::InputAnswer Ask(const run::InputQuestion& question);

  // All lines so far.
  const std::string& typed() const { return typed_; }

 private:
  const std::chrono::milliseconds timeout_;
  const LineReader read_;
  std::string typed_;
};

// For programs, which are started with a terminal that edits lines, and where Ctrl-D at the start
// of one is the end of the input. `cancel_fd` is borrowed; readable: interrupted.
TerminalInput::LineReader LinesOfTerminal(int cancel_fd);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_TERMINAL_INPUT_H_
