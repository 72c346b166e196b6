#include "server/tools/run_command.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/answer.h"
#include "engine/host/digest.h"
#include "engine/host/program_text.h"
#include "engine/host/random.h"
#include "engine/host/suggest.h"
#include "server/tools/artifact_contents.h"
#include "server/tools/call_limits.h"
#include "server/tools/code_parameters.h"
#include "server/tools/command_answers.h"
#include "server/tools/command_arguments.h"
#include "server/tools/failures.h"
#include "server/tools/output_forwarder.h"
#include "server/tools/output_schemas.h"
#include "server/tools/read_output.h"

namespace belljar::server::tools {
namespace {

using Json = nlohmann::ordered_json;
using commands::CommandState;
using Type = Parameter::Type;

constexpr const char* kCommandName = "run_command";
constexpr const char* kRun = "run";
constexpr const char* kNew = "new";
// A reader or a writer that waits has a place in the queue meanwhile.
constexpr double kMaxCommandWait = 30;
constexpr double kDefaultWriteWait = 10;
constexpr size_t kMaxTyped = size_t{1} << 20;
constexpr double kMaxPiece = 1 << 20;
constexpr double kDefaultPiece = 256 << 10;
// Outputs of the last commands that have ended are kept; those before only with their status.
constexpr size_t kMaxReadable = 32;
constexpr std::chrono::seconds kStartTimeout{20};
constexpr double kMaxAddress = 1LL << 53;  // of a number in JSON

// Each with the arguments that it needs, and those that it may have.
struct CommandAction {
  const char* name;
  std::vector<std::string> needs;
  std::vector<std::string> takes;
};
const std::vector<CommandAction>& CommandActions() {
  static const std::vector<CommandAction> kActions = {
      {kRun,
       {"command"},
       {"session", "directory", "env", "stdin", "timeout", "background", "terminal", "open_stdin",
        "packages"}},
      {"list", {"session"}, {}},
      {"status", {"session", "id"}, {}},
      {"read", {"session", "id"}, {"begin", "stream", "wait", "limit"}},
      {"write", {"session", "id"}, {"stdin", "end", "wait"}},
      {"signal", {"session", "id", "signal"}, {}},
      {"resize", {"session", "id", "terminal"}, {}},
      {"kill", {"session", "id"}, {}},
  };
  return kActions;
}

Parameter TextParameter(const char* name, std::string description, size_t max) {
  Parameter parameter;
  parameter.name = name;
  parameter.description = std::move(description);
  parameter.max_bytes = max;
  return parameter;
}

Parameter FlagParameter(const char* name, std::string description) {
  Parameter parameter;
  parameter.name = name;
  parameter.type = Type::kBoolean;
  parameter.description = std::move(description);
  return parameter;
}

Parameter AmountParameter(const char* name, std::string description, double minimum,
                          double maximum) {
  Parameter parameter;
  parameter.name = name;
  parameter.type = Type::kNumber;
  parameter.description = std::move(description);
  parameter.minimum = minimum;
  parameter.maximum = maximum;
  return parameter;
}

double SecondsOf(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::vector<Parameter> CommandParameters(const EnabledProfile& shell, const CallPackages& packages,
                                         bool is_full) {
  Parameter command = TextParameter(
      "command", "A line for Bash, or a list: a program and arguments.", host::kMaxArgument);
  command.type = Type::kTextOrList;
  command.max_items = host::kMaxArguments;
  Parameter action = TextParameter("action", "Others than run and list need an id.", 20);
  action.default_value = kRun;
  for (const CommandAction& each : CommandActions()) action.choices.push_back(each.name);
  Parameter session = SessionParameter();
  session.required = false;
  session.description = "\"new\" opens one. Omitted: run in a fresh one.";
  Parameter env = TextParameter("env", "", host::kMaxArgument);
  env.type = Type::kTextMap;
  env.max_items = host::kMaxArguments;
  env.description = "More variables.";
  Parameter timeout = AmountParameter("timeout", "Seconds. In the background: none.", 0.1,
                                      SecondsOf(shell.profile.maximum_limits.timeout));
  timeout.default_value = std::llround(SecondsOf(shell.limits.timeout));
  Parameter stream = TextParameter("stream", "To read.", 10);
  stream.default_value = "stdout";
  stream.choices = {"stdout", "stderr"};
  Parameter input = TextParameter("stdin", "Its input, or what write adds.", kMaxTyped);
  input.may_hold_nul = true;
  // Models read as much as an answer has.
  Parameter limit = AmountParameter("limit", "Bytes to read at most.", 1, kMaxPiece);
  limit.default_value = kDefaultPiece;
  Parameter open = FlagParameter(
      "open_stdin", "Its input stays open for what is written later. Default: in the background.");
  limit.is_unlisted = open.is_unlisted = !is_full;
  Parameter installed = TextParameter("packages", "", container::packages::kMaxLockedRequirement);
  installed.type = Type::kTextList;
  installed.max_items = container::packages::kMaxRequirements;
  installed.description =
      "Python's or npm:NAME, installed first. Allowed: " + core::Joined(packages.allowed()) + ".";
  installed.is_unlisted = !packages.enabled();
  return {std::move(command),
          std::move(session),
          TextParameter("directory", "Below /workspace, or absolute.", 4096),
          std::move(env),
          std::move(input),
          std::move(timeout),
          FlagParameter("background", "Answer at once with its id."),
          TextParameter("terminal", "Run it in one of this size: 80x24.", 20),
          std::move(action),
          AmountParameter("id", "Of a command.", 1, kMaxAddress),
          AmountParameter("begin", "read: from this byte on.", 0, kMaxAddress),
          std::move(stream),
          AmountParameter("wait", "read: seconds to wait for output.", 0, kMaxCommandWait),
          FlagParameter("end", "write: then close its input."),
          TextParameter("signal", "INT, TERM, …", 20),
          std::move(limit),
          std::move(open),
          std::move(installed)};
}

ToolDescription DescribeCommand(const EnabledProfile& shell, const ParameterTable& parameters) {
  ToolDescription description;
  description.name = kCommandName;
  description.title = "Run a command";
  description.description =
      "Runs a command in a sealed Linux: this machine's programs, private files in /workspace, no "
      "network but loopback. A session (open_session, language " +
      shell.profile.name + ") keeps files and background commands.";
  description.input_schema = parameters.Schema();
  description.output_schema = CommandSchema();
  return description;
}

const EnabledProfile* ShellOf(const Sandboxes& sandboxes) {
  for (const EnabledProfile* const each : sandboxes.enabled_languages()) {
    if (RunsCommands(each->profile)) return each;
  }
  return nullptr;
}

// Unchecked: for what has to be known before the call runs.
std::string ActionIn(const nlohmann::json& arguments) {
  const auto action = arguments.is_object() ? arguments.find("action") : arguments.end();
  const bool is_given = arguments.is_object() && action != arguments.end() && action->is_string();
  return is_given ? action->get<std::string>() : kRun;
}

void CheckCommandAction(const nlohmann::json& given, const std::string& action,
                        std::vector<std::string>& problems) {
  std::vector<std::string> names;
  for (const CommandAction& each : CommandActions()) {
    names.emplace_back(each.name);
    if (action != each.name) continue;
    const auto has = [&](const std::string& name) {
      return given.contains(name) && !given[name].is_null();
    };
    for (const std::string& needed : each.needs) {
      if (!has(needed))
        problems.push_back(std::string("action ").append(action).append(" needs ").append(needed));
    }
    for (const auto& [name, value] : given.items()) {
      const bool is_known = name == "action" || core::Contains(each.needs, name) ||
                            core::Contains(each.takes, name) || value.is_null();
      if (is_known) continue;
      problems.push_back(std::string(name).append(" does not belong to action ").append(action));
      problems.back() += "; omit it";
    }
    return;
  }
  problems.push_back("action is " + core::Quoted(action) + "; it is one of " + core::Joined(names) +
                     host::Suggestion(action, names));
}

ToolResult ObjectResult(const Json& object, std::string text = {}) {
  ToolResult result;
  result.structured = core::SafeJson(object.dump(-1, ' ', false, Json::error_handler_t::replace));
  result.text = std::move(text);
  return result;
}

std::string NameOf(const commands::Command& command) {
  return "command " + std::to_string(command.number());
}

std::shared_ptr<commands::Command> CommandOf(const sessions::Session& session, double id) {
  for (const auto& each : session.Commands()) {
    if (static_cast<double>(each->number()) == id) return each;
  }
  return nullptr;
}

// So that the outputs which nobody reads are bounded.
void DropOldOutputs(const sessions::Session& session) {
  size_t readable = 0;
  auto commands = session.Commands();
  for (auto each = commands.rbegin(); each != commands.rend(); ++each) {
    const commands::CommandStatus status = (*each)->status();
    const bool is_over = status.state != CommandState::kRunning && !status.has_processes;
    if (is_over && ++readable > kMaxReadable) (*each)->DropOutput();
  }
}

core::Result<int> CancelFd(const ToolCall& call) {
  return call.cancellation ? call.cancellation->fd() : core::Result<int>(-1);
}

waiting::Wait WaitOf(double seconds, int cancel_fd) {
  return {.deadline = core::Clock::now() + std::chrono::milliseconds(std::llround(seconds * 1000)),
          .cancel_fd = cancel_fd};
}

}  // namespace

struct RunCommand::Terms {
  const EnabledProfile* profile = nullptr;
  core::Limits limits;
  std::string session;  // empty: of the call alone
  std::string execution_id;
};

struct RunCommand::Plan {
  Terms terms;
  commands::CommandRequest request;
  host::Request record;
  std::optional<SessionUse> session;
  std::shared_ptr<OpenedSession> own;  // of this call alone
  std::optional<Requirements> packages;
  std::vector<std::string> installed;  // all that the session has then
  bool opens_session = false;
  bool in_background = false;

  OpenedSession& live() const { return session ? **session : *own; }
};

struct RunCommand::Found {
  const ToolCall& call;
  const Arguments& arguments;
  const SessionUse& session;
  commands::Command& command;

  Json Answered(bool is_full) const {
    return {{"success", true},
            {"session", session->id()},
            {"command", StatusJson(command, command.status(), is_full)}};
  }
  std::string Note(const std::string& text = "") const {
    return CommandNote(NameOf(command) + " " + StatusText(command.status()) + text);
  }
};

bool RunCommand::IsOffered(const Sandboxes& sandboxes) { return ShellOf(sandboxes) != nullptr; }

RunCommand::RunCommand(Sandboxes& sandboxes, SessionRegistry& registry,
                       const AnswersConfig& answers, ResourceStore& resources,
                       CallObserver* observer)
    : sandboxes_(sandboxes),
      registry_(registry),
      answers_(answers),
      is_full_(answers.detail == "full"),
      resources_(resources),
      observer_(observer),
      shell_(*ShellOf(sandboxes)),
      parameters_(CommandParameters(shell_, sandboxes.packages(), is_full_)),
      description_(DescribeCommand(shell_, parameters_)) {}

bool RunCommand::UsesWorker(const ToolCall& call) const {
  const std::string action = ActionIn(call.arguments);
  if (action == "read") return call.arguments.contains("wait");
  return action == kRun || action == "write";
}

bool RunCommand::RunsCode(const ToolCall& call) const { return ActionIn(call.arguments) == kRun; }

core::Result<ToolResult> RunCommand::Call(const ToolCall& call) {
  std::vector<std::string> problems;
  const Arguments arguments = parameters_.Check(call.arguments, problems);
  const std::string action = ActionIn(call.arguments);
  if (problems.empty()) {
    CheckCommandAction(call.arguments.is_null() ? nlohmann::json::object() : call.arguments, action,
                       problems);
  }
  if (!problems.empty()) return RefusedArguments(kCommandName, problems);
  return action == kRun ? Run(call, arguments) : Control(action, call, arguments);
}

// --- running ------------------------------------------------------------------------------------

void RunCommand::Prepare(const ToolCall& call, const Arguments& arguments, Plan& plan,
                         std::vector<std::string>& problems) const {
  plan.in_background = arguments.Boolean("background").value_or(false);
  const std::string* const named = arguments.Text("session");
  plan.opens_session = named && *named == kNew;
  if (named && !plan.opens_session) {
    core::Result<SessionUse> found = SessionUse::Find(registry_, *named, call);
    if (!found) return problems.push_back(found.error().ToString());
    plan.session.emplace(std::move(*found));
    plan.terms.profile = &plan.live().profile();
    if (!RunsCommands(plan.terms.profile->profile)) {
      return problems.push_back("session " + core::Quoted(*named) +
                                " runs cells, not commands; open one with language \"" +
                                shell_.profile.name + "\"");
    }
  } else {
    const core::Result<const EnabledProfile*> chosen =
        sandboxes_.ChooseLanguage(shell_.profile.name, false, call.caller);
    if (!chosen) return problems.push_back(chosen.error().ToString());
    plan.terms.profile = *chosen;
  }
  if (plan.in_background && !named) {
    problems.emplace_back("background needs a session, which it runs in: send its id, or \"new\"");
  }
  plan.request = TakeCommand(arguments, *plan.terms.profile, problems);
  if (const auto packages = arguments.Texts("packages"))
    plan.packages = sandboxes_.packages().Take(*packages, true, problems);
  plan.record = RecordOf(plan.request, plan.terms.profile->limits);
  plan.terms.limits = plan.record.limits;
  plan.terms.execution_id = call.execution ? call.execution->id() : core::Hex(host::RandomBytes());
}

core::Result<void> RunCommand::OpenSession(Plan& plan, const ToolCall& call) const {
  SessionTerms terms;
  terms.profile = plan.terms.profile;
  terms.limits = plan.terms.profile->limits;
  if (!plan.opens_session) {
    core::Result<std::shared_ptr<OpenedSession>> own =
        OpenAlone(sandboxes_, registry_, terms, call);
    if (!own) return own.error();
    plan.own = std::move(*own);
    return {};
  }
  core::Result<SessionUse> opened = SessionUse::Open(sandboxes_, registry_, observer_, terms, call);
  if (!opened) return opened.error();
  plan.session.emplace(std::move(*opened));
  return {};
}

core::Result<void> RunCommand::Install(Plan& plan, const ToolCall& call) const {
  const core::Result<int> cancel_fd = CancelFd(call);
  if (!cancel_fd) return cancel_fd.error();
  OpenedSession& live = plan.live();
  const core::Result<std::vector<container::packages::LockedPackage>> installed =
      sandboxes_.packages().Install(live.packages(), live.session(), *plan.packages, *cancel_fd);
  if (!installed) return installed.error();
  plan.installed = container::packages::Names(*installed);
  RecordSession(observer_, "packages_installed", call.caller, live, core::Joined(plan.installed));
  return {};
}

RunCommand::Answer RunCommand::Run(const ToolCall& call, const Arguments& arguments) const {
  Plan plan;
  std::vector<std::string> problems;
  Prepare(call, arguments, plan, problems);
  if (!problems.empty()) return RefusedArguments(kCommandName, problems);
  if (!plan.session) {
    if (const core::Result<void> opened = OpenSession(plan, call); !opened) {
      SessionTerms terms;
      terms.profile = plan.terms.profile;
      return NotOpened(kCommandName, terms, opened.error());
    }
  }
  if (plan.session) plan.terms.session = plan.live().id();
  const core::Result<void> installed = plan.packages ? Install(plan, call) : core::Result<void>();
  Answer answer =
      installed ? RunInSession(plan, call) : PackagesFailed(kCommandName, installed.error());
  if (answer && plan.opens_session) answer->session = plan.live().id();
  const bool is_lost = !installed || (call.cancellation && call.cancellation->cancelled());
  // Nobody knows its id yet.
  if (plan.opens_session && is_lost)
    (void)registry_.Close(call.caller.name, plan.live().id(), kCancelledOpening);
  if (plan.own) {
    const auto close = [own = plan.own] { own->Close("its command has ended"); };
    call.deferred ? call.deferred->Add(close) : close();
  }
  return answer;
}

RunCommand::Answer RunCommand::RunInSession(Plan& plan, const ToolCall& call) const {
  if (plan.in_background) return LeaveInBackground(plan, call);
  const core::Result<int> cancel_fd = CancelFd(call);
  if (!cancel_fd) return cancel_fd.error();
  const core::Result<std::shared_ptr<commands::Command>> started =
      plan.live().session().StartCommand(
          plan.request, {.deadline = core::Clock::now() + kStartTimeout, .cancel_fd = *cancel_fd});
  plan.request.input.reset();
  if (!started) return NotStarted(plan, started.error(), call);
  return Await(plan, call, **started);
}

RunCommand::Answer RunCommand::NotStarted(const Plan& plan, const core::Error& error,
                                          const ToolCall& call) const {
  if (error.error_number == EBUSY) return RefusedCall(kCommandName, error.detail);
  if (error.error_number == ETIMEDOUT)
    return SandboxFailed(kCommandName, plan.terms.profile->profile.name, error);
  return SessionFailed(kCommandName, error, plan.live(), registry_, call, {}, observer_);
}

// Isolation, limits and session.
void RunCommand::Complete(host::Outcome& outcome, const Terms& terms, const Sandboxes& sandboxes,
                          const commands::Command& command) {
  outcome.execution_id = terms.execution_id;
  outcome.language = terms.profile->profile.name;
  outcome.limits = terms.limits;
  outcome.isolation.mode = outside::ModeName(sandboxes.isolation());
  outcome.isolation.policy = outside::PolicyName(sandboxes.PolicyOf(*terms.profile));
  if (terms.session.empty()) return;
  host::SessionReport& session = outcome.session.emplace();
  session.id = terms.session;
  session.cell = command.number();
  if (command.status().has_processes) {
    session.note = "what it has left in the background runs on; action kill with id " +
                   std::to_string(command.number()) + " ends it";
  }
}

RunCommand::Answer RunCommand::Await(Plan& plan, const ToolCall& call,
                                     commands::Command& command) const {
  const bool is_watched = call.execution && call.execution->WantsOutput();
  const std::function<void(std::string_view)> on_output = [&](std::string_view text) {
    if (call.on_output) call.on_output(text);
    if (is_watched) call.execution->Print(text);
  };
  OutputForwarder forwarder(on_output);
  // A flood is not for those who cannot make it wait.
  uint64_t forwarded = 0;
  const TakesPiece on_piece = [&](commands::Stream stream, std::string_view bytes) {
    const bool is_errors = stream == commands::Stream::kErrors;
    if (forwarded < kMaxAnsweredOutput.count && (call.on_output || is_watched)) {
      forwarded += bytes.size();
      (is_errors ? forwarder.sink().on_stderr : forwarder.sink().on_stdout)(bytes);
    }
    return !call.command_sink || call.command_sink->on_piece(is_errors, bytes);
  };
  if (call.command_sink) call.command_sink->on_start(command.number());
  const core::Result<int> cancel_fd = CancelFd(call);
  core::Result<CommandOutput> output =
      cancel_fd ? Follow(command, kMaxAnsweredOutput, on_piece, *cancel_fd) : cancel_fd.error();
  if (!output) {
    command.Kill();
    Record(observer_, kCommandName, call, *plan.terms.profile, std::move(plan.record),
           output.error());
    return SandboxFailed(kCommandName, plan.terms.profile->profile.name, output.error());
  }
  const auto outcome =
      std::make_shared<host::Outcome>(OutcomeOf(command.status(), std::move(*output)));
  Complete(*outcome, plan.terms, sandboxes_, command);
  ToolResult result = ResultOf(*outcome, command, plan, call);
  Record(observer_, kCommandName, call, *plan.terms.profile, std::move(plan.record),
         std::shared_ptr<const host::Outcome>(outcome));
  return result;
}

ToolResult RunCommand::ResultOf(const host::Outcome& outcome, const commands::Command& command,
                                const Plan& plan, const ToolCall& call) const {
  const commands::CommandStatus status = command.status();
  ToolResult result;
  result.is_error = !outcome.success();
  Json object;
  if (is_full_) {
    object = Json::parse(host::OutcomeToJson(outcome));
  } else {
    host::AnswerOptions options{answers_.characters};
    options.is_new_session = plan.opens_session;
    options.reader = kReadName;
    options.output_limit = "its end is kept";
    options.uris = KeepLongParts(outcome, options.characters, call.caller.name, resources_);
    object = Json::parse(host::AnswerJson(outcome, options));
    if (call.form == ToolCall::Form::kAnswer) result.text = host::AnswerText(outcome, options);
  }
  // Which of the layers hold is known of cells only.
  if (!is_full_) object["isolation"].erase("layers");
  object["command"] = StatusJson(command, status, is_full_);
  if (!plan.installed.empty()) object["packages"] = plan.installed;
  result.structured = core::SafeJson(object.dump());
  return result;
}

// It is recorded when it has ended, which may be long after the call.
RunCommand::Answer RunCommand::LeaveInBackground(Plan& plan, const ToolCall& call) const {
  struct Entry {
    host::Request record;
    Terms terms;
    std::string caller;
    std::string execution;
    std::atomic<bool> is_settled = false;  // it is recorded, or never ran
  };
  const auto entry = std::make_shared<Entry>();
  entry->record = std::move(plan.record);
  entry->terms = plan.terms;
  entry->caller = call.caller.name;
  if (call.execution) entry->execution = call.execution->id();
  const std::string& session = entry->terms.session;
  // Sessions are closed after the tools, and before what observes them.
  plan.request.on_end = [entry, &sandboxes = sandboxes_,
                         observer = observer_](commands::Command& command) {
    if (entry->is_settled.exchange(true) || !observer) return;
    host::Outcome outcome = OutcomeOf(command.status(), KeptOf(command));
    Complete(outcome, entry->terms, sandboxes, command);
    CallRecord record;
    record.tool = kCommandName;
    record.caller = entry->caller;
    record.profile = entry->terms.profile->profile.name;
    record.code = entry->record.source;
    record.request = &entry->record;
    record.outcome = &outcome;
    record.execution = entry->execution;
    observer->Called(record);
  };
  sessions::Session& live = plan.live().session();
  DropOldOutputs(live);
  const core::Result<int> cancel_fd = CancelFd(call);
  if (!cancel_fd) return cancel_fd.error();
  const core::Result<std::shared_ptr<commands::Command>> started = live.StartCommand(
      plan.request, {.deadline = core::Clock::now() + kStartTimeout, .cancel_fd = *cancel_fd});
  const bool is_refused = !started && !entry->is_settled.exchange(true);
  if (call.execution && !is_refused) call.execution->SetRecorded();
  if (!started) return NotStarted(plan, started.error(), call);
  const commands::Command& command = **started;
  const commands::CommandStatus status = command.status();
  const bool has_started = status.state != CommandState::kNotStarted;
  if (has_started) {
    RecordSession(observer_, "command_started", call.caller, plan.live(),
                  std::to_string(command.number()) + " " + plan.terms.execution_id);
  }
  std::string text = CommandNote(NameOf(command) + " " + StatusText(status) +
                                 (has_started ? "; action read has its output" : ""));
  if (plan.opens_session) text += "\n\n" + CommandNote("session " + session);
  Json object = {{"success", has_started},
                 {"session", session},
                 {"execution_id", plan.terms.execution_id},
                 {"command", StatusJson(command, status, is_full_)}};
  if (!plan.installed.empty()) object["packages"] = plan.installed;
  ToolResult result = ObjectResult(object, std::move(text));
  result.is_error = !has_started;
  return result;
}

// --- what runs in the background ----------------------------------------------------------------

RunCommand::Answer RunCommand::Control(const std::string& action, const ToolCall& call,
                                       const Arguments& arguments) const {
  const core::Result<SessionUse> session =
      SessionUse::Find(registry_, *arguments.Text("session"), call);
  if (!session)
    return RefusedCall(kCommandName, session.error().ToString(), ToolResult::Fault::kNotFound);
  if (!RunsCommands((*session)->profile().profile)) {
    return RefusedCall(kCommandName, "session " + core::Quoted((*session)->id()) +
                                         " runs cells, not commands; open one with language \"" +
                                         shell_.profile.name + "\"");
  }
  if (action == "list") return List(*session);
  const double id = *arguments.Number("id");
  const std::shared_ptr<commands::Command> command = CommandOf((*session)->session(), id);
  if (!command) {
    return RefusedCall(kCommandName,
                       "the session has no command " + Json(id).dump() +
                           "; action list shows its commands, of which the last are remembered",
                       ToolResult::Fault::kNotFound);
  }
  const Found found{call, arguments, *session, *command};
  if (action == "read") return Read(found);
  if (action == "write") return Write(found);
  if (action == "signal") return Signal(found);
  if (action == "resize") return Resize(found);
  if (action == "kill") return Kill(found);
  return ObjectResult(found.Answered(true), found.Note());
}

RunCommand::Answer RunCommand::List(const SessionUse& session) const {
  Json list = Json::array();
  std::string text;
  for (const auto& each : session->session().Commands()) {
    const commands::CommandStatus status = each->status();
    Json json = StatusJson(*each, status, true);
    text += (text.empty() ? "" : "\n") + CommandNote(NameOf(*each) + " " + StatusText(status)) +
            " " + host::Disarmed(core::Printable(json["line"].get<std::string>()));
    list.push_back(std::move(json));
  }
  if (text.empty()) text = CommandNote("the session has run no commands");
  return ObjectResult(
      {{"success", true}, {"session", session->id()}, {"commands", std::move(list)}},
      std::move(text));
}

RunCommand::Answer RunCommand::Read(const Found& found) const {
  const std::string* const named = found.arguments.Text("stream");
  const std::string stream = named ? *named : "stdout";
  if (stream != "stdout" && stream != "stderr") {
    return RefusedArguments(
        kCommandName, {"stream is " + core::Quoted(stream) + "; it is \"stdout\" or \"stderr\""});
  }
  const core::Result<int> cancel_fd = CancelFd(found.call);
  if (!cancel_fd) return cancel_fd.error();
  const auto begin = static_cast<uint64_t>(found.arguments.Number("begin").value_or(0));
  const auto limit = static_cast<size_t>(found.arguments.Number("limit").value_or(kDefaultPiece));
  const core::Result<commands::Piece> read = found.command.Read(
      stream == "stdout" ? commands::Stream::kOutput : commands::Stream::kErrors, begin, limit,
      WaitOf(found.arguments.Number("wait").value_or(0), *cancel_fd));
  const int error = read ? 0 : read.error().error_number;
  if (error == ECANCELED) return RefusedCall(kCommandName, "the call was cancelled");
  if (!read && error != ETIMEDOUT) return read.error();
  const commands::Piece piece =
      read ? *read : commands::Piece{.bytes = {}, .begin = begin, .end = begin};
  std::string_view bytes = WholeCharacters(piece.bytes, piece.is_end);
  // Both forms of an answer have it, so that it is at most as long as what both have of a run.
  if (!is_full_ && !bytes.empty()) bytes = host::BeginningOf(bytes, answers_.characters * 2 / 5);
  const bool is_last = piece.is_end && bytes.size() == piece.bytes.size();
  Json object = found.Answered(is_full_);
  object["stream"] = stream;
  object["begin"] = piece.begin;
  object["end"] = piece.begin + bytes.size();
  object["last"] = is_last;
  AddBytes(bytes, object);
  const std::string rest = "; begin=" + std::to_string(piece.begin + bytes.size()) +
                           (is_last ? " is the end of " : " reads on in ") + stream;
  std::string text = host::Disarmed(bytes);
  if (!text.empty() && !text.ends_with('\n')) text += "\n";
  if (piece.begin > begin) {
    text = CommandNote(std::to_string(piece.begin - begin) + " bytes before this were dropped") +
           "\n" + text;
  }
  return ObjectResult(object, text + found.Note(rest));
}

RunCommand::Answer RunCommand::Write(const Found& found) const {
  const std::string* const input = found.arguments.Text("stdin");
  const bool ends = found.arguments.Boolean("end").value_or(false);
  if (!input && !ends) return RefusedArguments(kCommandName, {"action write needs stdin, or end"});
  const core::Result<int> cancel_fd = CancelFd(found.call);
  if (!cancel_fd) return cancel_fd.error();
  if (input) {
    RecordSession(observer_, "command_input", found.call.caller, *found.session,
                  std::to_string(found.command.number()) + " " + host::Sha256(*input));
    const core::Result<void> written = found.command.Write(
        *input, WaitOf(found.arguments.Number("wait").value_or(kDefaultWriteWait), *cancel_fd));
    const int error = written ? 0 : written.error().error_number;
    if (error == EPIPE) {
      return RefusedCall(kCommandName, "the standard input of " + NameOf(found.command) +
                                           " is closed; the command " +
                                           StatusText(found.command.status()));
    }
    if (error == ETIMEDOUT || error == ECANCELED) {
      return RefusedCall(kCommandName,
                         NameOf(found.command) +
                             " does not read its input, and got nothing of this: send it again",
                         ToolResult::Fault::kUnavailable);
    }
    if (!written) return written.error();
  }
  if (ends) {
    if (const core::Result<void> closed = found.command.CloseInput(); !closed)
      return closed.error();
  }
  return ObjectResult(found.Answered(is_full_), found.Note());
}

RunCommand::Answer RunCommand::Signal(const Found& found) const {
  const core::Result<int> number = ReadSignal(*found.arguments.Text("signal"));
  if (!number) return RefusedArguments(kCommandName, {number.error().ToString()});
  const core::Result<bool> sent = found.command.Signal(*number);
  if (!sent) return sent.error();
  Json object = found.Answered(is_full_);
  object["sent"] = *sent;
  return ObjectResult(object, found.Note(*sent ? "; it got the signal" : ""));
}

RunCommand::Answer RunCommand::Resize(const Found& found) const {
  const core::Result<commands::TerminalSize> size =
      ReadTerminalSize(*found.arguments.Text("terminal"));
  if (!size) return RefusedArguments(kCommandName, {size.error().ToString()});
  if (!found.command.request().terminal)
    return RefusedCall(kCommandName, NameOf(found.command) + " has no terminal");
  if (const core::Result<void> resized = found.command.Resize(*size); !resized)
    return resized.error();
  return ObjectResult(found.Answered(is_full_), found.Note());
}

RunCommand::Answer RunCommand::Kill(const Found& found) const {
  found.command.Kill();
  RecordSession(observer_, "command_killed", found.call.caller, *found.session,
                std::to_string(found.command.number()));
  return ObjectResult(found.Answered(is_full_),
                      CommandNote(NameOf(found.command) + " is being ended"));
}

}  // namespace belljar::server::tools
