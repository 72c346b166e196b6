// Resources of its own that a worker of some profiles has. They are created before its seal removes
// all capabilities. The host receives a descriptor of each, and only the host keeps it.
//
//   workspace     two private file systems, bounded in bytes and inodes, at /workspace and /tmp;
//                 the host writes and reads files below the first (descriptor: its root)
//   egress proxy  a listening socket on the loopback of the worker's own network namespace, which
//                 is otherwise empty; the host serves it (descriptor: that socket)
//   terminals     pseudo-terminals that nobody else has, at /dev/pts; the host opens those of
//                 commands (descriptor: that directory)
//
// They require a mount and a network namespace per worker (WorkerNamespaceFlags). A container may
// not have these. There the workspace is a tmpfs that the container has mounted at the same two
// paths, and it is private because the container is used for one run.
#ifndef BELLJAR_ENGINE_SEAL_WORKER_RESOURCES_H_
#define BELLJAR_ENGINE_SEAL_WORKER_RESOURCES_H_

#include <string>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"

namespace belljar::seal {

struct WorkerResources {
  core::UniqueFd workspace;
  core::UniqueFd egress;
  core::UniqueFd terminals;
};

inline constexpr char kTerminals[] = "/dev/pts";
inline constexpr int kMaxTerminals = 64;  // of a worker

// Worker; an empty descriptor sets errno. The workspace becomes the working directory. It is
// mounted nodev and nosuid, and noexec unless `executable`. `given`: a detached mount that is the
// workspace, instead of a new file system. `covered` are readable trees at paths below the two
// mount points, such as an installation in /tmp: they are mounted there again.
core::UniqueFd MountWorkspace(const core::WorkspaceRule& rule,
                              const std::vector<std::string>& covered, bool executable,
                              core::UniqueFd given = {});
core::UniqueFd MountTerminals();
core::UniqueFd OpenEgress(const core::EgressListener& rule);

// Worker, in a network namespace of its own: brings its loopback interface up. False sets errno.
bool OpenLoopback();

// Host, in a container: checks that /workspace and /tmp meet the requirements of a workspace
// without namespaces: each its own tmpfs, bounded, empty and writable. The error names what is
// wrong.
core::Result<void> CheckContainerWorkspace();

// Worker; an empty descriptor sets errno. Like MountWorkspace, with the existing mounts.
core::UniqueFd EnterContainerWorkspace();

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_WORKER_RESOURCES_H_
