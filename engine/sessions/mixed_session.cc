#include "engine/sessions/mixed_session.h"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>

#include "engine/core/text.h"
#include "engine/host/json_reader.h"

namespace belljar::sessions {
namespace {

constexpr char kExchange[] = "exchange a value";
constexpr size_t kMaxShownMessage = 500;

std::string WhyNot(const host::Outcome& outcome) {
  std::string why = outcome.error ? core::Printable(outcome.error->message)
                                  : std::string(host::StatusName(outcome.status));
  if (why.size() > kMaxShownMessage) why.resize(kMaxShownMessage);
  return why;
}

}  // namespace

std::shared_ptr<Session> MixedSession::Over(Kernel own) {
  return std::shared_ptr<Session>(new MixedSession(std::move(own)));
}

MixedSession::MixedSession(Kernel own)
    : Session(own.session->options(), own.session->id()), own_(std::move(own)) {}

// --- the kernels ---------------------------------------------------------------------------------

std::vector<std::string> MixedSession::languages() const {
  std::vector<std::string> names = {own_.language};
  const std::lock_guard lock(mutex_);
  for (const Kernel& each : others_) {
    if (each.session->closed().empty()) names.push_back(each.language);
  }
  return names;
}

bool MixedSession::IsAlone() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::none_of(others_,
                              [](const Kernel& each) { return each.session->closed().empty(); });
}

core::Result<void> MixedSession::AddKernel(const Kernel& kernel) {
  Kernel dropped;
  const std::lock_guard lock(mutex_);
  if (!closed_.empty()) {
    kernel.session->Close(closed_);
    return ClosedError();
  }
  const auto known = std::ranges::find(others_, kernel.language, &Kernel::language);
  if (kernel.language == own_.language ||
      (known != others_.end() && known->session->closed().empty())) {
    kernel.session->Close("another call has opened one for " + kernel.language);
  } else if (known != others_.end()) {
    dropped = std::exchange(*known, kernel);
  } else {
    others_.push_back(kernel);
  }
  return {};
}

core::Result<Kernel> MixedSession::Find(const std::string& language) const {
  if (language.empty() || language == own_.language) return own_;
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(others_, language, &Kernel::language);
  if (found != others_.end()) return *found;
  return core::MakeError("use another language in a session",
                         "it has no " + core::Quoted(language) + " yet");
}

std::vector<std::shared_ptr<Session>> MixedSession::Sessions() const {
  std::vector<std::shared_ptr<Session>> sessions = {own_.session};
  const std::lock_guard lock(mutex_);
  for (const Kernel& each : others_) sessions.push_back(each.session);
  return sessions;
}

// --- turns and the end ---------------------------------------------------------------------------

void MixedSession::EndTurn() {
  const std::lock_guard lock(mutex_);
  if (!takers_.empty()) return takers_.Give({});
  is_taken_ = false;
}

void MixedSession::Close(std::string why) {
  std::vector<Kernel> others;
  {
    const std::lock_guard lock(mutex_);
    if (closed_.empty()) {
      closed_ = why;
      takers_.FailAll(ClosedError());
    }
    others.swap(others_);
  }
  own_.session->Close(why);
  for (const Kernel& each : others) each.session->Close(why);
}

std::string MixedSession::closed() const {
  std::string own = Session::closed();
  return own.empty() ? own_.session->closed() : own;
}

std::vector<pid_t> MixedSession::processes() const {
  std::vector<pid_t> all;
  for (const std::shared_ptr<Session>& each : Sessions()) {
    const std::vector<pid_t> some = each->processes();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

Session::Info MixedSession::info() const {
  Info info = own_.session->info();
  for (const std::shared_ptr<Session>& each : Sessions()) {
    if (each == own_.session) continue;
    const Info other = each->info();
    info.cells += other.cells;
    info.is_busy = info.is_busy || other.is_busy;
    info.last_used = std::max(info.last_used, other.last_used);
    info.memory_bytes += other.memory_bytes;
  }
  return info;
}

bool MixedSession::Interrupt() {
  bool is_interrupted = false;
  for (const std::shared_ptr<Session>& each : Sessions()) {
    if (each->Interrupt()) is_interrupted = true;
  }
  return is_interrupted;
}

// --- files ---------------------------------------------------------------------------------------

bool MixedSession::has_workspace() const {
  return std::ranges::any_of(Sessions(), [](const auto& each) { return each->has_workspace(); });
}

// Requires the turn. What has no workspace neither gets nor leaves files.
core::Result<void> MixedSession::SyncFiles(const std::shared_ptr<Session>& into,
                                           Patience patience) {
  const std::shared_ptr<Session> from = files_of_ ? files_of_ : own_.session;
  if (from == into || !into->has_workspace() || !from->has_workspace()) return {};
  core::Result<workspace::WorkspaceSnapshot> files = from->Snapshot(patience);
  if (!files && !from->closed().empty()) {
    files_of_ = nullptr;
    return core::MakeError("sync the files of a session",
                           "the kernel that had them has ended: " + from->closed());
  }
  if (!files) return files.error();
  if (core::Result<void> replaced = into->Replace(*files, patience); !replaced) return replaced;
  files_of_ = into;
  return {};
}

template <typename Use>
auto MixedSession::WithFiles(Patience patience, Use use)
    -> decltype(use(std::declval<Session&>())) {
  if (IsAlone()) return use(*own_.session);
  const core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  const std::shared_ptr<Session> of =
      own_.session->has_workspace() || !files_of_ ? own_.session : files_of_;
  if (core::Result<void> synced = SyncFiles(of, patience); !synced) return synced.error();
  return use(*of);
}

core::Result<std::vector<SessionFile>> MixedSession::Files(Patience patience) {
  return WithFiles(patience, [&](Session& session) { return session.Files(patience); });
}

core::Result<std::string> MixedSession::ReadFile(std::string_view path, Patience patience) {
  return WithFiles(patience, [&](Session& session) { return session.ReadFile(path, patience); });
}

core::Result<void> MixedSession::WriteFiles(const std::vector<host::InputFile>& files,
                                            Patience patience) {
  return WithFiles(patience, [&](Session& session) { return session.WriteFiles(files, patience); });
}

core::Result<void> MixedSession::RemoveFile(std::string_view path, Patience patience) {
  return WithFiles(patience, [&](Session& session) { return session.RemoveFile(path, patience); });
}

// --- cells ---------------------------------------------------------------------------------------

core::Result<host::Outcome> MixedSession::Run(const host::Request& request,
                                              const run::RunOptions& options, Patience patience) {
  const bool is_own = request.language.empty() || request.language == own_.language;
  if (is_own && IsAlone()) return own_.session->Run(request, options, patience);
  core::Result<Kernel> kernel = Find(request.language);
  if (!kernel) return kernel.error();
  // The sandbox that calls this has checked the request.
  if (is_own) kernel->run = &Session::Run;
  const core::Result<Turn> turn = TakeTurn(patience, options);
  if (!turn) return turn.error();
  return RunIn(*kernel, request, options, patience);
}

// Requires the turn.
core::Result<host::Outcome> MixedSession::RunIn(const Kernel& kernel, const host::Request& request,
                                                const run::RunOptions& options, Patience patience) {
  if (const std::string why = own_.session->closed(); !why.empty()) {
    return core::SystemErrorOf(ENOENT, kUseSession, "it is closed: " + why);
  }
  if (core::Result<void> synced = SyncFiles(kernel.session, patience); !synced) {
    return synced.error();
  }
  host::Request own = request;
  own.language.clear();
  core::Result<host::Outcome> outcome = kernel.run(*kernel.session, own, options, patience);
  if (kernel.session->has_workspace()) files_of_ = kernel.session;
  if (outcome && outcome->session) outcome->session->id = id();
  return outcome;
}

// --- values --------------------------------------------------------------------------------------

core::Result<Kernel> MixedSession::FindForVariable(const std::string& language,
                                                   const std::string& name) const {
  core::Result<Kernel> kernel = Find(language);
  if (!kernel) return kernel;
  if (!kernel->reading) {
    return core::MakeError(kExchange,
                           "variables of " + core::Quoted(language) + " cannot be read or set");
  }
  if (host::IsVariableName(name)) return kernel;
  return core::MakeError(kExchange, core::Quoted(name) +
                                        " is no name: it is an ASCII letter followed by ASCII "
                                        "letters, digits and underscores");
}

core::Result<host::Outcome> MixedSession::Exchange(const Kernel& kernel, host::Request request,
                                                   Patience patience) {
  request.limits = kernel.session->options().limits;
  request.filename = "exchange";
  // Reading or setting a variable may run the guest's code. It is no cell of a caller's, so no
  // caller has said which hosts it may reach: none.
  if (kernel.has_network) request.allowed_domains.emplace();
  run::RunOptions options;
  options.cancel_fd = patience.cancel_fd;
  const core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  return RunIn(kernel, request, options, patience);
}

core::Result<std::string> MixedSession::ReadVariable(const std::string& language,
                                                     const std::string& name, Patience patience) {
  const core::Result<Kernel> kernel = FindForVariable(language, name);
  if (!kernel) return kernel.error();
  host::Request request;
  request.source = kernel->reading(name);
  core::Result<host::Outcome> outcome = Exchange(*kernel, std::move(request), patience);
  if (!outcome) return outcome.error();
  const std::string what = core::Quoted(name) + " of " + language + " cannot be read: ";
  if (!outcome->success()) return core::MakeError(kExchange, what + WhyNot(*outcome));
  const host::JsonReading read = host::ReadJson(outcome->result_json.value_or(""), {});
  const auto* const list = std::get_if<nlohmann::json>(&read);
  if (list && list->is_array() && list->size() == 1) return list->front().dump();
  return core::MakeError(kExchange, what + "it is not plain data, or is too large");
}

core::Result<void> MixedSession::SetVariable(const std::string& language,
                                             const host::InputVariable& variable,
                                             Patience patience) {
  const core::Result<Kernel> kernel = FindForVariable(language, variable.name);
  if (!kernel) return kernel.error();
  host::Request request;
  request.inputs.push_back(variable);
  core::Result<host::Outcome> outcome = Exchange(*kernel, std::move(request), patience);
  if (!outcome) return outcome.error();
  if (outcome->success()) return {};
  return core::MakeError(kExchange, core::Quoted(variable.name) + " of " + language +
                                        " cannot be set: " + WhyNot(*outcome));
}

// --- states --------------------------------------------------------------------------------------

core::Result<std::string> MixedSession::Checkpoint(std::string label, Patience patience) {
  return WithFiles(patience,
                   [&](Session&) { return own_.session->Checkpoint(std::move(label), patience); });
}

core::Result<void> MixedSession::RollBack(std::string_view checkpoint, Patience patience) {
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  core::Result<void> done = own_.session->RollBack(checkpoint, patience);
  if (done && own_.session->has_workspace()) files_of_ = nullptr;
  return done;
}

core::Result<void> MixedSession::Undo(size_t cells, Patience patience) {
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  core::Result<void> done = own_.session->Undo(cells, patience);
  if (done && own_.session->has_workspace()) files_of_ = nullptr;
  return done;
}

core::Result<std::vector<std::shared_ptr<Session>>> MixedSession::Branch(
    size_t count, const BranchOptions& options, Patience patience) {
  core::Result<std::vector<std::shared_ptr<Session>>> branches =
      WithFiles(patience, [&](Session&) { return own_.session->Branch(count, options, patience); });
  if (!branches) return branches;
  for (std::shared_ptr<Session>& branch : *branches) {
    Kernel own = own_;
    own.session = std::move(branch);
    branch = Over(std::move(own));
  }
  return branches;
}

core::Result<SessionDifference> MixedSession::Compare(Session& other, Patience patience) {
  auto* const mixed = dynamic_cast<MixedSession*>(&other);
  return WithFiles(patience, [&](Session&) {
    return own_.session->Compare(mixed ? *mixed->own_.session : other, patience);
  });
}

core::Result<SessionDifference> MixedSession::Compare(std::string_view checkpoint,
                                                      Patience patience) {
  return WithFiles(patience, [&](Session&) { return own_.session->Compare(checkpoint, patience); });
}

}  // namespace belljar::sessions
