#include "engine/projects/project.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "engine/core/text.h"
#include "engine/workspace/workspace_access.h"

namespace belljar::projects {

core::Result<core::UniqueFd> OpenFolder(const std::string& path) {
  const std::string operation = "open project " + core::Quoted(path);
  core::UniqueFd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return core::SystemErrorOf(0, operation, std::string(strerrordesc_np(errno)));
  struct stat status;
  if (fstat(folder.get(), &status) != 0) return core::SystemError(operation);
  if (geteuid() != 0 && status.st_uid != geteuid()) {
    return core::MakeError(operation,
                           "it belongs to another user, whose files could not be changed; "
                           "copy the folder, or run as its owner");
  }
  return folder;
}

core::Result<std::shared_ptr<Project>> Project::Open(const std::string& path,
                                                     const core::WorkspaceRule& rule) {
  core::Result<core::UniqueFd> fd = OpenFolder(path);
  if (!fd) return fd.error();
  std::error_code code;
  std::string absolute =
      std::filesystem::read_symlink(workspace::DescriptorPath(fd->get()), code).string();
  if (code) return core::SystemErrorOf(code.value(), "open project " + core::Quoted(path));
  timespec now{};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  return Over(std::make_shared<const Folder>(
                  Folder{std::move(absolute), std::move(*fd), {now.tv_sec, now.tv_nsec}}),
              rule, {});
}

core::Result<std::shared_ptr<Project>> Project::Over(std::shared_ptr<const Folder> folder,
                                                     const core::WorkspaceRule& rule,
                                                     const workspace::WorkspaceSnapshot& layer) {
  core::Result<Overlay> overlay = Overlay::Mount(folder->fd, folder->path, rule, layer);
  if (!overlay) return overlay.error();
  return std::shared_ptr<Project>(new Project(std::move(folder), rule, std::move(*overlay)));
}

core::Result<workspace::WorkspaceSnapshot> Project::Layer() {
  const std::lock_guard lock(mutex_);
  core::Result<workspace::WorkspaceSnapshot> taken = workspace::WorkspaceSnapshot::Take(
      overlay_.upper.get(), layer_, {rule_.size, rule_.inodes, true});
  if (taken) layer_ = *taken;
  return taken;
}

core::Result<ProjectChanges> Project::Changes() {
  const core::Result<workspace::WorkspaceSnapshot> layer = Layer();
  if (!layer) return layer.error();
  core::Result<ChangeSet> set = FindChanges(folder_->fd, *layer, folder_->opened);
  if (!set) return set.error();
  return ProjectChanges{folder_, std::move(*set)};
}

core::Result<std::shared_ptr<Project>> Project::Branch() {
  const core::Result<workspace::WorkspaceSnapshot> layer = Layer();
  if (!layer) return layer.error();
  return Over(folder_, rule_, *layer);
}

}  // namespace belljar::projects
