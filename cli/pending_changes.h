// The changes of sessions over projects, which wait for `belljar changes`.
#ifndef BELLJAR_CLI_PENDING_CHANGES_H_
#define BELLJAR_CLI_PENDING_CHANGES_H_

#include "engine/core/result.h"
#include "engine/projects/project.h"
#include "engine/projects/saved_changes.h"

namespace belljar::cli {

// $XDG_STATE_HOME/belljar/changes, or below ~/.local/state.
core::Result<projects::ChangeStore> OpenChangeStore();

// Keeps what the session has changed, and says so on standard error. Nothing, if it is nothing.
core::Result<void> KeepChanges(const projects::ProjectChanges& changes);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_PENDING_CHANGES_H_
