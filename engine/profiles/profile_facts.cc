#include "engine/profiles/profile_facts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/core/text.h"
#include "engine/host/outcome.h"

namespace belljar::profiles {
namespace {

using Json = nlohmann::ordered_json;

Json WorkspaceJson(const core::Profile& profile) {
  if (!profile.workspace) return nullptr;
  return {{"path", core::kWorkspacePath},
          {"size_bytes", profile.workspace->size.count},
          {"inodes", profile.workspace->inodes}};
}

Json NetworkJson(const core::Profile& profile) {
  if (!profile.egress) return nullptr;
  return {{"proxy_port", profile.egress->port}};
}

}  // namespace

std::vector<installation::InstalledPackage> InstalledPackages(
    const core::Profile& profile, const installation::Installation& installation) {
  std::vector<installation::InstalledPackage> packages;
  for (const core::PackageSet& set : profile.packages) {
    for (installation::InstalledPackage& each : installation.PackagesOfSet(set.name)) {
      packages.push_back(std::move(each));
    }
  }
  std::sort(
      packages.begin(), packages.end(),
      [](const installation::InstalledPackage& one, const installation::InstalledPackage& other) {
        return core::LowerCase(one.name) < core::LowerCase(other.name);
      });
  return packages;
}

std::string ProfileFactsToJson(const core::Profile& profile,
                               const installation::Installation& installation) {
  Json packages = Json::array();
  for (const installation::InstalledPackage& each : InstalledPackages(profile, installation)) {
    packages.push_back({{"name", each.name}, {"version", each.version}});
  }
  Json missing = Json::array();
  for (const installation::MissingPackages& each : installation.Missing(profile)) {
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

std::string ProfileToJson(const core::Profile& profile,
                          const installation::Installation& installation) {
  Json modules = Json::object();
  for (const core::ModuleExports& module : profile.modules) {
    modules[module.name] = module.exports;
  }
  Json json = {{"name", profile.name},
               {"summary", profile.summary},
               {"policy", profile.without_policy ? "off" : "on"},
               {"language", profile.without_policy ? "full" : "restricted"}};
  json.update(Json::parse(ProfileFactsToJson(profile, installation)));
  json["limits"] = {{"default", Json::parse(host::LimitsToJson(profile.default_limits))},
                    {"maximum", Json::parse(host::LimitsToJson(profile.maximum_limits))}};
  json["modules"] = std::move(modules);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<const core::ModuleExports*> OwnModules(const core::Profile& profile,
                                                   const core::Profile* basic) {
  std::vector<const core::ModuleExports*> own;
  for (const core::ModuleExports& module : profile.modules) {
    const bool is_basics =
        basic && !profile.tiers.empty() &&
        std::any_of(basic->modules.begin(), basic->modules.end(),
                    [&](const core::ModuleExports& other) {
                      return other.name == module.name && other.exports == module.exports;
                    });
    if (!is_basics) own.push_back(&module);
  }
  return own;
}

}  // namespace belljar::profiles
