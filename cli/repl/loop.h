// The two forms of a prompt: at a terminal, and over a pipe or a file.
#ifndef BELLJAR_CLI_REPL_LOOP_H_
#define BELLJAR_CLI_REPL_LOOP_H_

#include <optional>

#include "cli/repl/history_file.h"
#include "cli/repl/live.h"

namespace belljar::cli::repl {

// Prompts until %quit or Ctrl-D. Returns the exit code. Ctrl-C is recorded by `live.interruption`,
// which must be of Kind::kRepeated.
int RunAtTerminal(Live& live, std::optional<HistoryFile> history);

// Cells from standard input, separated by empty lines outside of blocks. Returns the exit code of
// the last cell or command that failed.
int RunFromInput(Live& live);

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_LOOP_H_
