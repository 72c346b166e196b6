#include "container/backend/container_owner.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/digest.h"
#include "engine/host/number.h"

namespace belljar::container::backend {
namespace {

constexpr size_t kStatSize = 4096;
// Longer than an engine takes to start a created container.
constexpr std::chrono::minutes kMaxStarting{10};

core::Result<std::string> BootId() {
  core::Result<std::string> id = core::ReadFile("/proc/sys/kernel/random/boot_id", kStatSize);
  if (id) id->erase(id->find_last_not_of(" \n") + 1);
  return id;
}

core::Result<std::string> PidNamespace() {
  struct stat file;
  if (stat("/proc/self/ns/pid", &file) != 0) return core::SystemError("look at the PID namespace");
  return std::to_string(file.st_ino);
}

// In the kernel's clock ticks since boot: field 22 of /proc/PID/stat. nullopt: it has ended, though
// it may not be reaped yet. An error: it cannot be inspected.
core::Result<std::optional<std::string>> StartTimeOf(std::string_view pid) {
  core::Result<std::string> stat = core::ReadFile("/proc/" + std::string(pid) + "/stat", kStatSize);
  if (!stat && (stat.error().error_number == ENOENT || stat.error().error_number == ESRCH)) {
    return std::optional<std::string>();
  }
  if (!stat) return stat.error();
  // The process name before it may contain anything.
  const size_t name_end = stat->rfind(") ");
  if (name_end == stat->npos)
    return core::MakeError("look at process " + std::string(pid), "no name");
  const std::vector<std::string_view> fields =
      core::SplitAt(std::string_view(*stat).substr(name_end + 2), ' ');
  constexpr size_t kState = 0, kStartTime = 19;
  if (fields.size() <= kStartTime || fields[kState] == "Z" || fields[kState] == "X") {
    return std::optional<std::string>();
  }
  return std::optional(std::string(fields[kStartTime]));
}

int64_t SecondsNow() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string LabelOf(const engines::ListedContainer& container, const char* name) {
  const auto found = container.labels.find(name);
  return found == container.labels.end() ? std::string() : found->second;
}

bool IsLongCreated(const engines::ListedContainer& container) {
  const auto created = host::NumberFrom<int64_t>(LabelOf(container, kCreatedLabel));
  return created && SecondsNow() - *created > std::chrono::seconds(kMaxStarting).count();
}

bool IsOrphan(const engines::ListedContainer& container) {
  switch (StateOfOwner(LabelOf(container, kOwnerLabel))) {
    case OwnerState::kLiving: return false;
    case OwnerState::kDead: return true;
    case OwnerState::kUnknown: break;
  }
  return !container.running && IsLongCreated(container);
}

}  // namespace

std::string DefaultInstance(const installation::Installation& installation) {
  return "user-" + std::to_string(geteuid()) + "-" +
         host::Sha256(installation.zygote).substr(0, 12);
}

core::Result<std::string> OwnerOfThisProcess() {
  core::Result<std::string> boot = BootId();
  if (!boot) return boot;
  core::Result<std::string> pid_namespace = PidNamespace();
  if (!pid_namespace) return pid_namespace;
  const std::string pid = std::to_string(getpid());
  const core::Result<std::optional<std::string>> started = StartTimeOf(pid);
  if (!started) return started.error();
  if (!*started)
    return core::MakeError("look at this process", "/proc is not that of its PID namespace");
  return *boot + "/" + *pid_namespace + "/" + pid + "/" + **started;
}

OwnerState StateOfOwner(std::string_view owner) {
  const std::vector<std::string_view> parts = core::SplitAt(owner, '/');
  const core::Result<std::string> boot = BootId();
  const core::Result<std::string> pid_namespace = PidNamespace();
  if (parts.size() != 4 || !host::NumberFrom<pid_t>(parts[2]) || !boot || !pid_namespace) {
    return OwnerState::kUnknown;
  }
  // From another boot, or another machine that shares the engine: it cannot be inspected.
  if (parts[0] != *boot || parts[1] != *pid_namespace) return OwnerState::kUnknown;
  const core::Result<std::optional<std::string>> started = StartTimeOf(parts[2]);
  if (!started) return OwnerState::kUnknown;
  return *started == parts[3] ? OwnerState::kLiving : OwnerState::kDead;
}

core::Result<std::map<std::string, std::string>> OwnerLabels(const std::string& instance) {
  core::Result<std::string> owner = OwnerOfThisProcess();
  if (!owner) return owner.error();
  return std::map<std::string, std::string>{{kInstanceLabel, instance},
                                            {kOwnerLabel, std::move(*owner)},
                                            {kCreatedLabel, std::to_string(SecondsNow())}};
}

core::Result<size_t> RemoveOrphans(engines::ContainerEngine& engine, const std::string& instance) {
  core::Result<std::vector<engines::ListedContainer>> containers =
      engine.List(kInstanceLabel, instance);
  if (!containers) return containers.error();
  size_t removed = 0;
  for (const engines::ListedContainer& container : *containers) {
    if (IsOrphan(container) && engine.Remove(container.id)) ++removed;
  }
  return removed;
}

}  // namespace belljar::container::backend
