// `belljar repl`: an interactive prompt over a live session.
#ifndef BELLJAR_CLI_REPL_COMMAND_H_
#define BELLJAR_CLI_REPL_COMMAND_H_

#include "cli/option_table.h"

namespace belljar::cli::repl {

Command MakeReplCommand(CLI::App& app);

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_COMMAND_H_
