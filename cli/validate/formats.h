// Report formats. A writer gets the files one at a time, in order, and then the totals.
#ifndef BELLJAR_CLI_VALIDATE_FORMATS_H_
#define BELLJAR_CLI_VALIDATE_FORMATS_H_

#include <memory>
#include <string>
#include <vector>

#include "cli/validate/report.h"
#include "cli/validate/rules.h"

namespace belljar::cli::validate {

class ReportWriter {
 public:
  virtual ~ReportWriter() = default;
  // Text to print now; empty for formats that produce a single document.
  virtual std::string Add(const CheckedFile& file) = 0;
  // The rest of the report, after `Add` for every file.
  virtual std::string Finish(const Totals& totals) = 0;
};

inline constexpr char kTextFormat[] = "text";
// The names of all formats, text first.
const std::vector<std::string>& FormatNames();
// `format` is one of FormatNames().
std::unique_ptr<ReportWriter> MakeReportWriter(const std::string& format,
                                               const ReportHeader& header);

// The writers, each in the file of its format.
// "text", for humans: one line per finding, its hint below, and a summary.
std::unique_ptr<ReportWriter> MakeTextWriter();
// "json": one object with all files, their findings and the totals.
std::unique_ptr<ReportWriter> MakeJsonWriter();
// "sarif": one log in SARIF 2.1.0 (OASIS), for code scanning.
std::unique_ptr<ReportWriter> MakeSarifWriter(const ReportHeader& header, std::vector<Rule> rules);
// "github": workflow commands, which GitHub shows as annotations in the changed files.
std::unique_ptr<ReportWriter> MakeGithubWriter(const ReportHeader& header);
// "gitlab": a Code Quality report, which GitLab shows in a merge request.
std::unique_ptr<ReportWriter> MakeGitlabWriter(const ReportHeader& header);
// "junit": one test case per file, for tools that read test reports (GitLab, Jenkins, …).
std::unique_ptr<ReportWriter> MakeJunitWriter(const ReportHeader& header);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_FORMATS_H_
