// What a container of a profile is given: its command, and how much it may use of the machine.
#ifndef BELLJAR_CONTAINER_BACKEND_CONTAINER_PLAN_H_
#define BELLJAR_CONTAINER_BACKEND_CONTAINER_PLAN_H_

#include <optional>
#include <string>

#include "container/backend/container_choice.h"
#include "container/backend/guest_connection.h"
#include "container/engines/container_engine.h"
#include "engine/core/bytes.h"
#include "engine/core/profile.h"

namespace belljar::container::backend {

// Of everything in it, so that a run which asks for the most that the profile gives is never ended
// for what the engine itself takes: the program's memory; twice what it may leave behind (where it
// is put, and the guest's copy); the folders, full; the interpreter, the guest, and gVisor.
core::Bytes MemoryOfContainer(const core::Profile& profile);

// Without labels. `memory`: nullopt where the rule above counts.
engines::ContainerSpec PlanContainer(const ContainerChoice& choice, const core::Profile& profile,
                                     const GuestTerms& terms, std::optional<core::Bytes> memory);

}  // namespace belljar::container::backend

#endif  // BELLJAR_CONTAINER_BACKEND_CONTAINER_PLAN_H_
