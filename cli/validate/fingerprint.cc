#include "cli/validate/fingerprint.h"

#include <sha2.h>

#include <map>
#include <string_view>
#include <utility>

namespace belljar::validate {
namespace {

std::string Digest(std::string_view text) {
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const uint8_t*>(text.data()), text.size());
  char digits[SHA256_DIGEST_STRING_LENGTH];
  SHA256End(&context, digits);
  return digits;
}

}  // namespace

void AddFingerprints(const std::string& path, const SourceLines& lines,
                     std::vector<ReportedFinding>& findings) {
  // By number: a thousand findings may be on one line of a megabyte.
  std::map<int, std::string> digests;
  std::map<std::pair<std::string, std::string>, size_t> seen;
  for (ReportedFinding& reported : findings) {
    const Finding& finding = reported.finding;
    const std::string_view line = lines.Line(finding.line);
    reported.line_text = ShownLine(line);
    auto [digest, is_new] = digests.try_emplace(finding.line);
    if (is_new) digest->second = Digest(Normalized(line));
    const size_t before = seen[{finding.rule, digest->second}]++;
    // The parts cannot run into each other: neither a path nor the others hold a NUL.
    std::string text = finding.rule;
    for (const std::string& part : {path, digest->second, std::to_string(before)}) {
      text += '\0';
      text += part;
    }
    reported.fingerprint = Digest(text).substr(0, kFingerprintLength);
  }
}

}  // namespace belljar::validate
