// `belljar completion`: a shell's completion script, made from the options' own tables.
#ifndef BELLJAR_CLI_COMPLETION_H_
#define BELLJAR_CLI_COMPLETION_H_

#include "cli/option_table.h"

namespace belljar::cli {

// Call it last: the script holds the commands that `app` has when it runs.
Command MakeCompletionCommand(CLI::App& app);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_COMPLETION_H_
