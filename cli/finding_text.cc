#include "cli/finding_text.h"

#include "cli/console.h"
#include "engine/core/text.h"

namespace belljar::cli {

std::string FindingText(const std::string& path, const host::Finding& finding) {
  std::string text = core::Printable(path);
  if (finding.line > 0) text += ":" + std::to_string(finding.line);
  if (finding.line > 0 && finding.column > 0) text += ":" + std::to_string(finding.column);
  // Reasons quote names chosen by the guest.
  text += ": " + finding.rule + " " + core::Printable(finding.reason) + "\n";
  if (!finding.hint.empty()) text += "  hint: " + core::Printable(finding.hint) + "\n";
  return text;
}

}  // namespace belljar::cli
