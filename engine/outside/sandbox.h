// Sandbox: what everyone else calls. One profile, one way of sealing it, many runs.
//
//   SandboxOptions options;                      // profile "basic", strict, restricted
//   auto sandbox = Sandbox::Open(options);
//   if (!sandbox) return sandbox.error();        // our machine: no namespaces, no profile, …
//   Request request;
//   request.source = "print('hello')\n6 * 7";
//   request.limits = (*sandbox)->profile().default_limits;
//   Result<Outcome> outcome = (*sandbox)->Run(request);   // the guest: ok, exception, timeout, …
//
// Open returns before the first worker is ready; Run waits for one.
#ifndef BELLJAR_ENGINE_OUTSIDE_SANDBOX_H_
#define BELLJAR_ENGINE_OUTSIDE_SANDBOX_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/host/network_policy.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/outside/backend.h"
#include "engine/outside/installation.h"

namespace belljar::egress {
class EgressService;
}  // namespace belljar::egress

namespace belljar::outside {

enum class IsolationMode {
  kStrict,    // every layer, or no run
  kStandard,  // privileges, rlimits, seccomp, and Landlock where there is one; says what is missing
};

enum class Language {
  kRestricted,  // the language policy in force
  kFull,        // the kernel jail alone: an operator's choice, never a caller's
};

struct SandboxOptions {
  core::Profile profile;
  std::optional<Installation> installation;  // nullopt: the running program's
  // Name -> modules of the other profiles: a refused import names the one that has it.
  std::string other_profiles = "{}";
  IsolationMode isolation = IsolationMode::kStrict;
  Language language = Language::kRestricted;
  // Layers to leave out ("landlock", …), for tests that one layer holds without another. Every
  // outcome shows it.
  std::vector<std::string> without_layers;
  host::NetworkPolicy network;  // of a profile with an egress proxy
  // Where there is one, `network` does not count, and a profile with an egress proxy needs no
  // namespaces: for whoever has a network namespace for himself alone, as in a container.
  EgressKeeper egress_keeper;
  // One run in all, whose worker is no clone but the zygote itself: half the memory, for whoever
  // opens a sandbox per run anyway (container/inside). A second Run fails. `spares` counts for
  // nothing then.
  bool single_run = false;
  // For a program that waits for children of its own (engine/core/child_reaper.h).
  bool hides_children = false;
  size_t spares = 4;
  uint64_t rotate_after_workers = 10'000;
};

// The layers that must be seen on a worker before it gets a request: what the mode promises, less
// what was left out by name. In the order of the seal.
std::vector<std::string> RequiredLayers(const SandboxOptions& options);

// What serves the egress proxies of its runs, by `network`. Null where the profile has none, or
// somebody else keeps it. An error names the entry that is wrong.
core::Result<std::unique_ptr<egress::EgressService>> StartEgressService(
    const SandboxOptions& options);

class Sandbox {
 public:
  static core::Result<std::unique_ptr<Sandbox>> Open(SandboxOptions options);
  // The same over another backend, which seals by itself: of `options` its profile counts here.
  static std::unique_ptr<Sandbox> Over(SandboxOptions options, std::unique_ptr<Backend> backend);
  ~Sandbox();

  const core::Profile& profile() const { return options_.profile; }

  // Limits above the profile's maximum are an error that names them.
  core::Result<host::Outcome> Run(const host::Request& request, const RunOptions& options = {});

  // Until the next Run will find its worker waiting; the error says why there is none, ETIMEDOUT
  // that there is none yet.
  core::Result<void> WaitForSpare(core::Deadline deadline) {
    return backend_->WaitForSpare(deadline);
  }

  Backend::Counters counters() const { return backend_->counters(); }

 private:
  Sandbox(SandboxOptions options, std::unique_ptr<Backend> backend);
  core::Result<void> Check(const host::Request& request) const;

  const SandboxOptions options_;
  const std::unique_ptr<Backend> backend_;
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_SANDBOX_H_
