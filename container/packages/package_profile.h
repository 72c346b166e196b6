// The profile of a run with installed packages: one of this installation's with one set more, as a
// file that an image can have. Its name has the digest of the packages in it, so that an image of
// another set is never taken for it:
//
//   profile  basic-packages-0123456789abcdef0123456789abcdef
//   image    belljar:0.1.0-basic-packages-0123456789abcdef0123456789abcdef
#ifndef BELLJAR_CONTAINER_PACKAGES_PACKAGE_PROFILE_H_
#define BELLJAR_CONTAINER_PACKAGES_PACKAGE_PROFILE_H_

#include <string>

#include "container/packages/package_lock.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"

namespace belljar::container::packages {

// How the profile calls the set.
inline constexpr char kInstalledSet[] = "installed";

std::string PackageProfileName(const std::string& base, const PackageLock& lock);
// "data-science+network" of "data-science_network-packages-…"; empty: `name` is of no such form.
std::string BaseOfPackageProfile(const std::string& name);

// The TOML. What the base gives of its own modules stays as it is; packages are given by all names
// that they call public, and nobody has reviewed those.
std::string PackageProfileText(const core::Profile& base, const PackageLock& lock);

// Writes it below `folder` and reads it back. Precondition: `base` is of the installation whose
// `profiles` these are, not an operator's own file.
struct PackageProfile {
  core::Profile profile;
  std::string file;
};
core::Result<PackageProfile> MakePackageProfile(const core::Profile& base, const PackageLock& lock,
                                                const std::string& folder,
                                                const std::string& profiles);

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_PACKAGE_PROFILE_H_
