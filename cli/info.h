// `belljar info`: shows what this installation provides.
#ifndef BELLJAR_CLI_INFO_H_
#define BELLJAR_CLI_INFO_H_

#include "cli/option_table.h"

namespace belljar::cli {

Command MakeInfoCommand(CLI::App& app);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_INFO_H_
