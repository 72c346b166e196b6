#include "cli/validate/formats.h"

namespace belljar::cli::validate {
namespace {

// If the rules cannot be loaded, the report is still written, without their descriptions.
std::vector<Rule> RulesOrNone() {
  core::Result<std::vector<Rule>> rules = LoadRules();
  return rules ? std::move(*rules) : std::vector<Rule>();
}

}  // namespace

const std::vector<std::string>& FormatNames() {
  static const std::vector<std::string> names = {kTextFormat, "json",   "sarif",
                                                 "github",    "gitlab", "junit"};
  return names;
}

std::unique_ptr<ReportWriter> MakeReportWriter(const std::string& format,
                                               const ReportHeader& header) {
  if (format == "json") return MakeJsonWriter();
  if (format == "sarif") return MakeSarifWriter(header, RulesOrNone());
  if (format == "github") return MakeGithubWriter(header);
  if (format == "gitlab") return MakeGitlabWriter(header);
  if (format == "junit") return MakeJunitWriter(header);
  return MakeTextWriter();
}

}  // namespace belljar::cli::validate
