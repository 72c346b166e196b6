// A Sandbox that runs in containers: the engine's facade over ContainerBackend.
//
//   ContainerOptions options{.selection = {.runtime = "runsc"}, .spares = 1};
//   Result<std::unique_ptr<Sandbox>> sandbox = OpenContainerSandbox(sandbox_options, options);
//   Result<Outcome> outcome = (*sandbox)->Run(request);      // outcome->container says which
#ifndef BELLJAR_CONTAINER_BACKEND_CONTAINER_SANDBOX_H_
#define BELLJAR_CONTAINER_BACKEND_CONTAINER_SANDBOX_H_

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
  // Started, waiting containers, each with a loaded interpreter; 0: every run starts its own.
  size_t spares = 1;
  // Maximum number of containers at a time, including waiting ones. A run that needs one more
  // waits, up to its RunOptions::queue_timeout.
  size_t max_containers = 8;
  // For the whole container; nullopt: enough for the profile's largest run (MemoryOfContainer).
  // With less, the kernel ends larger runs with memory_limit.
  std::optional<core::Bytes> memory;
  // The owner's name: Open removes containers with the same name whose owner is dead. Empty: a
  // default for this user and installation.
  std::string instance;
};

// Checks the engine, removes leftovers of an earlier crash, and starts to create spares; returns
// before the first is ready. Only the parts of `sandbox` that concern the guest are used: profile,
// isolation, policy, network.
core::Result<std::unique_ptr<outside::Sandbox>> OpenContainerSandbox(
    outside::SandboxOptions sandbox, ContainerOptions options);

// The same with a choice already made; the selection of `options` is ignored.
core::Result<std::unique_ptr<outside::Sandbox>> OpenContainerSandbox(
    outside::SandboxOptions sandbox, ContainerOptions options, ContainerChoice choice);

}  // namespace belljar::container::backend

#endif  // BELLJAR_CONTAINER_BACKEND_CONTAINER_SANDBOX_H_
