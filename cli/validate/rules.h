// The rules of the language policy as the command tells of them, from the installation's
// rules.json, which the build makes from policy/belljar_policy/rules.py.
#ifndef BELLJAR_CLI_VALIDATE_RULES_H_
#define BELLJAR_CLI_VALIDATE_RULES_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace belljar::cli::validate {

struct Rule {
  std::string id;     // "BJ201"
  std::string name;   // "import-not-allowed"
  std::string title;  // a sentence, without its full stop
  std::string when;   // "compile", "run", "compile and run"
  std::string hint;   // what to do instead, where nothing is known of the offender
  std::string why;
  std::string bad;   // a program that the rule stops; empty for none
  std::string good;  // one that does what it meant
};

// By id. An error is this installation's failure.
core::Result<std::vector<Rule>> LoadRules();

// What the rule's group is about, by its first digit: "imports". "policy" for an unknown one.
std::string_view RuleGroup(std::string_view id);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_RULES_H_
