// TerminalText: makes the guest's output safe to display on a terminal.
//
// A terminal obeys escape sequences: they move the cursor, rename the window, and some make the
// terminal type. Next to a prompt they could forge what the user sees and, worse, answer it. So all
// control characters except line ends, tabs and carriage returns (progress bars) are shown as \xNN,
// as are characters that change the direction of text (core::Printable). Output that does not go to
// a terminal is left unchanged.
#ifndef BELLJAR_CLI_REPL_TERMINAL_TEXT_H_
#define BELLJAR_CLI_REPL_TERMINAL_TEXT_H_

#include <string>
#include <string_view>

namespace belljar::cli::repl {

class TerminalText {
 public:
  explicit TerminalText(bool is_terminal) : is_terminal_(is_terminal) {}

  // The next piece. An incomplete character is kept for the next call.
  std::string Add(std::string_view bytes);
  // The incomplete character that was kept.
  std::string Finish();
  // Whether the cursor is at the start of a line.
  bool is_at_start() const { return is_at_start_; }

 private:
  const bool is_terminal_;
  std::string kept_;
  bool is_at_start_ = true;
};

// A complete text.
std::string ForTerminal(std::string_view bytes, bool is_terminal);

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_TERMINAL_TEXT_H_
