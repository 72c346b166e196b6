// The APIs of other services, with a tool that runs nothing: what they ask of it, and what they
// make of its outcome.
#include <gtest/gtest.h>
#include <signal.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "engine/host/base64.h"
#include "engine/host/outcome.h"
#include "engine/host/outcome_fields.h"
#include "server/fronts/fronts.h"
#include "server/fronts/judge0_submission.h"
#include "server/fronts/piston.h"
#include "server/fronts/run_report.h"
#include "tests/support/support.h"

namespace belljar::server::fronts::fronts_test {
namespace {

using Json = nlohmann::json;
using std::chrono::seconds;

class FakeTool final : public Tool {
 public:
  FakeTool(std::string name, std::function<core::Result<ToolResult>(const ToolCall&)> on_call)
      : on_call_(std::move(on_call)) {
    description_.name = std::move(name);
  }
  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return true; }
  bool runs_code() const override { return description_.name == "execute_code"; }
  core::Result<ToolResult> Call(const ToolCall& call) override { return on_call_(call); }

 private:
  const std::function<core::Result<ToolResult>(const ToolCall&)> on_call_;
  ToolDescription description_;
};

class KeptReply final : public WebReply {
 public:
  void Finish(WebAnswer answer) override {
    std::lock_guard lock(mutex_);
    ASSERT_FALSE(answer_) << "answered twice";
    answer_ = std::move(answer);
    came_.notify_all();
  }
  void Begin(WebAnswer) override { ADD_FAILURE(); }
  void Write(std::string) override { ADD_FAILURE(); }
  void End() override { ADD_FAILURE(); }
  bool AwaitRoom(size_t, std::chrono::steady_clock::time_point) override { return true; }

  std::optional<WebAnswer> Wait(seconds max = seconds(20)) {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, max, [this] { return answer_.has_value(); });
    return answer_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::optional<WebAnswer> answer_;
};

struct Answered {
  unsigned status = 0;
  Json body;
  std::string headers;
};

host::Outcome OutcomeOf(host::Status status, std::string standard_output = "",
                        std::string standard_error = "") {
  host::Outcome outcome;
  outcome.status = status;
  outcome.execution_id = "e1";
  outcome.stdout_stream.text = std::move(standard_output);
  outcome.stderr_stream.text = std::move(standard_error);
  outcome.usage = {std::chrono::milliseconds(250), std::chrono::milliseconds(125), 20 << 20};
  return outcome;
}

host::Outcome Raised(std::string type = "ValueError", std::string message = "no") {
  host::Outcome outcome = OutcomeOf(host::Status::kException, "before\n", "warned");
  host::GuestError& error = outcome.error.emplace();
  error.traceback = "Traceback (most recent call last):\n" + type + ": " + message + "\n";
  error.type = std::move(type);
  error.message = std::move(message);
  return outcome;
}

host::Outcome Exited(int code) {
  host::Outcome outcome = OutcomeOf(host::Status::kException);
  outcome.error.emplace().type = "SystemExit";
  outcome.exit_code = code;
  return outcome;
}

host::Outcome Refused() {
  host::Outcome outcome = OutcomeOf(host::Status::kRefused);
  host::Finding finding;
  finding.rule = "BJ201";
  finding.line = 3;
  finding.reason = "module 'ctypes' is not available";
  finding.hint = "leave it out";
  outcome.findings.push_back(finding);
  return outcome;
}

host::Outcome Stopped(host::Status status, std::string message) {
  host::Outcome outcome = OutcomeOf(status, "before\n");
  host::SetStopped(outcome, status, "Limit", std::move(message), "");
  return outcome;
}

host::Outcome Killed(host::KillCause cause, std::string message, int signal = 0) {
  host::Outcome outcome = OutcomeOf(host::Status::kKilled, "before\n");
  host::SetKilled(outcome, cause, std::move(message));
  outcome.kill_signal = signal;
  return outcome;
}

constexpr char kSession[] = "0123456789abcdef0123456789abcdef";

struct ThrowingObserver final : CallObserver {
  void Called(const CallRecord&) override {}
  void Started(const ExecutionRecord&) override {
    if (throws) throw std::runtime_error("full");
  }
  bool throws = false;
};

class FrontsTest : public testing::Test {
 protected:
  FrontsTest() {
    terms_.profile = "basic";
    terms_.maximum.timeout = std::chrono::seconds(300);
    terms_.maximum.memory = core::Bytes::Mebi(4096);
  }
  ~FrontsTest() override {
    Release();
    tool_calls_.CancelAll();
    queue_.Drain(std::chrono::steady_clock::now() + seconds(20));
  }

  core::Result<ToolResult> Execute(const ToolCall& call) {
    std::unique_lock lock(mutex_);
    calls_.push_back(call.arguments);
    callers_.push_back(call.caller.name);
    came_.notify_all();
    came_.wait(lock, [&] { return !holds_ || call.cancellation->cancelled(); });
    if (result_) return *result_;
    ToolResult result;
    host::Outcome outcome =
        outcomes_.empty() ? OutcomeOf(host::Status::kOk, "hello\n") : outcomes_.front();
    if (outcomes_.size() > 1) outcomes_.pop_front();
    for (host::Artifact& artifact : outcome.artifacts) {
      Content content;
      content.resource = {.uri = "sandbox://" + artifact.name,
                          .name = artifact.name,
                          .media_type = artifact.media_type,
                          .is_text = false,
                          .bytes = std::make_shared<const std::string>(*artifact.content)};
      artifact.uri = content.resource.uri;
      artifact.is_inline = false;
      result.contents.push_back(content);
    }
    result.structured = host::OutcomeToJson(outcome);
    result.is_error = !outcome.success();
    result.kill_cause = outcome.kill_cause;
    result.kill_signal = outcome.kill_signal;
    return result;
  }

  Fronts& fronts() {
    if (fronts_) return *fronts_;
    Fronts::Parts parts;
    const auto add = [&](const char* name, auto on_call) {
      parts.tools.push_back(std::make_unique<FakeTool>(name, on_call));
    };
    add("execute_code", [this](const ToolCall& call) { return Execute(call); });
    if (has_sessions_) {
      add("open_session", [this](const ToolCall& call) -> core::Result<ToolResult> {
        opened_ = call.arguments;
        ToolResult result;
        if (no_session_) {
          result.fault = ToolResult::Fault::kConflict;
          result.text = "no session was opened: too many";
        } else {
          result.structured = Json{{"success", true}, {"session", kSession}}.dump();
        }
        return result;
      });
      add("close_session", [this](const ToolCall& call) -> core::Result<ToolResult> {
        closed_.push_back(call.arguments.at("session").get<std::string>());
        return ToolResult{};
      });
    }
    parts.sandbox_fusion = parts.piston = parts.judge0 = terms_;
    parts.version = "1.2.3";
    parts.python_version = "3.11.2";
    parts.queue = 5;
    fronts_.emplace(std::move(parts), tool_calls_);
    return *fronts_;
  }

  // The route whose pattern is `pattern`, as the transport would find it.
  std::shared_ptr<KeptReply> Send(WebMethod method, std::string_view pattern, WebRequest request) {
    auto reply = std::make_shared<KeptReply>();
    for (WebHandler* handler : fronts().handlers()) {
      for (size_t i = 0; i < handler->routes().size(); ++i) {
        const WebRoute& route = handler->routes()[i];
        if (route.method != method || route.pattern != pattern) continue;
        handler->Handle(i, std::move(request), reply);
        return reply;
      }
    }
    ADD_FAILURE() << "no route " << pattern;
    return reply;
  }
  Answered Ask(WebMethod method, std::string_view pattern, std::string body = "",
               std::string query = "", std::vector<std::string> parameters = {},
               const char* caller = "ann") {
    WebRequest request;
    request.body = std::move(body);
    request.query = std::move(query);
    request.parameters = std::move(parameters);
    request.caller.name = caller;
    const std::optional<WebAnswer> answer = Send(method, pattern, std::move(request))->Wait();
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
    return Ask(WebMethod::kPost, pattern, body.dump(), std::move(query));
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

  FrontTerms terms_;
  bool has_sessions_ = true;
  bool no_session_ = false;
  std::optional<ToolResult> result_;    // in place of an outcome
  std::deque<host::Outcome> outcomes_;  // the last one repeats
  std::mutex mutex_;
  std::condition_variable came_;
  bool holds_ = false;
  std::vector<Json> calls_;
  std::vector<std::string> callers_;
  Json opened_;
  std::vector<std::string> closed_;
  CallQueue queue_{{.running = 2, .waiting = 2}};
  ThrowingObserver observer_;
  Calls tool_calls_{queue_, nullptr, &observer_};
  std::optional<Fronts> fronts_;
};

// --- SandboxFusion ------------------------------------------------------------------------------

TEST_F(FrontsTest, FusionRunsCode) {
  const Answered answer = RunCode({{"stdin", "in"},
                                   {"run_timeout", 2.5},
                                   {"compile_timeout", 10},
                                   {"memory_limit_MB", 512},
                                   {"args", {"a", "b"}},
                                   {"files", Json::object()},
                                   {"fetch_files", Json::array()}});
  EXPECT_EQ(answer.status, 200u);
  EXPECT_EQ(calls_.at(0), (Json{{"code", "print('hello')"},
                                {"profile", "basic"},
                                {"stdin", "in"},
                                {"args", {"a", "b"}},
                                {"timeout", 2.5},
                                {"memory_limit", 512 << 20}}));
  EXPECT_EQ(answer.body, (Json{{"status", "Success"},
                               {"message", ""},
                               {"compile_result", nullptr},
                               {"run_result",
                                {{"status", "Finished"},
                                 {"execution_time", 0.25},
                                 {"cpu_time", 0.125},
                                 {"return_code", 0},
                                 {"stdout", "hello\n"},
                                 {"stderr", ""}}},
                               {"executor_pod_name", nullptr},
                               {"files", Json::object()},
                               {"verdict", "ok"},
                               {"execution_id", "e1"}}));
}

TEST_F(FrontsTest, FusionTellsHowAProgramEnded) {
  struct Case {
    host::Outcome outcome;
    const char* status;
    const char* command_status;
    Json return_code;
    const char* verdict;
    const char* standard_error;  // part of it
    const char* message;         // part of it
  };
  const Case cases[] = {
      {Raised(), "Failed", "Finished", 1, "exception", "warned\nTraceback (most", ""},
      {Exited(7), "Failed", "Finished", 7, "exception", "", ""},
      {Exited(256), "Failed", "Finished", 1, "exception", "", ""},
      {Exited(-1), "Failed", "Finished", 255, "exception", "", ""},
      {Refused(), "Failed", "Finished", 1, "refused",
       "main.py:3: BJ201 module 'ctypes' is not available\n  hint: leave it out\n", ""},
      {Stopped(host::Status::kTimeout, "stopped after 1s"), "Failed", "TimeLimitExceeded", nullptr,
       "timeout", "", "stopped after 1s"},
      {Stopped(host::Status::kCpuLimit, "stopped after 1s"), "Failed", "TimeLimitExceeded", nullptr,
       "cpu_limit", "", "stopped after 1s"},
      {Stopped(host::Status::kMemoryLimit, "stopped at 256m of memory"), "Failed", "Finished", -9,
       "memory_limit", "MemoryError: stopped at 256m", "stopped at 256m"},
      {Killed(host::KillCause::kSignal, "killed by SIGSEGV", SIGSEGV), "Failed", "Finished", -11,
       "killed", "", "SIGSEGV"},
      {Killed(host::KillCause::kSystemCall, "killed for a hostile system call"), "Failed",
       "Finished", -31, "killed", "", "hostile"},
      {Killed(host::KillCause::kExit, "the process exited with code 0"), "Failed", "Finished", 1,
       "killed", "", "exited with code 0"},
      {Killed(host::KillCause::kUnreadable, "the worker's report was invalid"), "Failed",
       "Finished", -9, "killed", "", "invalid"},
      {Killed(host::KillCause::kCancelled, "cancelled"), "SandboxError", "Error", nullptr, "killed",
       "", "cancelled"},
  };
  for (const Case& each : cases) {
    outcomes_ = {each.outcome};
    const Json body = RunCode().body;
    EXPECT_EQ(body["status"], each.status) << body;
    EXPECT_EQ(body["run_result"]["status"], each.command_status) << body;
    EXPECT_EQ(body["run_result"]["return_code"], each.return_code) << body;
    EXPECT_EQ(body["verdict"], each.verdict) << body;
    EXPECT_NE(body["run_result"]["stderr"].get<std::string>().find(each.standard_error),
              std::string::npos)
        << body;
    EXPECT_NE(body["message"].get<std::string>().find(each.message), std::string::npos) << body;
  }
}

TEST_F(FrontsTest, FusionRefusesAsFastApiDoes) {
  const std::pair<Json, const char*> wrong[] = {
      {{{"code", nullptr}}, "code"},
      {{{"code", 5}}, "code"},
      {{{"language", "cpp"}}, "language"},
      {{{"language", 5}}, "language"},
      {{{"stdin", {"x"}}}, "stdin"},
      {{{"run_timeout", "soon"}}, "run_timeout"},
      {{{"compile_timeout", Json::object()}}, "compile_timeout"},
      {{{"memory_limit_MB", true}}, "memory_limit_MB"},
      {{{"args", {1}}}, "args"},
      {{{"files", {"a"}}}, "files"},
      {{{"files", {{"a", 5}}}}, "files"},
      {{{"files", {{"a", "YQ=="}}}}, "files"},  // the profile has none
      {{{"fetch_files", {"a"}}}, "fetch_files"},
      {{{"fetch_files", "a"}}, "fetch_files"},
  };
  for (const auto& [more, field] : wrong) {
    const Answered answer = RunCode(more);
    EXPECT_EQ(answer.status, 422u) << more;
    EXPECT_EQ(answer.body["detail"][0]["loc"], (Json{"body", field})) << answer.body;
    EXPECT_TRUE(answer.body["detail"][0]["msg"].is_string());
  }
  EXPECT_EQ(Post("/run_code", Json::object()).body["detail"].size(), 2u);
  EXPECT_TRUE(calls_.empty());
}

TEST_F(FrontsTest, BodiesThatAreNotObjectsAreRefusedInEachForm) {
  const std::string deep(100'000, '[');
  std::string many = "[";
  for (int i = 0; i < 200'000; ++i) many += "0,";
  for (const std::string& body :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"), std::string("5"),
        std::string("{\"code\":\"\xff\"}"), std::string("{\"code\":\"\\ud800\"}"),
        std::string("{\"a\":1,\"a\":2}"), std::string("{\"a\":1e999}"), std::string("{}\0{}", 5),
        "{\"a\":" + deep, "{\"a\":" + many + "0]}"}) {
    EXPECT_EQ(Ask(WebMethod::kPost, "/run_code", body).status, 422u) << body.substr(0, 30);
    EXPECT_EQ(Ask(WebMethod::kPost, "/run_jupyter", body).status, 422u) << body.substr(0, 30);
    const Answered piston = Ask(WebMethod::kPost, "/api/v2/execute", body);
    EXPECT_EQ(piston.status, 400u) << body.substr(0, 30);
    EXPECT_TRUE(piston.body["message"].is_string()) << piston.body;
    const Answered judge0 = Ask(WebMethod::kPost, "/submissions", body);
    EXPECT_EQ(judge0.status, 400u) << body.substr(0, 30);
    EXPECT_TRUE(judge0.body["error"].is_string()) << judge0.body;
    EXPECT_EQ(Ask(WebMethod::kPost, "/submissions/batch", body).status, 400u);
  }
  EXPECT_TRUE(calls_.empty());
}

TEST_F(FrontsTest, LimitsAreThoseOfTheProfileAtMost) {
  RunCode({{"run_timeout", 1e9}, {"memory_limit_MB", 1e12}});
  EXPECT_EQ(calls_.at(0)["timeout"], 300.0);
  EXPECT_EQ(calls_.at(0)["memory_limit"], uint64_t{4096} << 20);
  RunCode({{"run_timeout", -5}, {"memory_limit_MB", 1}});
  EXPECT_EQ(calls_.at(1)["timeout"], 0.1);
  EXPECT_EQ(calls_.at(1)["memory_limit"], 8 << 20);
  RunCode({{"memory_limit_MB", -1}});
  EXPECT_FALSE(calls_.at(2).contains("memory_limit"));
  EXPECT_EQ(calls_.at(2)["timeout"], 10.0);
}

TEST_F(FrontsTest, ASourceThatPythonCannotReadIsAnErrorOfTheProgram) {
  const std::string with_nul("print(1)\0", 9);
  const Json fusion = RunCode({{"code", with_nul}}).body;
  EXPECT_EQ(fusion["status"], "Failed");
  EXPECT_EQ(fusion["run_result"]["return_code"], 1);
  EXPECT_NE(fusion["run_result"]["stderr"].get<std::string>().find("SyntaxError"),
            std::string::npos);
  const Json piston = RunPiston({{"files", Json::array({{{"content", with_nul}}})}}).body;
  EXPECT_EQ(piston["run"]["code"], 1);
  EXPECT_EQ(Submit({{"source_code", with_nul}}).body["status"]["id"], 11);
  const Answered bytes =
      Submit({{"source_code", host::EncodeBase64("\xff\xfe")}}, "wait=true&base64_encoded=true");
  EXPECT_EQ(bytes.body["status"]["id"], 11);
  EXPECT_TRUE(calls_.empty());
}

TEST_F(FrontsTest, FilesGoInAndOutWhereTheProfileHasThem) {
  terms_.has_workspace = true;
  host::Outcome outcome = OutcomeOf(host::Status::kOk);
  host::Artifact artifact;
  artifact.name = "out/a.bin";
  artifact.media_type = "application/octet-stream";
  artifact.content = std::string("\0\xff", 2);
  outcome.artifacts = {artifact};
  outcomes_ = {outcome};
  const Answered answer =
      RunCode({{"files", {{"./in.txt", host::EncodeBase64("in")}, {"none", nullptr}}},
               {"fetch_files", {"./out/a.bin", "in.txt", "missing", "../etc/passwd"}}});
  EXPECT_EQ(calls_.at(0)["files"],
            Json::array({{{"path", "in.txt"}, {"base64", host::EncodeBase64("in")}}}));
  EXPECT_EQ(answer.body["files"], (Json{{"./out/a.bin", host::EncodeBase64(*artifact.content)},
                                        {"in.txt", host::EncodeBase64("in")}}));
}

TEST_F(FrontsTest, FailuresOfTheToolHaveEachForm) {
  ToolResult refused;
  refused.fault = ToolResult::Fault::kArguments;
  refused.text = "execute_code: code is too long";
  result_ = refused;
  EXPECT_EQ(RunCode().status, 422u);
  EXPECT_EQ(RunPiston().status, 400u);
  EXPECT_EQ(Submit().body["status"]["id"], 13);
  refused.fault = ToolResult::Fault::kUnavailable;
  refused.text = "execute_code: profile basic was not ready in time";
  result_ = refused;
  EXPECT_EQ(RunCode().status, 200u);
  EXPECT_EQ(RunCode().body["status"], "SandboxError");
  EXPECT_EQ(RunPiston().status, 500u);
  EXPECT_EQ(Submit().body["message"], refused.text);
  ToolResult garbage;
  garbage.structured = "{\"status\":";
  result_ = garbage;
  EXPECT_EQ(RunCode().body["status"], "SandboxError");
}

TEST_F(FrontsTest, AFullQueueIsToldSoThatTheClientsTryAgain) {
  Hold();
  std::vector<std::shared_ptr<KeptReply>> held;
  for (int i = 0; i < 4; ++i) {
    WebRequest request;
    request.body = Json{{"code", "1"}, {"language", "python"}}.dump();
    held.push_back(Send(WebMethod::kPost, "/run_code", std::move(request)));
    if (i == 1) WaitForCalls(2);
  }
  const Answered fusion = RunCode();
  EXPECT_EQ(fusion.status, 504u);  // what reward functions try again
  EXPECT_EQ(fusion.headers, "Retry-After: 1\r\n");
  EXPECT_EQ(RunPiston().status, 429u);
  const Answered judge0 = Submit({}, "");
  EXPECT_EQ(judge0.status, 503u);
  EXPECT_EQ(judge0.body, (Json{{"error", "queue is full"}}));
  const Answered batch =
      Post("/submissions/batch",
           {{"submissions", Json::array({{{"source_code", "1"}, {"language_id", 71}}})}});
  EXPECT_EQ(batch.status, 503u);
  Release();
  for (const auto& reply : held) EXPECT_EQ(reply->Wait()->status, 200u);
}

TEST_F(FrontsTest, FusionRunsANotebookInOneSession) {
  host::Outcome value = OutcomeOf(host::Status::kOk);
  value.result_repr = "123";
  host::Artifact figure;
  figure.origin = host::Artifact::Origin::kDisplay;
  figure.name = "figure-1.png";
  figure.media_type = "image/png";
  figure.content = "\x89PNG";
  value.artifacts = {figure};
  outcomes_ = {OutcomeOf(host::Status::kOk, "one\n", "err"), value, Raised(),
               OutcomeOf(host::Status::kOk)};
  const Answered answer =
      Post("/run_jupyter", {{"cells", {"a", std::string("b\0", 2), "c", "d", "e"}},
                            {"memory_limit_MB", 100},
                            {"cell_timeout", 3}});
  EXPECT_EQ(answer.status, 200u);
  const Json& body = answer.body;
  EXPECT_EQ(body["status"], "Success") << body;
  EXPECT_EQ(body["driver"]["status"], "Finished");
  EXPECT_EQ(body["driver"]["return_code"], 0);
  ASSERT_EQ(body["cells"].size(), 5u);
  EXPECT_EQ(body["cells"][0], (Json{{"stdout", "one\n"},
                                    {"stderr", "err"},
                                    {"display", Json::array()},
                                    {"error", Json::array()}}));
  EXPECT_EQ(body["cells"][1]["error"][0]["ename"], "SyntaxError");
  EXPECT_EQ(body["cells"][2]["display"],
            Json::array({{{"image/png", host::EncodeBase64("\x89PNG")}}, {{"text/plain", "123"}}}));
  EXPECT_EQ(body["cells"][3]["error"][0]["ename"], "ValueError");
  EXPECT_EQ(body["cells"][3]["error"][0]["evalue"], "no");
  EXPECT_EQ(opened_, (Json{{"profile", "basic"}, {"memory_limit", 100 << 20}}));
  EXPECT_EQ(calls_.at(0)["session"], kSession);
  EXPECT_EQ(calls_.at(0)["timeout"], 3.0);
  EXPECT_EQ(calls_.size(), 4u);
  EXPECT_EQ(closed_, std::vector<std::string>{kSession});
}

TEST_F(FrontsTest, ANotebookEndsAtTheCellThatIsStopped) {
  outcomes_ = {OutcomeOf(host::Status::kOk), Stopped(host::Status::kTimeout, "stopped after 1s")};
  const Json body = Post("/run_jupyter", {{"cells", {"a", "b", "c"}}}).body;
  EXPECT_EQ(body["status"], "Failed");
  EXPECT_EQ(body["driver"]["status"], "TimeLimitExceeded");
  EXPECT_EQ(body["verdict"], "timeout");
  EXPECT_EQ(body["cells"].size(), 2u);
  EXPECT_EQ(closed_.size(), 1u);
  outcomes_ = {Stopped(host::Status::kMemoryLimit, "stopped at 256m of memory")};
  EXPECT_EQ(Post("/run_jupyter", {{"cells", {"a"}}}).body["verdict"], "memory_limit");
  no_session_ = true;
  EXPECT_EQ(Post("/run_jupyter", {{"cells", {"a"}}}).body["status"], "SandboxError");
  EXPECT_EQ(Post("/run_jupyter", {{"cells", "a"}}).status, 422u);
  EXPECT_EQ(Post("/run_jupyter", {{"cells", {"a"}}, {"kernel", "ir"}}).status, 422u);
  EXPECT_EQ(Post("/run_jupyter", {{"cells", std::vector<std::string>(1001, "a")}}).status, 422u);
}

TEST_F(FrontsTest, ANotebookClosesItsSessionAfterAThrow) {
  observer_.throws = true;
  EXPECT_EQ(Post("/run_jupyter", {{"cells", {"a"}}}).body["status"], "SandboxError");
  EXPECT_TRUE(calls_.empty()) << "nothing was thrown";
  EXPECT_EQ(closed_, std::vector<std::string>{kSession});
}

TEST_F(FrontsTest, ANotebookNeedsSessions) {
  has_sessions_ = false;
  const Answered answer = Post("/run_jupyter", {{"cells", {"a"}}});
  EXPECT_EQ(answer.body["status"], "SandboxError");
  EXPECT_NE(answer.body["message"].get<std::string>().find("sessions.enabled"), std::string::npos);
}

// --- Piston -------------------------------------------------------------------------------------

TEST_F(FrontsTest, PistonListsTheOneRuntime) {
  const Json runtimes = Ask(WebMethod::kGet, "/api/v2/runtimes").body;
  EXPECT_EQ(runtimes, Json::array({{{"language", "python"},
                                    {"version", "3.11.2"},
                                    {"aliases", {"py", "py3", "python3"}}}}));
  EXPECT_EQ(Ask(WebMethod::kGet, "/api/v2/runtimes/").body, runtimes);
  EXPECT_EQ(
      Ask(WebMethod::kGet, "/api/v2/packages").body,
      Json::array({{{"language", "python"}, {"language_version", "3.11.2"}, {"installed", true}}}));
  for (const WebMethod method : {WebMethod::kPost, WebMethod::kDelete}) {
    const Answered refused = Ask(method, "/api/v2/packages");
    EXPECT_EQ(refused.status, 403u);
    EXPECT_TRUE(refused.body["message"].is_string());
  }
}

TEST_F(FrontsTest, PistonExecutes) {
  outcomes_ = {OutcomeOf(host::Status::kOk, "out\n", "err\n")};
  const Answered answer = RunPiston({{"stdin", "in"},
                                     {"args", {"1"}},
                                     {"run_timeout", 1500},
                                     {"compile_timeout", 10000},
                                     {"compile_memory_limit", -1},
                                     {"run_memory_limit", 64 << 20}});
  EXPECT_EQ(answer.status, 200u);
  EXPECT_EQ(calls_.at(0), (Json{{"code", "print('hello')"},
                                {"profile", "basic"},
                                {"stdin", "in"},
                                {"args", {"1"}},
                                {"timeout", 1.5},
                                {"memory_limit", 64 << 20}}));
  EXPECT_EQ(answer.body, (Json{{"run",
                                {{"stdout", "out\n"},
                                 {"stderr", "err\n"},
                                 {"output", "out\nerr\n"},
                                 {"code", 0},
                                 {"signal", nullptr},
                                 {"message", nullptr},
                                 {"status", nullptr},
                                 {"memory", 20 << 20},
                                 {"cpu_time", 125},
                                 {"wall_time", 250}}},
                               {"language", "python"},
                               {"version", "3.11.2"}}));
  RunPiston({{"run_memory_limit", -1}});
  EXPECT_FALSE(calls_.at(1).contains("memory_limit"));
  EXPECT_EQ(calls_.at(1)["timeout"], 3.0);
}

TEST_F(FrontsTest, PistonTellsHowAProgramEnded) {
  const std::tuple<host::Outcome, Json, Json, Json> cases[] = {
      {Raised(), 1, nullptr, "RE"},
      {Refused(), 1, nullptr, "RE"},
      {Stopped(host::Status::kTimeout, "x"), nullptr, "SIGKILL", "TO"},
      {Stopped(host::Status::kMemoryLimit, "x"), nullptr, "SIGKILL", "SG"},
      {Killed(host::KillCause::kSignal, "killed by SIGSEGV", SIGSEGV), nullptr, "SIGSEGV", "SG"},
      {Killed(host::KillCause::kCancelled, "cancelled"), nullptr, "SIGKILL", "XX"},
  };
  for (const auto& [outcome, code, signal, status] : cases) {
    outcomes_ = {outcome};
    const Json run = RunPiston().body["run"];
    EXPECT_EQ(run["code"], code) << run;
    EXPECT_EQ(run["signal"], signal) << run;
    EXPECT_EQ(run["status"], status) << run;
  }
}

TEST_F(FrontsTest, PistonRefusesWithAMessage) {
  const Json text = Json::array({{{"content", "1"}}});
  const std::pair<Json, const char*> wrong[] = {
      {{{"language", nullptr}}, "language is required as a string"},
      {{{"language", 5}}, "language is required as a string"},
      {{{"version", nullptr}}, "version is required as a string"},
      {{{"language", "rust"}}, "\"rust-3.10.0\" runtime is unknown; see /api/v2/runtimes"},
      {{{"version", "2.7"}}, "\"python-2.7\" runtime is unknown; see /api/v2/runtimes"},
      {{{"files", nullptr}}, "files is required as an array"},
      {{{"files", Json::array()}}, "files is required as an array"},
      {{{"files", {{"content", "1"}}}}, "files is required as an array"},
      {{{"files", {5}}}, "files[0].content is required as a string"},
      {{{"files", Json::array({{{"content", 5}}})}}, "files[0].content is required as a string"},
      {{{"files", Json::array({{{"content", "!"}, {"encoding", "base64"}}})}},
       "files[0].content is not in the encoding that it names"},
      {{{"files", Json::array({{{"content", "0g"}, {"encoding", "hex"}}})}},
       "files[0].content is not in the encoding that it names"},
      {{{"files", Json::array({{{"content", "YQ=="}, {"encoding", "base64"}}})}},
       "files must include at least one utf8 encoded file"},
      {{{"run_timeout", 300'001}}, "run_timeout cannot exceed the configured limit of 300000"},
      {{{"run_timeout", "soon"}}, "run_timeout must be a number"},
      {{{"args", "a"}}, "args must be an array of strings"},
      {{{"stdin", 5}}, "stdin must be a string"},
      {{{"run_memory_limit", 1e15}},
       "run_memory_limit cannot exceed the configured limit of "
       "4294967296"},
  };
  for (const auto& [more, message] : wrong) {
    const Answered answer = RunPiston(more);
    EXPECT_EQ(answer.status, 400u) << more;
    EXPECT_EQ(answer.body, (Json{{"message", message}}));
  }
  const Answered two =
      RunPiston({{"files", Json::array({{{"content", "1"}}, {{"content", "2"}}})}});
  EXPECT_EQ(two.status, 400u);
  EXPECT_NE(two.body["message"].get<std::string>().find("fronts.piston"), std::string::npos);
  EXPECT_TRUE(calls_.empty());
}

TEST_F(FrontsTest, PistonsFirstTextIsTheProgram) {
  terms_.has_workspace = true;
  RunPiston({{"files", Json::array({{{"content", "61"}, {"encoding", "hex"}},
                                    {{"name", "main.py"}, {"content", "1"}},
                                    {{"name", "./data.txt"}, {"content", "d"}}})}});
  EXPECT_EQ(calls_.at(0)["code"], "1");
  EXPECT_EQ(calls_.at(0)["files"],
            Json::array({{{"path", "file0.code"}, {"base64", host::EncodeBase64("a")}},
                         {{"path", "data.txt"}, {"base64", host::EncodeBase64("d")}}}));
}

TEST(PistonTest, SelectorsOfPython3) {
  for (const char* selector : {"*", "3", "3.x", "3.10.0", "^3.10", "~3.9", ">=3.6", "v3.11", "x"}) {
    EXPECT_TRUE(SelectsPython3(selector)) << selector;
  }
  for (const char* selector : {"", "2.7.18", "^2", "30", "31.0", "=", "python"}) {
    EXPECT_FALSE(SelectsPython3(selector)) << selector;
  }
}

// --- Judge0 -------------------------------------------------------------------------------------

TEST_F(FrontsTest, Judge0JudgesWhileTheClientWaits) {
  const Answered answer = Submit({{"stdin", "in"},
                                  {"command_line_arguments", "a 'b c'"},
                                  {"expected_output", "hello  \n\n"},
                                  {"wall_time_limit", 3},
                                  {"memory_limit", "131072"}});
  EXPECT_EQ(answer.status, 201u);
  EXPECT_EQ(calls_.at(0), (Json{{"code", "print('hello')"},
                                {"profile", "basic"},
                                {"stdin", "in"},
                                {"args", {"a", "b c"}},
                                {"timeout", 3.0},
                                {"memory_limit", 128 << 20}}));
  const Json& body = answer.body;
  EXPECT_EQ(body["status"], (Json{{"id", 3}, {"description", "Accepted"}})) << body;
  EXPECT_EQ(body["stdout"], "hello\n");
  EXPECT_EQ(body["stderr"], nullptr);
  EXPECT_EQ(body["compile_output"], nullptr);
  EXPECT_EQ(body["message"], nullptr);
  EXPECT_EQ(body["time"], "0.125");
  EXPECT_EQ(body["wall_time"], "0.250");
  EXPECT_EQ(body["memory"], 20 << 10);
  EXPECT_EQ(body["exit_code"], 0);
  EXPECT_EQ(body["exit_signal"], nullptr);
  EXPECT_EQ(body["language"], (Json{{"id", 71}, {"name", "Python (3.11.2)"}}));
  EXPECT_EQ(body["token"].get<std::string>().size(), 36u);
  EXPECT_EQ(body["token"].get<std::string>()[14], '4');
  EXPECT_TRUE(body["finished_at"].get<std::string>().ends_with("Z"));
  EXPECT_EQ(Submit({}, "wait=true").body.size(), 8u);
  EXPECT_EQ(Submit({}, "wait=true&fields=stdout,status_id").body,
            (Json{{"stdout", "hello\n"}, {"status_id", 3}}));
}

// Each verdict follows the cause, whatever the sentence says: here that of another end.
TEST_F(FrontsTest, NoVerdictDependsOnWords) {
  using Cause = host::KillCause;
  struct Case {
    host::Outcome outcome;
    int judge0;
    Json exit_code, signal;  // Judge0's
    const char* piston;
    Json piston_signal;
    Json fusion;  // its return code
  };
  const Json null = nullptr;
  constexpr char kSegv[] = "killed by SIGSEGV", kExit[] = "the process exited with code 0",
                 kSystemCall[] = "killed for a hostile system call",
                 kContainer[] = "the container ended";
  const Case cases[] = {
      {Killed(Cause::kUnknown, kSegv), 12, null, 9, "SG", "SIGKILL", -9},
      {Killed(Cause::kCancelled, kSegv), 13, null, null, "XX", "SIGKILL", null},
      {Killed(Cause::kSystemCall, kContainer), 12, null, 31, "SG", "SIGSYS", -31},
      {Killed(Cause::kUnreadable, kExit), 12, null, 9, "SG", "SIGKILL", -9},
      {Killed(Cause::kExit, kSegv), 11, 1, null, "RE", null, 1},
      {Killed(Cause::kSigkill, kExit), 12, null, 9, "SG", "SIGKILL", -9},
      {Killed(Cause::kSignal, kSystemCall, SIGFPE), 9, null, 8, "SG", "SIGFPE", -8},
      {Killed(Cause::kSignal, "", SIGXFSZ), 8, null, 25, "SG", "SIGXFSZ", -25},
      {Killed(Cause::kContainerEnded, kSegv), 13, null, null, "XX", "SIGKILL", null},
      {Raised("SystemError", kSegv), 11, 1, null, "RE", null, 1},
      {OutcomeOf(host::Status::kOk, kSegv, kSegv), 3, 0, null, "", null, 0},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(std::string(host::NameOf(each.outcome.kill_cause)));
    outcomes_ = {each.outcome};
    const Json submission = Submit().body;
    EXPECT_EQ(submission["status"]["id"], each.judge0);
    EXPECT_EQ(submission["exit_code"], each.exit_code);
    EXPECT_EQ(submission["exit_signal"], each.signal);
    const Json run = RunPiston().body["run"];
    EXPECT_EQ(run["status"].is_null() ? "" : run["status"].get<std::string>(), each.piston);
    EXPECT_EQ(run["signal"], each.piston_signal);
    EXPECT_EQ(RunCode().body["run_result"]["return_code"], each.fusion);
  }
}

TEST_F(FrontsTest, Judge0HasAStatusForEachEnd) {
  host::Outcome busy = OutcomeOf(host::Status::kOk);
  busy.usage.cpu_time = std::chrono::seconds(7);  // more than 5 and 1
  const std::tuple<host::Outcome, int, Json, Json> cases[] = {
      {OutcomeOf(host::Status::kOk, "other"), 4, 0, nullptr},
      {Raised(), 11, 1, nullptr},
      {Refused(), 11, 1, nullptr},
      {Exited(3), 11, 3, nullptr},
      {Stopped(host::Status::kTimeout, "x"), 5, nullptr, nullptr},
      {Stopped(host::Status::kCpuLimit, "x"), 5, nullptr, nullptr},
      {busy, 5, nullptr, nullptr},
      {Stopped(host::Status::kMemoryLimit, "x"), 12, nullptr, 9},
      {Killed(host::KillCause::kSignal, "killed by SIGSEGV", SIGSEGV), 7, nullptr, 11},
      {Killed(host::KillCause::kSignal, "killed by SIGXFSZ", SIGXFSZ), 8, nullptr, 25},
      {Killed(host::KillCause::kSignal, "killed by SIGFPE", SIGFPE), 9, nullptr, 8},
      {Killed(host::KillCause::kSignal, "killed by SIGABRT", SIGABRT), 10, nullptr, 6},
      {Killed(host::KillCause::kSigkill, "killed by SIGKILL"), 12, nullptr, 9},
      {Killed(host::KillCause::kCancelled, "cancelled"), 13, nullptr, nullptr},
  };
  for (const auto& [outcome, status, code, signal] : cases) {
    outcomes_ = {outcome};
    const Json body = Submit({{"expected_output", "hello"}}).body;
    EXPECT_EQ(body["status"]["id"], status) << body;
    EXPECT_EQ(body["exit_code"], code) << body;
    EXPECT_EQ(body["exit_signal"], signal) << body;
  }
}

TEST_F(FrontsTest, Judge0KeepsASubmissionForItsOwner) {
  Hold();
  const Answered created = Submit({}, "");
  EXPECT_EQ(created.status, 201u);
  ASSERT_EQ(created.body.size(), 1u);
  const std::string token = created.body["token"];
  const auto show = [&](const char* caller, std::string query = "") {
    return Ask(WebMethod::kGet, "/submissions/{token}", "", std::move(query), {token}, caller);
  };
  const auto remove = [&](const char* caller) {
    return Ask(WebMethod::kDelete, "/submissions/{token}", "", "", {token}, caller);
  };
  EXPECT_EQ(show("ann").body["status"]["id"], 1);
  EXPECT_EQ(show("ann").body["time"], nullptr);
  EXPECT_EQ(remove("ann").status, 400u);
  EXPECT_EQ(show("bob").status, 404u);
  EXPECT_EQ(remove("bob").status, 404u);
  const Answered batch = Ask(WebMethod::kGet, "/submissions/batch", "",
                             "tokens=" + token + ",other&fields=status_id", {}, "bob");
  EXPECT_EQ(batch.body, (Json{{"submissions", {nullptr, nullptr}}}));
  Release();
  EXPECT_TRUE(tests::Eventually([&] { return show("ann").body["status"]["id"] != 1; }));
  EXPECT_EQ(show("ann", "base64_encoded=true").body["stdout"], host::EncodeBase64("hello\n"));
  EXPECT_EQ(show("bob").status, 404u);
  EXPECT_EQ(remove("ann").body["stdout"], host::EncodeBase64("hello\n"));
  EXPECT_EQ(show("ann").status, 404u);
}

TEST_F(FrontsTest, Judge0StopsARunWhoseClientWaitsNoLonger) {
  Hold();
  WebRequest request;
  request.body = Json{{"source_code", "1"}, {"language_id", 71}}.dump();
  request.query = "wait=true";
  const std::shared_ptr<Cancellation> peer_gone = request.peer_gone;
  const auto reply = Send(WebMethod::kPost, "/submissions/", std::move(request));
  WaitForCalls(1);
  EXPECT_FALSE(reply->Wait(seconds(0)));
  {
    std::lock_guard lock(mutex_);
    peer_gone->Cancel();
    came_.notify_all();
  }
  EXPECT_TRUE(reply->Wait());
}

TEST_F(FrontsTest, Judge0RefusesAsRailsDoes) {
  const std::pair<Json, const char*> wrong[] = {
      {{{"source_code", nullptr}}, "source_code"},
      {{{"source_code", ""}}, "source_code"},
      {{{"source_code", 5}}, "source_code"},
      {{{"language_id", nullptr}}, "language_id"},
      {{{"language_id", 50}}, "language_id"},
      {{{"language_id", 71.5}}, "language_id"},
      {{{"language_id", 1e300}}, "language_id"},
      {{{"cpu_time_limit", 0}}, "cpu_time_limit"},
      {{{"wall_time_limit", 301}}, "wall_time_limit"},
      {{{"memory_limit", 1e12}}, "memory_limit"},
      {{{"number_of_runs", 2}}, "number_of_runs"},
      {{{"enable_network", true}}, "enable_network"},
      {{{"callback_url", "http://127.0.0.1:1/"}}, "callback_url"},
      {{{"additional_files", "UEsDBA=="}}, "additional_files"},
      {{{"compiler_options", "-O"}}, "compiler_options"},
      {{{"command_line_arguments", std::string(513, 'a')}}, "command_line_arguments"},
      {{{"redirect_stderr_to_stdout", "maybe"}}, "redirect_stderr_to_stdout"},
  };
  for (const auto& [more, field] : wrong) {
    const Answered answer = Submit(more);
    EXPECT_EQ(answer.status, 422u) << more;
    EXPECT_TRUE(answer.body.contains(field)) << answer.body;
    EXPECT_TRUE(answer.body[field][0].is_string());
  }
  EXPECT_EQ(Submit({{"source_code", "no base64!"}}, "base64_encoded=true").status, 422u);
  EXPECT_EQ(Submit({}, "fields=stdout,nothing").body,
            (Json{{"error", "invalid fields: [nothing]"}}));
  EXPECT_EQ(Submit({}, "fields=%zz").status, 400u);
  EXPECT_TRUE(calls_.empty());
  EXPECT_EQ(Submit({{"language_id", "71"}}).status, 201u);  // a number in a text
}

TEST_F(FrontsTest, Judge0TakesBatches) {
  const Json good = {{"source_code", "1"}, {"language_id", 92}};
  const Answered created =
      Post("/submissions/batch", {{"submissions", {good, {{"source_code", "1"}}, 5, good}}});
  EXPECT_EQ(created.status, 201u);
  ASSERT_EQ(created.body.size(), 4u);
  EXPECT_TRUE(created.body[0].contains("token"));
  EXPECT_TRUE(created.body[1].contains("language_id"));
  EXPECT_TRUE(created.body[2].contains("error"));
  const std::string tokens = created.body[3]["token"].get<std::string>() + "," +
                             created.body[0]["token"].get<std::string>();
  const Json shown =
      Ask(WebMethod::kGet, "/submissions/batch", "", "tokens=" + tokens + "&fields=token").body;
  EXPECT_EQ(shown["submissions"][0]["token"], created.body[3]["token"]);
  EXPECT_EQ(shown["submissions"][1]["token"], created.body[0]["token"]);
  EXPECT_EQ(Post("/submissions/batch", {{"submissions", Json(21, good)}}).status, 400u);
  EXPECT_EQ(Post("/submissions/batch", {{"submissions", Json::array()}}).status, 400u);
  EXPECT_EQ(Post("/submissions/batch", {{"submissions", {5}}}).status, 422u);
  EXPECT_EQ(Ask(WebMethod::kGet, "/submissions/batch").status, 400u);
}

TEST_F(FrontsTest, Judge0TellsAboutItself) {
  EXPECT_EQ(Ask(WebMethod::kGet, "/about").body["version"], "1.13.1");
  EXPECT_EQ(Ask(WebMethod::kGet, "/statuses").body.size(), 14u);
  EXPECT_EQ(Ask(WebMethod::kGet, "/languages").body[0],
            (Json{{"id", 71}, {"name", "Python (3.11.2)"}}));
  EXPECT_EQ(Ask(WebMethod::kGet, "/languages/all").body[0]["is_archived"], false);
  EXPECT_EQ(Ask(WebMethod::kGet, "/languages/{id}", "", "", {"92"}).body["id"], 92);
  for (const char* id : {"50", "x", "71x", "-1", "99999999999999999999"}) {
    EXPECT_EQ(Ask(WebMethod::kGet, "/languages/{id}", "", "", {id}).status, 404u) << id;
  }
  const Json config = Ask(WebMethod::kGet, "/config_info").body;
  EXPECT_EQ(config["enable_callbacks"], false);
  EXPECT_EQ(config["max_wall_time_limit"], 300.0);
  EXPECT_EQ(config["max_queue_size"], 5);
  EXPECT_EQ(Ask(WebMethod::kGet, "/system_info").body["Belljar"], "1.2.3");
}

TEST(Judge0Test, SplitsWordsAsAShellDoes) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(ShellWords(""), Words());
  EXPECT_EQ(ShellWords("  a\tb\n"), (Words{"a", "b"}));
  EXPECT_EQ(ShellWords("'a b' \"c \\\" d\" e\\ f ''"), (Words{"a b", "c \" d", "e f", ""}));
  EXPECT_EQ(ShellWords("$HOME `id` 'open"), (Words{"$HOME", "`id`", "open"}));
  EXPECT_EQ(ShellWords("\\"), (Words{"\\"}));
}

std::shared_ptr<const Submission> MakeSubmission(std::string token, size_t size) {
  auto submission = std::make_shared<Submission>();
  submission->token = std::move(token);
  submission->source_code = std::string(size, 'x');
  return submission;
}

TEST(MemorySubmissionsTest, TheGreediestOwnerLosesTheOldest) {
  MemorySubmissions store({.count = 4, .total = core::Bytes::Kibi(64), .lifetime = seconds(60)});
  store.Put("ann", MakeSubmission("a1", 10));
  for (const char* token : {"b1", "b2", "b3", "b4"}) store.Put("bob", MakeSubmission(token, 10));
  EXPECT_TRUE(store.Find("ann", "a1"));
  EXPECT_FALSE(store.Find("bob", "b1"));
  EXPECT_TRUE(store.Find("bob", "b4"));
  EXPECT_FALSE(store.Find("ann", "b4"));
  store.Put("bob", MakeSubmission("b4", 20));  // its next state
  EXPECT_TRUE(store.Find("bob", "b2"));
  EXPECT_EQ(store.Find("bob", "b4")->source_code.size(), 20u);
  store.Put("bob", MakeSubmission("b5", 62 << 10));
  EXPECT_TRUE(store.Find("bob", "b5"));
  EXPECT_FALSE(store.Find("bob", "b4"));
  store.Remove("ann", "b5");
  EXPECT_TRUE(store.Find("bob", "b5"));
  store.Remove("bob", "b5");
  EXPECT_FALSE(store.Find("bob", "b5"));
}

TEST(MemorySubmissionsTest, ForgetsAfterATime) {
  MemorySubmissions store({.lifetime = std::chrono::milliseconds(1)});
  store.Put("ann", MakeSubmission("a1", 10));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // sleeps: longer than that
  EXPECT_FALSE(store.Find("ann", "a1"));
}

}  // namespace
}  // namespace belljar::server::fronts::fronts_test
