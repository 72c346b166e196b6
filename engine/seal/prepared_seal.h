// PreparedSeal: what the zygote prepares for its workers in SealZygote.
#ifndef BELLJAR_ENGINE_SEAL_PREPARED_SEAL_H_
#define BELLJAR_ENGINE_SEAL_PREPARED_SEAL_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/fd.h"
#include "engine/seal/landlock.h"

namespace belljar::seal {

struct PreparedSeal {
  int landlock_abi = 0;                         // 0: the plan omits Landlock
  std::vector<ReadableTree> landlock_readable;  // for workers that create their own ruleset
  core::UniqueFd landlock_ruleset;              // for all other workers
  uint64_t base_address_space = 0;              // bytes in a worker that has done nothing yet
  std::chrono::milliseconds base_cpu{0};        // CPU time likewise; zero in a clone
  bool root_of_one_user = false;                // IsRootOfOneUser: the workers' uid is that of root
  std::vector<std::string> covered;  // readable trees below the mount points of a workspace
};

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_PREPARED_SEAL_H_
