// WorkspaceSnapshot::Restore, in three steps: remove and shorten what differs, create and write,
// set the permissions and times of directories.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/beneath.h"
#include "engine/workspace/workspace_access.h"
#include "engine/workspace/workspace_snapshot.h"

namespace belljar::workspace {
namespace {

using EntryKind = SnapshotEntry::Kind;

core::Error NotRestored(const char* what, const std::string& path) {
  return core::SystemError(std::string(what) + " file " + core::Quoted(path));
}

bool HasTime(const struct stat& status, const FileTime& time) {
  return FileTime{status.st_mtim.tv_sec, status.st_mtim.tv_nsec} == time;
}

bool HasMode(const struct stat& status, uint32_t mode) { return (status.st_mode & 07777) == mode; }

struct TimesToSet {
  explicit TimesToSet(const FileTime& modified)
      : times{{0, UTIME_OMIT}, {modified.seconds, modified.nanoseconds}} {}
  timespec times[2];
};

// For an open file or directory. Sets errno on failure.
bool SetAttributes(int fd, const SnapshotEntry& entry) {
  struct stat status;
  if (fstat(fd, &status) != 0) return false;
  if (!HasTime(status, entry.modified) && futimens(fd, TimesToSet(entry.modified).times) != 0) {
    return false;
  }
  return HasMode(status, entry.mode) || fchmod(fd, entry.mode) == 0;
}

bool SetLinkTime(int directory, const char* name, const SnapshotEntry& entry) {
  return utimensat(directory, name, TimesToSet(entry.modified).times, AT_SYMLINK_NOFOLLOW) == 0;
}

bool IsRegular(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

class Restoration {
 public:
  Restoration(int workspace, const WorkspaceSnapshot::Entries& entries,
              const SnapshotBounds& bounds)
      : workspace_(workspace), entries_(entries), bounds_(bounds), found_(entries.size()) {}

  core::Result<void> Run() {
    if (core::Result<void> pruned = Prune(); !pruned) return pruned;
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (core::Result<void> filled = Fill(i); !filled) return filled;
    }
    // The deepest first: the others lead there, and their times change with what they contain.
    for (size_t i = entries_.size(); i-- > 0;) {
      if (core::Result<void> set = SetDirectory(*entries_[i]); !set) return set;
    }
    return {};
  }

 private:
  enum class Found { kNothing, kSame, kOther };  // kOther: a file with other bytes, truncated

  // A directory of the workspace.
  struct Visit {
    std::string path;
    bool stays;
  };

  // --- removing ---

  // Breadth first, with one directory open at a time, as in SnapshotTaking.
  core::Result<void> Prune() {
    visits_.push_back({"", true});
    for (size_t i = 0; i < visits_.size(); ++i) {
      // A copy: visiting appends to the vector.
      if (core::Result<void> visited = PruneDirectory(Visit(visits_[i])); !visited) return visited;
    }
    for (size_t i = visits_.size(); i-- > 0;) {
      if (visits_[i].stays) continue;
      if (core::Result<void> removed = RemoveDirectory(visits_[i].path); !removed) return removed;
    }
    return {};
  }

  core::Result<void> PruneDirectory(const Visit& visit) {
    const char* path = visit.path.empty() ? "." : visit.path.c_str();
    core::UniqueFd fd = OpenUnlocked(workspace_, path, O_RDONLY | O_DIRECTORY);
    // It has vanished, or is a mount point.
    if (!fd && (IsGone(errno) || errno == EXDEV)) return {};
    if (fd) MakeSearchable(fd.get());
    const Directory directory = ReadDirectory(std::move(fd));
    if (!directory) return NotRestored("open", visit.path);
    // On a tmpfs, neither removing nor moving entries makes readdir miss others.
    return ForEachEntry(
        directory, [&] { return NotRestored("list", visit.path); },
        [&](const char* name) {
          return PruneEntry(dirfd(directory.get()), name, PathBelow(visit.path, name));
        });
  }

  core::Result<void> PruneEntry(int directory, const char* name, const std::string& path) {
    if (++visited_ > bounds_.entries) {
      return core::MakeError("restore files", "the workspace has more than " +
                                                  std::to_string(bounds_.entries) +
                                                  " entries; stop what creates them");
    }
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return {};
      return NotRestored("look at", path);
    }
    const auto place = std::ranges::lower_bound(
        entries_, path, {}, [](const auto& entry) -> const std::string& { return entry->path; });
    const bool wanted = place != entries_.end() && (*place)->path == path;
    if (S_ISDIR(status.st_mode)) {
      return PruneSubdirectory(directory, name, path,
                               wanted && (*place)->kind == EntryKind::kDirectory);
    }
    Found found = Found::kNothing;
    if (wanted && S_ISREG(status.st_mode) && (*place)->kind == EntryKind::kFile) {
      core::Result<Found> kept = KeepFile(directory, name, **place);
      if (!kept) return kept.error();
      found = *kept;
    } else if (wanted && S_ISLNK(status.st_mode) && (*place)->kind == EntryKind::kLink) {
      found = KeepLink(directory, name, status, **place);
    }
    if (wanted) found_[static_cast<size_t>(place - entries_.begin())] = found;
    return found == Found::kNothing ? Remove(directory, name, path, 0) : core::Result<void>();
  }

  // Leaves a directory for its own visit. Below the longest path it is first moved to the root.
  core::Result<void> PruneSubdirectory(int directory, const char* name, const std::string& path,
                                       bool stays) {
    if (path.size() <= host::kMaxPath) {
      visits_.push_back({path, stays});
      return {};
    }
    // Its own ".." changes with the move, so that it must be writable itself.
    (void)Unlock(directory, name);
    for (size_t attempt = 0; attempt <= bounds_.entries; ++attempt) {
      const std::string place = ".removed-" + std::to_string(++moved_);
      if (renameat2(directory, name, workspace_, place.c_str(), RENAME_NOREPLACE) == 0) {
        visits_.push_back({place, false});
        return {};
      }
      if (errno != EEXIST) break;
    }
    return NotRestored("move", path);
  }

  // kNothing: it must be replaced.
  core::Result<Found> KeepFile(int directory, const char* name, const SnapshotEntry& entry) {
    const core::UniqueFd fd = OpenUnlocked(directory, name, O_RDONLY);
    struct stat status;
    if (!fd || fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return Found::kNothing;
    const bool same = entry.content.IsIn(fd.get());
    if (same && HasMode(status, entry.mode) && HasTime(status, entry.modified)) return Found::kSame;
    // Changes would also affect its other names.
    if (status.st_nlink > 1) return Found::kNothing;
    if (same) {
      if (SetAttributes(fd.get(), entry)) return Found::kSame;
      return NotRestored("set the times of", entry.path);
    }
    const core::UniqueFd writable = OpenUnlocked(directory, name, O_RDWR);
    if (!writable || !IsRegular(writable.get())) return Found::kNothing;
    if (!entry.content.Shrink(writable.get())) return NotRestored("shorten", entry.path);
    return Found::kOther;
  }

  Found KeepLink(int directory, const char* name, const struct stat& status,
                 const SnapshotEntry& entry) {
    char target[PATH_MAX];
    const ssize_t size = readlinkat(directory, name, target, sizeof target);
    if (size < 0 || std::string_view(target, static_cast<size_t>(size)) != entry.target) {
      return Found::kNothing;
    }
    if (HasTime(status, entry.modified)) return Found::kSame;
    if (status.st_nlink > 1 || !SetLinkTime(directory, name, entry)) return Found::kNothing;
    return Found::kSame;
  }

  core::Result<void> RemoveDirectory(const std::string& path) {
    const size_t slash = path.rfind('/');
    const bool in_root = slash == path.npos;
    const core::UniqueFd parent = OpenParent(in_root ? "" : path.substr(0, slash));
    if (!parent) return NotRestored("open the directory of", path);
    return Remove(parent.get(), path.c_str() + (in_root ? 0 : slash + 1), path, AT_REMOVEDIR);
  }

  core::Result<void> Remove(int directory, const char* name, const std::string& path, int flags) {
    if (unlinkat(directory, name, flags) == 0 || errno == ENOENT) return {};
    if (errno == EBUSY) {  // something is mounted there
      has_mounts_ = true;
      return {};
    }
    if (errno == ENOTEMPTY && has_mounts_) return {};
    return NotRestored("remove", path);
  }

  // --- creating and writing ---

  core::UniqueFd OpenParent(const std::string& path) const {
    return host::OpenBeneath(workspace_, path.empty() ? "." : path.c_str(), O_PATH | O_DIRECTORY);
  }

  core::Result<void> Fill(size_t index) {
    const SnapshotEntry& entry = *entries_[index];
    if (found_[index] == Found::kSame) return {};
    const size_t slash = entry.path.rfind('/');
    const bool in_root = slash == entry.path.npos;
    // Usually the same as for the previous entry.
    std::string parent = in_root ? "" : entry.path.substr(0, slash);
    if (!parent_ || parent != parent_path_) {
      parent_ = OpenParent(parent);
      parent_path_ = std::move(parent);
    }
    if (!parent_) return NotRestored("open the directory of", entry.path);
    const char* name = entry.path.c_str() + (in_root ? 0 : slash + 1);
    switch (entry.kind) {
      case EntryKind::kDirectory:
        if (mkdirat(parent_.get(), name, kDirectoryMode) != 0 && errno != EEXIST)
          return NotRestored("make", entry.path);
        return entry.is_opaque ? MakeOpaque(name, entry) : core::Result<void>();
      case EntryKind::kRemoved:
        if (mknodat(parent_.get(), name, S_IFCHR, 0) == 0) return {};
        return NotRestored("make", entry.path);
      case EntryKind::kLink:
        if (symlinkat(entry.target.c_str(), parent_.get(), name) == 0 &&
            SetLinkTime(parent_.get(), name, entry)) {
          return {};
        }
        return NotRestored("make", entry.path);
      case EntryKind::kFile: return FillFile(name, entry, found_[index] == Found::kOther);
    }
    return {};
  }

  core::Result<void> MakeOpaque(const char* name, const SnapshotEntry& entry) const {
    const core::UniqueFd fd = host::OpenBeneath(parent_.get(), name, O_RDONLY | O_DIRECTORY);
    if (fd && fsetxattr(fd.get(), kOpaque, "y", 1, 0) == 0) return {};
    return NotRestored("make", entry.path);
  }

  core::Result<void> FillFile(const char* name, const SnapshotEntry& entry, bool exists) {
    core::UniqueFd fd;
    if (exists) {
      fd = OpenUnlocked(parent_.get(), name, O_RDWR);
    } else {
      fd = host::OpenBeneath(parent_.get(), name, O_RDWR | O_CREAT | O_EXCL, kFileMode);
    }
    if (!fd) return NotRestored(exists ? "open" : "make", entry.path);
    if (!IsRegular(fd.get())) {
      return core::MakeError("restore file " + core::Quoted(entry.path),
                             "a process of the guest replaces it; stop the guest");
    }
    if (!entry.content.Write(fd.get())) return NotRestored("write", entry.path);
    if (!SetAttributes(fd.get(), entry)) return NotRestored("set the times of", entry.path);
    return {};
  }

  // --- directories ---

  core::Result<void> SetDirectory(const SnapshotEntry& entry) {
    if (entry.kind != EntryKind::kDirectory) return {};
    const core::UniqueFd fd = OpenUnlocked(workspace_, entry.path.c_str(), O_RDONLY | O_DIRECTORY);
    if (!fd || !SetAttributes(fd.get(), entry)) {
      return NotRestored("set the times of", entry.path);
    }
    return {};
  }

  const int workspace_;
  const WorkspaceSnapshot::Entries& entries_;
  const SnapshotBounds bounds_;
  std::vector<Found> found_;  // for each entry; of directories, always kNothing
  std::vector<Visit> visits_;
  size_t visited_ = 0;
  size_t moved_ = 0;
  bool has_mounts_ = false;
  core::UniqueFd parent_;
  std::string parent_path_;
};

}  // namespace

core::Result<void> WorkspaceSnapshot::Restore(int workspace, const SnapshotBounds& bounds) const
    try {
  const GuestIdentity identity;
  struct stat root;
  if (fstat(workspace, &root) != 0) return core::SystemError("restore the workspace");
  MakeSearchable(workspace);
  Restoration restoration(workspace, entries(), bounds);
  if (core::Result<void> restored = restoration.Run(); !restored) return restored;
  if (!contents().root_mode) return {};
  // A container's root belongs to someone else, and then nobody has changed it.
  if (fstat(workspace, &root) != 0) return core::SystemError("restore the workspace");
  if ((root.st_mode & 0777) != *contents().root_mode &&
      fchmod(workspace, (root.st_mode & 07000) | *contents().root_mode) != 0) {
    return core::SystemError("restore the workspace");
  }
  return {};
} catch (const std::exception&) {
  return core::SystemErrorOf(ENOMEM, "restore files");  // short enough not to allocate
}

}  // namespace belljar::workspace
