// SealPlan: which layers apply to the processes of a sandbox, and with which values. The host makes
// it of the profile and the operator's options (outside/sandbox.h), and the zygote reads it when it
// starts, before there is any guest data.
#ifndef BELLJAR_ENGINE_SEAL_SEAL_PLAN_H_
#define BELLJAR_ENGINE_SEAL_SEAL_PLAN_H_

#include <linux/filter.h>

#include <optional>
#include <tuple>
#include <vector>

#include "engine/core/limits.h"
#include "engine/core/profile.h"

namespace belljar::seal {

struct SealPlan {
  // Layers to leave out; a plan that says nothing has them all. Standard isolation omits namespaces
  // and Landlock where the machine refuses them. Privileges, rlimits and seccomp are only omitted
  // by an operator's explicit `--without`, which exists to test each layer in isolation.
  bool without_namespaces = false;
  bool without_privileges = false;
  bool without_rlimits = false;
  bool without_landlock = false;
  bool without_seccomp = false;

  // Each worker enters a user namespace of its own, so that its threads count for itself alone
  // (RLIMIT_NPROC). Requires the namespaces; without them, all programs of a user share the number.
  bool own_user = false;

  // The worker runs other programs of this machine (a language besides Python), and, with the
  // second one, what they have written into its workspace. They get a /proc with nothing but
  // themselves.
  bool runs_programs = false;
  bool runs_workspace = false;
  // Each worker has terminals of its own (WorkerResources::terminals). Requires the namespaces.
  bool has_terminals = false;
  // Each worker has a network namespace of its own, in which only the loopback interface is up, and
  // may use TCP and UDP there. Requires the namespaces: without them there is no network at all.
  bool has_loopback = false;

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
  // Instead of `filter`, of the processes of a session: its workers, and its init.
  std::vector<sock_filter> session_filter;
  std::vector<sock_filter> init_filter;

  // Of the limits only those that the seal applies.
  static auto Members(auto& plan) {
    return std::tie(plan.without_namespaces, plan.without_privileges, plan.without_rlimits,
                    plan.without_landlock, plan.without_seccomp, plan.own_user, plan.runs_programs,
                    plan.runs_workspace, plan.has_terminals, plan.has_loopback, plan.paths,
                    plan.ceiling.memory, plan.ceiling.cpu, plan.ceiling.output, plan.ceiling.result,
                    plan.ceiling.file_size, plan.ceiling.open_files, plan.ceiling.processes,
                    plan.workspace, plan.egress, plan.zygote_filter, plan.filter,
                    plan.session_filter, plan.init_filter);
  }
};

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_SEAL_PLAN_H_
