#include "engine/profiles/unnamed_profile.h"

#include <unistd.h>

#include <cstdlib>
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
    if (profiles::ProfileName(trimmed) == profile) return std::optional(true);
  }
  return std::optional(false);
}

// Whether installing its packages is sufficient: it adds neither files nor network access.
bool AddsOnlyPackages(const core::Profile& profile) {
  return !profile.packages.empty() && !profile.workspace && !profile.egress;
}

}  // namespace

core::Result<std::vector<core::Profile>> EnabledProfiles(const ProfileCatalogue& catalogue,
                                                         const ReadVariable& read) {
  std::vector<core::Profile> enabled;
  for (const core::Profile& profile : catalogue.profiles()) {
    const bool is_tier = profile.tiers.size() == 1 && profile.tiers[0] == profile.name;
    if (!is_tier || profile.egress || profile.full_language) continue;
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
  if (needs.files || profiles::MayWantOthers(needs.source)) return true;
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string_view name(*variable);
    if (name.starts_with(kProfiles)) return true;
    for (const char* prefix : kEnablePrefixes) {
      if (name.starts_with(prefix)) return true;
    }
  }
  return false;
}

std::string ProfileFor(const ProgramNeeds& needs, const core::Profile& base,
                       const std::vector<core::Profile>& enabled) {
  if (enabled.empty()) return base.name;
  const profiles::ImportedNames imports = profiles::FindImports(needs.source);
  std::string name = base.name;
  for (const core::Profile& profile : enabled) {
    const bool is_needed = needs.files && profile.workspace && !base.workspace;
    if (is_needed || profiles::IsWanted(profile, base, needs.source, imports)) {
      name += "+" + profile.name;
    }
  }
  return profiles::ProfileName(name);
}

void NameProfiles(const std::string& used, const std::function<std::string(std::string)>& how,
                  host::Outcome& outcome) {
  for (host::Finding& finding : outcome.findings) {
    if (finding.profile.empty()) continue;
    const std::string joined = profiles::ProfileName(used + "+" + finding.profile);
    if (joined == used) continue;
    const std::string named = finding.hint + (finding.hint.empty() ? "" : " ") + how(joined);
    if (outcome.error && outcome.error->hint == finding.hint) outcome.error->hint = named;
    finding.hint = named;
  }
}

}  // namespace belljar::profiles
