// Overlay: a folder of this machine as the lower layer of a workspace. Nothing is copied, and
// nothing in the folder changes: what a guest does to it is in the upper layer, a bounded tmpfs.
//
//   Result<Overlay> overlay = Overlay::Mount(folder, path, rule, {});
//   pool->TakeWith(std::move(overlay->merged), …);            a worker, in which it is /workspace
//   WorkspaceSnapshot::Take(overlay->upper.get(), …);         what has changed (changes.h)
//
// The mount is made by a process of a moment, in a user and a mount namespace of its own, so that
// it needs no privileges, and the kernel acts in the layers with the guest's user's rights and no
// more. Root is not mapped there; the host shows it the folder with the folder's owner mapped to
// the guest's user instead (MOUNT_ATTR_IDMAP, Linux 5.12; overlays of such mounts: 5.19). Files of
// other owners can be read if everybody may, and not be changed. Linux 6.6: extended attributes of
// users on a tmpfs, in which an overlay says that a directory hides the one below.
#ifndef BELLJAR_ENGINE_PROJECTS_OVERLAY_H_
#define BELLJAR_ENGINE_PROJECTS_OVERLAY_H_

#include <string>

#include "engine/core/fd.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/workspace/workspace_snapshot.h"

namespace belljar::projects {

struct Overlay {
  core::UniqueFd merged;  // a detached mount, for one worker
  core::UniqueFd upper;   // the root of the upper layer, which outlives the worker

  // `folder`: an open directory (O_RDONLY), and its absolute path. `layer`: what the upper layer
  // begins with, of another overlay over the same folder. Errors say what the machine or the folder
  // lacks.
  static core::Result<Overlay> Mount(const core::UniqueFd& folder, const std::string& path,
                                     const core::WorkspaceRule& rule,
                                     const workspace::WorkspaceSnapshot& layer);
};

}  // namespace belljar::projects

#endif  // BELLJAR_ENGINE_PROJECTS_OVERLAY_H_
