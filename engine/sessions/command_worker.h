// CommandWorker: a session's worker that runs commands instead of cells
// (commands/command_runner.h).
#ifndef BELLJAR_ENGINE_SESSIONS_COMMAND_WORKER_H_
#define BELLJAR_ENGINE_SESSIONS_COMMAND_WORKER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/commands/command_runner.h"
#include "engine/core/result.h"
#include "engine/projects/project.h"
#include "engine/sessions/live_interpreter.h"
#include "engine/workspace/workspace_snapshot.h"

namespace belljar::sessions {

class CommandWorker final : public LiveInterpreter {
 public:
  // A worker over a project, or with an empty workspace if there is none.
  using OpenRunner = std::function<core::Result<std::unique_ptr<commands::CommandRunner>>(
      const std::shared_ptr<projects::Project>& project, const run::RunOptions& run)>;

  static core::Result<std::unique_ptr<LiveInterpreter>> Open(
      OpenRunner open, workspace::SnapshotBounds bounds, std::shared_ptr<projects::Project> project,
      const run::RunOptions& run);

  core::Result<host::Outcome> Run(const host::Request& request,
                                  const run::RunOptions& options) override;
  core::Result<std::string> Ask(const run::Question& question, int kill_fd) override;
  core::Result<std::vector<SessionFile>> Files(int kill_fd) override;
  core::Result<std::string> ReadFile(std::string_view path, int kill_fd) override;
  core::Result<void> WriteFiles(const std::vector<host::InputFile>& files, int kill_fd) override;
  core::Result<void> RemoveFile(std::string_view path, int kill_fd) override;
  core::Result<workspace::WorkspaceSnapshot> Snapshot() override;
  core::Result<void> Replace(const workspace::WorkspaceSnapshot& files) override;
  core::Result<std::unique_ptr<LiveInterpreter>> Branch() override;
  core::Result<workspace::WorkspaceSnapshot> Layer() override;
  bool has_branches() const override { return true; }
  core::Result<void> AttachFolder(const std::string& folder, const std::string& at) override;
  std::shared_ptr<projects::Project> project() const override { return project_; }
  bool HasEnded() const override { return runner_->HasEnded(); }
  bool has_workspace() const override { return true; }
  std::vector<pid_t> processes() const override { return {runner_->pid()}; }
  std::shared_ptr<commands::CommandRunner> commands() const override { return runner_; }

 private:
  core::Result<std::unique_ptr<LiveInterpreter>> OpenBranch();

  CommandWorker(OpenRunner open, std::shared_ptr<commands::CommandRunner> runner,
                workspace::SnapshotBounds bounds, std::shared_ptr<projects::Project> project)
      : open_(std::move(open)),
        runner_(std::move(runner)),
        bounds_(bounds),
        project_(std::move(project)) {}

  const OpenRunner open_;
  const std::shared_ptr<commands::CommandRunner> runner_;
  const workspace::SnapshotBounds bounds_;
  const std::shared_ptr<projects::Project> project_;
  workspace::WorkspaceSnapshot files_;           // the last one taken
  std::map<std::string, std::string> attached_;  // folders by their places
};

}  // namespace belljar::sessions

#endif  // BELLJAR_ENGINE_SESSIONS_COMMAND_WORKER_H_
