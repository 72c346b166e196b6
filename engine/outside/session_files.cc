// The files of a session.
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/text.h"
#include "engine/host/beneath.h"
#include "engine/outside/session.h"
#include "engine/outside/session_state.h"
#include "engine/outside/workspace.h"

namespace belljar::outside {

// The workspace gets this session's files, and `files`. Requires shared_->resources.
core::Result<void> Session::PlaceFiles(const std::vector<host::InputFile>& files) {
  if (!host_->workspace) return {};
  const int workspace = shared_->workspace.get();
  if (std::exchange(shared_->files_of, this) != this) {
    if (core::Result<void> restored = files_.Restore(workspace, *host_->workspace); !restored) {
      shared_->files_of = nullptr;
      return restored;
    }
  }
  if (files.empty()) return {};
  if (core::Result<void> put = ReplaceFiles(workspace, files); !put) return put;
  return TakeFiles();
}

// Requires shared_->resources.
core::Result<void> Session::TakeFiles() {
  core::Result<WorkspaceSnapshot> taken =
      WorkspaceSnapshot::Take(shared_->workspace.get(), files_, *host_->workspace);
  if (!taken) return taken.error();
  files_ = std::move(*taken);
  return {};
}

core::Result<void> Session::NeedWorkspace() const {
  if (host_->workspace) return {};
  return core::MakeError("use the files of a session",
                         "its profile has no workspace for them; the profile filesystem has");
}

core::Result<std::vector<SessionFile>> Session::Files(Patience patience) {
  if (core::Result<void> needed = NeedWorkspace(); !needed) return needed.error();
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  std::vector<SessionFile> files;
  for (const auto& entry : files_.entries()) {
    if (entry->kind != SnapshotEntry::Kind::kFile) continue;
    files.push_back({core::Printable(entry->path), entry->size()});
  }
  return files;
}

core::Result<std::string> Session::ReadFile(std::string_view path, Patience patience) {
  if (core::Result<void> needed = NeedWorkspace(); !needed) return needed.error();
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  const SnapshotEntry* const entry = files_.Find(path);
  if (!entry || entry->kind != SnapshotEntry::Kind::kFile) {
    return core::SystemErrorOf(ENOENT, "read file " + core::Quoted(path),
                               "the session has no such file");
  }
  std::string content;
  content.reserve(entry->size());
  for (size_t i = 0; i < entry->content.pieces(); ++i) content += entry->content.Piece(i);
  return content;
}

core::Result<void> Session::ChangeFiles(Turn turn,
                                        const std::function<core::Result<void>(int)>& change) {
  {
    const std::lock_guard resources(shared_->resources);
    if (core::Result<void> placed = PlaceFiles({}); !placed) return placed;
    core::Result<void> changed = change(shared_->workspace.get());
    core::Result<void> taken = TakeFiles();
    {
      const std::lock_guard lock(mutex_);
      if (base_) parent_ = base_->id;
    }
    is_at_base_ = false;
    if (!changed) return changed;
    if (!taken) return taken;
  }
  After(std::move(turn), nullptr);
  return {};
}

core::Result<void> Session::WriteFiles(const std::vector<host::InputFile>& files,
                                       Patience patience) {
  if (core::Result<void> needed = NeedWorkspace(); !needed) return needed;
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  return ChangeFiles(std::move(*turn),
                     [&](int workspace) { return ReplaceFiles(workspace, files); });
}

core::Result<void> Session::RemoveFile(std::string_view path, Patience patience) {
  if (core::Result<void> needed = NeedWorkspace(); !needed) return needed;
  if (const char* fault = host::PathFault(path)) {
    return core::MakeError("remove file " + core::Quoted(path), fault);
  }
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  return ChangeFiles(std::move(*turn), [&](int workspace) {
    return outside::RemoveFile(workspace, std::string(path));
  });
}

}  // namespace belljar::outside
