// Layer 2, privileges: nothing to lose and nothing to gain.
#ifndef BELLJAR_ENGINE_SEAL_PRIVILEGES_H_
#define BELLJAR_ENGINE_SEAL_PRIVILEGES_H_

#include <cstdint>

#include "engine/core/result.h"

namespace belljar::seal {

// The uid and gid of guest code inside. As root the zygote really becomes this user. For an
// ordinary user, and root of one user, it is what its own uid is mapped to in the user namespace
// (by convention "nobody").
inline constexpr uint32_t kSandboxUid = 65534;

// Whether the caller is root, but of a user namespace without kSandboxUid, as in a container or a
// build sandbox with a single uid. It cannot become another user. Without capabilities it is like
// an ordinary user elsewhere: it owns the files of the namespace's creator, and nothing more. Reads
// /proc/self/uid_map; false if that cannot be read.
bool IsRootOfOneUser();

// Zygote: switches to the sandbox uid and gid if it is root of more than one user, sets
// no_new_privs, clears the bounding and ambient sets, becomes undumpable.
// `keep_namespace_capabilities` keeps capabilities over its own namespaces, which clone3 with
// CLONE_NEWPID requires.
core::Result<void> DropIdentity(bool keep_namespace_capabilities);

// Async-signal-safe; false sets errno.
bool DropBoundingSet();

// Worker: the rest. Clears all capability sets. Async-signal-safe; false sets errno.
bool DropPrivileges();

// Whether the kernel confirms both: no_new_privs, no capability in any set except the bounding set,
// and no root user id, unless it is `root_of_one_user`. Async-signal-safe.
bool HasNoPrivileges(bool root_of_one_user);

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_PRIVILEGES_H_
