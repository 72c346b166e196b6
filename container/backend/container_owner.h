// Whose a container is: an instance of Belljar by name, and the process that started it. By its
// labels, which are all that is left of it where that process has been killed.
#ifndef BELLJAR_CONTAINER_BACKEND_CONTAINER_OWNER_H_
#define BELLJAR_CONTAINER_BACKEND_CONTAINER_OWNER_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "container/engines/container_engine.h"
#include "engine/core/result.h"
#include "engine/outside/installation.h"

namespace belljar::container::backend {

inline constexpr char kInstanceLabel[] = "belljar.instance";
inline constexpr char kOwnerLabel[] = "belljar.owner";
inline constexpr char kCreatedLabel[] = "belljar.created";  // seconds since 1970

// One for this user and this installation.
std::string DefaultInstance(const outside::Installation& installation);

// This process, so that no other one is ever taken for it: "BOOT/PID NAMESPACE/PID/START TIME".
core::Result<std::string> OwnerOfThisProcess();

enum class OwnerState {
  kLiving,
  kDead,
  kUnknown,  // in another PID namespace of this machine, whose processes are not seen here; or
             // /proc does not say
};
OwnerState StateOfOwner(std::string_view owner);

// Of a container that is created now.
core::Result<std::map<std::string, std::string>> OwnerLabels(const std::string& instance);

// Removes the containers of `instance` whose owner is dead; returns how many. One whose owner is
// not to be seen from here goes once it does not run any more, which it does not without its owner.
// One that cannot be removed is left to the next time.
core::Result<size_t> RemoveOrphans(engines::ContainerEngine& engine, const std::string& instance);

}  // namespace belljar::container::backend

#endif  // BELLJAR_CONTAINER_BACKEND_CONTAINER_OWNER_H_
