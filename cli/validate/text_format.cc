#include "cli/finding_text.h"
#include "cli/validate/formats.h"
#include "cli/validate/report_text.h"
#include "engine/core/text.h"

namespace belljar::cli::validate {
namespace {

class TextWriter : public ReportWriter {
 public:
  std::string Add(const CheckedFile& file) override {
    std::string text;
    for (const ReportedFinding& reported : file.findings) {
      text += FindingText(file.path, reported.finding);
    }
    if (file.findings_cut) text += core::Printable(file.path) + ": more findings are not shown\n";
    return text;
  }

  std::string Finish(const Totals& totals) override { return Summary(totals) + "\n"; }
};

}  // namespace

std::unique_ptr<ReportWriter> MakeTextWriter() { return std::make_unique<TextWriter>(); }

}  // namespace belljar::cli::validate
