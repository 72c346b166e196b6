// Session: a live Python that stays, can be branched and rolled back, and survives its own cells.
//
//   Result<std::shared_ptr<Session>> session = sandbox.OpenSession(options);
//   Result<Outcome> outcome = (*session)->Run(request);          // a cell; names and imports stay
//   Result<std::string> here = (*session)->Checkpoint();         // "c1"
//   (*session)->Run(…);
//   (*session)->RollBack(*here);                                 // as it was
//   Result<std::vector<std::shared_ptr<Session>>> branches = (*session)->Branch(8);
//
// Before each cell there is a checkpoint, a clone of the worker that waits (session_family.h). It
// is made after the cell before, off the caller's path. A session that nobody uses for a few
// seconds keeps only that one, and goes on from it. A cell that is stopped by a limit, killed or
// cancelled costs the cell: the session goes on from its checkpoint, and the outcome says so.
//
// All of it is thread-safe. A session does one thing at a time; who comes later waits for its turn,
// as long as its Patience says.
#ifndef BELLJAR_ENGINE_OUTSIDE_SESSION_H_
#define BELLJAR_ENGINE_OUTSIDE_SESSION_H_

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

#include "engine/core/bytes.h"
#include "engine/core/capture_layout.h"
#include "engine/core/limits.h"
#include "engine/core/result.h"
#include "engine/egress/egress_proxy.h"
#include "engine/host/deferred_tasks.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/outside/backend.h"
#include "engine/outside/event.h"
#include "engine/outside/question.h"
#include "engine/outside/session_pages.h"
#include "engine/outside/taker_queue.h"
#include "engine/outside/worker.h"
#include "engine/outside/workspace_snapshot.h"

namespace belljar::outside {

struct SessionOptions {
  // `memory` and `file_size` are the session's; a cell's request cannot exceed the others.
  core::Limits limits;
  size_t checkpoints = 16;  // held at most; the oldest goes first. At least one
  // Of its worker and its checkpoints, as the kernel counts it: private memory, and its part of
  // what is shared. Checkpoints go until the rest fits. Each branch has as much. 0: twice
  // limits.memory.
  core::Bytes total_memory{0};
  // Without a call for so long, its worker ends, and it goes on from the checkpoint of its state
  // (1 ms). Longer than a person or a model takes between cells that belong together.
  std::chrono::milliseconds rest_after{5'000};
};

struct CheckpointInfo {
  std::string id;
  uint64_t cell = 0;  // after which it was made; 0: before the first
  std::string label;
  std::string parent;  // the checkpoint that its cell started from; empty: none
  std::chrono::system_clock::time_point made;
  bool is_current = false;  // the session is as it was then
};

struct BranchOptions {
  std::string checkpoint;  // from which; empty: the present state
  // New seeds for their generators of random numbers. Without, branches draw the same numbers.
  bool reseeds = true;
};

// What differs between two sessions, or a session and one of its checkpoints.
struct VariableChange {
  enum class Kind {
    kAdded,
    kChanged,
    kRemoved,
    kUnknown
  };  // kUnknown: too large or not comparable
  Kind kind = Kind::kChanged;
  std::string name;
  // Of each side; empty where there is none. From the guest.
  std::string type_before, type_after;
  std::string repr_before, repr_after;
};
struct SessionDifference {
  std::vector<VariableChange> variables;  // by name
  SnapshotChanges files;
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

// What sessions need of the backend that opened them, until it closes them.
struct SessionHost {
  core::CaptureLayout layout;
  core::Limits ceiling;
  uint32_t threads = 1;  // of a cell
  std::string mode;
  std::string language;
  std::optional<SnapshotBounds> workspace;
  egress::EgressService* egress = nullptr;  // borrowed; null: none
  std::function<core::Result<void>(Worker&)> observe;
  std::function<void(const std::shared_ptr<Session>&)> opened;  // one that it has to close
  std::function<void(std::function<void()>)> later;  // runs it off the caller's path, in order
  std::function<void(core::Deadline, std::function<void()>)> at;  // the same, not before that time
  // Cells that have begun, or are about to.
  mutable std::atomic<size_t> running = 0;
  // The one that was used last; to be compared only: it may be gone.
  mutable std::atomic<const Session*> last_session = nullptr;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  // `worker` is a session's, and new.
  static core::Result<std::shared_ptr<Session>> Open(std::shared_ptr<const SessionHost> host,
                                                     Worker worker, const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;

  // Unguessable: 128 random bits in hexadecimal.
  const std::string& id() const { return id_; }
  const SessionOptions& options() const { return options_; }

  // Runs a cell. The request is final, as in Backend::Run. Errors: EBUSY, ETIMEDOUT, ECANCELED
  // without a turn; that the session is closed, or lost, and why.
  core::Result<host::Outcome> Run(const host::Request& request, const RunOptions& options = {},
                                  Patience patience = {});

  // Ends the cell that runs, if one does, with a KeyboardInterrupt, and with a kill after its
  // grace. False: none does.
  bool Interrupt();

  // The checkpoint of the present state, which a label then keeps from being dropped for its age.
  core::Result<std::string> Checkpoint(std::string label = {}, Patience patience = {});
  std::vector<CheckpointInfo> Checkpoints() const;

  core::Result<void> RollBack(std::string_view checkpoint, Patience patience = {});
  // To before the last `cells` cells.
  core::Result<void> Undo(size_t cells = 1, Patience patience = {});

  // Sessions of their own, with the same state. All or none.
  core::Result<std::vector<std::shared_ptr<Session>>> Branch(size_t count,
                                                             const BranchOptions& options = {},
                                                             Patience patience = {});

  // A JSON object that the guest may have written, of bounded size and depth (runner/questions.py).
  core::Result<std::string> Ask(const Question& question, Patience patience = {});

  // From this session's state to that of `other`, or of a checkpoint of this one.
  core::Result<SessionDifference> Compare(Session& other, Patience patience = {});
  core::Result<SessionDifference> Compare(std::string_view checkpoint, Patience patience = {});

  // The files of the workspace, in a profile that has one. Each change is one of the state, which a
  // roll-back undoes. Paths are below the workspace, '/' between their parts.
  core::Result<std::vector<SessionFile>> Files(Patience patience = {});
  core::Result<std::string> ReadFile(std::string_view path, Patience patience = {});
  core::Result<void> WriteFiles(const std::vector<host::InputFile>& files, Patience patience = {});
  core::Result<void> RemoveFile(std::string_view path, Patience patience = {});

  // Ends it. What runs is cancelled. Later calls fail with `why`.
  void Close(std::string why);
  // The same, by the backend, before it ends.
  void CloseWithHost(std::string why);
  // Why it is closed; empty: it is open.
  std::string closed() const;

  // Those of the session and of its branches.
  std::vector<pid_t> processes() const;

  struct Info {
    uint64_t cells = 0;  // so far
    bool is_busy = false;
    size_t checkpoints = 0;
    std::chrono::steady_clock::time_point last_used;
    std::chrono::system_clock::time_point opened;
    // Private memory, and the part of what is shared, of the session and its branches.
    uint64_t memory_bytes = 0;
  };
  Info info() const;

 private:
  // A state of the session: a process that waits, and the files.
  struct Held;
  struct Dropped {
    std::string id;
    std::chrono::system_clock::time_point when;
    std::string why;
  };
  // What the session shares with its branches.
  struct Shared;
  // While it exists, nobody else uses what is commented so.
  class Turn;
  struct Token {};
  struct Spent;

  Session(std::shared_ptr<const SessionHost> host, std::shared_ptr<Shared> shared,
          const SessionOptions& options);

  core::Result<Turn> TakeTurn(Patience patience, const RunOptions& run = {});
  void EndTurn();
  void RestLater();
  void Rest();
  void After(Turn turn, host::DeferredTasks* deferred);
  void HoldNow(Turn turn);
  void HoldLater(core::Deadline at_the_latest);
  void At(core::Deadline due, std::function<void(Session&)> step);
  core::Error ClosedError() const;
  void Release();

  core::Result<host::Outcome> RunCell(const host::Request& request, const RunOptions& options);
  core::Result<int> BeginCell(const host::Request& request, host::SessionReport& report);
  core::Result<void> Revive(std::string& note);
  core::Result<void> PlaceFiles(const std::vector<host::InputFile>& files);
  core::Result<void> TakeFiles();
  core::Result<std::string> AskWorker(Worker& worker, const Question& question);
  core::Result<std::string> AskOwn(const Question& question);
  core::Result<void> NeedWorkspace() const;
  core::Result<void> ChangeFiles(Turn turn, const std::function<core::Result<void>(int)>& change);

  core::Result<void> Hold();
  std::vector<std::shared_ptr<Held>> DropSome();
  uint64_t MostMemory() const;
  bool IsHeld() const;
  std::unique_lock<std::recursive_mutex> LockForOrder();
  core::Result<Worker> WakeCopy(Held& held, bool reseeds);
  core::Result<std::vector<Worker>> WakeCopies(Held& held, size_t count, bool reseeds);
  core::Result<Worker> WakeItself(Held& held);
  void Discard(std::optional<Worker> worker);
  std::vector<std::shared_ptr<Held>> Candidates() const;
  core::Result<void> GoBack(std::shared_ptr<Held> held);
  core::Result<void> Restore(std::string& note);
  core::Result<std::shared_ptr<Held>> Find(std::string_view checkpoint) const;

  const std::shared_ptr<const SessionHost> host_;
  const std::shared_ptr<Shared> shared_;
  const SessionOptions options_;
  const std::string id_;
  const std::chrono::system_clock::time_point opened_;

  // Of the turn.
  std::optional<Worker> worker_;  // none: it has died
  bool is_at_base_ = false;       // worker_, or the session at rest, is in the state of base_
  std::string parent_;       // the checkpoint that the cell before worker_'s state started from
  WorkspaceSnapshot files_;  // of worker_'s state
  SessionPages pages_;       // of worker_
  // The checkpoint that this branch began from with new seeds, and gets again after going back to
  // it.
  const Held* reseeded_ = nullptr;

  mutable std::mutex mutex_;
  std::shared_ptr<Held> base_;              // the newest checkpoint that worker_'s state comes from
  std::deque<std::shared_ptr<Held>> held_;  // the one that was made or used last is last
  std::deque<Dropped> dropped_;             // the newest last; the oldest are forgotten
  uint64_t cells_ = 0;
  bool is_taken_ = false;
  TakerQueue<Token> takers_;
  std::string closed_;
  bool is_host_closed_ = false;
  bool will_rest_ = false;          // RestLater has been called, and Rest not yet
  std::optional<Event> interrupt_;  // of the cell that runs
  std::chrono::steady_clock::time_point last_used_;
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_SESSION_H_
