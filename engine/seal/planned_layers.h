// Each layer with the values that a plan and its zygote have for it. seal.cc calls these in order;
// what they call, and why each layer exists, is in the layer's own header.
//
// Nothing here decides whether a layer applies: the caller has asked the plan.
#ifndef BELLJAR_ENGINE_SEAL_PLANNED_LAYERS_H_
#define BELLJAR_ENGINE_SEAL_PLANNED_LAYERS_H_

#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/seal/prepared_seal.h"
#include "engine/seal/seal_plan.h"
#include "engine/seal/worker_resources.h"

namespace belljar::seal {

// Zygote, in this order. `paths`: the plan's, resolved (visible_paths.h).
core::Result<void> MeasureAddressSpace(PreparedSeal& prepared);
core::Result<void> EnterPlannedRoot(const SealPlan& plan, const std::vector<core::PathRule>& paths,
                                    PreparedSeal& prepared);
core::Result<void> PrepareLandlock(const SealPlan& plan, const std::vector<core::PathRule>& paths,
                                   PreparedSeal& prepared);
core::Result<void> GiveUpIdentity(const SealPlan& plan, PreparedSeal& prepared);

// Zygote or worker: it is killed when the thread that is its parent ends.
bool DieWithParent();

enum class WorkerKind { kRun, kSession };

// Worker; async-signal-safe except for memory of Landlock's; false sets errno.
bool EnterPlannedWorkspace(const SealPlan& plan, const PreparedSeal& prepared,
                           WorkerResources& resources);
bool MountPlannedTerminals(WorkerResources& resources);
bool ListenForEgress(const SealPlan& plan, WorkerResources& resources);
bool LimitWorker(WorkerKind kind, const SealPlan& plan, const PreparedSeal& prepared);
bool ApplyPlannedLandlock(const SealPlan& plan, const PreparedSeal& prepared);

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_PLANNED_LAYERS_H_
