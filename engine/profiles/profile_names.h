// Names of profiles, and of several that are combined.
#ifndef BELLJAR_ENGINE_PROFILES_PROFILE_NAMES_H_
#define BELLJAR_ENGINE_PROFILES_PROFILE_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace belljar::profiles {

// Whether it is the path of an operator's own file rather than a name: "./own.toml", "own.toml".
bool IsProfileFile(std::string_view written);

// Splits "a+b" into a and b; without "+", the name itself.
std::vector<std::string> PartsOf(std::string_view name);

// Callers write data_science or data-science and combine names in any order. Canonical names have
// hyphens and are sorted, without duplicates and without basic, which the others extend. An empty
// part is kept, and matches no profile.
std::string ProfileName(std::string_view written);

}  // namespace belljar::profiles

#endif  // BELLJAR_ENGINE_PROFILES_PROFILE_NAMES_H_
