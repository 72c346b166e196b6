#include "engine/sessions/session.h"

#include <algorithm>
#include <cerrno>

#include "engine/core/text.h"
#include "engine/host/beneath.h"
#include "engine/host/random.h"
#include "engine/waiting/interrupt_check.h"
#include "engine/waiting/wait.h"

namespace belljar::sessions {
namespace {

constexpr std::chrono::milliseconds kMaxQuestion{5'000};
constexpr char kSandboxClosed[] = "its sandbox was closed";

core::Error OneLanguage() {
  return core::MakeError("use another language in a session",
                         "in a container a session has one language");
}

}  // namespace

Session::Session(const SessionOptions& options)
    : options_(options), id_(core::Hex(host::RandomBytes())) {}

core::Result<workspace::WorkspaceSnapshot> Session::Snapshot(Patience) { return OneLanguage(); }

core::Result<void> Session::Replace(const workspace::WorkspaceSnapshot&, Patience) {
  return OneLanguage();
}

core::Result<void> Session::AddKernel(const Kernel&) { return OneLanguage(); }

core::Result<std::string> Session::ReadVariable(const std::string&, const std::string&, Patience) {
  return OneLanguage();
}

core::Result<void> Session::SetVariable(const std::string&, const host::InputVariable&, Patience) {
  return OneLanguage();
}

core::Result<std::shared_ptr<commands::Command>> Session::StartCommand(
    const commands::CommandRequest&, const waiting::Wait&) {
  return core::MakeError("start a command",
                         "this session runs cells; open one in the language \"shell\"");
}

core::Result<void> Session::AttachFolder(const std::string&, const std::string&, Patience) {
  return NoFolders();
}

core::Result<projects::ProjectChanges> Session::Changes() {
  return core::MakeError("list changes",
                         "this session was opened without a project; its files are all its own");
}

std::string Session::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

core::Result<Session::Turn> Session::TakeTurn(const Patience& patience,
                                              const run::RunOptions& run) {
  std::unique_lock lock(mutex_);
  if (!closed_.empty()) return ClosedError();
  if (is_taken_) {
    const core::Result<void> waited = AwaitTurn(lock, patience, run);
    if (!waited) return waited.error();
  }
  is_taken_ = true;
  last_used_ = core::Clock::now();
  return Turn(shared_from_this());
}

core::Result<void> Session::AwaitTurn(std::unique_lock<std::mutex>& lock, const Patience& patience,
                                      const run::RunOptions& run) {
  if (!patience.waits) {
    return core::WithCause(core::Cause::kNoTurn,
                           core::SystemErrorOf(EBUSY, kUseSession, "it is busy with another call"));
  }
  waiting::InterruptCheck interrupts(run.interrupted);
  const int cancel_fd = run.cancel_fd >= 0 ? run.cancel_fd : patience.cancel_fd;
  const waiting::Wait wait{core::Clock::now() + patience.at_most, cancel_fd,
                           run.interrupted ? &interrupts : nullptr};
  const core::Result<Token> token = takers_.Take(
      lock, wait, kUseSession, [] { return "it was busy with other calls throughout"; });
  if (token) return {};
  const bool is_late = token.error().error_number == ETIMEDOUT;
  return is_late ? core::WithCause(core::Cause::kNoTurn, token.error()) : token.error();
}

core::Error Session::ClosedError() const {
  return core::SystemErrorOf(ENOENT, kUseSession, "it is closed: " + closed_);
}

core::Error NoFolders() {
  return core::MakeError("show a folder to a session",
                         "this session runs cells; open one in the language \"shell\"");
}

core::Error NoWorkspace() {
  return core::MakeError("use the files of a session",
                         "its profile has no workspace for them; the profile filesystem has one");
}

core::Result<void> CheckRemoval(std::string_view path) {
  const char* const fault = host::PathFault(path);
  return fault ? core::MakeError("remove file " + core::Quoted(path), fault) : core::Result<void>();
}

std::vector<SessionFile> FilesIn(const workspace::WorkspaceSnapshot& files) {
  std::vector<SessionFile> listed;
  for (const auto& entry : files.entries()) {
    if (entry->kind != workspace::SnapshotEntry::Kind::kFile) continue;
    listed.push_back({core::Printable(entry->path), entry->size()});
  }
  return listed;
}

core::Result<std::string> ContentIn(const workspace::WorkspaceSnapshot& files,
                                    std::string_view path) {
  const workspace::SnapshotEntry* const entry = files.Find(path);
  if (!entry || entry->kind != workspace::SnapshotEntry::Kind::kFile) {
    return core::SystemErrorOf(ENOENT, "read file " + core::Quoted(path),
                               "the session has no such file");
  }
  return entry->content.ToString();
}

host::Request RequestOf(const run::Question& question, const core::Limits& limits) {
  host::Request request;
  request.source = question.source;
  request.limits = limits;
  request.limits.timeout = std::min(request.limits.timeout, kMaxQuestion);
  request.limits.cpu = std::min(request.limits.cpu, kMaxQuestion);
  return request;
}

core::Result<std::string> AnswerIn(host::Outcome& outcome, bool reported) {
  if (reported && outcome.status == host::Status::kOk && outcome.result_json) {
    return std::move(*outcome.result_json);
  }
  return core::MakeError("ask a session",
                         outcome.error ? outcome.error->message : "it could not answer");
}

std::optional<OpenedSessions::Use> OpenedSessions::BeginUse() {
  const std::lock_guard lock(mutex_);
  if (is_ending_) return std::nullopt;
  ++uses_;
  return Use(shared_from_this());
}

void OpenedSessions::EndUse() {
  const std::lock_guard lock(mutex_);
  if (--uses_ == 0) unused_.notify_all();
}

void OpenedSessions::Add(const std::shared_ptr<Session>& session) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_ending_) {
      std::erase_if(sessions_, [](const std::weak_ptr<Session>& each) { return each.expired(); });
      sessions_.push_back(session);
      return;
    }
  }
  session->Close(kSandboxClosed);
}

void OpenedSessions::CloseAll() {
  std::vector<std::weak_ptr<Session>> sessions;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    sessions.swap(sessions_);
  }
  for (const std::weak_ptr<Session>& each : sessions) {
    if (const std::shared_ptr<Session> session = each.lock()) session->Close(kSandboxClosed);
  }
  std::unique_lock lock(mutex_);
  unused_.wait(lock, [this] { return uses_ == 0; });
}

}  // namespace belljar::sessions
