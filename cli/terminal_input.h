// TerminalInput: a line from the person at the terminal, when the program wants one (run/input.h).
//
// The terminal edits the line (backspace, Ctrl-U), and Ctrl-D at its start is the end of the input.
// Programs are started with a terminal in that mode. A prompt, whose line editor has another one,
// turns no keys into signals (repl/keyboard.h): there Ctrl-C and Ctrl-Z end the line.
#ifndef BELLJAR_CLI_TERMINAL_INPUT_H_
#define BELLJAR_CLI_TERMINAL_INPUT_H_

#include <chrono>
#include <functional>
#include <string>

#include "engine/run/input.h"

namespace belljar::cli {

class TerminalInput {
 public:
  struct Options {
    // Readable: whoever is to answer has ended the run. Borrowed.
    int cancel_fd = -1;
    // The longest wait for one line. Afterwards the input has ended.
    std::chrono::milliseconds timeout{600'000};
    // For a prompt: what was typed before the question, and what Ctrl-Z does. Without them keys
    // make signals.
    std::function<std::string()> take_typed_ahead = {};
    std::function<void()> suspend = {};
  };
  explicit TerminalInput(Options options) : options_(std::move(options)) {}

  // Whether standard input is a terminal.
  static bool IsThere();

  run::InputAnswer Ask(const run::InputQuestion& question);

  // All lines so far.
  const std::string& typed() const { return typed_; }

 private:
  enum class Found { kLine, kEnd, kInterrupted, kLate };
  Found ReadLine(std::string& line);

  const Options options_;
  std::string rest_;  // read, but not yet part of a line
  std::string typed_;
};

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_TERMINAL_INPUT_H_
