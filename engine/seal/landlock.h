// Layer 4, Landlock: files, TCP, abstract sockets and signals, should a namespace slip.
#ifndef BELLJAR_ENGINE_SEAL_LANDLOCK_H_
#define BELLJAR_ENGINE_SEAL_LANDLOCK_H_

#include <cstdint>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"

namespace belljar::seal {

// The ABI of this kernel: 1 (Linux 5.13, files) … 4 (6.7, TCP) … 6 (6.12, scopes); 0 is none.
int LandlockAbi();

// A tree that stays readable, as the inode that it was when it was opened.
struct ReadableTree {
  core::UniqueFd path;
  bool is_directory = false;
};

// Zygote, after the private root.
core::Result<std::vector<ReadableTree>> OpenReadableTrees(const std::vector<core::PathRule>& paths);

// What is not refused.
struct LandlockAllowance {
  const std::vector<ReadableTree>& readable;
  // Path of directories below which files, directories and symbolic links may be made, written and
  // removed; never devices, sockets or pipes, and nothing executed.
  std::vector<const char*> writable = {};
  uint16_t connect_port = 0;  // TCP, ABI 4; 0: none
};

// Everything else that ABI `abi` can refuse is refused. Zygote or worker; async-signal-safe but for
// `writable`'s memory. An empty descriptor sets errno.
core::UniqueFd CreateLandlockRuleset(const LandlockAllowance& allowance, int abi);

// Worker. Needs no_new_privs or CAP_SYS_ADMIN. Async-signal-safe; false sets errno.
bool RestrictByLandlock(int ruleset);

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_LANDLOCK_H_
