// The cache of installed packages: one folder for each request, by the digest of what decides its
// answer (PackageQuestion::Key), made whole or not at all:
//
//   packages/<key>/lock.json   what was installed (package_lock.h)
//   packages/<key>/site/       the tree
//   packages/<key>.lock        held by whoever installs it: others wait and find it there
//
//   Result<PackageCache> cache = PackageCache::Open(folder);
//   Result<CachedPackages> packages = cache->Get(question, wait, [&](const std::string& site) { …
//   }); Result<void> whole = CheckTree(*packages);           before the tree is used
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
  // Makes the folder, for nobody but this user. An error where another user may write to it: what
  // lies there is run.
  static core::Result<PackageCache> Open(const std::string& folder);

  // This user's: $XDG_CACHE_HOME/belljar/packages. Empty: there is none.
  static std::string DefaultFolder();

  const std::string& folder() const { return folder_; }

  // Fills `site`, a path where an empty folder is.
  using Fill = std::function<core::Result<PackageLock>(const std::string& site)>;

  // nullopt: it is not there. An error: it is, and damaged.
  core::Result<std::optional<CachedPackages>> Find(const PackageQuestion& question) const;
  // What is there, or else what `fill` makes now: of many that ask at the same time, in whichever
  // process, one fills. ETIMEDOUT and ECANCELED: by `wait`.
  core::Result<CachedPackages> Get(const PackageQuestion& question, const LockWait& wait,
                                   const Fill& fill) const;

 private:
  explicit PackageCache(std::string folder) : folder_(std::move(folder)) {}

  core::Result<CachedPackages> Make(const PackageQuestion& question, const Fill& fill) const;

  std::string folder_;
};

// Whether the tree is as it was installed; reads all of it.
core::Result<void> CheckTree(const CachedPackages& packages);

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_PACKAGE_CACHE_H_
