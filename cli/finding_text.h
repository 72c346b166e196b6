// Formats a finding for humans and editors.
#ifndef BELLJAR_CLI_FINDING_TEXT_H_
#define BELLJAR_CLI_FINDING_TEXT_H_

#include <string>

#include "engine/host/outcome.h"

namespace belljar::cli {

// "main.py:3:8: BJ201 reason" and, indented, "hint: …"; without a position if there is none.
std::string FindingText(const std::string& path, const host::Finding& finding);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_FINDING_TEXT_H_
