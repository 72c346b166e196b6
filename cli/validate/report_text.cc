#include "cli/validate/report_text.h"

#include "cli/console.h"
#include "engine/core/text.h"

namespace belljar::cli::validate {
namespace {

std::string Sentence(const std::string& text) {
  std::string sentence = core::Printable(text);
  if (!sentence.empty() && !sentence.ends_with('.')) sentence += '.';
  return sentence;
}

}  // namespace

std::string Plural(size_t count, const std::string& noun) {
  return WithThousands(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string Summary(const Totals& totals) {
  std::string text = "no findings in ";
  if (totals.findings > 0) {
    text = Plural(totals.findings, "finding") + " in " + WithThousands(totals.files_with_findings) +
           " of ";
  }
  text += Plural(totals.files, "file");
  if (totals.suppressed > 0) text += "; " + WithThousands(totals.suppressed) + " suppressed";
  if (totals.not_checked > 0) {
    text += "; " + Plural(totals.not_checked, "file") + " could not be checked";
  }
  return text;
}

std::string Message(const host::Finding& finding) {
  const std::string hint = Sentence(finding.hint);
  return Sentence(finding.reason) + (hint.empty() ? "" : " " + hint);
}

}  // namespace belljar::cli::validate
