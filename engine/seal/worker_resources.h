// Resources that a worker of some profiles has of its own, made while it still may, before its
// seal takes every capability away. The host is handed a descriptor of each, and only the host
// keeps it.
//
//   workspace   two private file systems, bounded in bytes and inodes, at /workspace and /tmp; the
//               host puts files in and takes files out below the first (descriptor: its root)
//   egress proxy        a listening socket on the loopback of the worker's own network namespace,
//   which
//               has nothing else; the host serves it (descriptor: that socket)
//
// They need a mount and a network namespace per worker (WorkerNamespaceFlags). In a container there
// may be none. There the workspace is memory that the container has mounted at the same two places,
// and what makes it private is that the container is for one run.
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
};

// Worker; an empty descriptor sets errno. The workspace becomes the working directory; nothing in
// it can be executed, be a device, or give an identity. `covered` are readable trees at paths below
// the two, as in an installation in /tmp: they are shown there again.
core::UniqueFd MountWorkspace(const core::WorkspaceRule& rule,
                              const std::vector<std::string>& covered);
core::UniqueFd OpenEgress(const core::EgressListener& rule);

// Host, in a container: whether /workspace and /tmp are as a workspace without namespaces needs
// them: each a tmpfs of its own, bounded, empty and ours to write. The error names what is
// wrong.
core::Result<void> CheckContainersWorkspace();

// Worker; an empty descriptor sets errno. As MountWorkspace, with what is mounted there.
core::UniqueFd EnterContainersWorkspace();

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_WORKER_RESOURCES_H_
