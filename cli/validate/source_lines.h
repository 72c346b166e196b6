// SourceLines: looks up lines of a source by number, counted as CPython does.
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

  // Without the newline; empty if there is no such line. `number` counts from 1.
  std::string_view Line(int number) const;

 private:
  std::vector<std::string_view> lines_;
};

// Keeps very long lines out of reports.
inline constexpr size_t kMaxShownLine = 500;  // bytes
// `line`, or nothing if it is longer than that.
std::string ShownLine(std::string_view line);

// `line` without surrounding blanks, and with inner blanks collapsed to one space, so that moving
// or indenting code does not change it.
std::string Normalized(std::string_view line);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_SOURCE_LINES_H_
