#include "cli/validate/ignore_comments.h"

#include <regex>

#include "cli/validate/rule_selection.h"
#include "engine/core/text.h"

namespace belljar::cli::validate {

IgnoreComments::IgnoreComments(const std::vector<host::Comment>& comments) {
  // The texts are short: the reader of the worker's report limits them.
  static const std::regex kForm(R"(#\s*belljar:\s*ignore\s*\[([^\]]*)\].*)");
  static const std::regex kRule(R"(\s*(BJ[0-9]{3})\s*)");
  for (const host::Comment& comment : comments) {
    std::smatch form;
    if (!std::regex_match(comment.text, form, kForm)) {
      named_.push_back({comment.line, ""});
      continue;
    }
    const std::string list = form[1];
    for (size_t begin = 0; begin <= list.size();) {
      const size_t end = std::min(list.find(',', begin), list.size());
      const std::string item = list.substr(begin, end - begin);
      std::smatch rule;
      named_.push_back({comment.line, std::regex_match(item, rule, kRule) ? rule[1].str() : ""});
      begin = end + 1;
    }
  }
}

bool IgnoreComments::Suppresses(const host::Finding& finding) {
  if (IsAboutJudging(finding.rule)) return false;
  bool suppresses = false;
  for (Named& named : named_) {
    if (named.line != finding.line || named.rule != finding.rule) continue;
    named.is_used = true;
    suppresses = true;
  }
  return suppresses;
}

std::vector<std::string> IgnoreComments::Complaints() const {
  std::vector<std::string> complaints;
  for (const Named& named : named_) {
    if (named.is_used) continue;
    complaints.push_back(std::to_string(named.line) +
                         (named.rule.empty()
                              ? ": invalid comment; write \"# belljar: ignore[BJ501]\""
                              : ": no " + named.rule + " finding to ignore"));
  }
  return complaints;
}

}  // namespace belljar::cli::validate
