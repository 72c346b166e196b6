// Layer 1, namespaces: no host files, processes, network, IPC or names.
//
// The host clones the zygote into new user, mount, net, ipc, uts and cgroup namespaces (before
// exec, so that the zygote's memory belongs to the new user namespace and an ordinary user may
// still look at its /proc from outside); the zygote builds the private root; each worker gets a
// PID namespace of its own, of which it is init.
#ifndef BELLJAR_ENGINE_SEAL_NAMESPACES_H_
#define BELLJAR_ENGINE_SEAL_NAMESPACES_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"

namespace belljar::seal {

// clone3 flags for a zygote, and for each worker: a PID namespace, and one of its own for what it
// has of its own (worker_resources.h).
uint64_t ZygoteNamespaceFlags();
uint64_t WorkerNamespaceFlags(bool own_mounts, bool own_network);

// Host: gives the freshly cloned, still waiting child its single uid and gid: kSandboxUid inside;
// outside the caller's own, or kSandboxUid too where the caller is root.
core::Result<void> WriteIdMaps(pid_t child);

// Child of a clone into them all: whether it may mount, as the private root takes. gVisor makes the
// namespaces and refuses that. Async-signal-safe; false sets errno.
bool MayMount();

// Child of the host between clone and exec: makes its capabilities survive the exec (they hold only
// over the new namespaces). Async-signal-safe; false sets errno.
bool KeepCapabilitiesAcrossExec();

// Zygote: takes the uid and gid that the maps gave it, replaces the root by a tmpfs that holds just
// `paths`, read-only, nosuid, nodev, and detaches the old one. A missing path that is not optional
// is an error that names it. What a path is without is covered; other paths below it are shown all
// the same, if they come later. `empty` are directories for a worker to mount on.
core::Result<void> EnterPrivateRoot(const std::vector<core::PathRule>& paths,
                                    const std::vector<std::string>& empty);

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_NAMESPACES_H_
