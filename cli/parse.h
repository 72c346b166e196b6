// Parses the arguments: into a command that is ready to run, or an exit code.
#ifndef BELLJAR_CLI_PARSE_H_
#define BELLJAR_CLI_PARSE_H_

#include <string>
#include <variant>
#include <vector>

#include "cli/option_table.h"

namespace belljar::cli {

// Configures `app` for Parse. Call it before the commands are added.
void PrepareParser(CLI::App& app);

// The selected command, or an exit code if there is nothing left to run: help, the version or a
// usage error has been printed. Never throws.
std::variant<const Command*, int> Parse(CLI::App& app, const std::vector<Command>& commands,
                                        const std::vector<std::string>& arguments);

// Prints the help of the command with these names, such as {"image", "build"}; of `app` itself if
// there are none. Returns the exit code.
int PrintHelp(const CLI::App& app, const std::vector<std::string>& names);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_PARSE_H_
