// The security profiles that comparable servers call tiers, and how an operator enables one. The
// catalogue says which of them are installed.
#ifndef BELLJAR_SERVER_TOOLS_TIERS_H_
#define BELLJAR_SERVER_TOOLS_TIERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/profiles/profile_names.h"

namespace belljar::server::tools {

struct Tier {
  std::string name;     // "data-science"
  std::string summary;  // used if the tier is not installed; an installed profile has its own
  std::vector<std::string> modules;
  std::string environment;  // the variable that enables it; empty: always available
};

const std::vector<Tier>& Tiers();

// Null if there is none.
const Tier* FindTier(std::string_view name);

// The variable that an operator sets to enable the profile.
std::string HowToEnable(std::string_view name);

using profiles::PartsOf;
using profiles::ProfileName;

// The keys of get_sandbox_info have underscores.
std::string ProfileKey(std::string_view name);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_TIERS_H_
