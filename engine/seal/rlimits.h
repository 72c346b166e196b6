// Layer 3, rlimits: resources, as the kernel counts them for one process.
#ifndef BELLJAR_ENGINE_SEAL_RLIMITS_H_
#define BELLJAR_ENGINE_SEAL_RLIMITS_H_

#include <cstdint>

#include "engine/core/limits.h"

namespace belljar::seal {

// Sets soft and hard limits of the calling process; hard, so that nothing inside can raise them.
// `base_address_space` bytes come on top of limits.memory, and `base_cpu` on top of limits.cpu.
// Lowering them again later is allowed, which is how one request asks for less than its zygote's
// ceiling. Async-signal-safe; false sets errno. gVisor refuses to set those of pending signals and
// of message queues, which it does not count: they are left then, for the shipped filters allow no
// call that would use either up.
bool ApplyRlimits(const core::Limits& limits, uint64_t base_address_space,
                  std::chrono::milliseconds base_cpu = {});

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_RLIMITS_H_
