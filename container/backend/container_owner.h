// The owner of a container: an instance of Belljar by name, and the process that started it. Stored
// in labels, since nothing else is left if that process was killed.
#ifndef BELLJAR_CONTAINER_BACKEND_CONTAINER_OWNER_H_
#define BELLJAR_CONTAINER_BACKEND_CONTAINER_OWNER_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "container/engines/container_engine.h"
#include "engine/core/result.h"
#include "engine/installation/installation.h"

namespace belljar::container::backend {

inline constexpr char kInstanceLabel[] = "belljar.instance";
inline constexpr char kOwnerLabel[] = "belljar.owner";
inline constexpr char kCreatedLabel[] = "belljar.created";  // seconds since 1970

// The default for this user and this installation.
std::string DefaultInstance(const installation::Installation& installation);

// Identifies this process uniquely: "BOOT/PID NAMESPACE/PID/START TIME".
core::Result<std::string> OwnerOfThisProcess();

enum class OwnerState {
  kLiving,
  kDead,
  kUnknown,  // in another PID namespace (invisible here), or /proc does not say
};
OwnerState StateOfOwner(std::string_view owner);

// For a container that is created now.
core::Result<std::map<std::string, std::string>> OwnerLabels(const std::string& instance);

// Removes the containers of `instance` whose owner is dead; returns how many. If the owner is not
// visible from here, a container is removed once it has stopped, which it does when its owner ends.
// One that cannot be removed is left for the next time.
core::Result<size_t> RemoveOrphans(engines::ContainerEngine& engine, const std::string& instance);

}  // namespace belljar::container::backend

#endif  // BELLJAR_CONTAINER_BACKEND_CONTAINER_OWNER_H_
