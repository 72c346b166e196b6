// `belljar audit`: shows, searches, verifies and exports the audit log of a server.
#ifndef BELLJAR_CLI_AUDIT_H_
#define BELLJAR_CLI_AUDIT_H_

#include <vector>

#include "cli/option_table.h"

namespace belljar::cli {

std::vector<Command> MakeAuditCommands(CLI::App& app);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_AUDIT_H_
