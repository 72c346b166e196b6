#include "engine/mounts/attached_folder.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/process.h"
#include "engine/core/socket.h"
#include "engine/mounts/mount_process.h"
#include "engine/seal/mount_calls.h"

namespace belljar::mounts {
namespace {

constexpr char kAttach[] = "show a folder to a session";
constexpr uint64_t kReadOnly = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

// --- the processes that mount (mount_process.h) -------------------------------------------------

void EndWithHost() { syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }

// In a user and a mount namespace of its own.
[[noreturn]] void Show(int socket, const char* folder) {
  EndWithHost();
  const int tree = seal::CloneMount(AT_FDCWD, folder);
  if (tree < 0 || !seal::AddMountAttributes(tree, kReadOnly)) FailToMount(socket, 1);
  _exit(SendMountAnswer(socket, {}, tree) ? 0 : 1);
}

[[noreturn]] void Join(int socket, int user, int mounts, int tree, const char* at) {
  EndWithHost();
  if (syscall(SYS_setns, user, CLONE_NEWUSER) != 0 ||
      syscall(SYS_setns, mounts, CLONE_NEWNS) != 0 || !seal::AttachMount(tree, at)) {
    FailToMount(socket, 1);
  }
  _exit(SendMountAnswer(socket, {}) ? 0 : 1);
}

// --- the host -----------------------------------------------------------------------------------

core::Result<core::UniqueFd> AnswerOf(int socket, const char* what) {
  core::Result<MountAnswered> answered = ReceiveMountAnswer(socket, kAttach);
  if (!answered) return answered.error();
  if (answered->answer.step != 0)
    return core::SystemErrorOf(answered->answer.error_number, kAttach, what);
  return std::move(answered->descriptor);
}

// A read-only mount of it that is nowhere. Only a process with capabilities can make one, for which
// an ordinary user needs a namespace.
core::Result<core::UniqueFd> Detached(const std::string& folder) {
  if (core::UniqueFd tree(seal::CloneMount(AT_FDCWD, folder.c_str())); tree) {
    if (seal::AddMountAttributes(tree.get(), kReadOnly)) return tree;
    return core::SystemError(kAttach, folder);
  }
  if (errno != EPERM) return core::SystemError(kAttach, folder);
  auto pair = core::CreateSocketPair(SOCK_SEQPACKET);
  if (!pair) return pair.error();
  const core::Result<core::Process> process = StartMountProcess(
      kAttach, CLONE_NEWUSER | CLONE_NEWNS, [&] { Show(pair->second.get(), folder.c_str()); });
  if (!process) return process.error();
  pair->second.Reset();
  return AnswerOf(pair->first.get(), folder.c_str());
}

}  // namespace

core::Result<void> AttachFolder(pid_t worker, const std::string& folder, const char* at) {
  const std::string path = "/proc/" + std::to_string(worker) + "/ns/mnt";
  const core::UniqueFd mounts(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!mounts) return core::SystemError(kAttach, path);
  // Not the worker's own: that one is below it (SealPlan::own_user).
  const core::UniqueFd user(ioctl(mounts.get(), NS_GET_USERNS));
  if (!user) return core::SystemError(kAttach, "find the owner of " + path);
  const core::Result<core::UniqueFd> tree = Detached(folder);
  if (!tree) return tree.error();
  auto pair = core::CreateSocketPair(SOCK_SEQPACKET);
  if (!pair) return pair.error();
  const core::Result<core::Process> process = StartMountProcess(
      kAttach, 0, [&] { Join(pair->second.get(), user.get(), mounts.get(), tree->get(), at); });
  if (!process) return process.error();
  pair->second.Reset();
  const core::Result<core::UniqueFd> done = AnswerOf(pair->first.get(), at);
  return done ? core::Result<void>() : done.error();
}

}  // namespace belljar::mounts
