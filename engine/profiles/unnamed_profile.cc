#include "engine/profiles/unnamed_profile.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "engine/core/text.h"
#include "engine/profiles/profile_names.h"
#include "engine/profiles/wanted_profiles.h"

namespace belljar::profiles {
namespace {

constexpr char kProfiles[] = "BELLJAR_EXECUTION_PROFILES";
// In the order of precedence.
constexpr const char* kEnablePrefixes[] = {"BELLJAR_EXECUTION_ENABLE_", "SANDBOX_ENABLE_"};

std::string VariableName(const char* prefix, const std::string& profile) {
  std::string name = prefix;
  for (const char c : profile) {
    name += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return name;
}

core::Result<std::optional<bool>> ReadSwitch(const std::string& name, const ReadVariable& read) {
  const char* const text = read(name.c_str());
  if (!text || !*text) return std::optional<bool>();
  const std::string value = core::LowerCase(text);
  if (core::Contains({"true", "1", "yes", "on"}, value)) return std::optional(true);
  if (core::Contains({"false", "0", "no", "off"}, value)) return std::optional(false);
  return core::MakeError(name + " " + core::Quoted(text), "write true or false");
}

// What the variables say about it; nullopt: nothing.
core::Result<std::optional<bool>> IsEnabledByVariable(const std::string& profile,
                                                      const ReadVariable& read) {
  for (const char* prefix : kEnablePrefixes) {
    core::Result<std::optional<bool>> enabled = ReadSwitch(VariableName(prefix, profile), read);
    if (!enabled || *enabled) return enabled;
  }
  const char* const list = read(kProfiles);
  if (!list || !*list) return std::optional<bool>();
  for (const std::string_view name : core::SplitAt(list, ',')) {
    std::string trimmed(name);
    std::erase(trimmed, ' ');
    if (ProfileName(trimmed) == profile) return std::optional(true);
  }
  return std::optional(false);
}

// Whether installing its packages is sufficient: it adds neither files nor network access.
bool AddsOnlyPackages(const core::Profile& profile) {
  return !profile.packages.empty() && !profile.workspace && !profile.egress;
}

// Whether it is a profile of its own name: not a combination, nor an operator's file.
bool IsOneTier(const core::Profile& profile) {
  return profile.tiers.size() == 1 && profile.tiers[0] == profile.name;
}

bool UsesPackages(const core::Profile& profile, const ImportedNames& imports) {
  return std::ranges::any_of(imports.modules, [&](const std::string& module) {
    const std::string_view root = core::TopLevelName(module);
    return std::ranges::any_of(profile.packages, [&](const core::PackageSet& set) {
      return std::ranges::any_of(
          set.modules, [&](const std::string& each) { return core::TopLevelName(each) == root; });
    });
  });
}

bool IsNeeded(const core::Profile& other, const core::Profile& base, const ProgramNeeds& needs,
              const ImportedNames& imports) {
  if (other.egress) return needs.hosts && !base.egress;
  if (needs.continues) return true;
  if (needs.files && other.workspace && !base.workspace) return true;
  return IsWanted(other, base, needs.source, imports);
}

using Profiles = std::vector<const core::Profile*>;

Profiles NeededProfiles(const ProgramNeeds& needs, const ProfileChoices& choices) {
  const core::Profile& base = choices.base;
  Profiles candidates, needed;
  std::ranges::copy_if(choices.others, std::back_inserter(candidates), [&](const auto* other) {
    return IsOneTier(*other) && !other->without_policy && other->name != base.name;
  });
  if (candidates.empty()) return needed;
  ImportedNames imports = FindImports(needs.source);
  std::ranges::copy(needs.modules, std::back_inserter(imports.modules));
  bool uses_packages = UsesPackages(base, imports);
  for (const core::Profile* const other : candidates) {
    if (!IsNeeded(*other, base, needs, imports)) continue;
    needed.push_back(other);
    uses_packages = uses_packages || UsesPackages(*other, imports);
  }
  if (!uses_packages || base.workspace) return needed;
  for (const core::Profile* const other : candidates) {
    const bool has_files = other->workspace && !other->egress;
    if (has_files && std::ranges::find(needed, other) == needed.end()) needed.push_back(other);
  }
  return needed;
}

}  // namespace

std::string ProfileFor(const ProgramNeeds& needs, const ProfileChoices& choices) {
  const Profiles needed = NeededProfiles(needs, choices);
  if (needed.empty()) return choices.base.name;
  const auto may_have = [&](const std::string& name) {
    return !choices.may_have || choices.may_have(name);
  };
  std::string all = choices.base.name;
  for (const core::Profile* const each : needed) all += "+" + each->name;
  all = ProfileName(all);
  if (may_have(all)) return all;
  std::string name = choices.base.name;
  for (const core::Profile* const each : needed) {
    std::string joined = ProfileName(name + "+" + each->name);
    if (may_have(joined)) name = std::move(joined);
  }
  return name;
}

std::string ProfileFor(const ProgramNeeds& needs, const core::Profile& base,
                       const std::vector<core::Profile>& enabled) {
  ProfileChoices choices{base, {}, {}};
  for (const core::Profile& each : enabled) choices.others.push_back(&each);
  return ProfileFor(needs, choices);
}

core::Result<std::vector<core::Profile>> EnabledProfiles(const ProfileCatalogue& catalogue,
                                                         const ReadVariable& read) {
  std::vector<core::Profile> enabled;
  for (const core::Profile& profile : catalogue.profiles()) {
    if (!IsOneTier(profile) || profile.without_policy) continue;
    core::Result<std::optional<bool>> said = IsEnabledByVariable(profile.name, read);
    if (!said) return said.error();
    const bool is_enabled = said->value_or(AddsOnlyPackages(profile) &&
                                           catalogue.installation().Missing(profile).empty());
    if (is_enabled) enabled.push_back(profile);
  }
  return enabled;
}

core::Result<std::vector<core::Profile>> EnabledProfiles(const ProfileCatalogue& catalogue) {
  return EnabledProfiles(catalogue, [](const char* name) {
    return std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets variables
  });
}

bool NeedsOtherProfiles(const ProgramNeeds& needs) {
  if (needs.files || needs.hosts || needs.continues || !needs.modules.empty() ||
      MayWantOthers(needs.source)) {
    return true;
  }
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string_view name(*variable);
    if (name.starts_with(kProfiles)) return true;
    for (const char* prefix : kEnablePrefixes) {
      if (name.starts_with(prefix)) return true;
    }
  }
  return false;
}

void NameProfiles(const std::string& used, const std::function<std::string(std::string)>& how,
                  host::Outcome& outcome) {
  for (host::Finding& finding : outcome.findings) {
    if (finding.profile.empty()) continue;
    const std::string joined = ProfileName(used + "+" + finding.profile);
    if (joined == used) continue;
    const std::string named = finding.hint + (finding.hint.empty() ? "" : " ") + how(joined);
    if (outcome.error && outcome.error->hint == finding.hint) outcome.error->hint = named;
    finding.hint = named;
  }
}

}  // namespace belljar::profiles
