// SourceLines: the lines of a source as CPython counts them, looked up by number.
#ifndef BELLJAR_CLI_VALIDATE_SOURCE_LINES_H_
#define BELLJAR_CLI_VALIDATE_SOURCE_LINES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace belljar::cli::validate {

class SourceLines {
 public:
  // Borrows `source`.
  explicit SourceLines(std::string_view source);

  // Without its newline; empty when there is no such line. `number` counts from 1.
  std::string_view Line(int number) const;

 private:
  std::vector<std::string_view> lines_;
};

// No report gets longer by what somebody wrote in one line.
inline constexpr size_t kMaxShownLine = 500;  // bytes
// `line`, or nothing if it is longer than that.
std::string ShownLine(std::string_view line);

// `line` without the blanks around it, and with one space for blanks inside: what is left the same
// by code that is only moved or indented.
std::string Normalized(std::string_view line);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_SOURCE_LINES_H_
