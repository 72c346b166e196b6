// BranchingSession: a session that can be branched and rolled back, and survives its own cells.
//
// Before each cell there is a checkpoint, a waiting clone of the worker (session_family.h). It is
// created after the previous cell, off the caller's path. A session that is idle for a few seconds
// keeps only the checkpoint, and continues from it. A cell that is stopped by a limit, killed or
// cancelled costs only that cell: the session continues from its checkpoint, and the outcome says
// so.
#ifndef BELLJAR_ENGINE_SESSIONS_BRANCHING_SESSION_H_
#define BELLJAR_ENGINE_SESSIONS_BRANCHING_SESSION_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/capture_layout.h"
#include "engine/core/limits.h"
#include "engine/core/result.h"
#include "engine/egress/egress_proxy.h"
#include "engine/host/deferred_tasks.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/run/run_options.h"
#include "engine/sessions/session.h"
#include "engine/sessions/session_pages.h"
#include "engine/waiting/event.h"
#include "engine/waiting/taker_queue.h"
#include "engine/workers/worker.h"
#include "engine/workspace/workspace_snapshot.h"

namespace belljar::sessions {

// What sessions need from the backend that opened them, until it closes them.
struct SessionHost {
  core::CaptureLayout layout;
  core::Limits ceiling;
  uint32_t threads = 1;  // for a cell
  std::string mode;
  std::string policy;
  std::optional<workspace::SnapshotBounds> workspace;
  egress::EgressService* egress = nullptr;  // borrowed; null: none
  std::function<core::Result<void>(workers::Worker&)> observe;
  // The following may be called at any time. Once the backend ends, `opened` closes the session,
  // and the others destroy the task without running it.
  std::function<void(const std::shared_ptr<Session>&)> opened;  // a session that it has to close
  std::function<void(std::function<void()>)> later;  // runs a task off the caller's path, in order
  std::function<void(core::Deadline, std::function<void()>)> at;  // likewise, not before that time
  // Number of cells that have begun or are about to.
  mutable std::atomic<size_t> running = 0;
  // The session used last; only for comparison: it may be gone.
  mutable std::atomic<const Session*> last_session = nullptr;
};

class BranchingSession final : public Session {
 public:
  // `worker` is a new one for a session.
  static core::Result<std::shared_ptr<Session>> Open(std::shared_ptr<const SessionHost> host,
                                                     workers::Worker worker,
                                                     const SessionOptions& options);
  ~BranchingSession() override;

  core::Result<host::Outcome> Run(const host::Request& request, const run::RunOptions& options,
                                  Patience patience) override;
  bool Interrupt() override;
  core::Result<std::string> Checkpoint(std::string label, Patience patience) override;
  std::vector<CheckpointInfo> Checkpoints() const override;
  core::Result<void> RollBack(std::string_view checkpoint, Patience patience) override;
  core::Result<void> Undo(size_t cells, Patience patience) override;
  core::Result<std::vector<std::shared_ptr<Session>>> Branch(size_t count,
                                                             const BranchOptions& options,
                                                             Patience patience) override;
  core::Result<std::string> Ask(const run::Question& question, Patience patience) override;
  core::Result<SessionDifference> Compare(Session& other, Patience patience) override;
  core::Result<SessionDifference> Compare(std::string_view checkpoint, Patience patience) override;
  core::Result<std::vector<SessionFile>> Files(Patience patience) override;
  core::Result<std::string> ReadFile(std::string_view path, Patience patience) override;
  core::Result<void> WriteFiles(const std::vector<host::InputFile>& files,
                                Patience patience) override;
  core::Result<void> RemoveFile(std::string_view path, Patience patience) override;
  bool has_workspace() const override { return host_->workspace.has_value(); }
  core::Result<workspace::WorkspaceSnapshot> Snapshot(Patience patience) override;
  core::Result<void> Replace(const workspace::WorkspaceSnapshot& files, Patience patience) override;
  void Close(std::string why) override;
  std::vector<pid_t> processes() const override;
  Info info() const override;

 private:
  // A saved state of the session: a waiting process, and the files.
  struct Held;
  struct Dropped {
    std::string id;
    std::chrono::system_clock::time_point when;
    std::string why;
  };
  // Shared by the session and its branches.
  struct Shared;
  struct Spent;

  BranchingSession(std::shared_ptr<const SessionHost> host, std::shared_ptr<Shared> shared,
                   const SessionOptions& options);

  void EndTurn() override;
  void RestLater();
  void Rest();
  void After(Turn turn, host::DeferredTasks* deferred);
  void HoldNow(Turn turn);
  void HoldLater(core::Deadline at_the_latest);
  void At(core::Deadline due, std::function<void(BranchingSession&)> step);
  void Release();

  core::Result<host::Outcome> RunCell(const host::Request& request, const run::RunOptions& options);
  core::Result<int> BeginCell(const host::Request& request, host::SessionReport& report);
  core::Result<void> Revive(std::string& note);
  core::Result<void> PlaceFiles(const std::vector<host::InputFile>& files);
  core::Result<void> TakeFiles();
  core::Result<std::string> AskWorker(workers::Worker& worker, const run::Question& question);
  core::Result<std::string> AskOwn(const run::Question& question);
  core::Result<void> NeedWorkspace() const;
  core::Result<void> ChangeFiles(Turn turn, const std::function<core::Result<void>(int)>& change);

  core::Result<void> Hold();
  std::vector<std::shared_ptr<Held>> DropSome();
  uint64_t MaxMemory() const;
  bool IsHeld() const;
  std::unique_lock<std::recursive_mutex> LockForOrder();
  core::Result<workers::Worker> WakeCopy(Held& held, bool reseeds);
  core::Result<std::vector<workers::Worker>> WakeCopies(Held& held, size_t count, bool reseeds);
  core::Result<workers::Worker> WakeItself(Held& held);
  void Discard(std::optional<workers::Worker> worker);
  std::vector<std::shared_ptr<Held>> Candidates() const;
  core::Result<void> ReturnTo(std::shared_ptr<Held> held);
  core::Result<void> Restore(std::string& note);
  core::Result<std::shared_ptr<Held>> Find(std::string_view checkpoint) const;

  const std::shared_ptr<const SessionHost> host_;
  const std::shared_ptr<Shared> shared_;

  // Used by the holder of the turn.
  std::optional<workers::Worker> worker_;  // nullopt: it has died
  bool is_at_base_ = false;             // worker_, or the session at rest, is in the state of base_
  std::string parent_;                  // the checkpoint that the previous cell started from
  workspace::WorkspaceSnapshot files_;  // the files of worker_'s state
  SessionPages pages_;                  // of worker_
  // The checkpoint from which this branch started, with new seeds; it gets new ones again when it
  // is rolled back to it.
  const Held* reseeded_ = nullptr;

  // The rest requires mutex_.

  // The newest checkpoint from which worker_'s state derives.
  std::shared_ptr<Held> base_;
  std::deque<std::shared_ptr<Held>> held_;   // ordered by creation or use, the latest last
  std::deque<Dropped> dropped_;              // newest last; the oldest are forgotten
  bool will_rest_ = false;                   // RestLater has been called, but not Rest
  std::optional<waiting::Event> interrupt_;  // of the running cell
};

}  // namespace belljar::sessions

#endif  // BELLJAR_ENGINE_SESSIONS_BRANCHING_SESSION_H_
