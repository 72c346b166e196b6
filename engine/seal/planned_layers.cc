#include "engine/seal/planned_layers.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/package_places.h"
#include "engine/seal/landlock.h"
#include "engine/seal/namespaces.h"
#include "engine/seal/privileges.h"
#include "engine/seal/rlimits.h"
#include "engine/seal/visible_paths.h"

namespace belljar::seal {
namespace {

core::Result<uint64_t> AddressSpaceInUse() {
  core::Result<std::string> statm = core::ReadFile("/proc/self/statm", 4096);
  if (!statm) return statm.error();
  return std::stoull(*statm) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint16_t EgressPort(const SealPlan& plan) { return plan.egress ? plan.egress->port : uint16_t{0}; }

// Whether each worker mounts a workspace of its own, instead of using an existing one (a
// container's).
bool MountsWorkspace(const SealPlan& plan) { return plan.workspace && !plan.without_namespaces; }

std::vector<const char*> Writable(const SealPlan& plan) {
  if (!plan.workspace) return {};
  return {core::kWorkspacePath, core::kTemporaryPath};
}

LandlockAllowance Allowance(const SealPlan& plan, const PreparedSeal& prepared) {
  return {.readable = prepared.landlock_readable,
          .writable = Writable(plan),
          .connect_port = EgressPort(plan),
          .any_tcp = plan.has_loopback && !plan.without_namespaces,
          .executes = plan.runs_programs,
          .executes_writable = plan.runs_workspace,
          .has_terminals = plan.has_terminals};
}

}  // namespace

core::Result<void> MeasureAddressSpace(PreparedSeal& prepared) {
  core::Result<uint64_t> base = AddressSpaceInUse();
  if (!base) return base.error();
  prepared.base_address_space = *base;
  return {};
}

core::Result<void> EnterPlannedRoot(const SealPlan& plan, const std::vector<core::PathRule>& paths,
                                    PreparedSeal& prepared) {
  std::vector<std::string> empty;
  if (plan.workspace) empty = {core::kWorkspacePath, core::kTemporaryPath};
  std::vector<core::PathRule> shown = ShownParts(paths);
  SymbolicLinks links;
  SmallFiles files;
  if (plan.runs_programs) {
    shown.push_back(ProcOfMachine());
    empty.insert(empty.end(),
                 {kOwnProc, core::kPackages, core::kPythonPackages, core::kNodePackages});
    links = LinksForPrograms();
    links.emplace_back(core::kNodeModules, core::kNodePackages);
    if (plan.has_terminals) {
      empty.emplace_back(kTerminals);
      links.emplace_back("/dev/ptmx", "pts/ptmx");
    }
    files = FilesForPrograms();
  }
  for (const core::PathRule& rule : shown) {
    if (rule.is_link) links.emplace_back(rule.path, rule.source);
  }
  std::erase_if(shown, std::mem_fn(&core::PathRule::is_link));
  if (core::Result<void> done = EnterPrivateRoot(shown, empty, links, files); !done) {
    return done.error();
  }
  if (plan.workspace) prepared.covered = CoveredByWorkspace(shown);
  return {};
}

core::Result<void> PrepareLandlock(const SealPlan& plan, const std::vector<core::PathRule>& paths,
                                   PreparedSeal& prepared) {
  prepared.landlock_abi = LandlockAbi();
  if (prepared.landlock_abi == 0) {
    return core::SystemErrorOf(ENOSYS, "Landlock",
                               "this kernel has none; it needs Linux 5.13 with lsm=landlock");
  }
  // In a private root, a tree contains only what is shown.
  core::Result<std::vector<core::PathRule>> parts =
      plan.without_namespaces ? TakenApart(paths) : paths;
  if (!parts) return parts.error();
  std::erase_if(*parts, std::mem_fn(&core::PathRule::is_link));
  // In a root that is not ours they would be the machine's.
  if (plan.runs_programs && !plan.without_namespaces) {
    for (const auto& [path, text] : FilesForPrograms()) {
      parts->push_back({.path = path, .optional = true});
    }
    parts->push_back({.path = core::kPackages});
  }
  core::Result<std::vector<ReadableTree>> readable = OpenReadableTrees(*parts);
  if (!readable) return readable.error();
  prepared.landlock_readable = std::move(*readable);
  // Rules apply to existing files, so a worker with its own mounts needs its own ruleset.
  if (MountsWorkspace(plan)) return {};
  prepared.landlock_ruleset =
      CreateLandlockRuleset(Allowance(plan, prepared), prepared.landlock_abi);
  if (!prepared.landlock_ruleset) return core::SystemError("make a Landlock ruleset");
  prepared.landlock_readable.clear();
  return {};
}

core::Result<void> GiveUpIdentity(const SealPlan& plan, PreparedSeal& prepared) {
  prepared.root_of_one_user = IsRootOfOneUser();
  return DropIdentity(!plan.without_namespaces);
}

bool DieWithParent() { return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0; }

bool EnterPlannedWorkspace(const SealPlan& plan, const PreparedSeal& prepared,
                           WorkerResources& resources) {
  resources.workspace = plan.without_namespaces
                            ? EnterContainerWorkspace()
                            : MountWorkspace(*plan.workspace, prepared.covered, plan.runs_workspace,
                                             std::move(resources.workspace));
  return static_cast<bool>(resources.workspace);
}

bool MountPlannedTerminals(WorkerResources& resources) {
  resources.terminals = MountTerminals();
  return static_cast<bool>(resources.terminals);
}

bool ListenForEgress(const SealPlan& plan, WorkerResources& resources) {
  resources.egress = OpenEgress(*plan.egress);
  return static_cast<bool>(resources.egress);
}

bool LimitWorker(WorkerKind kind, const SealPlan& plan, const PreparedSeal& prepared) {
  if (plan.runs_programs) return ApplyWaitingProgramRlimits(plan.ceiling);
  return kind == WorkerKind::kSession
             ? ApplySessionRlimits(plan.ceiling, prepared.base_address_space)
             : ApplyWaitingRlimits(plan.ceiling, prepared.base_address_space, prepared.base_cpu);
}

bool ApplyPlannedLandlock(const SealPlan& plan, const PreparedSeal& prepared) {
  if (!MountsWorkspace(plan)) return RestrictByLandlock(prepared.landlock_ruleset.get());
  const core::UniqueFd own =
      CreateLandlockRuleset(Allowance(plan, prepared), prepared.landlock_abi);
  return own && RestrictByLandlock(own.get());
}

}  // namespace belljar::seal
