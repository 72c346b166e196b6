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

// For a waiting worker: it may become that of a session, whose cells count their CPU time anew
// (AllowCpu). That of a run applies its own limits first, with ApplyRlimits.
bool ApplyWaitingRlimits(const core::Limits& limits, uint64_t base_address_space,
                         std::chrono::milliseconds base_cpu);

// After that, before a cell: grants the calling process this much more CPU time. A guest that has
// taken it over can do the same; it cannot escape the host's own count.
bool AllowCpu(std::chrono::seconds more);

// For the worker of a session that is copied: the limits of CPU time and of processes, which count
// for all cells and all copies, have hard limits above `limits`, up to which the host raises them
// with prlimit for a cell or a copy. The worker's filter denies that to the worker itself.
bool ApplySessionRlimits(const core::Limits& limits, uint64_t base_address_space);

// For a worker that runs programs, each of which gets these limits. Runtimes such as V8 and the JVM
// reserve far more addresses than they use, so `limits.memory` bounds what a process may write to
// (RLIMIT_DATA, setrlimit(2)), and its addresses have kReservations more. The host bounds the
// memory of all processes together.
bool ApplyProgramRlimits(const core::Limits& limits);
// While it waits: its CPU time can still be raised for a session.
bool ApplyWaitingProgramRlimits(const core::Limits& limits);
// For an interpreter that stays for many cells: the host alone counts the CPU time of each.
bool ApplyProgramSessionRlimits(const core::Limits& limits);
inline constexpr uint64_t kReservations = uint64_t{256} << 30;

// Maximum number of processes in one session, including its checkpoints and branches.
inline constexpr uint64_t kMaxSessionProcesses = 4096;

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_RLIMITS_H_
