#include "engine/sessions/command_worker.h"

#include "engine/workspace/workspace.h"

namespace belljar::sessions {
namespace {

core::Error NoCells() {
  return core::MakeError("run a cell", "this session runs commands; cells are for other languages");
}

}  // namespace

core::Result<host::Outcome> CommandWorker::Run(const host::Request&, const run::RunOptions&) {
  return NoCells();
}

core::Result<std::string> CommandWorker::Ask(const run::Question&, int) { return NoCells(); }

// While commands run, files may be of different moments.
core::Result<workspace::WorkspaceSnapshot> CommandWorker::Snapshot() {
  core::Result<workspace::WorkspaceSnapshot> taken =
      workspace::WorkspaceSnapshot::Take(runner_->workspace(), files_, bounds_);
  if (taken) files_ = *taken;
  return taken;
}

core::Result<void> CommandWorker::Replace(const workspace::WorkspaceSnapshot& files) {
  return files.Restore(runner_->workspace(), bounds_);
}

core::Result<std::vector<SessionFile>> CommandWorker::Files(int) {
  core::Result<workspace::WorkspaceSnapshot> files = Snapshot();
  return files ? core::Result<std::vector<SessionFile>>(FilesIn(*files)) : files.error();
}

core::Result<std::string> CommandWorker::ReadFile(std::string_view path, int) {
  core::Result<workspace::WorkspaceSnapshot> files = Snapshot();
  return files ? ContentIn(*files, path) : files.error();
}

core::Result<void> CommandWorker::WriteFiles(const std::vector<host::InputFile>& files, int) {
  return workspace::ReplaceFiles(runner_->workspace(), files);
}

core::Result<void> CommandWorker::RemoveFile(std::string_view path, int) {
  if (core::Result<void> checked = CheckRemoval(path); !checked) return checked;
  return workspace::RemoveFile(runner_->workspace(), std::string(path));
}

}  // namespace belljar::sessions
