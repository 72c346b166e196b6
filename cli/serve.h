// belljar serve: the MCP server, over standard input and output or over HTTP.
#ifndef BELLJAR_CLI_SERVE_H_
#define BELLJAR_CLI_SERVE_H_

#include "cli/option_table.h"

namespace belljar::cli {

Command MakeServeCommand(CLI::App& app);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_SERVE_H_
