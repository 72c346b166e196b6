// What `belljar validate` says about a set of files, and in which form. Discovery, settings and
// judging are on one side of this header (command.cc), formats on the other (formats.h).
#ifndef BELLJAR_CLI_VALIDATE_REPORT_H_
#define BELLJAR_CLI_VALIDATE_REPORT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "engine/host/outcome.h"

namespace belljar::cli::validate {

// One finding as it is reported.
struct ReportedFinding {
  host::Finding finding;
  // The source line it is on, without its newline; empty for none, and for a very long one.
  std::string line_text;
  std::string fingerprint;  // hex; survives lines moving, differs for the n-th of the same kind
};

// What became of one file.
struct CheckedFile {
  std::string path;  // as given or found, relative to the working directory where it is below it
  std::vector<ReportedFinding> findings;  // by place; what was suppressed is not among them
  size_t suppressed = 0;                  // by --select and --ignore, comments, the baseline
  bool findings_cut = false;              // there are more than are listed
  std::string error;                      // why it could not be judged; empty when it was
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

// What all files were judged by.
struct ReportHeader {
  std::string version;  // of Belljar
  std::string profile;
  std::string root;  // absolute; what relative paths are relative to
};

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_REPORT_H_
