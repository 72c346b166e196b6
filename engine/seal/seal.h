// The seal: what takes away everything a worker does not need, layer by layer, in this order.
//
//   1 namespaces   user, mount, pid, net, ipc, uts, cgroup     host clone + zygote (namespaces.h)
//   2 privileges   no_new_privs, no capabilities, not dumpable, unprivileged uid   (privileges.h)
//   3 rlimits      memory, CPU, file size, descriptors, processes, no core          (rlimits.h)
//   4 landlock     files, TCP, abstract sockets, signals                           (landlock.h)
//   5 cgroup       aggregate memory, processes, CPU: the host places the zygote      (cgroup.h)
//   6 seccomp      allow-list of system calls, last                                 (seccomp.h)
//
// What serves all workers of a zygote is done once, in SealZygote; what must be each worker's own
// is done in SealWorker, between clone and the first byte of guest data.
//
//   Result<PreparedSeal> seal = SealZygote(plan, stdlib);     // zygote: Python is up, no guest
//   data
//   ... clone ...
//   SealFailure failure = SealWorker(plan, *seal, socket, resources, word);    // worker
//   if (failure.step != SealStep::kNone) _exit(…);
//
// Nothing here asks for root. Nothing here weakens silently: a layer that cannot be applied is a
// failure, and leaving one out takes a plan that says so.
#ifndef BELLJAR_ENGINE_SEAL_SEAL_H_
#define BELLJAR_ENGINE_SEAL_SEAL_H_

#include <linux/filter.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/seal/landlock.h"
#include "engine/seal/worker_resources.h"

namespace belljar::seal {

// The uid and gid that guest code has inside. As root the zygote really becomes this user; as an
// ordinary user it is the name that its own uid has in the user namespace ("nobody", by custom).
inline constexpr uint32_t kSandboxUid = 65534;

struct SealPlan {
  // Which layers to apply. Privileges, rlimits and seccomp can only be left out by an operator's
  // explicit `--without`, which exists so that each layer can be tested to hold alone.
  bool namespaces = true;
  bool privileges = true;
  bool rlimits = true;
  bool landlock = true;
  bool seccomp = true;

  std::vector<core::PathRule> paths;  // readable trees; everything else does not exist
  core::Limits ceiling;               // the most any request of this zygote may ask for
  // What each worker has of its own; they need the namespaces. A workspace without them is what a
  // container has mounted, for its single run (CheckContainersWorkspace).
  std::optional<core::WorkspaceRule> workspace;
  std::optional<core::EgressListener> egress;
  // Each applied last in its process. What the zygote's allows its workers inherit, and a worker's
  // own can only take away from that; an empty one is not installed.
  std::vector<sock_filter> zygote_filter;
  std::vector<sock_filter> filter;
};

std::string SealPlanToJson(const SealPlan& plan);
core::Result<SealPlan> SealPlanFromJson(std::string_view json);

// What the zygote holds ready for its workers.
struct PreparedSeal {
  int landlock_abi = 0;                         // 0: the plan leaves Landlock out
  std::vector<ReadableTree> landlock_readable;  // for workers that make their own ruleset
  core::UniqueFd landlock_ruleset;              // of all other workers
  uint64_t base_address_space = 0;        // bytes that a worker has before it has done anything
  std::chrono::milliseconds base_cpu{0};  // and that it has used: of a clone nothing
  std::vector<std::string> covered;       // readable trees below what a workspace is mounted on
};

// Builds the private root and gives up identity and privilege. `stdlib` replaces "{stdlib}".
// Afterwards the process holds only what clone3 needs. Not reversible, also not on failure.
core::Result<PreparedSeal> SealZygote(const SealPlan& plan, const std::string& stdlib);

enum class SealStep : uint32_t {
  kNone = 0,
  kDeathSignal,
  kWorkspace,
  kEgress,
  kPrivileges,
  kRlimits,
  kLandlock,
  kDescriptors,
  kSeccomp,
  kPython,  // after the seal: bringing the interpreter back up after clone
  kCapture,
};
const char* SealStepName(SealStep step);

struct SealFailure {
  SealStep step = SealStep::kNone;
  int error_number = 0;
};

// What a worker finds of its own seal while it still runs only our code: for what no kernel shows
// from outside (Landlock), and for what some do not (gVisor's /proc of 2022 has neither
// no_new_privs nor a count of filters). Bits.
using OwnWord = uint32_t;
inline constexpr OwnWord kLandlockRefuses = 1;  // listing the root directory (LandlockRefusesRoot)
inline constexpr OwnWord kNoPrivileges = 2;     // HasNoPrivileges
inline constexpr OwnWord kFilterRefuses = 4;    // a call that was not refused before the filter

// Opens the resources of the calling worker and puts layers 2 to 6 on it. It keeps no descriptor
// but 0, 1, 2 (all /dev/null), `kept_fd` and its resources, which are for the host.
SealFailure SealWorker(const SealPlan& plan, const PreparedSeal& prepared, int kept_fd,
                       WorkerResources& resources, OwnWord& word);

// True when Landlock refuses what nothing else here would: listing the root directory.
bool LandlockRefusesRoot();

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_SEAL_H_
