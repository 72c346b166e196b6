// Layer 2, privileges: nothing to lose and nothing to gain.
#ifndef BELLJAR_ENGINE_SEAL_PRIVILEGES_H_
#define BELLJAR_ENGINE_SEAL_PRIVILEGES_H_

#include "engine/core/result.h"

namespace belljar::seal {

// Zygote: switches to the sandbox uid and gid if it is root, sets no_new_privs, clears the bounding
// and ambient sets, becomes undumpable. `keep_namespace_capabilities` keeps capabilities over its
// own namespaces, which clone3 with CLONE_NEWPID requires.
core::Result<void> DropIdentity(bool keep_namespace_capabilities);

// Async-signal-safe; false sets errno.
bool DropBoundingSet();

// Worker: the rest. Clears all capability sets. Async-signal-safe; false sets errno.
bool DropPrivileges();

// Whether the kernel confirms both: no_new_privs, no capability in any set except the bounding set,
// and no root user id. Async-signal-safe.
bool HasNoPrivileges();

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_PRIVILEGES_H_
