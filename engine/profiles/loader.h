// Reads profiles/*.toml. Unknown keys, missing reasons and wrong types are refused with file, line
// and, for a near miss, a suggestion.
#ifndef BELLJAR_ENGINE_PROFILES_LOADER_H_
#define BELLJAR_ENGINE_PROFILES_LOADER_H_

#include <memory>
#include <string>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"

namespace belljar::profiles {

// The profiles of a folder, whose seccomp.toml contains the system call groups. A file is read
// once, when a profile first needs it. Not thread-safe.
class ProfileFolder {
 public:
  static core::Result<ProfileFolder> Open(const std::string& folder);
  ~ProfileFolder();
  ProfileFolder(ProfileFolder&&) noexcept;

  // One profile, by name.
  core::Result<core::Profile> Load(const std::string& name);
  // All profiles, by name; only those that extend none have their document: creating one is slow.
  core::Result<std::vector<core::Profile>> LoadAll();

 private:
  struct Content;
  explicit ProfileFolder(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

// The languages besides Python that a folder describes, by name: profiles with a `program`. A file
// that extends no other is what the others extend. `profiles` has the system call groups.
core::Result<std::vector<core::Profile>> LoadLanguages(const std::string& folder,
                                                       const std::string& profiles);

// A language of the operator's own, which extends one of `folder`.
core::Result<core::Profile> LoadLanguage(const std::string& file, const std::string& folder,
                                         const std::string& profiles);

// ProfileFolder::LoadAll() of `folder`.
core::Result<std::vector<core::Profile>> LoadProfiles(const std::string& folder);

// A file of the operator, with the system call groups of `folder`.
core::Result<core::Profile> LoadProfile(const std::string& file, const std::string& folder);

// Combines profiles of `folder` into one, named "a+b": it allows what any of them allows, with the
// larger limits. Every profile except those that others extend must extend another one.
core::Result<core::Profile> CombineProfiles(const std::vector<std::string>& names,
                                            const std::string& folder);

// JSON object: name of each profile except `except` and those without the language policy -> its
// module names, for the hints of refused imports.
std::string ModulesByProfile(const std::vector<core::Profile>& profiles, const std::string& except);

}  // namespace belljar::profiles

#endif  // BELLJAR_ENGINE_PROFILES_LOADER_H_
