// MixedSession: a session whose cells may be in several languages.
//
//   std::shared_ptr<Session> session = MixedSession::Over(python);      as it was, so far
//   session->AddKernel(bash);
//   request.language = "bash";
//   session->Run(request);                                              its files are Python's
//
// Each language has a kernel, a session of its own with its own sandbox. Their files are those of
// one workspace: before a cell, its kernel gets what another has left. Values pass as plain data.
//
// Checkpoints, branches and questions are those of the session's own language. A roll-back restores
// its variables and the files for all; variables of other languages stay. A branch begins without
// them.
//
// Security: a kernel gets of the others only files and values, as from a caller. Neither is
// trusted: files are restored as those of a roll-back are, and values are JSON that is parsed and
// written anew.
#ifndef BELLJAR_ENGINE_SESSIONS_MIXED_SESSION_H_
#define BELLJAR_ENGINE_SESSIONS_MIXED_SESSION_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sessions/session.h"

namespace belljar::sessions {

class MixedSession final : public Session {
 public:
  // `own`: the session's own language.
  static std::shared_ptr<Session> Over(Kernel own);

  core::Result<host::Outcome> Run(const host::Request& request, const run::RunOptions& options,
                                  Patience patience) override;
  bool Interrupt() override;
  core::Result<std::string> Checkpoint(std::string label, Patience patience) override;
  std::vector<CheckpointInfo> Checkpoints() const override { return own_.session->Checkpoints(); }
  core::Result<void> RollBack(std::string_view checkpoint, Patience patience) override;
  core::Result<void> Undo(size_t cells, Patience patience) override;
  core::Result<std::vector<std::shared_ptr<Session>>> Branch(size_t count,
                                                             const BranchOptions& options,
                                                             Patience patience) override;
  core::Result<std::string> Ask(const run::Question& question, Patience patience) override {
    return own_.session->Ask(question, patience);
  }
  core::Result<SessionDifference> Compare(Session& other, Patience patience) override;
  core::Result<SessionDifference> Compare(std::string_view checkpoint, Patience patience) override;
  core::Result<std::vector<SessionFile>> Files(Patience patience) override;
  core::Result<std::string> ReadFile(std::string_view path, Patience patience) override;
  core::Result<void> WriteFiles(const std::vector<host::InputFile>& files,
                                Patience patience) override;
  core::Result<void> RemoveFile(std::string_view path, Patience patience) override;
  bool has_workspace() const override;  // of any kernel
  core::Result<workspace::WorkspaceSnapshot> Snapshot(Patience patience) override {
    return own_.session->Snapshot(patience);
  }
  core::Result<void> Replace(const workspace::WorkspaceSnapshot& files,
                             Patience patience) override {
    return own_.session->Replace(files, patience);
  }
  std::vector<std::string> languages() const override;
  core::Result<void> AddKernel(const Kernel& kernel) override;
  core::Result<std::string> ReadVariable(const std::string& language, const std::string& name,
                                         Patience patience) override;
  core::Result<void> SetVariable(const std::string& language, const host::InputVariable& variable,
                                 Patience patience) override;
  core::Result<std::shared_ptr<commands::Command>> StartCommand(
      const commands::CommandRequest& request, const waiting::Wait& wait) override {
    return own_.session->StartCommand(request, wait);
  }
  std::vector<std::shared_ptr<commands::Command>> Commands() const override {
    return own_.session->Commands();
  }
  core::Result<void> AttachFolder(const std::string& folder, const std::string& at,
                                  Patience patience) override {
    return own_.session->AttachFolder(folder, at, patience);
  }
  core::Result<projects::ProjectChanges> Changes() override { return own_.session->Changes(); }
  void Close(std::string why) override;
  std::string closed() const override;
  std::vector<pid_t> processes() const override;
  Info info() const override;

 private:
  explicit MixedSession(Kernel own);

  void EndTurn() override;
  std::vector<std::shared_ptr<Session>> Sessions() const;
  bool IsAlone() const;  // no kernel besides its own is open
  core::Result<Kernel> Find(const std::string& language) const;
  core::Result<Kernel> FindForVariable(const std::string& language, const std::string& name) const;
  core::Result<void> SyncFiles(const std::shared_ptr<Session>& into, Patience patience);
  core::Result<host::Outcome> RunIn(const Kernel& kernel, const host::Request& request,
                                    const run::RunOptions& options, Patience patience);
  core::Result<host::Outcome> Exchange(const Kernel& kernel, host::Request request,
                                       Patience patience);
  // Calls `use` with the own session, which has the files of the last cell. With the turn, if there
  // are other kernels.
  template <typename Use>
  auto WithFiles(Patience patience, Use use) -> decltype(use(std::declval<Session&>()));

  const Kernel own_;

  // Requires mutex_.
  std::vector<Kernel> others_;
  // Used by the holder of the turn: whose files are the newest. Null: the own session's.
  std::shared_ptr<Session> files_of_;
};

}  // namespace belljar::sessions

#endif  // BELLJAR_ENGINE_SESSIONS_MIXED_SESSION_H_
