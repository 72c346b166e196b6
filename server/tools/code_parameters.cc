#include "server/tools/code_parameters.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "engine/core/text.h"
#include "engine/outside/start_plan.h"
#include "engine/profiles/languages.h"
#include "engine/run/input.h"
#include "server/tools/tiers.h"

namespace belljar::server::tools {
namespace {

constexpr const char* kDetail = "detail";
constexpr const char* kLanguage = "language";
constexpr const char* kLean = "lean";
constexpr const char* kFull = "full";

// The maximum source size over all profiles: the profile of a call is known only later.
uint64_t MaxSource(const Sandboxes& sandboxes) {
  uint64_t longest = 0;
  for (const EnabledProfile& each : sandboxes.enabled()) {
    longest = std::max(longest, each.limits.source.count);
  }
  return longest;
}

std::vector<std::string> Names(const Sandboxes& sandboxes) {
  std::vector<std::string> names;
  for (const EnabledProfile& each : sandboxes.enabled()) names.push_back(each.profile.name);
  for (const std::string& name : sandboxes.combinations()) names.push_back(name);
  return names;
}

core::Result<const EnabledProfile*> Chosen(Sandboxes& sandboxes, const Arguments& arguments,
                                           const Caller& caller, bool opens_session) {
  const std::string* const name = arguments.Text("profile");
  // A combination may have no image for a container.
  const bool in_container = arguments.Boolean("use_container").value_or(false);
  const bool has_choice = sandboxes.enabled().size() > 1;
  if (name || in_container || !has_choice) return sandboxes.Choose(name, caller);
  host::Request program;
  if (const std::string* const code = arguments.Text("code")) program.source = *code;
  program.files = arguments.Files("files").value_or(std::vector<host::InputFile>());
  const std::string text = outside::ProgramText(program);
  const auto domains = arguments.Texts("allowed_domains");
  return sandboxes.ChooseFor(
      {.source = text,
       .modules = arguments.Texts("allowed_imports").value_or(std::vector<std::string>()),
       .files = !program.files.empty(),
       .hosts = domains && !domains->empty(),
       .continues = opens_session},
      caller);
}

// What has to be said for a program to use what `profile` has: by its caller, in addition to its
// previous arguments, or by the operator. Empty if nothing.
std::string HowToName(const Sandboxes& sandboxes, const std::string& profile,
                      const EnabledProfile& used, bool in_session, const ToolCall& call) {
  const std::string joined = ProfileName(used.profile.name + "+" + profile);
  if (joined == used.profile.name) return "";
  const std::vector<std::string>& combinations = sandboxes.combinations();
  const bool can_be_joined = std::ranges::find(combinations, joined) != combinations.end();
  const std::string name = can_be_joined ? joined : profile;
  if (!call.profile_setting.empty()) {
    return "An operator allows it with " + call.profile_setting + " = \"" + name + "\".";
  }
  return std::string(in_session ? "A session keeps its profile: open another with" : "Send") +
         " \"profile\": \"" + name + "\".";
}

// The outcome of a run that was cancelled before it got a worker.
host::Outcome CancelledBeforehand(const Sandboxes& sandboxes, const EnabledProfile& profile,
                                  const host::Request& request) {
  host::Outcome outcome;
  host::SetKilled(outcome, host::KillCause::kCancelled, "cancelled before it was run");
  outcome.limits = request.limits;
  outcome.isolation.mode = outside::ModeName(sandboxes.isolation());
  outcome.isolation.policy = outside::PolicyName(sandboxes.PolicyOf(profile));
  return outcome;
}

// The policy's finding about a module that a list of imports leaves out.
constexpr std::string_view kLeftOut = "BJ205";

// The policy names the profile that would allow what was refused, but does not know which profiles
// this caller may use, nor whose list of imports it was.
std::string Explanation(const Sandboxes& sandboxes, const ToolCall& call,
                        const EnabledProfile& used, bool in_session, const host::Finding& finding) {
  const bool is_callers_list = in_session || call.arguments.contains("allowed_imports");
  if (finding.rule == kLeftOut && used.modules && !is_callers_list) {
    return "The operator's execution.allowed_imports leaves it out.";
  }
  if (finding.profile.empty()) return "";
  std::string why = sandboxes.WhyNot(finding.profile, call.caller);
  if (why.empty()) why = HowToName(sandboxes, finding.profile, used, in_session, call);
  return why.empty() ? "" : finding.hint + (finding.hint.empty() ? "" : " ") + why;
}

// What only the server knows.
void Complete(const Sandboxes& sandboxes, const ToolCall& call, const EnabledProfile& used,
              bool in_session, host::Outcome& outcome) {
  for (host::Finding& finding : outcome.findings) {
    const std::string explained = Explanation(sandboxes, call, used, in_session, finding);
    if (explained.empty()) continue;
    if (outcome.error && outcome.error->hint == finding.hint) outcome.error->hint = explained;
    finding.hint = explained;
  }
  // Here both times are one argument, unless the protocol has another.
  if (outcome.status == host::Status::kCpuLimit && outcome.error && !call.cpu_limit) {
    outcome.error->hint = "make the program do less, or raise timeout";
  }
  if (call.execution && !call.execution->id().empty()) outcome.execution_id = call.execution->id();
}

bool AsksInput(const host::Request& request) {
  return core::Contains(request.functions, host::kAsksInput);
}

// Null: Python.
core::Result<const EnabledProfile*> ChosenLanguage(const Sandboxes& sandboxes,
                                                   const Arguments& arguments, const Caller& caller,
                                                   bool opens_session) {
  const std::string* const name = arguments.Text(kLanguage);
  if (!name) return nullptr;
  const std::string* const profile = arguments.Text("profile");
  const bool names_network = profile && *profile == "network";
  core::Result<const EnabledProfile*> language = sandboxes.ChooseLanguage(
      *name, names_network || arguments.Texts("allowed_domains").has_value(), caller);
  if (!language || !*language) return language;
  const std::string& title = (*language)->profile.program->title;
  const auto only_python = [&](const std::string& what) {
    return core::MakeError(what + " is for Python, not for " + title, "");
  };
  const core::ProgramRule& program = *(*language)->profile.program;
  if (opens_session && program.commands && arguments.Text("code")) {
    return core::MakeError("sessions of " + title + " run commands: send them to run_command", "");
  }
  if (opens_session && !program.has_sessions()) {
    return core::MakeError(
        title + " programs run one at a time; open a session of another language", "");
  }
  if (profile && !names_network) return only_python("profile " + core::Quoted(*profile));
  for (const char* const argument : {"allowed_imports", "packages"}) {
    if (arguments.Texts(argument)) return only_python(argument);
  }
  return language;
}

// Adds the lines to `typed`. A password is not asked for: it would be seen on the way, and MCP
// forbids it.
run::FunctionCall AskingCaller(const ToolCall& call, std::string& typed) {
  return run::AnsweringInput([&](const run::InputQuestion& question) -> run::InputAnswer {
    if (question.is_hidden) return {};
    const std::optional<std::string> line = call.ask_for_line(question.prompt);
    if (call.cancellation && call.cancellation->cancelled()) {
      return {run::InputAnswer::Kind::kNone, ""};
    }
    if (!line) return {};
    typed += *line + "\n";
    return {run::InputAnswer::Kind::kLine, *line + "\n"};
  });
}

core::Result<run::RunOptions> OptionsOf(const run::OutputSink* sink, const ToolCall& call) {
  run::RunOptions options;
  options.sink = sink;
  // Over MCP the answer has the rest and follows at once. Clients that read a notification together
  // with the answer consider it stray: the official TypeScript clients report an error.
  options.sink_gets_the_rest = call.streams_all;
  options.deferred = call.deferred;
  if (call.cancellation) {
    const core::Result<int> cancel_fd = call.cancellation->fd();
    if (!cancel_fd) return cancel_fd.error();
    options.cancel_fd = *cancel_fd;
  }
  return options;
}

}  // namespace

void ReportStart(outside::Sandbox& sandbox, const EnabledProfile& profile, const ToolCall& call) {
  constexpr std::chrono::milliseconds kLook{250};
  constexpr int kPollsPerNotice = 12;  // each notification: 3 s
  if (sandbox.counters().workers_spawned > 0) return;
  const core::Deadline deadline = core::Clock::now() + run::RunOptions().queue_timeout;
  for (int looks = 1; core::Clock::now() < deadline; ++looks) {
    const core::Result<void> ready = sandbox.WaitForSpare(core::Clock::now() + kLook);
    if (ready || ready.error().error_number != ETIMEDOUT) return;
    if (call.cancellation && call.cancellation->cancelled()) return;
    if (looks % kPollsPerNotice == 4) call.on_status("starting profile " + profile.profile.name);
  }
}

Parameter CodeParameter(const Sandboxes& sandboxes, std::string description) {
  const uint64_t longest = MaxSource(sandboxes);
  Parameter parameter;
  parameter.name = "code";
  parameter.type = Parameter::Type::kText;
  parameter.description = std::move(description);
  parameter.required = true;
  parameter.max_bytes = longest;
  return parameter;
}

Parameter ProfileParameter(const Sandboxes& sandboxes) {
  Parameter parameter;
  parameter.name = "profile";
  parameter.type = Parameter::Type::kText;
  parameter.description = "What the code may use.";
  parameter.default_value = sandboxes.default_profile().profile.name;
  parameter.max_bytes = 256;
  parameter.choices = Names(sandboxes);
  return parameter;
}

Parameter LanguageParameter(const Sandboxes& sandboxes) {
  Parameter parameter;
  parameter.name = kLanguage;
  parameter.type = Parameter::Type::kText;
  parameter.description = "Language of the code.";
  parameter.default_value = profiles::kPython;
  parameter.max_bytes = 64;
  parameter.is_unlisted = sandboxes.languages().empty();
  parameter.choices = {profiles::kPython};
  // Aliases are accepted, and not listed.
  parameter.choices.insert(parameter.choices.end(), sandboxes.languages().begin(),
                           sandboxes.languages().end());
  return parameter;
}

Parameter ContainerParameter(const Sandboxes& sandboxes, std::string description) {
  return {.name = "use_container",
          .type = Parameter::Type::kBoolean,
          .description = std::move(description),
          .default_value = false,
          .is_unlisted = !sandboxes.containers().state().enabled,
          .choices = {}};
}

Parameter DetailParameter(const AnswersConfig& config, std::string description) {
  return {.name = kDetail,
          .type = Parameter::Type::kText,
          .description = std::move(description),
          .default_value = config.detail,
          .max_bytes = 16,
          .choices = {kLean, kFull}};
}

bool WantsFull(const AnswersConfig& config, const Arguments& arguments,
               std::vector<std::string>& problems) {
  const std::string* const given = arguments.Text(kDetail);
  const std::string& detail = given ? *given : config.detail;
  if (detail != kLean && detail != kFull) {
    problems.push_back(std::string(kDetail) + " is " + core::Quoted(detail) + "; send \"" + kLean +
                       "\" or \"" + kFull + "\"");
  }
  return detail == kFull;
}

bool TakeContainer(const Arguments& arguments, const Sandboxes& sandboxes,
                   std::vector<std::string>& problems) {
  if (!arguments.Boolean("use_container").value_or(false)) return false;
  if (sandboxes.containers().state().enabled) return true;
  problems.push_back(std::string("use_container: ") + kContainersNotEnabled + "; omit it");
  return false;
}

const EnabledProfile* ChooseProfile(Sandboxes& sandboxes, const Arguments& arguments,
                                    const Caller& caller, bool opens_session,
                                    std::vector<std::string>& problems) {
  core::Result<const EnabledProfile*> chosen =
      ChosenLanguage(sandboxes, arguments, caller, opens_session);
  if (chosen && !*chosen) chosen = Chosen(sandboxes, arguments, caller, opens_session);
  if (!chosen) {
    problems.push_back(chosen.error().ToString());
    return nullptr;
  }
  return CheckCode(**chosen, arguments, problems) ? *chosen : nullptr;
}

bool CheckCode(const EnabledProfile& profile, const Arguments& arguments,
               std::vector<std::string>& problems) {
  const core::Bytes max = profile.limits.source;
  const std::string* code = arguments.Text("code");
  if (!code || code->size() <= max.count) return true;
  problems.push_back("code is " + std::to_string(code->size()) +
                     " bytes long; the maximum of profile " + profile.profile.name + " is " +
                     max.ToString());
  return false;
}

core::Result<host::Outcome> Run(Sandboxes& sandboxes, const EnabledProfile& profile,
                                host::Request& request, const run::OutputSink* sink,
                                const ToolCall& call, const core::Profile* in_container) {
  const Cancellation* const cancellation = call.cancellation.get();
  if (cancellation && cancellation->cancelled())
    return CancelledBeforehand(sandboxes, profile, request);
  core::Result<std::shared_ptr<outside::Sandbox>> sandbox =
      in_container ? sandboxes.containers().Get(*in_container) : sandboxes.Get(profile);
  if (!sandbox) return sandbox.error();
  if (call.on_status && !in_container && !(*sandbox)->RunsEarly(request)) {
    ReportStart(**sandbox, profile, call);
  }
  core::Result<run::RunOptions> options = OptionsOf(sink, call);
  if (!options) return options.error();
  std::string typed;
  if (AsksInput(request)) options->call = AskingCaller(call, typed);
  core::Result<host::Outcome> outcome = (*sandbox)->Run(request, *options);
  if (!typed.empty()) request.standard_input = std::move(typed);
  if (outcome) Complete(sandboxes, call, profile, false, *outcome);
  return outcome;
}

core::Result<host::Outcome> RunCell(Sandboxes& sandboxes, const OpenedSession& session,
                                    const EnabledProfile& profile, host::Request& request,
                                    const run::OutputSink* sink, const ToolCall& call,
                                    const sessions::Patience& patience) {
  if (call.cancellation && call.cancellation->cancelled()) {
    return CancelledBeforehand(sandboxes, profile, request);
  }
  core::Result<run::RunOptions> options = OptionsOf(sink, call);
  if (!options) return options.error();
  std::string typed;
  if (AsksInput(request)) options->call = AskingCaller(call, typed);
  core::Result<host::Outcome> outcome =
      session.sandbox()->RunCell(session.session(), request, *options, patience);
  if (!typed.empty()) request.standard_input = std::move(typed);
  if (!outcome && outcome.error().error_number == ECANCELED) {
    return CancelledBeforehand(sandboxes, profile, request);
  }
  if (outcome) Complete(sandboxes, call, profile, true, *outcome);
  return outcome;
}

void Record(CallObserver* observer, std::string_view tool, const ToolCall& call,
            const EnabledProfile& profile, host::Request request,
            core::Result<std::shared_ptr<const host::Outcome>> outcome) {
  if (!observer) return;
  struct Entry {
    std::string caller;
    host::Request request;
    core::Result<std::shared_ptr<const host::Outcome>> outcome;
  };
  auto entry = std::make_shared<const Entry>(
      Entry{call.caller.name, std::move(request), std::move(outcome)});
  const auto enter = [observer, tool, &profile, execution = call.execution, entry] {
    CallRecord record;
    record.tool = tool;
    record.caller = entry->caller;
    record.profile = profile.profile.name;
    record.code = entry->request.source;
    record.request = &entry->request;
    if (entry->outcome) {
      record.outcome = entry->outcome->get();
    } else {
      record.failure = entry->outcome.error().ToString();
    }
    if (execution) {
      record.execution = execution->id();
      execution->SetRecorded();
    }
    observer->Called(record);
  };
  if (call.deferred) {
    call.deferred->Add(enter);
  } else {
    enter();
  }
}

std::string SizeText(core::Bytes size) {
  constexpr uint64_t kMebi = 1 << 20;
  if (size.count == 0 || size.count % kMebi != 0) return std::to_string(size.count) + " bytes";
  return std::to_string(size.count / kMebi) + " MiB";
}

ToolResult RefusedArguments(std::string_view tool, const std::vector<std::string>& problems) {
  ToolResult result;
  result.text = ProblemsText(tool, problems);
  result.is_error = true;
  result.fault = ToolResult::Fault::kArguments;
  return result;
}

}  // namespace belljar::server::tools
