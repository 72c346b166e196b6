// SandboxOptions: what one sandbox is for: its profile, its configuration of the seal, and where
// its workers come from.
#ifndef BELLJAR_ENGINE_OUTSIDE_SANDBOX_OPTIONS_H_
#define BELLJAR_ENGINE_OUTSIDE_SANDBOX_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/host/network_policy.h"
#include "engine/installation/installation.h"

namespace belljar::egress {
class EgressService;
}  // namespace belljar::egress

namespace belljar::outside {

enum class IsolationMode {
  kStrict,    // every layer is required
  kStandard,  // privileges, rlimits, seccomp, and Landlock if available; reports what is missing
};

// The language policy.
enum class Policy {
  kOn,
  kOff,  // only the kernel layers: an operator's choice, never a caller's
};

// Takes over the connections to a worker's egress proxy for one run, instead of this process's own
// proxy. Called before the guest runs; if it fails, the run fails. An empty `listener` means that
// the workers are in this process's network namespace, and its listener is already there.
using EgressHandler = std::function<core::Result<void>(core::UniqueFd listener)>;

struct SandboxOptions {
  core::Profile profile;
  std::optional<installation::Installation> installation;  // nullopt: the running program's
  // JSON: name -> modules of the other profiles, so that a refused import can name one that has it.
  std::string other_profiles = "{}";
  IsolationMode isolation = IsolationMode::kStrict;
  Policy policy = Policy::kOn;
  // Layers to omit ("landlock", …), to test that the others hold alone. Shown in every outcome.
  std::vector<std::string> without_layers;
  host::NetworkPolicy network;  // for a profile with an egress proxy
  // If set, `network` is ignored, and a profile with an egress proxy does not need namespaces. For
  // processes that have a network namespace to themselves, as in a container.
  EgressHandler egress_handler;
  // Without namespaces: the profile's workspace is already at its path, for this run only, as in a
  // container.
  bool has_workspace = false;
  // Without namespaces: all processes of this PID namespace but this one and the first belong to
  // the run, as in a container. They are killed with it. Programs of other languages require it.
  bool owns_pid_namespace = false;
  // For a program that waits for its own children (engine/workers/child_reaper.h).
  bool hides_children = false;

  // The rest says where workers come from (start_plan.h).

  // Its zygote becomes the only worker instead of being cloned. Uses half the memory and is ready
  // sooner; for callers that know that there will be one run, but not yet which (container/inside).
  // A second Run fails, and `spares` is ignored.
  bool single_run = false;
  // While the zygote is still loading a profile with packages, which takes seconds, one run at a
  // time gets a zygote of its own.
  bool early_runs = true;
  size_t spares = 4;
  uint64_t rotate_after_workers = 10'000;
};

// Off if the operator's option or the profile says so, and for other languages than Python.
inline Policy PolicyOf(const core::Profile& profile, Policy chosen) {
  return profile.without_policy || profile.program ? Policy::kOff : chosen;
}
inline Policy PolicyOf(const SandboxOptions& options) {
  return PolicyOf(options.profile, options.policy);
}

inline const char* PolicyName(Policy policy) { return policy == Policy::kOn ? "on" : "off"; }

inline const char* ModeName(IsolationMode mode) {
  return mode == IsolationMode::kStrict ? "strict" : "standard";
}

// The layers that must be observed on a worker before it gets a request: those that the mode
// promises, minus those omitted by name. In the order of the seal.
std::vector<std::string> RequiredLayers(const SandboxOptions& options);

// Starts the service for the egress proxies of its runs, configured by `network`. Null if the
// profile has none, or if `egress_handler` is set. An error names the invalid entry.
core::Result<std::unique_ptr<egress::EgressService>> StartEgressService(
    const SandboxOptions& options);

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_SANDBOX_OPTIONS_H_
