// `belljar help` and `belljar version`: print the same as --help and --version.
#ifndef BELLJAR_CLI_HELP_H_
#define BELLJAR_CLI_HELP_H_

#include <string>
#include <vector>

#include "cli/option_table.h"

namespace belljar::cli {

// "belljar 0.1.0 (CPython 3.11.2)".
std::string VersionText();

std::vector<Command> MakeHelpCommands(CLI::App& app);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_HELP_H_
