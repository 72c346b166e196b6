// Fingerprints: a finding's name that lasts while code around it moves.
#ifndef BELLJAR_CLI_VALIDATE_FINGERPRINT_H_
#define BELLJAR_CLI_VALIDATE_FINGERPRINT_H_

#include <string>
#include <vector>

#include "cli/validate/report.h"
#include "cli/validate/source_lines.h"

namespace belljar::cli::validate {

// Fills `line_text` and `fingerprint`: the first half of the SHA-256 of rule, path, the line
// without its indentation, and how many findings of that rule stood on the same text before.
// `findings` are all that the file has, in order of place; `path` is Target::project_path.
void AddFingerprints(const std::string& path, const SourceLines& lines,
                     std::vector<ReportedFinding>& findings);

// Hexadecimal digits of one.
inline constexpr size_t kFingerprintLength = 32;

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_FINGERPRINT_H_
