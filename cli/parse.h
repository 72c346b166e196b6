// From the argument vector to one command that is ready to run, or to an exit code.
#ifndef BELLJAR_CLI_PARSE_H_
#define BELLJAR_CLI_PARSE_H_

#include <string>
#include <variant>
#include <vector>

#include "cli/option_table.h"

namespace belljar::cli {

// Settings of `app` that the parsing below relies on. Call it before the commands are added.
void PrepareParser(CLI::App& app);

// The command that was asked for. An int: there is nothing left to run, since help or the version
// has been printed, or a usage error said. Never throws, whatever the arguments.
std::variant<const Command*, int> Parse(CLI::App& app, const std::vector<Command>& commands,
                                        const std::vector<std::string>& arguments);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_PARSE_H_
