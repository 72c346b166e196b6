// What `belljar run` says on standard error about how a program ended.
#ifndef BELLJAR_CLI_OUTCOME_TEXT_H_
#define BELLJAR_CLI_OUTCOME_TEXT_H_

#include <string>

#include "engine/host/outcome.h"

namespace belljar::cli {

// Empty when all went well; else whole lines: a traceback, findings, or one line about the limit.
std::string OutcomeText(const host::Outcome& outcome, const std::string& filename);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_OUTCOME_TEXT_H_
