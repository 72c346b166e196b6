#include "tests/server/tools_support.h"

#include "tests/server/schema_check.h"

namespace belljar::tests {

using nlohmann::json;

void Books::Called(const server::CallRecord& record) {
  Entry entry;
  entry.tool = record.tool;
  entry.caller = record.caller;
  entry.profile = record.profile;
  entry.code = record.code;
  if (record.outcome) entry.status = record.outcome->status;
  entry.failure = record.failure;
  const std::lock_guard lock(mutex_);
  entries_.push_back(std::move(entry));
}

void Books::SessionChanged(const server::SessionRecord& record) {
  const std::lock_guard lock(mutex_);
  changes_.push_back(std::string(record.action) + " " + std::string(record.caller) + " " +
                     std::string(record.session) + " " + std::string(record.detail));
}

std::vector<std::string> Books::TakeChanges() {
  const std::lock_guard lock(mutex_);
  return std::exchange(changes_, {});
}

std::vector<Books::Entry> Books::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(entries_, {});
}

Tools::Tools(const server::ExecutionConfig& config, const server::ContainerConfig& container,
             const server::PackagesConfig& packages, const server::AnswersConfig& answers,
             const server::SessionsConfig& sessions, server::SessionRegistry::Clocks clocks)
    : sessions_(sessions, std::move(clocks)) {
  const core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  if (!catalogue) throw std::runtime_error(catalogue.error().ToString());
  core::Result<std::unique_ptr<server::tools::Sandboxes>> sandboxes =
      server::tools::Sandboxes::Open(config, *catalogue, container, packages);
  if (!sandboxes) throw std::runtime_error(sandboxes.error().ToString());
  sandboxes_ = std::move(*sandboxes);
  tools_ = server::tools::MakeTools(*sandboxes_, *catalogue, answers, resources_, &books_,
                                    sessions.enabled ? &sessions_ : nullptr);
  sessions_.SetCloseListener([this](const std::string& owner,
                                    const server::RegisteredSession& session,
                                    server::SessionRegistry::Cause, const std::string& why) {
    books_.SessionChanged({"closed", owner, session.id(), "", why});
  });
}

server::Tool& Tools::Get(const std::string& name) {
  for (const std::unique_ptr<server::Tool>& tool : tools_) {
    if (tool->description().name == name) return *tool;
  }
  throw std::runtime_error("no tool " + name);
}

Answered Tools::Call(const std::string& name, json arguments, const server::Caller& caller) {
  server::ToolCall call;
  call.arguments = std::move(arguments);
  call.caller = caller;
  return CallWith(name, call);
}

Answered Tools::CallWith(const std::string& name, const server::ToolCall& call) {
  server::Tool& tool = Get(name);
  const core::Result<server::ToolResult> result = tool.Call(call);
  EXPECT_TRUE(result.ok()) << (result ? "" : result.error().ToString());
  if (!result) return {};
  Answered answer{nullptr, "", result->is_error, result->text};
  if (result->structured.empty()) {
    answer.message = result->text;
    EXPECT_TRUE(result->is_error);
    return answer;
  }
  answer.object = json::parse(result->structured);
  const json schema = tool.description().output_schema;
  for (const std::string& error : SchemaErrors(schema, answer.object)) ADD_FAILURE() << error;
  return answer;
}

Tools& Shared() {
  static auto* const tools = new Tools(server::ExecutionConfig{});
  return *tools;
}

Answered Execute(json arguments, const server::Caller& caller) {
  return Shared().Call("execute_code", std::move(arguments), caller);
}

Answered Validate(json arguments, const server::Caller& caller) {
  return Shared().Call("validate_code", std::move(arguments), caller);
}

Answered Info(json arguments, const server::Caller& caller) {
  return Shared().Call("get_sandbox_info", std::move(arguments), caller);
}

server::Caller CallerOf(std::vector<std::string> profiles) {
  server::Caller caller;
  caller.name = "team-a";
  caller.profiles = std::move(profiles);
  return caller;
}

}  // namespace belljar::tests
