// The compatible APIs with a tool that runs nothing: tests say what its outcome is, see what the
// APIs ask of it, and what they make of that outcome.
#ifndef BELLJAR_TESTS_SERVER_COMPATIBLE_COMPATIBLE_SUPPORT_H_
#define BELLJAR_TESTS_SERVER_COMPATIBLE_COMPATIBLE_SUPPORT_H_

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/host/outcome.h"
#include "server/calls/calls.h"
#include "server/calls/tool.h"
#include "server/compatible/compatible_apis.h"
#include "server/compatible/judge0/judge0.h"
#include "server/compatible/piston/piston.h"
#include "server/compatible/sandbox_fusion/sandbox_fusion.h"
#include "server/core/web.h"

namespace belljar::tests::compatible {

using Json = nlohmann::json;
using std::chrono::seconds;

class FakeTool final : public server::Tool {
 public:
  FakeTool(std::string name,
           std::function<core::Result<server::ToolResult>(const server::ToolCall&)> on_call)
      : on_call_(std::move(on_call)) {
    description_.name = std::move(name);
  }
  const server::ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return true; }
  bool runs_code() const override { return description_.name == "execute_code"; }
  core::Result<server::ToolResult> Call(const server::ToolCall& call) override {
    return on_call_(call);
  }

 private:
  const std::function<core::Result<server::ToolResult>(const server::ToolCall&)> on_call_;
  server::ToolDescription description_;
};

class KeptReply final : public server::WebReply {
 public:
  void Finish(server::WebAnswer answer) override {
    std::lock_guard lock(mutex_);
    ASSERT_FALSE(answer_) << "answered twice";
    answer_ = std::move(answer);
    came_.notify_all();
  }
  void Begin(server::WebAnswer) override { ADD_FAILURE(); }
  void Write(std::string) override { ADD_FAILURE(); }
  void End() override { ADD_FAILURE(); }
  bool AwaitRoom(size_t, std::chrono::steady_clock::time_point) override { return true; }

  std::optional<server::WebAnswer> Wait(seconds most = seconds(20)) {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, most, [this] { return answer_.has_value(); });
    return answer_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::optional<server::WebAnswer> answer_;
};

struct Answered {
  unsigned status = 0;
  Json body;
  std::string headers;
};

inline host::Outcome OutcomeOf(host::Status status, std::string standard_output = "",
                               std::string standard_error = "") {
  host::Outcome outcome;
  outcome.status = status;
  outcome.execution_id = "e1";
  outcome.stdout_stream.text = std::move(standard_output);
  outcome.stderr_stream.text = std::move(standard_error);
  outcome.usage = {std::chrono::milliseconds(250), std::chrono::milliseconds(125), 20 << 20};
  return outcome;
}

inline host::Outcome Raised(std::string type = "ValueError", std::string message = "no") {
  host::Outcome outcome = OutcomeOf(host::Status::kException, "before\n", "warned");
  host::GuestError& error = outcome.error.emplace();
  error.traceback = "Traceback (most recent call last):\n" + type + ": " + message + "\n";
  error.type = std::move(type);
  error.message = std::move(message);
  return outcome;
}

inline host::Outcome Exited(int code) {
  host::Outcome outcome = OutcomeOf(host::Status::kException);
  outcome.error.emplace().type = "SystemExit";
  outcome.exit_code = code;
  return outcome;
}

// Of a language that is compiled: the first four bytes of the streams are the compiler's.
inline host::Outcome Compiled(host::Outcome outcome, bool failed = false) {
  host::Compilation& made = outcome.compilation.emplace();
  made.failed = failed;
  made.usage = {std::chrono::milliseconds(150), std::chrono::milliseconds(100), 9 << 20};
  made.of_program = {std::chrono::milliseconds(100), std::chrono::milliseconds(25), 8 << 20};
  made.stdout_bytes = made.stderr_bytes = 4;
  return outcome;
}

inline host::Outcome Refused() {
  host::Outcome outcome = OutcomeOf(host::Status::kRefused);
  host::Finding finding;
  finding.rule = "BJ201";
  finding.line = 3;
  finding.reason = "module 'ctypes' is not available";
  finding.hint = "leave it out";
  outcome.findings.push_back(finding);
  return outcome;
}

inline host::Outcome Stopped(host::Status status, std::string message) {
  host::Outcome outcome = OutcomeOf(status, "before\n");
  host::SetStopped(outcome, status, "Limit", std::move(message), "");
  return outcome;
}

inline host::Outcome Killed(host::KillCause cause, std::string message, int signal = 0) {
  host::Outcome outcome = OutcomeOf(host::Status::kKilled, "before\n");
  host::SetKilled(outcome, cause, std::move(message));
  outcome.kill_signal = signal;
  return outcome;
}

inline constexpr char kSession[] = "0123456789abcdef0123456789abcdef";

struct ThrowingObserver final : server::CallObserver {
  void Called(const server::CallRecord&) override {}
  void Started(const server::ExecutionRecord&) override {
    if (throws) throw std::runtime_error("full");
  }
  bool throws = false;
};

class CompatibleApisTest : public testing::Test {
 protected:
  CompatibleApisTest() {
    terms_.profile = "basic";
    terms_.maximum.timeout = std::chrono::seconds(300);
    terms_.maximum.memory = core::Bytes::Mebi(4096);
  }
  ~CompatibleApisTest() override {
    Release();
    tool_calls_.CancelAll();
    queue_.Drain(std::chrono::steady_clock::now() + seconds(20));
  }

  core::Result<server::ToolResult> Execute(const server::ToolCall& call) {
    std::unique_lock lock(mutex_);
    calls_.push_back(call.arguments);
    callers_.push_back(call.caller.name);
    settings_.push_back(call.profile_setting);
    cpu_limits_.push_back(call.cpu_limit);
    compile_limits_.push_back(call.compile_limit);
    came_.notify_all();
    came_.wait(lock, [&] { return !holds_ || call.cancellation->cancelled(); });
    if (result_) return *result_;
    server::ToolResult result;
    host::Outcome outcome =
        outcomes_.empty() ? OutcomeOf(host::Status::kOk, "hello\n") : outcomes_.front();
    if (outcomes_.size() > 1) outcomes_.pop_front();
    for (host::Artifact& artifact : outcome.artifacts) {
      server::Content content;
      content.resource = {.uri = "sandbox://" + artifact.name,
                          .name = artifact.name,
                          .media_type = artifact.media_type,
                          .is_text = false,
                          .bytes = std::make_shared<const std::string>(*artifact.content)};
      artifact.uri = content.resource.uri;
      artifact.is_inline = false;
      result.contents.push_back(content);
    }
    EXPECT_EQ(call.form, server::ToolCall::Form::kOutcome);
    result.is_error = !outcome.success();
    result.outcome = std::make_shared<const host::Outcome>(std::move(outcome));
    return result;
  }

  server::compatible::CompatibleApis& apis() {
    if (apis_) return *apis_;
    std::vector<std::shared_ptr<server::Tool>> tools;
    const auto add = [&](const char* name, auto on_call) {
      tools.push_back(std::make_unique<FakeTool>(name, on_call));
    };
    add("execute_code", [this](const server::ToolCall& call) { return Execute(call); });
    if (has_sessions_) {
      add("open_session", [this](const server::ToolCall& call) -> core::Result<server::ToolResult> {
        opened_ = call.arguments;
        server::ToolResult result;
        if (no_session_) {
          result.fault = server::ToolResult::Fault::kConflict;
          result.text = "no session was opened: too many";
        } else {
          result.session = kSession;
        }
        return result;
      });
      add("close_session",
          [this](const server::ToolCall& call) -> core::Result<server::ToolResult> {
            closed_.push_back(call.arguments.at("session").get<std::string>());
            return server::ToolResult{};
          });
    }
    using namespace server::compatible;
    apis_.emplace(std::move(tools), tool_calls_, About{"1.2.3", "3.11.2", 5, languages_});
    const auto terms = [this](const char* setting) {
      ApiTerms with = terms_;
      with.setting = setting;
      return with;
    };
    apis_->Add<sandbox_fusion::SandboxFusion>(terms("fronts.sandbox_fusion"));
    apis_->Add<piston::Piston>(terms("fronts.piston"));
    apis_->Add<judge0::Judge0>(terms("fronts.judge0"));
    return *apis_;
  }

  // The route whose pattern is `pattern`, as the transport would find it.
  std::shared_ptr<KeptReply> Send(server::WebMethod method, std::string_view pattern,
                                  server::WebRequest request) {
    auto reply = std::make_shared<KeptReply>();
    for (server::WebHandler* handler : apis().handlers()) {
      for (size_t i = 0; i < handler->routes().size(); ++i) {
        const server::WebRoute& route = handler->routes()[i];
        if (route.method != method || route.pattern != pattern) continue;
        handler->Handle(i, std::move(request), reply);
        return reply;
      }
    }
    ADD_FAILURE() << "no route " << pattern;
    return reply;
  }
  Answered Ask(server::WebMethod method, std::string_view pattern, std::string body = "",
               std::string query = "", std::vector<std::string> parameters = {},
               const char* caller = "ann") {
    server::WebRequest request;
    request.body = std::move(body);
    request.query = std::move(query);
    request.parameters = std::move(parameters);
    request.caller.name = caller;
    const std::optional<server::WebAnswer> answer =
        Send(method, pattern, std::move(request))->Wait();
    if (!answer) {
      ADD_FAILURE() << "no answer from " << pattern;
      return {};
    }
    EXPECT_EQ(answer->type, "application/json");
    const Json parsed = Json::parse(answer->body, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << answer->body;
    return {answer->status, parsed, answer->headers};
  }
  Answered Post(std::string_view pattern, const Json& body, std::string query = "") {
    return Ask(server::WebMethod::kPost, pattern, body.dump(), std::move(query));
  }
  Answered RunCode(const Json& more = Json::object()) {
    Json body = {{"code", "print('hello')"}, {"language", "python"}};
    body.update(more);
    return Post("/run_code", body);
  }
  Answered RunPiston(const Json& more = Json::object()) {
    Json body = {{"language", "python"},
                 {"version", "3.10.0"},
                 {"files", Json::array({{{"content", "print('hello')"}}})}};
    body.update(more);
    return Post("/api/v2/execute", body);
  }
  Answered Submit(const Json& more = Json::object(), std::string query = "wait=true&fields=*") {
    Json body = {{"source_code", "print('hello')"}, {"language_id", 71}};
    if (more.is_object()) body.update(more);
    return Post("/submissions", body, std::move(query));
  }

  // Before the first request.
  void EnableLanguages() {
    core::Limits limits, maximum;
    limits.memory = core::Bytes::Mebi(512);
    maximum.timeout = seconds(300);
    maximum.memory = core::Bytes::Mebi(4096);
    languages_ = {
        {"cpp",
         "C++ (GCC)",
         "12.2.0",
         {"g++"},
         "main.cpp",
         "g++ {file}",
         "{binary}",
         limits,
         maximum},
        {"bash", "Bash", "5.2.15", {"sh"}, "main.sh", "", "bash {file}", limits, maximum}};
  }
  void Hold() {
    std::lock_guard lock(mutex_);
    holds_ = true;
  }
  void Release() {
    std::lock_guard lock(mutex_);
    holds_ = false;
    came_.notify_all();
  }
  void WaitForCalls(size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(came_.wait_for(lock, seconds(20), [&] { return calls_.size() >= count; }));
  }

  server::compatible::ApiTerms terms_;
  std::vector<server::compatible::InstalledLanguage> languages_;
  bool has_sessions_ = true;
  bool no_session_ = false;
  std::optional<server::ToolResult> result_;  // in place of an outcome
  std::deque<host::Outcome> outcomes_;        // the last one repeats
  std::mutex mutex_;
  std::condition_variable came_;
  bool holds_ = false;
  std::vector<Json> calls_;
  std::vector<std::string> callers_;
  std::vector<std::string> settings_;
  std::vector<std::optional<std::chrono::milliseconds>> cpu_limits_;
  std::vector<std::optional<std::chrono::milliseconds>> compile_limits_;
  Json opened_;
  std::vector<std::string> closed_;
  server::CallQueue queue_{{.running = 2, .waiting = 2}};
  ThrowingObserver observer_;
  server::Calls tool_calls_{queue_, nullptr, &observer_};
  std::optional<server::compatible::CompatibleApis> apis_;
};

}  // namespace belljar::tests::compatible

#endif  // BELLJAR_TESTS_SERVER_COMPATIBLE_COMPATIBLE_SUPPORT_H_
