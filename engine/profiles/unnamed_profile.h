// The profile of a program if none is named, in `belljar run` and the Python package: basic,
// combined with those enabled profiles that its text uses (engine/profiles/wanted_profiles.h).
//
//   Result<vector<Profile>> enabled = EnabledProfiles(catalogue);   // an error is the user's
//   std::string name = ProfileFor({.source = source}, basic, *enabled);    // "data-science"
//
// The user of these is the operator, who enables a profile with the server's variables
// (docs/configuration.md) or, if it adds only packages, by installing them. A profile with network
// access or without the language policy is never chosen by a program's text.
#ifndef BELLJAR_ENGINE_PROFILES_UNNAMED_PROFILE_H_
#define BELLJAR_ENGINE_PROFILES_UNNAMED_PROFILE_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/profiles/profile_catalogue.h"

namespace belljar::profiles {

inline constexpr char kUnnamedProfile[] = "basic";

// The value of a variable of this process's environment; null: not set.
using ReadVariable = std::function<const char*(const char* name)>;

// Profiles of the catalogue that may be chosen automatically.
core::Result<std::vector<core::Profile>> EnabledProfiles(const ProfileCatalogue& catalogue,
                                                         const ReadVariable& read);
core::Result<std::vector<core::Profile>> EnabledProfiles(const ProfileCatalogue& catalogue);

struct ProgramNeeds {
  std::string_view source;
  bool files = false;  // whether it is given files
};
// Whether the other profiles must be read for such a program: it may need one of them or a hint
// about one, or a variable enables one, existing or not.
bool NeedsOtherProfiles(const ProgramNeeds& needs);

// The name of `base` or of a combination.
std::string ProfileFor(const ProgramNeeds& needs, const core::Profile& base,
                       const std::vector<core::Profile>& enabled);

// Adds to the hint of each finding how to request a profile that would allow it: `how` of its name,
// joined with the one that was `used`.
void NameProfiles(const std::string& used, const std::function<std::string(std::string)>& how,
                  host::Outcome& outcome);

}  // namespace belljar::profiles

#endif  // BELLJAR_ENGINE_PROFILES_UNNAMED_PROFILE_H_
