// PackageLock: the result of a request for packages, as stored next to them (lock.json): each
// distribution with its version, its file on the index and that file's SHA-256, and the digest of
// the tree that they were unpacked into.
//
// Whoever can write to the cache can write a lock. It is parsed strictly to detect damage, and
// because its names go into a profile.
#ifndef BELLJAR_CONTAINER_PACKAGES_PACKAGE_LOCK_H_
#define BELLJAR_CONTAINER_PACKAGES_PACKAGE_LOCK_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "container/packages/package_requirement.h"
#include "container/packages/package_tree.h"
#include "engine/core/result.h"

namespace belljar::container::packages {

// Distributions in one set, including dependencies.
inline constexpr size_t kMaxDistributions = 512;

struct LockedPackage {
  std::string name;     // normalised; "npm:left-pad"
  std::string version;  // "2.31.0"
  std::string file;     // "requests-2.31.0-py3-none-any.whl"
  std::string sha256;   // of that file, as computed by the installer; 64 digits

  // "requests==2.31.0", "npm:left-pad@1.3.0"
  std::string ToString() const;

  bool operator==(const LockedPackage&) const = default;
};

// Everything that determines which distributions a request resolves to.
struct PackageQuestion {
  // PackageRequirement::ToString, sorted; all of Python's, or all of npm's.
  std::vector<std::string> requirements;
  std::string runtime;       // "3.11.2"; empty: of npm
  std::string architecture;  // "amd64"
  std::string index;         // address, without credentials

  bool operator==(const PackageQuestion&) const = default;
  bool is_npm() const { return !requirements.empty() && requirements[0].starts_with(kNpmPrefix); }
  // 64 digits: the name of the cache entry.
  std::string Key() const;
};

std::vector<std::string> Names(const std::vector<LockedPackage>& packages);

struct PackageLock {
  PackageQuestion question;
  std::vector<LockedPackage> packages;  // sorted by name and version; of npm's there may be several
  TreeFacts tree;

  bool operator==(const PackageLock&) const = default;
  std::vector<std::string> Names() const { return packages::Names(packages); }
};

// The installer's list of distributions, all of one of the two, which is hostile. Throws FormError
// (container/wire/fields.h).
std::vector<LockedPackage> ReadPackageList(const nlohmann::json& list, bool is_npm);

std::string PackageLockToText(const PackageLock& lock);
// An error says what is wrong with the text.
core::Result<PackageLock> PackageLockFromText(std::string_view text);

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_PACKAGE_LOCK_H_
