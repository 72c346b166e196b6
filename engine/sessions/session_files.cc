// The files of a session.
#include <string>
#include <utility>
#include <vector>

#include "engine/sessions/branching_session.h"
#include "engine/sessions/branching_session_state.h"
#include "engine/workspace/workspace.h"

namespace belljar::sessions {

// Fills the workspace with this session's files, and `files`. Requires shared_->resources.
core::Result<void> BranchingSession::PlaceFiles(const std::vector<host::InputFile>& files) {
  if (!host_->workspace) return {};
  const int workspace = shared_->workspace.get();
  if (std::exchange(shared_->files_of, this) != this) {
    if (core::Result<void> restored = files_.Restore(workspace, *host_->workspace); !restored) {
      shared_->files_of = nullptr;
      return restored;
    }
  }
  if (files.empty()) return {};
  if (core::Result<void> put = workspace::ReplaceFiles(workspace, files); !put) {
    // Some may already be there: the next use restores the previous state.
    shared_->files_of = nullptr;
    return put;
  }
  return TakeFiles();
}

// Requires shared_->resources.
core::Result<void> BranchingSession::TakeFiles() {
  core::Result<workspace::WorkspaceSnapshot> taken =
      workspace::WorkspaceSnapshot::Take(shared_->workspace.get(), files_, *host_->workspace);
  if (!taken) return taken.error();
  files_ = std::move(*taken);
  return {};
}

core::Result<void> BranchingSession::NeedWorkspace() const {
  return host_->workspace ? core::Result<void>() : NoWorkspace();
}

core::Result<std::vector<SessionFile>> BranchingSession::Files(Patience patience) {
  if (core::Result<void> needed = NeedWorkspace(); !needed) return needed.error();
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  return FilesIn(files_);
}

core::Result<std::string> BranchingSession::ReadFile(std::string_view path, Patience patience) {
  if (core::Result<void> needed = NeedWorkspace(); !needed) return needed.error();
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  return ContentIn(files_, path);
}

core::Result<void> BranchingSession::ChangeFiles(
    Turn turn, const std::function<core::Result<void>(int)>& change) {
  {
    const std::lock_guard resources(shared_->resources);
    if (core::Result<void> placed = PlaceFiles({}); !placed) return placed;
    if (core::Result<void> changed = change(shared_->workspace.get()); !changed) {
      shared_->files_of = nullptr;  // as in PlaceFiles
      return changed;
    }
    core::Result<void> taken = TakeFiles();
    {
      const std::lock_guard lock(mutex_);
      if (base_) parent_ = base_->id;
    }
    is_at_base_ = false;
    if (!taken) return taken;
  }
  After(std::move(turn), nullptr);
  return {};
}

core::Result<void> BranchingSession::WriteFiles(const std::vector<host::InputFile>& files,
                                                Patience patience) {
  if (core::Result<void> needed = NeedWorkspace(); !needed) return needed;
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  return ChangeFiles(std::move(*turn),
                     [&](int workspace) { return workspace::ReplaceFiles(workspace, files); });
}

core::Result<void> BranchingSession::RemoveFile(std::string_view path, Patience patience) {
  if (core::Result<void> needed = NeedWorkspace(); !needed) return needed;
  if (core::Result<void> checked = CheckRemoval(path); !checked) return checked;
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  return ChangeFiles(std::move(*turn), [&](int workspace) {
    return workspace::RemoveFile(workspace, std::string(path));
  });
}

core::Result<workspace::WorkspaceSnapshot> BranchingSession::Snapshot(Patience patience) {
  if (core::Result<void> needed = NeedWorkspace(); !needed) return needed.error();
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  return files_;
}

core::Result<void> BranchingSession::Replace(const workspace::WorkspaceSnapshot& files,
                                             Patience patience) {
  if (core::Result<void> needed = NeedWorkspace(); !needed) return needed;
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  if (files == files_) return {};
  return ChangeFiles(std::move(*turn),
                     [&](int workspace) { return files.Restore(workspace, *host_->workspace); });
}

}  // namespace belljar::sessions
