// WorkspaceSnapshot: the files of a workspace (workspace.h) at one moment, in the host's memory.
// For sessions: a checkpoint keeps one; a rollback or a switch to another branch restores it.
//
//   const SnapshotBounds bounds{rule.size, rule.inodes};
//   Result<WorkspaceSnapshot> first = WorkspaceSnapshot::Take(root, {}, bounds);
//   …                                                                        the guest works
//   Result<WorkspaceSnapshot> second = WorkspaceSnapshot::Take(root, *first, bounds);
//   SnapshotChanges changes = second->ChangesSince(*first);                  by path
//   Result<void> restored = first->Restore(root, bounds);
//
// What two successive snapshots have in common is in memory once, down to pieces of files
// (FileContent) and single entries; an unchanged snapshot costs nothing. All files are read each
// time, since modification times cannot be trusted: a guest can set them, and only the first write
// to a mapped page of a tmpfs changes them.
//
// The files are a hostile guest's. Its processes should be stopped meanwhile, or the files may not
// be of one moment; but security does not rely on it. Links are not followed, nothing waits
// (workspace_access.h), and the caller bounds everything. If the processes are not stopped, files
// that vanish meanwhile are not in the snapshot, and changes made during a restoration may persist.
//
// Kept are directories, regular files and symbolic links (as text), their permission bits (0777)
// and modification times. Not kept:
//   - FIFOs, sockets and devices: left_out() counts them, and a restoration removes them;
//   - hard links: each name becomes a file of its own when a restoration has to change one;
//   - files without a name that a process has open;
//   - mount points below: counted as left out, and left alone by a restoration.
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
  // Total size of files, holes included, and of the targets of links. Only holes and hard links can
  // make it exceed the size of the file system.
  core::Bytes bytes;
  // Entries of any kind. No more than a tmpfs has inodes.
  size_t entries = 0;
  // It is the upper layer of an overlay mounted with userxattr, and what it says of the lower one
  // is kept (Documentation/filesystems/overlayfs.rst, "whiteouts and opaque directories").
  bool is_layer = false;
};

// Since 1970. Not a chrono type: a guest can set any number of seconds, and nanoseconds would
// overflow.
struct FileTime {
  int64_t seconds = 0;
  int64_t nanoseconds = 0;
  bool operator==(const FileTime&) const = default;
};

struct SnapshotEntry {
  // kRemoved, of a layer: what is below has been removed.
  enum class Kind { kDirectory, kFile, kLink, kRemoved };

  std::string path;  // below the root: "a/b"; any bytes without a 0, of at most host::kMaxPath
  Kind kind = Kind::kFile;
  uint32_t mode = 0;  // permission bits; of a link, 0777
  FileTime modified;
  FileContent content;  // of a file
  std::string target;   // of a link
  // Of a directory in a layer: nothing of the one below is in it.
  bool is_opaque = false;

  // For a link, the length of its target; for a directory, 0.
  uint64_t size() const { return kind == Kind::kLink ? target.size() : content.size(); }
  std::string Sha256() const;  // computed each time

  bool operator==(const SnapshotEntry&) const = default;
};

// Paths in byte order, directories included. Changed: another kind, other permissions, bytes or
// text. A different modification time is no change: each entry changes that of its directory.
struct SnapshotChanges {
  std::vector<std::string> added;
  std::vector<std::string> changed;
  std::vector<std::string> removed;

  bool operator==(const SnapshotChanges&) const = default;
};

class WorkspaceSnapshot {
 public:
  using Entries = std::vector<std::shared_ptr<const SnapshotEntry>>;

  WorkspaceSnapshot() = default;  // an empty workspace; cheap to copy, like all snapshots

  // Reads everything below `workspace`, a descriptor of the root (O_RDONLY). `previous` only
  // decides what memory is shared: the snapshot taken or restored last is best. The workspace is
  // left unchanged; permissions that prevent reading are lifted for a moment.
  //
  // An error with error_number 0 is caused by the guest: it exceeds the bounds, or a path is too
  // long. It names the file and what to do. Others are failures of our machine.
  static core::Result<WorkspaceSnapshot> Take(int workspace, const WorkspaceSnapshot& previous,
                                              const SnapshotBounds& bounds);

  // Makes the workspace what it was. Unchanged files are not touched. A file with other bytes is
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

  // Also compares modification times, but not what was left out.
  bool operator==(const WorkspaceSnapshot& other) const;
  SnapshotChanges ChangesSince(const WorkspaceSnapshot& before) const;

  // Adds the memory that it does not share with other snapshots.
  void AddTo(SharedMemory& memory) const;

 private:
  struct Contents {
    Entries entries;
    uint64_t bytes = 0;
    uint64_t left_out = 0;
    // Mode of the root itself. nullopt: accessible to its owner.
    std::optional<uint32_t> root_mode;
  };
  friend class SnapshotTaking;

  const Contents& contents() const;

  std::shared_ptr<const Contents> contents_;  // null: empty
};

}  // namespace belljar::workspace

#endif  // BELLJAR_ENGINE_WORKSPACE_WORKSPACE_SNAPSHOT_H_
