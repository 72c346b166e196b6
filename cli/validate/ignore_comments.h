// `# belljar: ignore[BJ501]` at the end of a line: its author's word that the finding is meant.
//
// What is a comment is said by CPython's tokenizer in the worker (Outcome::comments), so a "#" in a
// string is none. Only an operator's setting makes them count.
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

  // Whether a comment on the finding's line names its rule; if so, the comment has been of use.
  // Findings about judging (rule_selection.h) are never suppressed.
  bool Suppresses(const host::Finding& finding);

  // "3: nothing to ignore for BJ501", of what was of no use or not understood, by line.
  std::vector<std::string> Complaints() const;

 private:
  struct Named {
    int line;
    std::string rule;  // empty: the comment was not understood
    bool is_used = false;
  };
  std::vector<Named> named_;
};

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_IGNORE_COMMENTS_H_
