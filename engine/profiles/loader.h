// Reads profiles/*.toml. Unknown keys, missing reasons and wrong types are refused with file, line
// and, where a name is nearly right, a suggestion.
#ifndef BELLJAR_ENGINE_PROFILES_LOADER_H_
#define BELLJAR_ENGINE_PROFILES_LOADER_H_

#include <string>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"

namespace belljar::profiles {

// Every profile of `folder`, by name. seccomp.toml there holds the system call groups.
core::Result<std::vector<core::Profile>> LoadProfiles(const std::string& folder);

// One file of the operator's own, with the system call groups of `folder`.
core::Result<core::Profile> LoadProfile(const std::string& file, const std::string& folder);

// Several profiles of `folder` in one, named "a+b": what one of them allows is allowed, and a limit
// is the larger one. Each but those that the others extend has to extend another.
core::Result<core::Profile> CombineProfiles(const std::vector<std::string>& names,
                                            const std::string& folder);

// JSON object: name of each profile but `except` -> its module names. What refused imports name.
std::string ModulesByProfile(const std::vector<core::Profile>& profiles, const std::string& except);

}  // namespace belljar::profiles

#endif  // BELLJAR_ENGINE_PROFILES_LOADER_H_
