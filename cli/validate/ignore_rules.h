// IgnoreRules: decides which paths of a tree are skipped, by patterns of ignore files and settings.
//
// Syntax and semantics are those of gitignore(5): the last matching pattern decides, "!" negates,
// and a file in a deeper directory takes precedence over those above. The tests compare with `git
// check-ignore`. Git itself is never run here: the configuration of a repository can make it start
// programs (core.fsmonitor).
#ifndef BELLJAR_CLI_VALIDATE_IGNORE_RULES_H_
#define BELLJAR_CLI_VALIDATE_IGNORE_RULES_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/validate/glob.h"

namespace belljar::cli::validate {

enum class Verdict { kNone, kIgnored, kIncluded };

// The patterns of one file or setting, in order.
class IgnoreRules {
 public:
  // Parses an ignore file. As in git, lines that can match nothing are dropped.
  static IgnoreRules Parse(std::string_view text);
  // From a setting: one pattern per string, with the same syntax.
  static IgnoreRules Of(const std::vector<std::string>& patterns);

  bool empty() const { return rules_.empty(); }
  void Append(IgnoreRules later);

  // `path` is relative to the folder of the patterns.
  Verdict Judge(std::string_view path, bool is_directory) const;

 private:
  struct Rule {
    Glob glob;
    bool includes = false;  // "!"
  };
  void AddLine(std::string_view line);

  std::vector<Rule> rules_;
};

// The rules of a directory and of its parents. Shared by all directories below.
struct IgnoreLevel {
  std::string folder;  // folder of these rules in the tree, with a trailing "/", or empty
  IgnoreRules rules;
  std::shared_ptr<const IgnoreLevel> above;
};

// Precondition: `path` begins with the folder of every level.
bool IsIgnored(const IgnoreLevel* level, std::string_view path, bool is_directory);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_IGNORE_RULES_H_
