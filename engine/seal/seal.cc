#include "engine/seal/seal.h"

#include <errno.h>

#include "engine/seal/descriptors.h"
#include "engine/seal/namespaces.h"
#include "engine/seal/planned_layers.h"
#include "engine/seal/privileges.h"
#include "engine/seal/rlimits.h"
#include "engine/seal/seccomp.h"
#include "engine/seal/visible_paths.h"

namespace belljar::seal {
namespace {

SealFailure FailedAt(SealStep step) { return {step, errno}; }

SealFailure Seal(WorkerKind kind, const SealPlan& plan, const PreparedSeal& prepared, int kept_fd,
                 WorkerResources& resources, SelfReport& self_report) {
  const bool is_session = kind == WorkerKind::kSession;
  // The parent is the host's own spawning thread (CLONE_PARENT), so the worker dies with the host;
  // or its session's init, and so does that.
  if (!DieWithParent()) return FailedAt(SealStep::kDeathSignal);
  if (resources.workspace && (!plan.workspace || plan.without_namespaces))
    return {SealStep::kWorkspace, EINVAL};
  if (plan.workspace && !EnterPlannedWorkspace(plan, prepared, resources))
    return FailedAt(SealStep::kWorkspace);
  if (plan.runs_programs && !plan.without_namespaces && !MountOwnProc())
    return FailedAt(SealStep::kProcesses);
  if (plan.has_terminals && !plan.without_namespaces && !MountPlannedTerminals(resources))
    return FailedAt(SealStep::kTerminals);
  if (plan.has_loopback && !plan.without_namespaces && !OpenLoopback())
    return FailedAt(SealStep::kLoopback);
  // Without a network namespace of its own, something else already listens as the egress proxy.
  if (plan.egress && !plan.without_namespaces && !ListenForEgress(plan, resources))
    return FailedAt(SealStep::kEgress);
  if ((plan.own_user || is_session) && !plan.without_namespaces && !EnterOwnUser())
    return FailedAt(SealStep::kUser);
  if (!plan.without_privileges && !DropPrivileges()) return FailedAt(SealStep::kPrivileges);
  if (!plan.without_rlimits && !LimitWorker(kind, plan, prepared))
    return FailedAt(SealStep::kRlimits);
  if (!plan.without_landlock && !ApplyPlannedLandlock(plan, prepared))
    return FailedAt(SealStep::kLandlock);
  // The ruleset and everything else that the zygote holds must not reach the guest.
  if (!CloseAllBut(
          {kept_fd, resources.workspace.get(), resources.egress.get(), resources.terminals.get()}))
    return FailedAt(SealStep::kDescriptors);
  const SealBeforeFilter before = LookBeforeFilter(prepared.root_of_one_user, plan.runs_programs);
  if (!plan.without_seccomp && !InstallFilter(is_session ? plan.session_filter : plan.filter))
    return FailedAt(SealStep::kSeccomp);
  self_report = ReportOnSeal(before);
  return {};
}

}  // namespace

core::Result<PreparedSeal> SealZygote(const SealPlan& plan, const std::string& stdlib) {
  PreparedSeal prepared;
  // Measured first: there is no /proc afterwards.
  if (auto done = MeasureAddressSpace(prepared); !done) return done.error();
  const std::vector<core::PathRule> paths = ResolvePaths(plan.paths, stdlib);
  if (!plan.without_namespaces) {
    if (auto done = EnterPlannedRoot(plan, paths, prepared); !done) return done.error();
  }
  if (!plan.without_landlock) {
    if (auto done = PrepareLandlock(plan, paths, prepared); !done) return done.error();
  }
  if (!plan.without_privileges) {
    if (auto done = GiveUpIdentity(plan, prepared); !done) return done.error();
  }
  // As for workers; also, nobody may be left with the permission to kill us. Changing identity
  // clears it.
  if (!DieWithParent()) return core::SystemError("set the zygote's death signal");
  if (!plan.without_seccomp && !plan.zygote_filter.empty() && !InstallFilter(plan.zygote_filter)) {
    return core::SystemError("install the zygote's filter");
  }
  return prepared;
}

SealFailure SealWorker(const SealPlan& plan, const PreparedSeal& prepared, int kept_fd,
                       WorkerResources& resources, SelfReport& self_report) {
  return Seal(WorkerKind::kRun, plan, prepared, kept_fd, resources, self_report);
}

SealFailure SealSessionWorker(const SealPlan& plan, const PreparedSeal& prepared, int kept_fd,
                              WorkerResources& resources, SelfReport& self_report) {
  return Seal(WorkerKind::kSession, plan, prepared, kept_fd, resources, self_report);
}

SealFailure SealSessionInit(const SealPlan& plan, const PreparedSeal& prepared, int kept_fd) {
  if (!plan.without_privileges && !DropPrivileges()) return FailedAt(SealStep::kPrivileges);
  if (!plan.without_rlimits && !ApplyRlimits(plan.ceiling, prepared.base_address_space))
    return FailedAt(SealStep::kRlimits);
  if (!plan.without_landlock && !ApplyPlannedLandlock(plan, prepared))
    return FailedAt(SealStep::kLandlock);
  if (!CloseAllBut({kept_fd, -1, -1, -1})) return FailedAt(SealStep::kDescriptors);
  if (!plan.without_seccomp && !InstallFilter(plan.init_filter))
    return FailedAt(SealStep::kSeccomp);
  return {};
}

}  // namespace belljar::seal
