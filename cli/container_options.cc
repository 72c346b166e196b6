#include "cli/container_options.h"

#include "cli/console.h"

namespace belljar {
namespace {

// The option that says something of a container, where there is none.
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
          "one wall more: run it in a container of its own, in gVisor where there is one");
  AddChoice(parser, "--runtime", arguments.runtime, {"auto", "runsc", "runc"},
            "what starts the container; runsc: gVisor, a kernel of its own; runc: this machine's "
            "kernel; auto: runsc where there is one");
  AddFlag(parser, "--require-gvisor", arguments.require_gvisor, "rather no run than one in runc");
  AddChoice(parser, "--engine", arguments.engine, {"auto", "docker", "podman", "runsc"},
            "who keeps the container; runsc: nobody else; auto: the first of them that is here");
  AddText(parser, "--engine-socket", arguments.socket, kFileType,
          "where Docker or Podman listens (default: where it usually does)");
  AddText(parser, "--image", arguments.image, "IMAGE",
          "the image to start (default: that of \"belljar image build\" for the profile)");
}

Result<std::optional<ContainerOptions>> ResolveContainer(const ContainerArguments& arguments) {
  if (!arguments.container) {
    if (const char* stray = Stray(arguments)) {
      return UsersError(std::string(stray) + " is about a container: give --container as well");
    }
    return std::optional<ContainerOptions>();
  }
  ContainerOptions options;
  options.wish = {.engine = arguments.engine,
                  .socket = arguments.socket.value_or(""),
                  .runtime = arguments.runtime,
                  .require_gvisor = arguments.require_gvisor,
                  .image = arguments.image.value_or(""),
                  .folder = ""};
  constexpr WishNames kOptions = {.engine = "--engine ",
                                  .socket = "--engine-socket",
                                  .runtime = "--runtime ",
                                  .require_gvisor = "--require-gvisor"};
  if (Result<void> checked = CheckTogether(options.wish, kOptions); !checked)
    return checked.error();
  // A run that is the only one waits for its own container, and keeps no other waiting.
  options.spares = 0;
  options.most = 1;
  return std::optional<ContainerOptions>(std::move(options));
}

}  // namespace belljar
