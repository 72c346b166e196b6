// The protocol without a transport and without a sandbox: messages in, answers out.
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <optional>
#include <thread>

#include "server/core/resource_store.h"
#include "server/mcp/error_code.h"
#include "server/mcp/revision.h"
#include "server/mcp/service.h"
#include "tests/support/support.h"

namespace belljar::server::mcp::mcp_test {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Says what it was called with; "wait" waits for its cancellation, or for Release.
class EchoTool final : public Tool {
 public:
  explicit EchoTool(std::string name, bool uses_worker) : uses_worker_(uses_worker) {
    description_.name = std::move(name);
    description_.title = "Echo";
    description_.input_schema = {{"type", "object"}};
    description_.output_schema = {{"type", "object"}};
  }
  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return uses_worker_; }
  core::Result<ToolResult> Call(const ToolCall& call) override {
    const std::string what = call.arguments.is_object() ? call.arguments.value("what", "") : "";
    if (what == "fail") return core::MakeError("echo", "no room");
    if (what == "throw") throw std::runtime_error("thrown");
    if (what == "leave") call.deferred->Add([this] { ++left; });
    if (what == "refuse") return ToolResult{"", "say something else", true};
    if (what == "leave files") {
      ToolResult result{"{}", "", false};
      result.contents = contents;
      return result;
    }
    if (what == "start") {
      call.on_status("starting");
      call.on_status("still starting");
    }
    if (what == "talk" || what == "start") {
      call.on_output("one\n");
      call.on_output("two\n");
    }
    if (what == "ask") {
      if (!call.ask_for_line) return ToolResult{"{}", "nobody", false};
      Json lines = Json::array();
      while (const std::optional<std::string> line = call.ask_for_line("Name? ")) {
        lines.push_back(*line);
      }
      return ToolResult{lines.dump(), "", false};
    }
    if (what == "wait") {
      ++waiting;
      (void)tests::Eventually([&] { return call.cancellation->cancelled() || released; });
      --waiting;
    }
    return ToolResult{Json{{"arguments", call.arguments}, {"caller", call.caller.name}}.dump(), "",
                      false};
  }

  std::vector<Content> contents;
  std::atomic<int> waiting = 0;
  std::atomic<int> left = 0;  // steps done after the answer
  std::atomic<bool> released = false;

 private:
  ToolDescription description_;
  const bool uses_worker_;
};

class RecordingReply final : public Reply {
 public:
  void Notify(std::string text) override {
    const std::lock_guard lock(mutex);
    notified.push_back(Json::parse(text));
  }
  void Finish(Answer answer) override { promise.set_value(std::move(answer)); }

  // The notification or request number `index`; null: it does not come.
  Json At(size_t index) {
    Json found;
    (void)tests::Eventually([&] {
      const std::lock_guard lock(mutex);
      if (notified.size() <= index) return false;
      found = notified[index];
      return true;
    });
    return found;
  }

  std::mutex mutex;
  std::vector<Json> notified;
  std::promise<Answer> promise;
};

class Mcp : public testing::Test {
 protected:
  Mcp() : queue_({2, 2}) {
    std::vector<std::unique_ptr<Tool>> tools;
    tools.push_back(std::make_unique<EchoTool>("echo", true));
    echo_ = static_cast<EchoTool*>(tools.back().get());
    tools.push_back(std::make_unique<EchoTool>("info", false));
    service_ = std::make_unique<McpService>(ServerIdentity{.version = "1.2", .instructions = "Use"},
                                            std::move(tools), tool_calls_, &resources_);
  }
  ~Mcp() override {
    tool_calls_.CancelAll();
    queue_.Drain(std::chrono::steady_clock::now() + seconds(10));
  }

  struct Sent {
    std::shared_ptr<RecordingReply> reply = std::make_shared<RecordingReply>();
    std::shared_ptr<Cancellation> peer_gone = std::make_shared<Cancellation>();
    std::future<Answer> answer = reply->promise.get_future();
    Answer Wait() {
      EXPECT_EQ(answer.wait_for(seconds(20)), std::future_status::ready);
      return answer.get();
    }
    Json Body() {
      const Answer waited = Wait();
      return waited.text.empty() ? Json() : Json::parse(waited.text);
    }
  };

  Sent SendText(std::string text, std::optional<MessageHeaders> headers = {},
                std::string conversation = "stdio") {
    Sent sent;
    IncomingMessage message;
    message.text = std::move(text);
    message.headers = std::move(headers);
    message.conversation = std::move(conversation);
    message.peer_gone = sent.peer_gone;
    message.caller = caller_;
    service_->Handle(std::move(message), sent.reply);
    return sent;
  }
  Sent Send(const Json& json, std::optional<MessageHeaders> headers = {},
            std::string conversation = "stdio") {
    return SendText(json.dump(), std::move(headers), std::move(conversation));
  }

  static Json Request(const std::string& method, Json params = Json::object(), Json id = 1) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
  }
  static Json Stateless(const std::string& method, Json params = Json::object(), Json id = 1) {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = Json::object();
    return Request(method, params, id);
  }
  static Json Call(const std::string& what, Json id = 1) {
    return Request("tools/call", {{"name", "echo"}, {"arguments", {{"what", what}}}}, id);
  }
  void AwaitWaiting(int calls) {
    EXPECT_TRUE(tests::Eventually([&] { return echo_->waiting >= calls; }));
  }

  ResourceStore resources_;
  CallQueue queue_;
  Calls tool_calls_{queue_};
  EchoTool* echo_ = nullptr;
  std::unique_ptr<McpService> service_;
  Caller caller_;
};

const MessageHeaders kNone;

MessageHeaders For(const std::string& method, std::optional<std::string> name = {}) {
  return {"2026-07-28", method, std::move(name)};
}

// --- the handshake era --------------------------------------------------------------------------

TEST_F(Mcp, InitializeAnswersTheRequestedRevision) {
  for (const std::string_view revision : kHandshakeRevisions) {
    const Json result =
        Send(Request("initialize", {{"protocolVersion", revision}})).Body()["result"];
    EXPECT_EQ(result["protocolVersion"], revision);
    EXPECT_EQ(result["serverInfo"]["name"], "belljar");
    EXPECT_EQ(result["serverInfo"]["version"], "1.2");
    EXPECT_EQ(result["instructions"], "Use");
    EXPECT_EQ(result["capabilities"],
              Json({{"tools", {{"listChanged", false}}},
                    {"resources", {{"subscribe", false}, {"listChanged", false}}}}));
  }
}

TEST_F(Mcp, InitializeAnswersTheNewestForAnyOther) {
  for (const char* revision : {"2026-07-28", "1999-01-01", ""}) {
    EXPECT_EQ(Send(Request("initialize", {{"protocolVersion", revision}}))
                  .Body()["result"]["protocolVersion"],
              "2025-11-25");
  }
}

TEST_F(Mcp, InitializeWantsItsParameters) {
  for (const Json& params : {Json::object(), Json({{"protocolVersion", 7}}),
                             Json({{"protocolVersion", "2025-11-25"}, {"capabilities", 1}}),
                             Json({{"protocolVersion", "2025-11-25"}, {"clientInfo", "me"}})}) {
    EXPECT_EQ(Send(Request("initialize", params)).Body()["error"]["code"],
              json_rpc::kInvalidParams);
  }
}

TEST_F(Mcp, PingAndListOverAnyTransport) {
  EXPECT_EQ(Send(Request("ping")).Body(),
            Json({{"jsonrpc", "2.0"}, {"id", 1}, {"result", Json::object()}}));
  const Json tools = Send(Request("tools/list")).Body()["result"]["tools"];
  ASSERT_EQ(tools.size(), 2u);
  EXPECT_EQ(tools[0]["name"], "echo");
  EXPECT_EQ(tools[0]["annotations"].size(), 5u);
  EXPECT_EQ(Send(Request("tools/list", {{"cursor", "x"}})).Body()["error"]["code"],
            json_rpc::kInvalidParams);
}

TEST_F(Mcp, UnknownMethods) {
  for (const char* method : {"nonsense", "prompts/list", "server/discovery", ""}) {
    const Answer answer = Send(Request(method)).Wait();
    EXPECT_EQ(answer.kind, Answer::Kind::kResult);
    EXPECT_EQ(Json::parse(answer.text)["error"]["code"], json_rpc::kMethodNotFound);
  }
}

TEST_F(Mcp, NotificationsAndResponsesAreTaken) {
  for (const char* text : {R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
                           R"({"jsonrpc":"2.0","method":"nonsense"})",
                           R"({"jsonrpc":"2.0","method":"notifications/cancelled"})",
                           R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{}})",
                           R"({"jsonrpc":"2.0","id":9,"result":{}})"}) {
    const Answer answer = SendText(text).Wait();
    EXPECT_EQ(answer.kind, Answer::Kind::kAccepted);
    EXPECT_EQ(answer.text, "");
  }
}

TEST_F(Mcp, WhatIsNoMessageIsABadRequest) {
  const Answer answer = SendText("{nonsense").Wait();
  EXPECT_EQ(answer.kind, Answer::Kind::kBadRequest);
  EXPECT_EQ(Json::parse(answer.text)["error"]["code"], json_rpc::kParseError);
}

// --- calls --------------------------------------------------------------------------------------

TEST_F(Mcp, ACallHasItsResultTwice) {
  const Json result = Send(Call("hello")).Body()["result"];
  EXPECT_EQ(result["structuredContent"]["arguments"]["what"], "hello");
  EXPECT_EQ(Json::parse(result["content"][0]["text"].get<std::string>()),
            result["structuredContent"]);
  EXPECT_EQ(result["isError"], false);
  EXPECT_FALSE(result.contains("resultType"));
}

TEST_F(Mcp, RefusedArgumentsAreAResult) {
  const Json result = Send(Call("refuse")).Body()["result"];
  EXPECT_EQ(result, Json({{"content", {{{"type", "text"}, {"text", "say something else"}}}},
                          {"isError", true}}));
}

TEST_F(Mcp, OurFailureIsAnError) {
  const Json error = Send(Call("fail")).Body()["error"];
  EXPECT_EQ(error["code"], json_rpc::kInternalError);
  EXPECT_EQ(error["message"], "echo: no room");
  EXPECT_EQ(Send(Call("throw")).Body()["error"]["code"], json_rpc::kInternalError);
}

TEST_F(Mcp, UnknownToolsAndNames) {
  const Json error = Send(Request("tools/call", {{"name", "ecko"}})).Body()["error"];
  EXPECT_EQ(error["code"], json_rpc::kInvalidParams);
  EXPECT_NE(error["message"].get<std::string>().find("did you mean \"echo\""), std::string::npos);
  for (const Json& name : {Json(), Json(7), Json::array()}) {
    EXPECT_EQ(Send(Request("tools/call", {{"name", name}})).Body()["error"]["code"],
              json_rpc::kInvalidParams);
  }
}

// --- asking for input ---------------------------------------------------------------------------

const Json kAsks = {{"protocolVersion", "2025-11-25"},
                    {"capabilities", {{"elicitation", Json::object()}}}};

std::string Accepted(const Json& question, const Json& content) {
  return Json({{"jsonrpc", "2.0"},
               {"id", question["id"]},
               {"result", {{"action", "accept"}, {"content", content}}}})
      .dump();
}

std::string Declined(const Json& question) {
  return Json({{"jsonrpc", "2.0"}, {"id", question["id"]}, {"result", {{"action", "decline"}}}})
      .dump();
}

TEST_F(Mcp, AsksTheClientForALine) {
  (void)Send(Request("initialize", kAsks)).Body();
  Sent call = Send(Call("ask"));
  const Json question = call.reply->At(0);
  EXPECT_EQ(question["method"], "elicitation/create");
  EXPECT_EQ(question["params"]["message"],
            "The program in the sandbox asks for a line of input: Name? ");
  EXPECT_EQ(question["params"]["requestedSchema"]["properties"]["input"]["type"], "string");
  EXPECT_EQ(SendText(Accepted(question, {{"input", "Ada"}})).Wait().kind, Answer::Kind::kAccepted);
  // The answer has been used: a second one answers nothing.
  (void)SendText(Accepted(question, {{"input", "Eve"}})).Wait();
  (void)SendText(Declined(call.reply->At(1))).Wait();
  EXPECT_EQ(call.Body()["result"]["structuredContent"], Json({"Ada"}));
}

TEST_F(Mcp, AsksOnlyWhoCanBeAsked) {
  const auto says = [&](const Json& capabilities) {
    (void)Send(
        Request("initialize", {{"protocolVersion", "2025-11-25"}, {"capabilities", capabilities}}))
        .Body();
    return Send(Call("ask")).Body()["result"]["content"][0]["text"];
  };
  for (const Json& capabilities :
       {Json::object(), Json({{"elicitation", 7}}),
        Json({{"elicitation", {{"url", Json::object()}}}}), Json({{"sampling", Json::object()}})}) {
    EXPECT_EQ(says(capabilities), "nobody") << capabilities;
  }
  // Over HTTP, the conversation says so; who takes no stream cannot be asked.
  const std::string mute = Conversations::NewName(), asked = Conversations::NewName(true);
  EXPECT_EQ(Send(Call("ask"), kNone, mute).Body()["result"]["content"][0]["text"], "nobody");
  EXPECT_EQ(Send(Stateless("tools/call", {{"name", "echo"}, {"arguments", {{"what", "ask"}}}}),
                 For("tools/call", "echo"), asked)
                .Body()["result"]["content"][0]["text"],
            "nobody");
  Sent call = Send(Call("ask"), kNone, asked);
  (void)SendText(Declined(call.reply->At(0)), kNone, asked).Wait();
  EXPECT_EQ(call.Body()["result"]["structuredContent"], Json::array());
  const Answer began = Send(Request("initialize", kAsks), kNone, "").Wait();
  EXPECT_TRUE(Conversations::CanBeAsked(began.conversation));
}

TEST_F(Mcp, OnlyTheConversationThatWasAskedAnswers) {
  const std::string mine = Conversations::NewName(true), theirs = Conversations::NewName(true);
  Sent call = Send(Call("ask"), kNone, mine);
  const Json question = call.reply->At(0);
  // Another conversation, another caller with the same conversation, an unknown id.
  (void)SendText(Accepted(question, {{"input", "other"}}), kNone, theirs).Wait();
  caller_.name = "eve";
  (void)SendText(Accepted(question, {{"input", "eve"}}), kNone, mine).Wait();
  caller_.name = Caller().name;
  for (const Json& id : {Json(12345), Json("1"), Json(), Json(-1), Json::array()}) {
    (void)SendText(Accepted({{"id", id}}, {{"input", "none"}}), kNone, mine).Wait();
  }
  (void)SendText(Accepted(question, {{"input", "mine"}}), kNone, mine).Wait();
  (void)SendText(Declined(call.reply->At(1)), kNone, mine).Wait();
  EXPECT_EQ(call.Body()["result"]["structuredContent"], Json({"mine"}));
}

TEST_F(Mcp, WhatIsNoLineEndsTheInput) {
  (void)Send(Request("initialize", kAsks)).Body();
  int id = 1;
  for (const Json& result :
       {Json(), Json("accept"), Json({{"action", "accept"}}), Json({{"action", "cancel"}}),
        Json({{"action", "accept"}, {"content", 7}}),
        Json({{"action", "accept"}, {"content", {{"input", 7}}}}),
        Json({{"action", "decline"}, {"content", {{"input", "x"}}}})}) {
    Sent call = Send(Call("ask", id++));
    const Json answer = {{"jsonrpc", "2.0"}, {"id", call.reply->At(0)["id"]}, {"result", result}};
    (void)SendText(answer.dump()).Wait();
    EXPECT_EQ(call.Body()["result"]["structuredContent"], Json::array()) << result;
  }
  Sent call = Send(Call("ask", id));
  (void)SendText(Accepted(call.reply->At(0), {{"input", std::string(100'000, 'x')}})).Wait();
  (void)SendText(Declined(call.reply->At(1))).Wait();
  const Json lines = call.Body()["result"]["structuredContent"];
  EXPECT_EQ(lines[0].get<std::string>().size(), 65'536u);
}

TEST_F(Mcp, ACancelledCallWaitsForNoAnswer) {
  (void)Send(Request("initialize", kAsks)).Body();
  Sent call = Send(Call("ask"));
  EXPECT_FALSE(call.reply->At(0).is_null());
  (void)SendText(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  EXPECT_EQ(call.Wait().kind, Answer::Kind::kWithdrawn);
}

TEST_F(Mcp, ProgressOnlyIfRequested) {
  Json call = Call("talk");
  call["params"]["_meta"]["progressToken"] = "t-1";
  Sent sent = Send(call);
  sent.Wait();
  ASSERT_EQ(sent.reply->notified.size(), 2u);
  EXPECT_EQ(sent.reply->notified[0]["method"], "notifications/progress");
  EXPECT_EQ(sent.reply->notified[1]["params"],
            Json({{"progressToken", "t-1"}, {"progress", 8}, {"message", "two\n"}}));
  // It stands in every notification.
  call["params"]["_meta"]["progressToken"] = std::string(json_rpc::kMaxIdBytes + 1, 'x');
  EXPECT_EQ(Send(call).Body()["error"]["code"], json_rpc::kInvalidParams);
  call["params"]["_meta"]["progressToken"] = Json::array();
  EXPECT_EQ(Send(call).Body()["error"]["code"], json_rpc::kInvalidParams);
}

TEST_F(Mcp, WhatACallWaitsForIsProgressBelowOne) {
  Json call = Call("start");
  call["params"]["_meta"]["progressToken"] = 1;
  Sent sent = Send(call);
  sent.Wait();
  ASSERT_EQ(sent.reply->notified.size(), 4u);
  EXPECT_EQ(sent.reply->notified[0]["params"],
            Json({{"progressToken", 1}, {"progress", 0.001}, {"message", "starting"}}));
  double before = 0;
  for (const Json& notified : sent.reply->notified) {
    EXPECT_GT(notified["params"]["progress"], before);
    before = notified["params"]["progress"];
  }
  EXPECT_EQ(before, 8);
}

TEST_F(Mcp, WhatACallLeavesIsDoneAfterItsAnswer) {
  struct Watching final : Reply {
    explicit Watching(EchoTool& tool) : echo(tool) {}
    void Notify(std::string) override {}
    void Finish(Answer) override { left_before.set_value(echo.left); }
    EchoTool& echo;
    std::promise<int> left_before;
  };
  const auto reply = std::make_shared<Watching>(*echo_);
  std::future<int> left_before = reply->left_before.get_future();
  IncomingMessage message;
  message.text = Call("leave").dump();
  service_->Handle(std::move(message), reply);
  EXPECT_EQ(left_before.get(), 0);
  ASSERT_TRUE(queue_.Drain(std::chrono::steady_clock::now() + seconds(20)));
  EXPECT_EQ(echo_->left, 1);
}

TEST_F(Mcp, TheCallerReachesTheTool) {
  caller_.name = "team-a";
  EXPECT_EQ(Send(Call("x")).Body()["result"]["structuredContent"]["caller"], "team-a");
}

// --- cancellation -------------------------------------------------------------------------------

Json Cancelled(const Json& id) {
  return {{"jsonrpc", "2.0"},
          {"method", "notifications/cancelled"},
          {"params", {{"requestId", id}, {"reason", "tired"}}}};
}

TEST_F(Mcp, CancellingNamesTheCall) {
  Sent one = Send(Call("wait", "1")), other = Send(Call("wait", 1));
  AwaitWaiting(2);
  Send(Cancelled("1"));
  EXPECT_EQ(one.Wait().kind, Answer::Kind::kWithdrawn);
  EXPECT_EQ(echo_->waiting, 1) << "the number 1 is another id than the text 1";
  Send(Cancelled(1));
  EXPECT_EQ(other.Wait().kind, Answer::Kind::kWithdrawn);
  Send(Cancelled(99));
}

TEST_F(Mcp, ACallThatWaitsIsCancelledToo) {
  Sent first = Send(Call("wait", 1)), second = Send(Call("wait", 2));
  AwaitWaiting(2);
  Sent third = Send(Call("wait", 3));
  Send(Cancelled(3));
  echo_->released = true;
  EXPECT_EQ(third.Wait().kind, Answer::Kind::kWithdrawn);
  EXPECT_EQ(first.Wait().kind, Answer::Kind::kResult);
}

TEST_F(Mcp, OneConversationCannotCancelTheCallsOfAnother) {
  const std::string mine = Conversations::NewName(), theirs = Conversations::NewName();
  ASSERT_NE(mine, theirs);
  Sent sent = Send(Call("wait", 5), kNone, mine);
  AwaitWaiting(1);
  Send(Cancelled(5), kNone, theirs);
  Send(Cancelled(5), kNone, "");
  EXPECT_EQ(sent.answer.wait_for(milliseconds(50)), std::future_status::timeout);
  Send(Cancelled(5), kNone, mine);
  EXPECT_EQ(sent.Wait().kind, Answer::Kind::kWithdrawn);
}

// One of two tenants has learned the name of the other's session.
TEST_F(Mcp, ASessionsNameReachesTheCallsOfItsCallerOnly) {
  caller_.name = "a";
  const std::string name = Conversations::NewName();
  Sent sent = Send(Call("wait", 5), kNone, name);
  AwaitWaiting(1);
  Caller other;
  other.name = "b";
  std::swap(caller_, other);
  Send(Cancelled(5), kNone, name);
  EXPECT_TRUE(service_->End(caller_, name));
  EXPECT_TRUE(Send(Call("x", 6), kNone, Conversations::NewName()).Body().contains("result"));
  std::swap(caller_, other);
  EXPECT_EQ(sent.answer.wait_for(milliseconds(50)), std::future_status::timeout);
  EXPECT_EQ(Send(Request("ping"), kNone, name).Wait().kind, Answer::Kind::kResult);
  Send(Cancelled(5), kNone, name);
  EXPECT_EQ(sent.Wait().kind, Answer::Kind::kWithdrawn);
}

TEST_F(Mcp, AnIdInUseIsRefused) {
  Sent first = Send(Call("wait", 5));
  AwaitWaiting(1);
  EXPECT_EQ(Send(Call("x", 5)).Body()["error"]["code"], json_rpc::kInvalidRequest);
  echo_->released = true;
  first.Wait();
  EXPECT_TRUE(Send(Call("x", 5)).Body().contains("result"));
}

// No stream can be resumed, so in no era could the answer reach a client that is gone.
TEST_F(Mcp, HangingUpEndsACallOfEveryEra) {
  const Json stateless =
      Stateless("tools/call", {{"name", "echo"}, {"arguments", {{"what", "wait"}}}});
  Sent running = Send(Call("wait"), kNone, "");
  Sent other = Send(Call("wait", 2), kNone, Conversations::NewName());
  AwaitWaiting(2);
  Sent queued = Send(Call("wait", 3), kNone, Conversations::NewName());
  Sent modern = Send(stateless, For("tools/call", "echo"), "");
  for (const Sent* sent : {&running, &queued, &modern}) sent->peer_gone->Cancel();
  for (Sent* sent : {&running, &queued, &modern}) {
    EXPECT_EQ(sent->Wait().kind, Answer::Kind::kWithdrawn);
  }
  // Whose client is still there.
  EXPECT_EQ(other.answer.wait_for(milliseconds(50)), std::future_status::timeout);
  echo_->released = true;
  EXPECT_EQ(other.Wait().kind, Answer::Kind::kResult);
}

// There the end of input says that the client is gone, and no message has a connection of its own.
TEST_F(Mcp, OverStdioAMessagesPeerIsNotLookedAt) {
  Sent sent = Send(Call("wait"));
  AwaitWaiting(1);
  sent.peer_gone->Cancel();
  EXPECT_EQ(sent.answer.wait_for(milliseconds(50)), std::future_status::timeout);
  tool_calls_.CancelAll();
  EXPECT_EQ(sent.Wait().kind, Answer::Kind::kWithdrawn);
}

TEST_F(Mcp, TheEndOfAConversationEndsItsCalls) {
  Sent sent = Send(Call("wait"));
  AwaitWaiting(1);
  service_->End(caller_, "stdio");
  EXPECT_EQ(sent.Wait().kind, Answer::Kind::kWithdrawn);
}

// --- a busy server ------------------------------------------------------------------------------

TEST_F(Mcp, ABusyServerSaysWhenToTryAgainAndStillAnswersTheRest) {
  std::vector<Sent> calls;
  for (int id = 0; id < 4; ++id) calls.push_back(Send(Call("wait", id)));
  AwaitWaiting(2);
  Sent refused = Send(Call("x", 100));
  const Answer answer = refused.Wait();
  ASSERT_TRUE(answer.retry_after);
  const Json error = Json::parse(answer.text)["error"];
  EXPECT_EQ(error["code"], kOverloaded);
  EXPECT_EQ(error["data"]["retry_after"], answer.retry_after->count());
  EXPECT_NE(error["message"].get<std::string>().find("2 are waiting"), std::string::npos);
  EXPECT_TRUE(Send(Request("ping")).Body().contains("result"));
  EXPECT_TRUE(Send(Request("tools/list")).Body().contains("result"));
  EXPECT_TRUE(Send(Request("tools/call", {{"name", "info"}})).Body().contains("result"));
  echo_->released = true;
  for (Sent& call : calls) EXPECT_EQ(call.Wait().kind, Answer::Kind::kResult);
  EXPECT_TRUE(Send(Call("x", 100)).Body().contains("result"));
}

TEST_F(Mcp, ACallerHasItsOwnShare) {
  caller_.name = "small";
  caller_.concurrency = 1;
  Sent first = Send(Call("wait", 1));
  AwaitWaiting(1);
  const Json error = Send(Call("x", 2)).Body()["error"];
  EXPECT_EQ(error["code"], kOverloaded);
  EXPECT_NE(error["message"].get<std::string>().find("token"), std::string::npos);
  caller_ = Caller{};
  EXPECT_TRUE(Send(Call("x", 3)).Body().contains("result"));
  echo_->released = true;
  first.Wait();
}

// --- contents and resources ----------------------------------------------------------------------

Resource Left(const std::string& name, const std::string& media_type, const std::string& bytes,
              bool is_text) {
  return {"belljar://executions/1/" + name, name, media_type, is_text,
          std::make_shared<const std::string>(bytes)};
}

std::vector<Content> OneOfEach() {
  return {{Content::Kind::kImage, Left("a.png", "image/png", "\x89PNG", false)},
          {Content::Kind::kEmbedded, Left("b.csv", "text/csv", "a\"b\n", true)},
          {Content::Kind::kEmbedded, Left("c.bin", "application/zip", "PK", false)},
          {Content::Kind::kLink, Left("d.txt", "text/plain", "long", true)}};
}

TEST_F(Mcp, ContentsFollowTheText) {
  echo_->contents = OneOfEach();
  for (const Json& request :
       {Call("leave files"),
        Stateless("tools/call", {{"name", "echo"}, {"arguments", {{"what", "leave files"}}}})}) {
    const Json content = Send(request).Body()["result"]["content"];
    ASSERT_EQ(content.size(), 5u);
    EXPECT_EQ(content[0]["type"], "text");
    EXPECT_EQ(content[1],
              Json({{"type", "image"}, {"data", "iVBORw=="}, {"mimeType", "image/png"}}));
    EXPECT_EQ(content[2], Json({{"type", "resource"},
                                {"resource",
                                 {{"uri", "belljar://executions/1/b.csv"},
                                  {"mimeType", "text/csv"},
                                  {"text", "a\"b\n"}}}}));
    EXPECT_EQ(content[3]["resource"]["blob"], "UEs=");
    EXPECT_FALSE(content[3]["resource"].contains("text"));
    EXPECT_EQ(content[4], Json({{"type", "resource_link"},
                                {"uri", "belljar://executions/1/d.txt"},
                                {"name", "d.txt"},
                                {"mimeType", "text/plain"},
                                {"size", 4}}));
  }
}

// A client that does not know a kind of content may refuse the whole answer.
TEST_F(Mcp, RevisionsWithoutLinksGetText) {
  echo_->contents = OneOfEach();
  const auto last = [&](std::optional<MessageHeaders> headers) {
    const std::string conversation = headers ? "" : "stdio";
    return Send(Call("leave files"), std::move(headers), conversation)
        .Body()["result"]["content"][4];
  };
  const Json text = {{"type", "text"},
                     {"text",
                      "d.txt (text/plain, 4 bytes) can be read as resource "
                      "belljar://executions/1/d.txt"}};
  for (const char* revision : {"2024-11-05", "2025-03-26"}) {
    Send(Request("initialize", {{"protocolVersion", revision}}, 9)).Wait();
    EXPECT_EQ(last({}), text) << revision;
  }
  for (const char* revision : {"2025-06-18", "2025-11-25", "unknown"}) {
    Send(Request("initialize", {{"protocolVersion", revision}}, 9)).Wait();
    EXPECT_EQ(last({})["type"], "resource_link") << revision;
  }
  EXPECT_EQ(last(kNone), text);
  EXPECT_EQ(last(MessageHeaders{"2025-03-26", {}, {}}), text);
  EXPECT_EQ(last(MessageHeaders{"2025-06-18", {}, {}})["type"], "resource_link");
}

TEST_F(Mcp, WhatIsKeptIsReadByItsOwnerOnly) {
  const std::string uri = "belljar://executions/1/b.csv";
  caller_.name = "ada";
  resources_.Keep("ada", Left("b.csv", "text/csv", "a,b", true));
  const Json contents = {{{"uri", uri}, {"mimeType", "text/csv"}, {"text", "a,b"}}};
  EXPECT_EQ(Send(Request("resources/read", {{"uri", uri}})).Body()["result"],
            Json({{"contents", contents}}));
  const Json result =
      Send(Stateless("resources/read", {{"uri", uri}}), For("resources/read", uri), "")
          .Body()["result"];
  EXPECT_EQ(result["contents"], contents);
  EXPECT_EQ(result["resultType"], "complete");
  EXPECT_EQ(result["cacheScope"], "private");
  EXPECT_TRUE(result["ttlMs"].is_number());

  caller_.name = "bob";
  const Json others = Send(Request("resources/read", {{"uri", uri}})).Body()["error"];
  const Json none = Send(Request("resources/read", {{"uri", uri + "x"}})).Body()["error"];
  EXPECT_EQ(others["code"], kResourceNotFound);
  EXPECT_EQ(others["data"]["uri"], uri);
  EXPECT_EQ(none["code"], others["code"]) << "nobody learns what others have";
  EXPECT_EQ(Send(Stateless("resources/read", {{"uri", uri}})).Body()["error"]["code"],
            json_rpc::kInvalidParams);
}

TEST_F(Mcp, ResourcesAreFoundByTheirLinkAlone) {
  resources_.Keep(caller_.name, Left("b.csv", "text/csv", "a,b", true));
  EXPECT_EQ(Send(Request("resources/list")).Body()["result"], Json({{"resources", Json::array()}}));
  const Json templates =
      Send(Request("resources/templates/list")).Body()["result"]["resourceTemplates"];
  ASSERT_EQ(templates.size(), 2u);
  EXPECT_EQ(templates[0]["uriTemplate"], "belljar://executions/{id}/{name}");
  EXPECT_EQ(templates[1]["uriTemplate"], "belljar://executions/{id}/{+path}");
  const Json list = Send(Stateless("resources/list"), For("resources/list"), "").Body()["result"];
  EXPECT_EQ(list["resources"], Json::array());
  EXPECT_EQ(list["resultType"], "complete");
  EXPECT_TRUE(list["ttlMs"].is_number());
  for (const char* method : {"resources/list", "resources/templates/list"}) {
    EXPECT_EQ(Send(Request(method, {{"cursor", "2"}})).Body()["error"]["code"],
              json_rpc::kInvalidParams);
  }
}

TEST_F(Mcp, AResourceIsReadInPieces) {
  const std::string text = "a\u00e9\u20ac\U0001F600z";
  resources_.Keep(caller_.name, Left("t.txt", "text/plain", text, true));
  resources_.Keep(caller_.name, Left("b.bin", "application/zip", "\x01\x02\x03\x04", false));
  const auto read = [&](const std::string& uri) {
    return Send(Request("resources/read", {{"uri", "belljar://executions/1/" + uri}})).Body();
  };
  const std::pair<const char*, const char*> kPieces[] = {
      {"t.txt?offset=1&length=2", "\u00e9\u20ac"},
      {"t.txt?length=1", "a"},
      {"t.txt?offset=3", "\U0001F600z"},
      {"t.txt?length=2&offset=4", "z"},
      {"t.txt?offset=99", ""},
      {"t.txt?offset=0&length=0", ""},
      {"t.txt?offset=18446744073709551615&length=18446744073709551615", ""},
      {"t.txt?length=18446744073709551615", "a\u00e9\u20ac\U0001F600z"},
  };
  for (const auto& [uri, piece] : kPieces) {
    const Json contents = read(uri)["result"]["contents"][0];
    EXPECT_EQ(contents["text"], piece) << uri;
    EXPECT_EQ(contents["uri"], std::string("belljar://executions/1/") + uri);
  }
  EXPECT_EQ(read("b.bin?offset=1&length=2")["result"]["contents"][0]["blob"], "AgM=");
  EXPECT_EQ(read("b.bin?offset=9")["result"]["contents"][0]["blob"], "");
  for (const char* uri :
       {"t.txt?", "t.txt?offset", "t.txt?offset=", "t.txt?offset=-1", "t.txt?offset=+1",
        "t.txt?offset=1.5", "t.txt?offset=0x1", "t.txt?offset=1&offset=2", "t.txt?offset=1&",
        "t.txt?offset=18446744073709551616", "t.txt?page=2", "t.txt?offset=%31", "t.txt?2"}) {
    const Json error = read(uri)["error"];
    EXPECT_EQ(error["code"], json_rpc::kInvalidParams) << uri;
    EXPECT_NE(error["message"].get<std::string>().find("send ?offset=N&length=N"),
              std::string::npos)
        << error;
  }
  // To others it is as unknown as what never was.
  caller_.name = "bob";
  EXPECT_EQ(read("t.txt?offset=1")["error"]["code"], kResourceNotFound);
  EXPECT_EQ(read("none.txt?offset=1")["error"]["code"], kResourceNotFound);
}

TEST_F(Mcp, ReadingWantsAUri) {
  for (const Json& params : {Json::object(), Json({{"uri", 7}})}) {
    EXPECT_EQ(Send(Request("resources/read", params)).Body()["error"]["code"],
              json_rpc::kInvalidParams)
        << params;
  }
  const std::string uri = "belljar://executions/1/a";
  for (const std::optional<std::string>& name :
       {std::optional<std::string>(), std::optional<std::string>("belljar://executions/1/b")}) {
    const Answer answer =
        Send(Stateless("resources/read", {{"uri", uri}}), For("resources/read", name), "").Wait();
    EXPECT_EQ(answer.kind, Answer::Kind::kBadRequest);
    EXPECT_EQ(Json::parse(answer.text)["error"]["code"], kHeaderMismatch);
  }
}

// --- the stateless era --------------------------------------------------------------------------

TEST_F(Mcp, Discover) {
  const Json result =
      Send(Stateless("server/discover"), For("server/discover"), "").Body()["result"];
  EXPECT_EQ(result["supportedVersions"][0], "2026-07-28");
  EXPECT_EQ(result["resultType"], "complete");
  EXPECT_EQ(result["capabilities"],
            Json({{"tools", {{"listChanged", false}}},
                  {"resources", {{"subscribe", false}, {"listChanged", false}}}}));
  EXPECT_GE(result["ttlMs"].get<int>(), 0);
  EXPECT_TRUE(result["cacheScope"].is_string());
  EXPECT_EQ(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "belljar");
}

TEST_F(Mcp, StatelessResultsSayThatTheyAreComplete) {
  const Json list = Send(Stateless("tools/list")).Body()["result"];
  EXPECT_EQ(list["resultType"], "complete");
  EXPECT_TRUE(list["ttlMs"].is_number());
  const Json call =
      Send(Stateless("tools/call", {{"name", "echo"}}), For("tools/call", "echo")).Body()["result"];
  EXPECT_EQ(call["resultType"], "complete");
  EXPECT_TRUE(call["structuredContent"].is_object());
}

TEST_F(Mcp, WhatTheStatelessEraDropped) {
  for (const char* method : {"ping", "initialize", "logging/setLevel", "subscriptions/listen"}) {
    const Answer answer = Send(Stateless(method), For(method)).Wait();
    EXPECT_EQ(answer.kind, Answer::Kind::kUnknownMethod) << method;
    EXPECT_EQ(Json::parse(answer.text)["error"]["code"], json_rpc::kMethodNotFound);
  }
}

TEST_F(Mcp, TheEnvelopeMustBeWhole) {
  Json no_capabilities = Stateless("tools/list");
  no_capabilities["params"]["_meta"].erase("io.modelcontextprotocol/clientCapabilities");
  Json odd_capabilities = Stateless("tools/list");
  odd_capabilities["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = 7;
  Json odd_version = Stateless("tools/list");
  odd_version["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = 7;
  Json odd_meta = Request("tools/list", {{"_meta", 7}});
  for (const Json& request : {no_capabilities, odd_capabilities, odd_version, odd_meta,
                              Request("tools/list"), Request("server/discover")}) {
    const Answer answer = Send(request, For("tools/list"), "").Wait();
    EXPECT_EQ(answer.kind, Answer::Kind::kBadRequest) << request;
    EXPECT_EQ(Json::parse(answer.text)["error"]["code"], json_rpc::kInvalidParams) << request;
  }
}

TEST_F(Mcp, AVersionThatWeDoNotSpeakIsNamedWithThoseWeDo) {
  Json request = Stateless("tools/list");
  request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2030-01-01";
  for (const auto& headers : {std::optional<MessageHeaders>(),
                              std::optional<MessageHeaders>({"2030-01-01", "tools/list", {}})}) {
    const Answer answer = Send(request, headers, "").Wait();
    EXPECT_EQ(answer.kind, Answer::Kind::kBadRequest);
    const Json error = Json::parse(answer.text)["error"];
    EXPECT_EQ(error["code"], kUnsupportedProtocolVersion);
    EXPECT_EQ(error["data"]["requested"], "2030-01-01");
    EXPECT_EQ(error["data"]["supported"][0], "2026-07-28");
  }
  EXPECT_EQ(Json::parse(Send(Request("ping"), MessageHeaders{"nonsense", {}, {}}, "")
                            .Wait()
                            .text)["error"]["code"],
            kUnsupportedProtocolVersion);
}

TEST_F(Mcp, HeadersMustAgree) {
  const Json call = Stateless("tools/call", {{"name", "echo"}});
  const MessageHeaders kWrong[] = {
      {{}, "tools/call", "echo"},
      {"2025-11-25", "tools/call", "echo"},
      {"2026-07-28", {}, "echo"},
      {"2026-07-28", "tools/list", "echo"},
      {"2026-07-28", "Tools/Call", "echo"},
      {"2026-07-28", "tools/call", {}},
      {"2026-07-28", "tools/call", "info"},
      {"2026-07-28", "tools/call", "=?base64?aW5mbw==?="},
      {"2026-07-28", "tools/call", "=?base64?ZWNobw?="},
      {"2026-07-28", "tools/call", "=?base64?Z!Nobw==?="},
      {"2026-07-28", "tools/call", "=?base64?==?="},
  };
  for (const MessageHeaders& headers : kWrong) {
    const Answer answer = Send(call, headers, "").Wait();
    EXPECT_EQ(answer.kind, Answer::Kind::kBadRequest) << headers.name.value_or("-");
    EXPECT_EQ(Json::parse(answer.text)["error"]["code"], kHeaderMismatch);
  }
  for (const char* name : {"echo", "=?base64?ZWNobw==?="}) {
    EXPECT_EQ(Send(call, For("tools/call", name), "").Wait().kind, Answer::Kind::kResult) << name;
  }
}

TEST_F(Mcp, ThereAreNoHeadersToAgreeWithOverStdio) {
  EXPECT_TRUE(Send(Stateless("tools/call", {{"name", "echo"}})).Body().contains("result"));
}

TEST_F(Mcp, AStatelessCallOverStdioIsCancelledByName) {
  Sent sent =
      Send(Stateless("tools/call", {{"name", "echo"}, {"arguments", {{"what", "wait"}}}}, "s"));
  AwaitWaiting(1);
  Send(Cancelled("s"));
  EXPECT_EQ(sent.Wait().kind, Answer::Kind::kWithdrawn);
}

// --- sessions over HTTP -------------------------------------------------------------------------

TEST_F(Mcp, ASessionIsGivenAndOutlivesUs) {
  const Answer answer =
      Send(Request("initialize", {{"protocolVersion", "2025-11-25"}}), kNone, "").Wait();
  EXPECT_FALSE(answer.conversation.empty());
  EXPECT_EQ(Send(Request("ping"), kNone, answer.conversation).Wait().kind, Answer::Kind::kResult);
  // One that another process gave: a restart loses nothing.
  EXPECT_EQ(Send(Request("ping"), kNone, Conversations::NewName()).Wait().kind,
            Answer::Kind::kResult);
}

TEST_F(Mcp, AnEndedOrInventedSessionIsUnknown) {
  const std::string name = Conversations::NewName();
  EXPECT_TRUE(service_->End(caller_, name));
  EXPECT_FALSE(service_->End(caller_, name));
  for (const std::string& gone : {name, std::string("mine"), name.substr(1), name + "0"}) {
    EXPECT_EQ(Send(Request("ping"), kNone, gone).Wait().kind, Answer::Kind::kUnknownConversation);
  }
  // The stateless era has no sessions: such a header means nothing.
  EXPECT_EQ(Send(Stateless("tools/list"), For("tools/list"), name).Wait().kind,
            Answer::Kind::kResult);
}

TEST(Conversations, EndedOnesAreForgottenInOrder) {
  Conversations conversations;
  const std::string first = Conversations::NewName();
  EXPECT_TRUE(conversations.End("a", first));
  for (int i = 0; i < 4095; ++i) conversations.End("a", Conversations::NewName());
  EXPECT_FALSE(conversations.IsValid("a", first));
  conversations.End("a", Conversations::NewName());
  EXPECT_TRUE(conversations.IsValid("a", first));
}

}  // namespace
}  // namespace belljar::server::mcp::mcp_test
