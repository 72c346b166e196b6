// The configuration of a container for a profile: its command and its resource limits.
#ifndef BELLJAR_CONTAINER_BACKEND_CONTAINER_PLAN_H_
#define BELLJAR_CONTAINER_BACKEND_CONTAINER_PLAN_H_

#include <optional>

#include "container/backend/container_choice.h"
#include "container/backend/guest_connection.h"
#include "container/engines/container_engine.h"
#include "engine/core/bytes.h"
#include "engine/core/profile.h"

namespace belljar::container::backend {

// For the whole container, so that a run that uses the profile's maximum is never killed because of
// the engine's own memory: the program's memory; twice its maximum output (the original and the
// guest's copy); full folders; the interpreter, the guest, and gVisor.
core::Bytes MemoryOfContainer(const core::Profile& profile);

// Without labels. `memory`: nullopt for MemoryOfContainer.
engines::ContainerSpec PlanContainer(const ContainerChoice& choice, const core::Profile& profile,
                                     const GuestTerms& terms, std::optional<core::Bytes> memory);

}  // namespace belljar::container::backend

#endif  // BELLJAR_CONTAINER_BACKEND_CONTAINER_PLAN_H_
