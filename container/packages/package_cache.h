// The cache of installed packages: one folder per request, named by the digest of everything that
// determines its result (PackageQuestion::Key), created completely or not at all:
//
//   packages/<key>/lock.json   what was installed (package_lock.h)
//   packages/<key>/site/       the tree
//   packages/<key>.lock        held while installing: others wait and then find the result
//
//   Result<PackageCache> cache = PackageCache::Open(folder);
//   Result<CachedPackages> packages = cache->Get(question, wait, [&](const std::string& site) {…});
//   Result<void> whole = CheckTree(*packages);           before the tree is used
#ifndef BELLJAR_CONTAINER_PACKAGES_PACKAGE_CACHE_H_
#define BELLJAR_CONTAINER_PACKAGES_PACKAGE_CACHE_H_

#include <functional>
#include <optional>
#include <string>

#include "container/packages/file_lock.h"
#include "container/packages/package_lock.h"
#include "engine/core/result.h"

namespace belljar::container::packages {

struct CachedPackages {
  PackageLock lock;
  std::string site;  // path of the folder
};

class PackageCache {
 public:
  // Creates the folder, accessible only to this user. An error if another user can write to it: its
  // content is executed.
  static core::Result<PackageCache> Open(const std::string& folder);

  // The user's default: $XDG_CACHE_HOME/belljar/packages. Empty: there is none.
  static std::string DefaultFolder();

  const std::string& folder() const { return folder_; }

  // Fills `site`, the path of an empty folder.
  using Fill = std::function<core::Result<PackageLock>(const std::string& site)>;

  // nullopt: not cached. An error: cached, but damaged.
  core::Result<std::optional<CachedPackages>> Find(const PackageQuestion& question) const;
  // The cached result, or what `fill` creates now. Of concurrent callers, in any process, only one
  // fills. ETIMEDOUT and ECANCELED: by `wait`.
  core::Result<CachedPackages> Get(const PackageQuestion& question, const LockWait& wait,
                                   const Fill& fill) const;

 private:
  explicit PackageCache(std::string folder) : folder_(std::move(folder)) {}

  core::Result<CachedPackages> Make(const PackageQuestion& question, const Fill& fill) const;

  std::string folder_;
};

// Checks that the tree is unchanged since it was installed; reads all of it.
core::Result<void> CheckTree(const CachedPackages& packages);

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_PACKAGE_CACHE_H_
