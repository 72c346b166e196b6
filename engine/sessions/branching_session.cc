#include "engine/sessions/branching_session.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "engine/run/execution.h"
#include "engine/sessions/branching_session_state.h"
#include "engine/workers/observe.h"
#include "engine/workspace/workspace.h"

namespace belljar::sessions {
namespace {

// Delay for creating a checkpoint while cells of other sessions run.
constexpr std::chrono::milliseconds kHoldRetry{20};
constexpr std::chrono::milliseconds kMaxHoldDelay{250};

class Counted {
 public:
  explicit Counted(std::atomic<size_t>& count) : count_(count) { ++count_; }
  Counted(const Counted&) = delete;
  ~Counted() { --count_; }

 private:
  std::atomic<size_t>& count_;
};

}  // namespace

// --- turns and the end ---------------------------------------------------------------------------

core::Result<std::shared_ptr<Session>> BranchingSession::Open(
    std::shared_ptr<const SessionHost> host, workers::Worker worker,
    const SessionOptions& options) {
  auto shared = std::make_shared<Shared>();
  shared->family = worker.family;
  shared->workspace = std::move(worker.resources.workspace);
  shared->egress = std::move(worker.resources.egress);
  if (core::Result<void> limited =
          shared->family->Limit(worker, host->ceiling, options.limits, host->threads);
      !limited) {
    return limited.error();
  }
  shared->first_resident = workers::ResidentMemory(worker.process.pid());
  std::shared_ptr<BranchingSession> session(
      new BranchingSession(std::move(host), std::move(shared), options));
  session->worker_.emplace(std::move(worker));
  // Its first checkpoint: off the caller's path, and before the first cell.
  core::Result<Turn> turn = session->TakeTurn({.waits = false});
  if (!turn) return turn.error();
  session->host_->last_session = session.get();
  session->After(std::move(*turn), nullptr);
  session->host_->opened(session);
  return std::shared_ptr<Session>(std::move(session));
}

BranchingSession::BranchingSession(std::shared_ptr<const SessionHost> host,
                                   std::shared_ptr<Shared> shared, const SessionOptions& options)
    : Session(options), host_(std::move(host)), shared_(std::move(shared)) {
  ++shared_->sessions;
}

BranchingSession::~BranchingSession() {
  if (closed_.empty()) Release();
}

void BranchingSession::EndTurn() {
  std::unique_lock lock(mutex_);
  if (!takers_.empty()) return takers_.Give({});
  if (closed_.empty()) {
    is_taken_ = false;
    return;
  }
  lock.unlock();
  Release();
}

// Deferred work after a call. It yields to cells of other sessions; the next cell of this session
// does it if it comes first.
void BranchingSession::After(Turn turn, host::DeferredTasks* deferred) {
  auto kept = std::make_shared<std::optional<Turn>>(std::move(turn));
  // A caller that alternates between sessions is likely to continue with this one.
  const bool others_run = host_->last_session.exchange(this) != this;
  std::function<void()> step = [this, kept, others_run] {
    Turn own = std::move(**kept);
    kept->reset();
    if (!closed().empty()) return;
    {
      const std::lock_guard lock(mutex_);
      last_used_ = core::Clock::now();
    }
    if (others_run || host_->running > 0) return HoldLater(core::Clock::now() + kMaxHoldDelay);
    HoldNow(std::move(own));
  };
  if (deferred) {
    deferred->Add(std::move(step));
  } else {
    host_->later(std::move(step));
  }
}

void BranchingSession::HoldNow(Turn turn) {
  (void)Hold().ok();
  const std::vector<std::shared_ptr<Held>> dropped = DropSome();
  RestLater();
  // The next caller does not wait for the end of a large process.
  const Turn done = std::move(turn);
}

void BranchingSession::HoldLater(core::Deadline at_the_latest) {
  At(core::Clock::now() + kHoldRetry, [at_the_latest](BranchingSession& session) {
    if (session.host_->running > 0 && core::Clock::now() < at_the_latest) {
      return session.HoldLater(at_the_latest);
    }
    core::Result<Turn> turn = session.TakeTurn({.waits = false});
    if (turn) session.HoldNow(std::move(*turn));
  });
}

// In the background, if this session still exists then.
void BranchingSession::At(core::Deadline due, std::function<void(BranchingSession&)> step) {
  host_->at(due, [this, weak = weak_from_this(), step = std::move(step)] {
    if (const std::shared_ptr<Session> living = weak.lock()) step(*this);
  });
}

void BranchingSession::RestLater() {
  core::Deadline due;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(will_rest_, true)) return;
    due = last_used_ + options().rest_after;
  }
  At(due, [](BranchingSession& session) { session.Rest(); });
}

// The worker and its checkpoint would hold the same memory twice, once the next cell's page faults
// had been taken ahead.
void BranchingSession::Rest() {
  core::Deadline last_used;
  {
    const std::lock_guard lock(mutex_);
    will_rest_ = false;
    if (!closed_.empty() || is_taken_) return;
    last_used = last_used_;
  }
  if (core::Clock::now() < last_used + options().rest_after) return RestLater();
  const core::Result<Turn> turn = TakeTurn({.waits = false});
  if (!turn || !worker_) return;
  bool rests;
  {
    const std::lock_guard lock(mutex_);
    last_used_ = last_used;  // this was not a use
    rests = is_at_base_ && base_ && !base_->is_shared && !base_->process.process.HasEnded();
  }
  if (rests) Discard(std::exchange(worker_, std::nullopt));
}

void BranchingSession::Close(std::string why) {
  {
    const std::lock_guard lock(mutex_);
    if (!closed_.empty()) return;
    closed_ = std::move(why);
    takers_.FailAll(ClosedError());
    if (interrupt_) interrupt_->Raise();
    // Whoever holds the turn releases it.
    if (std::exchange(is_taken_, true)) {
      if (shared_->sessions == 1) shared_->family->End();
      return;
    }
  }
  Release();
}

// Requires the turn. Call once.
void BranchingSession::Release() {
  auto spent = std::make_shared<Spent>();
  if (--shared_->sessions == 0) {
    shared_->family->End();
    spent->family = shared_->family;
  }
  spent->worker = std::exchange(worker_, std::nullopt);
  {
    const std::lock_guard lock(mutex_);
    spent->held.swap(held_);
    spent->base.swap(base_);
  }
  // Ending processes takes the kernel a while.
  host_->later([spent = std::move(spent)]() mutable { spent.reset(); });
}

BranchingSession::Info BranchingSession::info() const {
  Info info;
  {
    const std::lock_guard lock(mutex_);
    info = {cells_, is_taken_, held_.size(), last_used_, opened_, 0};
  }
  for (const pid_t pid : processes()) info.memory_bytes += workers::ProportionalMemory(pid);
  return info;
}

std::vector<pid_t> BranchingSession::processes() const { return shared_->family->processes(); }

// --- cells ---------------------------------------------------------------------------------------

core::Result<host::Outcome> BranchingSession::Run(const host::Request& request,
                                                  const run::RunOptions& options,
                                                  Patience patience) {
  core::Result<Turn> turn = TakeTurn(patience, options);
  if (!turn) return turn.error();
  core::Result<host::Outcome> outcome = [&] {
    const Counted running(host_->running);
    return RunCell(request, options);
  }();
  After(std::move(*turn), options.deferred);
  return outcome;
}

core::Result<host::Outcome> BranchingSession::RunCell(const host::Request& request,
                                                      const run::RunOptions& options) {
  host::SessionReport report;
  report.id = id();
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
  run::RunOptions own = options;
  own.interrupt_fd = *interrupt_fd;
  run::Execution execution(std::move(*worker_), request, own, host_->policy);
  if (!host_->workspace) execution.SendModules();
  if (host_->egress) {
    execution.ServeEgress(*host_->egress, std::move(listener), std::move(narrower));
  }
  core::Result<host::Outcome> outcome = execution.Run();
  worker_.emplace(execution.TakeWorker());
  const size_t unexpected = shared_->family->EndCell(*worker_);
  std::string closed;
  {
    const std::lock_guard lock(mutex_);
    interrupt_.reset();
    if (!closed_.empty()) return ClosedError();
  }
  if (outcome && unexpected > 0) {
    outcome->security_events.push_back(
        {"rlimits", "killed", "processes that the cell had cloned", unexpected});
  }
  if (outcome && execution.reported()) {
    // Refused code did not run.
    if (outcome->status != host::Status::kRefused) {
      is_at_base_ = false;
      const std::lock_guard lock(mutex_);
      // Its state no longer exists: the worker that was rolled back to it has continued without a
      // copy.
      if (base_ && base_->process.process.HasEnded()) {
        std::erase(held_, base_);
        base_ = nullptr;
      }
    }
    if (host_->workspace) {
      workspace::CollectChanges(shared_->workspace.get(), files_, *outcome);
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
  outcome->isolation.policy = host_->policy;
  outcome->session = std::move(report);
  return outcome;
}

// The worker was killed while waiting, by an operator or the kernel.
core::Result<void> BranchingSession::Revive(std::string& note) {
  if (worker_ && !worker_->process.HasEnded()) return {};
  if (!worker_ && IsHeld()) {
    // At rest, the checkpoint holds the state.
    std::string same;
    return Restore(same);
  }
  return Restore(note);
}

// Returns the descriptor that interrupts it.
core::Result<int> BranchingSession::BeginCell(const host::Request& request,
                                              host::SessionReport& report) {
  // This state could not be checkpointed before.
  if (const core::Result<void> held = Hold(); !held) {
    if (worker_->process.HasEnded()) {
      if (core::Result<void> restored = Restore(report.note); !restored) return restored.error();
      return BeginCell(request, report);
    }
    report.note +=
        "there is no checkpoint of the state before this cell: " + held.error().ToString();
  }
  core::Result<waiting::Event> interrupt = waiting::Event::Create("run a cell");
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

bool BranchingSession::Interrupt() {
  const std::lock_guard lock(mutex_);
  if (!interrupt_) return false;
  interrupt_->Raise();
  return true;
}

}  // namespace belljar::sessions
