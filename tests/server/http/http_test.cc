// The HTTP transport over real sockets: what goes in and comes out, byte by byte.
#include <gtest/gtest.h>

#include "tests/server/http_client.h"

namespace belljar::server::http::http_test {
namespace {

using std::chrono::milliseconds;

using std::chrono::seconds;

const std::string kChunkedHead =
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    "Transfer-Encoding: chunked\r\n\r\n";

class HttpTest : public testing::Test {
 protected:
  tests::FakeHandler handler_;
  tests::PendingMessages pending_;  // once KeepAll was called
};

// --- answers ---------------------------------------------------------------------------------

TEST_F(HttpTest, AnswersAMessage) {
  tests::TestServer server(handler_);
  const tests::RawAnswer answer = tests::Ask(server, tests::Post("{\"a\":1}"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "{\"a\":1}");
  EXPECT_EQ(answer.Header("content-type"), "application/json");
  EXPECT_EQ(answer.Header("content-length"), "7");
  EXPECT_EQ(answer.Header("cache-control"), "no-store");
  EXPECT_EQ(answer.Header("x-content-type-options"), "nosniff");
  EXPECT_EQ(answer.Header("server"), "belljar");
  EXPECT_EQ(answer.Header("connection"), "");
  EXPECT_EQ(answer.Header("access-control-allow-origin"), "");
  EXPECT_FALSE(answer.Header("date").empty());
}

TEST_F(HttpTest, HandsOverTextHeadersAndConversation) {
  IncomingMessage seen;
  handler_.on_message = [&](IncomingMessage message, std::shared_ptr<Reply> reply) {
    seen = std::move(message);
    reply->Finish({});
  };
  tests::TestServer server(handler_);
  std::string any_bytes("\xff\0\r\n\r\n{", 7);
  tests::Ask(server, tests::Post(any_bytes,
                                 "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
                                 "Mcp-Name: =?base64?eA==?=\r\nMcp-Session-Id: abc\r\n"));
  EXPECT_EQ(seen.text, any_bytes);
  EXPECT_EQ(seen.conversation, "abc");
  EXPECT_EQ(seen.caller.name, "local");
  ASSERT_TRUE(seen.headers);
  EXPECT_EQ(seen.headers->protocol_version, "2026-07-28");
  EXPECT_EQ(seen.headers->method, "tools/call");
  EXPECT_EQ(seen.headers->name, "=?base64?eA==?=");
  EXPECT_FALSE(seen.peer_gone->cancelled());
}

TEST_F(HttpTest, MapsKindsOfAnswers) {
  Answer next;
  handler_.on_message = [&](IncomingMessage, std::shared_ptr<Reply> reply) { reply->Finish(next); };
  tests::TestServer server(handler_);
  using Kind = Answer::Kind;
  for (auto [kind, status] : {std::pair(Kind::kResult, 200),
                              {Kind::kBadRequest, 400},
                              {Kind::kUnknownMethod, 404},
                              {Kind::kUnknownConversation, 404}}) {
    next = {kind, "{}", std::nullopt, ""};
    const tests::RawAnswer answer = tests::Ask(server, tests::Post("{}"));
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(answer.body, "{}");
  }
  for (Kind kind : {Kind::kAccepted, Kind::kWithdrawn}) {
    next = {kind, "", std::nullopt, ""};
    const tests::RawAnswer answer = tests::Ask(server, tests::Post("{}"));
    EXPECT_EQ(answer.status, 202);
    EXPECT_EQ(answer.Header("content-length"), "0");
    EXPECT_EQ(answer.Header("content-type"), "");
  }
  next = {Kind::kResult, "{}", seconds(7), "a-name"};
  const tests::RawAnswer answer = tests::Ask(server, tests::Post("{}"));
  EXPECT_EQ(answer.Header("retry-after"), "7");
  EXPECT_EQ(answer.Header("mcp-session-id"), "a-name");
}

TEST_F(HttpTest, EndsConversations) {
  tests::TestServer server(handler_);
  const std::string start = "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n";
  const tests::RawAnswer ended = tests::Ask(server, start + "Mcp-Session-Id: alive\r\n\r\n");
  EXPECT_EQ(ended.status, 204);
  EXPECT_EQ(ended.Header("content-length"), "");
  tests::ExpectError(tests::Ask(server, start + "Mcp-Session-Id: dead\r\n\r\n"), 404);
  tests::ExpectError(tests::Ask(server, start + "Mcp-Session-Id: a b\r\n\r\n"), 400);
  tests::ExpectError(tests::Ask(server, start + "\r\n"), 405);
}

TEST_F(HttpTest, AMessageThatIsGivenUpIsAnsweredAllTheSame) {
  handler_.on_message = [](IncomingMessage, std::shared_ptr<Reply>) {};
  tests::TestServer server(handler_);
  tests::ExpectError(tests::Ask(server, tests::Post("{}")), 500);
}

TEST_F(HttpTest, AnswersFromOtherThreadsReachTheirOwnRequests) {
  std::vector<std::thread> threads;
  std::mutex mutex;
  handler_.on_message = [&](IncomingMessage message, std::shared_ptr<Reply> reply) {
    std::lock_guard lock(mutex);
    threads.emplace_back([text = message.text, reply] {
      // sleeps: they answer in another order
      std::this_thread::sleep_for(milliseconds(text.size() % 7));
      reply->Finish({Answer::Kind::kResult, text, std::nullopt, ""});
    });
  };
  {
    tests::TestServer server(handler_);
    std::vector<std::unique_ptr<tests::RawClient>> clients;
    for (int i = 0; i < 200; ++i)
      clients.push_back(std::make_unique<tests::RawClient>(server.port()));
    for (int round = 0; round < 3; ++round) {
      for (size_t i = 0; i < clients.size(); ++i)
        clients[i]->Send(tests::Post(std::string(i + 1, 'x')));
      for (size_t i = 0; i < clients.size(); ++i) {
        EXPECT_EQ(clients[i]->Receive().body, std::string(i + 1, 'x'));
      }
    }
    EXPECT_EQ(server.connections(), 200u);
  }
  for (std::thread& thread : threads) thread.join();
}

// --- streams ---------------------------------------------------------------------------------

TEST_F(HttpTest, ANotificationMakesTheAnswerAStream) {
  pending_.KeepAll(handler_);
  tests::TestServer server(handler_);
  tests::RawClient client(server.port());
  client.Send(tests::Post("{}"));
  tests::Pending request = pending_.Next();
  request.reply->Notify("{\"n\":1}");
  const tests::RawAnswer head = client.ReceiveHead();
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Header("content-type"), "text/event-stream");
  EXPECT_EQ(head.Header("transfer-encoding"), "chunked");
  EXPECT_EQ(head.Header("x-accel-buffering"), "no");
  EXPECT_EQ(head.Header("cache-control"), "no-cache, no-transform");
  EXPECT_EQ(head.Header("content-length"), "");
  EXPECT_EQ(client.NextChunk(), "event: message\ndata: {\"n\":1}\n\n");
  request.reply->Notify("{\"n\":2}");
  EXPECT_EQ(client.NextChunk(), "event: message\ndata: {\"n\":2}\n\n");
  // The status is out already: an error goes as the event.
  request.reply->Finish({Answer::Kind::kBadRequest, "{\"n\":3}", std::nullopt, ""});
  EXPECT_EQ(client.NextChunk(), "event: message\ndata: {\"n\":3}\n\n");
  EXPECT_EQ(client.NextChunk(), std::nullopt);
  request.reply->Notify("late");
  // The connection goes on.
  client.Send(tests::Post("{}"));
  pending_.Next().reply->Finish({Answer::Kind::kResult, "[]", std::nullopt, ""});
  EXPECT_EQ(client.Receive().body, "[]");
}

TEST_F(HttpTest, AWithdrawnStreamJustEnds) {
  handler_.on_message = [](IncomingMessage, std::shared_ptr<Reply> reply) {
    reply->Notify("1");
    reply->Finish({Answer::Kind::kWithdrawn, "", std::nullopt, ""});
  };
  tests::TestServer server(handler_);
  EXPECT_EQ(tests::Ask(server, tests::Post("{}")).body, "event: message\ndata: 1\n\n");
}

TEST_F(HttpTest, GivesEachClientWhatItTakes) {
  handler_.on_message = [](IncomingMessage message, std::shared_ptr<Reply> reply) {
    if (message.text == "notify") reply->Notify("1");
    reply->Finish({message.text == "bad" ? Answer::Kind::kBadRequest : Answer::Kind::kResult, "2",
                   std::nullopt, "name"});
  };
  tests::TestServer server(handler_);
  auto ask = [&](const std::string& accept, const std::string& body) {
    return tests::Ask(server,
                      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                      "Accept: " +
                          accept + "\r\nContent-Length: " + std::to_string(body.size()) +
                          "\r\n\r\n" + body);
  };
  const tests::RawAnswer json_only = ask("application/json", "notify");
  EXPECT_EQ(json_only.Header("content-type"), "application/json");
  EXPECT_EQ(json_only.body, "2");
  const tests::RawAnswer stream_only = ask("text/event-stream", "plain");
  EXPECT_EQ(stream_only.Header("content-type"), "text/event-stream");
  EXPECT_EQ(stream_only.Header("mcp-session-id"), "name");
  EXPECT_EQ(stream_only.body, "event: message\ndata: 2\n\n");
  EXPECT_EQ(ask("text/event-stream", "bad").status, 400);
}

TEST_F(HttpTest, Http10IsServedToItsEnd) {
  handler_.on_message = [](IncomingMessage message, std::shared_ptr<Reply> reply) {
    if (message.text == "notify") reply->Notify("1");
    reply->Finish({Answer::Kind::kResult, "2", std::nullopt, ""});
  };
  tests::TestServer server(handler_);
  const std::string head = "POST /mcp HTTP/1.0\r\nContent-Type: application/json\r\n";
  tests::RawClient stream(server.port());
  stream.Send(head + "Connection: keep-alive\r\nContent-Length: 6\r\n\r\nnotify");
  const tests::RawAnswer streamed = stream.Receive();
  EXPECT_EQ(streamed.Header("transfer-encoding"), "");
  EXPECT_EQ(streamed.Header("connection"), "close");
  EXPECT_EQ(streamed.body, "event: message\ndata: 1\n\nevent: message\ndata: 2\n\n");

  tests::RawClient plain(server.port());
  plain.Send(head + "Content-Length: 1\r\n\r\nx");
  EXPECT_EQ(plain.Receive().Header("connection"), "close");
  EXPECT_TRUE(plain.IsClosed());

  tests::RawClient kept(server.port());
  kept.Send(head + "Connection: keep-alive\r\nContent-Length: 1\r\n\r\nx");
  EXPECT_EQ(kept.Receive().Header("connection"), "keep-alive");
  kept.Send(head + "Content-Length: 1\r\n\r\nx");
  EXPECT_EQ(kept.Receive().body, "2");
}

// --- requests --------------------------------------------------------------------------------

TEST_F(HttpTest, KeepsTheConnectionAndAnswersInOrder) {
  pending_.KeepAll(handler_);
  tests::TestServer server(handler_);
  tests::RawClient client(server.port());
  client.Send(tests::Post("1") + tests::Post("2") + tests::Get("/healthz") + tests::Post("3") +
              tests::Get("/nowhere") + tests::Post("4").substr(0, 30));
  for (const char* text : {"1", "2"}) {
    tests::Pending request = pending_.Next();
    EXPECT_EQ(request.message.text, text);
    EXPECT_TRUE(client.IsSilent(milliseconds(20)));
    request.reply->Finish({Answer::Kind::kResult, request.message.text, std::nullopt, ""});
    EXPECT_EQ(client.Receive().body, text);
  }
  EXPECT_EQ(client.Receive().body, "ok\n");
  pending_.Next().reply->Finish({Answer::Kind::kResult, "three", std::nullopt, ""});
  EXPECT_EQ(client.Receive().body, "three");
  EXPECT_EQ(client.Receive().status, 404);
  client.Send(tests::Post("4").substr(30));
  pending_.Next().reply->Finish({Answer::Kind::kResult, "four", std::nullopt, ""});
  EXPECT_EQ(client.Receive().body, "four");
  EXPECT_EQ(handler_.messages, 4);
}

TEST_F(HttpTest, ConnectionCloseCloses) {
  tests::TestServer server(handler_);
  tests::RawClient client(server.port());
  client.Send(tests::Post("{}", "Connection: close\r\n"));
  EXPECT_EQ(client.Receive().Header("connection"), "close");
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(HttpTest, TakesChunkedBodiesByteByByte) {
  tests::TestServer server(handler_);
  tests::RawClient client(server.port());
  for (char c : kChunkedHead + "2\r\n{\"\r\n5;x=y\r\na\":1}\r\n0\r\nT: u\r\n\r\n") {
    client.Send(std::string(1, c));
  }
  EXPECT_EQ(client.Receive().body, "{\"a\":1}");
}

TEST_F(HttpTest, InvitesTheBody) {
  tests::TestServer server(handler_);
  tests::RawClient client(server.port());
  const std::string request = tests::Post("{}", "Expect: 100-continue\r\n");
  client.Send(request.substr(0, request.size() - 2));
  EXPECT_EQ(client.Receive().status, 100);
  client.Send("{}");
  EXPECT_EQ(client.Receive().body, "{}");
  // What is refused is not invited, and what is here needs no invitation.
  client.Send(request);
  EXPECT_EQ(client.Receive().status, 200);
  client.Send(
      "POST /nowhere HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
      "Content-Length: 10\r\n\r\n");
  tests::ExpectError(client.Receive(), 404);
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(HttpTest, RefusesBodiesThatAreTooLong) {
  HttpConfig config;
  config.max_body = core::Bytes{100'000};
  tests::TestServer server(handler_, config);
  EXPECT_EQ(tests::Ask(server, tests::Post(std::string(100'000, 'x'))).body.size(), 100'000u);
  tests::ExpectError(tests::Ask(server, tests::Post(std::string(100'001, 'x'))), 413);
  std::string chunked = kChunkedHead;
  for (int i = 0; i < 1000; ++i) chunked += "100\r\n" + std::string(256, 'x') + "\r\n";
  tests::RawClient client(server.port());
  client.Send(chunked);
  tests::ExpectError(client.Receive(), 413);
  EXPECT_EQ(handler_.messages, 1);
  // A length that promises more than comes is only waited for.
  tests::RawClient liar(server.port());
  liar.Send(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 100000\r\n\r\n{}");
  EXPECT_TRUE(liar.IsSilent(milliseconds(50)));
}

TEST_F(HttpTest, ABodyPastItsLengthIsTheNextRequest) {
  tests::TestServer server(handler_);
  tests::RawClient client(server.port());
  client.Send(tests::Post("{}") + "xx\r\n\r\n");
  EXPECT_EQ(client.Receive().body, "{}");
  tests::ExpectError(client.Receive(), 400);
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(HttpTest, RefusesWhatCouldBeReadTwoWaysAndCloses) {
  tests::TestServer server(handler_);
  const std::string start = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n";
  for (const std::string& request :
       {start + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        start + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        start + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        // The body would be a request of its own.
        start + "Transfer-Encoding: gzip\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        start + "A: b\r\n c: d\r\n\r\n", std::string("POST /mcp HTTP/1.1\nHost: localhost\n\n"),
        start + "Host: localhost\r\n\r\n", std::string("GET /mcp\r\n\r\n"),
        std::string("\x16\x03\x01\x02\x00\x01\x00\x01", 8)}) {
    tests::RawClient client(server.port());
    client.Send(request);
    SCOPED_TRACE(request);
    const tests::RawAnswer answer = client.Receive();
    tests::ExpectError(answer, 400);
    EXPECT_TRUE(client.IsClosed());
  }
  tests::RawClient client(server.port());
  client.Send(start + "A: " + std::string(20'000, 'x'));
  tests::ExpectError(client.Receive(), 431);
  EXPECT_TRUE(client.IsClosed());
  EXPECT_EQ(handler_.messages, 0);
}

TEST_F(HttpTest, RefusesByPathMethodAndKind) {
  tests::TestServer server(handler_);
  tests::ExpectError(tests::Ask(server, tests::Get("/nowhere")), 404);
  const tests::RawAnswer get = tests::Ask(server, tests::Get("/mcp"));
  tests::ExpectError(get, 405);
  EXPECT_EQ(get.Header("allow"), "POST, DELETE");
  EXPECT_EQ(tests::Ask(server, "HEAD /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n").status, 405);
  tests::ExpectError(
      tests::Ask(server,
                 "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
                 "Content-Length: 2\r\n\r\n{}"),
      415);
  tests::ExpectError(tests::Ask(server, tests::Post("{}", "Content-Encoding: gzip\r\n")), 415);
  tests::ExpectError(tests::Ask(server,
                                "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n"
                                "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"),
                     406);
  tests::ExpectError(tests::Ask(server, "POST /mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403);
  tests::ExpectError(tests::Ask(server, tests::Post("{}", "Origin: https://evil.example\r\n")),
                     403);
  EXPECT_EQ(handler_.messages, 0);
}

TEST_F(HttpTest, ARefusalWithASmallBodyKeepsTheConnection) {
  tests::TestServer server(handler_);
  tests::RawClient client(server.port());
  client.Send("POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello");
  tests::ExpectError(client.Receive(), 404);
  client.Send(tests::Post("{}"));
  EXPECT_EQ(client.Receive().status, 200);
  // A long one is not read: the connection ends, and the answer still arrives.
  client.Send("POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n" +
              std::string(1'000'000, 'x'));
  tests::ExpectError(client.Receive(), 404);
}

TEST_F(HttpTest, PagesOfAllowedOriginsMayReadAnswers) {
  HttpConfig config;
  config.allowed_origins = {"https://app.example"};
  tests::TestServer server(handler_, config);
  const tests::RawAnswer preflight =
      tests::Ask(server,
                 "OPTIONS /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: https://app.example\r\n"
                 "Access-Control-Request-Method: POST\r\n\r\n");
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(preflight.Header("access-control-allow-origin"), "https://app.example");
  EXPECT_NE(preflight.Header("access-control-allow-headers").find("Authorization"),
            std::string::npos);
  EXPECT_EQ(tests::Ask(server, tests::Post("{}", "Origin: https://app.example\r\n"))
                .Header("access-control-allow-origin"),
            "https://app.example");
  EXPECT_EQ(tests::Ask(server, tests::Post("{}", "Origin: http://localhost:1\r\n"))
                .Header("access-control-allow-origin"),
            "");
}

}  // namespace
}  // namespace belljar::server::http::http_test
