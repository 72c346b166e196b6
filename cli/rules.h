// `belljar rules`: lists the rules of the language policy and what to write instead.
#ifndef BELLJAR_CLI_RULES_H_
#define BELLJAR_CLI_RULES_H_

#include "cli/option_table.h"

namespace belljar::cli {

Command MakeRulesCommand(CLI::App& app);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_RULES_H_
