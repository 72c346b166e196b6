// Layer 4, Landlock: files, TCP, abstract sockets and signals, in case a namespace fails.
#ifndef BELLJAR_ENGINE_SEAL_LANDLOCK_H_
#define BELLJAR_ENGINE_SEAL_LANDLOCK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"

namespace belljar::seal {

// The ABI of this kernel: 1 (Linux 5.13, files) … 4 (6.7, TCP) … 6 (6.12, scopes); 0: none.
int LandlockAbi();

// What ABI `abi` covers: "files, truncation, TCP". Precondition: `abi` is not 0. `any_tcp`: of a
// ruleset that leaves TCP alone.
std::string LandlockCoverage(int abi, bool any_tcp = false);

// A tree that stays readable: the inode that was opened.
struct ReadableTree {
  core::UniqueFd path;
  bool is_directory = false;
  bool is_writable_device = false;
};

// Zygote, after entering the private root.
core::Result<std::vector<ReadableTree>> OpenReadableTrees(const std::vector<core::PathRule>& paths);

// What stays allowed.
struct LandlockAllowance {
  const std::vector<ReadableTree>& readable;
  // Directories below which files, directories and symbolic links may be created, written and
  // removed; never devices or sockets, nor pipes, and nothing may be executed, but see below.
  std::vector<const char*> writable = {};
  uint16_t connect_port = 0;  // TCP, ABI 4; 0: none
  // TCP from and to any port, since the network namespace is the worker's own.
  bool any_tcp = false;
  // Programs below the readable trees may be run. They may also read /proc, if there is one, and
  // make named pipes in the writable directories, whose programs may be run with the second one.
  bool executes = false;
  bool executes_writable = false;
  bool has_terminals = false;  // their use, in kTerminals
};

// Denies everything else that ABI `abi` can deny. Zygote or worker; async-signal-safe except for
// the memory of `writable`. An empty descriptor sets errno.
core::UniqueFd CreateLandlockRuleset(const LandlockAllowance& allowance, int abi);

// Worker. Needs no_new_privs or CAP_SYS_ADMIN. Async-signal-safe; false sets errno.
bool RestrictByLandlock(int ruleset);

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_LANDLOCK_H_
