#include "engine/core/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/core/text.h"

namespace belljar {

std::vector<std::string_view> PathParts(std::string_view path) { return SplitAt(path, '/'); }

const char* PathFault(std::string_view path) {
  if (path.empty()) return "the name is empty";
  if (path.front() == '/') return "it must be a relative path, without a leading '/'";
  if (path.size() > kLongestPath) return "the path is longer than 1024 bytes";
  if (Printable(path) != path) return "the name must be UTF-8 without control characters";
  for (const std::string_view part : PathParts(path)) {
    if (part.empty()) return "a part of the path is empty";
    if (part == "." || part == "..") return "\".\" and \"..\" are no parts of a path here";
    if (part.size() > kLongestPathPart) return "a part of the path is longer than 255 bytes";
  }
  return nullptr;
}

UniqueFd OpenBeneath(int directory, const char* path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC | O_NOFOLLOW);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, directory, path, &how, sizeof how)));
}

Result<UniqueFd> MakeParents(int directory, const std::vector<std::string_view>& parts,
                             mode_t mode) {
  UniqueFd here = OpenBeneath(directory, ".", O_PATH | O_DIRECTORY);
  if (!here) return SystemError("open a directory", "needs Linux 5.6");
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const std::string name(parts[i]);
    if (mkdirat(here.get(), name.c_str(), mode) != 0 && errno != EEXIST) {
      return SystemError("make directory " + Quoted(name));
    }
    here = OpenBeneath(here.get(), name.c_str(), O_PATH | O_DIRECTORY);
    if (!here) return SystemError("open directory " + Quoted(name));
  }
  return here;
}

}  // namespace belljar
