// The commands of a prompt: %undo, %branch, …, and ?name.
#ifndef BELLJAR_CLI_REPL_COMMANDS_H_
#define BELLJAR_CLI_REPL_COMMANDS_H_

#include <optional>
#include <string>
#include <string_view>

#include "cli/repl/cell_text.h"
#include "cli/repl/line_editor.h"
#include "cli/repl/live.h"

namespace belljar::cli::repl {

// Whether a line that starts a cell is a command: "%undo", "?name", "name?".
bool IsCommand(std::string_view line);

// A line that begins a cell, though it looks like a command.
struct CellStart {
  std::string code;          // its first line
  bool is_timed = false;     // of "%time CODE" and "%%time"
  bool is_head = false;      // of "%%time" and "%%timeit": the cell follows
  bool is_repeated = false;  // of "%%timeit"
};
// Begins the cell with it.
void BeginCell(const CellStart& start, CellText& cell);
// What runs `statement` many times and shows how long it takes.
std::string TimeitCode(const std::string& statement);
// nullopt: it is a command, or plain code.
std::optional<CellStart> StartOfCell(const Live& live, std::string_view line);

struct CommandEnd {
  bool quits = false;
  int code = 0;  // an exit code
};
// Precondition: IsCommand(line).
CommandEnd RunCommand(Live& live, std::string_view line);

// Completions of a command and its arguments. Precondition: `before` begins with "%".
Completions CompleteCommand(Live& live, std::string_view before);

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_COMMANDS_H_
