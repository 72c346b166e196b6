// Layer 2, privileges: nothing to lose and nothing to gain.
#ifndef BELLJAR_ENGINE_SEAL_PRIVILEGES_H_
#define BELLJAR_ENGINE_SEAL_PRIVILEGES_H_

#include "engine/core/result.h"

namespace belljar::seal {

// Zygote: takes the sandbox uid and gid where it is root, sets no_new_privs, empties the bounding
// and ambient sets, becomes undumpable. Capabilities over its own namespaces stay when
// `keep_namespace_capabilities`: clone3 with CLONE_NEWPID asks for them.
core::Result<void> DropIdentity(bool keep_namespace_capabilities);

// Worker: the rest. Empties all capability sets. Async-signal-safe; false sets errno.
bool DropPrivileges();

// Whether both have been done, as the kernel has it: no_new_privs, no capability in any set but the
// bounding one, and root's user nowhere. Async-signal-safe.
bool HasNoPrivileges();

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_PRIVILEGES_H_
