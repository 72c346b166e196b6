// Runs a cell in the current branch and shows what it did.
#ifndef BELLJAR_CLI_REPL_CELL_H_
#define BELLJAR_CLI_REPL_CELL_H_

#include "cli/repl/cell_text.h"
#include "cli/repl/live.h"

namespace belljar::cli::repl {

// Returns the cell's exit code. `is_timed`: run by %time.
int RunCell(Live& live, const CellText& text, bool is_timed);

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_CELL_H_
