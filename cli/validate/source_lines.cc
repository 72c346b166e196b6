#include "cli/validate/source_lines.h"

#include <algorithm>

namespace belljar::cli::validate {

SourceLines::SourceLines(std::string_view source) {
  if (source.starts_with("\xef\xbb\xbf")) source.remove_prefix(3);
  while (!source.empty()) {
    const size_t end = std::min(source.find_first_of("\r\n"), source.size());
    lines_.push_back(source.substr(0, end));
    const bool is_pair = source.substr(end, 2) == "\r\n";
    source.remove_prefix(std::min(end + (is_pair ? 2 : 1), source.size()));
  }
}

std::string_view SourceLines::Line(int number) const {
  if (number < 1 || static_cast<size_t>(number) > lines_.size()) return {};
  return lines_[static_cast<size_t>(number) - 1];
}

std::string ShownLine(std::string_view line) {
  return line.size() <= kMaxShownLine ? std::string(line) : std::string();
}

std::string Normalized(std::string_view line) {
  std::string normal;
  for (const char c : line) {
    const bool is_blank = c == ' ' || c == '\t' || c == '\f' || c == '\v';
    if (!is_blank) {
      normal += c;
    } else if (!normal.empty() && normal.back() != ' ') {
      normal += ' ';
    }
  }
  if (normal.ends_with(' ')) normal.pop_back();
  return normal;
}

}  // namespace belljar::cli::validate
