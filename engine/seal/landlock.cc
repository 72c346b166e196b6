#include "engine/seal/landlock.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace belljar {
namespace {

// Debian 12's <linux/landlock.h> stops at ABI 2; these are the kernel's own definitions
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

constexpr uint64_t kReadFile = 1 << 2;
constexpr uint64_t kReadDirectory = 1 << 3;
constexpr uint64_t kFileRightsOfAbi1 = (1 << 13) - 1;
constexpr uint64_t kRefer = 1 << 13;                // ABI 2
constexpr uint64_t kTruncate = 1 << 14;             // ABI 3
constexpr uint64_t kBindAndConnectTcp = 3;          // ABI 4
constexpr uint64_t kIoctlDevice = 1 << 15;          // ABI 5
constexpr uint64_t kAbstractSocketsAndSignals = 3;  // ABI 6

constexpr int kRulePathBeneath = 1;
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

Result<void> AllowReading(int ruleset, const PathRule& rule) {
  UniqueFd path(open(rule.path.c_str(), O_PATH | O_CLOEXEC));
  if (!path) {
    if (rule.optional && errno == ENOENT) return {};
    return SystemError("open " + rule.path);
  }
  struct stat status;
  if (fstat(path.get(), &status) != 0) return SystemError("stat " + rule.path);
  PathBeneathAttributes allowed{kReadFile, path.get()};
  if (S_ISDIR(status.st_mode)) allowed.allowed_access |= kReadDirectory;
  if (syscall(SYS_landlock_add_rule, ruleset, kRulePathBeneath, &allowed, 0) != 0) {
    return SystemError("landlock_add_rule " + rule.path);
  }
  return {};
}

}  // namespace

int LandlockAbi() {
  const long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0, kCreateRulesetVersion);
  return abi > 0 ? static_cast<int>(abi) : 0;
}

Result<UniqueFd> CreateLandlockRuleset(const std::vector<PathRule>& paths) {
  const int abi = LandlockAbi();
  if (abi == 0) {
    return SystemErrorOf(ENOSYS, "Landlock",
                         "this kernel has none; it needs Linux 5.13 with lsm=landlock");
  }
  const RulesetAttributes all = Everything(abi);
  UniqueFd ruleset(static_cast<int>(syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0)));
  if (!ruleset) return SystemError("landlock_create_ruleset");
  for (const PathRule& rule : paths) {
    if (Result<void> done = AllowReading(ruleset.get(), rule); !done) return done.error();
  }
  return ruleset;
}

bool RestrictByLandlock(int ruleset) {
  return syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
}

}  // namespace belljar
