#include "server/tools/sandboxes.h"

#include <algorithm>

#include "engine/core/text.h"
#include "engine/host/suggest.h"
#include "engine/outside/program_version.h"
#include "engine/profiles/languages.h"
#include "engine/profiles/loader.h"
#include "engine/profiles/profile_names.h"
#include "server/tools/tiers.h"

namespace belljar::server::tools {
namespace {

bool Contains(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// The form used by catalogues: a name with hyphens, or the unchanged path of a file.
std::string Canonical(const std::string& name_or_file) {
  return profiles::IsProfileFile(name_or_file) ? name_or_file : ProfileName(name_or_file);
}

bool IsBelow(const std::string& name, const std::string& package) {
  return name.size() > package.size() && name.starts_with(package) && name[package.size()] == '.';
}

// The operator's settings for all calls must be within the limits of each profile.
core::Result<core::Limits> DefaultLimits(const ExecutionConfig& config,
                                         const core::Profile& profile) {
  const core::Limits& maximum = profile.maximum_limits;
  const auto over = [&](const char* setting, const std::string& value, const std::string& maximum) {
    return core::MakeError("enable profile " + profile.name,
                           std::string(setting) + " of " + value +
                               " exceeds the profile's maximum of " + maximum + "; lower it");
  };
  if (config.timeout && *config.timeout > maximum.timeout) {
    return over("the timeout", core::FormatDuration(*config.timeout),
                core::FormatDuration(maximum.timeout));
  }
  if (config.memory && *config.memory > maximum.memory) {
    return over("the memory limit", config.memory->ToString(), maximum.memory.ToString());
  }
  if (config.output && *config.output > maximum.output) {
    return over("the output limit", config.output->ToString(), maximum.output.ToString());
  }
  return core::WithRequested(profile.default_limits, maximum,
                             {config.timeout, std::nullopt, config.memory, config.output});
}

// The operator's list applies to all profiles: each module must be in one of them.
core::Result<void> CheckImports(const ExecutionConfig& config,
                                const std::vector<EnabledProfile>& enabled) {
  if (!config.allowed_imports) return {};
  if (config.policy == "off") {
    return core::MakeError(
        "restrict the imports",
        "the list of allowed imports restricts the language policy, which is off; remove one of "
        "the two");
  }
  std::vector<std::string> known;
  for (const EnabledProfile& each : enabled) {
    if (each.profile.without_policy) {
      return core::MakeError("restrict the imports",
                             "the list of allowed imports restricts the language policy, which "
                             "profile " +
                                 each.profile.name + " disables; remove one of the two");
    }
    for (const core::ModuleExports& module : each.profile.modules) known.push_back(module.name);
  }
  for (const std::string& module : *config.allowed_imports) {
    const bool found = std::any_of(known.begin(), known.end(), [&](const std::string& name) {
      return name == module || IsBelow(name, module);
    });
    if (found) continue;
    return core::MakeError("restrict the imports", "no enabled profile has a module " +
                                                       core::Quoted(module) +
                                                       host::Suggestion(module, known));
  }
  return {};
}

}  // namespace

ModuleList GivenModules(const core::Profile& profile, const ModuleList& requested) {
  ModuleList given;
  for (const std::string& module : profiles::ImportNames(profile)) {
    const bool is_given =
        std::any_of(requested.begin(), requested.end(), [&](const std::string& name) {
          return name == module || IsBelow(module, name) || IsBelow(name, module);
        });
    if (is_given) given.push_back(module);
  }
  return given;
}

ModuleList Intersection(const core::Profile& profile, const ModuleList& one,
                        const ModuleList& other) {
  const ModuleList ours = GivenModules(profile, one);
  const ModuleList theirs = GivenModules(profile, other);
  ModuleList both;
  for (const std::string& name : ours) {
    if (Contains(theirs, name)) both.push_back(name);
  }
  // A package included only as the parent of one module would also allow all its other modules.
  ModuleList narrow;
  for (const std::string& name : both) {
    const bool is_whole = std::all_of(
        profile.modules.begin(), profile.modules.end(), [&](const core::ModuleExports& module) {
          return !IsBelow(module.name, name) || Contains(both, module.name);
        });
    if (is_whole) narrow.push_back(name);
  }
  return narrow;
}

Sandboxes::Sandboxes(const ExecutionConfig& config, const profiles::ProfileCatalogue& catalogue,
                     const ContainerConfig& container, const PackagesConfig& packages)
    : config_(config),
      catalogue_(catalogue),
      isolation_(config.isolation == "standard" ? outside::IsolationMode::kStandard
                                                : outside::IsolationMode::kStrict),
      policy_(config.policy == "off" ? outside::Policy::kOff : outside::Policy::kOn),
      containers_(container, config.profiles.size() + config.languages.size() + config.combinations,
                  [this](const core::Profile& profile) {
                    outside::SandboxOptions options = OptionsOf(profile);
                    // The strict mode is not available inside a container, which provides the
                    // isolation instead.
                    options.isolation = outside::IsolationMode::kStandard;
                    return options;
                  }),
      packages_(packages, container) {}

Sandboxes::~Sandboxes() = default;

core::Result<std::unique_ptr<Sandboxes>> Sandboxes::Open(
    const ExecutionConfig& config, const profiles::ProfileCatalogue& catalogue,
    const ContainerConfig& container, const PackagesConfig& packages) {
  std::unique_ptr<Sandboxes> sandboxes(new Sandboxes(config, catalogue, container, packages));
  if (core::Result<void> enabled = sandboxes->Enable(); !enabled) return enabled.error();
  core::Result<std::shared_ptr<outside::Sandbox>> first =
      sandboxes->Get(sandboxes->default_profile());
  if (!first) return first.error();
  sandboxes->containers_.WarmUp(sandboxes->default_profile().profile);
  return sandboxes;
}

// --- what the operator has set up ---------------------------------------------------------------

core::Result<void> Sandboxes::Enable() {
  std::vector<std::string> names;
  for (const std::string& name : config_.profiles) names.push_back(Canonical(name));
  const std::string default_profile = Canonical(config_.profile);
  if (!Contains(names, default_profile)) names.push_back(default_profile);
  for (const std::string& name : names) {
    if (core::Result<void> one = EnableOne(name); !one) return one;
    if (name == default_profile) default_ = enabled_.size() - 1;
  }
  ListCombinations();
  if (core::Result<void> languages = EnableLanguages(); !languages) return languages;
  return CheckImports(config_, enabled_);
}

core::Result<void> Sandboxes::EnableLanguages() {
  if (config_.languages.empty()) return {};
  const core::Result<profiles::LanguageCatalogue> catalogue =
      profiles::LanguageCatalogue::Open(catalogue_.installation());
  if (!catalogue) return catalogue.error();
  const auto network = std::ranges::find_if(
      enabled_, [](const EnabledProfile& each) { return each.profile.egress.has_value(); });
  for (const std::string& name : config_.languages) {
    core::Result<std::optional<core::Profile>> found = catalogue->FindInstalled(name);
    if (!found) return core::MakeError("enable languages", found.error().ToString());
    if (!*found) continue;  // Python is always there
    core::Profile& language = **found;
    const core::Result<core::Limits> limits = DefaultLimits(config_, language);
    if (!limits) return limits.error();
    const auto with_limits = [&](core::Profile profile) {
      auto combination = std::make_unique<Combination>();
      combination->enabled = {std::move(profile), *limits, std::nullopt};
      return combination;
    };
    Language made;
    if (network != enabled_.end()) {
      core::Profile connected = profiles::WithNetwork(language, network->profile);
      connected.name += "+" + network->profile.name;
      made.connected = with_limits(std::move(connected));
    }
    languages_.push_back(language.name);
    made.alone = with_limits(std::move(language));
    of_languages_.push_back(std::move(made));
  }
  return {};
}

core::Result<const EnabledProfile*> Sandboxes::ChooseLanguage(const std::string& name, bool network,
                                                              const Caller& caller) const {
  if (name == profiles::kPython) return nullptr;
  const auto found = std::ranges::find_if(of_languages_, [&](const Language& each) {
    const core::Profile& profile = each.alone->enabled.profile;
    return profile.name == name || core::Contains(profile.program->aliases, name);
  });
  if (found == of_languages_.end()) {
    std::vector<std::string> names = languages_;
    names.insert(names.begin(), profiles::kPython);
    return core::MakeError("language " + core::Quoted(name) + " is not enabled on this server (" +
                               core::Joined(names) + ")" + host::Suggestion(name, names) +
                               "; an operator enables it with execution.languages",
                           "");
  }
  const Combination* const chosen = network ? found->connected.get() : found->alone.get();
  if (!chosen) {
    return core::MakeError("language " + found->alone->enabled.profile.name +
                               ": no profile of this server has a network",
                           "");
  }
  const std::string& profile = chosen->enabled.profile.name;
  if (!Permits(caller, profile)) return NotPermitted(profile, caller);
  return &chosen->enabled;
}

core::Result<void> Sandboxes::EnableOne(const std::string& name) {
  core::Result<core::Profile> profile = catalogue_.Choose(name);
  if (!profile) {
    if (!FindTier(name)) return profile.error();
    return core::MakeError("enable profile " + name, "not in this version of Belljar, which has " +
                                                         core::Joined(catalogue_.Names()) +
                                                         ". Remove it from the settings");
  }
  if (FindEnabled(profile->name)) {
    return core::MakeError("enable profile " + core::Quoted(name),
                           "profile " + profile->name + " is already enabled");
  }
  core::Result<EnabledProfile> enabled = SetUp(std::move(*profile));
  if (!enabled) return enabled.error();
  enabled_.push_back(std::move(*enabled));
  slots_.push_back(std::make_unique<Slot>());
  return {};
}

core::Result<EnabledProfile> Sandboxes::SetUp(core::Profile profile) const {
  core::Result<core::Limits> limits = DefaultLimits(config_, profile);
  if (!limits) return limits.error();
  EnabledProfile enabled{std::move(profile), *limits, std::nullopt};
  if (config_.allowed_imports) {
    const ModuleList& requested = *config_.allowed_imports;
    enabled.modules = Intersection(enabled.profile, requested, requested);
  }
  return enabled;
}

// Every set of two or more profiles that extend another one and are found by name.
void Sandboxes::ListCombinations() {
  constexpr size_t kMaxToList = 4;
  std::vector<std::string> names;
  for (const EnabledProfile& each : enabled_) {
    const bool is_one =
        each.profile.tiers.size() == 1 && each.profile.tiers[0] == each.profile.name;
    if (is_one && Contains(catalogue_.Names(), each.profile.name)) {
      names.push_back(each.profile.name);
    }
  }
  if (config_.combinations == 0 || names.size() > kMaxToList) return;
  std::sort(names.begin(), names.end());
  for (unsigned chosen = 1; chosen < 1u << names.size(); ++chosen) {
    std::string name;
    for (size_t i = 0; i < names.size(); ++i) {
      if (chosen >> i & 1) name += (name.empty() ? "" : "+") + names[i];
    }
    if (name.find('+') != std::string::npos && !FindEnabled(name)) combinations_.push_back(name);
  }
}

// --- the profile of a call ----------------------------------------------------------------------

const EnabledProfile* Sandboxes::FindEnabled(const std::string& name) const {
  const auto found = std::find_if(
      enabled_.begin(), enabled_.end(),
      [&](const EnabledProfile& each) { return ProfileName(each.profile.name) == name; });
  return found == enabled_.end() ? nullptr : &*found;
}

bool Sandboxes::Permits(const Caller& caller, const std::string& profile) {
  if (!caller.profiles) return true;
  const auto is_listed = [&](const std::string& wanted) {
    return std::any_of(caller.profiles->begin(), caller.profiles->end(),
                       [&](const std::string& name) { return ProfileName(name) == wanted; });
  };
  const std::string wanted = ProfileName(profile);
  if (is_listed(wanted)) return true;
  const std::vector<std::string> parts = PartsOf(wanted);
  return parts.size() > 1 && std::all_of(parts.begin(), parts.end(), is_listed);
}

std::string Sandboxes::NotEnabled(const std::string& name) const {
  std::vector<std::string> names;
  for (const EnabledProfile& each : enabled_) names.push_back(each.profile.name);
  const std::string rest = " (enabled: " + core::Joined(names) + ")";
  const bool is_installed = Contains(catalogue_.Names(), name);
  if (!is_installed && !FindTier(name)) {
    // Other servers separate lists with commas.
    const bool is_list = name.find_first_of(", ;") != std::string::npos;
    return "there is no profile " + core::Quoted(name) + rest +
           (is_list ? "; several are joined with +" : host::Suggestion(name, names));
  }
  const std::string what =
      "profile " + core::Quoted(name) + " is not enabled on this server" + rest;
  if (!is_installed) return what + ". It is not in this version of Belljar";
  return what + ". A call cannot enable it; an operator can, with " + HowToEnable(name);
}

std::string Sandboxes::WhyNot(const std::string& profile, const Caller& caller) const {
  if (!Contains(catalogue_.Names(), profile)) return "";
  if (!FindEnabled(profile)) {
    return "It is not enabled on this server: an operator enables it with " + HowToEnable(profile) +
           ".";
  }
  return Permits(caller, profile) ? "" : "This caller may not use it; an operator decides.";
}

core::Error Sandboxes::NotPermitted(const std::string& name, const Caller& caller) const {
  std::vector<std::string> permitted;
  for (const EnabledProfile& each : enabled_) {
    if (Permits(caller, each.profile.name)) permitted.push_back(each.profile.name);
  }
  return core::MakeError(
      "the caller " + core::Quoted(caller.name) + " may not use profile " + core::Quoted(name) +
          "; " +
          (permitted.empty() ? "it may use none" : "it may use: " + core::Joined(permitted)) +
          ". An operator decides",
      "");
}

core::Result<const EnabledProfile*> Sandboxes::ChooseBase(const Caller& caller) {
  if (Permits(caller, default_profile().profile.name)) return &default_profile();
  for (const EnabledProfile& each : enabled_) {
    if (Permits(caller, each.profile.name)) return &each;
  }
  // Some tokens may have profiles only in combination.
  for (const std::string& name : caller.profiles.value_or(std::vector<std::string>())) {
    if (core::Result<const EnabledProfile*> joined = Choose(&name, caller)) return joined;
  }
  return core::MakeError("the caller " + core::Quoted(caller.name) +
                             " may not use any profile of this server; an operator decides",
                         "");
}

core::Result<const EnabledProfile*> Sandboxes::Choose(const std::string* name,
                                                      const Caller& caller) {
  if (!name) return ChooseBase(caller);
  const std::string wanted = ProfileName(*name);
  const EnabledProfile* const enabled = FindEnabled(wanted);
  if (!enabled) {
    for (const std::string& part : PartsOf(wanted)) {
      if (!FindEnabled(part)) return core::MakeError(NotEnabled(part), "");
    }
  }
  if (!Permits(caller, wanted)) return NotPermitted(wanted, caller);
  return enabled ? core::Result<const EnabledProfile*>(enabled) : Combine(wanted);
}

core::Result<const EnabledProfile*> Sandboxes::ChooseFor(const profiles::ProgramNeeds& needs,
                                                         const Caller& caller) {
  core::Result<const EnabledProfile*> chosen = ChooseBase(caller);
  // An operator's own profile file cannot be combined.
  const auto is_named = [&](const core::Profile& profile) {
    return profile.name.find('+') != std::string::npos ||
           Contains(catalogue_.Names(), profile.name);
  };
  if (!chosen || !is_named((*chosen)->profile)) return chosen;
  profiles::ProfileChoices choices{(*chosen)->profile, {}, {}};
  for (const EnabledProfile& each : enabled_) {
    if (is_named(each.profile)) choices.others.push_back(&each.profile);
  }
  choices.may_have = [&](const std::string& name) {
    return Permits(caller, name) && (FindEnabled(name) || config_.combinations > 0);
  };
  const std::string name = profiles::ProfileFor(needs, choices);
  return name == choices.base.name ? chosen : Choose(&name, caller);
}

outside::Policy Sandboxes::PolicyOf(const EnabledProfile& profile) const {
  return outside::PolicyOf(profile.profile, policy_);
}

// Precondition: each part is enabled and permitted for the caller.
core::Result<const EnabledProfile*> Sandboxes::Combine(const std::string& name) {
  if (config_.combinations == 0) {
    return core::MakeError(
        "profile " + core::Quoted(name) +
            ": this server allows one profile per call; an operator allows several with "
            "BELLJAR_EXECUTION_COMBINATIONS, or combinations in [execution] of the "
            "configuration file",
        "");
  }
  const std::lock_guard lock(combined_mutex_);
  std::unique_ptr<Combination>& combination = combined_[name];
  if (!combination) {
    core::Result<core::Profile> profile = catalogue_.Choose(name);
    core::Result<EnabledProfile> enabled =
        profile ? SetUp(std::move(*profile)) : core::Result<EnabledProfile>(profile.error());
    if (!enabled) {
      combined_.erase(name);
      return enabled.error();
    }
    combination = std::make_unique<Combination>();
    combination->enabled = std::move(*enabled);
  }
  return &combination->enabled;
}

// --- the sandbox of a profile -------------------------------------------------------------------

outside::SandboxOptions Sandboxes::OptionsOf(const core::Profile& profile) const {
  outside::SandboxOptions options;
  options.profile = profile;
  options.other_profiles = profiles::ModulesByProfile(installed(), profile.name);
  options.isolation = isolation_;
  options.policy = policy_;
  options.spares = config_.spares;
  options.network = config_.network;
  return options;
}

std::vector<const EnabledProfile*> Sandboxes::enabled_languages() const {
  std::vector<const EnabledProfile*> enabled;
  for (const Language& each : of_languages_) enabled.push_back(&each.alone->enabled);
  return enabled;
}

std::string Sandboxes::VersionOf(const EnabledProfile& language) const {
  return outside::ProgramVersion(OptionsOf(language.profile));
}

core::Result<std::shared_ptr<outside::Sandbox>> Sandboxes::Start(
    Slot& slot, const EnabledProfile& profile) const {
  const std::lock_guard lock(slot.mutex);
  if (!slot.sandbox) {
    core::Result<std::unique_ptr<outside::Sandbox>> opened =
        outside::Sandbox::Open(OptionsOf(profile.profile));
    if (!opened) return opened.error();
    slot.sandbox = std::move(*opened);
  }
  return slot.sandbox;
}

// Marks the profile's combination as most recently used and returns it; `closed` is the evicted
// one, or null.
Sandboxes::Combination& Sandboxes::Use(const EnabledProfile& profile, Combination*& closed) {
  const std::lock_guard lock(combined_mutex_);
  const auto found = std::find_if(combined_.begin(), combined_.end(), [&](const auto& each) {
    return &each.second->enabled == &profile;
  });
  Combination* const combination = found->second.get();
  started_.remove(combination);
  started_.push_front(combination);
  if (started_.size() > config_.combinations) {
    closed = started_.back();
    started_.pop_back();
  }
  return *combination;
}

core::Result<std::shared_ptr<outside::Sandbox>> Sandboxes::Get(const EnabledProfile& profile) {
  for (size_t i = 0; i < enabled_.size(); ++i) {
    if (&enabled_[i] == &profile) return Start(*slots_[i], profile);
  }
  for (const Language& language : of_languages_) {
    for (Combination* const each : {language.alone.get(), language.connected.get()}) {
      if (each && &each->enabled == &profile) return Start(each->slot, profile);
    }
  }
  Combination* closed = nullptr;
  Combination& combination = Use(profile, closed);
  if (closed) {
    std::shared_ptr<outside::Sandbox>
        last;  // destroyed with the last call that uses it, and not under the lock
    const std::lock_guard lock(closed->slot.mutex);
    last.swap(closed->slot.sandbox);
  }
  return Start(combination.slot, profile);
}

bool Sandboxes::gives_packages() const {
  return packages_.enabled() && !packages_.allowed().empty() && containers_.state().enabled;
}

std::vector<Sandboxes::Counted> Sandboxes::counters() const {
  std::vector<Counted> counted;
  const auto count = [&](const EnabledProfile& enabled, const Slot& slot) {
    const std::lock_guard lock(slot.mutex);
    if (slot.sandbox) counted.push_back({enabled.profile.name, slot.sandbox->counters()});
  };
  for (size_t i = 0; i < enabled_.size(); ++i) count(enabled_[i], *slots_[i]);
  for (const Language& language : of_languages_) {
    for (const Combination* const each : {language.alone.get(), language.connected.get()}) {
      if (each) count(each->enabled, each->slot);
    }
  }
  const std::lock_guard lock(combined_mutex_);
  for (const auto& [name, combination] : combined_) {
    count(combination->enabled, combination->slot);
  }
  return counted;
}

}  // namespace belljar::server::tools
