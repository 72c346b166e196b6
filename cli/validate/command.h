// `belljar validate`: checks files against the language policy without running them.
#ifndef BELLJAR_CLI_VALIDATE_COMMAND_H_
#define BELLJAR_CLI_VALIDATE_COMMAND_H_

#include "cli/option_table.h"

namespace belljar::cli::validate {

Command MakeValidateCommand(CLI::App& app);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_COMMAND_H_
