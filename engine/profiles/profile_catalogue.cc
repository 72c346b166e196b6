#include "engine/profiles/profile_catalogue.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "engine/core/text.h"
#include "engine/host/suggest.h"
#include "engine/profiles/profile_names.h"

namespace belljar::profiles {

core::Result<ProfileCatalogue> ProfileCatalogue::Open(
    std::optional<installation::Installation> given) {
  core::Result<installation::Installation> installation = installation::GivenOrFound(given);
  if (!installation) return installation.error();
  core::Result<std::vector<core::Profile>> profiles =
      profiles::LoadProfiles(installation->profiles);
  if (!profiles) return profiles.error();
  return ProfileCatalogue(std::move(*installation), std::move(*profiles));
}

core::Result<ProfileCatalogue> ProfileCatalogue::OpenWith(const std::string& name) {
  core::Result<installation::Installation> installation = installation::GivenOrFound(std::nullopt);
  if (!installation) return installation.error();
  core::Result<profiles::ProfileFolder> folder =
      profiles::ProfileFolder::Open(installation->profiles);
  if (!folder) return folder.error();
  ProfileCatalogue catalogue(std::move(*installation), {});
  catalogue.others_ = std::make_shared<profiles::ProfileFolder>(std::move(*folder));
  core::Result<core::Profile> profile = catalogue.others_->Load(name);
  if (profile) {
    catalogue.profiles_.push_back(std::move(*profile));
  } else if (core::Result<void> read = catalogue.ReadOthers(); !read) {
    return read.error();
  }
  return catalogue;
}

core::Result<void> ProfileCatalogue::ReadOthers() {
  if (!others_) return {};
  core::Result<std::vector<core::Profile>> all = others_->LoadAll();
  if (!all) return all.error();
  profiles_ = std::move(*all);
  others_.reset();
  return {};
}

std::vector<std::string> ProfileCatalogue::Names() const {
  std::vector<std::string> names;
  for (const core::Profile& profile : profiles_) names.push_back(profile.name);
  return names;
}

core::Result<core::Profile> ProfileCatalogue::Choose(const std::string& name_or_file) const {
  if (profiles::IsProfileFile(name_or_file)) {
    if (name_or_file.find('+') != std::string::npos && access(name_or_file.c_str(), F_OK) != 0) {
      return core::MakeError(
          "there is no file " + core::Quoted(name_or_file) +
              ", and a file of your own cannot be joined with +: it declares what it "
              "extends itself, as in extends = \"filesystem\"",
          "");
    }
    return profiles::LoadProfile(name_or_file, installation_.profiles);
  }
  if (name_or_file.find('+') != std::string::npos) return Combine(name_or_file);
  std::string list;
  for (const core::Profile& profile : profiles_) {
    if (profile.name == name_or_file) {
      if (!profile.document.empty()) return profile;
      return profiles::LoadProfile(installation_.profiles + "/" + profile.name + ".toml",
                                   installation_.profiles);
    }
    list += (list.empty() ? "" : ", ") + profile.name;
  }
  const std::string suggestion = host::Suggestion(name_or_file, Names());
  return core::MakeError("unknown profile " + core::Quoted(name_or_file) +
                             (suggestion.empty() ? "; the" : suggestion + " The") +
                             " profiles are " + list +
                             "; several are joined with +, and a file of your own is written "
                             "./own.toml",
                         "");
}

// The canonical name of a combination: sorted, without duplicates, and without profiles that
// another one extends.
core::Result<core::Profile> ProfileCatalogue::Combine(const std::string& names) const {
  std::set<std::string> chosen;
  for (const std::string_view part : core::SplitAt(names, '+')) {
    core::Result<core::Profile> profile = Choose(std::string(part));
    if (!profile) return profile;
    if (!profile->tiers.empty()) chosen.insert(profile->name);
  }
  if (chosen.empty()) return Choose(names.substr(0, names.find('+')));
  if (chosen.size() == 1) return Choose(*chosen.begin());
  return profiles::CombineProfiles({chosen.begin(), chosen.end()}, installation_.profiles);
}

std::vector<std::string> ModuleNames(const core::Profile& profile) {
  std::vector<std::string> names;
  for (const core::ModuleExports& module : profile.modules) names.push_back(module.name);
  return names;
}

std::vector<std::string> ImportNames(const core::Profile& profile) {
  std::vector<std::string> names = ModuleNames(profile);
  for (const std::string& name : profile.modules_for_tests) {
    if (!core::Contains(names, name)) names.push_back(name);
  }
  return names;
}

core::Result<void> CheckAllowedImports(const std::vector<std::string>& modules,
                                       const core::Profile& profile, const std::string& what) {
  const std::vector<std::string> known = ImportNames(profile);
  for (const std::string& module : modules) {
    if (std::find(known.begin(), known.end(), module) != known.end()) continue;
    return core::MakeError(what + ": profile " + profile.name + " has no module " +
                               core::Quoted(module) + host::Suggestion(module, known),
                           "");
  }
  return {};
}

}  // namespace belljar::profiles
