#include "engine/host/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "engine/core/text.h"

namespace belljar::host {

std::vector<std::string_view> PathParts(std::string_view path) { return core::SplitAt(path, '/'); }

const char* PathFault(std::string_view path) {
  if (path.empty()) return "the name is empty";
  if (path.front() == '/') return "it must be a relative path, without a leading '/'";
  if (path.size() > kMaxPath) return "the path is longer than 1024 bytes";
  if (core::HasControls(path)) return "the name must be UTF-8 without control characters";
  for (const std::string_view part : PathParts(path)) {
    if (part.empty()) return "a component of the path is empty";
    if (part == "." || part == "..") return "\".\" and \"..\" are not allowed in a path";
    if (part.size() > kMaxPathPart) return "a component of the path is longer than 255 bytes";
  }
  return nullptr;
}

namespace {

core::UniqueFd Refuse(int error_number) {
  errno = error_number;
  return {};
}

// Opens one path component without following links. EXDEV: another file system.
core::UniqueFd OpenPart(int directory, dev_t device, const std::string& part, int flags,
                        mode_t mode) {
  core::UniqueFd fd(openat(directory, part.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, mode));
  struct stat status;
  if (!fd || fstat(fd.get(), &status) != 0) return {};
  if (status.st_dev != device) return Refuse(EXDEV);
  return fd;
}

// Like openat2. Each directory is held open while its entries are looked up, so that nobody can
// replace it, and ".." is never passed to the kernel.
core::UniqueFd WalkBeneath(int directory, std::string_view path, int flags, mode_t mode) {
  if (path.empty()) return Refuse(ENOENT);
  if (path.front() == '/') return Refuse(EXDEV);
  struct stat root;
  if (fstat(directory, &root) != 0) return {};
  core::UniqueFd here;
  const std::vector<std::string_view> parts = PathParts(path);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == "..") return Refuse(EXDEV);
    if (parts[i].empty()) return Refuse(EINVAL);
    const bool last = i + 1 == parts.size();
    core::UniqueFd next =
        OpenPart(here ? here.get() : directory, root.st_dev, std::string(parts[i]),
                 last ? flags : O_PATH | O_DIRECTORY, mode);
    if (!next || last) return next;
    here = std::move(next);
  }
  return {};
}

}  // namespace

core::UniqueFd OpenBeneath(int directory, const char* path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC | O_NOFOLLOW);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  core::UniqueFd fd(static_cast<int>(syscall(SYS_openat2, directory, path, &how, sizeof how)));
  if (!fd && errno == ENOSYS) return WalkBeneath(directory, path, flags, mode);
  return fd;
}

core::Result<core::UniqueFd> MakeParents(int directory, const std::vector<std::string_view>& parts,
                                         mode_t mode) {
  core::UniqueFd here = OpenBeneath(directory, ".", O_PATH | O_DIRECTORY);
  if (!here) return core::SystemError("open a directory");
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const std::string name(parts[i]);
    if (mkdirat(here.get(), name.c_str(), mode) != 0 && errno != EEXIST) {
      return core::SystemError("make directory " + core::Quoted(name));
    }
    here = OpenBeneath(here.get(), name.c_str(), O_PATH | O_DIRECTORY);
    if (!here) return core::SystemError("open directory " + core::Quoted(name));
  }
  return here;
}

}  // namespace belljar::host
