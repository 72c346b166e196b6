// PackageLock: what a request for packages came to, as it is recorded beside them (lock.json): each
// distribution with its version, its file at the index and that file's SHA-256, and the digest of
// the tree that they were unpacked into.
//
// Who may write to the cache may write a lock; it is read strictly for what is damaged, and because
// its names go into a profile.
#ifndef BELLJAR_CONTAINER_PACKAGES_PACKAGE_LOCK_H_
#define BELLJAR_CONTAINER_PACKAGES_PACKAGE_LOCK_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "container/packages/package_requirement.h"
#include "container/packages/package_tree.h"
#include "engine/core/result.h"

namespace belljar::container::packages {

// Distributions of one set, what they depend on included.
inline constexpr size_t kMaxDistributions = 512;

struct LockedPackage {
  std::string name;     // normalised
  std::string version;  // "2.31.0"
  std::string file;     // "requests-2.31.0-py3-none-any.whl"
  std::string sha256;   // of that file, as pip found it; 64 digits

  bool operator==(const LockedPackage&) const = default;
};

// What decides which distributions a request comes to.
struct PackageQuestion {
  std::vector<std::string> requirements;  // PackageRequirement::ToString, sorted
  std::string python;                     // "3.11.2"
  std::string architecture;               // "amd64"
  std::string index;                      // address, without a name and password

  bool operator==(const PackageQuestion&) const = default;
  // 64 digits: the name of the answer in the cache.
  std::string Key() const;
};

struct PackageLock {
  PackageQuestion question;
  std::vector<LockedPackage> packages;  // sorted by their names
  TreeFacts tree;

  bool operator==(const PackageLock&) const = default;
  // "requests==2.31.0", in their order.
  std::vector<std::string> Names() const;
};

// The list of distributions as the installer gives it, which is hostile. Throws FormError
// (container/wire/fields.h).
std::vector<LockedPackage> ReadPackageList(const nlohmann::json& list);

std::string PackageLockToText(const PackageLock& lock);
// An error says what is wrong with the text.
core::Result<PackageLock> PackageLockFromText(std::string_view text);

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_PACKAGE_LOCK_H_
