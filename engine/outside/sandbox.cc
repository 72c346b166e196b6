#include "engine/outside/sandbox.h"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "engine/core/text.h"
#include "engine/core/wire.h"
#include "engine/egress/egress_proxy.h"
#include "engine/host/json_reader.h"
#include "engine/host/limit_fields.h"
#include "engine/host/random.h"
#include "engine/outside/light_backend.h"
#include "engine/outside/local_backend.h"
#include "engine/outside/probe.h"
#include "engine/outside/run_once.h"
#include "engine/seal/landlock.h"
#include "engine/seal/seal_plan.h"
#include "engine/seal/seccomp.h"
#include "engine/workspace/workspace.h"

namespace belljar::outside {
namespace {

// In addition to the result: findings, traceback and variables.
constexpr core::Bytes kReportHeadroom = core::Bytes::Mebi(1);

// Multiplies the process limit of the cgroup leaf for language "full": enough for a hundred
// programs with all their threads.
constexpr uint64_t kThreadsPerProcess = 16;

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
core::Result<void> CompileFilters(const core::Profile& profile, Language language, bool single_run,
                                  seal::SealPlan& plan) {
  const bool threads = language == Language::kFull;
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

core::Result<seal::SealPlan> Plan(const SandboxOptions& options) {
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
  const Language language = LanguageOf(options);
  if (language == Language::kFull) {
    plan.ceiling.processes = std::max(plan.ceiling.processes, core::kMaxThreads);
    // The zygote of a single run has been cloned into a user namespace for it alone.
    plan.own_user = !plan.without_namespaces && !options.single_run;
  }
  if (core::Result<void> compiled =
          CompileFilters(options.profile, language, options.single_run, plan);
      !compiled) {
    return compiled.error();
  }
  return plan;
}

void PlaceInCgroup(Language language, pool::SparePoolOptions& pool) {
  core::Result<std::string> parent = seal::FindCgroupParent();
  if (parent) {
    seal::CgroupLimits limits = seal::DefaultCgroupLimits();
    if (language == Language::kFull) limits.pids *= kThreadsPerProcess;
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

// An ASCII identifier: Python would normalise others to another spelling. The policy handles
// leading underscores.
bool IsVariable(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && name.size() <= core::kMaxFunctionName && is_letter(name.front()) &&
         std::ranges::all_of(
             name, [&](char c) { return is_letter(c) || c == '_' || (c >= '0' && c <= '9'); });
}

// Checks the names of a request's variables and functions.
core::Result<void> CheckNames(const host::Request& request) {
  std::vector<std::string_view> names;
  std::ranges::copy_if(request.functions, std::back_inserter(names),
                       [](const std::string& name) { return name != host::kTakesVariables; });
  for (const host::InputVariable& input : request.inputs) {
    names.push_back(input.name);
    if (std::holds_alternative<host::JsonFailure>(
            host::ReadJson(input.json, {.depth = core::kMaxCallDepth}))) {
      return core::MakeError("take input " + core::Quoted(input.name),
                             "its value is not JSON, or is nested too deeply");
    }
  }
  std::sort(names.begin(), names.end());
  for (const std::string_view name : names) {
    if (IsVariable(name)) continue;
    return core::MakeError(
        "take input or function " + core::Quoted(name),
        "a name is an ASCII letter followed by ASCII letters, digits and underscores");
  }
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end()) {
    return core::MakeError("take inputs and functions", core::Quoted(*twice) + " occurs twice");
  }
  return {};
}

const char* ModeName(IsolationMode mode) {
  return mode == IsolationMode::kStrict ? "strict" : "standard";
}

}  // namespace

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

core::Result<std::unique_ptr<egress::EgressService>> StartEgressService(
    const SandboxOptions& options) {
  if (!options.profile.egress || options.egress_handler)
    return std::unique_ptr<egress::EgressService>();
  core::Result<egress::EgressRules> rules = egress::EgressRules::Make(options.network);
  if (!rules) return rules.error();
  return egress::EgressService::Start(std::move(*rules));
}

namespace {

// Precondition, as for the rest: the options have an installation.
core::Result<pool::SparePoolOptions> PoolFor(const SandboxOptions& options) {
  installation::Installation installation = *options.installation;
  core::Result<seal::SealPlan> plan = Plan(options);
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
  pool.zygote.environment = options.profile.environment;
  pool.zygote.huge_pages = options.profile.huge_pages;
  pool.zygote.installation = std::move(installation);
  pool.zygote.profile_document = options.profile.document;
  pool.zygote.other_profiles = options.other_profiles;
  pool.zygote.layout = {plan->ceiling.output,
                        core::Bytes{plan->ceiling.result.count + kReportHeadroom.count},
                        options.profile.artifacts};
  pool.zygote.plan = std::move(*plan);
  pool.zygote.single_run = options.single_run;
  pool.zygote.named_modules = options.named_modules;
  pool.spares = options.spares;
  pool.hides_children = options.hides_children;
  pool.rotate_after_workers = options.rotate_after_workers;
  PlaceInCgroup(LanguageOf(options), pool);
  pool.required_layers = RequiredLayers(options);
  return pool;
}

core::Result<std::unique_ptr<Backend>> StartLocal(const SandboxOptions& options) {
  core::Result<pool::SparePoolOptions> pool = PoolFor(options);
  if (!pool) return pool.error();
  core::Result<std::unique_ptr<egress::EgressService>> egress_service = StartEgressService(options);
  if (!egress_service) return egress_service.error();
  core::Result<std::unique_ptr<pool::SparePool>> started = pool::SparePool::Start(std::move(*pool));
  if (!started) return started.error();
  return std::unique_ptr<Backend>(std::make_unique<LocalBackend>(
      std::move(*started), ModeName(options.isolation), LanguageName(LanguageOf(options)),
      std::move(*egress_service), options.egress_handler));
}

// Not if no program may start over, if there is only one worker, or without the packages.
bool HasLightZygote(const SandboxOptions& options) {
  return !options.profile.light_packages.empty() && !options.profile.egress &&
         !options.single_run && !options.has_workspace &&
         options.installation->Missing(options.profile).empty();
}

std::unique_ptr<Backend> WithLightZygote(std::unique_ptr<Backend> complete,
                                         SandboxOptions options) {
  core::Profile profile = options.profile;
  options.named_modules = profile.light_packages;
  if (LanguageOf(options) == Language::kFull) options.named_modules->emplace_back(kWholeLibrary);
  return std::make_unique<LightBackend>(
      std::move(complete), std::move(profile),
      [options = std::move(options)] { return StartLocal(options); });
}

}  // namespace

core::Result<std::unique_ptr<Sandbox>> Sandbox::Open(SandboxOptions options) {
  core::Result<installation::Installation> installation =
      installation::GivenOrFound(options.installation);
  if (!installation) return installation.error();
  options.installation = std::move(*installation);
  core::Result<std::unique_ptr<Backend>> backend = StartLocal(options);
  if (!backend) return backend.error();
  if (HasLightZygote(options)) backend = WithLightZygote(std::move(*backend), options);
  // A workspace mounted by a container is for one worker only.
  options.early_runs &=
      !options.single_run && !options.profile.packages.empty() && !options.has_workspace;
  return std::unique_ptr<Sandbox>(new Sandbox(std::move(options), std::move(*backend)));
}

std::unique_ptr<Sandbox> Sandbox::Over(SandboxOptions options, std::unique_ptr<Backend> backend) {
  options.early_runs = false;
  return std::unique_ptr<Sandbox>(new Sandbox(std::move(options), std::move(backend)));
}

Sandbox::Sandbox(SandboxOptions options, std::unique_ptr<Backend> backend)
    : options_(std::move(options)), backend_(std::move(backend)) {}

Sandbox::~Sandbox() = default;

core::Result<void> Sandbox::CheckLimits(const core::Limits& limits) const {
  core::Result<void> checked;
  host::ForEachField<core::Limits>([&](auto row) {
    const auto& requested = row.Of(limits);
    const auto& max = row.Of(options_.profile.maximum_limits);
    // Counts are fixed by the profile.
    if (host::NumberField<std::remove_cvref_t<decltype(requested)>> || !checked || requested <= max)
      return;
    checked =
        core::MakeError("check limits", host::LimitTitle(row) + " " + host::LimitText(requested) +
                                            " exceeds the maximum of " + host::LimitText(max) +
                                            " of profile " + options_.profile.name);
  });
  return checked;
}

core::Result<void> Sandbox::Check(const host::Request& request,
                                  const run::RunOptions& options) const {
  if (core::Result<void> limited = CheckLimits(request.limits); !limited) return limited;
  if (core::Result<void> named = CheckNames(request); !named) return named;
  if (core::Result<void> given = host::CheckArguments(request); !given) return given;
  if (core::Result<void> files = workspace::CheckFiles(request.files, options_.profile); !files)
    return files;
  if (request.functions.empty() || options.call) return {};
  return core::MakeError("take functions", "there is no handler for their calls");
}

void Sandbox::Finish(host::Outcome& outcome) const {
  outcome.execution_id = host::NewUuid();
  if (LanguageOf(options_) == Language::kFull) {
    outcome.limits.processes = std::max(outcome.limits.processes, core::kMaxThreads);
  }
}

namespace {

// Lowers it at the end of a scope, even if a callback throws.
class LowersFlag {
 public:
  explicit LowersFlag(std::atomic<bool>& flag) : flag_(flag) {}
  LowersFlag(const LowersFlag&) = delete;
  ~LowersFlag() { flag_ = false; }

 private:
  std::atomic<bool>& flag_;
};

}  // namespace

bool Sandbox::RunsEarly(const host::Request& request) const {
  return options_.early_runs && MayStartOver(options_.profile, request) && !is_running_early_ &&
         backend_->counters().workers_spawned == 0;
}

core::Result<host::Outcome> Sandbox::RunSomewhere(const host::Request& request,
                                                  const run::RunOptions& options) {
  if (!RunsEarly(request) || is_running_early_.exchange(true)) {
    return backend_->Run(request, options);
  }
  const LowersFlag ends(is_running_early_);
  return RunWithNamed(options_, request, options, [&](const run::RunOptions& through) {
    return backend_->Run(request, through);
  });
}

core::Result<host::Outcome> Sandbox::Run(const host::Request& request,
                                         const run::RunOptions& options) {
  if (core::Result<void> checked = Check(request, options); !checked) return checked.error();
  core::Result<host::Outcome> outcome = RunSomewhere(request, options);
  if (outcome) Finish(*outcome);
  return outcome;
}

core::Result<std::shared_ptr<sessions::Session>> Sandbox::OpenSession(
    const sessions::SessionOptions& options, const run::RunOptions& run) {
  if (core::Result<void> limited = CheckLimits(options.limits); !limited) return limited.error();
  return backend_->OpenSession(options, run);
}

core::Result<host::Outcome> Sandbox::RunCell(sessions::Session& session,
                                             const host::Request& request,
                                             const run::RunOptions& options,
                                             sessions::Patience patience) {
  if (core::Result<void> checked = Check(request, options); !checked) return checked.error();
  core::Result<host::Outcome> outcome = session.Run(request, options, patience);
  if (outcome) Finish(*outcome);
  return outcome;
}

}  // namespace belljar::outside
