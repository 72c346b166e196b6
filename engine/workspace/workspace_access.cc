#include "engine/workspace/workspace_access.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "engine/host/beneath.h"
#include "engine/seal/privileges.h"

namespace belljar::workspace {

GuestIdentity::GuestIdentity() : taken_(geteuid() == 0) {
  if (!taken_) return;
  prctl(PR_GET_PDEATHSIG, &death_signal_);
  supervisor_ = getppid();
  group_ = static_cast<gid_t>(setfsgid(seal::kSandboxUid));
  user_ = static_cast<uid_t>(setfsuid(seal::kSandboxUid));
}

GuestIdentity::~GuestIdentity() {
  if (!taken_) return;
  setfsuid(user_);
  setfsgid(group_);
  if (death_signal_ == 0) return;
  // Changing identity has cleared it, and it may be what ends an application together with its
  // supervisor.
  prctl(PR_SET_PDEATHSIG, death_signal_);
  if (getppid() != supervisor_) kill(getpid(), death_signal_);  // it has ended in the meantime
}

Directory ReadDirectory(core::UniqueFd fd) {
  if (!fd) return nullptr;
  Directory directory(fdopendir(fd.get()));
  if (directory) (void)fd.Release();
  return directory;
}

core::Result<void> ForEachEntry(const Directory& directory,
                                const std::function<core::Error()>& unread,
                                const std::function<core::Result<void>(const char* name)>& use) {
  if (!directory) return unread();
  for (;;) {
    errno = 0;  // null without an error means end
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread reads this stream
    const dirent* const entry = readdir(directory.get());
    if (!entry && errno != 0) return unread();
    if (!entry) return {};
    if (IsDots(entry->d_name)) continue;
    if (core::Result<void> used = use(entry->d_name); !used) return used;
  }
}

std::string PathBelow(const std::string& path, const char* name) {
  return path.empty() ? name : path + "/" + name;
}

std::string DescriptorPath(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

bool IsDots(const char* name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

bool IsGone(int error_number) {
  return error_number == ENOENT || error_number == ENOTDIR || error_number == ELOOP;
}

bool Unlock(int workspace, const char* path) {
  const core::UniqueFd found = host::OpenBeneath(workspace, path, O_PATH);
  struct stat status;
  if (!found || fstat(found.get(), &status) != 0) return false;
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return false;
  // fchmod refuses an O_PATH descriptor, and fchmodat2 needs Linux 6.6.
  return chmod(DescriptorPath(found.get()).c_str(),
               S_ISDIR(status.st_mode) ? kDirectoryMode : kFileMode) == 0;
}

void MakeSearchable(int directory) {
  struct stat status;
  if (fstat(directory, &status) == 0 && (status.st_mode & kDirectoryMode) != kDirectoryMode) {
    (void)fchmod(directory, kDirectoryMode);
  }
}

core::UniqueFd OpenUnlocked(int workspace, const char* path, int flags) {
  // O_NONBLOCK: a FIFO without a writer, or a lease, would block us.
  flags |= O_NONBLOCK | O_NOCTTY;
  core::UniqueFd fd = host::OpenBeneath(workspace, path, flags);
  if (fd || errno != EACCES) return fd;
  if (Unlock(workspace, path)) return host::OpenBeneath(workspace, path, flags);
  errno = EACCES;
  return {};
}

}  // namespace belljar::workspace
