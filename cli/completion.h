// `belljar completion`: prints a shell completion script, generated from the option tables.
#ifndef BELLJAR_CLI_COMPLETION_H_
#define BELLJAR_CLI_COMPLETION_H_

#include "cli/option_table.h"

namespace belljar::cli {

// Call it last: the script contains the commands that `app` has when it runs.
Command MakeCompletionCommand(CLI::App& app);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_COMPLETION_H_
