// The data of a report of `belljar validate`. It separates discovery, settings and checks
// (command.cc) from output formats (formats.h).
#ifndef BELLJAR_CLI_VALIDATE_REPORT_H_
#define BELLJAR_CLI_VALIDATE_REPORT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "engine/host/outcome.h"

namespace belljar::cli::validate {

// One reported finding.
struct ReportedFinding {
  host::Finding finding;
  // Its source line without the newline; empty if there is none or it is very long.
  std::string line_text;
  std::string fingerprint;  // hex; independent of line numbers, distinct for repeated findings
};

// The result for one file.
struct CheckedFile {
  std::string path;  // as given or found, relative to the working directory if below it
  std::vector<ReportedFinding> findings;  // by position; without suppressed ones
  size_t suppressed = 0;                  // by --select, --ignore, comments and the baseline
  bool findings_cut = false;              // there are more than listed
  std::string error;                      // why it could not be checked; empty if it was
  int exit_code = 0;                      // exit_code.h
};

struct Totals {
  size_t files = 0;
  size_t files_with_findings = 0;
  size_t findings = 0;
  size_t suppressed = 0;
  size_t not_checked = 0;
  int exit_code = 0;
};

// Common to all files.
struct ReportHeader {
  std::string version;  // Belljar's
  std::string profile;
  std::string root;  // absolute; base of relative paths
};

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_REPORT_H_
