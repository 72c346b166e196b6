// belljar config: shows the effective settings of the server and their sources.
#ifndef BELLJAR_CLI_CONFIG_H_
#define BELLJAR_CLI_CONFIG_H_

#include "cli/option_table.h"

namespace belljar::cli {

Command MakeConfigCommand(CLI::App& app);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_CONFIG_H_
