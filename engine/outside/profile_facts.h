// What there is to say of a profile on this installation: the same for `belljar info`, for
// get_sandbox_info and for Python's Sandbox.info().
#ifndef BELLJAR_ENGINE_OUTSIDE_PROFILE_FACTS_H_
#define BELLJAR_ENGINE_OUTSIDE_PROFILE_FACTS_H_

#include <string>
#include <vector>

#include "engine/core/profile.h"
#include "engine/outside/installation.h"

namespace belljar::outside {

// The text of the JSON object that `belljar info --json` has for a profile.
std::string ProfileToJson(const core::Profile& profile, const Installation& installation);

// Everything in the sets of packages that `profile` names and that are installed, what they need
// among it: sorted by name.
std::vector<InstalledPackage> InstalledPackages(const core::Profile& profile,
                                                const Installation& installation);

// Beside its modules and limits, the text of a JSON object: tiers, attack_surface, packages,
// missing, workspace, network.
std::string ProfileFactsToJson(const core::Profile& profile, const Installation& installation);

// The modules that it has and `basic` lacks, or gives less of; all of them where `basic` is null or
// the profile extends nothing.
std::vector<const core::ModuleExports*> OwnModules(const core::Profile& profile,
                                                   const core::Profile* basic);

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_PROFILE_FACTS_H_
