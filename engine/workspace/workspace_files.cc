// ListFiles and ReadFile of workspace.h.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/beneath.h"
#include "engine/workspace/workspace.h"
#include "engine/workspace/workspace_access.h"

namespace belljar::workspace {
namespace {

constexpr char kList[] = "list files";

core::Error Unlisted(const std::string& path) {
  return core::SystemError("list folder " + core::Quoted(path));
}

}  // namespace

core::Result<std::vector<FoundFile>> ListFiles(int workspace, size_t most) {
  const GuestIdentity identity;
  MakeSearchable(workspace);
  std::vector<FoundFile> files;
  std::vector<std::string> folders = {""};
  size_t seen = 0;
  // Breadth first, with one folder open at a time, as in SnapshotTaking.
  for (size_t i = 0; i < folders.size(); ++i) {
    const std::string folder = folders[i];
    core::UniqueFd fd =
        OpenUnlocked(workspace, folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY);
    if (!fd && (IsGone(errno) || errno == EXDEV)) continue;
    if (!fd) return Unlisted(folder);
    MakeSearchable(fd.get());
    const Directory directory = ReadDirectory(std::move(fd));
    const core::Result<void> listed = ForEachEntry(
        directory, [&] { return Unlisted(folder); },
        [&](const char* name) -> core::Result<void> {
          if (++seen > most) {
            return core::MakeError(kList, "there are more than " + std::to_string(most) +
                                              " files and folders; list them with a command");
          }
          struct stat status;
          if (fstatat(dirfd(directory.get()), name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            return {};  // it has vanished
          std::string path = PathBelow(folder, name);
          if (S_ISREG(status.st_mode)) {
            files.push_back({std::move(path), static_cast<uint64_t>(status.st_size)});
          } else if (S_ISDIR(status.st_mode) && path.size() <= host::kMaxPath) {
            folders.push_back(std::move(path));
          }
          return {};
        });
    if (!listed) return listed.error();
  }
  std::ranges::sort(files, {}, &FoundFile::path);
  return files;
}

core::Result<std::string> ReadFile(int workspace, const std::string& path, core::Bytes most) {
  const GuestIdentity identity;
  const core::UniqueFd fd = OpenUnlocked(workspace, path.c_str(), O_RDONLY);
  struct stat status;
  if (!fd || fstat(fd.get(), &status) != 0) {
    return IsGone(errno) ? core::SystemErrorOf(ENOENT, "read file " + core::Quoted(path),
                                               "the session has no such file")
                         : core::SystemError("read file " + core::Quoted(path));
  }
  if (!S_ISREG(status.st_mode)) {
    return core::SystemErrorOf(ENOENT, "read file " + core::Quoted(path), "it is not a file");
  }
  core::Result<std::string> content = core::ReadAll(fd.get(), most.count);
  if (content || content.error().error_number != EFBIG) return content;
  return core::WithCause(
      core::Cause::kWorkspace,
      core::MakeError("read file " + core::Quoted(path), "it is larger than " + most.ToString()));
}

}  // namespace belljar::workspace
