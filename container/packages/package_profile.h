// The profile of a run with installed packages: a profile of this installation with one more
// package set, as a file that can be part of an image. Its name contains the digest of the
// packages, so that an image with another set cannot be mistaken for it:
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

// The name of the set in the profile.
inline constexpr char kInstalledSet[] = "installed";

std::string PackageProfileName(const std::string& base, const PackageLock& lock);
// "data-science+network" from "data-science_network-packages-…"; empty: `name` does not have that
// form.
std::string BaseOfPackageProfile(const std::string& name);

// The TOML. The base profile's own modules are unchanged; packages export all their public names,
// which nobody has reviewed.
std::string PackageProfileText(const core::Profile& base, const PackageLock& lock);

// Writes it below `folder` and reads it back. Precondition: `base` is a profile of the installation
// with the folder `profiles`, not an operator's own file.
struct PackageProfile {
  core::Profile profile;
  std::string file;
};
core::Result<PackageProfile> MakePackageProfile(const core::Profile& base, const PackageLock& lock,
                                                const std::string& folder,
                                                const std::string& profiles);

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_PACKAGE_PROFILE_H_
