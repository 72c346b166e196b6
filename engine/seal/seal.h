// The seal: removes everything a worker does not need, layer by layer, in this order.
//
//   1 namespaces   user, mount, pid, net, ipc, uts, cgroup     host clone + zygote (namespaces.h)
//   2 privileges   no_new_privs, no capabilities, not dumpable, unprivileged uid   (privileges.h)
//   3 rlimits      memory, CPU, file size, descriptors, processes, no core          (rlimits.h)
//   4 landlock     files, TCP, abstract sockets, signals                           (landlock.h)
//   5 cgroup       aggregate memory, processes, CPU: the host places the zygote      (cgroup.h)
//   6 seccomp      allow-list of system calls, last                                 (seccomp.h)
//
// A worker in the full language also enters a user namespace of its own, before it gives up its
// privileges: RLIMIT_NPROC, which bounds its threads, counts by user and namespace.
//
// What all workers of a zygote share is done once, in SealZygote. What each worker needs for itself
// is done in SealWorker, between clone and the first byte of guest data.
//
//   Result<PreparedSeal> seal = SealZygote(plan, stdlib);   // zygote: Python is up, no guest data
//   ... clone ...
//   SealFailure failure = SealWorker(plan, *seal, socket, resources, word);    // worker
//   if (failure.step != SealStep::kNone) _exit(…);
//
// Nothing here requires root. Nothing is weakened silently: a layer that cannot be applied is a
// failure, and a layer is only omitted if the plan says so.
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

// The uid and gid of guest code inside. As root the zygote really becomes this user. For an
// ordinary user, and root of one user (privileges.h), it is what its own uid is mapped to in the
// user namespace (by convention "nobody").
inline constexpr uint32_t kSandboxUid = 65534;

struct SealPlan {
  // Which layers to apply. Privileges, rlimits and seccomp can only be omitted by an operator's
  // explicit `--without`, which exists to test each layer in isolation.
  bool namespaces = true;
  bool privileges = true;
  bool rlimits = true;
  bool landlock = true;
  bool seccomp = true;

  // Each worker enters a user namespace of its own, so that its threads count for itself alone
  // (RLIMIT_NPROC). Requires the namespaces; without them, all programs of a user share the number.
  bool own_user = false;

  std::vector<core::PathRule> paths;  // readable trees; nothing else is visible
  core::Limits ceiling;               // the maximum that any request of this zygote may ask for
  // Resources of each worker, which require the namespaces. Without them, a workspace is what a
  // container has mounted for its single run (CheckContainerWorkspace).
  std::optional<core::WorkspaceRule> workspace;
  std::optional<core::EgressListener> egress;
  // Each is installed last in its process. Workers inherit the zygote's filter, and their own can
  // only restrict it further; an empty one is not installed.
  std::vector<sock_filter> zygote_filter;
  std::vector<sock_filter> filter;
  // Used instead of `filter` for the processes of a session: its workers, and its init.
  std::vector<sock_filter> session_filter;
  std::vector<sock_filter> init_filter;
};

std::string SealPlanToJson(const SealPlan& plan);
core::Result<SealPlan> SealPlanFromJson(std::string_view json);

// What the zygote prepares for its workers.
struct PreparedSeal {
  int landlock_abi = 0;                         // 0: the plan omits Landlock
  std::vector<ReadableTree> landlock_readable;  // for workers that create their own ruleset
  core::UniqueFd landlock_ruleset;              // for all other workers
  uint64_t base_address_space = 0;              // bytes in a worker that has done nothing yet
  std::chrono::milliseconds base_cpu{0};        // CPU time likewise; zero in a clone
  bool root_of_one_user = false;                // IsRootOfOneUser: the workers' uid is that of root
  std::vector<std::string> covered;  // readable trees below the mount points of a workspace
};

// Builds the private root and gives up identity and privileges. `stdlib` replaces "{stdlib}".
// Afterwards the process has only the rights that clone3 needs. Irreversible, even on failure.
core::Result<PreparedSeal> SealZygote(const SealPlan& plan, const std::string& stdlib);

enum class SealStep : uint32_t {
  kNone = 0,
  kDeathSignal,
  kWorkspace,
  kEgress,
  kUser,
  kPrivileges,
  kRlimits,
  kLandlock,
  kDescriptors,
  kSeccomp,
  kPython,  // after the seal: restoring the interpreter after clone
  kCapture,
};
const char* SealStepName(SealStep step);

struct SealFailure {
  SealStep step = SealStep::kNone;
  int error_number = 0;
};

// What a worker finds out about its own seal while it still runs only our code. Needed for what no
// kernel shows from outside (Landlock), and for what some do not show (/proc of gVisor of 2022 has
// neither no_new_privs nor the number of filters). A bit set.
using SelfReport = uint32_t;
inline constexpr SelfReport kLandlockRefuses = 1;  // LandlockRefusesRoot
inline constexpr SelfReport kNoPrivileges = 2;     // HasNoPrivileges
// The filter refuses a call that was allowed before it.
inline constexpr SelfReport kFilterRefuses = 4;

// Opens the resources of the calling worker and applies layers 2 to 6 to it. It keeps only the
// descriptors 0, 1, 2 (all /dev/null), `kept_fd` and its resources, which are for the host.
SealFailure SealWorker(const SealPlan& plan, const PreparedSeal& prepared, int kept_fd,
                       WorkerResources& resources, SelfReport& self_report);

// Likewise for a session's worker, which may copy itself (kCopyFlags). It always has its own user
// namespace, since its copies count for it alone, and cannot change its limits.
SealFailure SealSessionWorker(const SealPlan& plan, const PreparedSeal& prepared, int kept_fd,
                              WorkerResources& resources, SelfReport& self_report);

// For a session's init (inside/session_init.h), after it has cloned the session's worker: it keeps
// only `kept_fd`, and may only receive, answer, wait for children and end.
SealFailure SealSessionInit(const SealPlan& plan, const PreparedSeal& prepared, int kept_fd);

// True if Landlock refuses what no other layer would: listing the root directory.
bool LandlockRefusesRoot();

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_SEAL_H_
