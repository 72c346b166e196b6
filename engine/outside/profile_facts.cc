#include "engine/outside/profile_facts.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace belljar {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// The folders of a set are those of site-packages, or of a virtual environment that holds one.
void AddPackages(const std::string& folder, std::vector<PackageVersion>& packages) {
  constexpr std::string_view kEnding = ".dist-info";
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(kEnding)) continue;
    const std::string_view both = std::string_view(name).substr(0, name.size() - kEnding.size());
    // "scikit_learn-1.4.2": neither part holds a hyphen of its own.
    const size_t hyphen = both.find('-');
    if (hyphen == std::string_view::npos) continue;
    PackageVersion package{std::string(both.substr(0, hyphen)),
                           std::string(both.substr(hyphen + 1))};
    std::replace(package.name.begin(), package.name.end(), '_', '-');
    packages.push_back(std::move(package));
  }
}

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Json WorkspaceJson(const Profile& profile) {
  if (!profile.workspace) return nullptr;
  return {{"path", kWorkspacePath},
          {"size_bytes", profile.workspace->size.count},
          {"inodes", profile.workspace->inodes}};
}

Json NetworkJson(const Profile& profile) {
  if (!profile.door) return nullptr;
  return {{"proxy_port", profile.door->port}};
}

}  // namespace

std::vector<PackageVersion> InstalledPackages(const Profile& profile,
                                              const Installation& installation) {
  std::vector<PackageVersion> packages;
  for (const PackageSet& set : profile.packages) {
    AddPackages(installation.PackageSetPath(set.name), packages);
  }
  std::sort(packages.begin(), packages.end(),
            [](const PackageVersion& one, const PackageVersion& other) {
              return LowerCase(one.name) < LowerCase(other.name);
            });
  return packages;
}

std::string ProfileFactsToJson(const Profile& profile, const Installation& installation) {
  Json packages = Json::array();
  for (const PackageVersion& each : InstalledPackages(profile, installation)) {
    packages.push_back({{"name", each.name}, {"version", each.version}});
  }
  Json missing = Json::array();
  for (const MissingPackages& each : installation.Missing(profile)) {
    missing.push_back({{"set", each.set}, {"modules", each.modules}, {"command", each.command}});
  }
  const Json facts = {{"tiers", profile.tiers},
                      {"attack_surface", profile.attack_surface},
                      {"packages", std::move(packages)},
                      {"missing", std::move(missing)},
                      {"workspace", WorkspaceJson(profile)},
                      {"network", NetworkJson(profile)}};
  return facts.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<const ModuleExports*> OwnModules(const Profile& profile, const Profile* basic) {
  std::vector<const ModuleExports*> own;
  for (const ModuleExports& module : profile.modules) {
    const bool is_basics =
        basic && !profile.tiers.empty() &&
        std::any_of(basic->modules.begin(), basic->modules.end(), [&](const ModuleExports& other) {
          return other.name == module.name && other.exports == module.exports;
        });
    if (!is_basics) own.push_back(&module);
  }
  return own;
}

}  // namespace belljar
