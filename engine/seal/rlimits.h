// Layer 3, rlimits: resource limits that the kernel enforces per process.
#ifndef BELLJAR_ENGINE_SEAL_RLIMITS_H_
#define BELLJAR_ENGINE_SEAL_RLIMITS_H_

#include <chrono>
#include <cstdint>

#include "engine/core/limits.h"

namespace belljar::seal {

// Sets soft and hard limits of the calling process, so that nothing inside can raise them.
// `base_address_space` bytes are added to limits.memory, and `base_cpu` to limits.cpu. Limits can
// be lowered again later, for a request below its zygote's ceiling. Async-signal-safe; false sets
// errno. gVisor does not account pending signals and message queues and refuses to limit them. That
// is ignored: the shipped filters allow no call that could exhaust either.
bool ApplyRlimits(const core::Limits& limits, uint64_t base_address_space,
                  std::chrono::milliseconds base_cpu = {});

// For a worker that waits: it may become that of a session, whose cells count their CPU time anew
// (AllowCpu). That of a run applies its own limits first, by ApplyRlimits.
bool ApplyWaitingRlimits(const core::Limits& limits, uint64_t base_address_space,
                         std::chrono::milliseconds base_cpu);

// After that, before a cell: so much more CPU time for the calling process. A guest that has taken
// it over can do the same; the host's own count is what it cannot escape.
bool AllowCpu(std::chrono::seconds more);

// For the worker of a session that is copied: the limits of CPU time and of processes, which count
// for all cells and for all copies, have hard limits above `limits`, up to which the host raises
// them with prlimit when it wants a cell or a copy. The worker's filter refuses that to the worker
// itself.
bool ApplySessionRlimits(const core::Limits& limits, uint64_t base_address_space);

// Processes in one session, all its checkpoints and branches included.
inline constexpr uint64_t kMaxSessionProcesses = 4096;

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_RLIMITS_H_
