// OpenText: whether the text of a cell, line by line, is the beginning of something that goes on in
// the next line: an open bracket, string or here-document, a keyword such as Bash's "if", an
// operator at the end. Python's own rules are in cell_text.h.
//
// Decided by the characters alone: a language is parsed only in the sandbox. So it may be wrong
// about unusual code, which then runs too early, or waits for a bracket that never comes; Ctrl-C
// forgets it.
#ifndef BELLJAR_CLI_REPL_OPEN_TEXT_H_
#define BELLJAR_CLI_REPL_OPEN_TEXT_H_

#include <deque>
#include <string>
#include <string_view>

namespace belljar::cli::repl {

enum class Syntax {
  kPython,
  kBash,
  kJavaScript,
  kR,
  kUnknown,  // of a language of the operator's own: no line goes on
};
// By the name of a language (languages/NAME.toml); empty: Python.
Syntax SyntaxOf(std::string_view language);

class OpenText {
 public:
  explicit OpenText(Syntax syntax) : syntax_(syntax) {}

  // `line` without its line end.
  void Add(std::string_view line);

  bool IsOpen() const { return goes_on_ || !open_.empty() || !documents_.empty(); }
  // Within a string or a here-document, to which white space belongs.
  bool IsText() const { return !documents_.empty() || IsTextual(Top()); }

 private:
  struct HereDocument {
    std::string end;
    bool strips_tabs = false;
  };

  static bool IsTextual(char opener);
  char Top() const { return open_.empty() ? '\0' : open_.back(); }
  void Close(char opener) {
    if (Top() == opener) open_.pop_back();
  }
  size_t ScanText(std::string_view line, size_t at);
  size_t ScanCode(std::string_view line, size_t at);
  size_t ScanWord(std::string_view line, size_t at);
  size_t ScanRegex(std::string_view line, size_t at) const;
  size_t ScanHereDocument(std::string_view line, size_t at);
  bool IsComment(std::string_view line, size_t at) const;
  void TakeWordOfBash(std::string_view word);
  void TakeSymbol(char c);
  bool EndsOpen() const;

  Syntax syntax_;
  // What is open, innermost last: brackets and quotes as themselves; 'h': the parenthesis of a
  // head, "if ("; '*': a comment; '$': Bash's $'…'; i, c, d, b, t: its "if", "case", "for", "{" and
  // "[[".
  std::string open_;
  std::deque<HereDocument> documents_;
  bool goes_on_ = false;     // by a backslash or an operator at the end of the line
  bool is_escaped_ = false;  // a backslash ended the line
  bool is_command_ = true;   // Bash: the next word is a command, and so may be a keyword
  std::string code_;         // of the line, without comments and the content of strings
  std::string_view word_;    // the last one, if nothing but white space follows it
  char before_word_ = '\0';  // the last character of code before it
};

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_OPEN_TEXT_H_
