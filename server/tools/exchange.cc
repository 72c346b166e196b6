#include "server/tools/exchange.h"

#include <utility>

#include "engine/core/text.h"
#include "engine/host/request.h"
#include "engine/profiles/languages.h"
#include "server/tools/code_parameters.h"
#include "server/tools/output_schemas.h"

namespace belljar::server::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kExchangeName = "exchange";
constexpr size_t kMaxName = 256;      // bytes
constexpr size_t kMaxLanguage = 64;   // likewise
constexpr size_t kMaxLanguages = 32;  // more than there are

std::vector<Parameter> ExchangeParameters() {
  return {SessionParameter(),
          {.name = "name",
           .description = "Of the variable.",
           .required = true,
           .default_value = {},
           .max_bytes = kMaxName,
           .choices = {}},
          {.name = "value",
           .type = Parameter::Type::kValue,
           .description = "To set it to.",
           .default_value = {},
           .choices = {}},
          {.name = "from",
           .description = "The language that has it, instead of a value.",
           .default_value = {},
           .max_bytes = kMaxLanguage,
           .choices = {}},
          {.name = "to",
           .type = Parameter::Type::kTextList,
           .description = "Languages that get it. Omitted: all others of the session.",
           .default_value = {},
           .max_bytes = kMaxLanguage,
           .max_items = kMaxLanguages,
           .choices = {}},
          WaitParameter()};
}

ToolDescription DescribeExchange(const ParameterTable& parameters) {
  ToolDescription description;
  description.name = kExchangeName;
  description.title = "Pass a value between languages";
  description.description =
      "Sets a variable in languages of a session. The files are common anyway.";
  description.input_schema = parameters.Schema();
  description.output_schema = SuccessSchema();
  return description;
}

}  // namespace

Exchange::Exchange(Sandboxes& sandboxes, SessionRegistry& registry, CallObserver* observer)
    : sandboxes_(sandboxes),
      registry_(registry),
      observer_(observer),
      parameters_(ExchangeParameters()),
      description_(DescribeExchange(parameters_)) {}

core::Result<std::string> Exchange::Prepared(const SessionUse& session, const std::string& language,
                                             const ToolCall& call) const {
  const core::Result<const EnabledProfile*> profile =
      ChooseKernel(sandboxes_, language, session->terms(), call.caller);
  if (!profile) return profile.error();
  core::Result<void> added = session.AddKernel(sandboxes_, registry_, **profile, call);
  return added ? core::Result<std::string>(profiles::LanguageOf((*profile)->profile))
               : added.error();
}

core::Result<std::vector<std::string>> Exchange::Pass(const SessionUse& session,
                                                      const Arguments& arguments,
                                                      const sessions::Patience& patience,
                                                      const ToolCall& call) const {
  sessions::Session& live = session->session();
  const std::string& name = *arguments.Text("name");
  const nlohmann::json* const value = arguments.Value("value");
  std::string json = value ? value->dump() : "";
  std::string from;
  if (const std::string* const named = arguments.Text("from")) {
    core::Result<std::string> language = Prepared(session, *named, call);
    if (!language) return language.error();
    from = std::move(*language);
  }
  std::vector<std::string> targets;
  if (const auto named = arguments.Texts("to")) {
    for (const std::string& each : *named) {
      core::Result<std::string> language = Prepared(session, each, call);
      if (!language) return language.error();
      targets.push_back(std::move(*language));
    }
  } else {
    targets = live.languages();
    std::erase(targets, from);
  }
  if (targets.empty()) {
    return core::MakeError("pass a value",
                           "the session has no other language so far; name one in \"to\"");
  }
  if (!from.empty()) {
    core::Result<std::string> read = live.ReadVariable(from, name, patience);
    if (!read) return read.error();
    json = std::move(*read);
  }
  for (const std::string& target : targets) {
    core::Result<void> set = live.SetVariable(target, {name, json}, patience);
    if (!set) return set.error();
  }
  return targets;
}

core::Result<ToolResult> Exchange::Call(const ToolCall& call) {
  std::vector<std::string> problems;
  const Arguments arguments = parameters_.Check(call.arguments, problems);
  const std::string* const name = arguments.Text("name");
  if (name && !host::IsVariableName(*name)) {
    problems.push_back("name is " + core::Quoted(*name) +
                       "; it is an ASCII letter followed by ASCII letters, digits and underscores");
  }
  if (problems.empty() && !arguments.Value("value") == !arguments.Text("from")) {
    problems.emplace_back("send value or from, and not both");
  }
  if (!problems.empty()) return RefusedArguments(kExchangeName, problems);
  const core::Result<SessionUse> session =
      SessionUse::Find(registry_, *arguments.Text("session"), call);
  if (!session) {
    return RefusedCall(kExchangeName, session.error().ToString(), ToolResult::Fault::kNotFound);
  }
  const core::Result<sessions::Patience> patience = TakePatience(arguments, call);
  if (!patience) return patience.error();
  core::Result<std::vector<std::string>> passed = Pass(*session, arguments, *patience, call);
  if (!passed) {
    return SessionFailed(kExchangeName, passed.error(), **session, registry_, call, *patience,
                         observer_);
  }
  RecordSession(observer_, "exchanged", call.caller, **session, *name);
  const Json answer = {
      {"success", true}, {"session", (*session)->id()}, {"name", *name}, {"to", *passed}};
  return ToolResult{core::SafeJson(answer.dump()), "", false, {}};
}

}  // namespace belljar::server::tools
