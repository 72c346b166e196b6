// Changes: what a session did to a project (overlay.h), as a list that a person or a program
// reviews.
//
//   Result<ChangeSet> changes = FindChanges(folder, layer, opened);
//   UnifiedDiff(folder, changes)   in diff.h: against the folder as it is now
//   Apply(folder, changes, {})     in apply.h: makes them real
//
// The layer is a hostile guest's, and its paths and contents may be anything; no link in the folder
// is followed. A file that was written, but is what it was, is no change.
#ifndef BELLJAR_ENGINE_PROJECTS_CHANGES_H_
#define BELLJAR_ENGINE_PROJECTS_CHANGES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/workspace/workspace_snapshot.h"

namespace belljar::projects {

enum class FileKind : uint32_t { kNone, kFile, kDirectory, kLink, kOther };

// By which a file of the folder is recognised: any change to it changes one of them (inode(7)).
struct FileStamp {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  workspace::FileTime modified;
  workspace::FileTime status_changed;
  bool operator==(const FileStamp&) const = default;
  static auto Members(auto& stamp) {
    return std::tie(stamp.device, stamp.inode, stamp.size, stamp.modified.seconds,
                    stamp.modified.nanoseconds, stamp.status_changed.seconds,
                    stamp.status_changed.nanoseconds);
  }
};

struct FileState {
  FileKind kind = FileKind::kNone;
  uint32_t mode = 0;   // permission bits (0777); of a link 0777
  std::string target;  // of a link
  bool operator==(const FileState&) const = default;
};

enum class ChangeKind : uint32_t { kAdded, kChanged, kRemoved };
const char* ChangeName(ChangeKind kind);  // "added", …

struct Change {
  ChangeKind kind = ChangeKind::kAdded;
  std::string path;  // below the folder: "a/b"; any bytes without a 0
  FileState before;  // in the folder
  FileState after;
  FileStamp stamp;                 // of `before`; of a directory only its identity
  workspace::FileContent content;  // after; of a file
  bool only_mode = false;          // its bytes or target are the same
  bool has_conflict = false;       // somebody else changed the file while the session was open
};

struct ChangeSet {
  std::vector<Change> changes;  // by path: a directory precedes what is in it
  uint64_t left_out = 0;        // FIFOs, sockets and devices that the session made
  uint64_t count(ChangeKind kind) const;
};

// `layer`: with SnapshotBounds::is_layer. `opened`: when the session was (CLOCK_REALTIME). What is
// changed within a tick of that counts as before: no command has begun yet. An error names the
// file.
core::Result<ChangeSet> FindChanges(const core::UniqueFd& folder,
                                    const workspace::WorkspaceSnapshot& layer,
                                    const workspace::FileTime& opened);

// Those that are chosen, with the directories that they need: one that is made for something in it,
// and one that is removed, if all in it is. `is_chosen` is asked of what is no directory before and
// after.
ChangeSet Select(const ChangeSet& set, const std::function<bool(const Change&)>& is_chosen);
// The others.
ChangeSet Without(const ChangeSet& set, const ChangeSet& chosen);

// The file of the folder at a path; kNone if there is none.
struct Found {
  FileState state;
  FileStamp stamp;
};
core::Result<Found> Look(int folder, const std::string& path);

// Whether a path is in the folder's .git, whose hooks and settings git executes.
bool IsOfGit(std::string_view path);
// Whether a link at `path` with this target leads out of the folder.
bool LeadsOut(std::string_view path, std::string_view target);

}  // namespace belljar::projects

#endif  // BELLJAR_ENGINE_PROJECTS_CHANGES_H_
