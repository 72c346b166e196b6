// Who may use the HTTP transport, where it listens, and what its operators see of it.
#include <gtest/gtest.h>

#include "tests/server/http_client.h"

namespace belljar::server::http::http_access_test {
namespace {

class HttpAccessTest : public testing::Test {
 protected:
  tests::FakeHandler handler_;
  tests::PendingMessages pending_;  // once KeepAll was called
};

// --- who may ---------------------------------------------------------------------------------

TEST_F(HttpAccessTest, AsksForATokenAndSaysWhoseItIs) {
  std::string caller;
  handler_.on_message = [&](IncomingMessage message, std::shared_ptr<Reply> reply) {
    caller = message.caller.name;
    reply->Finish({});
  };
  tests::TestServer server(handler_, {},
                           {tests::MakeToken("ann", 'a'), tests::MakeToken("bob", 'b')});
  const tests::RawAnswer none = tests::Ask(server, tests::Post("{}"));
  tests::ExpectError(none, 401);
  EXPECT_EQ(none.Header("www-authenticate"), "Bearer realm=\"belljar\"");
  const tests::RawAnswer wrong = tests::Ask(
      server, tests::Post("{}", "Authorization: Bearer " + std::string(40, 'c') + "\r\n"));
  tests::ExpectError(wrong, 401);
  EXPECT_EQ(wrong.Header("www-authenticate"), "Bearer realm=\"belljar\", error=\"invalid_token\"");
  EXPECT_EQ(wrong.body.find("ccc"), std::string::npos);
  EXPECT_EQ(handler_.messages, 0);
  EXPECT_EQ(tests::Ask(server,
                       tests::Post("{}", "Authorization: Bearer " + std::string(40, 'b') + "\r\n"))
                .status,
            200);
  EXPECT_EQ(caller, "bob");
  tests::ExpectError(tests::Ask(server, tests::Get("/metrics")), 401);
  EXPECT_EQ(tests::Ask(server, tests::Get("/metrics",
                                          "Authorization: Bearer " + std::string(40, 'a') + "\r\n"))
                .status,
            200);
  EXPECT_EQ(tests::Ask(server, tests::Get("/healthz")).status, 200);
  EXPECT_EQ(tests::Ask(server, tests::Get("/readyz")).status, 200);
}

TEST_F(HttpAccessTest, LimitsTheRateOfAToken) {
  TokenConfig slow = tests::MakeToken("slow", 's');
  slow.caller.rate = 0.01;
  slow.caller.burst = 2;
  tests::TestServer server(handler_, {}, {slow, tests::MakeToken("fast", 'f')});
  const std::string as_slow = "Authorization: Bearer " + slow.secret + "\r\n";
  tests::RawClient client(server.port());
  for (int status : {200, 200, 429, 429}) {
    client.Send(tests::Post("{}", as_slow));
    const tests::RawAnswer answer = client.Receive();
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(answer.Header("retry-after"), status == 429 ? "100" : "");
  }
  EXPECT_EQ(tests::Ask(server,
                       tests::Post("{}", "Authorization: Bearer " + std::string(40, 'f') + "\r\n"))
                .status,
            200);
}

TEST_F(HttpAccessTest, RefusesToListenUnsafely) {
  boost::asio::io_context io;
  for (const char* address : {"0.0.0.0", "::", "192.0.2.1", "::ffff:127.0.0.1"}) {
    HttpConfig config;
    config.address = address;
    auto server = HttpServer::Listen(io, config, {}, handler_);
    ASSERT_FALSE(server) << address;
    EXPECT_NE(server.error().ToString().find("without a token"), std::string::npos);
  }
  HttpConfig named;
  named.address = "example.com";
  EXPECT_FALSE(HttpServer::Listen(io, named, {}, handler_));
  TokenConfig token = tests::MakeToken("ann", 'a');
  token.secret = "short";
  auto server = HttpServer::Listen(io, {}, {token}, handler_);
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().ToString().find("short "), std::string::npos);
}

TEST_F(HttpAccessTest, SaysThatAPortIsTaken) {
  tests::TestServer server(handler_);
  boost::asio::io_context io;
  HttpConfig config;
  config.port = server.port();
  auto second = HttpServer::Listen(io, config, {}, handler_);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().ToString().find("127.0.0.1:" + std::to_string(config.port)),
            std::string::npos);
  EXPECT_NE(second.error().ToString().find("choose another port"), std::string::npos);
}

TEST_F(HttpAccessTest, ListensOnIPv6) {
  HttpConfig config;
  config.address = "[::1]";
  tests::TestServer server(handler_, config);
  tests::RawClient client(server.port(), 0, true);
  if (!client.connected()) GTEST_SKIP() << "this machine has no ::1";
  client.Send("GET /healthz HTTP/1.1\r\nHost: [::1]:9015\r\n\r\n");
  EXPECT_EQ(client.Receive().status, 200);
}

// --- for operators ---------------------------------------------------------------------------

TEST_F(HttpAccessTest, MarksProbesAndMetrics) {
  std::atomic<bool> ready = false;
  HttpMonitoring monitoring;
  monitoring.ready = [&] { return ready.load(); };
  monitoring.metrics = [] { return std::string("belljar_up 1\n"); };
  tests::TestServer server(handler_, {}, {}, monitoring);
  EXPECT_EQ(tests::Ask(server, tests::Get("/healthz")).body, "ok\n");
  const tests::RawAnswer not_ready = tests::Ask(server, tests::Get("/readyz"));
  EXPECT_EQ(not_ready.status, 503);
  EXPECT_EQ(not_ready.body, "not ready\n");
  ready = true;
  EXPECT_EQ(tests::Ask(server, tests::Get("/readyz")).status, 200);
  const tests::RawAnswer metrics = tests::Ask(server, tests::Get("/metrics"));
  EXPECT_EQ(metrics.body, "belljar_up 1\n");
  EXPECT_EQ(metrics.Header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  tests::RawClient client(server.port());
  client.Send("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.Receive(true).Header("content-length"), "13");
  client.Send(tests::Get("/healthz"));
  EXPECT_EQ(client.Receive().body, "ok\n");
}

TEST_F(HttpAccessTest, LogsEachRequestOnce) {
  std::mutex mutex;
  std::vector<std::string> lines;
  HttpMonitoring monitoring;
  monitoring.access = [&](const HttpAccess& access) {
    std::lock_guard lock(mutex);
    lines.push_back(std::string(access.method) + " " + std::string(access.path) + " " +
                    std::to_string(access.status) + " " + std::string(access.caller) + " " +
                    std::string(access.peer) + " " + std::to_string(access.received) +
                    (access.delivered ? " delivered" : " lost"));
  };
  pending_.KeepAll(handler_);
  tests::TestServer server(handler_, {}, {tests::MakeToken("ann", 'a')}, monitoring);
  tests::Ask(server, tests::Get("/secret-path?token=x"));
  tests::Ask(server, "BREW /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
  {
    tests::RawClient client(server.port());
    client.Send(tests::Post("{}", "Authorization: Bearer " + std::string(40, 'a') + "\r\n"));
    const tests::Pending request = pending_.Next();
    client.Reset();
    EXPECT_TRUE(tests::Eventually([&] { return server.connections() == 0; }));
  }
  std::lock_guard lock(mutex);
  const std::vector<std::string> expected = {"GET other 404  127.0.0.1 0 delivered",
                                             "other /mcp 401  127.0.0.1 0 delivered",
                                             "POST /mcp 0 ann 127.0.0.1 2 lost"};
  EXPECT_EQ(lines, expected);
}

}  // namespace
}  // namespace belljar::server::http::http_access_test
