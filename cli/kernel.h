// `belljar kernel`: adds the Jupyter kernel of the Python package to Jupyter, and removes it.
#ifndef BELLJAR_CLI_KERNEL_H_
#define BELLJAR_CLI_KERNEL_H_

#include <vector>

#include "cli/option_table.h"

namespace belljar::cli {

// kernel, kernel install and kernel uninstall. The work is done by `python -m belljar.kernel`,
// which this process becomes.
std::vector<Command> MakeKernelCommands(CLI::App& app);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_KERNEL_H_
