#include "cli/network_options.h"

#include "cli/console.h"
#include "engine/egress/egress_rules.h"

namespace belljar::cli {

void AddNetworkOptions(CLI::App* parser, NetworkArguments& arguments) {
  AddList(parser, "--allow-domain", arguments.allowed_domains, "DOMAIN",
          "host that the program may reach, with --profile network: example.org, *.example.org, "
          "example.org:8443 (default: none)");
  AddList(
      parser, "--allow-private", arguments.allowed_private, "NETWORK",
      "non-public addresses that the program may reach: 10.1.0.0/16, 127.0.0.1 (default: none)");
  AddList(parser, "--resolve", arguments.resolved, "NAME=ADDRESS",
          "fixed address for a name, instead of a DNS lookup");
}

core::Result<void> ResolveNetwork(const NetworkArguments& arguments,
                                  outside::SandboxOptions& sandbox) {
  host::NetworkPolicy& network = sandbox.network;
  const bool given = arguments.allowed_domains || arguments.allowed_private || arguments.resolved;
  if (given && !sandbox.profile.egress) {
    return UsersError(
        "profile " + sandbox.profile.name +
        " has no network access: --allow-domain and related options require --profile network");
  }
  using Names = std::vector<std::string>;
  network.allowed_domains = arguments.allowed_domains.value_or(Names());
  network.allow_private = arguments.allowed_private.value_or(Names());
  network.resolve = arguments.resolved.value_or(Names());
  core::Result<egress::EgressRules> rules = egress::EgressRules::Make(network);
  if (!rules) return rules.error();
  return {};
}

}  // namespace belljar::cli
