// The rules of the language policy, from the installation's rules.json, which the build generates
// from policy/belljar_policy/rules.py.
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
  std::string title;  // a sentence without the full stop
  std::string when;   // "compile", "run", "compile and run"
  std::string hint;   // what to do instead, independent of a specific finding
  std::string why;
  std::string bad;   // a program that violates the rule; empty if there is none
  std::string good;  // a compliant alternative
};

// Sorted by id. An error means that the installation is broken.
core::Result<std::vector<Rule>> LoadRules();

// The topic of the rule's group, by its first digit: "imports". "policy" if unknown.
std::string_view RuleGroup(std::string_view id);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_RULES_H_
