#include "cli/colors.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace belljar::cli {
namespace {

const char* CodeOf(Color color) {
  switch (color) {
    case Color::kGreen: return "32";
    case Color::kRed: return "31";
    case Color::kMagenta: return "35";
    case Color::kCyan: return "36";
    case Color::kYellow: return "33";
    case Color::kBold: return "1";
  }
  return "0";
}

bool IsSet(const char* name) {
  const char* value = getenv(name);
  return value && *value;
}

// The location in `  File "<cell 1>", line 2, in f`: file and line.
std::string ColoredPlace(std::string_view line) {
  const size_t opening = line.find('"');
  const size_t closing = line.find("\", line ");
  if (opening == line.npos || closing == line.npos || closing <= opening) return std::string(line);
  const size_t number = closing + 8;
  const size_t end = std::min(line.find_first_not_of("0123456789", number), line.size());
  return std::string(line.substr(0, opening)) +
         Colored(line.substr(opening, closing + 1 - opening), Color::kMagenta) + ", line " +
         Colored(line.substr(number, end - number), Color::kMagenta) +
         std::string(line.substr(end));
}

// "ValueError: why": an exception type, which contains no spaces.
bool NamesAnException(std::string_view line) {
  const std::string_view type = line.substr(0, line.find(':'));
  return !type.empty() && std::ranges::all_of(type, [](char c) {
    return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  });
}

constexpr size_t kRuleLength = 5;

// `main.py:3:8: BJ201 reason`: the rule's id.
size_t RuleAt(std::string_view line) {
  constexpr std::string_view kBefore = ": BJ";
  for (size_t at = line.find(kBefore); at != line.npos; at = line.find(kBefore, at + 1)) {
    const std::string_view digits = line.substr(at + kBefore.size());
    if (digits.size() > 3 && digits.find_first_not_of("0123456789") == 3) return at + 2;
  }
  return line.npos;
}

std::string ColoredLine(std::string_view line) {
  if (line.starts_with("  File \"")) return ColoredPlace(line);
  if (line.starts_with("belljar: ")) return Colored(line, Color::kYellow);
  if (const size_t rule = RuleAt(line); rule != line.npos) {
    return Colored(line.substr(0, rule), Color::kBold) +
           Colored(line.substr(rule, kRuleLength), Color::kRed) +
           std::string(line.substr(rule + kRuleLength));
  }
  if (line.starts_with("hint: ") || line.starts_with("  hint: "))
    return Colored(line, Color::kCyan);
  // The underline below a line of code.
  if (!line.empty() && line.find_first_not_of(" ~^") == line.npos)
    return Colored(line, Color::kRed);
  if (!NamesAnException(line)) return std::string(line);
  const size_t colon = std::min(line.find(':'), line.size());
  return Colored(line.substr(0, colon), Color::kRed) + std::string(line.substr(colon));
}

}  // namespace

bool UsesColors(std::string_view choice, int fd) {
  if (choice != "auto") return choice == "always";
  const char* terminal = getenv("TERM");
  return isatty(fd) && !IsSet("NO_COLOR") && terminal && std::string_view(terminal) != "dumb";
}

std::string Colored(std::string_view text, Color color) {
  if (text.empty()) return "";
  return std::string("\x1b[") + CodeOf(color) + "m" + std::string(text) + "\x1b[0m";
}

std::string WithBoldHeadings(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const size_t length = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, length);
    const bool is_heading = line.ends_with(':') && !line.starts_with(' ');
    shown += is_heading ? Colored(line, Color::kBold) : std::string(line);
    shown += text[length];
    text.remove_prefix(length + 1);
  }
  return shown;
}

std::string ColoredReport(std::string_view text) {
  std::string colored;
  while (!text.empty()) {
    const size_t length = std::min(text.find('\n'), text.size());
    colored += ColoredLine(text.substr(0, length));
    if (length == text.size()) break;
    colored += '\n';
    text.remove_prefix(length + 1);
  }
  return colored;
}

}  // namespace belljar::cli
