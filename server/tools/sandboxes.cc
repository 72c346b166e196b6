#include "server/tools/sandboxes.h"

#include <algorithm>

#include "engine/core/suggest.h"
#include "engine/core/text.h"
#include "profiles/loader.h"
#include "server/tools/tiers.h"

namespace belljar {
namespace {

bool Contains(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// As catalogues know it: a name with hyphens, or the path of a file as it is.
std::string Canonical(const std::string& name_or_file) {
  const bool is_file =
      name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".toml");
  return is_file ? name_or_file : ProfileName(name_or_file);
}

bool IsBelow(const std::string& name, const std::string& package) {
  return name.size() > package.size() && name.starts_with(package) && name[package.size()] == '.';
}

// What an operator has set for every call has to be within each profile.
Result<Limits> UsualLimits(const ExecutionConfig& config, const Profile& profile) {
  const Limits& most = profile.maximum_limits;
  const auto over = [&](const char* setting, const std::string& value, const std::string& maximum) {
    return MakeError("enable profile " + profile.name, std::string(setting) + " of " + value +
                                                           " is over the profile's maximum of " +
                                                           maximum + "; lower it");
  };
  if (config.timeout && *config.timeout > most.timeout) {
    return over("the timeout", FormatDuration(*config.timeout), FormatDuration(most.timeout));
  }
  if (config.memory && *config.memory > most.memory) {
    return over("the memory limit", config.memory->ToString(), most.memory.ToString());
  }
  if (config.output && *config.output > most.output) {
    return over("the output limit", config.output->ToString(), most.output.ToString());
  }
  return WithAsked(profile.default_limits, most,
                   {config.timeout, std::nullopt, config.memory, config.output});
}

// An operator's list is for all profiles: each module has to be in one of them.
Result<void> CheckImports(const ExecutionConfig& config,
                          const std::vector<EnabledProfile>& enabled) {
  if (!config.allowed_imports) return {};
  if (config.language == "full") {
    return MakeError("narrow the imports",
                     "the list of allowed imports narrows the language policy, and the language "
                     "\"full\" has none; drop one of the two");
  }
  std::vector<std::string> known;
  for (const EnabledProfile& each : enabled) {
    for (const ModuleExports& module : each.profile.modules) known.push_back(module.name);
  }
  for (const std::string& module : *config.allowed_imports) {
    const bool found = std::any_of(known.begin(), known.end(), [&](const std::string& name) {
      return name == module || IsBelow(name, module);
    });
    if (found) continue;
    return MakeError("narrow the imports", "no enabled profile has a module " + Quoted(module) +
                                               Suggestion(module, known));
  }
  return {};
}

}  // namespace

ModuleList GivenModules(const Profile& profile, const ModuleList& asked) {
  ModuleList given;
  for (const ModuleExports& module : profile.modules) {
    const bool is_given = std::any_of(asked.begin(), asked.end(), [&](const std::string& name) {
      return name == module.name || IsBelow(module.name, name) || IsBelow(name, module.name);
    });
    if (is_given) given.push_back(module.name);
  }
  return given;
}

ModuleList Intersection(const Profile& profile, const ModuleList& one, const ModuleList& other) {
  const ModuleList ours = GivenModules(profile, one);
  const ModuleList theirs = GivenModules(profile, other);
  ModuleList both;
  for (const std::string& name : ours) {
    if (Contains(theirs, name)) both.push_back(name);
  }
  // A package that is only there for one of its parts would bring all the others in again.
  ModuleList narrow;
  for (const std::string& name : both) {
    const bool is_whole = std::all_of(
        profile.modules.begin(), profile.modules.end(), [&](const ModuleExports& module) {
          return !IsBelow(module.name, name) || Contains(both, module.name);
        });
    if (is_whole) narrow.push_back(name);
  }
  return narrow;
}

Sandboxes::Sandboxes(const ExecutionConfig& config, std::vector<Profile> installed)
    : isolation_(config.isolation == "standard" ? IsolationMode::kStandard
                                                : IsolationMode::kStrict),
      language_(config.language == "full" ? Language::kFull : Language::kRestricted),
      spares_(config.spares),
      network_(config.network),
      installed_(std::move(installed)) {}

Sandboxes::~Sandboxes() = default;

Result<std::unique_ptr<Sandboxes>> Sandboxes::Open(const ExecutionConfig& config,
                                                   const ProfileCatalogue& catalogue) {
  std::unique_ptr<Sandboxes> sandboxes(new Sandboxes(config, catalogue.profiles()));
  if (Result<void> enabled = sandboxes->Enable(config, catalogue); !enabled) {
    return enabled.error();
  }
  Result<Sandbox*> first = sandboxes->Get(sandboxes->default_profile());
  if (!first) return first.error();
  return sandboxes;
}

Result<void> Sandboxes::Enable(const ExecutionConfig& config, const ProfileCatalogue& catalogue) {
  std::vector<std::string> names;
  for (const std::string& name : config.profiles) names.push_back(Canonical(name));
  const std::string usual = Canonical(config.profile);
  if (!Contains(names, usual)) names.push_back(usual);
  for (const std::string& name : names) {
    if (Result<void> one = EnableOne(name, config, catalogue); !one) return one;
    if (name == usual) default_ = enabled_.size() - 1;
  }
  return CheckImports(config, enabled_);
}

Result<void> Sandboxes::EnableOne(const std::string& name, const ExecutionConfig& config,
                                  const ProfileCatalogue& catalogue) {
  Result<Profile> profile = catalogue.Choose(name);
  if (!profile) {
    if (!FindTier(name)) return profile.error();
    return MakeError("enable profile " + name, "this version of Belljar does not have it; it has " +
                                                   Joined(catalogue.Names()) +
                                                   ". Take it out of the settings");
  }
  for (const EnabledProfile& other : enabled_) {
    if (ProfileName(other.profile.name) != ProfileName(profile->name)) continue;
    return MakeError("enable profile " + Quoted(name),
                     "there is an enabled profile " + profile->name + " already");
  }
  Result<Limits> limits = UsualLimits(config, *profile);
  if (!limits) return limits.error();
  EnabledProfile enabled{std::move(*profile), *limits, std::nullopt};
  if (config.allowed_imports) {
    const ModuleList& asked = *config.allowed_imports;
    enabled.modules = Intersection(enabled.profile, asked, asked);
  }
  enabled_.push_back(std::move(enabled));
  slots_.push_back(std::make_unique<Slot>());
  return {};
}

bool Sandboxes::Permits(const Caller& caller, const Profile& profile) {
  if (!caller.profiles) return true;
  return std::any_of(
      caller.profiles->begin(), caller.profiles->end(),
      [&](const std::string& name) { return ProfileName(name) == ProfileName(profile.name); });
}

std::string Sandboxes::NotEnabled(const std::string& name) const {
  std::vector<std::string> names;
  for (const EnabledProfile& each : enabled_) names.push_back(each.profile.name);
  const std::string rest = " (enabled: " + Joined(names) + ")";
  const Tier* tier = FindTier(name);
  const bool is_installed = std::any_of(installed_.begin(), installed_.end(),
                                        [&](const Profile& each) { return each.name == name; });
  if (!is_installed && !tier) {
    return "there is no profile " + Quoted(name) + rest + Suggestion(name, names);
  }
  const std::string what = "profile " + Quoted(name) + " is not enabled on this server" + rest;
  if (!is_installed) return what + ". This version of Belljar does not have " + name + " yet";
  return what + ". An operator enables it with " +
         (tier && !tier->environment.empty() ? tier->environment + "=true"
                                             : "the setting for profiles");
}

Result<const EnabledProfile*> Sandboxes::Choose(const std::string* name,
                                                const Caller& caller) const {
  if (!name) {
    if (Permits(caller, default_profile().profile)) return &default_profile();
    for (const EnabledProfile& each : enabled_) {
      if (Permits(caller, each.profile)) return &each;
    }
    return MakeError("the caller " + Quoted(caller.name) + " may use no profile of this server; " +
                         "an operator sets which",
                     "");
  }
  const std::string wanted = ProfileName(*name);
  const auto found = std::find_if(
      enabled_.begin(), enabled_.end(),
      [&](const EnabledProfile& each) { return ProfileName(each.profile.name) == wanted; });
  if (found == enabled_.end()) return MakeError(NotEnabled(wanted), "");
  if (Permits(caller, found->profile)) return &*found;
  std::vector<std::string> permitted;
  for (const EnabledProfile& each : enabled_) {
    if (Permits(caller, each.profile)) permitted.push_back(each.profile.name);
  }
  return MakeError("the caller " + Quoted(caller.name) + " may not use profile " + Quoted(wanted) +
                       "; " +
                       (permitted.empty() ? "none at all" : "it may use: " + Joined(permitted)) +
                       ". An operator sets which",
                   "");
}

Result<Sandbox*> Sandboxes::Get(const EnabledProfile& profile) {
  Slot& slot = *slots_[static_cast<size_t>(&profile - enabled_.data())];
  const std::lock_guard lock(slot.mutex);
  if (!slot.sandbox) {
    SandboxOptions options;
    options.profile = profile.profile;
    options.other_profiles = ModulesByProfile(installed_, profile.profile.name);
    options.isolation = isolation_;
    options.language = language_;
    options.spares = spares_;
    options.network = network_;
    Result<std::unique_ptr<Sandbox>> opened = Sandbox::Open(std::move(options));
    if (!opened) return opened.error();
    slot.sandbox = std::move(*opened);
  }
  return slot.sandbox.get();
}

std::vector<Sandboxes::Counted> Sandboxes::counters() const {
  std::vector<Counted> counted;
  for (size_t i = 0; i < enabled_.size(); ++i) {
    const std::lock_guard lock(slots_[i]->mutex);
    if (!slots_[i]->sandbox) continue;
    counted.push_back({enabled_[i].profile.name, slots_[i]->sandbox->counters()});
  }
  return counted;
}

}  // namespace belljar
