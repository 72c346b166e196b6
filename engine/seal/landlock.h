// Layer 4, Landlock: files, TCP, abstract sockets and signals, should a namespace slip.
#ifndef BELLJAR_ENGINE_SEAL_LANDLOCK_H_
#define BELLJAR_ENGINE_SEAL_LANDLOCK_H_

#include <vector>

#include "engine/core/fd.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"

namespace belljar {

// The ABI of this kernel: 1 (Linux 5.13, files) … 4 (6.7, TCP) … 6 (6.12, scopes); 0 is none.
int LandlockAbi();

// Everything that the best ABI there is can refuse is refused, but reading below `paths`.
// Zygote, after the private root: the rules bind to the inodes seen from there.
Result<UniqueFd> CreateLandlockRuleset(const std::vector<PathRule>& paths);

// Worker. Needs no_new_privs or CAP_SYS_ADMIN. Async-signal-safe; false sets errno.
bool RestrictByLandlock(int ruleset);

}  // namespace belljar

#endif  // BELLJAR_ENGINE_SEAL_LANDLOCK_H_
