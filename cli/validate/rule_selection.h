// RuleSelection: decides which rules are reported, per file.
//
// Rules are named by an id or a prefix of one: "BJ301", "BJ3", "BJ". Findings that a source could
// not be checked at all (BJ001 to BJ099: not Python, too long, too deeply nested) are always
// reported: a user who selects only BJ2 must learn that BJ2 was not checked. Use `exclude` for
// files that should not be checked.
#ifndef BELLJAR_CLI_VALIDATE_RULE_SELECTION_H_
#define BELLJAR_CLI_VALIDATE_RULE_SELECTION_H_

#include <string>
#include <string_view>
#include <vector>

#include "cli/validate/files.h"
#include "cli/validate/settings.h"
#include "engine/core/result.h"

namespace belljar::cli::validate {

// Whether the rule means that the source could not be checked.
bool IsAboutJudging(std::string_view rule);

class RuleSelection {
 public:
  // `known`: all existing ids. Errors are user errors; they name the setting, its origin and the
  // closest id.
  static core::Result<RuleSelection> Make(const Settings& settings,
                                          const std::vector<std::string>& known);

  // `path` is absolute.
  bool Reports(std::string_view rule, const std::string& path) const;

 private:
  struct PerFile {
    FolderPatterns files;
    std::vector<std::string> rules;
  };
  std::vector<std::string> select_;
  std::vector<std::string> ignore_;
  std::vector<PerFile> per_file_;
};

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_RULE_SELECTION_H_
