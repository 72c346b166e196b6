#include "engine/seal/namespaces.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "engine/core/fd.h"
#include "engine/core/profile.h"
#include "engine/seal/mount_calls.h"
#include "engine/seal/privileges.h"

namespace belljar::seal {
namespace {

// A directory that exists on every Linux and over which the private root can be built. The mount is
// only visible in our own mount namespace.
constexpr char kStage[] = "/tmp";
constexpr char kHostName[] = "belljar";

core::Result<void> WriteProcFile(pid_t child, const char* file, const std::string& text) {
  const std::string path = "/proc/" + std::to_string(child) + "/" + file;
  core::UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return core::SystemError("open " + path);
  if (write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return core::SystemError("write " + path);
  }
  return {};
}

// A path of the host, as a detached mount.
struct Tree {
  std::string path;
  bool is_directory = false;
  core::UniqueFd mount;
  std::vector<std::string> covered;  // hidden folders in it
};

core::Result<void> Restrict(int mount, uint64_t attributes, unsigned flags) {
  if (AddMountAttributes(mount, attributes, flags)) return {};
  return core::SystemError("restrict a mount", "needs Linux 5.12");
}

core::Result<std::vector<Tree>> CloneTrees(const std::vector<core::PathRule>& paths) {
  std::vector<Tree> trees;
  for (const core::PathRule& rule : paths) {
    const std::string& source = rule.source.empty() ? rule.path : rule.source;
    core::UniqueFd mount(CloneMount(AT_FDCWD, source.c_str(), AT_RECURSIVE));
    if (!mount) {
      if (rule.optional && errno == ENOENT) continue;
      return core::SystemError("show " + rule.path, "a path that the profile needs");
    }
    struct stat status;
    if (fstat(mount.get(), &status) != 0) return core::SystemError("stat " + rule.path);
    if (rule.device && !S_ISCHR(status.st_mode)) {
      return core::SystemErrorOf(ENODEV, "show " + rule.path, "this machine's is not a device");
    }
    constexpr uint64_t kReadOnly = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID;
    const uint64_t attributes = kReadOnly | (rule.device ? 0 : MOUNT_ATTR_NODEV);
    if (core::Result<void> done = Restrict(mount.get(), attributes, AT_RECURSIVE); !done) {
      return done.error();
    }
    Tree tree{rule.path, S_ISDIR(status.st_mode), std::move(mount), {}};
    for (const std::string& name : rule.without) {
      const std::string path = rule.path + "/" + name;
      if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) tree.covered.push_back(path);
    }
    trees.push_back(std::move(tree));
  }
  return trees;
}

// Hides `path` with an empty tmpfs, in which mount points can still be created.
core::Result<void> Cover(const std::string& path) {
  const std::string target = kStage + path;
  if (mount("belljar", target.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=0755") == 0) {
    return {};
  }
  return core::SystemError("cover " + path);
}

// Mounts the tree at its own path below kStage.
core::Result<void> Attach(const Tree& tree) {
  const std::filesystem::path target = kStage + tree.path;
  std::error_code code;
  std::filesystem::create_directories(tree.is_directory ? target : target.parent_path(), code);
  if (code) return core::SystemErrorOf(code.value(), "create " + target.string());
  // It exists if a tree that is shown already has it, read-only: /usr/bin, and an interpreter
  // there.
  if (!tree.is_directory && !std::filesystem::exists(target, code)) {
    core::UniqueFd file(open(target.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0444));
    if (!file) return core::SystemError("create " + target.string());
  }
  if (AttachMount(tree.mount.get(), target.c_str())) return {};
  return core::SystemError("show " + tree.path);
}

// Creates the file at its own path below kStage, unless a tree there has one or cannot have it.
core::Result<void> Place(const std::string& path, const std::string& text) {
  const std::filesystem::path target = kStage + path;
  std::error_code code;
  std::filesystem::create_directories(target.parent_path(), code);
  if (code) return core::SystemErrorOf(code.value(), "create " + target.parent_path().string());
  const core::UniqueFd file(
      open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444));
  if (!file && (errno == EEXIST || errno == EROFS)) return {};
  if (!file || !core::WriteBytes(file.get(), text)) return core::SystemError("create " + path);
  return {};
}

// Root is not mapped in its new user namespace, and an unmapped user cannot create files.
core::Result<void> TakeMappedIdentity() {
  if (setresgid(kSandboxUid, kSandboxUid, kSandboxUid) != 0) return core::SystemError("setresgid");
  if (setresuid(kSandboxUid, kSandboxUid, kSandboxUid) != 0) return core::SystemError("setresuid");
  return {};
}

}  // namespace

uint64_t ZygoteNamespaceFlags() {
  return CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
}

uint64_t WorkerNamespaceFlags(bool own_mounts, bool own_network) {
  return CLONE_NEWPID | (own_mounts ? CLONE_NEWNS : 0) | (own_network ? CLONE_NEWNET : 0);
}

core::Result<void> WriteIdMap(pid_t child, const char* file, uint32_t inside, uint32_t outside) {
  return WriteProcFile(child, file, std::to_string(inside) + " " + std::to_string(outside) + " 1");
}

core::Result<void> WriteIdMaps(pid_t child) {
  const bool root = geteuid() == 0 && !IsRootOfOneUser();
  // Without CAP_SETGID outside, user_namespaces(7) requires setgroups to be denied first.
  if (!root) {
    if (core::Result<void> done = WriteProcFile(child, "setgroups", "deny"); !done) return done;
  }
  const core::Result<void> done =
      WriteIdMap(child, "uid_map", kSandboxUid, root ? kSandboxUid : geteuid());
  return done ? WriteIdMap(child, "gid_map", kSandboxUid, root ? kSandboxUid : getegid()) : done;
}

// Podman's seccomp profile allows mount but not sethostname.
bool MayMount() {
  return sethostname(kHostName, sizeof kHostName - 1) == 0 &&
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("belljar", kStage, "tmpfs", MS_NOSUID | MS_NODEV, "size=4k") == 0;
}

bool KeepCapabilitiesAcrossExec() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2];
  if (syscall(SYS_capget, &header, sets) != 0) return false;
  for (__user_cap_data_struct& set : sets) set.inheritable = set.permitted;
  if (syscall(SYS_capset, &header, sets) != 0) return false;
  for (int capability = 0; capability <= 63; ++capability) {
    const uint32_t bit = uint32_t{1} << (capability % 32);
    if (!(sets[capability / 32].permitted & bit)) continue;
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) != 0) return false;
  }
  return true;
}

bool EnterOwnUser() { return unshare(CLONE_NEWUSER) == 0 && DropBoundingSet(); }

core::PathRule ProcOfMachine() { return {.path = "/proc", .optional = true}; }

SymbolicLinks LinksForPrograms() {
  SymbolicLinks links = {{"/dev/fd", "/proc/self/fd"},
                         {"/dev/stdin", "/proc/self/fd/0"},
                         {"/dev/stdout", "/proc/self/fd/1"},
                         {"/dev/stderr", "/proc/self/fd/2"},
                         // For shm_open and sem_open: Python's multiprocessing has locks there.
                         {"/dev/shm", core::kTemporaryPath}};
  for (const char* path : {"/bin", "/sbin", "/lib", "/lib32", "/lib64"}) {
    std::error_code code;
    const std::filesystem::path target = std::filesystem::read_symlink(path, code);
    if (!code) links.emplace_back(path, target.string());
  }
  return links;
}

SmallFiles FilesForPrograms() {
  return {{"/etc/hosts", std::string("127.0.0.1 localhost ") + kHostName + "\n::1 localhost\n"},
          // Without it glibc asks a name server first.
          {"/etc/nsswitch.conf", "hosts: files\n"}};
}

bool MountOwnProc() {
  const bool has_own =
      mount("proc", kOwnProc, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "subset=pid") == 0;
  if (umount2("/proc", MNT_DETACH) != 0 && errno != EINVAL && errno != ENOENT) return false;
  return !has_own || mount(kOwnProc, "/proc", nullptr, MS_MOVE, nullptr) == 0;
}

core::Result<void> EnterPrivateRoot(const std::vector<core::PathRule>& paths,
                                    const std::vector<std::string>& empty,
                                    const SymbolicLinks& links, const SmallFiles& files) {
  if (sethostname(kHostName, sizeof kHostName - 1) != 0) return core::SystemError("set host name");
  // No later mount may propagate to the host.
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return core::SystemError("make mounts private");
  }
  // Cloned with the original identity, which may have to traverse folders such as /root.
  core::Result<std::vector<Tree>> trees = CloneTrees(paths);
  if (!trees) return trees.error();
  // Fails for an ordinary user, who keeps its groups; they map to nobody here.
  (void)setgroups(0, nullptr);
  if (core::Result<void> done = TakeMappedIdentity(); !done) return done;
  if (mount("belljar", kStage, "tmpfs", MS_NOSUID | MS_NODEV, "size=256k,mode=0755") != 0) {
    return core::SystemError("mount private root");
  }
  std::vector<core::UniqueFd> covers;
  for (const Tree& tree : *trees) {
    if (core::Result<void> done = Attach(tree); !done) return done;
    for (const std::string& path : tree.covered) {
      if (core::Result<void> done = Cover(path); !done) return done;
      covers.emplace_back(open((kStage + path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    }
  }
  for (const core::UniqueFd& cover : covers) {
    if (core::Result<void> done = Restrict(cover.get(), MOUNT_ATTR_RDONLY, 0); !done) return done;
  }
  for (const std::string& directory : empty) {
    // It exists if a tree is mounted below it.
    if (mkdir((kStage + directory).c_str(), 0555) != 0 && errno != EEXIST) {
      return core::SystemError("create " + directory);
    }
  }
  for (const auto& [path, target] : links) {
    std::error_code code;
    std::filesystem::create_directories(std::filesystem::path(kStage + path).parent_path(), code);
    if (code) return core::SystemErrorOf(code.value(), "create the folder of " + path);
    if (symlink(target.c_str(), (kStage + path).c_str()) != 0 && errno != EEXIST) {
      return core::SystemError("create " + path);
    }
  }
  for (const auto& [path, text] : files) {
    if (core::Result<void> done = Place(path, text); !done) return done;
  }
  if (chdir(kStage) != 0) return core::SystemError("enter private root");
  // pivot_root(".", ".") stacks the old root on the new one, and the detach removes it
  // (pivot_root(2), NOTES).
  if (syscall(SYS_pivot_root, ".", ".") != 0) return core::SystemError("pivot_root");
  if (umount2(".", MNT_DETACH) != 0) return core::SystemError("detach host root");
  if (chdir("/") != 0) return core::SystemError("chdir /");
  const core::UniqueFd root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  return Restrict(root.get(), MOUNT_ATTR_RDONLY, 0);
}

}  // namespace belljar::seal
