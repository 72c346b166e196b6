// The seal: removes everything a worker does not need, layer by layer, in this order.
//
//   1 namespaces   user, mount, pid, net, ipc, uts, cgroup     host clone + zygote (namespaces.h)
//   2 privileges   no_new_privs, no capabilities, not dumpable, unprivileged uid   (privileges.h)
//   3 rlimits      memory, CPU, file size, descriptors, processes, no core          (rlimits.h)
//   4 landlock     files, TCP, abstract sockets, signals                           (landlock.h)
//   5 cgroup       aggregate memory, processes, CPU: the host places the zygote      (cgroup.h)
//   6 seccomp      allow-list of system calls, last                                 (seccomp.h)
//
// A worker without the language policy also enters a user namespace of its own, before it gives up
// its privileges: RLIMIT_NPROC, which bounds its threads, counts by user and namespace.
//
// What all workers of a zygote share is done once, in SealZygote. What each worker needs for itself
// is done in SealWorker, between clone and the first byte of guest data.
//
// Which layers apply, and with which values, is in the plan (seal_plan.h); how a layer is applied
// with them is in planned_layers.h and in its own file. seal.cc has the order and nothing else.
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

#include <string>

#include "engine/core/result.h"
#include "engine/seal/prepared_seal.h"
#include "engine/seal/seal_plan.h"
#include "engine/seal/seal_step.h"
#include "engine/seal/self_report.h"
#include "engine/seal/worker_resources.h"

namespace belljar::seal {

// Builds the private root and gives up identity and privileges. `stdlib` replaces "{stdlib}".
// Afterwards the process has only the rights that clone3 needs. Irreversible, even on failure.
core::Result<PreparedSeal> SealZygote(const SealPlan& plan, const std::string& stdlib);

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

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_SEAL_H_
