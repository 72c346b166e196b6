// `# belljar: ignore[BJ501]` at the end of a line: suppresses a finding on that line.
//
// Comments are found by CPython's tokenizer in the worker (Outcome::comments), so a "#" in a string
// is not a comment. They have an effect only if a setting enables them.
#ifndef BELLJAR_CLI_VALIDATE_IGNORE_COMMENTS_H_
#define BELLJAR_CLI_VALIDATE_IGNORE_COMMENTS_H_

#include <string>
#include <vector>

#include "cli/validate/report.h"
#include "engine/host/outcome.h"

namespace belljar::cli::validate {

class IgnoreComments {
 public:
  explicit IgnoreComments(const std::vector<host::Comment>& comments);

  // Whether a comment on the finding's line names its rule; if so, the comment counts as used.
  // Findings about checking itself (rule_selection.h) are never suppressed.
  bool Suppresses(const host::Finding& finding);

  // Notes about unused and invalid comments, by line: "3: no BJ501 finding to ignore".
  std::vector<std::string> Complaints() const;

 private:
  struct Named {
    int line;
    std::string rule;  // empty: invalid comment
    bool is_used = false;
  };
  std::vector<Named> named_;
};

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_IGNORE_COMMENTS_H_
