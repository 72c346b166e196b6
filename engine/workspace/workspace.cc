#include "engine/workspace/workspace.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/beneath.h"
#include "engine/host/digest.h"
#include "engine/workspace/media_type.h"
#include "engine/workspace/workspace_access.h"

namespace belljar::workspace {
namespace {

// tmpfs accounts for whole pages.
const auto kPage = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));

// --- input files --------------------------------------------------------------------------------

// The paths that the files occupy, without duplicates.
class Tree {
 public:
  // Returns what conflicts with it; empty: nothing.
  std::string Add(const std::string& path) {
    for (size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
      const std::string_view parent = std::string_view(path).substr(0, slash);
      if (files_.contains(parent)) return core::Quoted(parent) + " is a file, not a directory";
      directories_.insert(parent);
    }
    if (directories_.contains(path)) return "another file uses it as a directory";
    if (!files_.insert(path).second) return "it is given twice; each file needs its own path";
    return {};
  }

  size_t size() const { return files_.size() + directories_.size(); }

 private:
  std::set<std::string_view> files_;
  std::set<std::string_view> directories_;
};

core::Error FileError(const std::string& path, std::string what) {
  return core::MakeError("file " + core::Quoted(path), std::move(what));
}

core::Result<void> PutFile(int workspace, const host::InputFile& file) {
  const std::vector<std::string_view> parts = host::PathParts(file.path);
  core::Result<core::UniqueFd> directory = host::MakeParents(workspace, parts, kDirectoryMode);
  if (!directory) return directory.error();
  const core::UniqueFd fd = host::OpenBeneath(directory->get(), std::string(parts.back()).c_str(),
                                              O_WRONLY | O_CREAT | O_EXCL, kFileMode);
  if (!fd) return core::SystemError("make file " + core::Quoted(file.path));
  if (!core::WriteBytes(fd.get(), file.content)) {
    const core::Error error = core::SystemError("write file " + core::Quoted(file.path));
    (void)unlinkat(directory->get(), std::string(parts.back()).c_str(), 0);  // a part of it
    return error;
  }
  return {};
}

// What is in the way of a change in a workspace that the guest has modified; nullptr: nothing of
// the guest's.
const char* ObstacleOf(int error_number) {
  switch (error_number) {
    case EISDIR: return "it is a folder; delete the files in it, or use another path";
    case ELOOP:
      return "a folder in its path is a symbolic link; delete the link, or use another path";
    case ENOTDIR:
    case EEXIST:
      return "a folder in its path is a file or a symbolic link; delete that, or use another path";
    case ENOSPC:
    case EDQUOT: return "the workspace is full; delete files first";
    default: return nullptr;
  }
}

core::Error NotChanged(const char* what, const std::string& path, const core::Error& error) {
  const char* const obstacle = ObstacleOf(error.error_number);
  if (!obstacle) return error;
  return core::WithCause(
      core::Cause::kWorkspace,
      core::MakeError("change the files of a session",
                      "file " + core::Quoted(path) + " cannot be " + what + ": " + obstacle));
}

// --- output files -------------------------------------------------------------------------------

// At most `size` bytes from the start, whatever size the file claims to have.
std::string ReadUpTo(int fd, size_t size) {
  std::string content(size, '\0');
  size_t filled = 0;
  while (filled < size) {
    const ssize_t got =
        pread(fd, content.data() + filled, size - filled, static_cast<off_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<size_t>(got);
  }
  content.resize(filled);
  return content;
}

// In pieces, since the file may be larger than what may be kept.
bool Holds(int fd, std::string_view content) {
  std::array<char, 64 * 1024> piece;
  size_t at = 0;
  while (at < content.size()) {
    const size_t wanted = std::min(piece.size(), content.size() - at);
    const ssize_t got = pread(fd, piece.data(), wanted, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || memcmp(piece.data(), content.data() + at, static_cast<size_t>(got)) != 0) {
      return false;
    }
    at += static_cast<size_t>(got);
  }
  return true;
}

class Collection {
 public:
  // Whether a file is not the run's: it existed before, and is unchanged.
  using IsAsBefore = std::function<bool(const std::string& path, int fd, uint64_t size)>;

  Collection(int workspace, IsAsBefore is_as_before, host::Outcome& outcome)
      : workspace_(workspace), is_as_before_(std::move(is_as_before)), outcome_(outcome) {}

  void Run() {
    List();
    std::sort(files_.begin(), files_.end());
    for (const std::string& path : files_) Take(path);
  }

  // What was omitted, for Outcome::artifacts_note.
  std::string Note() const {
    std::string note;
    const auto add = [&](uint64_t count, const char* one, const char* many) {
      if (count == 0) return;
      note += (note.empty() ? "left out: " : ", ") + std::to_string(count) + " " +
              (count == 1 ? one : many);
    };
    add(links_, "symbolic link", "symbolic links");
    add(special_, "FIFO, socket or device", "FIFOs, sockets or devices");
    add(too_long_, "entry whose path is too long", "entries whose paths are too long");
    add(unreadable_, "entry that could not be read", "entries that could not be read");
    add(over_, "file beyond the maximum listed", "files beyond the maximum listed");
    if (stopped_) note += (note.empty() ? "" : "; ") + std::string("there are more entries");
    return note;
  }

  uint64_t LeftOut() const { return links_ + special_ + too_long_ + unreadable_ + over_; }

 private:
  // Entries of any kind, including directories. A tmpfs has as many inodes as its profile allows,
  // but hard links come on top.
  static constexpr size_t kMaxEntries = 16384;

  // Breadth first, with one directory open at a time: a guest's tree may be deeper than the number
  // of available descriptors.
  void List() {
    directories_.push_back("");
    for (size_t i = 0; i < directories_.size() && !stopped_; ++i) {
      // A copy: listing appends to the vector.
      ListDirectory(std::string(directories_[i]));
    }
  }

  void ListDirectory(const std::string& path) {
    const char* name = path.empty() ? "." : path.c_str();
    core::UniqueFd fd = OpenUnlocked(workspace_, name, O_RDONLY | O_DIRECTORY);
    if (fd) MakeSearchable(fd.get());
    const Directory directory = ReadDirectory(std::move(fd));
    if (!directory) {
      ++unreadable_;
      return;
    }
    while (const dirent* entry = readdir(directory.get())) {
      if (IsDots(entry->d_name)) continue;
      if (++entries_ > kMaxEntries) {
        stopped_ = true;
        return;
      }
      Sort(PathBelow(path, entry->d_name), entry->d_type);
    }
  }

  // By the type in the directory entry; the actual type is checked again once the file is open.
  void Sort(std::string path, unsigned char type) {
    if (path.size() > host::kMaxPath) {
      ++too_long_;
    } else if (type == DT_DIR) {
      directories_.push_back(std::move(path));
    } else if (type == DT_REG) {
      files_.push_back(std::move(path));
    } else if (type == DT_LNK) {
      ++links_;
    } else {
      ++special_;
    }
  }

  void Take(const std::string& path) {
    const core::UniqueFd fd = OpenUnlocked(workspace_, path.c_str(), O_RDONLY);
    struct stat status;
    if (!fd || fstat(fd.get(), &status) != 0) {
      ++unreadable_;
      return;
    }
    if (!S_ISREG(status.st_mode)) {
      ++special_;
      return;
    }
    const auto size = static_cast<uint64_t>(status.st_size);
    if (is_as_before_(path, fd.get(), size)) return;
    if (outcome_.artifacts.size() >= kMaxArtifactFiles) {
      ++over_;
      return;
    }
    outcome_.artifacts.push_back(Describe(path, fd.get(), size));
  }

  host::Artifact Describe(const std::string& path, int fd, uint64_t size) {
    host::Artifact artifact;
    artifact.name = core::Printable(path);
    if (artifact.name != path) artifact.note = "bytes of its name are written as \\xNN";
    if (size > left_) {
      artifact.size = size;
      const char* known = MediaTypeOfName(path);
      artifact.media_type = known ? known : "application/octet-stream";
      artifact.note += (artifact.note.empty() ? "" : "; ") + std::string("not collected: ") +
                       "the files exceed " + kMaxKept.ToString() + " in all";
      return artifact;
    }
    std::string content = ReadUpTo(fd, size);
    left_ -= content.size();
    artifact.size = content.size();
    artifact.media_type = MediaTypeOf(path, content);
    artifact.sha256 = host::Sha256(content);
    artifact.content = std::move(content);
    return artifact;
  }

  const int workspace_;
  const IsAsBefore is_as_before_;
  host::Outcome& outcome_;
  std::vector<std::string> directories_;
  std::vector<std::string> files_;
  uint64_t left_ = kMaxKept.count;  // bytes that may still be read
  size_t entries_ = 0;
  uint64_t links_ = 0;
  uint64_t special_ = 0;
  uint64_t too_long_ = 0;
  uint64_t unreadable_ = 0;
  uint64_t over_ = 0;
  bool stopped_ = false;
};

// Files keep their names. Displayed artifacts are renamed on a conflict, so that all can be saved
// in one directory.
void NameDisplaysApart(host::Outcome& outcome) {
  std::set<std::string> taken;
  for (const host::Artifact& artifact : outcome.artifacts) {
    if (artifact.origin != host::Artifact::Origin::kFile) continue;
    taken.insert(artifact.name.substr(0, artifact.name.find('/')));
  }
  for (host::Artifact& artifact : outcome.artifacts) {
    if (artifact.origin == host::Artifact::Origin::kFile) continue;
    while (!taken.insert(artifact.name).second) artifact.name = "displayed-" + artifact.name;
  }
}

void Collect(int workspace, host::Outcome& outcome,
             const Collection::IsAsBefore& is_as_before) noexcept try {
  const GuestIdentity identity;
  MakeSearchable(workspace);
  Collection collection(workspace, is_as_before, outcome);
  collection.Run();
  NameDisplaysApart(outcome);
  outcome.artifacts_left_out += collection.LeftOut();
  outcome.artifacts_note = collection.Note();
} catch (const std::exception&) {
  outcome.artifacts_note = "no memory";  // short enough not to allocate
}

// Requires the guest's identity.
core::Result<void> Remove(int workspace, const std::string& path) {
  const std::string parent =
      path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  const std::string name = path.substr(parent.empty() ? 0 : parent.size() + 1);
  const core::UniqueFd directory =
      OpenUnlocked(workspace, parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY);
  if (!directory || unlinkat(directory.get(), name.c_str(), 0) != 0) {
    return core::SystemError("remove file " + core::Quoted(path));
  }
  return {};
}

}  // namespace

bool IsModule(std::string_view path) { return path.ends_with(".py"); }

namespace {

// Without a workspace: only modules that the program may import, which are kept in memory.
core::Result<void> CheckModules(const std::vector<host::InputFile>& files,
                                const core::Profile& profile) {
  Tree tree;
  uint64_t size = 0;
  for (const host::InputFile& file : files) {
    if (!IsModule(file.path)) {
      return FileError(file.path, "profile " + profile.name +
                                      " has no workspace for it, only modules (.py); the profile "
                                      "filesystem has one");
    }
    if (const char* fault = host::PathFault(file.path)) return FileError(file.path, fault);
    if (std::string what = tree.Add(file.path); !what.empty()) return FileError(file.path, what);
    size += file.content.size();
    if (size > kMaxModules.count) {
      return FileError(file.path,
                       "with it the modules exceed " + kMaxModules.ToString() + " in all");
    }
  }
  if (files.size() > kMaxModuleFiles) {
    return core::MakeError("files", std::to_string(files.size()) + " modules exceed the " +
                                        std::to_string(kMaxModuleFiles) + " that may be given");
  }
  return {};
}

}  // namespace

core::Result<void> CheckFiles(const std::vector<host::InputFile>& files,
                              const core::Profile& profile) {
  if (files.empty()) return {};
  if (!profile.workspace) return CheckModules(files, profile);
  const core::WorkspaceRule& workspace = *profile.workspace;
  Tree tree;
  uint64_t size = 0;
  for (const host::InputFile& file : files) {
    if (const char* fault = host::PathFault(file.path)) return FileError(file.path, fault);
    if (std::string what = tree.Add(file.path); !what.empty()) return FileError(file.path, what);
    size += (file.content.size() + kPage - 1) / kPage * kPage;
    if (size > workspace.size.count) {
      return FileError(file.path, "with it the files exceed the " + workspace.size.ToString() +
                                      " that the workspace can hold");
    }
  }
  // The workspace's root needs an inode too.
  if (tree.size() + 1 > workspace.inodes) {
    return core::MakeError(
        "files", std::to_string(tree.size()) + " files and directories exceed the " +
                     std::to_string(workspace.inodes - 1) + " that the workspace can hold");
  }
  return {};
}

core::Result<void> PutFiles(int workspace, const std::vector<host::InputFile>& files) {
  if (files.empty()) return {};
  const GuestIdentity identity;
  for (const host::InputFile& file : files) {
    if (core::Result<void> put = PutFile(workspace, file); !put) return put;
  }
  return {};
}

bool IsEmptyWorkspace(int workspace) {
  const GuestIdentity identity;
  MakeSearchable(workspace);
  const Directory directory = ReadDirectory(OpenUnlocked(workspace, ".", O_RDONLY | O_DIRECTORY));
  if (!directory) return false;  // CollectArtifacts reports it
  const dirent* entry = readdir(directory.get());
  while (entry && IsDots(entry->d_name)) entry = readdir(directory.get());
  return !entry;
}

core::Result<void> RemoveFile(int workspace, const std::string& path) {
  const GuestIdentity identity;
  const core::Result<void> removed = Remove(workspace, path);
  return removed ? removed : NotChanged("removed", path, removed.error());
}

core::Result<void> ReplaceFiles(int workspace, const std::vector<host::InputFile>& files) {
  if (files.empty()) return {};
  const GuestIdentity identity;
  for (const host::InputFile& file : files) {
    const core::Result<void> removed = Remove(workspace, file.path);
    const bool is_free = removed || removed.error().error_number == ENOENT;
    const core::Result<void> put = is_free ? PutFile(workspace, file) : removed;
    if (!put) return NotChanged("written", file.path, put.error());
  }
  return {};
}

void CollectArtifacts(int workspace, const host::Request& request,
                      host::Outcome& outcome) noexcept {
  std::map<std::string_view, const host::InputFile*> given;
  for (const host::InputFile& file : request.files) given.emplace(file.path, &file);
  Collect(workspace, outcome, [&](const std::string& path, int fd, uint64_t size) {
    const auto file = given.find(path);
    return file != given.end() && file->second->content.size() == size &&
           Holds(fd, file->second->content);
  });
}

void CollectChanges(int workspace, const WorkspaceSnapshot& before,
                    host::Outcome& outcome) noexcept {
  Collect(workspace, outcome, [&](const std::string& path, int fd, uint64_t size) {
    const SnapshotEntry* const entry = before.Find(path);
    return entry && entry->kind == SnapshotEntry::Kind::kFile && entry->content.size() == size &&
           entry->content.IsIn(fd);
  });
}

}  // namespace belljar::workspace
