#include "engine/seal/worker_resources.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "engine/seal/mount_calls.h"
#include "engine/seal/privileges.h"

namespace belljar::seal {
namespace {

bool MountPrivate(const char* path, const core::WorkspaceRule& rule, bool executable) {
  char options[96];
  snprintf(options, sizeof options, "size=%llu,nr_inodes=%u,mode=0700",
           static_cast<unsigned long long>(rule.size.count), rule.inodes);
  const unsigned long flags = MS_NOSUID | MS_NODEV | (executable ? 0 : MS_NOEXEC);
  return mount("belljar", path, "tmpfs", flags, options) == 0;
}

bool AttachGiven(const core::UniqueFd& mount, bool executable) {
  return AddMountAttributes(mount.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
                                             (executable ? 0 : uint64_t{MOUNT_ATTR_NOEXEC})) &&
         AttachMount(mount.get(), core::kWorkspacePath);
}

// A tree as a detached mount, taken before its path is covered.
core::UniqueFd Keep(const std::string& path) {
  return core::UniqueFd(CloneMount(AT_FDCWD, path.c_str(), AT_RECURSIVE));
}

bool MakeDirectories(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    if (mkdir(path.substr(0, slash).c_str(), 0755) != 0 && errno != EEXIST) return false;
    if (slash == path.npos) return true;
  }
}

// Creates a mount point for a tree: a directory, or a file if the tree is a file.
bool MakeMountPoint(const core::UniqueFd& tree, const std::string& path) {
  struct stat status;
  if (fstat(tree.get(), &status) != 0) return false;
  if (S_ISDIR(status.st_mode)) return MakeDirectories(path);
  if (!MakeDirectories(path.substr(0, path.rfind('/')))) return false;
  return static_cast<bool>(
      core::UniqueFd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0444)));
}

bool ShowAgain(const core::UniqueFd& tree, const std::string& path) {
  return MakeMountPoint(tree, path) && AttachMount(tree.get(), path.c_str());
}

bool IsEmpty(int folder) {
  core::UniqueFd copy(fcntl(folder, F_DUPFD_CLOEXEC, 0));
  DIR* const directory = fdopendir(copy.get());
  if (!directory) return false;
  (void)copy.Release();
  errno = 0;  // null without an error means end
  const dirent* entry = readdir(directory);
  while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)) {
    entry = readdir(directory);
  }
  const bool is_empty = !entry && errno == 0;
  closedir(directory);
  return is_empty;
}

bool BringLoopbackUp(int socket) {
  ifreq request{};
  strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return ioctl(socket, SIOCSIFFLAGS, &request) == 0;
}

core::Result<void> CheckContainerFolder(const std::string& path) {
  const auto fault = [&](const char* what) {
    return core::MakeError("use " + path + " as a workspace",
                           std::string(what) + "; the container must mount a separate tmpfs there");
  };
  const core::UniqueFd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return core::SystemError("open " + path, "the container must mount a tmpfs there");
  struct stat status, root;
  struct statfs system;
  if (fstat(folder.get(), &status) != 0 || stat("/", &root) != 0 ||
      fstatfs(folder.get(), &system) != 0) {
    return core::SystemError("look at " + path);
  }
  if (system.f_type != TMPFS_MAGIC) return fault("it is not a tmpfs");
  if (status.st_dev == root.st_dev) return fault("it is part of the root file system");
  if (system.f_blocks == 0) return fault("it has no size limit");
  if (access(path.c_str(), R_OK | W_OK | X_OK) != 0) return fault("it is not writable");
  if (!IsEmpty(folder.get())) return fault("it is not empty");
  return {};
}

// Connections waiting for the host to accept them; more are refused.
constexpr int kBacklog = 64;

}  // namespace

core::UniqueFd MountWorkspace(const core::WorkspaceRule& rule,
                              const std::vector<std::string>& covered, bool executable,
                              core::UniqueFd given) {
  std::vector<core::UniqueFd> kept;
  for (const std::string& path : covered) {
    // It would need a mount point in there.
    if (given && path.starts_with(core::kWorkspacePath)) {
      errno = EBUSY;
      return {};
    }
    kept.push_back(Keep(path));
    if (!kept.back()) return {};
  }
  if (!MountPrivate(core::kTemporaryPath, rule, executable)) return {};
  if (given ? !AttachGiven(given, executable)
            : !MountPrivate(core::kWorkspacePath, rule, executable)) {
    return {};
  }
  for (size_t i = 0; i < covered.size(); ++i) {
    if (!ShowAgain(kept[i], covered[i])) return {};
  }
  if (chdir(core::kWorkspacePath) != 0) return {};
  return core::UniqueFd(open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

core::UniqueFd EnterContainerWorkspace() {
  if (chdir(core::kWorkspacePath) != 0) return {};
  return core::UniqueFd(open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

core::Result<void> CheckContainerWorkspace() {
  for (const char* path : {core::kWorkspacePath, core::kTemporaryPath}) {
    if (core::Result<void> checked = CheckContainerFolder(path); !checked) return checked;
  }
  return {};
}

// A file system of its own (mount_devpts), whose terminals are the guest's whoever opens them.
core::UniqueFd MountTerminals() {
  char options[96];
  snprintf(options, sizeof options, "newinstance,ptmxmode=0666,mode=0600,uid=%u,gid=%u,max=%d",
           kSandboxUid, kSandboxUid, kMaxTerminals);
  if (mount("belljar", kTerminals, "devpts", MS_NOSUID | MS_NOEXEC, options) != 0) return {};
  return core::UniqueFd(open(kTerminals, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// A new interface has 127.0.0.1, and ::1 where this machine has IPv6, as soon as it is up.
bool OpenLoopback() {
  const core::UniqueFd any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return any && BringLoopbackUp(any.get());
}

core::UniqueFd OpenEgress(const core::EgressListener& rule) {
  core::UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener || !BringLoopbackUp(listener.get())) return {};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(rule.port);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.get(), kBacklog) != 0) {
    return {};
  }
  return listener;
}

}  // namespace belljar::seal
