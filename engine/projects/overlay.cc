#include "engine/projects/overlay.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/core/process.h"
#include "engine/core/socket.h"
#include "engine/mounts/mount_process.h"
#include "engine/seal/mount_calls.h"
#include "engine/seal/namespaces.h"
#include "engine/seal/privileges.h"
#include "engine/workspace/workspace_access.h"

namespace belljar::projects {
namespace {

constexpr char kMount[] = "mount a project";

// Exists on every Linux; covered only in the mount namespace of the process that mounts.
constexpr char kStage[] = "/tmp";
constexpr char kLower[] = "/tmp/lower";
constexpr char kUpper[] = "/tmp/upper";
constexpr char kWork[] = "/tmp/work";
constexpr char kMerged[] = "/tmp/merged";
// Without xino, files have the inode numbers of the folder, which git's index contains.
constexpr char kLayers[] =
    "lowerdir=/tmp/lower,upperdir=/tmp/upper,workdir=/tmp/work,userxattr,xino=off";

enum class Step : int32_t { kDone, kFolder, kNamespaces, kUpper, kOverlay };

// --- the process that mounts (mounts/mount_process.h) -------------------------------------------

struct Instructions {
  int socket;
  int lower;           // a detached mount; -1: it makes one of `folder`
  const char* folder;  // an absolute path
  const char* tmpfs;   // options
};

[[noreturn]] void Fail(int socket, Step step) {
  mounts::FailToMount(socket, static_cast<int32_t>(step));
}

// Until the host has done its part.
void AwaitHost(int socket) {
  char byte;
  if (syscall(SYS_read, socket, &byte, 1) != 1) _exit(1);
}

bool Restrict(int mount, uint64_t attributes) {
  return seal::AddMountAttributes(mount, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | attributes);
}

bool Make(const char* type, const char* at, const char* options) {
  return syscall(SYS_mount, "belljar", at, type, MS_NOSUID | MS_NODEV, options) == 0;
}

bool MakeDirectory(const char* path, mode_t mode) {
  return syscall(SYS_mkdirat, AT_FDCWD, path, mode) == 0;
}

[[noreturn]] void MountLayers(const Instructions& given) {
  const int socket = given.socket;
  syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  AwaitHost(socket);  // the id maps are written
  const int lower = given.lower >= 0 ? given.lower : seal::CloneMount(AT_FDCWD, given.folder);
  if (lower < 0 || !Restrict(lower, MOUNT_ATTR_RDONLY)) Fail(socket, Step::kFolder);
  constexpr auto kUser = seal::kSandboxUid;
  if (syscall(SYS_mount, nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      syscall(SYS_setresgid, kUser, kUser, kUser) != 0 ||
      syscall(SYS_setresuid, kUser, kUser, kUser) != 0) {
    Fail(socket, Step::kNamespaces);
  }
  if (!Make("tmpfs", kStage, given.tmpfs) || !MakeDirectory(kLower, 0700) ||
      !MakeDirectory(kUpper, 0700) || !MakeDirectory(kWork, 0700) ||
      !MakeDirectory(kMerged, 0700)) {
    Fail(socket, Step::kUpper);
  }
  if (!seal::AttachMount(lower, kLower)) Fail(socket, Step::kFolder);
  const auto upper =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, kUpper, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (upper < 0) Fail(socket, Step::kUpper);
  if (!mounts::SendMountAnswer(socket, {}, lower) || !mounts::SendMountAnswer(socket, {}, upper))
    _exit(1);
  AwaitHost(socket);  // the upper layer is filled
  if (!Make("overlay", kMerged, kLayers)) Fail(socket, Step::kOverlay);
  const int merged = seal::CloneMount(AT_FDCWD, kMerged);
  if (merged < 0 || !Restrict(merged, 0)) Fail(socket, Step::kOverlay);
  _exit(mounts::SendMountAnswer(socket, {}, merged) ? 0 : 1);
}

// --- the host -----------------------------------------------------------------------------------

// As root: the folder as a mount in which its owner is the guest's user.
core::Result<core::UniqueFd> ShowToGuest(const core::UniqueFd& folder, const struct stat& status) {
  core::UniqueFd tree(seal::CloneMount(folder.get(), "", AT_EMPTY_PATH));
  if (!tree) return core::SystemError(kMount, "clone the mount of its folder");
  core::Result<core::Process> holder = mounts::StartMountProcess(kMount, CLONE_NEWUSER, [] {
    syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    for (;;) pause();
  });
  if (!holder) return holder.error();
  for (const auto& [file, owner] :
       {std::pair("uid_map", status.st_uid), std::pair("gid_map", status.st_gid)}) {
    if (auto done = seal::WriteIdMap(holder->pid(), file, owner, seal::kSandboxUid); !done)
      return done.error();
  }
  const std::string path = "/proc/" + std::to_string(holder->pid()) + "/ns/user";
  const core::UniqueFd user(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!user) return core::SystemError(kMount, "open " + path);
  if (!seal::AddMountAttributes(tree.get(), MOUNT_ATTR_IDMAP, 0, user.get())) {
    return core::SystemError(
        kMount,
        "the folder's file system cannot show its files as another user's "
        "(id-mapped mounts, Linux 5.12); run as the folder's owner, not as root");
  }
  return tree;
}

core::Error ErrorOf(const mounts::MountAnswer& answer) {
  const auto error = [&](const char* detail) {
    return core::SystemErrorOf(answer.error_number, kMount, detail);
  };
  switch (static_cast<Step>(answer.step)) {
    case Step::kFolder:
      return error(answer.error_number == EINVAL
                       ? "other file systems are mounted below its folder; choose one without"
                       : "its folder cannot be shown");
    case Step::kUpper: return error("no tmpfs for its changes");
    case Step::kOverlay:
      return error(
          "the kernel refuses the overlay, which needs Linux 5.11 (5.19 as root) and a "
          "folder on a local file system");
    case Step::kNamespaces:
    case Step::kDone: break;
  }
  return error(
      "this machine does not allow user namespaces here; \"belljar doctor\" shows details");
}

// The next descriptor of the process that mounts.
core::Result<core::UniqueFd> Receive(int socket) {
  core::Result<mounts::MountAnswered> answered = mounts::ReceiveMountAnswer(socket, kMount);
  if (!answered) return answered.error();
  if (answered->answer.step != 0) return ErrorOf(answered->answer);
  if (!answered->descriptor) return core::MakeError(kMount, "no descriptor came");
  return std::move(answered->descriptor);
}

bool IsSame(const struct stat& folder, int other) {
  struct stat status;
  return fstat(other, &status) == 0 && status.st_dev == folder.st_dev &&
         status.st_ino == folder.st_ino;
}

core::Result<void> Fill(int upper, const struct stat& folder, const core::WorkspaceRule& rule,
                        const workspace::WorkspaceSnapshot& layer) {
  {
    const workspace::GuestIdentity identity;
    if (fsetxattr(upper, workspace::kOpaque, "n", 1, 0) != 0 ||
        fremovexattr(upper, workspace::kOpaque) != 0) {
      return core::SystemError(kMount,
                               "its changes need Linux 6.6: extended attributes on a tmpfs");
    }
  }
  if (!layer.entries().empty()) {
    if (auto done = layer.Restore(upper, {rule.size, rule.inodes, true}); !done) return done;
  }
  // The attributes of the merged root are those of the upper one.
  const workspace::GuestIdentity identity;
  const timespec times[2] = {{0, UTIME_OMIT}, folder.st_mtim};
  if (fchmod(upper, (folder.st_mode & 0777) | 0700) != 0 || futimens(upper, times) != 0)
    return core::SystemError(kMount, "prepare the layer of its changes");
  return {};
}

core::Result<void> Continue(int socket) { return core::SendMessage(socket, "1"); }

}  // namespace

core::Result<Overlay> Overlay::Mount(const core::UniqueFd& folder, const std::string& path,
                                     const core::WorkspaceRule& rule,
                                     const workspace::WorkspaceSnapshot& layer) {
  struct stat status;
  if (fstat(folder.get(), &status) != 0) return core::SystemError(kMount);
  core::UniqueFd shown;
  if (geteuid() == 0 && !seal::IsRootOfOneUser()) {
    core::Result<core::UniqueFd> tree = ShowToGuest(folder, status);
    if (!tree) return tree.error();
    shown = std::move(*tree);
  }
  auto pair = core::CreateSocketPair(SOCK_SEQPACKET);
  if (!pair) return pair.error();
  const int host_end = pair->first.get();
  // Three folders and the root are ours.
  const std::string tmpfs = "size=" + std::to_string(rule.size.count) +
                            ",nr_inodes=" + std::to_string(rule.inodes + 5) + ",mode=0700";
  const Instructions instructions{pair->second.get(), shown ? shown.get() : -1, path.c_str(),
                                  tmpfs.c_str()};
  core::Result<core::Process> mounting = mounts::StartMountProcess(
      kMount, CLONE_NEWUSER | CLONE_NEWNS, [&] { MountLayers(instructions); });
  if (!mounting) return mounting.error();
  pair->second.Reset();
  if (auto done = seal::WriteIdMaps(mounting->pid()); !done) return done.error();
  if (auto done = Continue(host_end); !done) return done.error();
  const core::Result<core::UniqueFd> lower = Receive(host_end);
  if (!lower) return lower.error();
  // By its path, it may be another by now.
  if (!IsSame(status, lower->get())) return core::MakeError(kMount, "its folder was replaced");
  Overlay overlay;
  core::Result<core::UniqueFd> upper = Receive(host_end);
  if (!upper) return upper.error();
  overlay.upper = std::move(*upper);
  if (auto done = Fill(overlay.upper.get(), status, rule, layer); !done) return done.error();
  if (auto done = Continue(host_end); !done) return done.error();
  core::Result<core::UniqueFd> merged = Receive(host_end);
  if (!merged) return merged.error();
  overlay.merged = std::move(*merged);
  return overlay;
}

}  // namespace belljar::projects
