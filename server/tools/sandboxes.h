// Sandboxes: the enabled profiles of a server, each with its sandbox and what the operator has set
// for it. One for the whole server; the tools share it.
//
//   auto sandboxes = Sandboxes::Open(config.execution, catalogue);
//   if (!sandboxes) return sandboxes.error();               // the operator's to correct
//   Result<const EnabledProfile*> profile = (*sandboxes)->Choose(nullptr, caller);
//   Result<std::shared_ptr<Sandbox>> sandbox = (*sandboxes)->Get(**profile);
//
// Open starts the zygote of the default profile; the others start when they are first used. A call
// may also name several with "+" between them. Of such combinations the operator's number is kept
// started: where one more is wanted, the one that has not been used for longest is closed, when the
// last call in it is over.
#ifndef BELLJAR_SERVER_TOOLS_SANDBOXES_H_
#define BELLJAR_SERVER_TOOLS_SANDBOXES_H_

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/limits.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/outside/profile_catalogue.h"
#include "engine/outside/sandbox.h"
#include "server/core/caller.h"
#include "server/core/config.h"
#include "server/tools/call_packages.h"
#include "server/tools/containers.h"

namespace belljar::server::tools {

using ModuleList = std::vector<std::string>;

// A profile that calls may name, as the operator has set it up.
struct EnabledProfile {
  core::Profile profile;
  core::Limits limits;                // of calls that ask for none
  std::optional<ModuleList> modules;  // the operator's choice among the profile's; nullopt: all
};

class Sandboxes {
 public:
  static core::Result<std::unique_ptr<Sandboxes>> Open(const ExecutionConfig& config,
                                                       const outside::ProfileCatalogue& catalogue,
                                                       const ContainerConfig& container = {},
                                                       const PackagesConfig& packages = {});
  ~Sandboxes();

  // In the operator's order.
  const std::vector<EnabledProfile>& enabled() const { return enabled_; }
  const std::vector<core::Profile>& installed() const { return catalogue_.profiles(); }
  const EnabledProfile& default_profile() const { return enabled_[default_]; }
  // Names of the combinations of enabled profiles that calls may name; none where there would be
  // too many to list, though calls may name them.
  const std::vector<std::string>& combinations() const { return combinations_; }
  // Which hosts those profiles may reach that have a network.
  const host::NetworkPolicy& network() const { return config_.network; }
  outside::IsolationMode isolation() const { return isolation_; }
  outside::Language language() const { return language_; }

  // The profile of a call: of this name, with hyphens or underscores, several with "+" between
  // them; where it is null the default one, or the first that the caller may use. Valid for good.
  // An error is the caller's and says what there is.
  core::Result<const EnabledProfile*> Choose(const std::string* name, const Caller& caller);
  // Several are permitted by their own name, or where each of them is.
  static bool Permits(const Caller& caller, const std::string& profile);
  // A sentence on why the caller cannot name this profile of the installation, and who can change
  // that; empty where it can, or where there is none of that name.
  std::string WhyNot(const std::string& profile, const Caller& caller) const;

  // `profile` is one that Choose gave. Any thread; starts it where nobody has. An error is our
  // machine's; the next call tries again.
  core::Result<std::shared_ptr<outside::Sandbox>> Get(const EnabledProfile& profile);

  // The same in containers.
  Containers& containers() { return containers_; }
  const Containers& containers() const { return containers_; }

  // What runs in those may be given besides.
  CallPackages& packages() { return packages_; }
  const CallPackages& packages() const { return packages_; }
  // Whether a call may ask for any: it needs the container around them, and a name that it may say.
  bool gives_packages() const;

  // What metrics show; only of those that have been started.
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
  struct Combination {
    EnabledProfile enabled;
    Slot slot;
  };

  Sandboxes(const ExecutionConfig& config, const outside::ProfileCatalogue& catalogue,
            const ContainerConfig& container, const PackagesConfig& packages);
  core::Result<void> Enable();
  core::Result<void> EnableOne(const std::string& name);
  core::Result<EnabledProfile> SetUp(core::Profile profile) const;
  void ListCombinations();

  const EnabledProfile* FindEnabled(const std::string& name) const;
  core::Result<const EnabledProfile*> ChooseUnnamed(const Caller& caller) const;
  core::Result<const EnabledProfile*> Combine(const std::string& name);
  std::string NotEnabled(const std::string& name) const;
  core::Error NotPermitted(const std::string& name, const Caller& caller) const;

  outside::SandboxOptions OptionsOf(const core::Profile& profile) const;
  core::Result<std::shared_ptr<outside::Sandbox>> Start(Slot& slot,
                                                        const EnabledProfile& profile) const;
  Combination& Use(const EnabledProfile& profile, Combination*& closed);

  const ExecutionConfig config_;
  const outside::ProfileCatalogue catalogue_;
  const outside::IsolationMode isolation_;
  const outside::Language language_;
  std::vector<EnabledProfile> enabled_;
  std::vector<std::unique_ptr<Slot>> slots_;  // of enabled_, in its order
  size_t default_ = 0;
  std::vector<std::string> combinations_;

  mutable std::mutex combined_mutex_;
  // By name; each that was ever named stays, for those who hold its profile. Its sandbox may not.
  std::map<std::string, std::unique_ptr<Combination>> combined_;
  std::list<Combination*> started_;  // the one used last in front

  Containers containers_;
  CallPackages packages_;
};

// The profile's modules that `asked` gives: those it names, what is below them, and the packages
// that hold them. This is how the language policy reads such a list.
ModuleList GivenModules(const core::Profile& profile, const ModuleList& requested);

// A list for the policy that gives what both lists give, and no more.
ModuleList Intersection(const core::Profile& profile, const ModuleList& one,
                        const ModuleList& other);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_SANDBOXES_H_
