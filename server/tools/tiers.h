// The four security profiles that users of such servers know by name, and how an operator switches
// one on. Which of them this installation has is the catalogue's to say.
#ifndef BELLJAR_SERVER_TOOLS_TIERS_H_
#define BELLJAR_SERVER_TOOLS_TIERS_H_

#include <string>
#include <string_view>
#include <vector>

namespace belljar {

struct Tier {
  std::string name;     // "data-science"
  std::string summary;  // for a tier that is not installed; an installed profile has its own
  std::vector<std::string> modules;
  std::string environment;  // the variable that enables it; empty: always there
};

const std::vector<Tier>& Tiers();

// Null: none of that name.
const Tier* FindTier(std::string_view name);

// Callers write data_science or data-science; profiles are named with hyphens, and the keys of
// get_sandbox_info are written with underscores.
std::string ProfileName(std::string_view written);
std::string ProfileKey(std::string_view name);

}  // namespace belljar

#endif  // BELLJAR_SERVER_TOOLS_TIERS_H_
