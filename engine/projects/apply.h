// Makes changes of a session real: all of them or, if one cannot be made, none.
#ifndef BELLJAR_ENGINE_PROJECTS_APPLY_H_
#define BELLJAR_ENGINE_PROJECTS_APPLY_H_

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/projects/changes.h"

namespace belljar::projects {

struct ApplyOptions {
  // Whoever can write there decides what git executes: its hooks and settings.
  bool with_git = false;
};

// What may not be made real, and is therefore not even tried: a change in .git without `with_git`,
// a link that leads out of the folder, a file that the session cannot have meant (a device). Null:
// it may be.
const char* Refusal(const Change& change, const ApplyOptions& options);

// First all new files are written to a folder beside, `.belljar-apply-…`; then each file is
// compared with what it was (FileStamp), and put in place by rename(2), directories from above; the
// old files are kept until the end. Nothing is followed, no file of the folder is opened for
// writing, and what is new belongs to the folder's owner.
//
// Errors: a change that is refused, or whose file has changed since, by name; kWorkspace. Others
// are failures of the machine. After either the folder is as it was; if not even that could be
// achieved, the error says where the old files are.
core::Result<void> Apply(const core::UniqueFd& folder, const ChangeSet& set,
                         const ApplyOptions& options);

}  // namespace belljar::projects

#endif  // BELLJAR_ENGINE_PROJECTS_APPLY_H_
