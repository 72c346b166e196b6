// Looks at a waiting worker from outside and says which layers hold it. What a result calls
// isolation comes from here, never from the plan.
#ifndef BELLJAR_ENGINE_OUTSIDE_OBSERVE_H_
#define BELLJAR_ENGINE_OUTSIDE_OBSERVE_H_

#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/seal/seal.h"

namespace belljar::outside {

// What of the seal is on this process itself: a container that we run in may have put it there, and
// our children inherit it, so that it proves nothing of them. Reads /proc/self; once is enough.
struct OwnSeal {
  // Of user, mnt, pid, net, ipc, uts, cgroup: the inode that names each namespace; 0: this kernel
  // does not show it.
  std::array<ino_t, 7> namespaces{};
  int seccomp_filters = 0;

  static core::Result<OwnSeal> Read();
};

// `pid` must be a child of `parent` (0: of this process) that has said that it is sealed. Reads
// `status_fd`, its /proc/<pid>/status, and its ns and limits. `filters` is how many seccomp filters
// it must have beyond those of `own`. `word` is what it said of itself while it ran only our code:
// it counts for Landlock, which leaves no mark, and where this kernel's /proc has no field for what
// is looked for; the detail says so. One entry a layer, in the order of the seal, but for the
// cgroup.
core::Result<std::vector<host::LayerState>> ObserveSeal(const OwnSeal& own, pid_t pid,
                                                        int status_fd, seal::OwnWord word,
                                                        int filters = 1, pid_t parent = 0);

// Whether the process is in the cgroup v2 leaf of this name.
bool IsInCgroup(pid_t pid, const std::string& leaf);

core::Result<core::UniqueFd> OpenStatus(pid_t pid);

// Bytes: the most that the process has had resident so far, or what it has now where the kernel
// does not show that (gVisor of 2022); 0 once it is gone.
uint64_t MaxRss(int status_fd);

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_OBSERVE_H_
