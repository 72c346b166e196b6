// Paths below a directory whose content is not to be trusted: they are judged, and then walked down
// from a descriptor of that directory, never by a path of the whole system.
#ifndef BELLJAR_ENGINE_HOST_BENEATH_H_
#define BELLJAR_ENGINE_HOST_BENEATH_H_

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::host {

// Bytes, of a path below and of one of its parts.
inline constexpr size_t kMaxPath = 1024;
inline constexpr size_t kMaxPathPart = 255;  // NAME_MAX of Linux

// What is wrong with `path` as one below a directory, '/' between its parts; nullptr: nothing.
// It is UTF-8 without control characters, relative, and has no empty part, no "." and no "..".
const char* PathFault(std::string_view path);

// The parts of "a/b/c": "a", "b", "c". Of another's only what has no fault makes sense.
std::vector<std::string_view> PathParts(std::string_view path);

// Refuses symbolic links anywhere in the path (ELOOP or ENOTDIR; one at its end is opened itself
// with O_PATH), other file systems and whatever leads out (EXDEV). By openat2 (Linux 5.6), which
// refuses other mounts of the same file system too; where there is none (gVisor of 2022), one
// component after the other. An empty descriptor sets errno. O_CLOEXEC and O_NOFOLLOW come with it;
// O_TRUNC is not for it, since what was opened may be looked at only then.
core::UniqueFd OpenBeneath(int directory, const char* path, int flags, mode_t mode = 0);

// The directory (O_PATH) that the last of `parts` is in; what is missing on the way is made.
core::Result<core::UniqueFd> MakeParents(int directory, const std::vector<std::string_view>& parts,
                                         mode_t mode);

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_BENEATH_H_
