// WorkspaceSnapshot: the files of a workspace (workspace.h) as they were at one moment, in the
// host's memory. For sessions: a checkpoint keeps them, a roll-back or a change of branch brings
// them back.
//
//   const SnapshotBounds bounds{rule.size, rule.inodes};
//   Result<WorkspaceSnapshot> first = WorkspaceSnapshot::Take(root, {}, bounds);
//   …                                                                        the guest works
//   Result<WorkspaceSnapshot> second = WorkspaceSnapshot::Take(root, *first, bounds);
//   SnapshotChanges changes = second->ChangesSince(*first);                  by path
//   Result<void> restored = first->Restore(root, bounds);
//
// What is the same in two successive snapshots is in memory once, down to pieces of files
// (FileContent) and single entries; a snapshot without any change costs nothing. All files are
// read each time, since their times do not tell: a guest can set them, and only the first write to
// a mapped page of a tmpfs changes them.
//
// The files are a hostile guest's. Its processes should be stopped meanwhile, since nothing else
// makes the files of one moment; but no safety relies on it. No link is followed and nothing is
// waited for (workspace_access.h), and everything is bounded by the caller. If they are not
// stopped, what vanishes meanwhile is not in the snapshot, and what they change during a
// restoration may stay.
//
// Kept are directories, regular files and symbolic links (as text), their permission bits (0777)
// and times of modification. Not kept:
//   - FIFOs, sockets and devices: left_out() counts them, and a restoration removes them;
//   - hard links: each name becomes a file of its own, when a restoration has to change one;
//   - files without a name that a process has open;
//   - what is mounted below: it is counted as left out, and a restoration leaves it alone.
//
// Values are immutable and may be used in any thread, also concurrently. Taking and restoring need
// a thread without another GuestIdentity.
#ifndef BELLJAR_ENGINE_WORKSPACE_WORKSPACE_SNAPSHOT_H_
#define BELLJAR_ENGINE_WORKSPACE_WORKSPACE_SNAPSHOT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "engine/workspace/file_content.h"

namespace belljar::workspace {

struct SnapshotBounds {
  // Of the files' sizes in all, holes included, and the texts of links. More than the file system
  // holds is only possible with holes and hard links.
  core::Bytes bytes;
  // Of any kind. Not more than the inodes of a tmpfs.
  size_t entries = 0;
};

// Since 1970. Not a chrono type: a guest sets any number of seconds, of which nanoseconds overflow.
struct FileTime {
  int64_t seconds = 0;
  int64_t nanoseconds = 0;
  bool operator==(const FileTime&) const = default;
};

struct SnapshotEntry {
  enum class Kind { kDirectory, kFile, kLink };

  std::string path;  // below the root: "a/b"; any bytes without a 0, of at most host::kMaxPath
  Kind kind = Kind::kFile;
  uint32_t mode = 0;  // permission bits; of a link, 0777
  FileTime modified;
  FileContent content;  // of a file
  std::string target;   // of a link

  // Of a link, of its text; of a directory, none.
  uint64_t size() const { return kind == Kind::kLink ? target.size() : content.size(); }
  std::string Sha256() const;  // computed each time

  bool operator==(const SnapshotEntry&) const = default;
};

// Paths in byte order, directories included. Changed: another kind, other permissions, bytes or
// text. Another time of modification is no change: each entry changes that of its directory.
struct SnapshotChanges {
  std::vector<std::string> added;
  std::vector<std::string> changed;
  std::vector<std::string> removed;

  bool operator==(const SnapshotChanges&) const = default;
};

class WorkspaceSnapshot {
 public:
  using Entries = std::vector<std::shared_ptr<const SnapshotEntry>>;

  WorkspaceSnapshot() = default;  // an empty workspace; cheap to copy, as all are

  // Reads everything below `workspace`, a descriptor of the root (O_RDONLY). `previous` decides
  // only what memory is shared: the snapshot that was taken or restored last is the best. The
  // workspace stays as it is; permissions that prevent reading are lifted for a moment.
  //
  // An error with error_number 0 is the guest's doing: more than the bounds, or a path that is too
  // long. It names the file and what to do. Others are failures of our machine.
  static core::Result<WorkspaceSnapshot> Take(int workspace, const WorkspaceSnapshot& previous,
                                              const SnapshotBounds& bounds);

  // Makes the workspace what it was. What is the same is not touched. A file with other bytes is
  // rewritten in place, in the pages that differ, so that a descriptor or a mapping of a process
  // still refers to the file of that path; it is replaced if it has several names or cannot be
  // opened. Everything else is removed. What is created belongs to the guest.
  //
  // Space is freed before any is used: a workspace that held these files once has room for them,
  // hard links aside. An error leaves a mixture; it may be tried again. `bounds.entries` is that
  // of the workspace itself.
  core::Result<void> Restore(int workspace, const SnapshotBounds& bounds) const;

  // In byte order of their paths: a directory precedes what it contains.
  const Entries& entries() const;
  // Null if there is none.
  const SnapshotEntry* Find(std::string_view path) const;
  uint64_t bytes() const;     // the sum of their sizes
  uint64_t left_out() const;  // FIFOs, sockets, devices, mounts

  // Also compares times of modification, not what was left out.
  bool operator==(const WorkspaceSnapshot& other) const;
  SnapshotChanges ChangesSince(const WorkspaceSnapshot& before) const;

  // Adds what it occupies to what other snapshots do.
  void AddTo(SharedMemory& memory) const;

 private:
  struct Contents {
    Entries entries;
    uint64_t bytes = 0;
    uint64_t left_out = 0;
    // Of the root itself. None: accessible to its owner.
    std::optional<uint32_t> root_mode;
  };
  friend class SnapshotTaking;

  const Contents& contents() const;

  std::shared_ptr<const Contents> contents_;  // null: empty
};

}  // namespace belljar::workspace

#endif  // BELLJAR_ENGINE_WORKSPACE_WORKSPACE_SNAPSHOT_H_
