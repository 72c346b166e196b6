// `belljar run`: runs one program with live output and reports its end by the exit code.
#ifndef BELLJAR_CLI_RUN_H_
#define BELLJAR_CLI_RUN_H_

#include "cli/option_table.h"

namespace belljar::cli {

Command MakeRunCommand(CLI::App& app);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_RUN_H_
