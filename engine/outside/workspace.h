// Workspace: the host's hand in a worker's private file system, below the descriptor of its root
// (WorkerResources::workspace).
//
//   Result<void> checked = CheckFiles(request.files, profile);   the caller's mistakes, by name
//   PutFiles(root, request.files);                               before the worker has its request
//   CollectArtifacts(root, request, outcome);                    when the run is over
//
// What is collected from was made by a hostile guest. It is dead by then, and nothing here leans on
// that: nothing is ever followed, each step goes down from a descriptor, by openat2 (Linux 5.6),
// which refuses symbolic links, other mounts and whatever leads out. Only regular files are read,
// once each; everything is bounded: how many, how long their names, how many bytes.
#ifndef BELLJAR_ENGINE_OUTSIDE_WORKSPACE_H_
#define BELLJAR_ENGINE_OUTSIDE_WORKSPACE_H_

#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"

namespace belljar::outside {

// Artifacts of one run: how many are listed, and the content of how much is kept in the outcome.
inline constexpr size_t kMaxArtifactFiles = 4096;
inline constexpr core::Bytes kMaxKept = core::Bytes::Mebi(64);

// Whether these can be put into a workspace of the profile. The error is the caller's: it names the
// file and what to change.
core::Result<void> CheckFiles(const std::vector<host::InputFile>& files,
                              const core::Profile& profile);

// Precondition: CheckFiles. The files belong to the guest and have mode 0600, directories 0700.
core::Result<void> PutFiles(int workspace, const std::vector<host::InputFile>& files);

// Whether there is nothing to collect: one look, for the runs that leave no file.
bool IsEmptyWorkspace(int workspace);

// Adds each regular file that is new, or holds something else than request.files gave it, to
// outcome.artifacts, in order of their names, and says in outcome.artifacts_note what was left out.
// An artifact of another origin that has the name of a file gets another one.
// Whatever goes wrong is said there too: a run's outcome is never lost for what it left.
void CollectArtifacts(int workspace, const host::Request& request, host::Outcome& outcome) noexcept;

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_WORKSPACE_H_
