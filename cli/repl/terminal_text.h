// TerminalText: what comes from the guest, as a terminal may show it.
//
// A terminal obeys escape sequences: they move the cursor, rename the window, and some make the
// terminal type. Beside a prompt they could forge what the user sees and, worse, answer it. So all
// control characters but line ends, tabs and carriage returns (progress bars) are shown as \xNN,
// like characters that change the direction of text (core::Printable). What does not go to a
// terminal stays as it is.
#ifndef BELLJAR_CLI_REPL_TERMINAL_TEXT_H_
#define BELLJAR_CLI_REPL_TERMINAL_TEXT_H_

#include <string>
#include <string_view>

namespace belljar::cli::repl {

class TerminalText {
 public:
  explicit TerminalText(bool is_terminal) : is_terminal_(is_terminal) {}

  // The next piece. A character that is not whole yet is kept for the next call.
  std::string Add(std::string_view bytes);
  // What is kept.
  std::string Finish();
  // Whether the cursor is where a line begins.
  bool is_at_start() const { return is_at_start_; }

 private:
  const bool is_terminal_;
  std::string kept_;
  bool is_at_start_ = true;
};

// All of it at once.
std::string ForTerminal(std::string_view bytes, bool is_terminal);

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_TERMINAL_TEXT_H_
