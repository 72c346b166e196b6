// The profiles of this installation, and selecting one by name or file.
#ifndef BELLJAR_ENGINE_PROFILES_PROFILE_CATALOGUE_H_
#define BELLJAR_ENGINE_PROFILES_PROFILE_CATALOGUE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/installation/installation.h"
#include "engine/profiles/loader.h"

namespace belljar::profiles {

class ProfileCatalogue {
 public:
  // For the given installation, or the running program's. Fails if it cannot be found or read.
  static core::Result<ProfileCatalogue> Open(
      std::optional<installation::Installation> installation = std::nullopt);
  // Likewise for the running program, with only the profile `name` until ReadOthers(). If there is
  // no such profile, with all.
  static core::Result<ProfileCatalogue> OpenWith(const std::string& name);
  core::Result<void> ReadOthers();

  const installation::Installation& installation() const { return installation_; }
  const std::vector<core::Profile>& profiles() const { return profiles_; }
  std::vector<std::string> Names() const;

  // A name, several joined by "+" ("data-science+filesystem"), or the path of an operator's own
  // file, which contains a slash or ends in ".toml". An error is the user's.
  core::Result<core::Profile> Choose(const std::string& name_or_file) const;

 private:
  core::Result<core::Profile> Combine(const std::string& names) const;

  ProfileCatalogue(installation::Installation installation, std::vector<core::Profile> profiles)
      : installation_(std::move(installation)), profiles_(std::move(profiles)) {}

  installation::Installation installation_;
  std::vector<core::Profile> profiles_;
  std::shared_ptr<profiles::ProfileFolder> others_;  // what has not been read yet; null: nothing
};

// Names of all modules of `profile`.
std::vector<std::string> ModuleNames(const core::Profile& profile);

// What a list of imports may name: these, and modules that only programs with tests have.
std::vector<std::string> ImportNames(const core::Profile& profile);

// Checks that the profile has all of `modules`. The error is the user's and begins with `what`,
// which says where they were given.
core::Result<void> CheckAllowedImports(const std::vector<std::string>& modules,
                                       const core::Profile& profile, const std::string& what);

}  // namespace belljar::profiles

#endif  // BELLJAR_ENGINE_PROFILES_PROFILE_CATALOGUE_H_
