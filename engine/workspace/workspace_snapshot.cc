#include "engine/workspace/workspace_snapshot.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <exception>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/beneath.h"
#include "engine/host/digest.h"
#include "engine/workspace/workspace_access.h"

namespace belljar::workspace {

namespace {

constexpr mode_t kPermissions = 0777;
constexpr mode_t kAllBits = 07777;
// What is needed to list a directory and to open what is in it.
constexpr mode_t kListable = 0500;

const std::string& PathOf(const std::shared_ptr<const SnapshotEntry>& entry) { return entry->path; }

// "file "a": what and what to do".
core::Error RefusedEntry(const std::string& path, std::string what) {
  return core::MakeError("keep file " + core::Quoted(path), std::move(what));
}

core::Error UnreadEntry(const std::string& path) {
  return core::SystemError("read file " + core::Quoted(path));
}

// Whether they differ in more than the modification time.
bool IsChanged(const SnapshotEntry& before, const SnapshotEntry& after) {
  return before.kind != after.kind || before.mode != after.mode || before.target != after.target ||
         before.content != after.content || before.is_opaque != after.is_opaque;
}

// `directory` may be O_PATH, which fgetxattr refuses.
bool IsOpaque(int directory) {
  char value = 0;
  return getxattr(DescriptorPath(directory).c_str(), kOpaque, &value, 1) == 1 && value == 'y';
}

}  // namespace

// --- taking -------------------------------------------------------------------------------------

class SnapshotTaking {
 public:
  SnapshotTaking(int workspace, const WorkspaceSnapshot& previous, const SnapshotBounds& bounds)
      : workspace_(workspace), previous_(previous), bounds_(bounds) {}
  SnapshotTaking(const SnapshotTaking&) = delete;
  ~SnapshotTaking() { Relock(); }

  core::Result<WorkspaceSnapshot> Run() {
    struct stat root;
    if (fstat(workspace_, &root) != 0) return core::SystemError("read the workspace");
    if ((root.st_mode & kDirectoryMode) != kDirectoryMode) {
      MakeSearchable(workspace_);
      root_mode_ = root.st_mode & kAllBits;
    }
    contents_.root_mode = root.st_mode & kPermissions;
    directories_.push_back({"", kDirectoryMode});
    // Breadth first, with one directory open at a time: a guest's tree may be deeper than the
    // number of available descriptors.
    for (size_t i = 0; i < directories_.size(); ++i) {
      // A copy: listing appends to the vector.
      const LockedDirectory directory = directories_[i];
      if (core::Result<void> listed = ListDirectory(directory); !listed) return listed.error();
    }
    return Finish();
  }

 private:
  struct LockedDirectory {
    std::string path;
    mode_t mode;
  };

  core::Result<void> ListDirectory(const LockedDirectory& listed) {
    const char* name = listed.path.empty() ? "." : listed.path.c_str();
    core::UniqueFd fd = OpenUnlocked(workspace_, name, O_RDONLY | O_DIRECTORY);
    if (!fd && IsGone(errno)) return {};
    if (!fd) return UnreadEntry(listed.path);
    if ((listed.mode & kListable) != kListable) {
      (void)fchmod(fd.get(), kDirectoryMode);
      unlocked_.push_back(listed);
    }
    return ForEachEntry(
        ReadDirectory(std::move(fd)), [&] { return UnreadEntry(listed.path); },
        [&](const char* entry) { return AddEntry(PathBelow(listed.path, entry)); });
  }

  core::Result<void> AddEntry(std::string path) {
    if (++listed_ > bounds_.entries) {
      return RefusedEntry(path, "the workspace has more than " + std::to_string(bounds_.entries) +
                                    " entries; remove some");
    }
    if (path.size() > host::kMaxPath) {
      return RefusedEntry(path, "its path is longer than " + std::to_string(host::kMaxPath) +
                                    " bytes; remove it or move it up");
    }
    const core::UniqueFd found = host::OpenBeneath(workspace_, path.c_str(), O_PATH);
    struct stat status;
    if (!found || fstat(found.get(), &status) != 0) {
      if (IsGone(errno)) return {};
      if (errno != EXDEV) return UnreadEntry(path);
      ++contents_.left_out;  // a mount
      return {};
    }
    SnapshotEntry entry;
    entry.path = std::move(path);
    entry.mode = status.st_mode & kPermissions;
    entry.modified = {status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
    if (S_ISDIR(status.st_mode)) {
      entry.kind = SnapshotEntry::Kind::kDirectory;
      entry.is_opaque = bounds_.is_layer && IsOpaque(found.get());
      directories_.push_back({entry.path, status.st_mode & kAllBits});
      Keep(std::move(entry));
    } else if (S_ISREG(status.st_mode)) {
      return AddFile(std::move(entry), status.st_mode & kAllBits);
    } else if (S_ISLNK(status.st_mode)) {
      return AddLink(std::move(entry), found.get());
    } else if (bounds_.is_layer && S_ISCHR(status.st_mode) && status.st_rdev == 0) {
      entry.kind = SnapshotEntry::Kind::kRemoved;
      entry.mode = 0;
      Keep(std::move(entry));
    } else {
      ++contents_.left_out;
    }
    return {};
  }

  core::Result<void> AddFile(SnapshotEntry entry, mode_t mode) {
    const core::UniqueFd fd = OpenUnlocked(workspace_, entry.path.c_str(), O_RDONLY);
    struct stat status;
    if (!fd && IsGone(errno)) return {};
    if (!fd || fstat(fd.get(), &status) != 0) return UnreadEntry(entry.path);
    if (!S_ISREG(status.st_mode)) {  // replaced meanwhile
      ++contents_.left_out;
      return {};
    }
    if ((status.st_mode & kAllBits) != mode) (void)fchmod(fd.get(), mode);
    const auto size = static_cast<uint64_t>(status.st_size);
    if (size > Left()) return RefusedEntry(entry.path, TooLarge(status.st_blocks, size));
    const SnapshotEntry* before = previous_.Find(entry.path);
    std::optional<FileContent> content =
        FileContent::Read(fd.get(), size, before ? before->content : FileContent());
    if (!content) return UnreadEntry(entry.path);
    entry.kind = SnapshotEntry::Kind::kFile;
    entry.content = std::move(*content);
    Keep(std::move(entry));
    return {};
  }

  core::Result<void> AddLink(SnapshotEntry entry, int link) {
    entry.kind = SnapshotEntry::Kind::kLink;
    std::string target(PATH_MAX, '\0');  // not longer on Linux
    const ssize_t size = readlinkat(link, "", target.data(), target.size());
    if (size < 0) return UnreadEntry(entry.path);
    entry.target = target.substr(0, static_cast<size_t>(size));
    if (entry.target.size() > Left()) return RefusedEntry(entry.path, TooLarge(0, 0));
    Keep(std::move(entry));
    return {};
  }

  // Directories get their permissions back, the deepest first: the others lead there.
  void Relock() noexcept try {
    for (auto directory = unlocked_.rbegin(); directory != unlocked_.rend(); ++directory) {
      const core::UniqueFd fd =
          OpenUnlocked(workspace_, directory->path.c_str(), O_RDONLY | O_DIRECTORY);
      if (fd) (void)fchmod(fd.get(), directory->mode);
    }
    if (root_mode_) (void)fchmod(workspace_, *root_mode_);
  } catch (const std::exception&) {
    // Out of memory. The rest stays accessible to its owner.
  }

  uint64_t Left() const { return bounds_.bytes.count - contents_.bytes; }

  std::string TooLarge(blkcnt_t blocks, uint64_t size) const {
    std::string what = "with it the files have more than " + bounds_.bytes.ToString() + " in all";
    constexpr uint64_t kBlockOfStat = 512;
    if (static_cast<uint64_t>(blocks) * kBlockOfStat < size / 2) {
      what += " (" + std::to_string(size) + " bytes alone, most of them a hole)";
    }
    return what + "; make it shorter or remove it";
  }

  void Keep(SnapshotEntry entry) {
    contents_.bytes += entry.size();
    contents_.entries.push_back(Shared(std::move(entry)));
  }

  // The same object as in the previous snapshot, if nothing has changed.
  std::shared_ptr<const SnapshotEntry> Shared(SnapshotEntry entry) const {
    const WorkspaceSnapshot::Entries& before = previous_.entries();
    const auto same = std::ranges::lower_bound(before, entry.path, {}, PathOf);
    if (same != before.end() && **same == entry) return *same;
    return std::make_shared<const SnapshotEntry>(std::move(entry));
  }

  WorkspaceSnapshot Finish() {
    std::ranges::sort(contents_.entries, {}, PathOf);
    const WorkspaceSnapshot::Contents& before = previous_.contents();
    if (contents_.entries == before.entries && contents_.left_out == before.left_out &&
        contents_.root_mode == before.root_mode) {
      return previous_;
    }
    contents_.entries.shrink_to_fit();
    WorkspaceSnapshot snapshot;
    snapshot.contents_ = std::make_shared<const WorkspaceSnapshot::Contents>(std::move(contents_));
    return snapshot;
  }

  const int workspace_;
  const WorkspaceSnapshot& previous_;
  const SnapshotBounds bounds_;
  WorkspaceSnapshot::Contents contents_;
  std::vector<LockedDirectory> directories_;
  std::vector<LockedDirectory> unlocked_;
  std::optional<mode_t> root_mode_;  // if it had to be changed
  size_t listed_ = 0;
};

core::Result<WorkspaceSnapshot> WorkspaceSnapshot::Take(int workspace,
                                                        const WorkspaceSnapshot& previous,
                                                        const SnapshotBounds& bounds) try {
  const GuestIdentity identity;
  SnapshotTaking taking(workspace, previous, bounds);
  return taking.Run();
} catch (const std::exception&) {
  return core::SystemErrorOf(ENOMEM, "keep files");  // short enough not to allocate
}

// --- values -------------------------------------------------------------------------------------

std::string SnapshotEntry::Sha256() const {
  return kind == Kind::kLink ? host::Sha256(target) : content.Sha256();
}

const WorkspaceSnapshot::Contents& WorkspaceSnapshot::contents() const {
  static const Contents empty;
  return contents_ ? *contents_ : empty;
}

const WorkspaceSnapshot::Entries& WorkspaceSnapshot::entries() const { return contents().entries; }

uint64_t WorkspaceSnapshot::bytes() const { return contents().bytes; }

uint64_t WorkspaceSnapshot::left_out() const { return contents().left_out; }

const SnapshotEntry* WorkspaceSnapshot::Find(std::string_view path) const {
  const auto found = std::ranges::lower_bound(entries(), path, {}, PathOf);
  return found != entries().end() && (*found)->path == path ? found->get() : nullptr;
}

bool WorkspaceSnapshot::operator==(const WorkspaceSnapshot& other) const {
  return std::ranges::equal(entries(), other.entries(),
                            [](const auto& a, const auto& b) { return a == b || *a == *b; });
}

SnapshotChanges WorkspaceSnapshot::ChangesSince(const WorkspaceSnapshot& before) const {
  SnapshotChanges changes;
  auto old = before.entries().begin();
  const auto old_end = before.entries().end();
  for (const auto& entry : entries()) {
    for (; old != old_end && (*old)->path < entry->path; ++old) {
      changes.removed.push_back((*old)->path);
    }
    if (old == old_end || (*old)->path != entry->path) {
      changes.added.push_back(entry->path);
      continue;
    }
    if (*old != entry && IsChanged(**old, *entry)) changes.changed.push_back(entry->path);
    ++old;
  }
  for (; old != old_end; ++old) changes.removed.push_back((*old)->path);
  return changes;
}

void WorkspaceSnapshot::AddTo(SharedMemory& memory) const {
  if (!contents_ ||
      !memory.Add(contents_.get(), sizeof *contents_ + contents_->entries.capacity() *
                                                           sizeof(Entries::value_type))) {
    return;
  }
  for (const auto& entry : contents_->entries) {
    if (!memory.Add(entry.get(),
                    sizeof *entry + entry->path.capacity() + entry->target.capacity())) {
      continue;
    }
    entry->content.AddTo(memory);
  }
}

}  // namespace belljar::workspace
