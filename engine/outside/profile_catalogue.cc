#include "engine/outside/profile_catalogue.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "engine/core/suggest.h"
#include "engine/core/text.h"
#include "profiles/loader.h"

namespace belljar {

Result<ProfileCatalogue> ProfileCatalogue::Open(std::optional<Installation> given) {
  Result<Installation> installation = GivenOrFound(given);
  if (!installation) return installation.error();
  Result<std::vector<Profile>> profiles = LoadProfiles(installation->profiles);
  if (!profiles) return profiles.error();
  return ProfileCatalogue(std::move(*installation), std::move(*profiles));
}

std::vector<std::string> ProfileCatalogue::Names() const {
  std::vector<std::string> names;
  for (const Profile& profile : profiles_) names.push_back(profile.name);
  return names;
}

Result<Profile> ProfileCatalogue::Choose(const std::string& name_or_file) const {
  if (name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".toml")) {
    if (name_or_file.find('+') != std::string::npos && access(name_or_file.c_str(), F_OK) != 0) {
      return MakeError("there is no file " + Quoted(name_or_file) +
                           ", and a file of your own is not joined with +: it says itself what it "
                           "extends, as in extends = \"filesystem\"",
                       "");
    }
    return LoadProfile(name_or_file, installation_.profiles);
  }
  if (name_or_file.find('+') != std::string::npos) return Combine(name_or_file);
  std::string list;
  for (const Profile& profile : profiles_) {
    if (profile.name == name_or_file) return profile;
    list += (list.empty() ? "" : ", ") + profile.name;
  }
  const std::string suggestion = Suggestion(name_or_file, Names());
  return MakeError("unknown profile " + Quoted(name_or_file) +
                       (suggestion.empty() ? "; the" : suggestion + " The") + " profiles are " +
                       list +
                       "; several are joined with +, and a file of your own is written "
                       "./own.toml",
                   "");
}

// One name for one profile, however it is spelled: sorted, each once, and without what another one
// extends anyway.
Result<Profile> ProfileCatalogue::Combine(const std::string& names) const {
  std::set<std::string> chosen;
  for (const std::string_view part : SplitAt(names, '+')) {
    Result<Profile> profile = Choose(std::string(part));
    if (!profile) return profile;
    if (!profile->tiers.empty()) chosen.insert(profile->name);
  }
  if (chosen.empty()) return Choose(names.substr(0, names.find('+')));
  if (chosen.size() == 1) return Choose(*chosen.begin());
  return CombineProfiles({chosen.begin(), chosen.end()}, installation_.profiles);
}

std::vector<std::string> ModuleNames(const Profile& profile) {
  std::vector<std::string> names;
  for (const ModuleExports& module : profile.modules) names.push_back(module.name);
  return names;
}

Result<void> CheckAllowedImports(const std::vector<std::string>& modules, const Profile& profile,
                                 const std::string& what) {
  const std::vector<std::string> known = ModuleNames(profile);
  for (const std::string& module : modules) {
    if (std::find(known.begin(), known.end(), module) != known.end()) continue;
    return MakeError(what + ": profile " + profile.name + " has no module " + Quoted(module) +
                         Suggestion(module, known),
                     "");
  }
  return {};
}

}  // namespace belljar
