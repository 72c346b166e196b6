// RuleSelection: which rules' findings are reported, in which file.
//
// A rule is named by its id or the beginning of one: "BJ301", "BJ3", "BJ". Findings that say that a
// source could not be judged at all (BJ001 to BJ099: no Python, too long, too deep) are always
// reported: whoever asked for BJ2 alone has to hear that nobody looked for BJ2. A file that is not
// meant to be judged is left out with `exclude`.
#ifndef BELLJAR_CLI_VALIDATE_RULE_SELECTION_H_
#define BELLJAR_CLI_VALIDATE_RULE_SELECTION_H_

#include <string>
#include <string_view>
#include <vector>

#include "cli/validate/files.h"
#include "cli/validate/settings.h"
#include "engine/core/result.h"

namespace belljar::cli::validate {

// Whether the rule says that the source could not be judged.
bool IsAboutJudging(std::string_view rule);

class RuleSelection {
 public:
  // `known`: the ids that there are. The error is the user's; it names the setting, its origin and
  // the nearest id.
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
