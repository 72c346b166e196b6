#include "cli/validate/formats.h"

#include "cli/validate/json_format.h"
#include "cli/validate/text_format.h"

namespace belljar::validate {

const std::vector<std::string>& FormatNames() {
  static const std::vector<std::string> names = {kTextFormat, "json"};
  return names;
}

std::unique_ptr<ReportWriter> MakeReportWriter(const std::string& format,
                                               [[maybe_unused]] const ReportHeader& header) {
  if (format == "json") return MakeJsonWriter();
  return MakeTextWriter();
}

}  // namespace belljar::validate
