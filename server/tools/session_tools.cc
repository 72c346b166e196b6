#include "server/tools/session_tools.h"

#include <utility>

#include "engine/core/text.h"
#include "server/tools/call_limits.h"
#include "server/tools/code_parameters.h"
#include "server/tools/output_schemas.h"

namespace belljar::server::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kOpenName = "open_session";
constexpr const char* kListName = "list_sessions";
constexpr const char* kCloseName = "close_session";

int64_t WholeSeconds(std::chrono::milliseconds time) { return time.count() / 1000; }

ToolDescription DescribeSessions(const char* name, const char* title, std::string text,
                                 const ParameterTable& parameters) {
  ToolDescription description;
  description.name = name;
  description.title = title;
  description.description = std::move(text);
  description.input_schema = parameters.Schema();
  description.output_schema = SuccessSchema();
  return description;
}

std::vector<Parameter> OpenParameters(const Sandboxes& sandboxes) {
  std::vector<Parameter> parameters = {ProfileParameter(sandboxes), MemoryParameter(sandboxes),
                                       ImportsParameter(), DomainsParameter(sandboxes)};
  for (Parameter& parameter : parameters) {
    if (parameter.name != "profile") parameter.description = "As in execute_code.";
  }
  if (sandboxes.enabled().size() > 1) {
    parameters.front().description = "What cells may use. Omitted: all but network and full.";
    parameters.front().default_value = {};
  }
  parameters.push_back(LanguageParameter(sandboxes));
  parameters.push_back(ContainerParameter(
      sandboxes,
      "Also isolates it in a container, without checkpoints: a cell stopped by a limit ends it."));
  return parameters;
}

ToolDescription DescribeOpen(const SessionRegistry& registry, const ParameterTable& parameters) {
  const SessionsConfig& config = registry.config();
  return DescribeSessions(
      kOpenName, "Open a session",
      "Opens a persistent Python: execute_code with its id as session continues where the last "
      "call ended. A cell that is stopped by a limit leaves the session as it was before. "
      "Settings here apply to all its cells. Closes after " +
          DurationInWords(config.idle) + " without a call.",
      parameters);
}

ToolDescription DescribeList(const ParameterTable& parameters) {
  ToolDescription description = DescribeSessions(kListName, "List your open sessions",
                                                 "Lists your open sessions.", parameters);
  description.read_only = description.idempotent = true;
  return description;
}

std::vector<Parameter> CloseParameters() {
  return {SessionParameter(),
          {.name = "interrupt",
           .type = Parameter::Type::kBoolean,
           .description = "true: only ends the running cell, with a KeyboardInterrupt.",
           .default_value = false,
           .choices = {}}};
}

ToolDescription DescribeClose(const ParameterTable& parameters) {
  ToolDescription description = DescribeSessions(
      kCloseName, "Close a session", "Closes a session, or only interrupts its cell.", parameters);
  description.destructive = description.idempotent = true;
  return description;
}

ToolResult Answered(const Json& object) { return {core::SafeJson(object.dump()), "", false, {}}; }

Json SessionListed(const SessionRegistry::Listed& listed) {
  const auto& session = static_cast<const OpenedSession&>(*listed.session);
  const sessions::Session::Info info = session.session().info();
  Json json = {{"session", session.id()},
               {"profile", session.profile().profile.name},
               {"cells", info.cells},
               {"checkpoints", info.checkpoints},
               {"busy", listed.is_used},
               {"idle", listed.idle.count()},
               {"closes_in", listed.closes_in.count()},
               {"memory_bytes", info.memory_bytes}};
  if (RunsCommands(session.profile().profile)) json["commands"] = session.running_commands();
  if (const auto languages = session.session().languages(); languages.size() > 1) {
    json["languages"] = languages;
  }
  if (!session.branch_of().empty()) json["branch_of"] = session.branch_of();
  return json;
}

}  // namespace

OpenSession::OpenSession(Sandboxes& sandboxes, SessionRegistry& registry, CallObserver* observer)
    : sandboxes_(sandboxes),
      registry_(registry),
      observer_(observer),
      parameters_(OpenParameters(sandboxes)),
      description_(DescribeOpen(registry, parameters_)) {}

core::Result<ToolResult> OpenSession::Call(const ToolCall& call) {
  std::vector<std::string> problems;
  const Arguments arguments = parameters_.Check(call.arguments, problems);
  const EnabledProfile* const profile =
      ChooseProfile(sandboxes_, arguments, call.caller, true, problems);
  if (!profile) return RefusedArguments(kOpenName, problems);
  SessionTerms terms;
  terms.profile = profile;
  terms.limits = TakeLimits(arguments, *profile, problems);
  terms.allowed_imports =
      TakeImports(arguments, *profile, sandboxes_.PolicyOf(*profile), true, problems);
  terms.allowed_domains =
      TakeDomains(arguments, sandboxes_, call.caller, profile->profile, problems);
  terms.in_container = TakeContainer(arguments, sandboxes_, problems);
  if (terms.in_container && RunsCommands(profile->profile)) {
    problems.emplace_back("use_container: sessions of the shell do not run in containers; omit it");
  }
  if (!problems.empty()) return RefusedArguments(kOpenName, problems);
  const core::Bytes memory = terms.limits.memory;
  core::Result<SessionUse> opened = SessionUse::Open(sandboxes_, registry_, observer_, terms, call);
  if (!opened) return NotOpened(kOpenName, terms, opened.error());
  if (call.cancellation && call.cancellation->cancelled()) {
    // Nobody knows it yet.
    (void)registry_.Close(call.caller.name, (*opened)->id(), kCancelledOpening);
  }
  ToolResult result = Answered({{"success", true},
                                {"session", (*opened)->id()},
                                {"profile", profile->profile.name},
                                {"memory_limit", memory.ToString()},
                                {"idle_timeout", WholeSeconds(registry_.limits().idle)},
                                {"lifetime", WholeSeconds(registry_.limits().lifetime)}});
  result.session = (*opened)->id();
  return result;
}

ListSessions::ListSessions(SessionRegistry& registry)
    : registry_(registry), parameters_({}), description_(DescribeList(parameters_)) {}

core::Result<ToolResult> ListSessions::Call(const ToolCall& call) {
  std::vector<std::string> problems;
  (void)parameters_.Check(call.arguments, problems);
  if (!problems.empty()) return RefusedArguments(kListName, problems);
  Json sessions = Json::array();
  for (const SessionRegistry::Listed& each : registry_.List(call.caller.name)) {
    sessions.push_back(SessionListed(each));
  }
  return Answered({{"success", true}, {"sessions", std::move(sessions)}});
}

CloseSession::CloseSession(SessionRegistry& registry, CallObserver* observer)
    : registry_(registry),
      observer_(observer),
      parameters_(CloseParameters()),
      description_(DescribeClose(parameters_)) {}

core::Result<ToolResult> CloseSession::Call(const ToolCall& call) {
  std::vector<std::string> problems;
  const Arguments arguments = parameters_.Check(call.arguments, problems);
  if (!problems.empty()) return RefusedArguments(kCloseName, problems);
  const std::string& id = *arguments.Text("session");
  core::Result<SessionUse> session = SessionUse::Find(registry_, id, call);
  if (!session)
    return RefusedCall(kCloseName, session.error().ToString(), ToolResult::Fault::kNotFound);
  Json object = {{"success", true}, {"session", id}};
  if (arguments.Boolean("interrupt").value_or(false)) {
    object["interrupted"] = (*session)->session().Interrupt();
    RecordSession(observer_, "interrupted", call.caller, **session);
    return Answered(object);
  }
  const core::Result<void> closed = registry_.Close(call.caller.name, id, "by close_session");
  if (!closed) return RefusedCall(kCloseName, closed.error().ToString());
  object["closed"] = true;
  return Answered(object);
}

}  // namespace belljar::server::tools
