// CellText: the lines of a cell as they are entered, and whether another one belongs to it.
//
// Decided by brackets, strings and indentation: Python is parsed only in the sandbox, and so are
// other languages (open_text.h).
#ifndef BELLJAR_CLI_REPL_CELL_TEXT_H_
#define BELLJAR_CLI_REPL_CELL_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/repl/open_text.h"
#include "engine/core/bytes.h"

namespace belljar::cli::repl {

inline constexpr size_t kIndentWidth = 4;

class CellText {
 public:
  enum class State {
    kComplete,  // it can run
    kBlock,     // an indented block may continue: an empty line ends it
    kOpen,      // inside a bracket or a string, or after a backslash
  };

  // Lines beyond a total of `limit` bytes are counted, but not kept.
  explicit CellText(core::Bytes limit, Syntax syntax = Syntax::kPython)
      : limit_(limit), syntax_(syntax), open_text_(syntax) {}

  // `line` without its line end.
  void Add(std::string_view line);
  // The line before the first of a block that only an empty line ends, whatever its indentation.
  void AddHead();
  // For "%%timeit": what follows is run many times.
  void AddRepeatingHead() {
    AddHead();
    is_repeated_ = true;
  }
  void Clear() { *this = CellText(limit_, syntax_); }

  bool is_empty() const { return lines_ == 0; }
  // Each line with its line end.
  const std::string& source() const { return source_; }
  State state() const;
  bool is_repeated() const { return is_repeated_; }
  // Whether its last line is the head of a block that has no other line yet.
  bool needs_body() const { return last_ == ':'; }
  // The white space that the next line probably begins with.
  std::string NextIndent() const;
  uint64_t size() const { return size_; }
  bool is_too_long() const { return size_ > limit_.count; }

  // Whether the next line, after empty ones, continues a block: "    x = 1", "else:".
  bool GoesOn(std::string_view line) const;

 private:
  bool is_python() const { return syntax_ == Syntax::kPython; }
  void Scan(std::string_view line);
  size_t ScanString(std::string_view line, size_t at);
  size_t ScanCode(std::string_view line, size_t at);

  core::Bytes limit_;
  Syntax syntax_;
  OpenText open_text_;  // of another language than Python
  std::string source_;
  uint64_t size_ = 0;
  size_t lines_ = 0;
  size_t brackets_ = 0;     // unclosed ones
  std::string quote_;       // terminator of the open string; empty: no string is open
  bool continued_ = false;  // by a backslash
  bool is_block_ = false;
  bool is_repeated_ = false;
  char last_ = '\0';  // of the code of the line
  std::string last_line_;
};

// Whether it is only white space.
bool IsBlank(std::string_view line);

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_CELL_TEXT_H_
