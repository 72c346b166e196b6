// How the host reaches into a workspace that a hostile guest has filled (workspace.cc,
// workspace_snapshot.cc). Every step starts from a descriptor and follows no link
// (host::OpenBeneath); nothing here waits for the guest.
#ifndef BELLJAR_ENGINE_WORKSPACE_WORKSPACE_ACCESS_H_
#define BELLJAR_ENGINE_WORKSPACE_WORKSPACE_ACCESS_H_

#include <dirent.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::workspace {

// For files and directories that the host creates or has to open; only their owner can use them.
inline constexpr mode_t kFileMode = 0600;
inline constexpr mode_t kDirectoryMode = 0700;

// While it exists, this thread acts as the guest's user on file systems. Root is not mapped in the
// workspace's user namespace and could not create files there, and a hostile tree must not be read
// with root's rights. An ordinary user is the guest's user already.
class GuestIdentity {
 public:
  GuestIdentity();
  GuestIdentity(const GuestIdentity&) = delete;
  ~GuestIdentity();

 private:
  const bool taken_;
  int death_signal_ = 0;
  pid_t supervisor_ = 0;
  uid_t user_ = 0;
  gid_t group_ = 0;
};

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// `fd` must have its own file description: another user of a shared one would move its offset.
Directory ReadDirectory(core::UniqueFd fd);

// The attribute of a directory in a layer of an overlay that hides the one below: "y"
// (overlayfs.rst).
inline constexpr char kOpaque[] = "user.overlay.opaque";

// "a/b" of "a" and "b"; "b" of the root, "".
std::string PathBelow(const std::string& path, const char* name);

// For calls that refuse O_PATH descriptors.
std::string DescriptorPath(int fd);

// Calls `use` with the name of each entry but "." and "..", until it fails. `unread` is the error
// of a directory that cannot be read, made of errno.
core::Result<void> ForEachEntry(const Directory& directory,
                                const std::function<core::Error()>& unread,
                                const std::function<core::Result<void>(const char* name)>& use);

// "." and "..".
bool IsDots(const char* name);

// Whether the errno means that nothing of the name is there, or only something behind a link.
bool IsGone(int error_number);

// Makes a file or directory accessible, without following a symbolic link. Only the owner may
// change permissions, which is us (GuestIdentity).
bool Unlock(int workspace, const char* path);

// Nothing can be looked up in a directory without search permission, not even ".".
void MakeSearchable(int directory);

// OpenBeneath that does not block, and that makes the file or directory accessible if necessary.
// The caller checks what was opened: it may be anything.
core::UniqueFd OpenUnlocked(int workspace, const char* path, int flags);

}  // namespace belljar::workspace

#endif  // BELLJAR_ENGINE_WORKSPACE_WORKSPACE_ACCESS_H_
