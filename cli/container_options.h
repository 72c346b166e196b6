// --container and related options: the container that a command runs code in.
#ifndef BELLJAR_CLI_CONTAINER_OPTIONS_H_
#define BELLJAR_CLI_CONTAINER_OPTIONS_H_

#include <optional>
#include <string>

#include "cli/option_table.h"
#include "container/backend/container_sandbox.h"
#include "engine/core/result.h"

namespace belljar::cli {

struct ContainerArguments {
  bool container = false;
  std::string runtime = "auto";
  std::string engine = "auto";
  std::optional<std::string> socket;
  std::optional<std::string> image;
  bool require_gvisor = false;
};

void AddContainerOptions(CLI::App* parser, ContainerArguments& arguments);

// For one run; nullopt: without a container. In one, the isolation of `sandbox` becomes standard: a
// container's user may neither mount nor create namespaces, and the container's own isolation takes
// their place. `isolation`: the option --isolation. Errors are user errors.
core::Result<std::optional<container::backend::ContainerOptions>> ResolveContainer(
    const ContainerArguments& arguments, const CLI::Option& isolation,
    outside::SandboxOptions& sandbox);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_CONTAINER_OPTIONS_H_
