#include "cli/validate/rule_selection.h"

#include <algorithm>

#include "engine/core/text.h"
#include "engine/host/suggest.h"

namespace belljar::cli::validate {
namespace {

using Strings = std::vector<std::string>;

constexpr std::string_view kJudging = "BJ0";

bool Holds(const Strings& beginnings, std::string_view rule) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const std::string& beginning) { return rule.starts_with(beginning); });
}

// `may_judging`: whether rules about checking itself may be named.
core::Result<void> Check(const Strings& beginnings, const std::string& what, const Strings& known,
                         bool may_judging) {
  for (const std::string& beginning : beginnings) {
    const bool begins_one = std::any_of(known.begin(), known.end(), [&](const std::string& rule) {
      return rule.starts_with(beginning);
    });
    if (beginning.empty() || !begins_one) {
      return core::MakeError(what + ": there is no rule " + core::Quoted(beginning) +
                                 host::Suggestion(beginning, known) +
                                 "; \"belljar rules\" lists them",
                             "");
    }
    if (!may_judging && beginning.starts_with(kJudging)) {
      return core::MakeError(
          what + ": " + beginning +
              " means that a file could not be checked, and is always reported; to "
              "skip a file use --exclude",
          "");
    }
  }
  return {};
}

std::string Origin(const Settings& settings, const std::string& key) {
  const auto found = settings.origins.find(key);
  return found == settings.origins.end() || found->second.starts_with("--")
             ? "--" + key
             : found->second + ": " + key;
}

}  // namespace

bool IsAboutJudging(std::string_view rule) { return rule.starts_with(kJudging); }

core::Result<RuleSelection> RuleSelection::Make(const Settings& settings, const Strings& known) {
  if (core::Result<void> checked = Check(settings.select, Origin(settings, "select"), known, true);
      !checked) {
    return checked.error();
  }
  if (core::Result<void> checked = Check(settings.ignore, Origin(settings, "ignore"), known, false);
      !checked) {
    return checked.error();
  }
  RuleSelection selection;
  selection.select_ = settings.select;
  selection.ignore_ = settings.ignore;
  for (const PerFileIgnore& ignore : settings.per_file_ignores) {
    const std::string what =
        Origin(settings, "per-file-ignores") + " " + core::Quoted(ignore.pattern);
    if (core::Result<void> checked = Check(ignore.rules, what, known, false); !checked) {
      return checked.error();
    }
    selection.per_file_.push_back(
        {{settings.folder, IgnoreRules::Of({ignore.pattern})}, ignore.rules});
  }
  return selection;
}

bool RuleSelection::Reports(std::string_view rule, const std::string& path) const {
  if (IsAboutJudging(rule)) return true;
  if (!select_.empty() && !Holds(select_, rule)) return false;
  if (Holds(ignore_, rule)) return false;
  return std::none_of(per_file_.begin(), per_file_.end(), [&](const PerFile& ignore) {
    return Holds(ignore.rules, rule) && ignore.files.Matches(path, false);
  });
}

}  // namespace belljar::cli::validate
