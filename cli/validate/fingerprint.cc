#include "cli/validate/fingerprint.h"

#include <map>
#include <string_view>
#include <utility>

#include "engine/host/digest.h"

namespace belljar::cli::validate {

void AddFingerprints(const std::string& path, const SourceLines& lines,
                     std::vector<ReportedFinding>& findings) {
  // Cached by line number: a thousand findings may be on one line of a megabyte.
  std::map<int, std::string> digests;
  std::map<std::pair<std::string, std::string>, size_t> seen;
  for (ReportedFinding& reported : findings) {
    const host::Finding& finding = reported.finding;
    const std::string_view line = lines.Line(finding.line);
    reported.line_text = ShownLine(line);
    auto [digest, is_new] = digests.try_emplace(finding.line);
    if (is_new) digest->second = host::Sha256(Normalized(line));
    const size_t before = seen[{finding.rule, digest->second}]++;
    // Separated by NUL, which none of the parts can contain.
    std::string text = finding.rule;
    for (const std::string& part : {path, digest->second, std::to_string(before)}) {
      text += '\0';
      text += part;
    }
    reported.fingerprint = host::Sha256(text).substr(0, kFingerprintLength);
  }
}

}  // namespace belljar::cli::validate
