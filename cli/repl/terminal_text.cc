#include "cli/repl/terminal_text.h"

#include <utility>

#include "engine/core/text.h"

namespace belljar::cli::repl {
namespace {

std::string Shown(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const size_t length = text.find_first_of("\n\t\r");
    shown += core::Printable(text.substr(0, length));
    if (length == text.npos) break;
    shown += text[length];
    text.remove_prefix(length + 1);
  }
  return shown;
}

}  // namespace

std::string TerminalText::Add(std::string_view bytes) {
  if (!bytes.empty()) is_at_start_ = bytes.back() == '\n';
  if (!is_terminal_) return std::string(bytes);
  std::string text = std::exchange(kept_, {});
  text += bytes;
  const size_t complete = core::CompletePrefix(text);
  kept_ = text.substr(complete);
  return Shown(std::string_view(text).substr(0, complete));
}

std::string TerminalText::Finish() { return Shown(std::exchange(kept_, {})); }

std::string ForTerminal(std::string_view bytes, bool is_terminal) {
  TerminalText text(is_terminal);
  std::string shown = text.Add(bytes);
  return shown + text.Finish();
}

}  // namespace belljar::cli::repl
