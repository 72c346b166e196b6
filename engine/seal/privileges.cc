#include "engine/seal/privileges.h"

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar::seal {

bool IsRootOfOneUser() {
  if (geteuid() != 0) return false;
  constexpr size_t kMaxMap = 64 << 10;
  const core::Result<std::string> map = core::ReadFile("/proc/self/uid_map", kMaxMap);
  if (!map || map->empty()) return false;
  // Lines of: first id inside, first id outside, how many.
  const std::vector<std::string_view> words = core::Words(*map);
  const auto number = [&](size_t i) { return std::stoull(std::string(words[i])); };
  for (size_t i = 0; i + 2 < words.size(); i += 3) {
    if (kSandboxUid >= number(i) && kSandboxUid - number(i) < number(i + 2)) return false;
  }
  return true;
}

bool DropBoundingSet() {
  // EINVAL ends the list of known capabilities. Without CAP_SETPCAP there is nothing to drop.
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EPERM) return false;
  }
  return true;
}

core::Result<void> DropIdentity(bool keep_namespace_capabilities) {
  // Real root, without a user namespace. In a user namespace the private root has set the identity;
  // without one, an ordinary user keeps its own.
  if (geteuid() == 0 && !IsRootOfOneUser()) {
    if (setgroups(0, nullptr) != 0) return core::SystemError("setgroups");
    if (setresgid(kSandboxUid, kSandboxUid, kSandboxUid) != 0)
      return core::SystemError("setresgid");
    if (setresuid(kSandboxUid, kSandboxUid, kSandboxUid) != 0)
      return core::SystemError("setresuid");
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return core::SystemError("set no_new_privs");
  // EINVAL: the kernel has no ambient set (gVisor), so there is nothing to clear.
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL) {
    return core::SystemError("clear ambient capabilities");
  }
  if (!DropBoundingSet()) return core::SystemError("drop bounding capability");
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return core::SystemError("set undumpable");
  if (!keep_namespace_capabilities && !DropPrivileges())
    return core::SystemError("drop capabilities");
  return {};
}

bool DropPrivileges() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return syscall(SYS_capset, &header, none) == 0;
}

bool HasNoPrivileges(bool root_of_one_user) {
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return false;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (syscall(SYS_capget, &header, sets) != 0) return false;
  // Ambient capabilities are also permitted and inheritable (capabilities(7)).
  for (const __user_cap_data_struct& set : sets) {
    if (set.effective | set.permitted | set.inheritable) return false;
  }
  if (root_of_one_user) return true;
  uid_t real, effective, saved;
  return getresuid(&real, &effective, &saved) == 0 && real != 0 && effective != 0 && saved != 0;
}

}  // namespace belljar::seal
