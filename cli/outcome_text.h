// What `belljar run` prints on standard error when a program ends.
#ifndef BELLJAR_CLI_OUTCOME_TEXT_H_
#define BELLJAR_CLI_OUTCOME_TEXT_H_

#include <string>

#include "engine/host/outcome.h"

namespace belljar::cli {

// Empty on success; otherwise complete lines: a traceback, findings, or one line about the limit.
std::string OutcomeText(const host::Outcome& outcome, const std::string& filename);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_OUTCOME_TEXT_H_
