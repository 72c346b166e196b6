// --allow-domain, --allow-private, --resolve: what a program may reach in a profile with network
// access.
#ifndef BELLJAR_CLI_NETWORK_OPTIONS_H_
#define BELLJAR_CLI_NETWORK_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/option_table.h"
#include "engine/core/result.h"
#include "engine/outside/sandbox.h"

namespace belljar::cli {

struct NetworkArguments {
  std::optional<std::vector<std::string>> allowed_domains;
  std::optional<std::vector<std::string>> allowed_private;
  std::optional<std::vector<std::string>> resolved;

  bool names_hosts() const { return allowed_domains.has_value() || allowed_private.has_value(); }
};

void AddNetworkOptions(CLI::App* parser, NetworkArguments& arguments);

// Sets the network of `sandbox`, whose profile is chosen. The user of the command is the operator.
// Errors are user errors.
core::Result<void> ResolveNetwork(const NetworkArguments& arguments,
                                  outside::SandboxOptions& sandbox);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_NETWORK_OPTIONS_H_
