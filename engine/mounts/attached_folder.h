// A folder of this machine that is shown to a worker after its seal, read-only: packages that have
// been installed for its session. Nothing is copied, and the worker does nothing for it.
//
// A worker has no capabilities in its mount namespace; who made its user namespaces has them all
// (user_namespaces(7)). A clone of the host joins the two for one move_mount(2). It stays in the
// host's PID namespace, where no guest can see or signal it, and resolves one path, below a root
// that no guest can change.
#ifndef BELLJAR_ENGINE_MOUNTS_ATTACHED_FOLDER_H_
#define BELLJAR_ENGINE_MOUNTS_ATTACHED_FOLDER_H_

#include <sys/types.h>

#include <string>

#include "engine/core/result.h"

namespace belljar::mounts {

// Shows `folder`, an absolute path, at one of core/package_places.h. It covers what was shown there
// before. With namespaces only (SealPlan::without_namespaces). What the folder contains is for all
// to read.
core::Result<void> AttachFolder(pid_t worker, const std::string& folder, const char* at);

}  // namespace belljar::mounts

#endif  // BELLJAR_ENGINE_MOUNTS_ATTACHED_FOLDER_H_
