#include "engine/outside/session.h"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/beneath.h"
#include "engine/host/random.h"
#include "engine/outside/execution.h"
#include "engine/outside/interrupt_check.h"
#include "engine/outside/observe.h"
#include "engine/outside/wait.h"
#include "engine/outside/workspace.h"

namespace belljar::outside {
namespace {

constexpr char kUse[] = "use a session";
constexpr char kFind[] = "find a checkpoint";
constexpr char kHold[] = "make a checkpoint";
constexpr size_t kMaxLabel = 200;  // bytes
constexpr size_t kMaxBranchesAtOnce = 256;
constexpr std::chrono::milliseconds kMaxQuestion{5'000};

// The answer of a worker to a question for its variables; hostile, and of bounded size.
std::map<std::string, nlohmann::json> ByName(const std::string& answer) {
  std::map<std::string, nlohmann::json> variables;
  nlohmann::json object = nlohmann::json::parse(answer, nullptr, false);
  if (!object.is_object() || !object.contains("variables")) return variables;
  for (nlohmann::json& each : object["variables"]) {
    if (!each.is_object() || !each.contains("name") || !each["name"].is_string()) continue;
    std::string name = each["name"];
    variables.emplace(std::move(name), std::move(each));
  }
  return variables;
}

std::string TextOf(const nlohmann::json& variable, const char* key) {
  const auto value = variable.find(key);
  if (value == variable.end() || value->is_null()) return "";
  return value->is_string() ? value->get<std::string>() : value->dump();
}

std::string TypeOf(const nlohmann::json& variable) {
  const std::string shape = TextOf(variable, "shape");
  return TextOf(variable, "type") + (shape.empty() ? "" : " " + shape);
}

std::vector<VariableChange> CompareVariables(const std::string& before, const std::string& after) {
  const std::map<std::string, nlohmann::json> old_ones = ByName(before);
  const std::map<std::string, nlohmann::json> new_ones = ByName(after);
  std::vector<VariableChange> changes;
  for (const auto& [name, variable] : old_ones) {
    VariableChange change{VariableChange::Kind::kRemoved, name, TypeOf(variable), "",
                          TextOf(variable, "repr"),       ""};
    const auto found = new_ones.find(name);
    if (found != new_ones.end()) {
      change.type_after = TypeOf(found->second);
      change.repr_after = TextOf(found->second, "repr");
      const std::string digest = TextOf(variable, "digest");
      const std::string other = TextOf(found->second, "digest");
      const bool looks_same =
          change.type_before == change.type_after && change.repr_before == change.repr_after;
      if (!digest.empty() && digest == other && looks_same) continue;
      change.kind = looks_same && (digest.empty() || other.empty())
                        ? VariableChange::Kind::kUnknown
                        : VariableChange::Kind::kChanged;
    }
    changes.push_back(std::move(change));
  }
  for (const auto& [name, variable] : new_ones) {
    if (old_ones.contains(name)) continue;
    changes.push_back(
        {VariableChange::Kind::kAdded, name, "", TypeOf(variable), "", TextOf(variable, "repr")});
  }
  std::ranges::sort(changes, {}, &VariableChange::name);
  return changes;
}

}  // namespace

struct Session::Held {
  std::string id;
  uint64_t number = 0;  // in its family
  uint64_t cell = 0;
  std::string label;
  std::string parent;
  std::chrono::system_clock::time_point made;
  uint64_t resident = 0;  // bytes, when it was made
  WorkspaceSnapshot files;
  // Several sessions may go back to it.
  bool is_shared = false;
  // Its process has been woken, but could not be used then. It can still be copied.
  bool is_awake = false;
  // Used by the family, under its own mutex. Empty while the session that went back to it is in
  // its state, and so will make another copy.
  Worker process;
};

struct Session::Shared {
  std::shared_ptr<SessionFamily> family;
  core::UniqueFd workspace;
  core::UniqueFd egress;
  uint64_t first_resident = 0;  // bytes, of the worker before its first cell

  std::atomic<uint64_t> checkpoints = 0;  // made so far
  std::atomic<size_t> sessions = 0;       // open

  // Held during a cell if there is a workspace or an egress proxy: a family has one of them.
  std::recursive_mutex resources;
  const Session* files_of = nullptr;  // the session whose files the workspace has

  bool has_resources() const { return workspace || egress; }
};

struct Session::Spent {
  std::optional<Worker> worker;
  std::deque<std::shared_ptr<Held>> held;
  std::shared_ptr<Held> base;
  std::shared_ptr<SessionFamily> family;  // that ends with this session

  ~Spent() {
    if (family) family->Finish();
    // The others are reaped by it no more: the kernel has ended them.
  }
};

class Session::Turn {
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

core::Result<std::shared_ptr<Session>> Session::Open(std::shared_ptr<const SessionHost> host,
                                                     Worker worker, const SessionOptions& options) {
  auto shared = std::make_shared<Shared>();
  shared->family = worker.family;
  shared->workspace = std::move(worker.resources.workspace);
  shared->egress = std::move(worker.resources.egress);
  if (core::Result<void> limited =
          shared->family->Limit(worker, host->ceiling, options.limits, host->threads);
      !limited) {
    return limited.error();
  }
  shared->first_resident = ResidentMemory(worker.process.pid());
  std::shared_ptr<Session> session(new Session(std::move(host), std::move(shared), options));
  session->worker_.emplace(std::move(worker));
  // Its first checkpoint: off the caller's path, and before the first cell.
  core::Result<Turn> turn = session->TakeTurn({.waits = false});
  if (!turn) return turn.error();
  session->After(std::move(*turn), nullptr);
  session->host_->opened(session);
  return session;
}

Session::Session(std::shared_ptr<const SessionHost> host, std::shared_ptr<Shared> shared,
                 const SessionOptions& options)
    : host_(std::move(host)),
      shared_(std::move(shared)),
      options_(options),
      id_(core::Hex(host::RandomBytes())),
      opened_(std::chrono::system_clock::now()),
      last_used_(std::chrono::steady_clock::now()) {
  ++shared_->sessions;
}

Session::~Session() {
  if (closed_.empty()) Release();
}

// ---- Turns and the end

// Requires mutex_.
core::Error Session::ClosedError() const {
  return core::SystemErrorOf(ENOENT, kUse, "it is closed: " + closed_);
}

core::Result<Session::Turn> Session::TakeTurn(Patience patience, const RunOptions& run) {
  std::unique_lock lock(mutex_);
  if (!closed_.empty()) return ClosedError();
  if (is_taken_) {
    if (!patience.waits) return core::SystemErrorOf(EBUSY, kUse, "it is busy with another call");
    InterruptCheck interrupts(run.interrupted);
    const int cancel_fd = run.cancel_fd >= 0 ? run.cancel_fd : patience.cancel_fd;
    const Wait wait{core::Clock::now() + patience.at_most, cancel_fd,
                    run.interrupted ? &interrupts : nullptr};
    core::Result<Token> token =
        takers_.Take(lock, wait, kUse, [] { return "it was busy with other calls all the time"; });
    if (!token) return token.error();
  }
  is_taken_ = true;
  last_used_ = core::Clock::now();
  return Turn(shared_from_this());
}

void Session::EndTurn() {
  std::unique_lock lock(mutex_);
  if (!takers_.empty()) return takers_.Give({});
  if (closed_.empty()) {
    is_taken_ = false;
    return;
  }
  lock.unlock();
  Release();
}

// What is left to do after a call, and before the next one.
void Session::After(Turn turn, host::DeferredTasks* deferred) {
  auto kept = std::make_shared<std::optional<Turn>>(std::move(turn));
  std::function<void()> step = [this, kept] {
    if (closed().empty()) {
      {
        const std::lock_guard lock(mutex_);
        last_used_ = core::Clock::now();
      }
      (void)Hold().ok();
      DropSome();
      RestLater();
    }
    kept->reset();
  };
  if (deferred) {
    deferred->Add(std::move(step));
  } else {
    host_->later(std::move(step));
  }
}

void Session::RestLater() {
  core::Deadline due;
  {
    const std::lock_guard lock(mutex_);
    if (is_host_closed_ || std::exchange(will_rest_, true)) return;
    due = last_used_ + options_.rest_after;
  }
  host_->at(due, [weak = weak_from_this()] {
    if (const std::shared_ptr<Session> session = weak.lock()) session->Rest();
  });
}

// The worker and its checkpoint would be the same memory twice, after the next cell's page faults
// have been taken ahead.
void Session::Rest() {
  {
    const std::lock_guard lock(mutex_);
    will_rest_ = false;
    if (!closed_.empty() || is_taken_) return;
  }
  core::Deadline last_used;
  {
    const std::lock_guard lock(mutex_);
    last_used = last_used_;
  }
  if (core::Clock::now() < last_used + options_.rest_after) return RestLater();
  const core::Result<Turn> turn = TakeTurn({.waits = false});
  if (!turn || !worker_) return;
  bool rests;
  {
    const std::lock_guard lock(mutex_);
    last_used_ = last_used;  // this was no use
    rests = is_at_base_ && base_ && !base_->is_shared && !base_->process.process.HasEnded();
  }
  if (rests) Discard(std::exchange(worker_, std::nullopt));
}

std::string Session::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

void Session::CloseWithHost(std::string why) {
  {
    const std::lock_guard lock(mutex_);
    is_host_closed_ = true;
  }
  Close(std::move(why));
}

void Session::Close(std::string why) {
  {
    const std::lock_guard lock(mutex_);
    if (!closed_.empty()) return;
    closed_ = std::move(why);
    takers_.FailAll(ClosedError());
    if (interrupt_) interrupt_->Raise();
    // Whoever has the turn releases it.
    if (std::exchange(is_taken_, true)) {
      if (shared_->sessions == 1) shared_->family->End();
      return;
    }
  }
  Release();
}

// Of the turn; once.
void Session::Release() {
  auto spent = std::make_shared<Spent>();
  if (--shared_->sessions == 0) {
    shared_->family->End();
    spent->family = shared_->family;
  }
  spent->worker = std::exchange(worker_, std::nullopt);
  bool host_lives;
  {
    const std::lock_guard lock(mutex_);
    spent->held.swap(held_);
    spent->base.swap(base_);
    host_lives = !is_host_closed_;
  }
  // Ending processes takes the kernel a while.
  if (host_lives) host_->later([spent = std::move(spent)]() mutable { spent.reset(); });
}

Session::Info Session::info() const {
  Info info;
  {
    const std::lock_guard lock(mutex_);
    info = {cells_, is_taken_, held_.size(), last_used_, opened_, 0};
  }
  for (const pid_t pid : processes()) info.memory_bytes += ProportionalMemory(pid);
  return info;
}

std::vector<pid_t> Session::processes() const { return shared_->family->processes(); }

// ---- Cells

core::Result<host::Outcome> Session::Run(const host::Request& request, const RunOptions& options,
                                         Patience patience) {
  core::Result<Turn> turn = TakeTurn(patience, options);
  if (!turn) return turn.error();
  core::Result<host::Outcome> outcome = RunCell(request, options);
  After(std::move(*turn), options.deferred);
  return outcome;
}

core::Result<host::Outcome> Session::RunCell(const host::Request& request,
                                             const RunOptions& options) {
  host::SessionReport report;
  report.id = id_;
  if (core::Result<void> revived = Revive(report.note); !revived) return revived.error();
  std::optional<egress::AllowList> narrower;
  if (host_->egress) {
    core::Result<std::optional<egress::AllowList>> judged =
        egress::Narrower(host_->egress, request);
    if (!judged) return judged.error();
    narrower = std::move(*judged);
  }
  core::UniqueFd listener;
  if (host_->egress) {
    listener.Reset(fcntl(shared_->egress.get(), F_DUPFD_CLOEXEC, 0));
    if (!listener) return core::SystemError("serve a session's egress proxy");
  }
  std::unique_lock<std::recursive_mutex> resources(shared_->resources, std::defer_lock);
  if (shared_->has_resources()) resources.lock();
  if (core::Result<void> placed = PlaceFiles(request.files); !placed) return placed.error();
  core::Result<int> interrupt_fd = BeginCell(request, report);
  if (!interrupt_fd) return interrupt_fd.error();
  RunOptions own = options;
  own.interrupt_fd = *interrupt_fd;
  Execution execution(std::move(*worker_), request, own, host_->language);
  if (host_->egress) {
    execution.ServeEgress(*host_->egress, std::move(listener), std::move(narrower));
  }
  core::Result<host::Outcome> outcome = execution.Run();
  worker_.emplace(execution.TakeWorker());
  const size_t strangers = shared_->family->EndCell(*worker_);
  std::string closed;
  {
    const std::lock_guard lock(mutex_);
    interrupt_.reset();
    if (!closed_.empty()) return ClosedError();
  }
  if (outcome && strangers > 0) {
    outcome->security_events.push_back(
        {"rlimits", "killed", "processes that the cell had cloned", strangers});
  }
  if (outcome && execution.reported()) {
    // Refused code did not run.
    if (outcome->status != host::Status::kRefused) {
      is_at_base_ = false;
      const std::lock_guard lock(mutex_);
      // Its state no longer exists: the worker that went back to it has gone on without a copy.
      if (base_ && base_->process.process.HasEnded()) {
        std::erase(held_, base_);
        base_ = nullptr;
      }
    }
    if (host_->workspace) {
      CollectChanges(shared_->workspace.get(), files_, *outcome);
      host::MarkInline(*outcome);
      if (core::Result<void> taken = TakeFiles(); !taken) {
        report.note += "its files could not be kept for a roll-back: " + taken.error().ToString();
      }
    }
  } else {
    const core::Result<void> restored = Restore(report.note);
    report.restored = restored.ok();
    if (!restored) report.note += restored.error().ToString();
  }
  if (!outcome) return outcome;
  outcome->isolation.mode = host_->mode;
  outcome->isolation.language = host_->language;
  outcome->session = std::move(report);
  return outcome;
}

// A worker that was killed while it waited, by an operator or the kernel.
core::Result<void> Session::Revive(std::string& note) {
  if (worker_ && !worker_->process.HasEnded()) return {};
  if (!worker_ && IsHeld()) {
    // At rest: the checkpoint is the state.
    std::string same;
    return Restore(same);
  }
  return Restore(note);
}

// Returns the descriptor that interrupts it.
core::Result<int> Session::BeginCell(const host::Request& request, host::SessionReport& report) {
  // Of a state that could not be held before.
  if (const core::Result<void> held = Hold(); !held) {
    if (worker_->process.HasEnded()) {
      if (core::Result<void> restored = Restore(report.note); !restored) return restored.error();
      return BeginCell(request, report);
    }
    report.note +=
        "there is no checkpoint of the state before this cell: " + held.error().ToString();
  }
  core::Result<Event> interrupt = Event::Create("run a cell");
  if (!interrupt) return interrupt.error();
  if (core::Result<void> begun = shared_->family->BeginCell(*worker_, request.limits.cpu); !begun) {
    return begun.error();
  }
  const int fd = interrupt->fd();
  const std::lock_guard lock(mutex_);
  interrupt_.emplace(std::move(*interrupt));
  report.cell = ++cells_;
  if (base_) report.checkpoint = parent_ = base_->id;
  return fd;
}

bool Session::Interrupt() {
  const std::lock_guard lock(mutex_);
  if (!interrupt_) return false;
  interrupt_->Raise();
  return true;
}

// ---- Questions

core::Result<std::string> Session::AskWorker(Worker& worker, const Question& question) {
  host::Request request;
  request.source = question.source;
  request.limits = options_.limits;
  request.limits.timeout = std::min(request.limits.timeout, kMaxQuestion);
  request.limits.cpu = std::min(request.limits.cpu, kMaxQuestion);
  SessionFamily& family = *shared_->family;
  if (core::Result<void> begun = family.BeginCell(worker, request.limits.cpu); !begun) {
    return begun.error();
  }
  const auto order = LockForOrder();
  const RunOptions options;
  Execution execution(std::move(worker), request, options, host_->language);
  execution.Ask(question);
  core::Result<host::Outcome> outcome = execution.Run();
  worker = execution.TakeWorker();
  (void)family.EndCell(worker);
  if (!execution.reported()) worker.process.Kill();
  if (!outcome) return outcome.error();
  if (execution.reported() && outcome->status == host::Status::kOk && outcome->result_json) {
    return std::move(*outcome->result_json);
  }
  return core::MakeError("ask a session",
                         outcome->error ? outcome->error->message : "it could not answer");
}

core::Result<std::string> Session::AskOwn(const Question& question) {
  std::string note;
  if (core::Result<void> revived = Revive(note); !revived) return revived.error();
  // What it is asked for does not cost the state either.
  if (core::Result<void> held = Hold(); !held && worker_->process.HasEnded()) return held.error();
  core::Result<std::string> answer = AskWorker(*worker_, question);
  if (worker_->process.HasEnded() || !answer) {
    if (core::Result<void> restored = Restore(note); !restored) return restored.error();
  }
  return answer;
}

core::Result<std::string> Session::Ask(const Question& question, Patience patience) {
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  return AskOwn(question);
}

core::Result<SessionDifference> Session::Compare(Session& other, Patience patience) {
  if (&other == this) return core::MakeError("compare sessions", "they are the same one");
  // In the same order by whoever compares them, so that two callers do not wait for each other.
  Session* const first = id_ < other.id_ ? this : &other;
  core::Result<Turn> turn = first->TakeTurn(patience);
  if (!turn) return turn.error();
  core::Result<Turn> second = (first == this ? &other : this)->TakeTurn(patience);
  if (!second) return second.error();
  const Question variables;
  core::Result<std::string> before = AskOwn(variables);
  if (!before) return before.error();
  core::Result<std::string> after = other.AskOwn(variables);
  if (!after) return after.error();
  SessionDifference difference;
  difference.variables = CompareVariables(*before, *after);
  difference.files = other.files_.ChangesSince(files_);
  difference.cells_before = info().cells;
  difference.cells_after = other.info().cells;
  return difference;
}

core::Result<SessionDifference> Session::Compare(std::string_view checkpoint, Patience patience) {
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  core::Result<std::shared_ptr<Held>> held = Find(checkpoint);
  if (!held) return held.error();
  core::Result<Worker> woken = WakeCopy(**held, false);
  if (!woken) return woken.error();
  const Question variables;
  core::Result<std::string> before = AskOwn(variables);
  if (!before) return before.error();
  core::Result<std::string> after = AskWorker(*woken, variables);
  if (!after) return after.error();
  SessionDifference difference;
  difference.variables = CompareVariables(*before, *after);
  difference.files = (*held)->files.ChangesSince(files_);
  difference.cells_before = info().cells;
  difference.cells_after = (*held)->cell;
  return difference;
}

// ---- Files

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

// ---- Checkpoints

// Whether there is a checkpoint of the present state.
bool Session::IsHeld() const {
  const std::lock_guard lock(mutex_);
  return is_at_base_ && base_ && !base_->process.process.HasEnded();
}

// While it exists, no cell of a branch runs that shares files or the network: an order makes the
// process run, and what has taken it over could write to the branch's files.
std::unique_lock<std::recursive_mutex> Session::LockForOrder() {
  std::unique_lock<std::recursive_mutex> lock(shared_->resources, std::defer_lock);
  if (!shared_->has_resources()) return lock;
  lock.lock();
  if (shared_->files_of != this) shared_->files_of = nullptr;
  return lock;
}

// Makes sure that there is a checkpoint of the present state.
core::Result<void> Session::Hold() {
  if (IsHeld()) return {};
  if (!worker_ || worker_->process.HasEnded()) {
    return core::MakeError(kHold, "the session's process has died");
  }
  if (host_->threads > 1) {
    // A clone has only the thread that cloned it: the others, and what they hold, would be missing.
    const uint64_t threads = ThreadsOf(worker_->status_fd.get());
    if (threads > 1) {
      return core::MakeError(kHold, threads == 2 ? "a thread of an earlier cell still runs"
                                                 : std::to_string(threads - 1) +
                                                       " threads of earlier cells still run");
    }
  }
  const auto order = LockForOrder();
  pages_.Learn(worker_->process.pid());
  core::Result<Worker> copy = shared_->family->Copy(*worker_, pages_.hot());
  if (!copy) return copy.error();
  if (is_at_base_ && base_ && !base_->is_shared) {
    const std::lock_guard lock(mutex_);
    base_->process = std::move(*copy);
    base_->is_awake = false;
    return {};
  }
  auto held = std::make_shared<Held>();
  held->number = shared_->checkpoints++;
  held->id = "c" + std::to_string(held->number);
  held->made = std::chrono::system_clock::now();
  held->resident = ResidentMemory(copy->process.pid());
  held->files = files_;
  held->process = std::move(*copy);
  held->parent = parent_;
  is_at_base_ = true;
  const std::lock_guard lock(mutex_);
  held->cell = cells_;
  base_ = held;
  held_.push_back(std::move(held));
  return {};
}

// An upper bound: what no worker shares with the zygote.
uint64_t Session::MostMemory() const {
  uint64_t most = 0;
  const auto own = [&](uint64_t resident) {
    return resident - std::min(resident, shared_->first_resident) + (uint64_t{4} << 20);
  };
  if (worker_) most += own(ResidentMemory(worker_->process.pid()));
  const std::lock_guard lock(mutex_);
  for (const auto& held : held_) most += own(held->resident);
  return most;
}

// Checkpoints beyond the session's limits: the oldest first, those without a label before others,
// never that of the present state.
void Session::DropSome() {
  const core::Bytes budget = options_.total_memory.count > 0
                                 ? options_.total_memory
                                 : core::Bytes{2 * options_.limits.memory.count};
  std::vector<std::shared_ptr<Held>> dropped;
  const auto drop_oldest = [&] {
    const std::lock_guard lock(mutex_);
    for (const bool labelled : {false, true}) {
      const auto oldest = std::ranges::find_if(held_, [&](const auto& held) {
        return held != base_ && held->label.empty() != labelled;
      });
      if (oldest == held_.end()) continue;
      dropped.push_back(std::move(*oldest));
      held_.erase(oldest);
      return true;
    }
    return false;
  };
  const auto count = [&] {
    const std::lock_guard lock(mutex_);
    return held_.size();
  };
  while (count() > std::max<size_t>(options_.checkpoints, 1) && drop_oldest()) {
  }
  while (MostMemory() > budget.count) {
    uint64_t used = worker_ ? ProportionalMemory(worker_->process.pid()) : 0;
    std::vector<pid_t> pids;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& held : held_) pids.push_back(held->process.process.pid());
    }
    for (const pid_t pid : pids) used += ProportionalMemory(pid);
    if (used <= budget.count || !drop_oldest()) break;
    dropped.clear();  // now, so that what it held is counted no more
  }
}

core::Result<Worker> Session::WakeCopy(Held& held, bool reseeds) {
  const auto order = LockForOrder();
  if (held.process.process.HasEnded()) return core::MakeError(kFind, held.id + " has died");
  core::Result<Worker> copy = shared_->family->Copy(held.process);
  if (!copy) return copy;
  if (core::Result<void> awake = shared_->family->Wake(*copy, host_->layout, reseeds); !awake) {
    return awake.error();
  }
  if (core::Result<void> observed = host_->observe(*copy); !observed) return observed.error();
  return copy;
}

// Without a copy, its process is there at once; the next one is made off the caller's path. If it
// fails for a lack of this machine's, the checkpoint stays as it was.
core::Result<Worker> Session::WakeItself(Held& held) {
  const auto order = LockForOrder();
  if (held.process.process.HasEnded()) return core::MakeError(kFind, held.id + " has died");
  if (!held.is_awake) {
    core::Result<void> awake = shared_->family->Wake(held.process, host_->layout, false);
    if (!awake) return awake.error();
    held.is_awake = true;
  }
  if (core::Result<void> observed = host_->observe(held.process); !observed) {
    return observed.error();
  }
  held.is_awake = false;
  const std::lock_guard lock(mutex_);
  return std::exchange(held.process, {});
}

// Ending a process takes the kernel a while.
void Session::Discard(std::optional<Worker> worker) {
  if (!worker) return;
  worker->process.Kill();
  host_->later([spent = std::make_shared<Worker>(std::move(*worker))]() mutable { spent.reset(); });
}

// The present state is lost.
core::Result<void> Session::GoBack(std::shared_ptr<Held> held) {
  if (is_at_base_ && held == base_ && worker_ && !worker_->process.HasEnded()) return {};
  core::Result<Worker> awake =
      held->is_shared ? WakeCopy(*held, held.get() == reseeded_) : WakeItself(*held);
  if (!awake) return awake.error();
  std::optional<Worker> left = std::exchange(worker_, std::move(*awake));
  const bool is_only_one = left && !left->process.HasEnded() && is_at_base_ && base_ &&
                           !base_->is_shared && base_->process.process.HasEnded();
  if (is_only_one) {
    // Nothing has run since it went back to that state, of which it is still the only process.
    const std::lock_guard lock(mutex_);
    base_->process = std::move(*left);
    base_->is_awake = true;
  } else {
    Discard(std::move(left));
  }
  pages_ = {};
  files_ = held->files;
  is_at_base_ = true;
  if (shared_->has_resources()) {
    const std::lock_guard resources(shared_->resources);
    if (shared_->files_of == this) shared_->files_of = nullptr;
  }
  parent_ = held->parent;
  const std::lock_guard lock(mutex_);
  // Used last, and so dropped last.
  if (const auto place = std::ranges::find(held_, held); place != held_.end()) {
    std::rotate(place, place + 1, held_.end());
  }
  base_ = std::move(held);
  return {};
}

// Those from which a session can go on, the best first: that of its state, those that it came from,
// and then all others, the one that was made or used last first.
std::vector<std::shared_ptr<Session::Held>> Session::Candidates() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Held>> all;
  const auto add = [&](const std::shared_ptr<Held>& held) {
    if (std::ranges::find(all, held) == all.end()) all.push_back(held);
  };
  std::string parent = parent_;
  if (base_) {
    add(base_);
    parent = base_->parent;
  }
  for (auto next = held_.begin(); next != held_.end();) {
    next = std::ranges::find_if(held_, [&](const auto& each) { return each->id == parent; });
    if (next == held_.end() || std::ranges::find(all, *next) != all.end()) break;
    add(*next);
    parent = (*next)->parent;
  }
  for (auto held = held_.rbegin(); held != held_.rend(); ++held) add(*held);
  return all;
}

// After the worker's death. Closes the session if none lives.
core::Result<void> Session::Restore(std::string& note) {
  Discard(std::exchange(worker_, std::nullopt));
  const bool was_at_base = is_at_base_;
  const std::shared_ptr<Held> base = base_;
  core::Result<void> done = core::MakeError(kFind, "there is none");
  bool lives = false;
  for (const std::shared_ptr<Held>& from : Candidates()) {
    if (from->process.process.HasEnded()) continue;
    done = GoBack(from);
    if (done) {
      if (from != base || !was_at_base) {
        note += "the session goes on from checkpoint " + from->id + ", after cell " +
                std::to_string(from->cell);
      }
      return done;
    }
    lives |= !from->process.process.HasEnded();
  }
  if (lives) return done;
  Close("it is lost, since all its processes have been killed");
  const std::lock_guard lock(mutex_);
  return ClosedError();
}

core::Result<std::shared_ptr<Session::Held>> Session::Find(std::string_view checkpoint) const {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find_if(held_, [&](const auto& held) { return held->id == checkpoint; });
  if (found != held_.end()) return *found;
  uint64_t number = 0;
  const bool is_name =
      checkpoint.size() > 1 && checkpoint.size() < 20 && checkpoint[0] == 'c' &&
      std::from_chars(checkpoint.data() + 1, checkpoint.data() + checkpoint.size(), number).ptr ==
          checkpoint.data() + checkpoint.size();
  std::string known;
  for (const auto& held : held_) known += (known.empty() ? "" : ", ") + held->id;
  if (is_name && number < shared_->checkpoints) {
    return core::SystemErrorOf(
        ENOENT, kFind,
        std::string(checkpoint) +
            " is no longer held: the oldest go first when there are too many "
            "or their memory is needed; held are " +
            known);
  }
  return core::SystemErrorOf(
      ENOENT, kFind,
      "there is no " + core::Quoted(checkpoint) + " in this session; held are " + known);
}

core::Result<std::string> Session::Checkpoint(std::string label, Patience patience) {
  if (label.size() > kMaxLabel) {
    return core::MakeError("label a checkpoint",
                           "a label has at most " + std::to_string(kMaxLabel) + " bytes");
  }
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  std::string note;
  if (core::Result<void> revived = Revive(note); !revived) return revived.error();
  if (core::Result<void> held = Hold(); !held) return held.error();
  const std::lock_guard lock(mutex_);
  if (!label.empty()) base_->label = std::move(label);
  return base_->id;
}

std::vector<CheckpointInfo> Session::Checkpoints() const {
  const std::lock_guard lock(mutex_);
  std::vector<CheckpointInfo> all;
  for (const auto& held : held_) {
    if (held != base_ && held->process.process.HasEnded()) continue;
    all.push_back({held->id, held->cell, held->label, held->parent, held->made, held == base_});
  }
  return all;
}

core::Result<void> Session::RollBack(std::string_view checkpoint, Patience patience) {
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  core::Result<std::shared_ptr<Held>> held = Find(checkpoint);
  if (!held) return held.error();
  core::Result<void> done = GoBack(std::move(*held));
  After(std::move(*turn), nullptr);
  return done;
}

core::Result<void> Session::Undo(size_t cells, Patience patience) {
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  std::shared_ptr<Held> held;
  {
    const std::lock_guard lock(mutex_);
    held = base_;
  }
  // A state that is not held is a step of its own.
  for (size_t step = is_at_base_ ? 0 : 1; held && step < cells; ++step) {
    if (held->parent.empty()) {
      return core::MakeError("undo cells", "only " + std::to_string(step) + " have run");
    }
    core::Result<std::shared_ptr<Held>> parent = Find(held->parent);
    if (!parent) return parent.error();
    held = std::move(*parent);
  }
  if (!held) return core::MakeError("undo cells", "there is no checkpoint");
  core::Result<void> done = GoBack(std::move(held));
  After(std::move(*turn), nullptr);
  return done;
}

core::Result<std::vector<std::shared_ptr<Session>>> Session::Branch(size_t count,
                                                                    const BranchOptions& options,
                                                                    Patience patience) {
  if (count == 0 || count > kMaxBranchesAtOnce) {
    return core::MakeError("branch a session", "the number of branches is from 1 to " +
                                                   std::to_string(kMaxBranchesAtOnce));
  }
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  std::shared_ptr<Held> from;
  if (options.checkpoint.empty()) {
    std::string note;
    if (core::Result<void> revived = Revive(note); !revived) return revived.error();
    if (core::Result<void> held = Hold(); !held) return held.error();
    const std::lock_guard lock(mutex_);
    from = base_;
  } else {
    core::Result<std::shared_ptr<Held>> found = Find(options.checkpoint);
    if (!found) return found.error();
    from = std::move(*found);
  }
  from->is_shared = true;
  std::vector<std::shared_ptr<Session>> branches;
  for (size_t i = 0; i < count; ++i) {
    core::Result<Worker> worker = WakeCopy(*from, options.reseeds);
    if (!worker) return worker.error();
    std::shared_ptr<Session> branch(new Session(host_, shared_, options_));
    branch->worker_.emplace(std::move(*worker));
    branch->files_ = from->files;
    branch->is_at_base_ = true;
    branch->parent_ = from->parent;
    branch->base_ = from;
    if (options.reseeds) branch->reseeded_ = from.get();
    branch->held_.push_back(from);
    branch->cells_ = from->cell;
    branches.push_back(std::move(branch));
  }
  for (const auto& branch : branches) host_->opened(branch);
  return branches;
}

}  // namespace belljar::outside
