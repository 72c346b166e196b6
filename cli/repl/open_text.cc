#include "cli/repl/open_text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace belljar::cli::repl {
namespace {

constexpr std::string_view kBlanks = " \t\r\f";

bool Has(std::string_view characters, char c) { return characters.find(c) != characters.npos; }

// Also of what Bash has in words: "{" and "[[" are some.
bool IsWordCharacter(Syntax syntax, char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_') {
    return true;
  }
  return syntax == Syntax::kBash && Has("-+=.,/:@%^*?~![]{}", c);
}

template <size_t N>
bool IsOneOf(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

constexpr std::array<std::string_view, 5> kHeads = {"if", "for", "while", "function", "with"};
constexpr std::array<std::string_view, 7> kBeforeRegex = {"return", "typeof", "case", "in",
                                                          "of",     "throw",  "await"};
// Words of Bash after which a command begins.
constexpr std::array<std::string_view, 9> kBeforeCommand = {"then",  "do",    "else", "elif", "if",
                                                            "while", "until", "time", "!"};
struct BashPair {
  std::string_view opening;
  std::string_view closing;
  char opener;
};
constexpr std::array<BashPair, 8> kBashPairs = {{{"if", "fi", 'i'},
                                                 {"case", "esac", 'c'},
                                                 {"for", "done", 'd'},
                                                 {"while", "done", 'd'},
                                                 {"until", "done", 'd'},
                                                 {"select", "done", 'd'},
                                                 {"{", "}", 'b'},
                                                 {"[[", "]]", 't'}}};

}  // namespace

Syntax SyntaxOf(std::string_view language) {
  if (language.empty()) return Syntax::kPython;
  if (language == "bash") return Syntax::kBash;
  if (language == "javascript") return Syntax::kJavaScript;
  return language == "r" ? Syntax::kR : Syntax::kUnknown;
}

bool OpenText::IsTextual(char opener) { return Has("'\"`*$", opener); }

void OpenText::Add(std::string_view line) {
  if (syntax_ == Syntax::kUnknown) return;
  if (!documents_.empty()) {
    const HereDocument& document = documents_.front();
    const size_t from =
        document.strips_tabs ? std::min(line.find_first_not_of('\t'), line.size()) : 0;
    if (line.substr(from) == document.end) documents_.pop_front();
    return;
  }
  if (!is_escaped_) {
    code_.clear();
    is_command_ = true;
  }
  is_escaped_ = false;
  word_ = {};
  size_t at = 0;
  while (at < line.size()) at = IsTextual(Top()) ? ScanText(line, at) : ScanCode(line, at);
  // JavaScript's ordinary strings end with their line; the interpreter reports the error.
  if (syntax_ == Syntax::kJavaScript && !is_escaped_) {
    while (Top() == '\'' || Top() == '"') open_.pop_back();
  }
  goes_on_ = is_escaped_ || (!IsTextual(Top()) && EndsOpen());
  word_ = {};  // a part of the line
}

// Returns where to continue.
size_t OpenText::ScanText(std::string_view line, size_t at) {
  const char quote = Top();
  const std::string_view rest = line.substr(at);
  const bool has_escapes = quote != '*' && (quote != '\'' || syntax_ != Syntax::kBash);
  if (has_escapes && rest.front() == '\\') {
    is_escaped_ = rest.size() == 1;
    return at + 2;
  }
  if (quote == '*') {
    const size_t end = rest.find("*/");
    if (end == rest.npos) return line.size();
    open_.pop_back();
    return at + end + 2;
  }
  const bool is_template = syntax_ == Syntax::kJavaScript && quote == '`';
  const bool expands = syntax_ == Syntax::kBash && quote == '"';
  if ((is_template || expands) && rest.starts_with("${")) {
    open_ += '{';
    return at + 2;
  }
  if (expands && rest.starts_with("$(")) {
    open_ += '(';
    is_command_ = true;
    return at + 2;
  }
  if (rest.front() == (quote == '$' ? '\'' : quote)) {
    open_.pop_back();
    code_ += '"';
  }
  return at + 1;
}

bool OpenText::IsComment(std::string_view line, size_t at) const {
  if (syntax_ == Syntax::kJavaScript) return line.substr(at).starts_with("//");
  if (line[at] != '#') return false;
  return syntax_ == Syntax::kR || at == 0 || Has(" \t;&|(", line[at - 1]);
}

size_t OpenText::ScanCode(std::string_view line, size_t at) {
  if (IsComment(line, at)) return line.size();
  const std::string_view rest = line.substr(at);
  const char c = rest.front();
  if (Has(kBlanks, c)) return at + 1;
  const bool is_bash = syntax_ == Syntax::kBash;
  if (c == '\\' && syntax_ != Syntax::kR) {
    is_escaped_ = rest.size() == 1;
    is_command_ = is_command_ && is_escaped_;
    return at + 2;
  }
  if (is_bash && Top() == '{' && c == '}') {  // of "${", not of "{"
    open_.pop_back();
    return at + 1;
  }
  if (IsWordCharacter(syntax_, c)) return ScanWord(line, at);
  if (is_bash && (rest.starts_with("${") || rest.starts_with("$(") || rest.starts_with("$'"))) {
    open_ += rest[1] == '\'' ? '$' : rest[1];
    is_command_ = rest[1] == '(';
    return at + 2;
  }
  const bool is_arithmetic = open_.ends_with("((");
  if (is_bash && rest.starts_with("<<") && !rest.starts_with("<<<") && !is_arithmetic) {
    return ScanHereDocument(line, at + 2);
  }
  if (is_bash && rest.starts_with("<<<")) return at + 3;
  if (syntax_ == Syntax::kJavaScript && rest.starts_with("/*")) {
    open_ += '*';
    return at + 2;
  }
  if (syntax_ == Syntax::kJavaScript && c == '/') return ScanRegex(line, at);
  TakeSymbol(c);
  return at + 1;
}

void OpenText::TakeSymbol(char c) {
  const bool is_head = syntax_ != Syntax::kBash && IsOneOf(word_, kHeads) && before_word_ != '}';
  word_ = {};
  code_ += c;
  switch (c) {
    case '\'':
    case '"':
    case '`':
    case '[':
    case '{': open_ += c; break;
    case '(': open_ += is_head ? 'h' : c; break;
    case ')':
      if (Top() == 'h') code_ += 'h';
      if (Top() == 'h' || Top() == '(') open_.pop_back();
      break;
    case ']': Close('['); break;
    case '}': Close('{'); break;
    default: break;
  }
  is_command_ = Has(";&|()", c);
}

size_t OpenText::ScanWord(std::string_view line, size_t at) {
  size_t end = at;
  // A brace that closes "${" is no part of a word.
  const bool is_expansion = syntax_ == Syntax::kBash && Top() == '{';
  while (end < line.size() && IsWordCharacter(syntax_, line[end]) &&
         (!is_expansion || line[end] != '}')) {
    ++end;
  }
  const std::string_view word = line.substr(at, end - at);
  before_word_ = code_.empty() ? '\0' : code_.back();
  code_ += word;
  if (syntax_ == Syntax::kBash) {
    const bool is_whole = end == line.size() || Has(" \t\r;&|()<>", line[end]);
    if (is_whole && !is_expansion) {
      TakeWordOfBash(word);
    } else {
      is_command_ = false;
    }
  } else {
    word_ = word;
  }
  return end;
}

void OpenText::TakeWordOfBash(std::string_view word) {
  const bool is_function = std::exchange(word_, word) == "function";
  if (word == "]]") return Close('t');
  if (!is_command_) {
    is_command_ = is_function;
    return;
  }
  for (const BashPair& pair : kBashPairs) {
    if (word == pair.opening) {
      open_ += pair.opener;
      is_command_ = pair.opener == 'i' || pair.opener == 'b' || word == "while" || word == "until";
      return;
    }
    if (word == pair.closing) {
      Close(pair.opener);
      is_command_ = false;
      return;
    }
  }
  is_command_ = IsOneOf(word, kBeforeCommand);
}

// The end of a JavaScript regular expression that begins at a "/", which may also divide.
size_t OpenText::ScanRegex(std::string_view line, size_t at) const {
  const bool is_regex =
      code_.empty() || Has("(,=:[!&|?{};+-*%~^<>", code_.back()) || IsOneOf(word_, kBeforeRegex);
  bool is_class = false;
  for (size_t end = at + 1; is_regex && end < line.size(); ++end) {
    if (line[end] == '\\') {
      ++end;
    } else if (line[end] == '[' || line[end] == ']') {
      is_class = line[end] == '[';
    } else if (line[end] == '/' && !is_class) {
      return end + 1;
    }
  }
  return at + 1;
}

// After "<<".
size_t OpenText::ScanHereDocument(std::string_view line, size_t at) {
  HereDocument document;
  if (at < line.size() && line[at] == '-') {
    document.strips_tabs = true;
    ++at;
  }
  at = std::min(line.find_first_not_of(kBlanks, at), line.size());
  const size_t end = std::min(line.find_first_of(" \t;&|<>()", at), line.size());
  for (const char c : line.substr(at, end - at)) {
    if (!Has("'\"\\", c)) document.end += c;
  }
  if (!document.end.empty()) documents_.push_back(std::move(document));
  code_ += '"';
  return end;
}

// Whether the line ends with an operator, or with a head that needs a body.
bool OpenText::EndsOpen() const {
  const std::string_view code = code_;
  if (code.empty()) return false;
  if (syntax_ == Syntax::kBash) {
    if (code.ends_with('|') || code.ends_with("&&")) return true;
    return code.ends_with("()") && !code.ends_with("=()");
  }
  if (code.ends_with(")h") || word_ == "else") return true;
  if (code.ends_with("++") || code.ends_with("--")) return false;
  return Has(syntax_ == Syntax::kR ? "+-*/^=~|&,<>!%:" : ",=?:.&|*%^<+-", code.back()) ||
         (syntax_ == Syntax::kJavaScript && code.ends_with("=>"));
}

}  // namespace belljar::cli::repl
