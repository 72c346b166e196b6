// The HTTP API with tools that the test writes: what they are asked, what clients are answered, and
// what is kept between requests.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "server/rest/file_answer.h"
#include "server/rest/idempotency.h"
#include "server/rest/open_api.h"
#include "server/rest/rest_service.h"

namespace belljar::server::rest::rest_test {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;
using std::chrono::seconds;
using Fault = ToolResult::Fault;

class FakeTool : public Tool {
 public:
  FakeTool(const char* name, const std::vector<std::string>& arguments, bool uses_worker)
      : uses_worker_(uses_worker) {
    description_.name = name;
    OrderedJson properties = OrderedJson::object();
    for (const std::string& argument : arguments) properties[argument] = {{"type", "string"}};
    if (properties.contains("wait")) properties["wait"] = {{"type", "number"}};
    if (properties.contains("interrupt")) properties["interrupt"] = {{"type", "boolean"}};
    description_.input_schema = {{"type", "object"}, {"properties", properties}};
    if (properties.contains("code")) description_.input_schema["required"] = {"code"};
  }
  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return uses_worker_; }
  core::Result<ToolResult> Call(const ToolCall& call) override {
    {
      std::lock_guard lock(mutex_);
      calls_.push_back(call.arguments);
    }
    return answer(call);
  }
  std::vector<Json> Take() {
    std::lock_guard lock(mutex_);
    return std::exchange(calls_, {});
  }

  std::function<core::Result<ToolResult>(const ToolCall&)> answer = [](const ToolCall& call) {
    return ToolResult{Json({{"echo", call.arguments}}).dump(), "", false, Fault::kNone, {}};
  };

 private:
  const bool uses_worker_;
  ToolDescription description_;
  std::mutex mutex_;
  std::vector<Json> calls_;
};

class FakeReply : public WebReply {
 public:
  void Finish(WebAnswer answer) override {
    std::lock_guard lock(mutex_);
    EXPECT_FALSE(ended_);
    answer_ = std::move(answer);
    End(lock);
  }
  void Begin(WebAnswer head) override {
    std::lock_guard lock(mutex_);
    answer_ = std::move(head);
  }
  void Write(std::string piece) override {
    std::lock_guard lock(mutex_);
    EXPECT_FALSE(ended_);
    answer_.body += piece;
  }
  void End() override {
    std::lock_guard lock(mutex_);
    EXPECT_FALSE(ended_);
    End(lock);
  }
  bool AwaitRoom(size_t, std::chrono::steady_clock::time_point) override { return has_room; }

  WebAnswer Await() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(came_.wait_for(lock, seconds(20), [this] { return ended_; }));
    return answer_;
  }
  bool ended() {
    std::lock_guard lock(mutex_);
    return ended_;
  }

  std::atomic<bool> has_room = true;

 private:
  void End(const std::lock_guard<std::mutex>&) {
    ended_ = true;
    came_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable came_;
  WebAnswer answer_;
  bool ended_ = false;
};

class RestTest : public testing::Test {
 protected:
  RestTest() {
    RestService::Parts parts;
    const auto add = [&](FakeTool*& tool, const char* name,
                         const std::vector<std::string>& arguments, bool uses_worker) {
      auto owned = std::make_unique<FakeTool>(name, arguments, uses_worker);
      tool = owned.get();
      parts.tools.push_back(std::move(owned));
    };
    add(execute_, "execute_code", {"code", "stdin", "timeout", "session", "wait", "detail"}, true);
    add(validate_, "validate_code", {"code", "detail"}, true);
    add(info_, "get_sandbox_info", {"profile", "module", "detail"}, false);
    parts.version = "1.2.3";
    parts.python_version = "3.11.2";
    parts.profiles = {"basic", "network"};
    parts.limits = [this] { return OrderedJson({{"running", running_}}); };
    parts.change_limits = [this](const Caller& caller, const Json& patch) -> core::Result<void> {
      if (!patch.is_object() || !patch.contains("running"))
        return core::MakeError("", "there is no such limit");
      running_ = patch["running"];
      changed_by_ = caller.name;
      return {};
    };
    parts.statistics = [] { return OrderedJson({{"queue", 1}}); };
    parts.batch_width = 2;
    service_.emplace(std::move(parts), calls_, resources_, nullptr);
  }
  ~RestTest() override {
    calls_.CancelAll();
    queue_.Drain(std::chrono::steady_clock::now() + seconds(20));
  }

  std::shared_ptr<FakeReply> Start(const char* id, WebRequest request) {
    auto reply = std::make_shared<FakeReply>();
    const std::vector<Operation> operations = Operations({});
    const auto found = std::find_if(operations.begin(), operations.end(), [&](const auto& each) {
      return std::string_view(each.id) == id;
    });
    EXPECT_NE(found, operations.end()) << id;
    service_->Handle(static_cast<size_t>(found - operations.begin()), std::move(request), reply);
    return reply;
  }
  WebAnswer Ask(const char* id, WebRequest request) {
    return Start(id, std::move(request))->Await();
  }
  WebAnswer Execute(const Json& body, const std::string& key = "", const char* caller = "local") {
    WebRequest request;
    request.body = body.dump();
    if (!key.empty()) request.headers.idempotency_key = key;
    request.caller.name = caller;
    return Ask("createExecution", std::move(request));
  }
  static WebRequest Body(std::string body) {
    WebRequest request;
    request.body = std::move(body);
    return request;
  }
  static void ExpectProblem(const WebAnswer& answer, unsigned status, std::string_view detail) {
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_EQ(answer.type, "application/problem+json");
    EXPECT_NE(answer.body.find(detail), std::string::npos) << answer.body;
  }
  static std::vector<Json> Lines(const std::string& body) {
    std::vector<Json> lines;
    for (size_t at = 0; at < body.size();) {
      const size_t end = body.find('\n', at);
      lines.push_back(Json::parse(body.substr(at, end - at)));
      at = end + 1;
    }
    return lines;
  }

  CallQueue queue_{{.running = 2, .waiting = 2}};
  Calls calls_{queue_};
  ResourceStore resources_;
  int running_ = 2;
  std::string changed_by_;
  FakeTool* execute_ = nullptr;
  FakeTool* validate_ = nullptr;
  FakeTool* info_ = nullptr;
  std::optional<RestService> service_;
};

TEST_F(RestTest, AStreamHasOutputAndTheOutcome) {
  execute_->answer = [](const ToolCall& call) {
    if (call.on_output) call.on_output("one\n");
    return ToolResult{"{}", "", false, Fault::kNone, {}};
  };
  WebRequest request = Body(R"({"code":"talk"})");
  request.headers.accept = "application/json;q=0.5, Application/JSONL";
  const WebAnswer answer = Ask("createExecution", std::move(request));
  EXPECT_EQ(answer.type, "application/jsonl");
  EXPECT_EQ(answer.body, "{\"output\":\"one\\n\"}\n{\"execution\":{}}\n");
  // Without the type there is no stream.
  EXPECT_EQ(Execute({{"code", "talk"}}).type, "application/json");
}

TEST_F(RestTest, AsksTheTool) {
  const WebAnswer answer = Execute({{"code", "1"}, {"stdin", "x"}});
  EXPECT_EQ(answer.status, 200u);
  EXPECT_EQ(answer.type, "application/json");
  EXPECT_EQ(Json::parse(answer.body), Json({{"echo", {{"code", "1"}, {"stdin", "x"}}}}));
}

TEST_F(RestTest, OnlyOperatorsChangeLimits) {
  WebRequest request = Body(R"({"running": 1})");
  request.caller.name = "team-a";
  ExpectProblem(Ask("changeLimits", request), 403, "operator");
  EXPECT_EQ(running_, 2);
  request.caller.is_operator = true;
  const WebAnswer answer = Ask("changeLimits", request);
  EXPECT_EQ(answer.status, 200u);
  EXPECT_EQ(Json::parse(answer.body)["running"], 1);
  EXPECT_EQ(Json::parse(answer.body)["token"]["name"], "team-a");
  EXPECT_EQ(changed_by_, "team-a");
  for (const char* body : {"", "1", "{", "{\"runing\": 3}"}) {
    request.body = body;
    EXPECT_TRUE(Ask("changeLimits", request).status == 422u) << body;
  }
  request.body = R"({"running": 2})";
  request.query = "a=1";
  ExpectProblem(Ask("changeLimits", request), 400, "query");
  EXPECT_EQ(running_, 1);
}

TEST_F(RestTest, TakesArgumentsFromTheQuery) {
  WebRequest request;
  request.query = "profile=basic&module=a+b";
  EXPECT_EQ(Ask("getInfo", request).status, 200u);
  EXPECT_EQ(info_->Take().at(0), Json({{"profile", "basic"}, {"module", "a b"}}));
  request.query = "profil=basic";
  ExpectProblem(Ask("getInfo", request), 400, "profil");
  request.query = "profile=%";
  ExpectProblem(Ask("getInfo", request), 400, "percent-encoded");
  EXPECT_TRUE(info_->Take().empty());
}

TEST_F(RestTest, RefusesBodiesThatItDoesNotKnow) {
  for (const auto& [body, detail] : std::vector<std::pair<std::string, std::string>>{
           {"{", "not valid JSON"},
           {"[]", "must be a JSON object"},
           {"3", "must be a JSON object"},
           {R"({"code":"1","cod":"2"})", "cod"},
           {R"({"code":"1","code":"2"})", "duplicate key"},
           {R"({"code":null})", "omit it"},
           {R"({"code":"1","session":"new"})", "session"},
           {R"({"code":)" + std::string(100, '[') + std::string(100, ']') + "}", "nested deeper"},
           {"{\"code\":\"\xff\"}", "not valid JSON"},
       }) {
    ExpectProblem(Ask("createExecution", Body(body)), 422, detail);
  }
  EXPECT_TRUE(execute_->Take().empty());
}

TEST_F(RestTest, DistinguishesFaults) {
  for (const auto& [fault, status] : std::vector<std::pair<Fault, unsigned>>{
           {Fault::kArguments, 422},
           {Fault::kNotFound, 404},
           {Fault::kConflict, 409},
           {Fault::kUnavailable, 503},
       }) {
    execute_->answer = [fault = fault](const ToolCall&) {
      return ToolResult{"", "execute_code: what is wrong", true, fault, {}};
    };
    const WebAnswer answer = Execute({{"code", "1"}});
    ExpectProblem(answer, status, "what is wrong");
    EXPECT_EQ(answer.headers, status == 503 ? "Retry-After: 1\r\n" : "");
  }
  // A program that fails is an answer.
  execute_->answer = [](const ToolCall&) {
    return ToolResult{"{\"success\":false}", "", true, Fault::kNone, {}};
  };
  EXPECT_EQ(Execute({{"code", "1"}}).status, 200u);
  execute_->answer = [](const ToolCall&) -> core::Result<ToolResult> {
    return core::SystemErrorOf(EMFILE, "open the worker");
  };
  ExpectProblem(Execute({{"code", "1"}}), 500, "open the worker");
  execute_->answer = [](const ToolCall&) -> core::Result<ToolResult> {
    throw std::runtime_error("surprise");
  };
  ExpectProblem(Execute({{"code", "1"}}), 500, "surprise");
}

TEST_F(RestTest, RefusesWhatTheQueueHasNoPlaceFor) {
  std::promise<void> end;
  execute_->answer = [ended = end.get_future().share()](const ToolCall&) {
    ended.wait();
    return ToolResult{"{}", "", false, Fault::kNone, {}};
  };
  std::vector<std::shared_ptr<FakeReply>> replies;
  replies.reserve(4);
  for (int i = 0; i < 4; ++i) replies.push_back(Start("createExecution", Body(R"({"code":"1"})")));
  const WebAnswer refused = Ask("createExecution", Body(R"({"code":"1"})"));
  ExpectProblem(refused, 429, "overloaded");
  EXPECT_TRUE(refused.headers.starts_with("Retry-After: ")) << refused.headers;
  ExpectProblem(Ask("createBatch", Body(R"({"executions":[{"code":"1"}]})")), 429, "overloaded");
  end.set_value();
  for (const auto& reply : replies) EXPECT_EQ(reply->Await().status, 200u);
  queue_.Drain(std::chrono::steady_clock::now() + seconds(20));
  ExpectProblem(Ask("createExecution", Body(R"({"code":"1"})")), 503, "shutting down");
}

TEST_F(RestTest, ReportsWhatItIs) {
  WebRequest request;
  request.caller.profiles = std::vector<std::string>{"basic"};
  request.caller.name = "anna";
  request.caller.rate = 5;
  request.caller.burst = 10;
  EXPECT_EQ(Json::parse(Ask("listRuntimes", request).body)["runtimes"][0]["profiles"],
            Json({"basic"}));
  const Json limits = Json::parse(Ask("getLimits", request).body);
  EXPECT_EQ(limits["running"], 2);
  EXPECT_EQ(limits["token"],
            Json({{"name", "anna"}, {"concurrency", nullptr}, {"rate", 5.0}, {"burst", 10}}));
  EXPECT_EQ(Json::parse(Ask("getStatistics", request).body), Json({{"queue", 1}}));
  const Json document = Json::parse(Ask("getOpenApi", request).body);
  EXPECT_EQ(document["info"]["version"], "1.2.3");
  const Json body = document["paths"]["/v1/executions"]["post"]["requestBody"]["content"]
                            ["application/json"]["schema"];
  EXPECT_TRUE(body["properties"].contains("stdin"));
  EXPECT_FALSE(body["properties"].contains("session"));
  EXPECT_FALSE(document["paths"].contains("/v1/sessions"));
}

// --- Idempotency-Key -----------------------------------------------------------------------------

TEST_F(RestTest, AnswersARepeatedKeyAsBefore) {
  const WebAnswer first = Execute({{"code", "1"}}, "k");
  const WebAnswer again = Execute({{"code", "1"}}, "k");
  EXPECT_EQ(again.status, first.status);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.headers, "Idempotency-Replayed: true\r\n");
  EXPECT_EQ(execute_->Take().size(), 1u);
  ExpectProblem(Execute({{"code", "2"}}, "k"), 422, "another request");
  EXPECT_TRUE(execute_->Take().empty());
  // Keys belong to their owners.
  EXPECT_EQ(Execute({{"code", "2"}}, "k", "anna").status, 200u);
  EXPECT_EQ(execute_->Take().size(), 1u);
  ExpectProblem(Execute({{"code", "1"}}, std::string(256, 'k')), 400, "1 to 255");
}

TEST_F(RestTest, RunsAgainWhatHadNoEffect) {
  execute_->answer = [](const ToolCall&) {
    return ToolResult{"", "later", true, Fault::kUnavailable, {}};
  };
  EXPECT_EQ(Execute({{"code", "1"}}, "k").status, 503u);
  EXPECT_EQ(Execute({{"code", "1"}}, "k").status, 503u);
  EXPECT_EQ(execute_->Take().size(), 2u);
}

TEST_F(RestTest, ReportsThatTheFirstIsStillRunning) {
  std::promise<void> end;
  execute_->answer = [ended = end.get_future().share()](const ToolCall&) {
    ended.wait();
    return ToolResult{"{}", "", false, Fault::kNone, {}};
  };
  WebRequest request = Body(R"({"code":"1"})");
  request.headers.idempotency_key = "k";
  const std::shared_ptr<FakeReply> first = Start("createExecution", request);
  ExpectProblem(Ask("createExecution", request), 409, "still running");
  end.set_value();
  EXPECT_EQ(first->Await().status, 200u);
}

TEST(IdempotencyTest, ForgetsInTimeAndWhenFull) {
  auto now = std::chrono::steady_clock::now();
  IdempotencyStore store({.lifetime = seconds(10), .count = 2, .total = core::Bytes{100}},
                         [&] { return now; });
  using Found = IdempotencyStore::Found;
  const auto answer = [&](const std::string& key, size_t size) {
    EXPECT_EQ(store.Begin("o", key, "d").found, Found::kNew) << key;
    store.End("o", key, {200, "text/plain", std::string(size, 'x'), ""});
  };
  const auto knows = [&](const std::string& key) {
    const bool known = store.Begin("o", key, "d").found == Found::kAnswered;
    if (!known) store.Forget("o", key);
    return known;
  };
  answer("a", 1);
  answer("b", 1);
  answer("c", 1);  // by number
  EXPECT_FALSE(knows("a"));
  EXPECT_TRUE(knows("b"));
  answer("d", 99);  // by size
  EXPECT_FALSE(knows("b"));
  EXPECT_TRUE(knows("c"));
  answer("e", 101);  // is never kept
  EXPECT_FALSE(knows("e"));
  EXPECT_TRUE(knows("d"));
  now += seconds(11);
  EXPECT_FALSE(knows("d"));
}

// --- batches -------------------------------------------------------------------------------------

TEST_F(RestTest, RunsBatches) {
  execute_->answer = [](const ToolCall& call) {
    if (call.arguments.value("stdin", "") == "bad") {
      return ToolResult{"", "no", true, Fault::kArguments, {}};
    }
    return ToolResult{Json({{"got", call.arguments}}).dump(), "", false, Fault::kNone, {}};
  };
  const WebAnswer answer = Ask(
      "createBatch", Body(Json({{"program", {{"code", "p"}, {"stdin", "0"}}},
                                {"inputs", {{{"stdin", "1"}}, Json::object(), {{"stdin", "bad"}}}}})
                              .dump()));
  EXPECT_EQ(answer.type, "application/jsonl");
  std::vector<Json> lines = Lines(answer.body);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines.back(), Json({{"done", {{"executions", 2}, {"problems", 1}}}}));
  std::map<int, Json> by_index;
  for (size_t i = 0; i < 3; ++i) by_index[lines[i]["index"]] = lines[i];
  EXPECT_EQ(by_index[0]["execution"]["got"], Json({{"code", "p"}, {"stdin", "1"}}));
  EXPECT_EQ(by_index[1]["execution"]["got"], Json({{"code", "p"}, {"stdin", "0"}}));
  EXPECT_EQ(by_index[2]["problem"]["status"], 422);
}

TEST_F(RestTest, RunsLongBatchesBesideOtherCalls) {
  Json calls = Json::array();
  for (int i = 0; i < 500; ++i) calls.push_back({{"code", std::to_string(i)}});
  std::promise<void> go_on;
  execute_->answer = [&, may_go_on = go_on.get_future().share()](const ToolCall& call) {
    if (call.arguments["code"] == "499") may_go_on.wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // sleeps: the other call comes
    return ToolResult{"{}", "", false, Fault::kNone, {}};
  };
  const auto batch = Start("createBatch", Body(Json({{"executions", calls}}).dump()));
  // Its turns take both threads of the queue, and a call comes between them.
  EXPECT_EQ(Ask("createValidation", Body(R"({"code":"1"})")).status, 200u);
  EXPECT_FALSE(batch->ended());
  go_on.set_value();
  const std::vector<Json> lines = Lines(batch->Await().body);
  ASSERT_EQ(lines.size(), 501u);
  std::set<int> indices;
  for (size_t i = 0; i < 500; ++i) indices.insert(lines[i]["index"].get<int>());
  EXPECT_EQ(indices.size(), 500u);
  EXPECT_EQ(execute_->Take().size(), 500u);
}

TEST_F(RestTest, RefusesBatchesThatItCannotRead) {
  Json many = Json::array();
  for (size_t i = 0; i <= kMaxBatch; ++i) many.push_back(Json::object());
  for (const std::string& body :
       {std::string("["), std::string("{}"), std::string(R"({"executions":[]})"),
        std::string(R"({"executions":{}})"), std::string(R"({"executions":[1]})"),
        std::string(R"({"executions":[{}],"inputs":[{}]})"),
        std::string(R"({"program":"x","inputs":[{}]})"), std::string(R"({"program":{}})"),
        std::string(R"({"executions":[{"code":"1","session":"new"}]})"),
        Json({{"executions", many}}).dump()}) {
    ExpectProblem(Ask("createBatch", Body(body)), 422, "detail");
  }
  EXPECT_TRUE(execute_->Take().empty());
}

TEST_F(RestTest, StopsABatchThatNobodyReads) {
  std::promise<void> began;
  execute_->answer = [&, is_first = std::make_shared<std::once_flag>()](const ToolCall& call) {
    std::call_once(*is_first, [&] { began.set_value(); });
    while (!call.cancellation->cancelled()) std::this_thread::yield();
    return ToolResult{"{}", "", false, Fault::kNone, {}};
  };
  Json calls = Json::array();
  for (int i = 0; i < 100; ++i) calls.push_back({{"code", "1"}});
  WebRequest request = Body(Json({{"executions", calls}}).dump());
  const std::shared_ptr<Cancellation> peer_gone = request.peer_gone;
  const auto reply = Start("createBatch", std::move(request));
  began.get_future().wait();
  peer_gone->Cancel();
  queue_.Drain(std::chrono::steady_clock::now() + seconds(20));
  EXPECT_FALSE(reply->ended());  // cut off, not at its end
  EXPECT_LE(execute_->Take().size(), 2u);
}

// --- files ---------------------------------------------------------------------------------------

TEST_F(RestTest, ServesArtifactsToTheirOwner) {
  const auto bytes = std::make_shared<const std::string>("0123456789");
  resources_.Keep("anna",
                  {ArtifactUri("e1", "a b/\u00fc.txt"), "\u00fc.txt", "text/plain", true, bytes});
  WebRequest request;
  request.parameters = {"e1", "a b/\u00fc.txt"};
  ExpectProblem(Ask("getArtifact", request), 404, "artifact");
  request.caller.name = "anna";
  const WebAnswer answer = Ask("getArtifact", request);
  EXPECT_EQ(answer.status, 200u);
  EXPECT_EQ(answer.body, *bytes);
  EXPECT_EQ(answer.type, "text/plain");
  EXPECT_NE(answer.headers.find("filename*=UTF-8''%C3%BC.txt\r\n"), std::string::npos);
  EXPECT_NE(answer.headers.find("Content-Security-Policy: sandbox"), std::string::npos);
}

TEST(FileAnswerTest, AnswersConditionsAndRanges) {
  const ServedFile file{std::make_shared<const std::string>("0123456789"), "text/plain",
                        "a\r\nSet-Cookie: x"};
  const WebAnswer whole = FileAnswer(file, {});
  EXPECT_EQ(whole.headers.find("Set-Cookie: x"), std::string::npos);
  const size_t at = whole.headers.find("ETag: ") + 6;
  const std::string tag = whole.headers.substr(at, whole.headers.find("\r\n") - at);
  ASSERT_EQ(tag.size(), 34u);

  for (const std::string& match : {tag, "\"x\", " + tag, std::string("*"), "W/" + tag}) {
    WebHeaders headers;
    headers.if_none_match = match;
    EXPECT_EQ(FileAnswer(file, headers).status, 304u) << match;
    EXPECT_TRUE(FileAnswer(file, headers).body.empty());
  }
  const auto range = [&](const char* text, std::optional<std::string> if_range = {}) {
    WebHeaders headers;
    headers.range = text;
    headers.if_range = std::move(if_range);
    const WebAnswer answer = FileAnswer(file, headers);
    return std::to_string(answer.status) + (answer.status == 416 ? "" : " " + answer.body);
  };
  EXPECT_EQ(range("bytes=0-0"), "206 0");
  EXPECT_EQ(range("bytes=2-4"), "206 234");
  EXPECT_EQ(range("bytes=8-"), "206 89");
  EXPECT_EQ(range("bytes=8-99"), "206 89");
  EXPECT_EQ(range("bytes=-3"), "206 789");
  EXPECT_EQ(range("bytes=-99"), "206 0123456789");
  EXPECT_EQ(range("bytes=10-"), "416");
  EXPECT_EQ(range("bytes=-0"), "416");
  for (const char* ignored : {"bytes=4-2", "bytes=a-b", "bytes=", "lines=1-2", "bytes=0-1,3-4",
                              "bytes=99999999999999999999-"}) {
    EXPECT_EQ(range(ignored), "200 0123456789") << ignored;
  }
  EXPECT_EQ(range("bytes=2-4", tag), "206 234");
  EXPECT_EQ(range("bytes=2-4", "\"other\""), "200 0123456789");
  const ServedFile empty{std::make_shared<const std::string>(), "text/plain", ""};
  WebHeaders headers;
  headers.range = "bytes=0-";
  EXPECT_EQ(FileAnswer(empty, headers).status, 416u);
}

// --- the table -----------------------------------------------------------------------------------

TEST(OperationsTest, EachIsOfOneKind) {
  std::set<std::string> ids, routes;
  for (const Operation& operation :
       Operations({.sessions = true, .languages = true, .jobs = true, .audit = true})) {
    EXPECT_TRUE(ids.insert(operation.id).second) << operation.id;
    const std::string route = std::string(NameOf(operation.method)) + " " + operation.pattern;
    EXPECT_TRUE(routes.insert(route).second) << route;
    EXPECT_FALSE(std::string_view(operation.summary).ends_with('.')) << operation.summary;
    EXPECT_TRUE(std::string_view(operation.description).ends_with('.')) << operation.description;
    EXPECT_TRUE(std::ranges::any_of(
        kTags, [&](const Tag& tag) { return std::string_view(tag.name) == operation.tag; }));
  }
  EXPECT_LT(Operations({.jobs = true, .audit = true}).size(), ids.size());
  EXPECT_LT(Operations({.sessions = true, .audit = true}).size(), ids.size());
}

}  // namespace
}  // namespace belljar::server::rest::rest_test
