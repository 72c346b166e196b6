// A line that is typed for a cell which asks, not for the prompt.
//
// The terminal stays as the line editor leaves it between two lines (repl/line_editor.h): in
// another mode, keys typed before the change would mean something else. So the line is edited here:
// backspace, Ctrl-U, Ctrl-W, and Ctrl-D at its start, which is the end of the cell's input.
#ifndef BELLJAR_CLI_REPL_TYPED_LINE_H_
#define BELLJAR_CLI_REPL_TYPED_LINE_H_

#include <string>

#include "cli/repl/keyboard.h"
#include "cli/terminal_input.h"

namespace belljar::cli::repl {

// A TerminalInput::LineReader. Not while there is a watch on `keyboard`.
TerminalInput::LineEnd ReadTypedLine(Keyboard& keyboard, bool is_hidden, core::Deadline deadline,
                                     std::string& line);

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_TYPED_LINE_H_
