#include "engine/sessions/kept_session.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "engine/commands/command_runner.h"
#include "engine/workers/observe.h"
#include "engine/workers/process_tree.h"

namespace belljar::sessions {

core::Result<std::shared_ptr<Session>> KeptSession::Open(
    std::unique_ptr<LiveInterpreter> interpreter, NoCopies no_copies,
    const SessionOptions& options) {
  constexpr char kOpen[] = "open a session";
  core::Result<waiting::Event> interrupt = waiting::Event::Create(kOpen);
  if (!interrupt) return interrupt.error();
  core::Result<waiting::Event> kill = waiting::Event::Create(kOpen);
  if (!kill) return kill.error();
  return std::shared_ptr<Session>(new KeptSession(std::move(interpreter), std::move(no_copies),
                                                  options, std::move(*interrupt),
                                                  std::move(*kill)));
}

KeptSession::KeptSession(std::unique_ptr<LiveInterpreter> interpreter, NoCopies no_copies,
                         const SessionOptions& options, waiting::Event interrupt,
                         waiting::Event kill)
    : Session(options),
      no_copies_(std::move(no_copies)),
      has_workspace_(interpreter->has_workspace()),
      has_branches_(interpreter->has_branches()),
      project_(interpreter->project()),
      interrupt_(std::move(interrupt)),
      kill_(std::move(kill)),
      interpreter_(std::move(interpreter)),
      commands_(interpreter_->commands()),
      processes_(interpreter_->processes()) {}

// --- turns and the end ---------------------------------------------------------------------------

void KeptSession::EndTurn() {
  std::unique_lock lock(mutex_);
  last_used_ = core::Clock::now();
  if (!takers_.empty()) return takers_.Give({});
  if (closed_.empty()) {
    is_taken_ = false;
    return;
  }
  lock.unlock();
  interpreter_.reset();
}

void KeptSession::Close(std::string why) {
  std::shared_ptr<commands::CommandRunner> commands;  // ended without the lock
  {
    const std::lock_guard lock(mutex_);
    if (!closed_.empty()) return;
    closed_ = std::move(why);
    commands.swap(commands_);
    takers_.FailAll(ClosedError());
    kill_.Raise();
    // Whoever holds the turn ends it.
    if (std::exchange(is_taken_, true)) return;
  }
  interpreter_.reset();
}

std::vector<pid_t> KeptSession::processes() const {
  const std::lock_guard lock(mutex_);
  return closed_.empty() ? processes_ : std::vector<pid_t>();
}

Session::Info KeptSession::info() const {
  Info info;
  {
    const std::lock_guard lock(mutex_);
    info = {cells_, is_taken_, 0, last_used_, opened_, 0};
  }
  if (const std::shared_ptr<commands::CommandRunner> runner = Runner()) {
    const bool runs = std::ranges::any_of(runner->commands(), [](const auto& each) {
      return each->status().state == commands::CommandState::kRunning;
    });
    if (runs) info.last_used = core::Clock::now();
    info.memory_bytes = workers::MemoryOfTree(runner->pid());
    return info;
  }
  for (const pid_t pid : processes()) info.memory_bytes += workers::ProportionalMemory(pid);
  return info;
}

// --- cells ---------------------------------------------------------------------------------------

core::Result<host::Outcome> KeptSession::Run(const host::Request& request,
                                             const run::RunOptions& options, Patience patience) {
  core::Result<Turn> turn = TakeTurn(patience, options);
  if (!turn) return turn.error();
  run::RunOptions own = options;
  own.interrupt_fd = interrupt_.fd();
  own.kill_fd = kill_.fd();
  host::SessionReport report;
  report.id = id();
  {
    const std::lock_guard lock(mutex_);
    interrupt_.Lower();
    is_running_ = true;
    report.cell = ++cells_;
  }
  core::Result<host::Outcome> outcome = interpreter_->Run(request, own);
  const bool has_ended = interpreter_->HasEnded();
  {
    const std::lock_guard lock(mutex_);
    is_running_ = false;
    processes_ = interpreter_->processes();
    if (!closed_.empty()) return ClosedError();
    if (!outcome && !has_ended) --cells_;  // it did not run
  }
  if (outcome && outcome->session) {
    report.restarted = outcome->session->restarted;
    report.note = std::move(outcome->session->note);
  }
  const std::string reason = no_copies_.where + " a session cannot be copied";
  if (has_ended) {
    Close("cell " + std::to_string(report.cell) + " ended it (" +
          (outcome ? std::string(host::StatusName(outcome->status)) : outcome.error().ToString()) +
          "), and " + reason + ", so there was no checkpoint to go on from");
    report.note = "the session has ended with this cell: " + reason +
                  ", so there is no checkpoint to go on from";
  } else if (report.cell == 1 && no_copies_.ends) {
    report.note = "this session has no checkpoints, and a cell that is killed ends it: " + reason;
  }
  if (outcome) outcome->session = std::move(report);
  return outcome;
}

bool KeptSession::Interrupt() {
  const std::lock_guard lock(mutex_);
  if (!is_running_) return false;
  interrupt_.Raise();
  return true;
}

// --- commands ------------------------------------------------------------------------------------

std::shared_ptr<commands::CommandRunner> KeptSession::Runner() const {
  const std::lock_guard lock(mutex_);
  return commands_;
}

core::Result<std::shared_ptr<commands::Command>> KeptSession::StartCommand(
    const commands::CommandRequest& request, const waiting::Wait& wait) {
  std::shared_ptr<commands::CommandRunner> runner;
  {
    const std::lock_guard lock(mutex_);
    if (!closed_.empty()) return ClosedError();
    if (!commands_) return Session::StartCommand(request, wait);
    last_used_ = core::Clock::now();
    runner = commands_;
  }
  core::Result<std::shared_ptr<commands::Command>> command = runner->Start(request, wait);
  if (runner->HasEnded()) Close("its processes have been killed");
  return command;
}

std::vector<std::shared_ptr<commands::Command>> KeptSession::Commands() const {
  const std::shared_ptr<commands::CommandRunner> runner = Runner();
  return runner ? runner->commands() : std::vector<std::shared_ptr<commands::Command>>();
}

// --- questions and files -------------------------------------------------------------------------

template <typename T>
core::Result<T> KeptSession::Use(Patience patience, const char* what,
                                 const std::function<core::Result<T>()>& use) {
  const core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  core::Result<T> result = use();
  if (interpreter_->HasEnded()) {
    Close(std::string(what) + " ended it, and " + no_copies_.where + " a session cannot be copied");
  }
  return result;
}

core::Result<std::string> KeptSession::Ask(const run::Question& question, Patience patience) {
  return Use<std::string>(patience, "a question about its names",
                          [&] { return interpreter_->Ask(question, kill_.fd()); });
}

core::Result<void> KeptSession::NeedWorkspace() const {
  return has_workspace_ ? core::Result<void>() : NoWorkspace();
}

core::Result<std::vector<SessionFile>> KeptSession::Files(Patience patience) {
  if (core::Result<void> needed = NeedWorkspace(); !needed) return needed.error();
  return Use<std::vector<SessionFile>>(patience, "listing its files",
                                       [&] { return interpreter_->Files(kill_.fd()); });
}

core::Result<std::string> KeptSession::ReadFile(std::string_view path, Patience patience) {
  if (core::Result<void> needed = NeedWorkspace(); !needed) return needed.error();
  return Use<std::string>(patience, "reading a file",
                          [&] { return interpreter_->ReadFile(path, kill_.fd()); });
}

core::Result<void> KeptSession::WriteFiles(const std::vector<host::InputFile>& files,
                                           Patience patience) {
  if (core::Result<void> needed = NeedWorkspace(); !needed) return needed;
  return Use<void>(patience, "writing a file",
                   [&] { return interpreter_->WriteFiles(files, kill_.fd()); });
}

core::Result<void> KeptSession::RemoveFile(std::string_view path, Patience patience) {
  if (core::Result<void> needed = NeedWorkspace(); !needed) return needed;
  return Use<void>(patience, "removing a file",
                   [&] { return interpreter_->RemoveFile(path, kill_.fd()); });
}

core::Result<workspace::WorkspaceSnapshot> KeptSession::Snapshot(Patience patience) {
  if (core::Result<void> needed = NeedWorkspace(); !needed) return needed.error();
  return Use<workspace::WorkspaceSnapshot>(patience, "reading its files",
                                           [&] { return interpreter_->Snapshot(); });
}

core::Result<void> KeptSession::Replace(const workspace::WorkspaceSnapshot& files,
                                        Patience patience) {
  if (core::Result<void> needed = NeedWorkspace(); !needed) return needed;
  return Use<void>(patience, "replacing its files", [&] { return interpreter_->Replace(files); });
}

core::Result<void> KeptSession::AttachFolder(const std::string& folder, const std::string& at,
                                             Patience patience) {
  return Use<void>(patience, "showing it a folder",
                   [&] { return interpreter_->AttachFolder(folder, at); });
}

core::Result<projects::ProjectChanges> KeptSession::Changes() {
  return project_ ? project_->Changes() : Session::Changes();
}

// --- branches of its files -----------------------------------------------------------------------

core::Result<std::vector<std::shared_ptr<Session>>> KeptSession::Branch(
    size_t count, const BranchOptions& options, Patience patience) {
  using Branches = std::vector<std::shared_ptr<Session>>;
  if (!has_branches_ || !options.checkpoint.empty()) return CannotBeCopied();
  return Use<Branches>(patience, "a branch", [&]() -> core::Result<Branches> {
    Branches branches;
    for (size_t i = 0; i < count; ++i) {
      core::Result<std::unique_ptr<LiveInterpreter>> interpreter = interpreter_->Branch();
      if (!interpreter) return interpreter.error();
      core::Result<std::shared_ptr<Session>> branch =
          Open(std::move(*interpreter), no_copies_, this->options());
      if (!branch) return branch.error();
      branches.push_back(std::move(*branch));
    }
    if (no_copies_.opened) std::ranges::for_each(branches, no_copies_.opened);
    return branches;
  });
}

core::Result<workspace::WorkspaceSnapshot> KeptSession::Layer(const Patience& patience) {
  return Use<workspace::WorkspaceSnapshot>(patience, "reading its files",
                                           [&] { return interpreter_->Layer(); });
}

core::Result<SessionDifference> KeptSession::Compare(Session& other, Patience patience) {
  auto* const branch = dynamic_cast<KeptSession*>(&other);
  if (!has_branches_ || !branch || !branch->has_branches_) return CannotBeCopied();
  const bool has_same_base = project_ && branch->project_
                                 ? project_->folder().path == branch->project_->folder().path
                                 : !project_ && !branch->project_;
  if (!has_same_base)
    return core::MakeError("compare sessions", "they are over different projects");
  // One after the other: each may be asked to be compared with the other.
  const core::Result<workspace::WorkspaceSnapshot> before = Layer(patience);
  if (!before) return before.error();
  const core::Result<workspace::WorkspaceSnapshot> after = branch->Layer(patience);
  if (!after) return after.error();
  return SessionDifference{.files = after->ChangesSince(*before)};
}

// --- what it cannot ------------------------------------------------------------------------------

core::Error KeptSession::CannotBeCopied() const {
  {
    const std::lock_guard lock(mutex_);
    if (!closed_.empty()) return ClosedError();
  }
  return core::MakeError("copy a session",
                         no_copies_.where +
                             " a session cannot be copied, so it has no checkpoints "
                             "and no branches; " +
                             no_copies_.remedy);
}

core::Result<std::string> KeptSession::Checkpoint(std::string, Patience) {
  return CannotBeCopied();
}

core::Result<void> KeptSession::RollBack(std::string_view, Patience) { return CannotBeCopied(); }

core::Result<void> KeptSession::Undo(size_t, Patience) { return CannotBeCopied(); }

core::Result<SessionDifference> KeptSession::Compare(std::string_view, Patience) {
  return CannotBeCopied();
}

}  // namespace belljar::sessions
