#include "container/packages/session_packages.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace belljar::container::packages {

SessionPackages& SessionPackages::operator=(const SessionPackages& other) {
  State state = other.state();
  const std::lock_guard lock(mutex_);
  state_ = std::move(state);
  return *this;
}

core::Result<std::vector<LockedPackage>> SessionPackages::Install(
    Packages& source, sessions::Session& session,
    const std::vector<PackageRequirement>& requirements, int cancel_fd) {
  const std::lock_guard one_at_a_time(installing_);
  std::map<std::string, PackageRequirement> wanted;
  State before = state();
  for (PackageRequirement& each : before.requirements) wanted[each.name] = std::move(each);
  for (const PackageRequirement& each : requirements) wanted[each.name] = each;
  State next;
  for (auto& [name, each] : wanted) next.requirements.push_back(std::move(each));
  if (next.requirements.size() > kMaxRequirements) {
    return core::MakeError("install packages",
                           "a session may name " + std::to_string(kMaxRequirements) + " in all");
  }
  core::Result<PackageSets> sets = source.InstallForPrograms(next.requirements, cancel_fd);
  if (!sets) return sets.error();
  next.changes = before.changes;
  for (const CachedPackages& each : *sets) {
    const auto is_same = [&](const CachedPackages& other) { return other.lock == each.lock; };
    if (std::ranges::any_of(before.sets, is_same)) continue;
    if (++next.changes > kMaxChanges) {
      return core::MakeError("install packages", "those of this session have changed " +
                                                     std::to_string(kMaxChanges) +
                                                     " times; open another one");
    }
    if (core::Result<void> shown = session.AttachFolder(each.site, PlaceOf(each)); !shown)
      return shown.error();
  }
  next.sets = std::move(*sets);
  const std::lock_guard lock(mutex_);
  state_ = std::move(next);
  return PackagesIn(state_.sets);
}

}  // namespace belljar::container::packages
