#include "server/tools/tiers.h"

#include <algorithm>

namespace belljar::server::tools {

const std::vector<Tier>& Tiers() {
  static const std::vector<Tier> kTiers = {
      {"basic", "Ordinary Python with the safe part of the standard library.", {}, ""},
      {"data-science",
       "Numbers, tables, statistics and plots.",
       {"numpy", "pandas", "scipy", "matplotlib", "seaborn", "sklearn", "statsmodels", "plotly",
        "sympy"},
       "SANDBOX_ENABLE_DATA_SCIENCE"},
      {"network",
       "HTTP and other protocols, to domains listed by the operator.",
       {"httpx", "requests", "urllib.request", "aiohttp", "websocket", "email", "smtplib",
        "ftplib"},
       "SANDBOX_ENABLE_NETWORK"},
      {"filesystem",
       "Files in a private, temporary workspace.",
       {"pathlib", "os.path", "tempfile", "shutil", "glob", "zipfile", "tarfile"},
       "SANDBOX_ENABLE_FILESYSTEM"},
      {"full",
       "All of Python without a language policy; the kernel layers alone contain the program.",
       {},
       "SANDBOX_ENABLE_FULL"},
  };
  return kTiers;
}

const Tier* FindTier(std::string_view name) {
  const std::vector<Tier>& tiers = Tiers();
  const auto found = std::find_if(tiers.begin(), tiers.end(),
                                  [name](const Tier& tier) { return tier.name == name; });
  return found == tiers.end() ? nullptr : &*found;
}

std::string HowToEnable(std::string_view name) {
  const Tier* tier = FindTier(name);
  if (!tier || tier->environment.empty()) {
    return "BELLJAR_EXECUTION_PROFILES";
  }
  return tier->environment + "=true";
}

std::string ProfileKey(std::string_view name) {
  std::string key(name);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

}  // namespace belljar::server::tools
