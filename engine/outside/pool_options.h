// From a sandbox's options to those of a pool of its workers: the plan of the seal with its
// filters, the cgroup leaf, the layout of the capture.
#ifndef BELLJAR_ENGINE_OUTSIDE_POOL_OPTIONS_H_
#define BELLJAR_ENGINE_OUTSIDE_POOL_OPTIONS_H_

#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/outside/sandbox_options.h"
#include "engine/pool/spare_pool_options.h"
#include "engine/workers/zygote_process.h"

namespace belljar::outside {

// Precondition: the options have an installation.
core::Result<pool::SparePoolOptions> PoolOptionsFor(const SandboxOptions& options,
                                                    workers::ZygoteKind kind);

// Without a network namespace of its own a program has no network, whatever its language may have:
// no socket remains but a connected pair.
void RemoveSockets(std::vector<core::SyscallRule>& rules);

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_POOL_OPTIONS_H_
