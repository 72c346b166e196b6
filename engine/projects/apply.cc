#include "engine/projects/apply.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/text.h"
#include "engine/host/beneath.h"
#include "engine/host/random.h"
#include "engine/workspace/workspace_access.h"

namespace belljar::projects {
namespace {

constexpr char kApply[] = "apply changes";

core::Error NotApplied(const Change& change) {
  return core::SystemError("apply the change of " + core::Quoted(change.path));
}

core::Error Refused(const Change& change, const std::string& why) {
  return core::WithCause(core::Cause::kWorkspace,
                         core::MakeError("apply the change of " + core::Quoted(change.path), why));
}

bool IsDirectory(const FileState& state) { return state.kind == FileKind::kDirectory; }

// The folder that contains a path, and the last part.
struct Place {
  core::UniqueFd parent;
  std::string name;
};

class Transaction {
 public:
  Transaction(int folder, const ChangeSet& set) : folder_(folder), set_(set) {}
  Transaction(const Transaction&) = delete;
  ~Transaction() { (void)RemoveStage(); }

  core::Result<void> Run() {
    if (auto done = Stage(); !done) return done;
    if (auto done = Check(); !done) return done;
    core::Result<void> made = Make();
    if (made) return {};
    if (auto undone = Undo(); !undone) {
      keeps_stage_ = true;
      return core::MakeError(kApply, made.error().ToString() + "; and it could not be undone (" +
                                         undone.error().ToString() + "): the old files are in " +
                                         stage_name_);
    }
    return made;
  }

 private:
  // --- preparing ---

  core::Result<void> Stage() {
    struct stat status;
    if (fstat(folder_, &status) != 0) return core::SystemError(kApply);
    owner_ = status;
    stage_name_ = ".belljar-apply-" + host::NewUuid();
    if (mkdirat(folder_, stage_name_.c_str(), 0700) != 0)
      return core::SystemError(kApply, "create a folder in the project");
    stage_ = host::OpenBeneath(folder_, stage_name_.c_str(), O_RDONLY | O_DIRECTORY);
    if (!stage_) return core::SystemError(kApply, "open a folder in the project");
    for (size_t i = 0; i < set_.changes.size(); ++i) {
      if (auto done = StageOne(i); !done) return done;
    }
    return {};
  }

  core::Result<void> StageOne(size_t index) {
    const Change& change = set_.changes[index];
    const std::string name = NewName(index);
    if (change.after.kind == FileKind::kLink) {
      if (symlinkat(change.after.target.c_str(), stage_.get(), name.c_str()) == 0 &&
          Own(stage_.get(), name.c_str())) {
        return {};
      }
      return NotApplied(change);
    }
    if (change.after.kind != FileKind::kFile) return {};
    const core::UniqueFd fd(openat(stage_.get(), name.c_str(),
                                   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd || !change.content.Write(fd.get()) || !Own(stage_.get(), name.c_str()) ||
        fchmod(fd.get(), change.after.mode) != 0) {
      return NotApplied(change);
    }
    return {};
  }

  // Root makes files for the folder's owner.
  bool Own(int directory, const char* name) const {
    if (geteuid() != 0) return true;
    return fchownat(directory, name, owner_.st_uid, owner_.st_gid, AT_SYMLINK_NOFOLLOW) == 0;
  }

  core::Result<void> Check() const {
    for (const Change& change : set_.changes) {
      core::Result<Found> now = Look(folder_, change.path);
      if (!now) return now.error();
      if (change.has_conflict || now->state != change.before || now->stamp != change.stamp) {
        return Refused(change, "it has changed in the project since; nothing was applied");
      }
    }
    return {};
  }

  static std::string NewName(size_t index) { return "new-" + std::to_string(index); }
  static std::string OldName(size_t index) { return "old-" + std::to_string(index); }

  // --- making ---

  // What is removed first, the deepest first; then what there is, from above.
  core::Result<void> Make() {
    const size_t count = set_.changes.size();
    for (size_t i = count; i-- > 0;) {
      if (auto done = TakeAway(i); !done) return done;
    }
    for (size_t i = 0; i < count; ++i) {
      if (auto done = PutInPlace(i); !done) return done;
    }
    // The permissions of directories last: they may keep us out.
    for (size_t i = count; i-- > 0;) {
      if (auto done = SetMode(i); !done) return done;
    }
    return {};
  }

  core::Result<Place> PlaceOf(const Change& change) const {
    const size_t slash = change.path.rfind('/');
    const bool in_root = slash == change.path.npos;
    Place place{host::OpenBeneath(folder_, in_root ? "." : change.path.substr(0, slash).c_str(),
                                  O_PATH | O_DIRECTORY),
                in_root ? change.path : change.path.substr(slash + 1)};
    if (!place.parent) return NotApplied(change);
    return place;
  }

  core::Result<void> TakeAway(size_t index) {
    const Change& change = set_.changes[index];
    if (change.before.kind == FileKind::kNone) return {};
    const bool stays_directory = IsDirectory(change.before) && IsDirectory(change.after);
    if (stays_directory || change.only_mode) return {};
    core::Result<Place> place = PlaceOf(change);
    if (!place) return place.error();
    if (IsDirectory(change.before)) {
      if (unlinkat(place->parent.get(), place->name.c_str(), AT_REMOVEDIR) != 0)
        return NotApplied(change);
      undo_.emplace_back([this, &change, mode = change.before.mode] {
        core::Result<Place> again = PlaceOf(change);
        return again && mkdirat(again->parent.get(), again->name.c_str(), 0700) == 0 &&
               Own(again->parent.get(), again->name.c_str()) &&
               fchmodat(again->parent.get(), again->name.c_str(), mode, 0) == 0;
      });
      return {};
    }
    const std::string old_name = OldName(index);
    if (renameat2(place->parent.get(), place->name.c_str(), stage_.get(), old_name.c_str(),
                  RENAME_NOREPLACE) != 0) {
      return NotApplied(change);
    }
    undo_.emplace_back([this, &change, old_name] {
      core::Result<Place> again = PlaceOf(change);
      return again && renameat2(stage_.get(), old_name.c_str(), again->parent.get(),
                                again->name.c_str(), RENAME_NOREPLACE) == 0;
    });
    return {};
  }

  core::Result<void> PutInPlace(size_t index) {
    const Change& change = set_.changes[index];
    if (change.after.kind == FileKind::kNone || change.only_mode) return {};
    const bool stays_directory = IsDirectory(change.before) && IsDirectory(change.after);
    if (stays_directory) return {};
    core::Result<Place> place = PlaceOf(change);
    if (!place) return place.error();
    const int parent = place->parent.get();
    const char* const name = place->name.c_str();
    if (IsDirectory(change.after)) {
      if (mkdirat(parent, name, 0700) != 0) return NotApplied(change);
      undo_.emplace_back([this, &change] {
        core::Result<Place> again = PlaceOf(change);
        return again && unlinkat(again->parent.get(), again->name.c_str(), AT_REMOVEDIR) == 0;
      });
      return Own(parent, name) ? core::Result<void>() : NotApplied(change);
    }
    const std::string new_name = NewName(index);
    if (renameat2(stage_.get(), new_name.c_str(), parent, name, RENAME_NOREPLACE) != 0)
      return NotApplied(change);
    undo_.emplace_back([this, &change, new_name] {
      core::Result<Place> again = PlaceOf(change);
      return again && renameat2(again->parent.get(), again->name.c_str(), stage_.get(),
                                new_name.c_str(), RENAME_NOREPLACE) == 0;
    });
    return {};
  }

  core::Result<void> SetMode(size_t index) {
    const Change& change = set_.changes[index];
    const bool is_directory = IsDirectory(change.after);
    if (!is_directory && !(change.only_mode && change.after.kind == FileKind::kFile)) return {};
    const core::UniqueFd fd =
        host::OpenBeneath(folder_, change.path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!fd || fchmod(fd.get(), change.after.mode) != 0) return NotApplied(change);
    if (change.before.kind != change.after.kind) return {};
    undo_.emplace_back([this, &change, mode = change.before.mode] {
      const core::UniqueFd again = host::OpenBeneath(folder_, change.path.c_str(), O_PATH);
      return again && chmod(workspace::DescriptorPath(again.get()).c_str(), mode) == 0;
    });
    return {};
  }

  core::Result<void> Undo() {
    for (; !undo_.empty(); undo_.pop_back()) {
      if (!undo_.back()()) return core::SystemError("undo a change");
    }
    return {};
  }

  bool RemoveStage() const {
    if (!stage_ || keeps_stage_) return false;
    for (size_t i = 0; i < set_.changes.size(); ++i) {
      (void)unlinkat(stage_.get(), NewName(i).c_str(), 0);
      (void)unlinkat(stage_.get(), OldName(i).c_str(), 0);
    }
    return unlinkat(folder_, stage_name_.c_str(), AT_REMOVEDIR) == 0;
  }

  const int folder_;
  const ChangeSet& set_;
  struct stat owner_ {};
  std::string stage_name_;
  core::UniqueFd stage_;
  bool keeps_stage_ = false;
  std::vector<std::function<bool()>> undo_;  // in the order of what was done
};

}  // namespace

const char* Refusal(const Change& change, const ApplyOptions& options) {
  if (!options.with_git && IsOfGit(change.path))
    return "it is in .git, whose hooks and settings git executes";
  if (change.before.kind == FileKind::kOther) return "there is no file, directory or link";
  if (change.after.kind == FileKind::kLink && LeadsOut(change.path, change.after.target))
    return "the link leads out of the project";
  return nullptr;
}

core::Result<void> Apply(const core::UniqueFd& folder, const ChangeSet& set,
                         const ApplyOptions& options) {
  for (const Change& change : set.changes) {
    if (const char* const why = Refusal(change, options)) return Refused(change, why);
  }
  return set.changes.empty() ? core::Result<void>() : Transaction(folder.get(), set).Run();
}

}  // namespace belljar::projects
