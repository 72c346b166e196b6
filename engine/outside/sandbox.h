// Sandbox: the public facade. One profile, one configuration of the seal, many runs.
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

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/host/network_policy.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/installation/installation.h"
#include "engine/outside/backend.h"
#include "engine/run/run_options.h"
#include "engine/sessions/session.h"

namespace belljar::egress {
class EgressService;
}  // namespace belljar::egress

namespace belljar::outside {

enum class IsolationMode {
  kStrict,    // every layer is required
  kStandard,  // privileges, rlimits, seccomp, and Landlock if available; reports what is missing
};

enum class Language {
  kRestricted,  // the language policy is enforced
  kFull,        // only the kernel layers: an operator's choice, never a caller's
};

struct SandboxOptions {
  core::Profile profile;
  std::optional<installation::Installation> installation;  // nullopt: the running program's
  // JSON: name -> modules of the other profiles, so that a refused import can name one that has it.
  std::string other_profiles = "{}";
  IsolationMode isolation = IsolationMode::kStrict;
  Language language = Language::kRestricted;
  // Layers to omit ("landlock", …), to test that the others hold alone. Shown in every outcome.
  std::vector<std::string> without_layers;
  host::NetworkPolicy network;  // for a profile with an egress proxy
  // If set, `network` is ignored, and a profile with an egress proxy does not need namespaces. For
  // processes that have a network namespace to themselves, as in a container.
  EgressHandler egress_handler;
  // A single run, whose worker is the zygote itself instead of a clone. Uses half the memory and is
  // ready sooner; for callers that open a sandbox per run anyway (run_once.h, container/inside). A
  // second Run fails, and `spares` is ignored.
  bool single_run = false;
  // For a single run: the zygote loads only those modules of the profile whose top-level names are
  // listed here, and what they import. If the program turns out to need another one, Run fails with
  // the operation kStartOver; output up to then may already have reached the sink. nullopt: all are
  // loaded.
  std::optional<std::vector<std::string>> named_modules;
  // Without namespaces: the profile's workspace is already at its path, for this run only, as in a
  // container.
  bool has_workspace = false;
  // For a program that waits for its own children (engine/workers/child_reaper.h).
  bool hides_children = false;
  // While the zygote is still loading a profile with packages, which takes seconds, one run at a
  // time gets a zygote of its own, which loads what the program names (run_once.h).
  bool early_runs = true;
  size_t spares = 4;
  uint64_t rotate_after_workers = 10'000;
};

// Full if the operator's option or the profile says so.
inline Language LanguageOf(const core::Profile& profile, Language chosen) {
  return profile.full_language ? Language::kFull : chosen;
}
inline Language LanguageOf(const SandboxOptions& options) {
  return LanguageOf(options.profile, options.language);
}

inline const char* LanguageName(Language language) {
  return language == Language::kRestricted ? "restricted" : "full";
}

// The layers that must be observed on a worker before it gets a request: those that the mode
// promises, minus those omitted by name. In the order of the seal.
std::vector<std::string> RequiredLayers(const SandboxOptions& options);

// Starts the service for the egress proxies of its runs, configured by `network`. Null if the
// profile has none, or if `egress_handler` is set. An error names the invalid entry.
core::Result<std::unique_ptr<egress::EgressService>> StartEgressService(
    const SandboxOptions& options);

class Sandbox {
 public:
  static core::Result<std::unique_ptr<Sandbox>> Open(SandboxOptions options);
  // A sandbox over another backend, which applies the seal itself; only the profile of `options` is
  // used.
  static std::unique_ptr<Sandbox> Over(SandboxOptions options, std::unique_ptr<Backend> backend);
  ~Sandbox();

  const core::Profile& profile() const { return options_.profile; }

  // Limits above the profile's maximum are an error that names them.
  core::Result<host::Outcome> Run(const host::Request& request,
                                  const run::RunOptions& options = {});

  // Whether Run would not wait for the zygote even though it is still loading its profile.
  bool RunsEarly(const host::Request& request) const;

  // Opens a live, persistent Python (session.h) with these limits. Limits above the profile's
  // maximum are an error that names them. It is closed with the sandbox.
  core::Result<std::shared_ptr<sessions::Session>> OpenSession(
      const sessions::SessionOptions& options, const run::RunOptions& run = {});
  // Runs a cell of one of its sessions, with the same checks as Run.
  core::Result<host::Outcome> RunCell(sessions::Session& session, const host::Request& request,
                                      const run::RunOptions& options = {},
                                      sessions::Patience patience = {});

  // Waits until a worker is ready for the next Run. The error says why there is none; ETIMEDOUT:
  // not yet.
  core::Result<void> WaitForSpare(core::Deadline deadline) {
    return backend_->WaitForSpare(deadline);
  }

  Backend::Counters counters() const { return backend_->counters(); }

 private:
  Sandbox(SandboxOptions options, std::unique_ptr<Backend> backend);
  core::Result<void> CheckLimits(const core::Limits& limits) const;
  core::Result<void> Check(const host::Request& request, const run::RunOptions& options) const;
  void Finish(host::Outcome& outcome) const;
  core::Result<host::Outcome> RunSomewhere(const host::Request& request,
                                           const run::RunOptions& options);

  const SandboxOptions options_;
  std::atomic<bool> is_running_early_ = false;
  const std::unique_ptr<Backend> backend_;
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_SANDBOX_H_
