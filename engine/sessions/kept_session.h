// KeptSession: a session without checkpoints, with a Python that cannot be copied: in a container,
// or on a machine without namespaces. Names, imports and files persist from cell to cell; each cell
// is judged and limited like a run. A cell that has to be killed ends the session: its outcome and
// later calls say so, and why. The outcome of the first cell announces that this can happen.
#ifndef BELLJAR_ENGINE_SESSIONS_KEPT_SESSION_H_
#define BELLJAR_ENGINE_SESSIONS_KEPT_SESSION_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/run/run_options.h"
#include "engine/sessions/live_interpreter.h"
#include "engine/sessions/session.h"
#include "engine/waiting/event.h"
#include "engine/waiting/taker_queue.h"

namespace belljar::sessions {

// Why a session cannot be copied, as text for its caller.
struct NoCopies {
  std::string where;   // "under runc", "without namespaces"
  std::string remedy;  // "open it without a container"
  bool ends = true;    // with a cell that is killed
  // Where another one can be opened with the same files: is told each.
  std::function<void(const std::shared_ptr<Session>&)> opened;
};

class KeptSession final : public Session {
 public:
  static core::Result<std::shared_ptr<Session>> Open(std::unique_ptr<LiveInterpreter> interpreter,
                                                     NoCopies no_copies,
                                                     const SessionOptions& options);

  core::Result<host::Outcome> Run(const host::Request& request, const run::RunOptions& options,
                                  Patience patience) override;
  bool Interrupt() override;
  core::Result<std::string> Ask(const run::Question& question, Patience patience) override;
  core::Result<std::vector<SessionFile>> Files(Patience patience) override;
  core::Result<std::string> ReadFile(std::string_view path, Patience patience) override;
  core::Result<void> WriteFiles(const std::vector<host::InputFile>& files,
                                Patience patience) override;
  core::Result<void> RemoveFile(std::string_view path, Patience patience) override;
  bool has_workspace() const override { return has_workspace_; }
  core::Result<workspace::WorkspaceSnapshot> Snapshot(Patience patience) override;
  core::Result<void> Replace(const workspace::WorkspaceSnapshot& files, Patience patience) override;
  core::Result<std::shared_ptr<commands::Command>> StartCommand(
      const commands::CommandRequest& request, const waiting::Wait& wait) override;
  std::vector<std::shared_ptr<commands::Command>> Commands() const override;
  core::Result<void> AttachFolder(const std::string& folder, const std::string& at,
                                  Patience patience) override;
  core::Result<projects::ProjectChanges> Changes() override;
  void Close(std::string why) override;
  std::vector<pid_t> processes() const override;
  Info info() const override;

  // Of files alone, in a session of commands (LiveInterpreter::has_branches).
  core::Result<std::vector<std::shared_ptr<Session>>> Branch(size_t count,
                                                             const BranchOptions& options,
                                                             Patience patience) override;
  core::Result<SessionDifference> Compare(Session& other, Patience patience) override;

  // There are none; each of these fails with the reason.
  std::vector<CheckpointInfo> Checkpoints() const override { return {}; }
  core::Result<std::string> Checkpoint(std::string label, Patience patience) override;
  core::Result<void> RollBack(std::string_view checkpoint, Patience patience) override;
  core::Result<void> Undo(size_t cells, Patience patience) override;
  core::Result<SessionDifference> Compare(std::string_view checkpoint, Patience patience) override;

 private:
  KeptSession(std::unique_ptr<LiveInterpreter> interpreter, NoCopies no_copies,
              const SessionOptions& options, waiting::Event interrupt, waiting::Event kill);

  void EndTurn() override;
  // Calls `use` with the turn, and closes the session if its Python ended in the process.
  template <typename T>
  core::Result<T> Use(Patience patience, const char* what,
                      const std::function<core::Result<T>()>& use);
  core::Result<void> NeedWorkspace() const;
  core::Error CannotBeCopied() const;

  core::Result<workspace::WorkspaceSnapshot> Layer(const Patience& patience);

  const NoCopies no_copies_;
  const bool has_workspace_;
  const bool has_branches_;
  const std::shared_ptr<projects::Project> project_;  // null: there is none
  const waiting::Event interrupt_;                    // of the running cell
  const waiting::Event kill_;                         // the session has been closed

  std::shared_ptr<commands::CommandRunner> Runner() const;

  std::unique_ptr<LiveInterpreter> interpreter_;       // used by the holder of the turn
  std::shared_ptr<commands::CommandRunner> commands_;  // requires mutex_; null: there are none

  bool is_running_ = false;       // a cell; requires mutex_
  std::vector<pid_t> processes_;  // likewise
};

}  // namespace belljar::sessions

#endif  // BELLJAR_ENGINE_SESSIONS_KEPT_SESSION_H_
