// What the prompt asks the session between cells: completions, information on a name, the
// variables. Answers come from the sandbox, so they are hostile; what is returned here is
// printable.
#ifndef BELLJAR_CLI_REPL_QUESTIONS_H_
#define BELLJAR_CLI_REPL_QUESTIONS_H_

#include <string>
#include <string_view>

#include "cli/repl/line_editor.h"
#include "cli/repl/live.h"
#include "engine/core/result.h"

namespace belljar::cli::repl {

// Completions for the Python code `before`, the part of a line up to the cursor, after the lines
// `above` of its cell. Empty if the session cannot answer.
Completions CompleteCode(Live& live, const std::string& above, std::string_view before);

// Information on a name, in complete lines.
core::Result<std::string> Inspect(Live& live, const std::string& name);

// A table of the variables, in complete lines.
core::Result<std::string> VariablesText(Live& live);

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_QUESTIONS_H_
