// IgnoreRules: which paths of a tree are left out, by the patterns of ignore files and settings.
//
// The form and meaning are those of gitignore(5): the last pattern that matches decides, "!" takes
// back, a file in a deeper directory comes after those above it. `git check-ignore` is the oracle
// of the tests. Git itself is never run: the configuration of a repository can name programs that
// it starts (core.fsmonitor).
#ifndef BELLJAR_CLI_VALIDATE_IGNORE_RULES_H_
#define BELLJAR_CLI_VALIDATE_IGNORE_RULES_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/validate/glob.h"

namespace belljar::cli::validate {

enum class Verdict { kNone, kIgnored, kIncluded };

// The patterns of one place, in their order.
class IgnoreRules {
 public:
  // The text of an ignore file. Lines that can match nothing are left out, as git does.
  static IgnoreRules Parse(std::string_view text);
  // Patterns of a setting: the same form, one each.
  static IgnoreRules Of(const std::vector<std::string>& patterns);

  bool empty() const { return rules_.empty(); }
  void Append(IgnoreRules later);

  // `path` is relative to where the patterns were written.
  Verdict Judge(std::string_view path, bool is_directory) const;

 private:
  struct Rule {
    Glob glob;
    bool includes = false;  // "!"
  };
  void AddLine(std::string_view line);

  std::vector<Rule> rules_;
};

// The rules of a directory and of those above it. Shared by what is below.
struct IgnoreLevel {
  std::string folder;  // of the tree, with "/" at the end, or empty: where these were written
  IgnoreRules rules;
  std::shared_ptr<const IgnoreLevel> above;
};

// `path` begins with the folder of every level.
bool IsIgnored(const IgnoreLevel* level, std::string_view path, bool is_directory);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_IGNORE_RULES_H_
