// A Sandbox whose runs are in containers: the engine's facade over ContainerBackend.
//
//   ContainerOptions options{.selection = {.runtime = "runsc"}, .spares = 1};
//   Result<std::unique_ptr<Sandbox>> sandbox = OpenContainerSandbox(sandbox_options, options);
//   Result<Outcome> outcome = (*sandbox)->Run(request);      // outcome->container says which
#ifndef BELLJAR_CONTAINER_BACKEND_CONTAINER_SANDBOX_H_
#define BELLJAR_CONTAINER_BACKEND_CONTAINER_SANDBOX_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "container/backend/container_choice.h"
#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "engine/outside/sandbox.h"

namespace belljar::container::backend {

struct ContainerOptions {
  ContainerSelection selection;
  // Started containers that wait, each with a loaded interpreter; 0: every run starts its own.
  size_t spares = 1;
  // Containers that there may be at the same time, those that wait included; a run that would need
  // one more waits, as long as its RunOptions::queue_timeout lets it.
  size_t max_containers = 8;
  // Of everything in one container; nullopt: what the profile's largest run needs
  // (MemoryOfContainer). With less the kernel ends larger runs, as memory_limit.
  std::optional<core::Bytes> memory;
  // Whose containers these are: of those with the same name whose owner is no more, Open removes
  // all. Empty: one for this user and installation.
  std::string instance;
};

// Asks the engine, removes what an earlier crash has left, and begins to start spares; returns
// before the first is ready. Of `sandbox` counts what the guest does: profile, isolation, language,
// network.
core::Result<std::unique_ptr<outside::Sandbox>> OpenContainerSandbox(
    outside::SandboxOptions sandbox, ContainerOptions options);

// The same where it has been chosen already; the selection of `options` is not looked at.
core::Result<std::unique_ptr<outside::Sandbox>> OpenContainerSandbox(
    outside::SandboxOptions sandbox, ContainerOptions options, ContainerChoice choice);

}  // namespace belljar::container::backend

#endif  // BELLJAR_CONTAINER_BACKEND_CONTAINER_SANDBOX_H_
