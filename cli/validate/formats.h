// Report formats. A writer gets the files one at a time, in order, and then the totals.
#ifndef BELLJAR_CLI_VALIDATE_FORMATS_H_
#define BELLJAR_CLI_VALIDATE_FORMATS_H_

#include <memory>
#include <string>
#include <vector>

#include "cli/validate/report.h"

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

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_FORMATS_H_
