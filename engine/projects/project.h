// Project: a folder of this machine as a session sees and changes it, without anything happening to
// it (overlay.h).
//
//   Result<std::shared_ptr<Project>> project = Project::Open(path, rule);
//   Result<core::UniqueFd> workspace = (*project)->TakeMount();   for the session's worker
//   Result<ProjectChanges> changes = (*project)->Changes();       any time, also afterwards
//   Result<std::shared_ptr<Project>> branch = (*project)->Branch();
//
// Any thread.
#ifndef BELLJAR_ENGINE_PROJECTS_PROJECT_H_
#define BELLJAR_ENGINE_PROJECTS_PROJECT_H_

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/projects/changes.h"
#include "engine/projects/overlay.h"
#include "engine/workspace/workspace_snapshot.h"

namespace belljar::projects {

struct Folder {
  std::string path;   // absolute, without links
  core::UniqueFd fd;  // O_RDONLY
  workspace::FileTime opened;
};

// Opens it, if it can be a project: a directory of our own, or of anyone if we are root. Errors
// with error_number 0 are the caller's.
core::Result<core::UniqueFd> OpenFolder(const std::string& path);

// What a session did, and to which folder.
struct ProjectChanges {
  std::shared_ptr<const Folder> folder;
  ChangeSet set;
};

class Project {
 public:
  // Errors with error_number 0 are the caller's: there is no such folder, or it is another user's.
  static core::Result<std::shared_ptr<Project>> Open(const std::string& path,
                                                     const core::WorkspaceRule& rule);

  // Once.
  core::UniqueFd TakeMount() { return std::move(overlay_.merged); }
  core::Result<ProjectChanges> Changes();
  // Another one over the same folder, with what has been changed here.
  core::Result<std::shared_ptr<Project>> Branch();
  // The upper layer, as WorkspaceSnapshot takes one.
  core::Result<workspace::WorkspaceSnapshot> Layer();
  const Folder& folder() const { return *folder_; }

 private:
  Project(std::shared_ptr<const Folder> folder, const core::WorkspaceRule& rule, Overlay overlay)
      : folder_(std::move(folder)), rule_(rule), overlay_(std::move(overlay)) {}

  static core::Result<std::shared_ptr<Project>> Over(std::shared_ptr<const Folder> folder,
                                                     const core::WorkspaceRule& rule,
                                                     const workspace::WorkspaceSnapshot& layer);

  const std::shared_ptr<const Folder> folder_;
  const core::WorkspaceRule rule_;
  Overlay overlay_;
  std::mutex mutex_;
  workspace::WorkspaceSnapshot layer_;  // the last one taken
};

}  // namespace belljar::projects

#endif  // BELLJAR_ENGINE_PROJECTS_PROJECT_H_
