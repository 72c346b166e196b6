#include "server/tools/session_calls.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include "engine/core/text.h"
#include "engine/profiles/languages.h"
#include "server/tools/code_parameters.h"
#include "server/tools/failures.h"

namespace belljar::server::tools {
namespace {

constexpr double kMaxWait = 300;  // seconds
constexpr int kDefaultWait = 60;
// A cell's checkpoint is created after its answer; callers do not count that as busy.
constexpr std::chrono::milliseconds kOwnWork{250};
constexpr size_t kMaxSessionText = 100;  // bytes; an id has 32

core::Result<std::shared_ptr<sessions::Session>> OpenIn(outside::Sandbox& sandbox,
                                                        const core::Limits& limits,
                                                        const SessionRegistry& registry,
                                                        const ToolCall& call) {
  sessions::SessionOptions options;
  options.limits = limits;
  options.checkpoints = registry.config().checkpoints;
  options.total_memory = registry.config().memory.value_or(core::Bytes{0});
  run::RunOptions run;
  if (call.cancellation) {
    const core::Result<int> cancel_fd = call.cancellation->fd();
    if (!cancel_fd) return cancel_fd.error();
    run.cancel_fd = *cancel_fd;
  }
  return sandbox.OpenSession(options, run);
}

}  // namespace

Parameter SessionParameter() {
  return {.name = "session",
          .type = Parameter::Type::kText,
          .description = "Its id.",
          .required = true,
          .default_value = {},
          .max_bytes = kMaxSessionText,
          .choices = {}};
}

Parameter WaitParameter() {
  return {.name = "wait",
          .type = Parameter::Type::kNumber,
          .description = "As in execute_code.",
          .default_value = kDefaultWait,
          .minimum = 0,
          .maximum = kMaxWait,
          .choices = {}};
}

sessions::Patience TakePatience(const Arguments& arguments) {
  const double seconds = arguments.Number("wait").value_or(kDefaultWait);
  const std::chrono::milliseconds wanted(std::llround(seconds * 1000));
  sessions::Patience patience;
  patience.at_most = std::max(wanted, kOwnWork);
  return patience;
}

core::Result<sessions::Patience> TakePatience(const Arguments& arguments, const ToolCall& call) {
  sessions::Patience patience = TakePatience(arguments);
  if (call.cancellation) {
    const core::Result<int> cancel_fd = call.cancellation->fd();
    if (!cancel_fd) return cancel_fd.error();
    patience.cancel_fd = *cancel_fd;
  }
  return patience;
}

SessionUse::SessionUse(SessionRegistry::Use use, const ToolCall* call)
    : use_(std::make_shared<const SessionRegistry::Use>(std::move(use))) {
  // Deferred steps end before any of them is destroyed.
  if (call && call->deferred) call->deferred->Add([kept = use_] { (void)kept; });
}

core::Result<std::shared_ptr<OpenedSession>> OpenAlone(Sandboxes& sandboxes,
                                                       const SessionRegistry& registry,
                                                       const SessionTerms& terms,
                                                       const ToolCall& call) {
  core::Result<std::shared_ptr<outside::Sandbox>> sandbox =
      terms.in_container ? sandboxes.containers().Get(terms.profile->profile)
                         : sandboxes.Get(*terms.profile);
  if (!sandbox) return sandbox.error();
  if (call.on_status && !terms.in_container) ReportStart(**sandbox, *terms.profile, call);
  core::Result<std::shared_ptr<sessions::Session>> session =
      OpenIn(**sandbox, terms.limits, registry, call);
  if (!session) return session.error();
  return std::make_shared<OpenedSession>(terms, std::move(*sandbox), std::move(*session));
}

core::Result<SessionUse> SessionUse::Open(Sandboxes& sandboxes, SessionRegistry& registry,
                                          CallObserver* observer, const SessionTerms& terms,
                                          const ToolCall& call) {
  core::Result<SessionRegistry::Places> places = registry.Reserve(call.caller.name);
  if (!places) return places.error();
  core::Result<std::shared_ptr<OpenedSession>> opened = OpenAlone(sandboxes, registry, terms, call);
  if (!opened) return opened.error();
  SessionUse use(registry.Add(*places, std::move(*opened)), &call);
  RecordSession(observer, "opened", call.caller, *use);
  return use;
}

core::Result<SessionUse> SessionUse::Find(SessionRegistry& registry, const std::string& id,
                                          const ToolCall& call) {
  core::Result<SessionRegistry::Use> use = registry.Find(call.caller.name, id);
  if (!use) return use.error();
  return SessionUse(std::move(*use), &call);
}

core::Result<void> SessionUse::AddKernel(Sandboxes& sandboxes, const SessionRegistry& registry,
                                         const EnabledProfile& profile,
                                         const ToolCall& call) const {
  sessions::Session& session = (**this).session();
  if (core::Contains(session.languages(), profiles::LanguageOf(profile.profile))) return {};
  core::Result<std::shared_ptr<outside::Sandbox>> sandbox = sandboxes.Get(profile);
  if (!sandbox) return sandbox.error();
  core::Result<std::shared_ptr<sessions::Session>> opened =
      OpenIn(**sandbox, profile.limits, registry, call);
  if (!opened) return opened.error();
  sessions::Kernel kernel = (*sandbox)->AsKernel(std::move(*opened));
  // The server may replace its own sandbox; this one is kept here.
  kernel.run = [kept = std::move(*sandbox), run = std::move(kernel.run)](
                   sessions::Session& of, const host::Request& request,
                   const run::RunOptions& options,
                   sessions::Patience patience) { return run(of, request, options, patience); };
  return session.AddKernel(kernel);
}

std::vector<SessionUse> SessionUse::Adopt(
    SessionRegistry& registry, SessionRegistry::Places& places, const SessionUse& parent,
    std::vector<std::shared_ptr<sessions::Session>> branches) {
  std::vector<SessionUse> uses;
  for (std::shared_ptr<sessions::Session>& branch : branches) {
    auto opened = std::make_shared<OpenedSession>(parent->terms(), parent->sandbox(),
                                                  std::move(branch), &*parent);
    uses.push_back(SessionUse(registry.Add(places, std::move(opened)), nullptr));
  }
  return uses;
}

core::Result<const EnabledProfile*> ChooseKernel(Sandboxes& sandboxes, const std::string& language,
                                                 const SessionTerms& terms, const Caller& caller) {
  const bool has_network = terms.profile->profile.egress.has_value();
  core::Result<const EnabledProfile*> named =
      sandboxes.ChooseLanguage(language, has_network, caller);
  if (!named) return named;
  if (*named ? *named == terms.profile : !terms.profile->profile.program) return terms.profile;
  if (terms.in_container) {
    return core::MakeError("use another language in a session",
                           "language is fixed when a session is opened in a container; omit it");
  }
  if (*named) return named;
  return sandboxes.ChooseFor({.hosts = has_network, .continues = true}, caller);
}

void RecordSession(CallObserver* observer, std::string_view action, const Caller& caller,
                   const OpenedSession& session, std::string_view detail) {
  if (!observer) return;
  observer->SessionChanged(
      {action, caller.name, session.id(), session.profile().profile.name, detail});
}

bool IsCallersFault(const core::Error& error, const OpenedSession& session) {
  const int number = error.error_number;
  return number == 0 || number == EBUSY || number == ETIMEDOUT || number == ENOENT ||
         number == ECANCELED || !session.ended().empty();
}

ToolResult SessionFailed(std::string_view tool, const core::Error& error,
                         const OpenedSession& session, SessionRegistry& registry,
                         const Caller& caller, const sessions::Patience& patience) {
  const std::string name = "session " + core::Quoted(session.id());
  const bool has_waited = patience.at_most > kOwnWork;
  if (error.error_number == ECANCELED) return RefusedCall(tool, "the call was cancelled");
  if (error.error_number == EBUSY || (error.error_number == ETIMEDOUT && !has_waited)) {
    return RefusedCall(tool, name +
                                 " is busy with another call; send a \"wait\" of more than 0, "
                                 "or call again later");
  }
  if (error.error_number == ETIMEDOUT) {
    return RefusedCall(
        tool, name + " was busy with other calls for the " + DurationInWords(patience.at_most) +
                  " that this one could wait; call again later, or end the running call "
                  "with close_session and interrupt");
  }
  if (const std::string why = session.ended(); !why.empty()) {
    // The registry knows since when.
    const core::Result<SessionRegistry::Use> found = registry.Find(caller.name, session.id());
    return RefusedCall(tool, found ? name + " was closed: " + why : found.error().ToString());
  }
  if (!IsCallersFault(error, session)) {
    return SandboxFailed(tool, session.profile().profile.name, error);
  }
  return RefusedCall(tool, error.detail.empty() ? error.ToString() : error.detail);
}

ToolResult SessionFailed(std::string_view tool, const core::Error& error,
                         const OpenedSession& session, SessionRegistry& registry,
                         const ToolCall& call, const sessions::Patience& patience,
                         CallObserver* observer) {
  if (observer && !IsCallersFault(error, session)) {
    CallRecord record;
    record.tool = tool;
    record.caller = call.caller.name;
    record.profile = session.profile().profile.name;
    record.failure = error.ToString();
    observer->Called(record);
  }
  return SessionFailed(tool, error, session, registry, call.caller, patience);
}

ToolResult NotOpened(std::string_view tool, const SessionTerms& terms, const core::Error& error) {
  if (error.error_number != 0 && terms.in_container) return ContainerFailed(tool, error);
  if (error.error_number != 0) return SandboxFailed(tool, terms.profile->profile.name, error);
  return RefusedCall(
      tool, "no session was opened: " + (error.detail.empty() ? error.ToString() : error.detail));
}

ToolResult RefusedCall(std::string_view tool, std::string sentence, ToolResult::Fault fault) {
  ToolResult result;
  result.is_error = true;
  result.fault = fault;
  result.text = std::string(tool) + ": " + std::move(sentence);
  if (!result.text.ends_with('?') && !result.text.ends_with('.')) result.text += ".";
  return result;
}

}  // namespace belljar::server::tools
