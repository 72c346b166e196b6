// Layer 1, namespaces: no host files, processes, network, IPC or names.
//
// The host clones the zygote into new user, mount, net, ipc, uts and cgroup namespaces. This
// happens before exec, so that the zygote's memory belongs to the new user namespace and an
// ordinary user can still read its /proc from outside. The zygote builds the private root. Each
// worker gets its own PID namespace, of which it is init.
#ifndef BELLJAR_ENGINE_SEAL_NAMESPACES_H_
#define BELLJAR_ENGINE_SEAL_NAMESPACES_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"

namespace belljar::seal {

// clone3 flags for a zygote, and for each worker: a PID namespace, and one for each kind of its own
// resources (worker_resources.h).
uint64_t ZygoteNamespaceFlags();
uint64_t WorkerNamespaceFlags(bool own_mounts, bool own_network);

// Host: maps one id of a child in a user namespace of its own. `file`: "uid_map" or "gid_map"
// (user_namespaces(7)).
core::Result<void> WriteIdMap(pid_t child, const char* file, uint32_t inside, uint32_t outside);

// Host: maps the single uid and gid of the freshly cloned child, which is still waiting:
// kSandboxUid inside; outside the caller's own, or kSandboxUid if the caller is root of more than
// one user (privileges.h).
core::Result<void> WriteIdMaps(pid_t child);

// In a child cloned into all of them: whether it may mount, as the private root requires. gVisor
// creates the namespaces but may refuse mounts. Async-signal-safe; false sets errno.
bool MayMount();

// Child of the host between clone and exec: keeps its capabilities across the exec (they only apply
// to the new namespaces). Async-signal-safe; false sets errno.
bool KeepCapabilitiesAcrossExec();

// Worker: a user namespace in which it is alone, without any mapping: its ids look like kSandboxUid
// to it, and are what they were to everybody else. It gets every capability in that namespace,
// which owns nothing, and must drop them. Async-signal-safe; false sets errno.
bool EnterOwnUser();

// Zygote: takes the mapped uid and gid, replaces the root by a tmpfs with only `paths`, read-only,
// nosuid, nodev, and detaches the old root. A missing path that is not optional is an error that
// names it. Folders excluded from a path are hidden; paths below them are still mounted if they
// come later in the list. `empty` are directories for a worker to mount on. `links`: symbolic
// links, path and target. `files`: path and text; where a path of `paths` has one, that stays.
using SymbolicLinks = std::vector<std::pair<std::string, std::string>>;
using SmallFiles = std::vector<std::pair<std::string, std::string>>;
core::Result<void> EnterPrivateRoot(const std::vector<core::PathRule>& paths,
                                    const std::vector<std::string>& empty,
                                    const SymbolicLinks& links = {}, const SmallFiles& files = {});

// For a worker that runs programs. Its zygote shows this machine's /proc, because the kernel allows
// a new one only to who sees one in full (mount_too_revealing in fs/namespace.c); no program runs
// there.
core::PathRule ProcOfMachine();
// Where the links of a machine's root lead (/bin to usr/bin), and those of /dev to /proc and /tmp.
SymbolicLinks LinksForPrograms();
// The addresses of localhost and of the sandbox's own name; nothing of this machine.
SmallFiles FilesForPrograms();
inline constexpr char kOwnProc[] = "/.proc";

// Worker, in a mount and a PID namespace of its own: replaces the machine's /proc by one that shows
// only the processes of this namespace (subset=pid, Linux 5.8), at kOwnProc before. If the kernel
// refuses one, as where a container masks parts of its own, there is none. Async-signal-safe; false
// sets errno.
bool MountOwnProc();

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_NAMESPACES_H_
