#include "cli/container_options.h"

#include <CLI/CLI.hpp>

#include "cli/console.h"

namespace belljar::cli {
namespace {

// An option that requires --container, given without it.
const char* Stray(const ContainerArguments& arguments) {
  if (arguments.runtime != "auto") return "--runtime";
  if (arguments.engine != "auto") return "--engine";
  if (arguments.socket) return "--engine-socket";
  if (arguments.image) return "--image";
  return arguments.require_gvisor ? "--require-gvisor" : nullptr;
}

}  // namespace

void AddContainerOptions(CLI::App* parser, ContainerArguments& arguments) {
  AddFlag(parser, "--container", arguments.container,
          "also run it in a separate container, under gVisor if available");
  AddChoice(parser, "--runtime", arguments.runtime, {"auto", "runsc", "runc"},
            "container runtime; runsc: gVisor, a separate kernel; runc: this machine's kernel; "
            "auto: runsc if available");
  AddFlag(parser, "--require-gvisor", arguments.require_gvisor, "refuse to run without gVisor");
  AddChoice(parser, "--engine", arguments.engine, {"auto", "docker", "podman", "runsc"},
            "container engine (runsc needs no daemon); auto: the first one available");
  AddText(parser, "--engine-socket", arguments.socket, kFileType,
          "socket of Docker or Podman (default: the engine's standard path)");
  AddText(parser, "--image", arguments.image, "IMAGE",
          "image to start (default: the one built by \"belljar image build\" for the profile)");
}

core::Result<std::optional<container::backend::ContainerOptions>> ResolveContainer(
    const ContainerArguments& arguments, const CLI::Option& isolation,
    outside::SandboxOptions& sandbox) {
  if (!arguments.container) {
    if (const char* stray = Stray(arguments)) {
      return UsersError(std::string(stray) + " requires --container");
    }
    return std::optional<container::backend::ContainerOptions>();
  }
  if (isolation.count() > 0 && sandbox.isolation == outside::IsolationMode::kStrict) {
    return UsersError(
        "--isolation strict cannot be combined with --container: in a container, the engine's "
        "isolation replaces Belljar's namespaces (--isolation standard); omit it");
  }
  container::backend::ContainerOptions options;
  options.selection = {.engine = arguments.engine,
                       .socket = arguments.socket.value_or(""),
                       .runtime = arguments.runtime,
                       .require_gvisor = arguments.require_gvisor,
                       .image = arguments.image.value_or(""),
                       .folder = ""};
  constexpr container::backend::SelectionNames kOptions = {.engine = "--engine ",
                                                           .socket = "--engine-socket",
                                                           .runtime = "--runtime ",
                                                           .require_gvisor = "--require-gvisor"};
  if (core::Result<void> checked = container::backend::CheckTogether(options.selection, kOptions);
      !checked)
    return checked.error();
  // A single run starts its own container and needs no warm ones.
  options.spares = 0;
  options.max_containers = 1;
  sandbox.isolation = outside::IsolationMode::kStandard;
  return std::optional<container::backend::ContainerOptions>(std::move(options));
}

}  // namespace belljar::cli
