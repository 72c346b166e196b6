// LiveInterpreter: an interpreter that stays from cell to cell and cannot be copied, as used by a
// KeptSession. On this machine it is a worker (kept_worker.h), elsewhere a container.
#ifndef BELLJAR_ENGINE_SESSIONS_LIVE_INTERPRETER_H_
#define BELLJAR_ENGINE_SESSIONS_LIVE_INTERPRETER_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/run/question.h"
#include "engine/run/run_options.h"
#include "engine/sessions/session.h"

namespace belljar::sessions {

// One call at a time, from any thread. Destroying it ends it.
class LiveInterpreter {
 public:
  virtual ~LiveInterpreter() = default;

  // Runs a cell. It can be interrupted and killed through the descriptors of `options`.
  virtual core::Result<host::Outcome> Run(const host::Request& request,
                                          const run::RunOptions& options) = 0;
  // The others are as in Session. `kill_fd` is as in RunOptions.
  virtual core::Result<std::string> Ask(const run::Question& question, int kill_fd) = 0;
  // Files of its workspace, if it has one.
  virtual core::Result<std::vector<SessionFile>> Files(int kill_fd) = 0;
  virtual core::Result<std::string> ReadFile(std::string_view path, int kill_fd) = 0;
  virtual core::Result<void> WriteFiles(const std::vector<host::InputFile>& files, int kill_fd) = 0;
  virtual core::Result<void> RemoveFile(std::string_view path, int kill_fd) = 0;
  // For a session of several languages, of which an interpreter elsewhere is none.
  virtual core::Result<workspace::WorkspaceSnapshot> Snapshot() { return NoWorkspace(); }
  virtual core::Result<void> Replace(const workspace::WorkspaceSnapshot&) { return NoWorkspace(); }
  virtual core::Result<void> AttachFolder(const std::string&, const std::string&) {
    return NoFolders();
  }
  // Null: its workspace began empty. Any thread.
  virtual std::shared_ptr<projects::Project> project() const { return nullptr; }
  // For those of which another one can be opened with the same files, and nothing else of it: in
  // whole, or over a project what has been changed.
  virtual bool has_branches() const { return false; }
  virtual core::Result<std::unique_ptr<LiveInterpreter>> Branch() { return NoWorkspace(); }
  virtual core::Result<workspace::WorkspaceSnapshot> Layer() { return NoWorkspace(); }
  // Null: it runs cells. Any thread.
  virtual std::shared_ptr<commands::CommandRunner> commands() const { return nullptr; }

  // Nothing more can be run: the last call ended it, or it was killed while waiting.
  virtual bool HasEnded() const = 0;

  virtual bool has_workspace() const = 0;
  // Its processes on this machine; empty: it runs elsewhere. Others once it has been restarted.
  virtual std::vector<pid_t> processes() const = 0;
};

}  // namespace belljar::sessions

#endif  // BELLJAR_ENGINE_SESSIONS_LIVE_INTERPRETER_H_
