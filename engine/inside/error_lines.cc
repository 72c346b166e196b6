#include "engine/inside/error_lines.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "engine/core/text.h"

namespace belljar::inside {
namespace {

// Longer lines are no error messages, and a pattern may take long for them.
constexpr size_t kMaxLine = 2000;
constexpr size_t kMaxGroups = 6;

int Number(std::string_view digits) {
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number > 0 ? number : 0;
}

bool IsFile(std::string_view path, std::string_view file) {
  return path == file || path.ends_with("/" + std::string(file));
}

}  // namespace

core::Result<ErrorLine> ErrorLine::Compile(const core::ErrorPattern& pattern) {
  ErrorLine line;
  line.last_ = pattern.last;
  auto regex = std::make_unique<regex_t>();
  const int failed = regcomp(regex.get(), pattern.pattern.c_str(), REG_EXTENDED);
  if (failed != 0) {
    std::array<char, 200> why{};
    regerror(failed, regex.get(), why.data(), why.size());
    return core::MakeError("compile the pattern " + core::Quoted(pattern.pattern), why.data());
  }
  line.regex_.reset(regex.release());
  line.groups_ = pattern.groups;
  if (line.groups_.size() > kMaxGroups || line.regex_->re_nsub < line.groups_.size())
    return core::MakeError("read the pattern " + core::Quoted(pattern.pattern), "too many groups");
  return line;
}

bool ErrorLine::Read(const std::string& line, std::string_view file,
                     core::ProgramError& error) const {
  std::array<regmatch_t, kMaxGroups + 1> found{};
  if (regexec(regex_.get(), line.c_str(), found.size(), found.data(), 0) != 0) return false;
  core::ProgramError read = error;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (found[i + 1].rm_so < 0) continue;
    const std::string text =
        line.substr(static_cast<size_t>(found[i + 1].rm_so),
                    static_cast<size_t>(found[i + 1].rm_eo - found[i + 1].rm_so));
    const std::string& group = groups_[i];
    if (group == "file" && !IsFile(text, file)) return false;
    if (group == "line" && read.line == 0) read.line = Number(text);
    if (group == "column" && read.column == 0) read.column = Number(text);
    if (group == "type" && read.type.empty()) read.type = text;
    if (group == "message" && read.message.empty()) read.message = text;
  }
  error = std::move(read);
  return true;
}

core::ProgramError ReadErrorLines(const std::vector<ErrorLine>& patterns, std::string_view text,
                                  std::string_view file) {
  core::ProgramError error;
  const std::vector<std::string_view> lines = core::SplitAt(text, '\n');
  for (const ErrorLine& pattern : patterns) {
    const auto matches = [&](std::string_view line) {
      return line.size() <= kMaxLine && pattern.Read(std::string(line), file, error);
    };
    if (pattern.last()) {
      (void)std::find_if(lines.rbegin(), lines.rend(), matches);
    } else {
      (void)std::ranges::find_if(lines, matches);
    }
  }
  return error;
}

}  // namespace belljar::inside
