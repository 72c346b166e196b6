#include "cli/validate/ignore_rules.h"

#include <utility>

namespace belljar::cli::validate {
namespace {

// Trailing blanks count only after a backslash.
std::string_view WithoutTrailingBlanks(std::string_view line) {
  size_t end = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\\') {
      // A backslash at the end preserves everything before it, including blanks.
      if (++at == line.size()) return line;
      end = at + 1;
    } else if (line[at] != ' ') {
      end = at + 1;
    }
  }
  return line.substr(0, end);
}

}  // namespace

void IgnoreRules::AddLine(std::string_view line) {
  if (line.starts_with('#')) return;
  line = WithoutTrailingBlanks(line);
  Rule rule;
  if (line.starts_with('!')) {
    rule.includes = true;
    line.remove_prefix(1);
  }
  std::optional<Glob> glob = Glob::Parse(line);
  if (!glob) return;
  rule.glob = std::move(*glob);
  rules_.push_back(std::move(rule));
}

IgnoreRules IgnoreRules::Parse(std::string_view text) {
  IgnoreRules rules;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (end < text.size() && line.ends_with('\r')) line.remove_suffix(1);
    rules.AddLine(line.substr(0, line.find('\0')));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return rules;
}

IgnoreRules IgnoreRules::Of(const std::vector<std::string>& patterns) {
  IgnoreRules rules;
  for (const std::string& pattern : patterns) rules.AddLine(pattern);
  return rules;
}

void IgnoreRules::Append(IgnoreRules later) {
  for (Rule& rule : later.rules_) rules_.push_back(std::move(rule));
}

Verdict IgnoreRules::Judge(std::string_view path, bool is_directory) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (rule->glob.Matches(path, is_directory)) {
      return rule->includes ? Verdict::kIncluded : Verdict::kIgnored;
    }
  }
  return Verdict::kNone;
}

bool IsIgnored(const IgnoreLevel* level, std::string_view path, bool is_directory) {
  for (; level; level = level->above.get()) {
    const Verdict verdict = level->rules.Judge(path.substr(level->folder.size()), is_directory);
    if (verdict != Verdict::kNone) return verdict == Verdict::kIgnored;
  }
  return false;
}

}  // namespace belljar::cli::validate
