// The four security profiles that users of such servers know by name, and how an operator switches
// one on. Which of them this installation has is the catalogue's to say.
#ifndef BELLJAR_SERVER_TOOLS_TIERS_H_
#define BELLJAR_SERVER_TOOLS_TIERS_H_

#include <string>
#include <string_view>
#include <vector>

namespace belljar::server::tools {

struct Tier {
  std::string name;     // "data-science"
  std::string summary;  // for a tier that is not installed; an installed profile has its own
  std::vector<std::string> modules;
  std::string environment;  // the variable that enables it; empty: always there
};

const std::vector<Tier>& Tiers();

// Null: none of that name.
const Tier* FindTier(std::string_view name);

// What an operator sets to enable the profile: the variable and the key of the file.
std::string HowToEnable(std::string_view name);

// "a+b" as a and b; without a "+" the name alone.
std::vector<std::string> PartsOf(std::string_view name);

// Callers write data_science or data-science, and several in any order; profiles are named with
// hyphens, sorted, each once, without basic, which the others extend. An empty part stays one:
// there is no profile of that name. The keys of get_sandbox_info are written with underscores.
std::string ProfileName(std::string_view written);
std::string ProfileKey(std::string_view name);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_TIERS_H_
