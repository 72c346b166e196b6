#include "engine/seal/landlock.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "engine/seal/worker_resources.h"

namespace belljar::seal {
namespace {

// <linux/landlock.h> of Debian 12 ends at ABI 2. These are the kernel's own definitions
// (Documentation/userspace-api/landlock.rst of Linux 6.12).
struct RulesetAttributes {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
};

struct [[gnu::packed]] PathBeneathAttributes {
  uint64_t allowed_access;
  int32_t parent_fd;
};

struct [[gnu::packed]] NetPortAttributes {
  uint64_t allowed_access;
  uint64_t port;
};

constexpr uint64_t kExecute = 1 << 0;
constexpr uint64_t kWriteFile = 1 << 1;
constexpr uint64_t kReadFile = 1 << 2;
constexpr uint64_t kReadDirectory = 1 << 3;
constexpr uint64_t kRemoveDirectory = 1 << 4;
constexpr uint64_t kRemoveFile = 1 << 5;
constexpr uint64_t kMakeDirectory = 1 << 7;
constexpr uint64_t kMakeRegular = 1 << 8;
constexpr uint64_t kMakePipe = 1 << 10;
constexpr uint64_t kMakeSymbolicLink = 1 << 12;
constexpr uint64_t kFileRightsOfAbi1 = (1 << 13) - 1;
constexpr uint64_t kRefer = 1 << 13;     // ABI 2
constexpr uint64_t kTruncate = 1 << 14;  // ABI 3
constexpr uint64_t kConnectTcp = 2;      // ABI 4
constexpr uint64_t kBindAndConnectTcp = 3;
constexpr uint64_t kIoctlDevice = 1 << 15;          // ABI 5
constexpr uint64_t kAbstractSocketsAndSignals = 3;  // ABI 6

constexpr uint64_t kUseOfWorkspace = kWriteFile | kReadFile | kReadDirectory | kRemoveDirectory |
                                     kRemoveFile | kMakeDirectory | kMakeRegular |
                                     kMakeSymbolicLink | kRefer | kTruncate;

constexpr int kRulePathBeneath = 1;
constexpr int kRuleNetPort = 2;
constexpr int kCreateRulesetVersion = 1;

RulesetAttributes Everything(int abi) {
  RulesetAttributes all{kFileRightsOfAbi1, 0, 0};
  if (abi >= 2) all.handled_access_fs |= kRefer;
  if (abi >= 3) all.handled_access_fs |= kTruncate;
  if (abi >= 4) all.handled_access_net = kBindAndConnectTcp;
  if (abi >= 5) all.handled_access_fs |= kIoctlDevice;
  if (abi >= 6) all.scoped = kAbstractSocketsAndSignals;
  return all;
}

bool AllowBeneath(int ruleset, int path, uint64_t access) {
  const PathBeneathAttributes allowed{access, path};
  return syscall(SYS_landlock_add_rule, ruleset, kRulePathBeneath, &allowed, 0) == 0;
}

bool AllowDirectory(int ruleset, const char* path, uint64_t access) {
  const core::UniqueFd tree(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
  return tree && AllowBeneath(ruleset, tree.get(), access);
}

bool AllowReadingProc(int ruleset) {
  const core::UniqueFd proc(open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  return !proc || AllowBeneath(ruleset, proc.get(), kReadFile | kReadDirectory);
}

bool AllowConnecting(int ruleset, uint16_t port) {
  const NetPortAttributes allowed{kConnectTcp, port};
  return syscall(SYS_landlock_add_rule, ruleset, kRuleNetPort, &allowed, 0) == 0;
}

}  // namespace

int LandlockAbi() {
  const long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0, kCreateRulesetVersion);
  return abi > 0 ? static_cast<int>(abi) : 0;
}

std::string LandlockCoverage(int abi, bool any_tcp) {
  std::string covered = "files";
  if (abi >= 3) covered += ", truncation";
  if (abi >= 4 && !any_tcp) covered += ", TCP";
  if (abi >= 5) covered += ", device ioctls";
  if (abi >= 6) covered += ", abstract sockets, signals";
  return covered;
}

core::Result<std::vector<ReadableTree>> OpenReadableTrees(
    const std::vector<core::PathRule>& paths) {
  std::vector<ReadableTree> trees;
  for (const core::PathRule& rule : paths) {
    core::UniqueFd path(open(rule.path.c_str(), O_PATH | O_CLOEXEC));
    if (!path) {
      if (rule.optional && errno == ENOENT) continue;
      return core::SystemError("open " + rule.path);
    }
    struct stat status;
    if (fstat(path.get(), &status) != 0) return core::SystemError("stat " + rule.path);
    const bool takes_output =
        rule.device && S_ISCHR(status.st_mode) &&
        (rule.path == core::kNullDevice || rule.path == core::kTerminalDevice);
    trees.push_back({std::move(path), S_ISDIR(status.st_mode), takes_output});
  }
  return trees;
}

core::UniqueFd CreateLandlockRuleset(const LandlockAllowance& allowance, int abi) {
  RulesetAttributes all = Everything(abi);
  // What is not handled is not restricted. One rule a port would be the alternative, for each of
  // 65,536.
  if (allowance.any_tcp) all.handled_access_net = 0;
  core::UniqueFd ruleset(
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0)));
  if (!ruleset) return {};
  const uint64_t device_use = allowance.has_terminals ? all.handled_access_fs & kIoctlDevice : 0;
  for (const ReadableTree& tree : allowance.readable) {
    const uint64_t access = kReadFile | (tree.is_directory ? kReadDirectory : 0) |
                            (tree.is_writable_device ? kWriteFile | device_use : 0) |
                            (allowance.executes ? kExecute : 0);
    if (!AllowBeneath(ruleset.get(), tree.path.get(), access)) return {};
  }
  if (allowance.executes && !AllowReadingProc(ruleset.get())) return {};
  const uint64_t use = (kUseOfWorkspace & all.handled_access_fs) |
                       (allowance.executes ? kMakePipe : 0) |
                       (allowance.executes_writable ? kExecute : 0);
  for (const char* path : allowance.writable) {
    if (!AllowDirectory(ruleset.get(), path, use)) return {};
  }
  if (allowance.has_terminals &&
      !AllowDirectory(ruleset.get(), kTerminals,
                      kReadFile | kReadDirectory | kWriteFile | device_use)) {
    return {};
  }
  if (allowance.connect_port != 0 && all.handled_access_net != 0 &&
      !AllowConnecting(ruleset.get(), allowance.connect_port)) {
    return {};
  }
  return ruleset;
}

bool RestrictByLandlock(int ruleset) {
  return syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
}

}  // namespace belljar::seal
