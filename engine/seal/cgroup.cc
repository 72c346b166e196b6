#include "engine/seal/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string_view>
#include <vector>

#include "engine/core/text.h"

namespace belljar::seal {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "belljar-";
constexpr size_t kMaxFile = 1 << 20;

// Where cgroup2 is mounted, from lines such as
// "42 32 0:37 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw".
std::string MountPoint(const std::string& mountinfo) {
  for (const std::string_view line : core::SplitAt(mountinfo, '\n')) {
    if (line.find(" - cgroup2 ") == line.npos) continue;
    const std::vector<std::string_view> fields = core::Words(line);
    if (fields.size() > 4 && fields[3] == "/") return std::string(fields[4]);
  }
  return "";
}

// Our own cgroup, from the line "0::/user.slice/session-1.scope".
std::string OwnCgroup(const std::string& cgroup) {
  for (const std::string_view line : core::SplitAt(cgroup, '\n')) {
    if (line.starts_with("0::/")) return std::string(line.substr(3));
  }
  return "";
}

bool HasWord(std::string_view text, std::string_view word) {
  const std::vector<std::string_view> words = core::Words(text);
  return std::find(words.begin(), words.end(), word) != words.end();
}

core::Result<void> WriteCgroupFile(int directory, const char* file, const std::string& text) {
  const core::UniqueFd fd(openat(directory, file, O_WRONLY | O_CLOEXEC));
  if (!fd) return core::SystemError(std::string("open ") + file);
  if (write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return core::SystemError(std::string("write ") + file);
  }
  return {};
}

// rmdir only removes empty leaves, so a wrong guess does no harm.
void RemoveAbandoned(const std::string& parent) {
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, code)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix)) continue;
    const int pid = atoi(name.c_str() + sizeof kPrefix - 1);
    if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH) rmdir(entry.path().c_str());
  }
}

}  // namespace

core::Result<std::string> FindCgroupParent(const std::string& mountinfo_file,
                                           const std::string& cgroup_file) {
  const char kOperation[] = "find a cgroup";
  core::Result<std::string> mountinfo = core::ReadFile(mountinfo_file, kMaxFile);
  if (!mountinfo) return mountinfo.error();
  const std::string mount = MountPoint(*mountinfo);
  if (mount.empty()) return core::MakeError(kOperation, "cgroup v2 is not mounted");
  core::Result<std::string> cgroup = core::ReadFile(cgroup_file, kMaxFile);
  if (!cgroup) return cgroup.error();
  const std::string own = OwnCgroup(*cgroup);
  if (own.empty()) return core::MakeError(kOperation, "this process is not in a cgroup v2");
  const std::string parent = own == "/" ? mount : mount + fs::path(own).parent_path().string();
  core::Result<std::string> handed_on =
      core::ReadFile(parent + "/cgroup.subtree_control", kMaxFile);
  if (!handed_on) return handed_on.error();
  if (!HasWord(*handed_on, "memory") || !HasWord(*handed_on, "pids")) {
    return core::MakeError(kOperation,
                           parent + " does not delegate the memory and pids controllers");
  }
  // Moving a process requires write access to cgroup.procs of the common ancestor (cgroups(7)).
  if (access(parent.c_str(), W_OK) != 0 || access((parent + "/cgroup.procs").c_str(), W_OK) != 0) {
    return core::SystemError(kOperation, parent + " is not delegated to this user");
  }
  return parent;
}

CgroupLimits DefaultCgroupLimits() {
  struct sysinfo machine;
  if (sysinfo(&machine) != 0) abort();  // its only error is a bad pointer
  return {core::Bytes{uint64_t{machine.totalram} * machine.mem_unit / 5 * 4}, 8'000};
}

core::Result<CgroupLeaf> CgroupLeaf::Create(const std::string& parent, const CgroupLimits& limits) {
  static std::atomic<int> count{0};
  RemoveAbandoned(parent);
  const std::string name = kPrefix + std::to_string(getpid()) + "-" + std::to_string(++count);
  const std::string path = parent + "/" + name;
  if (mkdir(path.c_str(), 0755) != 0) return core::SystemError("create cgroup " + path);
  CgroupLeaf leaf(parent, name,
                  core::UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  if (!leaf.directory_) return core::SystemError("open cgroup " + path);
  core::Result<void> done =
      WriteCgroupFile(leaf.fd(), "memory.max", std::to_string(limits.memory.count));
  if (!done) return done.error();
  if (done = WriteCgroupFile(leaf.fd(), "pids.max", std::to_string(limits.pids)); !done) {
    return done.error();
  }
  // Absent if the kernel does not account swap.
  (void)WriteCgroupFile(leaf.fd(), "memory.swap.max", "0").ok();
  return leaf;
}

CgroupLeaf::CgroupLeaf(CgroupLeaf&& other) noexcept
    : parent_(std::move(other.parent_)),
      name_(std::exchange(other.name_, "")),
      directory_(std::move(other.directory_)) {}

CgroupLeaf::~CgroupLeaf() {
  if (!name_.empty()) rmdir((parent_ + "/" + name_).c_str());
}

}  // namespace belljar::seal
