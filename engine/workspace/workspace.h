// Workspace: the host's access to a worker's private file system, below the descriptor of its root
// (WorkerResources::workspace).
//
//   Result<void> checked = CheckFiles(request.files, profile);   errors of the caller, by name
//   PutFiles(root, request.files);                               before the worker has its request
//   CollectArtifacts(root, request, outcome);                    after the run
//
// The collected files were made by a hostile guest. It is dead by then, but nothing here relies on
// that. No link is followed: each step starts from a descriptor and uses openat2 (Linux 5.6), which
// refuses symbolic links, other mounts and paths that lead out. Only regular files are read, each
// once, and everything is bounded: the number of files, the length of names, the number of bytes.
#ifndef BELLJAR_ENGINE_WORKSPACE_WORKSPACE_H_
#define BELLJAR_ENGINE_WORKSPACE_WORKSPACE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/workspace/workspace_snapshot.h"

namespace belljar::workspace {

// Artifacts of one run: how many are listed, and how much content is kept in the outcome.
inline constexpr size_t kMaxArtifactFiles = 4096;
inline constexpr core::Bytes kMaxKept = core::Bytes::Mebi(64);

// Limits of the modules that a program without a workspace is given.
inline constexpr size_t kMaxModuleFiles = 10'000;
inline constexpr core::Bytes kMaxModules = core::Bytes::Mebi(16);

// Whether a file of this name is a module, which a program may get without a workspace, too.
bool IsModule(std::string_view path);

// Checks that the files can be put into a workspace of the profile, or, if it has none, that they
// are modules of the program's own. The error is the caller's: it names the file and what to
// change.
core::Result<void> CheckFiles(const std::vector<host::InputFile>& files,
                              const core::Profile& profile);

// Precondition: CheckFiles. The files are owned by the guest and have mode 0600, directories 0700.
core::Result<void> PutFiles(int workspace, const std::vector<host::InputFile>& files);

// The next two fail with kWorkspace if the state of the workspace does not permit the change: a
// folder or a link in the way, no space. The detail says what to do.

// Likewise in a session's workspace: an existing file or link is replaced.
core::Result<void> ReplaceFiles(int workspace, const std::vector<host::InputFile>& files);

// Removes a file or a symbolic link. The path has passed host::PathFault. ENOENT: no such file.
core::Result<void> RemoveFile(int workspace, const std::string& path);

// The regular files, in byte order of their paths, without reading them. An error if there are more
// than `most`.
struct FoundFile {
  std::string path;
  uint64_t size = 0;
};
core::Result<std::vector<FoundFile>> ListFiles(int workspace, size_t most);

// One regular file. The path has passed host::PathFault. ENOENT: there is none; kWorkspace: it is
// larger than `most`.
core::Result<std::string> ReadFile(int workspace, const std::string& path, core::Bytes most);

// Whether there is nothing to collect: a quick check for runs that leave no files.
bool IsEmptyWorkspace(int workspace);

// Adds each regular file that is new or differs from request.files to outcome.artifacts, sorted by
// name, and records in outcome.artifacts_note what was omitted. An artifact of another origin with
// the same name is renamed. Failures are recorded there, too: they never make a run's outcome fail.
void CollectArtifacts(int workspace, const host::Request& request, host::Outcome& outcome) noexcept;

// The same in a session, of what differs from `before`.
void CollectChanges(int workspace, const WorkspaceSnapshot& before,
                    host::Outcome& outcome) noexcept;

}  // namespace belljar::workspace

#endif  // BELLJAR_ENGINE_WORKSPACE_WORKSPACE_H_
