#include "engine/outside/pool_options.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/program_messages.h"
#include "engine/core/text.h"
#include "engine/outside/probe.h"
#include "engine/seal/landlock.h"
#include "engine/seal/seal_plan.h"
#include "engine/seal/seccomp.h"
#include "engine/seal/worker_resources.h"

namespace belljar::outside {
namespace {

// In addition to the result: findings, traceback and variables.
constexpr core::Bytes kReportHeadroom = core::Bytes::Mebi(1);

// Multiplies the process limit of the cgroup leaf without the language policy: enough for a hundred
// programs with all their threads.
constexpr uint64_t kThreadsPerProcess = 16;

constexpr uint32_t kProcessesOfContainers = 16'384;

constexpr const char* kLayers[] = {"namespaces", "privileges", "rlimits", "landlock", "seccomp"};

// The system calls of a session's init: receive, wait, answer, end.
std::vector<core::SyscallRule> InitCalls() {
  std::vector<core::SyscallRule> calls;
  for (const char* name : {"recvmsg", "sendmsg", "waitid", "close", "exit_group"}) {
    calls.push_back({name, {}});
  }
  return calls;
}

// The zygote gets the allow-list plus what spawning needs; a worker's filter removes spawning
// again. The zygote of a single run spawns nothing and has only one filter, once it is the worker.
core::Result<void> CompileFilters(const core::Profile& profile, Policy policy, bool single_run,
                                  seal::SealPlan& plan) {
  if (profile.program) {
    // The launcher never sees a byte of a program, and its workers need what a second filter would
    // take away.
    std::vector<core::SyscallRule> allowed = profile.allowed_syscalls;
    if (plan.without_namespaces) RemoveSockets(allowed);
    core::Result<std::vector<sock_filter>> filter =
        seal::CompileFilter(allowed, profile.hostile_syscalls, {.processes = true});
    if (!filter) return filter.error();
    plan.filter = std::move(*filter);
    return {};
  }
  const bool threads = policy == Policy::kOff;
  const seal::Clones clones{.threads = threads};
  std::vector<core::SyscallRule> allowed = profile.allowed_syscalls;
  if (threads) {
    allowed.insert(allowed.end(), profile.thread_syscalls.begin(), profile.thread_syscalls.end());
  }
  if (single_run) {
    core::Result<std::vector<sock_filter>> filter =
        seal::CompileFilter(allowed, profile.hostile_syscalls, clones);
    if (!filter) return filter.error();
    plan.filter = std::move(*filter);
    return {};
  }
  const std::vector<std::string>& spawning = profile.spawning_syscalls;
  std::vector<std::string> hostile;
  for (const std::string& name : spawning) allowed.push_back({name, {}});
  for (const std::string& name : profile.hostile_syscalls) {
    if (!core::Contains(spawning, name)) hostile.push_back(name);
  }
  core::Result<std::vector<sock_filter>> filter = seal::CompileFilter(allowed, hostile);
  if (!filter) return filter.error();
  plan.zygote_filter = std::move(*filter);
  filter = seal::CompileRefusal(spawning, profile.hostile_syscalls, clones);
  if (!filter) return filter.error();
  plan.filter = std::move(*filter);
  filter = seal::CompileRefusal(spawning, profile.hostile_syscalls,
                                {.threads = threads, .copies = true}, true);
  if (!filter) return filter.error();
  plan.session_filter = std::move(*filter);
  filter = seal::CompileFilter(InitCalls(), profile.hostile_syscalls);
  if (!filter) return filter.error();
  plan.init_filter = std::move(*filter);
  return {};
}

// For a worker without namespaces.
core::Result<void> CheckWorkerResources(const SandboxOptions& options) {
  const core::Profile& profile = options.profile;
  const bool needs_network = profile.egress && !options.egress_handler;
  if (profile.program && !options.owns_pid_namespace) {
    return core::MakeError("run " + profile.program->title,
                           "programs of other languages than Python are held by namespaces, and "
                           "there are none; \"belljar doctor\" shows why");
  }
  if (needs_network || (profile.workspace && !options.has_workspace)) {
    return core::MakeError("use profile " + profile.name,
                           "it gives each worker its own file system or network, which requires "
                           "namespaces; \"belljar doctor\" shows why there are none");
  }
  return profile.workspace ? seal::CheckContainerWorkspace() : core::Result<void>();
}

// Whether a process could not be created or waited for, which says nothing about what the machine
// allows.
bool IsTemporary(int error_number) {
  return core::IsExhaustion(error_number) || error_number == EAGAIN || error_number == EINTR ||
         error_number == ECHILD;
}

// Only standard isolation continues without namespaces if they are refused.
core::Result<bool> UsesNamespaces(const SandboxOptions& options) {
  if (core::Contains(options.without_layers, "namespaces")) return false;
  if (options.isolation == IsolationMode::kStrict) return true;
  const core::Result<void> probed = ProbeNamespaces();
  if (!probed && IsTemporary(probed.error().error_number)) return probed.error();
  return probed.ok();
}

// For programs of other languages. An image has no links, so a path that is one elsewhere has its
// own files. Processes are counted by user, not by container (setrlimit(2)), and all containers
// have the same one: the limit of its own bounds those of a run.
void AdaptToContainer(seal::SealPlan& plan) {
  for (const char* const path : {"/bin", "/lib", "/lib64"}) {
    plan.paths.push_back({.path = path, .optional = true});
  }
  plan.ceiling.processes = kProcessesOfContainers;
}

core::Result<seal::SealPlan> Plan(const SandboxOptions& options, bool single_run) {
  for (const std::string& layer : options.without_layers) {
    if (std::find(std::begin(kLayers), std::end(kLayers), layer) == std::end(kLayers)) {
      return core::MakeError("omit layer \"" + layer + "\"",
                             "the layers are namespaces, privileges, rlimits, landlock, seccomp");
    }
  }
  seal::SealPlan plan;
  const auto without = [&](const char* layer) {
    return core::Contains(options.without_layers, layer);
  };
  const bool standard = options.isolation == IsolationMode::kStandard;
  const core::Result<bool> namespaces = UsesNamespaces(options);
  if (!namespaces) return namespaces.error();
  plan.without_namespaces = !*namespaces;
  plan.without_privileges = without("privileges");
  plan.without_rlimits = without("rlimits");
  plan.without_landlock = without("landlock") || (standard && seal::LandlockAbi() == 0);
  plan.without_seccomp = without("seccomp");
  if (plan.without_namespaces) {
    if (core::Result<void> checked = CheckWorkerResources(options); !checked)
      return checked.error();
  }
  plan.workspace = options.profile.workspace;
  plan.egress = options.profile.egress;
  plan.paths = options.profile.paths;
  plan.ceiling = options.profile.maximum_limits;
  const Policy policy = PolicyOf(options);
  if (options.profile.program) {
    if (plan.without_namespaces) AdaptToContainer(plan);
    plan.runs_programs = true;
    plan.runs_workspace = options.profile.program->runs_workspace();
    plan.has_terminals = options.profile.program->commands;
    plan.has_loopback = options.profile.program->commands && !plan.without_namespaces;
    plan.own_user = !plan.without_namespaces && !single_run;
  } else if (policy == Policy::kOff) {
    plan.ceiling.processes = std::max(plan.ceiling.processes, core::kMaxThreads);
    // The zygote of a single run has been cloned into a user namespace for it alone.
    plan.own_user = !plan.without_namespaces && !single_run;
  }
  if (core::Result<void> compiled = CompileFilters(options.profile, policy, single_run, plan);
      !compiled) {
    return compiled.error();
  }
  return plan;
}

void PlaceInCgroup(Policy policy, pool::SparePoolOptions& pool) {
  core::Result<std::string> parent = seal::FindCgroupParent();
  if (parent) {
    seal::CgroupLimits limits = seal::DefaultCgroupLimits();
    if (policy == Policy::kOff) limits.pids *= kThreadsPerProcess;
    core::Result<seal::CgroupLeaf> leaf = seal::CgroupLeaf::Create(*parent, limits);
    if (leaf) {
      pool.cgroup.emplace(std::move(*leaf));
    } else {
      pool.no_cgroup = leaf.error().ToString();
    }
  } else {
    pool.no_cgroup = parent.error().ToString();
  }
}

}  // namespace

void RemoveSockets(std::vector<core::SyscallRule>& rules) {
  constexpr std::string_view kCalls[] = {"socket", "bind",    "listen",
                                         "accept", "accept4", "connect"};
  std::erase_if(rules, [&](const core::SyscallRule& rule) {
    return std::ranges::find(kCalls, rule.name) != std::end(kCalls);
  });
}

std::vector<std::string> RequiredLayers(const SandboxOptions& options) {
  std::vector<std::string> required;
  for (const char* layer : kLayers) {
    const bool optional =
        options.isolation == IsolationMode::kStandard &&
        (layer == std::string_view("namespaces") || layer == std::string_view("landlock"));
    if (!optional && !core::Contains(options.without_layers, layer)) required.push_back(layer);
  }
  return required;
}

core::Result<pool::SparePoolOptions> PoolOptionsFor(const SandboxOptions& options,
                                                    workers::ZygoteKind kind) {
  installation::Installation installation = *options.installation;
  core::Result<seal::SealPlan> plan = Plan(options, kind.single_run);
  if (!plan) return plan.error();
  pool::SparePoolOptions pool;
  // A missing set is not a failure: modules that need it cannot be imported, and `info` says so.
  pool.zygote.missing = installation.Missing(options.profile);
  for (const core::PackageSet& set : options.profile.packages) {
    installation::PackageFolder folder = installation.FolderOfSet(set.name);
    if (folder.path.empty()) continue;
    plan->paths.push_back({.path = folder.path, .only = folder.entries});
    pool.zygote.packages.push_back(std::move(folder));
    pool.zygote.package_sets.push_back(set.name);
  }
  pool.zygote.program = options.profile.program;
  pool.zygote.environment = options.profile.environment;
  pool.zygote.huge_pages = options.profile.huge_pages;
  pool.zygote.installation = std::move(installation);
  pool.zygote.profile_document = options.profile.document;
  pool.zygote.other_profiles = options.other_profiles;
  const uint64_t result = plan->ceiling.result.count;
  const uint64_t report = options.profile.program ? core::MaxAnswer(result) : result;
  pool.zygote.layout = {plan->ceiling.output, core::Bytes{report + kReportHeadroom.count},
                        options.profile.artifacts};
  pool.zygote.plan = std::move(*plan);
  pool.zygote.kind = std::move(kind);
  pool.spares = options.spares;
  pool.hides_children = options.hides_children;
  pool.owns_pid_namespace = options.owns_pid_namespace;
  pool.rotate_after_workers = options.rotate_after_workers;
  PlaceInCgroup(PolicyOf(options), pool);
  pool.required_layers = RequiredLayers(options);
  return pool;
}

}  // namespace belljar::outside
