// Routes of web handlers over real sockets: which requests they get, and what clients get of their
// answers.
#include <gtest/gtest.h>

#include "server/core/web.h"
#include "tests/server/http_client.h"

namespace belljar::server::http::web_test {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

// Answers with what it got, unless the test says otherwise.
class EchoHandler : public WebHandler {
 public:
  const std::vector<WebRoute>& routes() const override {
    static const std::vector<WebRoute> kRoutes = {
        {WebMethod::kGet, "/v1/things"},
        {WebMethod::kPost, "/v1/things", WebRoute::Body::kJson, core::Bytes{100}},
        {WebMethod::kGet, "/v1/things/{id}"},
        {WebMethod::kDelete, "/v1/things/{id}"},
        {WebMethod::kGet, "/v1/things/all"},
        {WebMethod::kGet, "/v1/things/{id}/files/{path*}"},
        {WebMethod::kPut, "/v1/things/{id}/files/{path*}", WebRoute::Body::kBytes},
        {WebMethod::kGet, "/judged", WebRoute::Body::kNone, {}, WebRoute::Login::kAuthToken},
    };
    return kRoutes;
  }

  void Handle(size_t route, WebRequest request, std::shared_ptr<WebReply> reply) override {
    ++requests;
    if (on_request) return on_request(std::move(request), std::move(reply));
    const Json echo = {{"route", routes()[route].pattern},
                       {"method", NameOf(routes()[route].method)},
                       {"parameters", request.parameters},
                       {"query", request.query},
                       {"body", request.body},
                       {"caller", request.caller.name},
                       {"prefer", request.headers.prefer},
                       {"key", request.headers.idempotency_key.value_or("")}};
    reply->Finish({200, "application/json", echo.dump(), "ETag: \"1\"\r\n"});
  }

  std::function<void(WebRequest, std::shared_ptr<WebReply>)> on_request;
  std::atomic<int> requests = 0;
};

std::string Request(std::string_view method, std::string_view target, std::string_view headers = "",
                    std::string_view body = "") {
  return std::string(method) + " " + std::string(target) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(headers) + "\r\n" + std::string(body);
}

constexpr std::string_view kJson = "Content-Type: application/json\r\n";

class WebTest : public testing::Test {
 protected:
  tests::RawAnswer Ask(std::string_view request) { return tests::Ask(server(), request); }
  Json Echo(std::string_view request) {
    const tests::RawAnswer answer = Ask(request);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Json::parse(answer.body, nullptr, false);
  }
  void ExpectProblem(std::string_view request, int status) {
    const tests::RawAnswer answer = Ask(request);
    EXPECT_EQ(answer.status, status) << request;
    EXPECT_EQ(answer.Header("content-type"), "application/problem+json");
    const Json problem = Json::parse(answer.body, nullptr, false);
    ASSERT_TRUE(problem.is_object()) << answer.body;
    EXPECT_EQ(problem["type"], "about:blank");
    EXPECT_EQ(problem["status"], status);
    EXPECT_FALSE(problem["title"].get<std::string>().empty());
    EXPECT_FALSE(problem["detail"].get<std::string>().empty());
  }
  tests::TestServer& server() {
    if (!server_) server_.emplace(messages_, config_, tokens_, HttpMonitoring{}, handlers_);
    return *server_;
  }

  tests::FakeHandler messages_;
  EchoHandler handler_;
  std::vector<WebHandler*> handlers_ = {&handler_};
  HttpConfig config_;
  std::vector<TokenConfig> tokens_;
  std::optional<tests::TestServer> server_;
};

TEST_F(WebTest, PassesWhatTheHandlerNeeds) {
  const Json echo = Echo(Request("POST", "/v1/things?wait=0&a=b",
                                 "Content-Type: application/json; charset=utf-8\r\n"
                                 "Prefer: respond-async\r\nPrefer: wait=5\r\n"
                                 "Idempotency-Key: k1\r\n",
                                 "{}"));
  EXPECT_EQ(echo["route"], "/v1/things");
  EXPECT_EQ(echo["method"], "POST");
  EXPECT_EQ(echo["query"], "wait=0&a=b");
  EXPECT_EQ(echo["body"], "{}");
  EXPECT_EQ(echo["caller"], "local");
  EXPECT_EQ(echo["prefer"], "respond-async,wait=5");
  EXPECT_EQ(echo["key"], "k1");
}

TEST_F(WebTest, SendsTheHandlersAnswer) {
  const tests::RawAnswer answer = Ask(tests::Get("/v1/things"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.Header("content-type"), "application/json");
  EXPECT_EQ(answer.Header("etag"), "\"1\"");
  EXPECT_EQ(answer.Header("cache-control"), "no-store");
  EXPECT_EQ(answer.Header("x-content-type-options"), "nosniff");
}

TEST_F(WebTest, MatchesPatterns) {
  EXPECT_EQ(Echo(tests::Get("/v1/things/abc"))["parameters"], Json({"abc"}));
  EXPECT_EQ(Echo(tests::Get("/v1/things/a%2Fb%20c"))["parameters"], Json({"a/b c"}));
  EXPECT_EQ(Echo(tests::Get("/v1/things/all"))["route"], "/v1/things/all");
  EXPECT_EQ(Echo(tests::Get("/v1/things/x/files/a/b.txt"))["parameters"], Json({"x", "a/b.txt"}));
  EXPECT_EQ(Echo(tests::Get("/v1/things/x/files/%c3%bc/../c"))["parameters"],
            Json({"x", "\u00fc/../c"}));
}

TEST_F(WebTest, OtherPathsAreNowhere) {
  for (const char* path :
       {"/v1", "/v1/", "/v1/things/", "/v1/thing", "/v1/things/a/files", "/v1/things/a/files/",
        "/v1//things", "//v1/things", "/V1/things", "/v1/things/%", "/v1/things/%4",
        "/v1/things/%zz", "/v1/things/a%00b", "/v1/things/%ff", "/v1/things/%0a",
        "/v1/things/%c2%85", "*", "v1/things", "http://localhost/v1/things"}) {
    EXPECT_EQ(Ask(tests::Get(path)).status, 404) << path;
  }
  EXPECT_EQ(Ask(tests::Get("/v1/things/" + std::string(5000, 'a'))).status, 404);
  EXPECT_EQ(handler_.requests, 0);
}

TEST_F(WebTest, NamesTheMethodsOfAPath) {
  const tests::RawAnswer answer = Ask(Request("PATCH", "/v1/things/abc"));
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.Header("allow"), "GET, HEAD, DELETE");
  ExpectProblem(Request("BREW", "/v1/things"), 405);
  ExpectProblem(Request("OPTIONS", "/v1/things"), 405);
  EXPECT_EQ(handler_.requests, 0);
}

TEST_F(WebTest, HeadIsGetWithoutABody) {
  tests::RawClient client(server().port());
  client.Send("HEAD /v1/things HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const tests::RawAnswer head = client.Receive(true);
  EXPECT_EQ(head.status, 200);
  EXPECT_NE(head.Header("content-length"), "0");
  client.Send(tests::Get("/v1/things/all"));  // in step
  EXPECT_EQ(client.Receive().status, 200);
}

TEST_F(WebTest, RefusesOtherBodies) {
  ExpectProblem(Request("POST", "/v1/things", "Content-Type: text/plain\r\n", "{}"), 415);
  ExpectProblem(Request("POST", "/v1/things", "", "{}"), 415);
  ExpectProblem(
      Request("POST", "/v1/things", std::string(kJson) + "Content-Encoding: gzip\r\n", "{}"), 415);
  ExpectProblem(Request("POST", "/v1/things", kJson, std::string(101, ' ')), 413);
  EXPECT_EQ(handler_.requests, 0);
  EXPECT_EQ(Echo(Request("POST", "/v1/things"))["body"], "");
  EXPECT_EQ(Echo(Request("POST", "/v1/things", kJson, std::string(100, ' ')))["body"],
            std::string(100, ' '));
  EXPECT_EQ(Echo(Request("PUT", "/v1/things/a/files/f", "", "bytes"))["body"], "bytes");
  // A body that no route reads does not reach the handler.
  EXPECT_EQ(Echo(Request("DELETE", "/v1/things/a", "", "body"))["body"], "");
}

TEST_F(WebTest, RequiresATokenBeforeItTellsAnything) {
  tokens_ = {tests::MakeToken("anna", 'a')};
  tokens_[0].caller.rate = 2;
  tokens_[0].caller.burst = 3;
  const std::string anna = "Authorization: Bearer " + tokens_[0].secret + "\r\n";
  ExpectProblem(tests::Get("/v1/things"), 401);
  ExpectProblem(Request("PATCH", "/v1/things"), 401);
  ExpectProblem(tests::Get("/v1/things", "Authorization: Bearer " + std::string(40, 'b') + "\r\n"),
                401);
  EXPECT_EQ(handler_.requests, 0);

  const tests::RawAnswer first = Ask(tests::Get("/v1/things", anna));
  EXPECT_EQ(Json::parse(first.body)["caller"], "anna");
  EXPECT_EQ(first.Header("ratelimit-policy"), "\"token\";q=3;w=2");
  EXPECT_EQ(first.Header("ratelimit"), "\"token\";r=2;t=1");
  tests::RawAnswer last;
  for (int i = 0; i < 20 && last.status != 429; ++i) last = Ask(tests::Get("/v1/things", anna));
  EXPECT_EQ(last.status, 429);
  EXPECT_EQ(last.Header("retry-after"), "1");
  EXPECT_EQ(last.Header("content-type"), "application/problem+json");
}

TEST_F(WebTest, TakesAnAuthTokenWhereTheRouteDoes) {
  tokens_ = {tests::MakeToken("anna", 'a'), tests::MakeToken("bert", 'b')};
  const auto bearer = [&](size_t of) {
    return "Authorization: Bearer " + tokens_[of].secret + "\r\n";
  };
  const auto auth = [&](size_t of) { return "x-auth-token: " + tokens_[of].secret + "\r\n"; };
  const auto ask = [&](const char* path, const std::string& headers) {
    return Ask(tests::Get(path, headers));
  };
  for (const std::string& headers : {bearer(1), auth(1), bearer(1) + auth(1)}) {
    EXPECT_EQ(Json::parse(ask("/judged", headers).body)["caller"], "bert") << headers;
  }
  handler_.requests = 0;
  ExpectProblem(tests::Get("/judged", "X-Auth-Token: " + std::string(40, 'c') + "\r\n"), 401);
  for (const std::string& headers : {bearer(0) + auth(1), auth(0) + bearer(1)}) {
    ExpectProblem(tests::Get("/judged", headers), 401);
    EXPECT_NE(ask("/judged", headers).body.find("different tokens"), std::string::npos);
  }
  // A proxy and this server might each read another one of two.
  for (const char* path : {"/judged", "/v1/things"}) {
    EXPECT_EQ(ask(path, auth(0) + auth(0)).status, 400) << path;
    EXPECT_EQ(ask(path, auth(0) + auth(1) + bearer(0)).status, 400) << path;
  }
  // Names and lines that others may read as that header.
  for (const std::string& line :
       {"X-Auth-Token : " + tokens_[0].secret, "X_Auth_Token: " + tokens_[0].secret,
        "X-Auth: 1\r\n X-Auth-Token: " + tokens_[0].secret,
        "X-Auth-Token\t: " + tokens_[0].secret}) {
    EXPECT_GE(ask("/judged", line + "\r\n").status, 400) << line;
  }
  // Elsewhere it is no token.
  ExpectProblem(tests::Get("/v1/things", auth(0)), 401);
  EXPECT_EQ(handler_.requests, 0);
  EXPECT_EQ(Json::parse(ask("/v1/things", bearer(0) + auth(1)).body)["caller"], "anna");
}

TEST_F(WebTest, AsksForHostAndOriginAsElsewhere) {
  config_.allowed_origins = {"https://app.example"};
  EXPECT_EQ(Ask("GET /v1/things HTTP/1.1\r\nHost: evil.example\r\n\r\n").status, 403);
  EXPECT_EQ(Ask(tests::Get("/v1/things", "Origin: https://evil.example\r\n")).status, 403);
  EXPECT_EQ(handler_.requests, 0);
  const std::string origin = "Origin: https://app.example\r\n";
  EXPECT_EQ(Ask(tests::Get("/v1/things", origin)).Header("access-control-allow-origin"),
            "https://app.example");
  const tests::RawAnswer preflight = Ask(
      Request("OPTIONS", "/v1/things/abc", origin + "Access-Control-Request-Method: DELETE\r\n"));
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(preflight.Header("access-control-allow-methods"), "GET, HEAD, DELETE");
  EXPECT_NE(preflight.Header("access-control-allow-headers").find("Idempotency-Key"),
            std::string::npos);
}

TEST_F(WebTest, Streams) {
  handler_.on_request = [](const WebRequest&, const std::shared_ptr<WebReply>& reply) {
    reply->Begin({200, "application/jsonl", "1\n", ""});
    reply->Write("");  // would end the stream
    reply->Write("2\n");
    reply->End();
    reply->Write("3\n");
  };
  tests::RawClient client(server().port());
  client.Send(tests::Get("/v1/things"));
  const tests::RawAnswer answer = client.Receive();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.Header("content-type"), "application/jsonl");
  EXPECT_EQ(answer.Header("transfer-encoding"), "chunked");
  EXPECT_EQ(answer.body, "1\n2\n");
  client.Send("HEAD /v1/things HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.Receive(true).status, 200);
  client.Send(tests::Get("/v1/things"));
  EXPECT_EQ(client.Receive().body, "1\n2\n");
}

TEST_F(WebTest, NotifiesTheWriterWhenTheClientIsGone) {
  std::promise<std::pair<std::shared_ptr<WebReply>, std::shared_ptr<Cancellation>>> got;
  handler_.on_request = [&](WebRequest request, std::shared_ptr<WebReply> reply) {
    reply->Begin({200, "text/event-stream", "", ""});
    got.set_value({std::move(reply), std::move(request.peer_gone)});
  };
  auto client = std::make_unique<tests::RawClient>(server().port());
  client->Send(tests::Get("/v1/things"));
  const auto given = got.get_future().get();
  const std::shared_ptr<WebReply>& reply = given.first;
  const std::shared_ptr<Cancellation>& peer_gone = given.second;
  EXPECT_TRUE(reply->AwaitRoom(0, Clock::now() + seconds(20)));
  client->Reset();
  EXPECT_TRUE(tests::Eventually([&] { return peer_gone->cancelled(); }));
  EXPECT_FALSE(reply->AwaitRoom(1 << 20, Clock::now() + seconds(20)));
  reply->End();
}

TEST_F(WebTest, WaitsForAClientThatReadsSlowly) {
  constexpr size_t kPiece = 1 << 20, kPieces = 64;
  std::promise<std::shared_ptr<WebReply>> got;
  handler_.on_request = [&](const WebRequest&, std::shared_ptr<WebReply> reply) {
    reply->Begin({200, "application/octet-stream", "", ""});
    got.set_value(std::move(reply));
  };
  tests::RawClient client(server().port(), 4096);
  client.Send(tests::Get("/v1/things"));
  const std::shared_ptr<WebReply> reply = got.get_future().get();
  std::atomic<size_t> refused = 0;
  std::thread writer([&] {
    for (size_t i = 0; i < kPieces; ++i) {
      // Before the client reads, this times out at some piece: what a socket holds is far less.
      if (!reply->AwaitRoom(2 * kPiece, Clock::now() + milliseconds(200))) ++refused;
      if (!reply->AwaitRoom(2 * kPiece, Clock::now() + seconds(20))) break;
      reply->Write(std::string(kPiece, 'x'));
    }
    reply->End();
  });
  EXPECT_TRUE(tests::Eventually([&] { return refused > 0; }));
  const tests::RawAnswer answer = client.Receive();
  writer.join();
  EXPECT_EQ(answer.body.size(), kPieces * kPiece);
}

TEST_F(WebTest, AnAbandonedRequestIsAnError) {
  handler_.on_request = [](const WebRequest&, const std::shared_ptr<WebReply>&) {};
  ExpectProblem(tests::Get("/v1/things"), 500);
  handler_.on_request = [](const WebRequest&, const std::shared_ptr<WebReply>& reply) {
    reply->Begin({200, "text/plain", "half", ""});
  };
  tests::RawClient client(server().port());
  client.Send(tests::Get("/v1/things"));
  EXPECT_EQ(client.ReceiveHead().status, 200);
  EXPECT_EQ(client.NextChunk(), "half");
  EXPECT_TRUE(client.IsClosed());  // cut off: nobody takes it for the end
}

TEST_F(WebTest, McpIsNotAffected) {
  EXPECT_EQ(Ask(tests::Post("{}")).body, "{}");
  EXPECT_EQ(Ask(tests::Get("/healthz")).body, "ok\n");
  ExpectProblem(tests::Get("/nowhere"), 404);
  handlers_.clear();
  server_.reset();
  tests::ExpectError(Ask(tests::Get("/nowhere")), 404);
}

// --- what handlers share -------------------------------------------------------------------------

TEST(WebTextTest, ReadsQueries) {
  const core::Result<WebParameters> parameters = ParseQuery("a=1&b=two+words&c&d=%26%3D&&e=");
  ASSERT_TRUE(parameters);
  EXPECT_EQ(*parameters,
            (WebParameters{{"a", "1"}, {"b", "two words"}, {"c", ""}, {"d", "&="}, {"e", ""}}));
  EXPECT_TRUE(ParseQuery("")->empty());
  for (const char* bad : {"a=%", "a=%4", "a=%gg", "a=%00", "%ff=1", "a=1&a=2", "a=1&%61=2"}) {
    EXPECT_FALSE(ParseQuery(bad)) << bad;
  }
}

TEST(WebTextTest, MakesProblems) {
  const WebAnswer problem = Problem(404, "no \"such\" thing\xff");
  EXPECT_EQ(problem.status, 404u);
  EXPECT_EQ(problem.type, "application/problem+json");
  EXPECT_EQ(Json::parse(problem.body), Json({{"type", "about:blank"},
                                             {"title", "Not Found"},
                                             {"status", 404},
                                             {"detail", "no \"such\" thing\ufffd"}}));
}

}  // namespace
}  // namespace belljar::server::http::web_test
