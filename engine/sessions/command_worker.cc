#include "engine/sessions/command_worker.h"

#include <utility>

#include "engine/core/text.h"
#include "engine/host/beneath.h"
#include "engine/mounts/attached_folder.h"
#include "engine/workspace/workspace.h"

namespace belljar::sessions {
namespace {

core::Error NoCells() {
  return core::MakeError("run a cell", "this session runs commands; cells are for other languages");
}

core::Error OverProject() {
  return core::MakeError("copy the files of a session",
                         "it has a project, whose files are too many; its changes can be listed");
}

// Files of a workspace.
constexpr size_t kMaxListed = 200'000;

}  // namespace

core::Result<host::Outcome> CommandWorker::Run(const host::Request&, const run::RunOptions&) {
  return NoCells();
}

core::Result<std::string> CommandWorker::Ask(const run::Question&, int) { return NoCells(); }

core::Result<std::unique_ptr<LiveInterpreter>> CommandWorker::Open(
    OpenRunner open, workspace::SnapshotBounds bounds, std::shared_ptr<projects::Project> project,
    const run::RunOptions& run) {
  core::Result<std::unique_ptr<commands::CommandRunner>> runner = open(project, run);
  if (!runner) return runner.error();
  return std::unique_ptr<LiveInterpreter>(
      new CommandWorker(std::move(open), std::move(*runner), bounds, std::move(project)));
}

core::Result<void> CommandWorker::AttachFolder(const std::string& folder, const std::string& at) {
  if (core::Result<void> done = mounts::AttachFolder(runner_->pid(), folder, at.c_str()); !done)
    return done;
  attached_[at] = folder;
  return {};
}

core::Result<std::unique_ptr<LiveInterpreter>> CommandWorker::Branch() {
  core::Result<std::unique_ptr<LiveInterpreter>> branch = OpenBranch();
  if (!branch) return branch;
  for (const auto& [at, folder] : attached_) {
    if (core::Result<void> done = (*branch)->AttachFolder(folder, at); !done) return done.error();
  }
  return branch;
}

core::Result<std::unique_ptr<LiveInterpreter>> CommandWorker::OpenBranch() {
  if (project_) {
    core::Result<std::shared_ptr<projects::Project>> branch = project_->Branch();
    if (!branch) return branch.error();
    return Open(open_, bounds_, std::move(*branch), {});
  }
  const core::Result<workspace::WorkspaceSnapshot> files = Snapshot();
  if (!files) return files.error();
  core::Result<std::unique_ptr<LiveInterpreter>> branch = Open(open_, bounds_, nullptr, {});
  if (!branch) return branch.error();
  if (core::Result<void> put = (*branch)->Replace(*files); !put) return put.error();
  return branch;
}

core::Result<workspace::WorkspaceSnapshot> CommandWorker::Layer() {
  return project_ ? project_->Layer() : Snapshot();
}

// While commands run, files may be of different moments.
core::Result<workspace::WorkspaceSnapshot> CommandWorker::Snapshot() {
  if (project_) return OverProject();
  core::Result<workspace::WorkspaceSnapshot> taken =
      workspace::WorkspaceSnapshot::Take(runner_->workspace(), files_, bounds_);
  if (taken) files_ = *taken;
  return taken;
}

core::Result<void> CommandWorker::Replace(const workspace::WorkspaceSnapshot& files) {
  if (project_) return OverProject();
  return files.Restore(runner_->workspace(), bounds_);
}

core::Result<std::vector<SessionFile>> CommandWorker::Files(int) {
  core::Result<std::vector<workspace::FoundFile>> found =
      workspace::ListFiles(runner_->workspace(), kMaxListed);
  if (!found) return found.error();
  std::vector<SessionFile> files;
  for (workspace::FoundFile& each : *found)
    files.push_back({core::Printable(each.path), each.size});
  return files;
}

core::Result<std::string> CommandWorker::ReadFile(std::string_view path, int) {
  if (const char* const fault = host::PathFault(path))
    return core::MakeError("read file " + core::Quoted(path), fault);
  return workspace::ReadFile(runner_->workspace(), std::string(path), bounds_.bytes);
}

core::Result<void> CommandWorker::WriteFiles(const std::vector<host::InputFile>& files, int) {
  return workspace::ReplaceFiles(runner_->workspace(), files);
}

core::Result<void> CommandWorker::RemoveFile(std::string_view path, int) {
  if (core::Result<void> checked = CheckRemoval(path); !checked) return checked;
  return workspace::RemoveFile(runner_->workspace(), std::string(path));
}

}  // namespace belljar::sessions
