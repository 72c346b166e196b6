// Packages: turns a list of requirements into trees of modules for programs of this machine's
// Python or Node.js, or into a profile with a built image, for runs in containers.
//
//   Result<std::unique_ptr<Packages>> packages = Packages::Open({.source = …});
//   Result<PackageSets> sets = (*packages)->InstallForPrograms(*ParseRequirements(texts), -1);
//   ShowPackages(*sets, profile);                     or, in an open session, session_packages.h
//
//   Result<std::unique_ptr<Packages>> packages = Packages::Open({.source = …, .selection = …});
//   Result<PreparedPackages> prepared = (*packages)->Prepare(base, *ParseRequirements(texts), -1);
//   OpenContainerSandbox({.profile = prepared->profile}, {.selection = prepared->selection});
//
//   requirements ─▶ cache ──▶ lock, tree ─▶ (profile ─▶ image ─▶ engine)
//                     └─ not cached: the installer, in a sandbox or a container of its own
//
// No package code ever runs in this process, or before a seal outside a container: here packages
// are only bytes.
#ifndef BELLJAR_CONTAINER_PACKAGES_PACKAGES_H_
#define BELLJAR_CONTAINER_PACKAGES_PACKAGES_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "container/backend/container_choice.h"
#include "container/image/image_files.h"
#include "container/packages/installer.h"
#include "container/packages/package_cache.h"
#include "container/packages/package_image.h"
#include "container/packages/package_index.h"
#include "container/packages/package_profile.h"
#include "container/packages/package_requirement.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/installation/installation.h"

namespace belljar::container::packages {

struct PackagesOptions {
  std::optional<installation::Installation> installation;  // nullopt: the running program's
  PackageSource source;
  InstallBounds bounds;
  std::string folder;  // of the cache; empty: the user's (PackageCache::DefaultFolder)
  // The engine that installs and runs; the image is ignored. nullopt: the installer runs in the
  // kernel layers alone, and there are no images.
  std::optional<backend::ContainerSelection> selection;
};

struct PreparedPackages {
  core::Profile profile;
  PackageLock lock;
  backend::ContainerSelection selection;  // the engine that has the image
};

// At most one of Python's packages, and one of npm's.
using PackageSets = std::vector<CachedPackages>;

class Packages {
 public:
  // Contacts nothing. Reports configuration errors (the index, the folder); the detail gives the
  // fix.
  static core::Result<std::unique_ptr<Packages>> Open(PackagesOptions options);

  // From the cache, or installed now: all Python's, or all npm's. Any thread. An error says what to
  // do, and leaves nothing.
  core::Result<CachedPackages> Install(const std::vector<PackageRequirement>& requirements,
                                       int cancel_fd);

  // Install, for programs in a sandbox of this machine (CheckPlace). The trees have been checked.
  core::Result<PackageSets> InstallForPrograms(const std::vector<PackageRequirement>& requirements,
                                               int cancel_fd);

  // The profile for an image of `base` with these packages. The tree has been checked.
  core::Result<PackageProfile> MakeProfile(const core::Profile& base,
                                           const CachedPackages& packages);

  // Both steps, and the image in the engine. Precondition: `selection` was given.
  core::Result<PreparedPackages> Prepare(const core::Profile& base,
                                         const std::vector<PackageRequirement>& requirements,
                                         int cancel_fd);

  const installation::Installation& installation() const { return installation_; }

 private:
  Packages(PackagesOptions options, installation::Installation installation,
           std::optional<PackageIndex> index, std::optional<PackageIndex> registry,
           PackageCache cache)
      : options_(std::move(options)),
        installation_(std::move(installation)),
        index_(std::move(index)),
        registry_(std::move(registry)),
        cache_(std::move(cache)) {}

  struct ReadyImage {
    ImageMark mark;
    core::Profile profile;
  };

  core::Result<void> CheckBase(const core::Profile& base) const;
  std::optional<ReadyImage> FindReady(const std::string& name);
  core::Result<void> CheckOnce(const CachedPackages& packages);
  core::Result<const PackageIndex*> IndexOf(bool is_npm) const;
  LockWait MakeLockWait(int cancel_fd) const;
  core::Result<PackageLock> RunInstaller(const PackageQuestion& question, const std::string& site,
                                         int cancel_fd);
  core::Result<std::unique_ptr<outside::Sandbox>> OpenInstaller(const PackageIndex& index,
                                                                bool is_npm, int cancel_fd);

  const PackagesOptions options_;
  const installation::Installation installation_;
  const std::optional<PackageIndex> index_;
  const std::optional<PackageIndex> registry_;  // of npm's
  const PackageCache cache_;

  std::mutex mutex_;
  // By profile name: what this process has found complete in the engine. Reading all files again
  // for every run would cost more than the run.
  std::map<std::string, ReadyImage> ready_;
  // The trees that this process has found unchanged, by folder.
  std::set<std::string> checked_;
};

// Whether programs with this profile find these packages when they are shown to them: without a
// container it is of another language than the embedded Python, whose interpreter looks for them at
// core/package_places.h. An error is the caller's.
core::Result<void> CheckPlace(const core::Profile& profile,
                              const std::vector<PackageRequirement>& requirements,
                              bool in_container);

const char* PlaceOf(const CachedPackages& packages);
void ShowPackages(const PackageSets& sets, core::Profile& profile);
std::vector<LockedPackage> PackagesIn(const PackageSets& sets);

// The input for an image with a set of packages.
image::ImageRequest ImageOfPackages(const installation::Installation& installation,
                                    const PackageProfile& made, const CachedPackages& packages);

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_PACKAGES_H_
