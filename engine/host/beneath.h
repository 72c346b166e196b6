// Paths below a directory with untrusted content. They are validated, then resolved from a
// descriptor of that directory, never as an absolute path.
#ifndef BELLJAR_ENGINE_HOST_BENEATH_H_
#define BELLJAR_ENGINE_HOST_BENEATH_H_

#include <sys/types.h>

#include <string_view>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::host {

// In bytes, of a relative path and of one of its components.
inline constexpr size_t kMaxPath = 1024;
inline constexpr size_t kMaxPathPart = 255;  // NAME_MAX of Linux

// What is wrong with `path` as a path below a directory ('/' between components); nullptr: nothing.
// It must be UTF-8 without control characters, relative, and without an empty component, "." or
// "..".
const char* PathFault(std::string_view path);

// The components of "a/b/c": "a", "b", "c". An untrusted path must have passed PathFault.
std::vector<std::string_view> PathParts(std::string_view path);

// Refuses symbolic links anywhere in the path (ELOOP or ENOTDIR; with O_PATH a final link is opened
// itself), other file systems and anything that leads out (EXDEV). Uses openat2 (Linux 5.6), which
// also refuses other mounts of the same file system; without it (gVisor of 2022), walks one
// component at a time. An empty descriptor sets errno. Implies O_CLOEXEC and O_NOFOLLOW. Do not
// pass O_TRUNC: the caller can only check what it opened afterwards.
core::UniqueFd OpenBeneath(int directory, const char* path, int flags, mode_t mode = 0);

// The directory (O_PATH) that contains the last of `parts`. Missing directories on the way are
// created.
core::Result<core::UniqueFd> MakeParents(int directory, const std::vector<std::string_view>& parts,
                                         mode_t mode);

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_BENEATH_H_
