#include "engine/outside/profile_catalogue.h"

#include "engine/core/suggest.h"
#include "engine/core/text.h"
#include "profiles/loader.h"

namespace belljar {

Result<ProfileCatalogue> ProfileCatalogue::Open() {
  Result<Installation> installation = Installation::Find();
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
    return LoadProfile(name_or_file, installation_.profiles);
  }
  std::string list;
  for (const Profile& profile : profiles_) {
    if (profile.name == name_or_file) return profile;
    list += (list.empty() ? "" : ", ") + profile.name;
  }
  const std::string suggestion = Suggestion(name_or_file, Names());
  return MakeError("unknown profile " + Quoted(name_or_file) +
                       (suggestion.empty() ? "; the" : suggestion + " The") + " profiles are " +
                       list + ", and a file of your own is written ./own.toml",
                   "");
}

std::vector<std::string> ModuleNames(const Profile& profile) {
  std::vector<std::string> names;
  for (const ModuleExports& module : profile.modules) names.push_back(module.name);
  return names;
}

}  // namespace belljar
