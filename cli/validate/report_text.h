// Sentences shared by several report formats.
#ifndef BELLJAR_CLI_VALIDATE_REPORT_TEXT_H_
#define BELLJAR_CLI_VALIDATE_REPORT_TEXT_H_

#include <string>

#include "cli/validate/report.h"

namespace belljar::cli::validate {

// "1 file", "12,345 files".
std::string Plural(size_t count, const std::string& noun);

// "3 findings in 2 of 5 files; 1 suppressed; 1 file could not be checked".
std::string Summary(const Totals& totals);

// Reason and hint in one line of printable text, each ending with a full stop.
std::string Message(const host::Finding& finding);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_REPORT_TEXT_H_
