// Sandboxes: the enabled profiles of a server, each with its sandbox and what the operator has set
// for it. One for the whole server; the tools share it.
//
//   auto sandboxes = Sandboxes::Open(config.execution, catalogue);
//   if (!sandboxes) return sandboxes.error();               // the operator's to correct
//   Result<const EnabledProfile*> profile = (*sandboxes)->Choose(nullptr, caller);
//   Result<Sandbox*> sandbox = (*sandboxes)->Get(**profile);
//
// Open starts the zygote of the default profile; the others start when they are first used.
#ifndef BELLJAR_SERVER_TOOLS_SANDBOXES_H_
#define BELLJAR_SERVER_TOOLS_SANDBOXES_H_

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

namespace belljar {

using ModuleList = std::vector<std::string>;

// A profile that calls may name, as the operator has set it up.
struct EnabledProfile {
  Profile profile;
  Limits limits;                      // of calls that ask for none
  std::optional<ModuleList> modules;  // the operator's choice among the profile's; nullopt: all
};

class Sandboxes {
 public:
  static Result<std::unique_ptr<Sandboxes>> Open(const ExecutionConfig& config,
                                                 const ProfileCatalogue& catalogue);
  ~Sandboxes();

  // In the operator's order.
  const std::vector<EnabledProfile>& enabled() const { return enabled_; }
  const std::vector<Profile>& installed() const { return installed_; }
  const EnabledProfile& default_profile() const { return enabled_[default_]; }
  IsolationMode isolation() const { return isolation_; }
  Language language() const { return language_; }

  // The profile of a call: of this name, with hyphens or underscores; where it is null the default
  // one, or the first that the caller may use. An error is the caller's and says what there is.
  Result<const EnabledProfile*> Choose(const std::string* name, const Caller& caller) const;
  static bool Permits(const Caller& caller, const Profile& profile);

  // `profile` is one of enabled(). Any thread; starts it where nobody has. An error is our
  // machine's; the next call tries again.
  Result<Sandbox*> Get(const EnabledProfile& profile);

  // What metrics show; only of those that have been started.
  struct Counted {
    std::string profile;
    SparePool::Counters counters;
  };
  std::vector<Counted> counters() const;

 private:
  struct Slot {
    mutable std::mutex mutex;
    std::unique_ptr<Sandbox> sandbox;
  };

  Sandboxes(const ExecutionConfig& config, std::vector<Profile> installed);
  Result<void> Enable(const ExecutionConfig& config, const ProfileCatalogue& catalogue);
  Result<void> EnableOne(const std::string& name, const ExecutionConfig& config,
                         const ProfileCatalogue& catalogue);
  std::string NotEnabled(const std::string& name) const;

  const IsolationMode isolation_;
  const Language language_;
  const size_t spares_;
  const NetworkPolicy network_;
  const std::vector<Profile> installed_;
  std::vector<EnabledProfile> enabled_;
  std::vector<std::unique_ptr<Slot>> slots_;  // of enabled_, in its order
  size_t default_ = 0;
};

// The profile's modules that `asked` gives: those it names, what is below them, and the packages
// that hold them. This is how the language policy reads such a list.
ModuleList GivenModules(const Profile& profile, const ModuleList& asked);

// A list for the policy that gives what both lists give, and no more.
ModuleList Intersection(const Profile& profile, const ModuleList& one, const ModuleList& other);

}  // namespace belljar

#endif  // BELLJAR_SERVER_TOOLS_SANDBOXES_H_
