// What is reported about a profile on this installation: the same for `belljar info`,
// get_sandbox_info and Python's Sandbox.info().
#ifndef BELLJAR_ENGINE_PROFILES_PROFILE_FACTS_H_
#define BELLJAR_ENGINE_PROFILES_PROFILE_FACTS_H_

#include <string>
#include <vector>

#include "engine/core/profile.h"
#include "engine/installation/installation.h"

namespace belljar::profiles {

// The JSON object that `belljar info --json` prints for a profile.
std::string ProfileToJson(const core::Profile& profile,
                          const installation::Installation& installation);

// All packages in the installed sets that `profile` names, including dependencies, sorted by name.
std::vector<installation::InstalledPackage> InstalledPackages(
    const core::Profile& profile, const installation::Installation& installation);

// The JSON object with facts other than modules and limits: tiers, attack_surface, packages,
// missing, workspace, network.
std::string ProfileFactsToJson(const core::Profile& profile,
                               const installation::Installation& installation);

// The modules that `basic` lacks or restricts further; all modules if `basic` is null or the
// profile extends nothing.
std::vector<const core::ModuleExports*> OwnModules(const core::Profile& profile,
                                                   const core::Profile* basic);

}  // namespace belljar::profiles

#endif  // BELLJAR_ENGINE_PROFILES_PROFILE_FACTS_H_
