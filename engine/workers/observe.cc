#include "engine/workers/observe.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/fd.h"
#include "engine/seal/landlock.h"
#include "engine/seal/privileges.h"

namespace belljar::workers {
namespace {

constexpr size_t kMaxProcFile = 64 * 1024;

// The value of "Key:\tvalue" in /proc/<pid>/status, or of a row of /proc/<pid>/limits.
std::string_view Field(std::string_view text, std::string_view key) {
  size_t at = text.starts_with(key) ? 0 : text.find("\n" + std::string(key));
  if (at == std::string_view::npos) return {};
  if (text[at] == '\n') ++at;
  at += key.size();
  std::string_view value = text.substr(at, text.find('\n', at) - at);
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  return value;
}

bool IsZeroNumber(std::string_view digits) {
  return !digits.empty() && digits.find_first_not_of('0') == std::string_view::npos;
}

constexpr const char* kNamespaces[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"};
using NamespaceInodes = decltype(OwnSeal::namespaces);
static_assert(std::size(kNamespaces) == std::tuple_size_v<NamespaceInodes>);

// `process` is a folder of /proc.
core::Result<NamespaceInodes> ReadNamespaces(const std::string& process) {
  NamespaceInodes inodes{};
  const std::string path = process + "/ns";
  const core::UniqueFd folder(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) {
    if (errno != ENOENT) return core::SystemError("look at " + path);
    return inodes;
  }
  for (size_t i = 0; i < inodes.size(); ++i) {
    struct stat status;
    const bool shown = fstatat(folder.get(), kNamespaces[i], &status, 0) == 0;
    if (!shown && errno != ENOENT) return core::SystemError("look at " + path);
    inodes[i] = shown ? status.st_ino : 0;
  }
  return inodes;
}

host::LayerState NamespaceLayer(const NamespaceInodes& theirs, const NamespaceInodes& ours,
                                bool has_loopback) {
  std::string shared;
  for (size_t i = 0; i < theirs.size(); ++i) {
    const bool is_own = theirs[i] != 0 && ours[i] != 0 && theirs[i] != ours[i];
    if (!is_own) shared += (shared.empty() ? "" : " ") + std::string(kNamespaces[i]);
  }
  if (!shared.empty()) return {"namespaces", false, "shared with the host: " + shared};
  return {"namespaces", true,
          std::string("user mnt pid net ipc uts cgroup, private read-only root") +
              (has_loopback ? "; network: loopback only" : "")};
}

host::LayerState PrivilegeLayer(std::string_view status, bool root_of_one_user,
                                seal::SelfReport self_report) {
  std::string missing, unseen;
  const auto require = [&](bool held, const char* key, const char* what) {
    const bool shown = !Field(status, key).empty();
    if (!shown) unseen += (unseen.empty() ? "" : ", ") + std::string(what);
    if (!(shown ? held : (self_report & seal::kNoPrivileges) != 0)) {
      missing += (missing.empty() ? "" : ", ") + std::string(what);
    }
  };
  require(Field(status, "NoNewPrivs:") == "1", "NoNewPrivs:", "no_new_privs");
  for (const char* set : {"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"}) {
    require(IsZeroNumber(Field(status, set)), set, set);
  }
  // Columns: real, effective, saved, filesystem. Root in any of them is root.
  const std::string uids = "\t" + std::string(Field(status, "Uid:")) + "\t";
  require(root_of_one_user || uids.find("\t0\t") == std::string::npos, "Uid:", "unprivileged uid");
  if (!missing.empty()) return {"privileges", false, "missing: " + missing};
  std::string detail = "no_new_privs, no capabilities, ";
  detail += root_of_one_user ? "uid of the only user that is mapped here" : "unprivileged uid";
  if (!unseen.empty()) detail += "; not shown by this kernel, reported by the worker: " + unseen;
  return {"privileges", true, detail};
}

struct Limited {
  __rlimit_resource resource;
  const char* row;  // in /proc/<pid>/limits
};
constexpr Limited kLimited[] = {{RLIMIT_AS, "Max address space"},
                                {RLIMIT_CPU, "Max cpu time"},
                                {RLIMIT_FSIZE, "Max file size"},
                                {RLIMIT_NPROC, "Max processes"},
                                {RLIMIT_CORE, "Max core file size"}};

// Asks with prlimit, which needs CAP_SYS_RESOURCE if root inspects another user's process; without
// it reads /proc, which is slower. `shown` is that file, once read.
core::Result<bool> IsUnlimited(pid_t pid, const Limited& limited, std::string& shown) {
  rlimit limit{};
  if (prlimit(pid, limited.resource, nullptr, &limit) == 0) return limit.rlim_max == RLIM_INFINITY;
  const core::Error refused = core::SystemError("ask for limits");
  if (refused.error_number != EPERM) return refused;
  if (shown.empty()) {
    core::Result<std::string> limits =
        core::ReadFile("/proc/" + std::to_string(pid) + "/limits", kMaxProcFile);
    if (!limits) return limits.error();
    shown = std::move(*limits);
  }
  const std::string_view value = Field(shown, limited.row);
  if (value.empty()) return refused;
  return value.find("unlimited") != std::string_view::npos;
}

core::Result<host::LayerState> RlimitLayer(pid_t pid) {
  std::string shown, unlimited;
  for (const Limited& limited : kLimited) {
    const core::Result<bool> answer = IsUnlimited(pid, limited, shown);
    if (!answer) return answer.error();
    if (*answer) unlimited += (unlimited.empty() ? "" : ", ") + std::string(limited.row);
  }
  if (!unlimited.empty()) return host::LayerState{"rlimits", false, "unlimited: " + unlimited};
  return host::LayerState{"rlimits", true,
                          "memory, CPU, file size, descriptors, processes, no core"};
}

int FilterCount(std::string_view status) {
  int count = 0;
  const std::string_view text = Field(status, "Seccomp_filters:");
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

host::LayerState SeccompLayer(std::string_view status, int own_filters, int filters,
                              seal::SelfReport self_report) {
  const std::string_view mode = Field(status, "Seccomp:");
  if (Field(status, "Seccomp_filters:").empty()) {
    const bool held = mode == "2" && (self_report & seal::kFilterRefuses) != 0;
    if (!held) return {"seccomp", false, "it has no working filter of its own"};
    return {
        "seccomp", true,
        "allow-list; this kernel does not count filters, reported by the worker: its own refuses"};
  }
  const int added = FilterCount(status) - own_filters;
  if (mode == "2" && added >= filters) return {"seccomp", true, "allow-list"};
  return {"seccomp", false,
          std::to_string(std::max(added, 0)) + " of " + std::to_string(filters) + " filters"};
}

}  // namespace

bool IsInCgroup(pid_t pid, const std::string& leaf) {
  const core::Result<std::string> cgroup =
      core::ReadFile("/proc/" + std::to_string(pid) + "/cgroup", kMaxProcFile);
  return cgroup && Field(*cgroup, "0::").ends_with("/" + leaf);
}

core::Result<core::UniqueFd> OpenStatus(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/status";
  core::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return core::SystemError("open " + path);
  return fd;
}

uint64_t ResidentMemory(pid_t pid) {
  const core::Result<std::string> text =
      core::ReadFile("/proc/" + std::to_string(pid) + "/statm", kMaxProcFile);
  if (!text) return 0;
  const size_t second = text->find(' ');
  if (second == std::string::npos) return 0;
  uint64_t pages = 0;
  std::from_chars(text->data() + second + 1, text->data() + text->size(), pages);
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t ProportionalMemory(pid_t pid) {
  const core::Result<std::string> text =
      core::ReadFile("/proc/" + std::to_string(pid) + "/smaps_rollup", kMaxProcFile);
  if (!text) return 0;
  uint64_t total = 0;
  for (const char* name : {"Pss:", "SwapPss:"}) {
    const std::string_view field = Field(*text, name);
    uint64_t kibibytes = 0;
    std::from_chars(field.data(), field.data() + field.size(), kibibytes);
    total += kibibytes * 1024;
  }
  return total;
}

uint64_t ThreadsOf(int status_fd) {
  char status[4096];
  const ssize_t size = pread(status_fd, status, sizeof status, 0);
  if (size <= 0) return 0;
  const std::string_view threads =
      Field(std::string_view(status, static_cast<size_t>(size)), "Threads:");
  uint64_t count = 0;
  std::from_chars(threads.data(), threads.data() + threads.size(), count);
  return count;
}

uint64_t MaxRss(int status_fd) {
  char status[4096];
  const ssize_t size = pread(status_fd, status, sizeof status, 0);
  if (size <= 0) return 0;
  const std::string_view text(status, static_cast<size_t>(size));
  std::string_view peak = Field(text, "VmHWM:");
  if (peak.empty()) peak = Field(text, "VmRSS:");
  uint64_t kibibytes = 0;
  std::from_chars(peak.data(), peak.data() + peak.size(), kibibytes);
  return kibibytes * 1024;
}

bool BlocksSignal(int status_fd, int number) {
  char status[4096];
  const ssize_t size = pread(status_fd, status, sizeof status, 0);
  if (size <= 0) return false;
  const std::string_view mask =
      Field(std::string_view(status, static_cast<size_t>(size)), "SigBlk:");
  uint64_t blocked = 0;
  std::from_chars(mask.data(), mask.data() + mask.size(), blocked, 16);
  return (blocked >> (number - 1) & 1) != 0;
}

core::Result<OwnSeal> OwnSeal::Read() {
  core::Result<std::string> status = core::ReadFile("/proc/self/status", kMaxProcFile);
  if (!status) return status.error();
  core::Result<NamespaceInodes> namespaces = ReadNamespaces("/proc/self");
  if (!namespaces) return namespaces.error();
  return OwnSeal{*namespaces, FilterCount(*status), seal::IsRootOfOneUser()};
}

core::Result<std::vector<host::LayerState>> ObserveSeal(const OwnSeal& own, pid_t pid,
                                                        int status_fd, seal::SelfReport self_report,
                                                        int filters, pid_t parent,
                                                        bool has_loopback) {
  const std::string folder = "/proc/" + std::to_string(pid);
  if (lseek(status_fd, 0, SEEK_SET) != 0) return core::SystemError("read " + folder + "/status");
  core::Result<std::string> status = core::ReadAll(status_fd, kMaxProcFile);
  if (!status) return status.error();
  if (Field(*status, "PPid:") != std::to_string(parent > 0 ? parent : getpid())) {
    return core::MakeError("observe worker",
                           "process " + std::to_string(pid) + " is not our child");
  }
  core::Result<host::LayerState> rlimits = RlimitLayer(pid);
  if (!rlimits) return rlimits.error();
  const bool landlock_refused = (self_report & seal::kLandlockRefuses) != 0;
  core::Result<NamespaceInodes> namespaces = ReadNamespaces(folder);
  // An ordinary user can only inspect processes in a user namespace of their own. A worker outside
  // one is hidden, and nothing is claimed about it.
  const bool hidden = !namespaces && namespaces.error().error_number == EACCES;
  if (!namespaces && !hidden) return namespaces.error();
  return std::vector<host::LayerState>{
      hidden ? host::LayerState{"namespaces", false, "shared with the host"}
             : NamespaceLayer(*namespaces, own.namespaces, has_loopback),
      PrivilegeLayer(*status, own.root_of_one_user, self_report), std::move(*rlimits),
      host::LayerState{"landlock", landlock_refused,
                       landlock_refused ? seal::LandlockCoverage(seal::LandlockAbi(), has_loopback)
                                        : "not in force"},
      SeccompLayer(*status, own.seccomp_filters, filters, self_report)};
}

}  // namespace belljar::workers
