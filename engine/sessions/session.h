// Session: a live Python that persists, and survives its caller's mistakes.
//
//   Result<std::shared_ptr<Session>> session = sandbox.OpenSession(options);
//   Result<Outcome> outcome = (*session)->Run(request);          // a cell; names and imports stay
//   Result<std::string> here = (*session)->Checkpoint();         // "c1"
//   (*session)->Run(…);
//   (*session)->RollBack(*here);                                 // as it was
//   Result<std::vector<std::shared_ptr<Session>>> branches = (*session)->Branch(8);
//
// There are two kinds. A BranchingSession (branching_session.h) can be rolled back and branched,
// and a cell that has to be killed costs only that cell. It needs namespaces. Elsewhere, in
// particular in a container, a session is a KeptSession (kept_session.h): it ends with such a cell,
// and the calls about checkpoints fail with a sentence that says why.
//
// Cells may be in several languages: each has its own interpreter, a kernel, and all have the same
// files (mixed_session.h).
//
// All of it is thread-safe. A session does one thing at a time; later callers wait for their turn,
// as long as their Patience says.
#ifndef BELLJAR_ENGINE_SESSIONS_SESSION_H_
#define BELLJAR_ENGINE_SESSIONS_SESSION_H_

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/limits.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/projects/project.h"
#include "engine/run/question.h"
#include "engine/run/run_options.h"
#include "engine/waiting/taker_queue.h"
#include "engine/workspace/workspace_snapshot.h"

namespace belljar::commands {
class Command;
class CommandRunner;
struct CommandRequest;
}  // namespace belljar::commands

namespace belljar::sessions {

struct SessionOptions {
  // `memory` and `file_size` apply to the session; a cell's request cannot exceed the others.
  core::Limits limits;
  size_t checkpoints = 16;  // maximum number; the oldest is dropped first. At least one
  // For its worker and its checkpoints, as the kernel counts it: private memory and a proportional
  // share of shared memory. Checkpoints are dropped until the rest fits. Each branch has its own.
  // 0: twice limits.memory.
  core::Bytes total_memory{0};
  // A folder of this machine as its workspace, of which only the session sees what it changes. For
  // sessions of commands. Empty: an empty workspace.
  std::string project;
  // After this time without a call, its worker ends, and the session continues from the checkpoint
  // of its state (1 ms). Longer than a person or a model pauses between related cells.
  std::chrono::milliseconds rest_after{5'000};
};

struct CheckpointInfo {
  std::string id;
  uint64_t cell = 0;  // after which it was created; 0: before the first
  std::string label;
  std::string parent;  // the checkpoint that its cell started from; empty: none
  std::chrono::system_clock::time_point made;
  bool is_current = false;  // the session is in this state
};

struct BranchOptions {
  std::string checkpoint;  // to branch from; empty: the current state
  // New seeds for the branches' random number generators. Otherwise, branches draw the same
  // numbers.
  bool reseeds = true;
};

// Differences between two sessions, or a session and one of its checkpoints.
struct VariableChange {
  enum class Kind {
    kAdded,
    kChanged,
    kRemoved,
    kUnknown
  };  // kUnknown: too large or not comparable
  Kind kind = Kind::kChanged;
  std::string name;
  // One for each side; empty if it has none. From the guest.
  std::string type_before, type_after;
  std::string repr_before, repr_after;
};
struct SessionDifference {
  std::vector<VariableChange> variables;  // by name
  workspace::SnapshotChanges files;
  uint64_t cells_before = 0;
  uint64_t cells_after = 0;
};

struct SessionFile {
  std::string path;
  uint64_t size = 0;
};

// How long to wait for a turn.
struct Patience {
  bool waits = true;  // false: EBUSY if the session is busy
  std::chrono::milliseconds at_most{60'000};
  int cancel_fd = -1;  // borrowed; once it is readable: ECANCELED
};

class Session;

// What runs the cells of one language of a session.
struct Kernel {
  std::string language;
  std::shared_ptr<Session> session;
  // Runs a cell in that session, or in a branch of it, with the checks of its sandbox.
  std::function<core::Result<host::Outcome>(Session&, const host::Request&, const run::RunOptions&,
                                            Patience)>
      run;
  // The source of a cell whose value is a list with that of a variable. Null: the variables cannot
  // be read, or set.
  std::function<std::string(std::string_view name)> reading;
  bool has_network = false;
};

// The operation in errors of an unusable session.
inline constexpr char kUseSession[] = "use a session";

class Session : public std::enable_shared_from_this<Session> {
 public:
  virtual ~Session() = default;
  Session(const Session&) = delete;

  // Unguessable: 128 random bits in hexadecimal.
  const std::string& id() const { return id_; }
  const SessionOptions& options() const { return options_; }

  // Runs a cell. The request is final, as in Backend::Run. Errors: EBUSY, ETIMEDOUT, ECANCELED
  // while waiting for the turn; that the session is closed or lost, and why.
  virtual core::Result<host::Outcome> Run(const host::Request& request,
                                          const run::RunOptions& options = {},
                                          Patience patience = {}) = 0;

  // Ends the running cell, if any, with a KeyboardInterrupt, and kills it after its grace period.
  // Returns false if none is running.
  virtual bool Interrupt() = 0;

  // Creates a checkpoint of the current state; a label keeps it from being dropped for its age.
  virtual core::Result<std::string> Checkpoint(std::string label = {}, Patience patience = {}) = 0;
  virtual std::vector<CheckpointInfo> Checkpoints() const = 0;

  virtual core::Result<void> RollBack(std::string_view checkpoint, Patience patience = {}) = 0;
  // Undoes the last `cells` cells.
  virtual core::Result<void> Undo(size_t cells = 1, Patience patience = {}) = 0;

  // Opens independent sessions with the same state. All or none.
  virtual core::Result<std::vector<std::shared_ptr<Session>>> Branch(
      size_t count, const BranchOptions& options = {}, Patience patience = {}) = 0;

  // A JSON object that the guest may have written, of bounded size and depth (runner/questions.py).
  virtual core::Result<std::string> Ask(const run::Question& question, Patience patience = {}) = 0;

  // The differences between this session's state and that of `other`, or of a checkpoint of this
  // one.
  virtual core::Result<SessionDifference> Compare(Session& other, Patience patience = {}) = 0;
  virtual core::Result<SessionDifference> Compare(std::string_view checkpoint,
                                                  Patience patience = {}) = 0;

  // The files of the workspace, in a profile that has one. Changes are part of the state, so a
  // rollback undoes them. Paths are relative to the workspace, separated by '/'.
  virtual core::Result<std::vector<SessionFile>> Files(Patience patience = {}) = 0;
  virtual core::Result<std::string> ReadFile(std::string_view path, Patience patience = {}) = 0;
  virtual core::Result<void> WriteFiles(const std::vector<host::InputFile>& files,
                                        Patience patience = {}) = 0;
  virtual core::Result<void> RemoveFile(std::string_view path, Patience patience = {}) = 0;
  virtual bool has_workspace() const = 0;
  // All files at once, and their replacement by those of another session.
  virtual core::Result<workspace::WorkspaceSnapshot> Snapshot(Patience patience = {});
  virtual core::Result<void> Replace(const workspace::WorkspaceSnapshot& files,
                                     Patience patience = {});

  // The languages that its cells may have, the session's own first. Each one but that is added.
  virtual std::vector<std::string> languages() const { return {}; }
  // If there is such a language already, nothing changes: another thread was faster.
  virtual core::Result<void> AddKernel(const Kernel& kernel);
  // Variables of a language: plain data, as JSON. Both run a cell. `language` is one of the above.
  virtual core::Result<std::string> ReadVariable(const std::string& language,
                                                 const std::string& name, Patience patience = {});
  virtual core::Result<void> SetVariable(const std::string& language,
                                         const host::InputVariable& variable,
                                         Patience patience = {});

  // Commands over its files (commands/command.h), where its language is one of commands
  // (core::ProgramRule::commands): any number at a time, without a turn. The request's limits are
  // within the session's. `wait` is for its start.
  virtual core::Result<std::shared_ptr<commands::Command>> StartCommand(
      const commands::CommandRequest& request, const waiting::Wait& wait);
  // Those that run, and the last that have ended, the oldest first.
  virtual std::vector<std::shared_ptr<commands::Command>> Commands() const { return {}; }

  // Shows a folder of this machine to its commands, and to those of its later branches, read-only
  // (mounts/attached_folder.h). `at`: one of core/package_places.h.
  virtual core::Result<void> AttachFolder(const std::string& folder, const std::string& at,
                                          Patience patience = {});

  // What it has changed in its project, also once it is closed or lost. It takes no turn: files
  // that are being written are as they are at the moment. An error with error_number 0: it has
  // none.
  virtual core::Result<projects::ProjectChanges> Changes();

  // Ends it. The running cell is cancelled. Later calls fail with `why`.
  virtual void Close(std::string why) = 0;
  // Why it was closed; empty: it is open.
  virtual std::string closed() const;

  // The processes of the session and of its branches, on this machine.
  virtual std::vector<pid_t> processes() const = 0;

  struct Info {
    uint64_t cells = 0;  // so far
    bool is_busy = false;
    size_t checkpoints = 0;
    std::chrono::steady_clock::time_point last_used;
    std::chrono::system_clock::time_point opened;
    // Private memory, and a share of shared memory, of the session and its branches. 0: it runs in
    // a container, whose memory is limited as a whole.
    uint64_t memory_bytes = 0;
  };
  virtual Info info() const = 0;

 protected:
  struct Token {};

  // The right to use the session: nobody else has it at the same time.
  class Turn {
   public:
    explicit Turn(std::shared_ptr<Session> session) : session_(std::move(session)) {}
    Turn(Turn&&) = default;
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (session_) session_->EndTurn();
    }

   private:
    std::shared_ptr<Session> session_;
  };

  explicit Session(const SessionOptions& options);
  Session(const SessionOptions& options, std::string id) : options_(options), id_(std::move(id)) {}

  core::Result<Turn> TakeTurn(const Patience& patience, const run::RunOptions& run = {});
  core::Error ClosedError() const;  // requires mutex_

  const std::chrono::system_clock::time_point opened_ = std::chrono::system_clock::now();

  mutable std::mutex mutex_;
  uint64_t cells_ = 0;
  bool is_taken_ = false;
  waiting::TakerQueue<Token> takers_;
  std::string closed_;
  std::chrono::steady_clock::time_point last_used_ = std::chrono::steady_clock::now();

 private:
  // Waits in the queue of a busy session. `lock` is on mutex_.
  core::Result<void> AwaitTurn(std::unique_lock<std::mutex>& lock, const Patience& patience,
                               const run::RunOptions& run);
  virtual void EndTurn() = 0;

  const SessionOptions options_;
  const std::string id_;
};

// --- for both kinds ------------------------------------------------------------------------------

// The error of file calls in a profile that has no workspace.
core::Error NoWorkspace();
// The error of AttachFolder, where there are no commands.
core::Error NoFolders();
core::Result<void> CheckRemoval(std::string_view path);
std::vector<SessionFile> FilesIn(const workspace::WorkspaceSnapshot& files);
core::Result<std::string> ContentIn(const workspace::WorkspaceSnapshot& files,
                                    std::string_view path);

// The form of a question to a worker of a session with these limits, and its answer.
host::Request RequestOf(const run::Question& question, const core::Limits& limits);
core::Result<std::string> AnswerIn(host::Outcome& outcome, bool reported);

// The sessions opened by a backend, and their uses of it. The backend closes them before it ends,
// and waits for the last use: sessions outlive it, and other threads may close or drop them at that
// moment. Owned by a shared_ptr; thread-safe.
class OpenedSessions : public std::enable_shared_from_this<OpenedSessions> {
 public:
  // While one exists, the backend does not end.
  class Use {
   public:
    explicit Use(std::shared_ptr<OpenedSessions> of) : of_(std::move(of)) {}
    Use(Use&&) = default;
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (of_) of_->EndUse();
    }

   private:
    std::shared_ptr<OpenedSessions> of_;
  };

  // nullopt: the backend is ending.
  std::optional<Use> BeginUse();
  // Closes it if the backend is ending.
  void Add(const std::shared_ptr<Session>& session);
  // Called by the backend when it ends. Not within a use.
  void CloseAll();

 private:
  void EndUse();

  std::mutex mutex_;
  std::condition_variable unused_;
  std::vector<std::weak_ptr<Session>> sessions_;
  size_t uses_ = 0;
  bool is_ending_ = false;
};

}  // namespace belljar::sessions

#endif  // BELLJAR_ENGINE_SESSIONS_SESSION_H_
