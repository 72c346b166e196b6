// The commands. Each function adds one to `app` and returns it with those below it; main.cc calls
// them, and a file of the same name, or a folder, has each.
#ifndef BELLJAR_CLI_COMMANDS_H_
#define BELLJAR_CLI_COMMANDS_H_

#include <string>
#include <vector>

#include "cli/option_table.h"
#include "container/image/image_loader.h"

namespace belljar::cli {

// `belljar audit`: shows, searches, verifies and exports the audit log of a server.
std::vector<Command> MakeAuditCommands(CLI::App& app);
// `belljar changes`: reviews what a session did to a project, and makes it real.
Command MakeChangesCommand(CLI::App& app);
// `belljar completion`: prints a shell completion script, generated from the option tables. Call it
// last: the script contains the commands that `app` has when it runs.
Command MakeCompletionCommand(CLI::App& app);
// `belljar config`: shows the effective settings of the server and their sources.
Command MakeConfigCommand(CLI::App& app);
// `belljar doctor`: shows which layers this machine supports, and tests them.
Command MakeDoctorCommand(CLI::App& app);
// `belljar help` and `belljar version`: print the same as --help and --version.
std::vector<Command> MakeHelpCommands(CLI::App& app);
// `belljar image`: builds and verifies container images of this installation. `loaders` are the
// engines that --load may name; if empty, there is no such option.
std::vector<Command> MakeImageCommands(CLI::App& app,
                                       std::vector<container::image::NamedImageLoader> loaders);
// `belljar info`: shows what this installation provides.
Command MakeInfoCommand(CLI::App& app);
// `belljar kernel`: adds the Jupyter kernel of the Python package to Jupyter, and removes it. The
// work is done by `python -m belljar.kernel`, which this process becomes.
std::vector<Command> MakeKernelCommands(CLI::App& app);
// `belljar languages`: lists the languages that programs may be in, and tries each.
Command MakeLanguagesCommand(CLI::App& app);
// `belljar receipt verify`.
std::vector<Command> MakeReceiptCommands(CLI::App& app);
// `belljar rules`: lists the rules of the language policy and what to write instead.
Command MakeRulesCommand(CLI::App& app);
// `belljar run`: runs one program with live output and reports its end by the exit code.
Command MakeRunCommand(CLI::App& app);
// `belljar serve`: the MCP server, over standard input and output or over HTTP.
Command MakeServeCommand(CLI::App& app);

// `belljar shell`: runs commands in the sandbox, with a terminal.
Command MakeShellCommand(CLI::App& app);

// "belljar 0.1.0 (CPython 3.11.2)".
std::string VersionText();

namespace repl {
// `belljar repl`: an interactive prompt over a live session.
Command MakeReplCommand(CLI::App& app);
}  // namespace repl

namespace validate {
// `belljar validate`: checks files against the language policy without running them.
Command MakeValidateCommand(CLI::App& app);
}  // namespace validate

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_COMMANDS_H_
