// The system calls for detached mounts (open_tree(2), mount_setattr(2), move_mount(2); Linux 5.12),
// which not every supported C library has. They set errno. Async-signal-safe, and without
// ThreadSanitizer: a clone of the host may make them.
#ifndef BELLJAR_ENGINE_SEAL_MOUNT_CALLS_H_
#define BELLJAR_ENGINE_SEAL_MOUNT_CALLS_H_

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace belljar::seal {

// A copy of the mount at `path`, or with AT_EMPTY_PATH of the directory `at`. Owned by the caller;
// negative: none. With AT_RECURSIVE, also of those below.
inline int CloneMount(int at, const char* path, unsigned flags = 0) {
  return static_cast<int>(
      syscall(SYS_open_tree, at, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | flags));
}

// `attributes`: MOUNT_ATTR_…, to be added. `user`: with MOUNT_ATTR_IDMAP, a user namespace.
inline bool AddMountAttributes(int mount, uint64_t attributes, unsigned flags = 0, int user = -1) {
  mount_attr change{};
  change.attr_set = attributes;
  if (user >= 0) change.userns_fd = static_cast<uint64_t>(user);
  return syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH | flags, &change, sizeof change) == 0;
}

inline bool AttachMount(int mount, const char* path) {
  return syscall(SYS_move_mount, mount, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) == 0;
}

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_MOUNT_CALLS_H_
