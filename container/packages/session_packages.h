// SessionPackages: what has been installed in one open session of commands. Packages are asked for
// one after the other, and are always resolved together, Python's and npm's each: what is shown at
// the end is one set of each, which other sessions with the same requirements take from the cache.
//
//   SessionPackages packages;
//   packages.Install(*source, *session, requirements, -1);
//
// Thread-safe. Copies are for branches of the session.
#ifndef BELLJAR_CONTAINER_PACKAGES_SESSION_PACKAGES_H_
#define BELLJAR_CONTAINER_PACKAGES_SESSION_PACKAGES_H_

#include <mutex>
#include <utility>
#include <vector>

#include "container/packages/package_lock.h"
#include "container/packages/package_requirement.h"
#include "container/packages/packages.h"
#include "engine/core/result.h"
#include "engine/sessions/session.h"

namespace belljar::container::packages {

// How often what is shown to one session may change: each time it is one more mount.
inline constexpr size_t kMaxChanges = 64;

class SessionPackages {
 public:
  SessionPackages() = default;
  // What is shown to it already.
  SessionPackages(std::vector<PackageRequirement> requirements, PackageSets sets)
      : state_{std::move(requirements), std::move(sets), 0} {}
  SessionPackages(const SessionPackages& other) : state_(other.state()) {}
  SessionPackages& operator=(const SessionPackages& other);

  // Installs these in addition, and shows all of them to the session. One that is asked for again
  // replaces what was asked before. After an error the session has what it had. Returns all.
  core::Result<std::vector<LockedPackage>> Install(
      Packages& source, sessions::Session& session,
      const std::vector<PackageRequirement>& requirements, int cancel_fd);

  std::vector<LockedPackage> installed() const { return PackagesIn(state().sets); }

 private:
  struct State {
    std::vector<PackageRequirement> requirements;  // by name
    PackageSets sets;
    size_t changes = 0;
  };

  State state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }

  mutable std::mutex mutex_;
  State state_;
  std::mutex installing_;
};

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_SESSION_PACKAGES_H_
