#include "engine/projects/changes.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/beneath.h"
#include "engine/workspace/workspace_access.h"

namespace belljar::projects {
namespace {

using workspace::SnapshotEntry;
using EntryKind = SnapshotEntry::Kind;

// Files below a removed directory.
constexpr size_t kMaxRemoved = 1'000'000;

core::Error Unread(const std::string& path) {
  return core::SystemError("compare file " + core::Quoted(path));
}

FileKind KindOf(mode_t mode) {
  if (S_ISREG(mode)) return FileKind::kFile;
  if (S_ISDIR(mode)) return FileKind::kDirectory;
  return S_ISLNK(mode) ? FileKind::kLink : FileKind::kOther;
}

FileState StateOf(const SnapshotEntry& entry) {
  switch (entry.kind) {
    case EntryKind::kFile: return {FileKind::kFile, entry.mode, {}};
    case EntryKind::kDirectory: return {FileKind::kDirectory, entry.mode, {}};
    case EntryKind::kLink: return {FileKind::kLink, 0777, entry.target};
    case EntryKind::kRemoved: break;
  }
  return {};
}

workspace::FileTime TimeOf(const timespec& time) { return {time.tv_sec, time.tv_nsec}; }

class Comparison {
 public:
  Comparison(int folder, const workspace::WorkspaceSnapshot& layer,
             const workspace::FileTime& opened)
      : folder_(folder), layer_(layer), opened_(opened) {}

  core::Result<ChangeSet> Run() {
    for (const auto& entry : layer_.entries()) {
      if (auto done = Compare(*entry); !done) return done.error();
    }
    std::ranges::sort(set_.changes, {}, &Change::path);
    set_.left_out = layer_.left_out();
    return std::move(set_);
  }

 private:
  core::Result<void> Compare(const SnapshotEntry& entry) {
    core::Result<Found> before = Look(folder_, entry.path);
    if (!before) return before.error();
    Change change{.path = entry.path,
                  .before = before->state,
                  .after = StateOf(entry),
                  .stamp = before->stamp,
                  .content = entry.content,
                  .has_conflict = IsLater(before->stamp.status_changed)};
    const bool was_directory = change.before.kind == FileKind::kDirectory;
    const bool is_directory = change.after.kind == FileKind::kDirectory;
    if (was_directory && (!is_directory || entry.is_opaque)) {
      if (auto done = RemoveBelow(entry.path); !done) return done;
    }
    if (change.after.kind == FileKind::kNone) {
      if (change.before.kind == FileKind::kNone) return {};  // made and removed again
      change.kind = ChangeKind::kRemoved;
    } else if (change.before.kind != FileKind::kNone) {
      change.kind = ChangeKind::kChanged;
      core::Result<bool> same = HasSameContent(change);
      if (!same) return same.error();
      change.only_mode = *same;
      if (*same && change.before.mode == change.after.mode) return {};
    }
    set_.changes.push_back(std::move(change));
    return {};
  }

  core::Result<bool> HasSameContent(const Change& change) const {
    if (change.before.kind != change.after.kind) return false;
    if (change.after.kind == FileKind::kLink) return change.before.target == change.after.target;
    if (change.after.kind != FileKind::kFile) return true;
    if (change.stamp.size != change.content.size()) return false;
    const core::UniqueFd fd =
        host::OpenBeneath(folder_, change.path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!fd) return Unread(change.path);
    return change.content.IsIn(fd.get());
  }

  // What the layer hides of a directory of the folder, unless it has something at the same path.
  core::Result<void> RemoveBelow(const std::string& top) {
    std::vector<std::string> directories = {top};
    for (size_t i = 0; i < directories.size(); ++i) {
      const std::string path = directories[i];
      core::Result<void> removed = workspace::ForEachEntry(
          workspace::ReadDirectory(
              host::OpenBeneath(folder_, path.c_str(), O_RDONLY | O_DIRECTORY)),
          [&] { return Unread(path); },
          [&](const char* name) -> core::Result<void> {
            const std::string below = workspace::PathBelow(path, name);
            core::Result<bool> is_directory = Remove(below);
            if (!is_directory) return is_directory.error();
            if (*is_directory) directories.push_back(below);
            return {};
          });
      if (!removed) return removed;
    }
    return {};
  }

  core::Result<bool> Remove(std::string path) {
    if (++removed_ > kMaxRemoved) {
      return core::MakeError("compare a project",
                             "more than " + std::to_string(kMaxRemoved) + " files were removed");
    }
    core::Result<Found> before = Look(folder_, path);
    if (!before) return before.error();
    const bool is_directory = before->state.kind == FileKind::kDirectory;
    // What the layer has there is compared by itself, with what is below.
    if (const SnapshotEntry* const now = layer_.Find(path)) {
      return is_directory && now->kind == EntryKind::kDirectory && !now->is_opaque;
    }
    set_.changes.push_back({.kind = ChangeKind::kRemoved,
                            .path = std::move(path),
                            .before = std::move(before->state),
                            .stamp = before->stamp,
                            .has_conflict = IsLater(before->stamp.status_changed)});
    return is_directory;
  }

  bool IsLater(const workspace::FileTime& time) const {
    return std::pair(time.seconds, time.nanoseconds) >
           std::pair(opened_.seconds, opened_.nanoseconds);
  }

  const int folder_;
  const workspace::WorkspaceSnapshot& layer_;
  const workspace::FileTime opened_;
  ChangeSet set_;
  size_t removed_ = 0;
};

}  // namespace

const char* ChangeName(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kAdded: return "added";
    case ChangeKind::kChanged: return "changed";
    case ChangeKind::kRemoved: break;
  }
  return "removed";
}

uint64_t ChangeSet::count(ChangeKind kind) const {
  return static_cast<uint64_t>(std::ranges::count(changes, kind, &Change::kind));
}

core::Result<Found> Look(int folder, const std::string& path) {
  const core::UniqueFd fd = host::OpenBeneath(folder, path.c_str(), O_PATH);
  struct stat status;
  if (!fd && workspace::IsGone(errno)) return Found();
  if (!fd || fstat(fd.get(), &status) != 0) return Unread(path);
  Found found{.state = {KindOf(status.st_mode), status.st_mode & 0777, {}},
              .stamp = {status.st_dev, status.st_ino, 0, {}, {}}};
  // That of a directory changes with what is in it.
  if (found.state.kind == FileKind::kDirectory) return found;
  found.stamp.size = static_cast<uint64_t>(status.st_size);
  found.stamp.modified = TimeOf(status.st_mtim);
  found.stamp.status_changed = TimeOf(status.st_ctim);
  if (found.state.kind == FileKind::kLink) {
    char target[PATH_MAX];
    const ssize_t size = readlinkat(fd.get(), "", target, sizeof target);
    if (size < 0) return Unread(path);
    found.state.target.assign(target, static_cast<size_t>(size));
  }
  return found;
}

core::Result<ChangeSet> FindChanges(const core::UniqueFd& folder,
                                    const workspace::WorkspaceSnapshot& layer,
                                    const workspace::FileTime& opened) {
  return Comparison(folder.get(), layer, opened).Run();
}

ChangeSet Select(const ChangeSet& set, const std::function<bool(const Change&)>& is_chosen) {
  const auto is_directory = [](const Change& change) {
    const auto fits = [](const FileState& state) {
      return state.kind == FileKind::kDirectory || state.kind == FileKind::kNone;
    };
    return fits(change.before) && fits(change.after);
  };
  const std::vector<Change>& all = set.changes;
  std::vector<bool> chosen(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    if (!is_directory(all[i])) chosen[i] = is_chosen(all[i]);
  }
  // From the end: what is in a directory follows it, though not always at once.
  for (size_t i = all.size(); i-- > 0;) {
    const Change& change = all[i];
    if (!is_directory(change)) continue;
    bool has_any = false, has_chosen = false, has_other = false;
    for (size_t below = i + 1; below < all.size(); ++below) {
      if (!all[below].path.starts_with(change.path)) break;
      if (!all[below].path.starts_with(change.path + "/")) continue;
      has_any = true;
      (chosen[below] ? has_chosen : has_other) = true;
    }
    if (!has_any) {
      chosen[i] = is_chosen(change);
    } else {
      chosen[i] = change.kind == ChangeKind::kRemoved ? !has_other : has_chosen;
    }
  }
  ChangeSet selected{.left_out = set.left_out};
  for (size_t i = 0; i < all.size(); ++i) {
    if (chosen[i]) selected.changes.push_back(all[i]);
  }
  return selected;
}

ChangeSet Without(const ChangeSet& set, const ChangeSet& chosen) {
  ChangeSet rest{.left_out = set.left_out};
  for (const Change& change : set.changes) {
    if (!std::ranges::binary_search(chosen.changes, change.path, {}, &Change::path))
      rest.changes.push_back(change);
  }
  return rest;
}

bool IsOfGit(std::string_view path) {
  // In any case: there are file systems, and so versions of git, for which it is the same.
  return std::ranges::any_of(host::PathParts(path),
                             [](std::string_view part) { return core::LowerCase(part) == ".git"; });
}

bool LeadsOut(std::string_view path, std::string_view target) {
  if (target.empty() || target.starts_with('/')) return true;
  size_t depth = host::PathParts(path).size() - 1;
  bool has_name = false;
  for (const std::string_view part : host::PathParts(target)) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      has_name = true;
      continue;
    }
    // After a name, which may be a link, it leads who knows where.
    if (has_name || depth-- == 0) return true;
  }
  return false;
}

}  // namespace belljar::projects
