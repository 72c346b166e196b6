#include "engine/seal/seal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/seal/landlock.h"
#include "engine/seal/namespaces.h"
#include "engine/seal/privileges.h"
#include "engine/seal/rlimits.h"
#include "engine/seal/seccomp.h"

namespace belljar::seal {
namespace {

core::Result<uint64_t> AddressSpaceInUse() {
  core::Result<std::string> statm = core::ReadFile("/proc/self/statm", 4096);
  if (!statm) return statm.error();
  return std::stoull(*statm) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// The largest descriptor that gVisor of 2022 accepts.
constexpr unsigned kLastDescriptor = 0x7fffffff;

bool CloseFrom(unsigned first, unsigned last) {
  return first > last || syscall(SYS_close_range, first, last, 0) == 0;
}

// Closes all descriptors except 0 to 2 and the valid ones in `kept`.
bool CloseAllBut(std::array<int, 3> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned first = 3;
  for (const int fd : kept) {
    if (fd < 3) continue;
    const auto last = static_cast<unsigned>(fd);
    if (!CloseFrom(first, last - 1)) return false;
    first = last + 1;
  }
  return CloseFrom(first, kLastDescriptor);
}

// One instruction is one 64-bit word.
std::vector<uint64_t> Encode(const std::vector<sock_filter>& filter) {
  static_assert(sizeof(sock_filter) == sizeof(uint64_t));
  std::vector<uint64_t> words(filter.size());
  // data() of an empty vector may be null, which memcpy does not allow.
  if (!filter.empty()) memcpy(words.data(), filter.data(), filter.size() * sizeof(uint64_t));
  return words;
}

std::vector<sock_filter> Decode(const std::vector<uint64_t>& words) {
  std::vector<sock_filter> filter(words.size());
  if (!words.empty()) memcpy(filter.data(), words.data(), words.size() * sizeof(uint64_t));
  return filter;
}

// Packages installed into an interpreter's own folders are inside its library, but not part of it:
// a guest gets only what its profile names (Debian uses the second name).
constexpr const char* kInstalledPackages[] = {"site-packages", "dist-packages"};

std::vector<core::PathRule> Resolve(std::vector<core::PathRule> paths, const std::string& stdlib) {
  for (core::PathRule& rule : paths) {
    if (rule.path != "{stdlib}") continue;
    rule.path = stdlib;
    rule.without.assign(std::begin(kInstalledPackages), std::end(kInstalledPackages));
  }
  return paths;
}

// The shown parts of each tree, without duplicates: rules may overlap.
std::vector<core::PathRule> Spread(const std::vector<core::PathRule>& paths) {
  std::vector<core::PathRule> parts;
  std::set<std::string> known;
  for (const core::PathRule& rule : paths) {
    if (rule.only.empty()) parts.push_back(rule);
    for (const std::string& entry : rule.only) {
      std::string path = rule.path + "/" + entry;
      if (known.insert(path).second) parts.push_back({std::move(path), rule.optional});
    }
  }
  return parts;
}

bool HasWhatIsLeftOut(const core::PathRule& rule) {
  return std::any_of(rule.without.begin(), rule.without.end(), [&](const std::string& name) {
    std::error_code code;
    return std::filesystem::exists(rule.path + "/" + name, code) || code;
  });
}

// Landlock cannot exclude parts of a tree. A tree with excluded entries is therefore split into its
// other entries if any of the excluded ones exists. The tree's own folder can then no longer be
// listed.
core::Result<std::vector<core::PathRule>> TakenApart(const std::vector<core::PathRule>& paths) {
  std::vector<core::PathRule> parts;
  for (const core::PathRule& rule : Spread(paths)) {
    const auto is_left_out = [&](const std::string& name) {
      return std::find(rule.without.begin(), rule.without.end(), name) != rule.without.end();
    };
    if (!HasWhatIsLeftOut(rule)) {
      parts.push_back(rule);
      continue;
    }
    std::error_code code;
    std::filesystem::directory_iterator entries(rule.path, code);
    for (; !code && entries != std::filesystem::directory_iterator(); entries.increment(code)) {
      // Optional: a dangling link is skipped.
      if (!is_left_out(entries->path().filename())) parts.push_back({entries->path(), true});
    }
    if (code) return core::SystemErrorOf(code.value(), "list " + rule.path);
  }
  return parts;
}

uint16_t EgressPort(const SealPlan& plan) { return plan.egress ? plan.egress->port : uint16_t{0}; }

// Whether each worker mounts a workspace of its own, instead of using an existing one (a
// container's).
bool MountsWorkspace(const SealPlan& plan) { return plan.workspace && plan.namespaces; }

std::vector<const char*> Writable(const SealPlan& plan) {
  if (!plan.workspace) return {};
  return {core::kWorkspacePath, core::kTemporaryPath};
}

core::Result<void> PrepareLandlock(const SealPlan& plan, const std::vector<core::PathRule>& paths,
                                   PreparedSeal& prepared) {
  prepared.landlock_abi = LandlockAbi();
  if (prepared.landlock_abi == 0) {
    return core::SystemErrorOf(
        ENOSYS, "Landlock", "this kernel does not have it; it needs Linux 5.13 with lsm=landlock");
  }
  // In a private root, a tree contains only what is shown.
  core::Result<std::vector<core::PathRule>> parts = plan.namespaces ? paths : TakenApart(paths);
  if (!parts) return parts.error();
  core::Result<std::vector<ReadableTree>> readable = OpenReadableTrees(*parts);
  if (!readable) return readable.error();
  prepared.landlock_readable = std::move(*readable);
  // Rules apply to existing files, so a worker with its own mounts needs its own ruleset.
  if (MountsWorkspace(plan)) return {};
  prepared.landlock_ruleset = CreateLandlockRuleset({.readable = prepared.landlock_readable,
                                                     .writable = Writable(plan),
                                                     .connect_port = EgressPort(plan)},
                                                    prepared.landlock_abi);
  if (!prepared.landlock_ruleset) return core::SystemError("create a Landlock ruleset");
  prepared.landlock_readable.clear();
  return {};
}

bool ApplyLandlock(const SealPlan& plan, const PreparedSeal& prepared) {
  if (!MountsWorkspace(plan)) return RestrictByLandlock(prepared.landlock_ruleset.get());
  const core::UniqueFd own = CreateLandlockRuleset({.readable = prepared.landlock_readable,
                                                    .writable = Writable(plan),
                                                    .connect_port = EgressPort(plan)},
                                                   prepared.landlock_abi);
  return own && RestrictByLandlock(own.get());
}

bool IsBelow(const std::string& path, const std::string& directory) {
  return path.starts_with(directory + "/");
}

// The paths of those that exist. One that is inside another is covered by that one.
std::vector<std::string> CoveredByWorkspace(const std::vector<core::PathRule>& paths) {
  std::vector<std::string> covered;
  for (const core::PathRule& rule : paths) {
    if (!IsBelow(rule.path, core::kWorkspacePath) && !IsBelow(rule.path, core::kTemporaryPath))
      continue;
    const bool is_in_another =
        std::any_of(covered.begin(), covered.end(),
                    [&](const std::string& other) { return IsBelow(rule.path, other); });
    if (is_in_another) continue;
    if (access(rule.path.c_str(), F_OK) == 0) covered.push_back(rule.path);
  }
  return covered;
}

SealFailure OpenWorkerResources(const SealPlan& plan, const PreparedSeal& prepared,
                                WorkerResources& resources) {
  if (plan.workspace) {
    resources.workspace = plan.namespaces ? MountWorkspace(*plan.workspace, prepared.covered)
                                          : EnterContainerWorkspace();
    if (!resources.workspace) return {SealStep::kWorkspace, errno};
  }
  // Without a network namespace of its own, something else is already listening as the egress
  // proxy.
  if (plan.egress && plan.namespaces) {
    resources.egress = OpenEgress(*plan.egress);
    if (!resources.egress) return {SealStep::kEgress, errno};
  }
  return {};
}

SealFailure Limit(const SealPlan& plan, const PreparedSeal& prepared, bool is_session) {
  if (!plan.rlimits) return {};
  const bool done = is_session ? ApplySessionRlimits(plan.ceiling, prepared.base_address_space)
                               : ApplyWaitingRlimits(plan.ceiling, prepared.base_address_space,
                                                     prepared.base_cpu);
  return done ? SealFailure() : SealFailure{SealStep::kRlimits, errno};
}

// The shipped filters answer it with EPERM, and a kernel with EINVAL: a thread that does not share
// signal handlers.
bool IsCloneRefused() {
  return syscall(SYS_clone, CLONE_VM | CLONE_THREAD, 0, 0, 0, 0) < 0 && errno == EPERM;
}

SealFailure Seal(const SealPlan& plan, const PreparedSeal& prepared, int kept_fd,
                 WorkerResources& resources, SelfReport& self_report, bool is_session) {
  // The parent is the host's spawning thread (CLONE_PARENT), so the worker dies with the host; or
  // it is its session's init, which also dies with the host.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return {SealStep::kDeathSignal, errno};
  if (SealFailure failure = OpenWorkerResources(plan, prepared, resources);
      failure.step != SealStep::kNone) {
    return failure;
  }
  const bool own_user = plan.own_user || is_session;
  if (own_user && plan.namespaces && !EnterOwnUser()) return {SealStep::kUser, errno};
  if (plan.privileges && !DropPrivileges()) return {SealStep::kPrivileges, errno};
  if (const SealFailure failure = Limit(plan, prepared, is_session);
      failure.step != SealStep::kNone) {
    return failure;
  }
  if (plan.landlock && !ApplyLandlock(plan, prepared)) return {SealStep::kLandlock, errno};
  // The ruleset and everything else that the zygote holds must not reach the guest.
  if (!CloseAllBut({kept_fd, resources.workspace.get(), resources.egress.get()})) {
    return {SealStep::kDescriptors, errno};
  }
  // Checked here: the filter refuses prctl.
  self_report = HasNoPrivileges(prepared.root_of_one_user) ? kNoPrivileges : 0;
  const bool refused_before = IsCloneRefused();
  if (plan.seccomp && !InstallFilter(is_session ? plan.session_filter : plan.filter)) {
    return {SealStep::kSeccomp, errno};
  }
  if (!refused_before && IsCloneRefused()) self_report |= kFilterRefuses;
  if (LandlockRefusesRoot()) self_report |= kLandlockRefuses;
  return {};
}

}  // namespace

core::Result<PreparedSeal> SealZygote(const SealPlan& plan, const std::string& stdlib) {
  PreparedSeal prepared;
  // Measured first: there is no /proc afterwards.
  core::Result<uint64_t> base = AddressSpaceInUse();
  if (!base) return base.error();
  prepared.base_address_space = *base;

  const std::vector<core::PathRule> paths = Resolve(plan.paths, stdlib);
  if (plan.namespaces) {
    std::vector<std::string> empty;
    if (plan.workspace) empty = {core::kWorkspacePath, core::kTemporaryPath};
    const std::vector<core::PathRule> shown = Spread(paths);
    if (core::Result<void> done = EnterPrivateRoot(shown, empty); !done) return done.error();
    if (plan.workspace) prepared.covered = CoveredByWorkspace(shown);
  }
  if (plan.landlock) {
    if (core::Result<void> done = PrepareLandlock(plan, paths, prepared); !done)
      return done.error();
  }
  if (plan.privileges) {
    prepared.root_of_one_user = IsRootOfOneUser();
    if (core::Result<void> done = DropIdentity(plan.namespaces); !done) return done.error();
  }
  // As for workers; also, nobody must keep the permission to kill us. Changing identity clears it.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
    return core::SystemError("set the zygote's death signal");
  if (plan.seccomp && !plan.zygote_filter.empty() && !InstallFilter(plan.zygote_filter)) {
    return core::SystemError("install the zygote's filter");
  }
  return prepared;
}

SealFailure SealWorker(const SealPlan& plan, const PreparedSeal& prepared, int kept_fd,
                       WorkerResources& resources, SelfReport& self_report) {
  return Seal(plan, prepared, kept_fd, resources, self_report, false);
}

SealFailure SealSessionWorker(const SealPlan& plan, const PreparedSeal& prepared, int kept_fd,
                              WorkerResources& resources, SelfReport& self_report) {
  return Seal(plan, prepared, kept_fd, resources, self_report, true);
}

SealFailure SealSessionInit(const SealPlan& plan, const PreparedSeal& prepared, int kept_fd) {
  if (plan.privileges && !DropPrivileges()) return {SealStep::kPrivileges, errno};
  if (plan.rlimits && !ApplyRlimits(plan.ceiling, prepared.base_address_space)) {
    return {SealStep::kRlimits, errno};
  }
  if (plan.landlock && !ApplyLandlock(plan, prepared)) return {SealStep::kLandlock, errno};
  if (!CloseAllBut({kept_fd, -1, -1})) return {SealStep::kDescriptors, errno};
  if (plan.seccomp && !InstallFilter(plan.init_filter)) return {SealStep::kSeccomp, errno};
  return {};
}

bool LandlockRefusesRoot() {
  const core::UniqueFd root(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return !root && errno == EACCES;
}

const char* SealStepName(SealStep step) {
  switch (step) {
    case SealStep::kNone: return "none";
    case SealStep::kDeathSignal: return "parent death signal";
    case SealStep::kWorkspace: return "workspace";
    case SealStep::kEgress: return "egress listener";
    case SealStep::kUser: return "user namespace";
    case SealStep::kPrivileges: return "privileges";
    case SealStep::kRlimits: return "rlimits";
    case SealStep::kLandlock: return "landlock";
    case SealStep::kDescriptors: return "descriptors";
    case SealStep::kSeccomp: return "seccomp";
    case SealStep::kPython: return "python after clone";
    case SealStep::kCapture: return "capture";
  }
  return "unknown";
}

std::string SealPlanToJson(const SealPlan& plan) {
  nlohmann::json json = {{"namespaces", plan.namespaces},
                         {"privileges", plan.privileges},
                         {"rlimits", plan.rlimits},
                         {"landlock", plan.landlock},
                         {"seccomp", plan.seccomp},
                         {"own_user", plan.own_user},
                         {"paths", nlohmann::json::array()},
                         {"memory", plan.ceiling.memory.count},
                         {"cpu_ms", plan.ceiling.cpu.count()},
                         {"output", plan.ceiling.output.count},
                         {"result", plan.ceiling.result.count},
                         {"file_size", plan.ceiling.file_size.count},
                         {"open_files", plan.ceiling.open_files},
                         {"processes", plan.ceiling.processes},
                         {"zygote_filter", Encode(plan.zygote_filter)},
                         {"filter", Encode(plan.filter)},
                         {"session_filter", Encode(plan.session_filter)},
                         {"init_filter", Encode(plan.init_filter)}};
  if (plan.workspace) {
    json["workspace"] = {{"size", plan.workspace->size.count}, {"inodes", plan.workspace->inodes}};
  }
  if (plan.egress) json["door"] = {{"port", plan.egress->port}};
  for (const core::PathRule& rule : plan.paths) {
    json["paths"].push_back({{"path", rule.path},
                             {"optional", rule.optional},
                             {"only", rule.only},
                             {"device", rule.device}});
  }
  return json.dump();
}

core::Result<SealPlan> SealPlanFromJson(std::string_view text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    SealPlan plan;
    json.at("namespaces").get_to(plan.namespaces);
    json.at("privileges").get_to(plan.privileges);
    json.at("rlimits").get_to(plan.rlimits);
    json.at("landlock").get_to(plan.landlock);
    json.at("seccomp").get_to(plan.seccomp);
    json.at("own_user").get_to(plan.own_user);
    json.at("memory").get_to(plan.ceiling.memory.count);
    plan.ceiling.cpu = std::chrono::milliseconds(json.at("cpu_ms").get<int64_t>());
    json.at("output").get_to(plan.ceiling.output.count);
    json.at("result").get_to(plan.ceiling.result.count);
    json.at("file_size").get_to(plan.ceiling.file_size.count);
    json.at("open_files").get_to(plan.ceiling.open_files);
    json.at("processes").get_to(plan.ceiling.processes);
    for (const auto& rule : json.at("paths")) {
      plan.paths.push_back({.path = rule.at("path").get<std::string>(),
                            .optional = rule.at("optional").get<bool>(),
                            .only = rule.at("only").get<std::vector<std::string>>(),
                            .device = rule.at("device").get<bool>()});
    }
    if (json.contains("workspace")) {
      const auto& workspace = json.at("workspace");
      plan.workspace = core::WorkspaceRule{core::Bytes{workspace.at("size").get<uint64_t>()},
                                           workspace.at("inodes").get<uint32_t>()};
    }
    if (json.contains("door"))
      plan.egress = core::EgressListener{json.at("door").at("port").get<uint16_t>()};
    plan.zygote_filter = Decode(json.at("zygote_filter"));
    plan.filter = Decode(json.at("filter"));
    plan.session_filter = Decode(json.at("session_filter"));
    plan.init_filter = Decode(json.at("init_filter"));
    return plan;
  } catch (const nlohmann::json::exception& failure) {
    return core::MakeError("read seal plan", failure.what());
  }
}

}  // namespace belljar::seal
