#include "cli/validate/text_format.h"

#include "cli/console.h"
#include "cli/finding_text.h"
#include "engine/core/text.h"

namespace belljar::validate {
namespace {

std::string Plural(size_t count, const std::string& noun) {
  return WithThousands(count) + " " + noun + (count == 1 ? "" : "s");
}

class TextWriter : public ReportWriter {
 public:
  std::string Add(const CheckedFile& file) override {
    std::string text;
    for (const ReportedFinding& reported : file.findings) {
      text += FindingText(file.path, reported.finding);
    }
    if (file.findings_cut) text += Printable(file.path) + ": there are more findings\n";
    return text;
  }

  std::string Finish(const Totals& totals) override {
    std::string text = "no findings in ";
    if (totals.findings > 0) {
      text = Plural(totals.findings, "finding") + " in " +
             std::to_string(totals.files_with_findings) + " of ";
    }
    text += Plural(totals.files, "file");
    if (totals.not_checked > 0) {
      text += "; " + Plural(totals.not_checked, "file") + " could not be checked";
    }
    return text + "\n";
  }
};

}  // namespace

std::unique_ptr<ReportWriter> MakeTextWriter() { return std::make_unique<TextWriter>(); }

}  // namespace belljar::validate
