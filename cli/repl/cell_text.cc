#include "cli/repl/cell_text.h"

#include <algorithm>

namespace belljar::cli::repl {
namespace {

constexpr std::string_view kSpaces = " \t\f\r";

bool IsSpace(char c) { return kSpaces.find(c) != kSpaces.npos; }

bool IsIndented(std::string_view line) { return !line.empty() && IsSpace(line.front()); }

}  // namespace

bool IsBlank(std::string_view line) { return line.find_first_not_of(kSpaces) == line.npos; }

bool CellText::GoesOn(std::string_view line) const {
  if (!is_python()) return false;
  if (IsIndented(line)) return true;
  for (const std::string_view word : {"else", "elif", "except", "finally"}) {
    if (!line.starts_with(word)) continue;
    const std::string_view rest = line.substr(word.size());
    // Not "elsewhere = 1".
    if (rest.empty() || rest.front() == ':' || rest.front() == '*' || rest.front() == '(' ||
        IsSpace(rest.front())) {
      return true;
    }
  }
  return false;
}

CellText::State CellText::state() const {
  if (brackets_ > 0 || !quote_.empty() || continued_ || open_text_.IsOpen()) return State::kOpen;
  return is_block_ ? State::kBlock : State::kComplete;
}

void CellText::Add(std::string_view line) {
  ++lines_;
  last_line_ = line;
  size_ += line.size() + 1;
  if (is_too_long()) {
    source_.clear();
    source_.shrink_to_fit();
  } else {
    source_ += line;
    source_ += '\n';
  }
  if (!is_python()) return open_text_.Add(line);
  const bool is_first = state() != State::kOpen;  // of a logical line
  if (is_first && !IsBlank(line)) {
    // A decorator needs the definition that follows.
    if (IsIndented(line) || line.front() == '@') is_block_ = true;
  }
  Scan(line);
  if (state() != State::kOpen && last_ == ':') is_block_ = true;
}

void CellText::AddHead() {
  Add("");
  is_block_ = true;
}

std::string CellText::NextIndent() const {
  if (state() == State::kComplete || !quote_.empty() || open_text_.IsText()) return "";
  const std::string_view line = last_line_;
  const size_t width = std::min(line.find_first_not_of(kSpaces), line.size());
  std::string indent(line.substr(0, width));
  if (state() == State::kOpen) return indent;
  if (last_ == ':') return indent + std::string(kIndentWidth, ' ');
  // What leaves a block ends it.
  const std::string_view code = line.substr(width);
  const std::string_view word = code.substr(0, code.find_first_of(" (;#"));
  const bool leaves = word == "return" || word == "raise" || word == "pass" || word == "break" ||
                      word == "continue";
  if (leaves) indent.resize(indent.size() - std::min(indent.size(), kIndentWidth));
  return indent;
}

void CellText::Scan(std::string_view line) {
  continued_ = false;
  last_ = '\0';
  size_t at = 0;
  while (at < line.size()) {
    if (quote_.empty() && line[at] == '#') break;
    at = quote_.empty() ? ScanCode(line, at) : ScanString(line, at);
  }
  // An ordinary string ends with its line; Python reports the error.
  if (quote_.size() == 1 && !continued_) quote_.clear();
}

// Returns where to continue.
size_t CellText::ScanString(std::string_view line, size_t at) {
  if (line[at] == '\\') {
    if (at + 1 == line.size()) continued_ = true;
    return at + 2;
  }
  if (!line.substr(at).starts_with(quote_)) return at + 1;
  at += quote_.size();
  quote_.clear();
  last_ = '"';
  return at;
}

size_t CellText::ScanCode(std::string_view line, size_t at) {
  const char c = line[at];
  if (!IsSpace(c)) last_ = c;
  switch (c) {
    case '"':
    case '\'': {
      const std::string triple(3, c);
      quote_ = line.substr(at).starts_with(triple) ? triple : std::string(1, c);
      return at + quote_.size();
    }
    case '(':
    case '[':
    case '{': ++brackets_; break;
    case ')':
    case ']':
    case '}':
      if (brackets_ > 0) --brackets_;
      break;
    case '\\':
      if (at + 1 == line.size()) continued_ = true;
      break;
    default: break;
  }
  return at + 1;
}

}  // namespace belljar::cli::repl
