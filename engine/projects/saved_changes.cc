#include "engine/projects/saved_changes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/flat.h"
#include "engine/core/text.h"
#include "engine/host/random.h"

namespace belljar::projects {
namespace {

constexpr std::string_view kFirstLine = "belljar changes 1\n";
constexpr std::string_view kEnding = ".changes";
constexpr size_t kMaxFile = size_t{4} << 30;

struct StoredState {
  uint32_t kind = 0;
  uint32_t mode = 0;
  std::string target;
  static auto Members(auto& state) { return std::tie(state.kind, state.mode, state.target); }
};

struct StoredChange {
  uint32_t kind = 0;
  std::string path;
  StoredState before, after;
  FileStamp stamp;
  std::string content;
  bool only_mode = false;
  bool has_conflict = false;
  static auto Members(auto& change) {
    return std::tie(change.kind, change.path, change.before, change.after, change.stamp,
                    change.content, change.only_mode, change.has_conflict);
  }
};

struct StoredChanges {
  std::string folder;
  int64_t made = 0;  // seconds since 1970
  uint64_t left_out = 0;
  std::vector<StoredChange> changes;
  static auto Members(auto& stored) {
    return std::tie(stored.folder, stored.made, stored.left_out, stored.changes);
  }
};

StoredState Stored(const FileState& state) {
  return {static_cast<uint32_t>(state.kind), state.mode, state.target};
}

FileState Restored(const StoredState& state) {
  return {static_cast<FileKind>(state.kind), state.mode, state.target};
}

core::Error Malformed(const std::string& path) {
  return core::MakeError("read changes", core::Quoted(path) +
                                             " was written by another version of Belljar, or is "
                                             "damaged; remove it");
}

std::string NewId(std::chrono::system_clock::time_point made) {
  const time_t seconds = std::chrono::system_clock::to_time_t(made);
  tm parts{};
  (void)localtime_r(&seconds, &parts);
  char text[32];
  const size_t size = strftime(text, sizeof text, "%Y%m%d-%H%M%S-", &parts);
  return std::string(text, size) + host::NewUuid().substr(0, 4);
}

}  // namespace

std::string ChangeStore::PathOf(const std::string& id) const {
  return folder_ + "/" + id + std::string(kEnding);
}

core::Result<std::string> ChangeStore::Save(const SavedChanges& changes) const {
  std::error_code code;
  std::filesystem::create_directories(folder_, code);
  if (code || chmod(folder_.c_str(), 0700) != 0)
    return core::SystemErrorOf(code ? code.value() : errno, "create " + folder_);
  SavedChanges saved = changes;
  saved.id = NewId(changes.made);
  if (auto written = Write(saved); !written) return written.error();
  return saved.id;
}

core::Result<void> ChangeStore::Write(const SavedChanges& changes) const {
  StoredChanges stored{.folder = changes.folder,
                       .made = std::chrono::system_clock::to_time_t(changes.made),
                       .left_out = changes.set.left_out};
  for (const Change& each : changes.set.changes) {
    stored.changes.push_back({static_cast<uint32_t>(each.kind), each.path, Stored(each.before),
                              Stored(each.after), each.stamp, each.content.ToString(),
                              each.only_mode, each.has_conflict});
  }
  const std::string path = PathOf(changes.id), unfinished = path + ".new";
  {
    const core::UniqueFd fd(
        open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd || !core::WriteBytes(fd.get(), kFirstLine) ||
        !core::WriteBytes(fd.get(), core::ToFlat(stored)) || fsync(fd.get()) != 0) {
      const core::Error error = core::SystemError("write " + unfinished);
      (void)unlink(unfinished.c_str());
      return error;
    }
  }
  if (rename(unfinished.c_str(), path.c_str()) != 0) return core::SystemError("write " + path);
  return {};
}

core::Result<SavedChanges> ChangeStore::Load(const std::string& id) const {
  const std::string path = PathOf(id);
  core::Result<std::string> bytes = core::ReadFile(path, kMaxFile);
  if (!bytes) return bytes.error();
  if (!bytes->starts_with(kFirstLine)) return Malformed(path);
  bytes->erase(0, kFirstLine.size());
  core::Result<StoredChanges> stored = core::FromFlat<StoredChanges>("changes", *bytes);
  if (!stored) return Malformed(path);
  SavedChanges changes{.id = id,
                       .folder = std::move(stored->folder),
                       .made = std::chrono::system_clock::from_time_t(stored->made),
                       .set = {.left_out = stored->left_out}};
  for (StoredChange& each : stored->changes) {
    changes.set.changes.push_back({.kind = static_cast<ChangeKind>(each.kind),
                                   .path = std::move(each.path),
                                   .before = Restored(each.before),
                                   .after = Restored(each.after),
                                   .stamp = each.stamp,
                                   .content = workspace::FileContent::Of(each.content),
                                   .only_mode = each.only_mode,
                                   .has_conflict = each.has_conflict});
  }
  return changes;
}

core::Result<std::vector<SavedChanges>> ChangeStore::List(const std::string& project) const {
  std::vector<std::string> ids;
  std::error_code code;
  for (std::filesystem::directory_iterator at(folder_, code), end; !code && at != end;
       at.increment(code)) {
    std::string name = at->path().filename().string();
    if (!name.ends_with(kEnding)) continue;
    name.resize(name.size() - kEnding.size());
    ids.push_back(std::move(name));
  }
  if (code && code != std::errc::no_such_file_or_directory)
    return core::SystemErrorOf(code.value(), "list " + folder_);
  std::ranges::sort(ids, std::greater<>());
  std::vector<SavedChanges> all;
  for (const std::string& id : ids) {
    core::Result<SavedChanges> changes = Load(id);
    if (!changes) return changes.error();
    if (project.empty() || changes->folder == project) all.push_back(std::move(*changes));
  }
  return all;
}

core::Result<void> ChangeStore::Replace(const SavedChanges& changes) const {
  return changes.set.changes.empty() ? Remove(changes.id) : Write(changes);
}

core::Result<void> ChangeStore::Remove(const std::string& id) const {
  const std::string path = PathOf(id);
  if (unlink(path.c_str()) != 0) return core::SystemError("remove " + path);
  return {};
}

}  // namespace belljar::projects
