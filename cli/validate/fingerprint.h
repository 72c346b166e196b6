// Fingerprints: identify findings independently of line numbers.
#ifndef BELLJAR_CLI_VALIDATE_FINGERPRINT_H_
#define BELLJAR_CLI_VALIDATE_FINGERPRINT_H_

#include <string>
#include <vector>

#include "cli/validate/report.h"
#include "cli/validate/source_lines.h"

namespace belljar::cli::validate {

// Sets `line_text` and `fingerprint`: the first half of the SHA-256 of rule, path, the line without
// its indentation, and the number of previous findings with the same rule and text. `findings` are
// all findings of the file, in order of position; `path` is Target::project_path.
void AddFingerprints(const std::string& path, const SourceLines& lines,
                     std::vector<ReportedFinding>& findings);

// Number of hexadecimal digits.
inline constexpr size_t kFingerprintLength = 32;

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_FINGERPRINT_H_
