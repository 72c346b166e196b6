// The four security profiles that comparable servers call tiers, and how an operator enables one.
// The catalogue says which of them are installed.
#ifndef BELLJAR_SERVER_TOOLS_TIERS_H_
#define BELLJAR_SERVER_TOOLS_TIERS_H_

#include <string>
#include <string_view>
#include <vector>

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

// What an operator sets to enable the profile: the variable and the key of the file.
std::string HowToEnable(std::string_view name);

// Splits "a+b" into a and b; without "+", the name itself.
std::vector<std::string> PartsOf(std::string_view name);

// Callers write data_science or data-science and combine names in any order. Canonical names have
// hyphens and are sorted, without duplicates and without basic, which the others extend. An empty
// part is kept, and matches no profile. The keys of get_sandbox_info have underscores.
std::string ProfileName(std::string_view written);
std::string ProfileKey(std::string_view name);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_TIERS_H_
