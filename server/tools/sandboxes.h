// Sandboxes: the enabled profiles of a server, each with its sandbox and the operator's settings.
// One instance per server, shared by the tools.
//
//   auto sandboxes = Sandboxes::Open(config.execution, catalogue);
//   if (!sandboxes) return sandboxes.error();               // operator error
//   Result<const EnabledProfile*> profile = (*sandboxes)->Choose(nullptr, caller);
//   Result<std::shared_ptr<Sandbox>> sandbox = (*sandboxes)->Get(**profile);
//
// Open starts the zygote of the default profile; the others start on first use. A call may also
// combine several profiles with "+". The operator sets how many combinations are kept warm: when
// another one is needed, the least recently used is closed after its last call.
#ifndef BELLJAR_SERVER_TOOLS_SANDBOXES_H_
#define BELLJAR_SERVER_TOOLS_SANDBOXES_H_

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/limits.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/outside/sandbox.h"
#include "engine/profiles/profile_catalogue.h"
#include "engine/profiles/unnamed_profile.h"
#include "server/core/caller.h"
#include "server/core/config.h"
#include "server/tools/call_packages.h"
#include "server/tools/containers.h"

namespace belljar::server::tools {

using ModuleList = std::vector<std::string>;

// A profile that calls may name, as configured by the operator.
struct EnabledProfile {
  core::Profile profile;
  core::Limits limits;  // for calls that request none
  std::optional<ModuleList>
      modules;  // modules of the profile allowed by the operator; nullopt: all
};

class Sandboxes {
 public:
  static core::Result<std::unique_ptr<Sandboxes>> Open(const ExecutionConfig& config,
                                                       const profiles::ProfileCatalogue& catalogue,
                                                       const ContainerConfig& container = {},
                                                       const PackagesConfig& packages = {});
  ~Sandboxes();

  // In the operator's order.
  const std::vector<EnabledProfile>& enabled() const { return enabled_; }
  // The names of the languages besides Python, likewise. Their programs have no language policy.
  const std::vector<std::string>& languages() const { return languages_; }
  // The same, as set up, in the same order; and the version that this machine has, which takes the
  // time of a run.
  std::vector<const EnabledProfile*> enabled_languages() const;
  std::string VersionOf(const EnabledProfile& language) const;
  const std::vector<core::Profile>& installed() const { return catalogue_.profiles(); }
  const EnabledProfile& default_profile() const { return enabled_[default_]; }
  // Names of the combinations of enabled profiles that calls may name. Empty if there are too many
  // to list, although calls may still name them.
  const std::vector<std::string>& combinations() const { return combinations_; }
  // The hosts that profiles with network access may reach.
  const host::NetworkPolicy& network() const { return config_.network; }
  outside::IsolationMode isolation() const { return isolation_; }
  // The language policy, and that of a profile, which may turn it off.
  outside::Policy policy() const { return policy_; }
  outside::Policy PolicyOf(const EnabledProfile& profile) const;

  // The profile of a call. `name` has hyphens or underscores and may combine several profiles with
  // "+"; null: the default profile, or else the first that the caller may use. The result stays
  // valid. An error is the caller's and lists what is available.
  core::Result<const EnabledProfile*> Choose(const std::string* name, const Caller& caller);
  // The profile of a call that names none (engine/profiles/unnamed_profile.h).
  core::Result<const EnabledProfile*> ChooseFor(const profiles::ProgramNeeds& needs,
                                                const Caller& caller);
  // The language of a call, by a name or an alias, which a token's list of profiles must have if
  // there is one. `network`: with that of the profile network. Null: Python. An error is the
  // caller's.
  core::Result<const EnabledProfile*> ChooseLanguage(const std::string& name, bool network,
                                                     const Caller& caller) const;
  // A combination is permitted by its own name, or if each part is permitted.
  static bool Permits(const Caller& caller, const std::string& profile);
  // A sentence on why the caller cannot use this installed profile, and who can change that. Empty
  // if the caller can use it, or if there is no such profile.
  std::string WhyNot(const std::string& profile, const Caller& caller) const;

  // `profile` comes from Choose. Any thread; starts the sandbox on first use. An error is a problem
  // of this machine; the next call retries.
  core::Result<std::shared_ptr<outside::Sandbox>> Get(const EnabledProfile& profile);

  // Sandboxes in containers.
  Containers& containers() { return containers_; }
  const Containers& containers() const { return containers_; }

  // Packages for runs in containers.
  CallPackages& packages() { return packages_; }
  const CallPackages& packages() const { return packages_; }
  // Whether calls may request packages: containers must be enabled and some names allowed.
  bool gives_packages() const;

  // For metrics; only for sandboxes that have been started.
  struct Counted {
    std::string profile;
    outside::Backend::Counters counters;
  };
  std::vector<Counted> counters() const;

 private:
  struct Slot {
    mutable std::mutex mutex;
    std::shared_ptr<outside::Sandbox> sandbox;
  };
  // A profile with its sandbox: a combination, or a language.
  struct Combination {
    EnabledProfile enabled;
    Slot slot;
  };

  struct Language {
    std::unique_ptr<Combination> alone;
    std::unique_ptr<Combination> connected;  // null: no profile has a network
  };

  Sandboxes(const ExecutionConfig& config, const profiles::ProfileCatalogue& catalogue,
            const ContainerConfig& container, const PackagesConfig& packages);
  core::Result<void> Enable();
  core::Result<void> EnableOne(const std::string& name);
  core::Result<void> EnableLanguages();
  core::Result<EnabledProfile> SetUp(core::Profile profile) const;
  void ListCombinations();

  const EnabledProfile* FindEnabled(const std::string& name) const;
  core::Result<const EnabledProfile*> ChooseBase(const Caller& caller);
  core::Result<const EnabledProfile*> Combine(const std::string& name);
  std::string NotEnabled(const std::string& name) const;
  core::Error NotPermitted(const std::string& name, const Caller& caller) const;

  outside::SandboxOptions OptionsOf(const core::Profile& profile) const;
  core::Result<std::shared_ptr<outside::Sandbox>> Start(Slot& slot,
                                                        const EnabledProfile& profile) const;
  Combination& Use(const EnabledProfile& profile, Combination*& closed);

  const ExecutionConfig config_;
  const profiles::ProfileCatalogue catalogue_;
  const outside::IsolationMode isolation_;
  const outside::Policy policy_;
  std::vector<EnabledProfile> enabled_;
  std::vector<std::unique_ptr<Slot>> slots_;  // parallel to enabled_
  size_t default_ = 0;
  std::vector<std::string> languages_;
  std::vector<Language> of_languages_;  // parallel
  std::vector<std::string> combinations_;

  mutable std::mutex combined_mutex_;
  // By name. Entries are never removed, since callers hold their profiles; their sandboxes may be
  // closed.
  std::map<std::string, std::unique_ptr<Combination>> combined_;
  std::list<Combination*> started_;  // most recently used first

  Containers containers_;
  CallPackages packages_;
};

// The profile's modules that `requested` allows: the named modules, their submodules and their
// parent packages. The language policy interprets such lists in the same way.
ModuleList GivenModules(const core::Profile& profile, const ModuleList& requested);

// A list for the policy that allows exactly what both lists allow.
ModuleList Intersection(const core::Profile& profile, const ModuleList& one,
                        const ModuleList& other);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_SANDBOXES_H_
