// Connections that are slow, leave, never read, or come in crowds; and servers that stop.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/server/http_client.h"

namespace belljar::server::http::http_life_test {
namespace {

using std::chrono::milliseconds;

using std::chrono::seconds;
using std::chrono::steady_clock;

Answer Result(std::string text) {
  return {Answer::Kind::kResult, std::move(text), std::nullopt, ""};
}

class HttpLifeTest : public testing::Test {
 protected:
  tests::FakeHandler handler_;
  tests::PendingMessages pending_;  // once KeepAll was called
};

// --- clients that leave ----------------------------------------------------------------------

TEST_F(HttpLifeTest, AClientThatLeavesIsNoticedAtOnce) {
  pending_.KeepAll(handler_);
  tests::TestServer server(handler_);
  for (bool reset : {true, false}) {
    tests::RawClient client(server.port());
    client.Send(tests::Post("{}"));
    tests::Pending request = pending_.Next();
    EXPECT_FALSE(request.message.peer_gone->cancelled());
    reset ? client.Reset() : client.Close();
    EXPECT_TRUE(tests::Eventually([&] { return request.message.peer_gone->cancelled(); }));
    request.reply->Notify("1");
    request.reply->Finish(Result("2"));
    EXPECT_TRUE(tests::Eventually([&] { return server.connections() == 0; }));
  }
}

TEST_F(HttpLifeTest, AClientThatLeavesAStreamIsNoticedAtOnce) {
  pending_.KeepAll(handler_);
  tests::TestServer server(handler_);
  tests::RawClient client(server.port());
  client.Send(tests::Post("{}"));
  tests::Pending request = pending_.Next();
  request.reply->Notify("1");
  client.ReceiveHead();
  client.Close();
  EXPECT_TRUE(tests::Eventually([&] { return request.message.peer_gone->cancelled(); }));
}

TEST_F(HttpLifeTest, AHalfClosedClientCountsAsGoneButGetsWhatComes) {
  pending_.KeepAll(handler_);
  tests::TestServer server(handler_);
  tests::RawClient client(server.port());
  client.Send(tests::Post("first") + tests::Post("second"));
  client.ShutdownWrite();
  tests::Pending request = pending_.Next();
  EXPECT_TRUE(tests::Eventually([&] { return request.message.peer_gone->cancelled(); }));
  request.reply->Finish(Result("answer"));
  EXPECT_EQ(client.Receive().body, "answer");
  // What came behind it is dropped.
  EXPECT_TRUE(client.IsClosed());
  EXPECT_EQ(handler_.messages, 1);
}

TEST_F(HttpLifeTest, HalfARequestIsNotHandled) {
  tests::TestServer server(handler_);
  const std::string request = tests::Post("{\"a\":1}");
  for (size_t sent : {size_t{1}, size_t{30}, request.size() - 1}) {
    tests::RawClient client(server.port());
    client.Send(request.substr(0, sent));
    client.ShutdownWrite();
    EXPECT_TRUE(client.IsClosed());
  }
  EXPECT_EQ(handler_.messages, 0);
}

TEST_F(HttpLifeTest, WhatIsSentAheadIsNotLost) {
  pending_.KeepAll(handler_);
  tests::TestServer server(handler_);
  tests::RawClient client(server.port());
  const std::string long_body(3'000'000, 'x');
  client.Send(tests::Post("1"));
  std::thread sender([&] { client.Send(tests::Post(long_body) + tests::Post("3")); });
  tests::Pending first = pending_.Next();
  std::this_thread::sleep_for(milliseconds(50));  // sleeps: as much arrives as there is room for
  first.reply->Finish(Result("1"));
  tests::Pending second = pending_.Next();
  EXPECT_EQ(second.message.text, long_body);
  EXPECT_FALSE(second.message.peer_gone->cancelled());
  second.reply->Finish(Result("2"));
  pending_.Next().reply->Finish(Result("3"));
  sender.join();
  for (const char* text : {"1", "2", "3"}) EXPECT_EQ(client.Receive().body, text);
}

// --- slow clients ----------------------------------------------------------------------------

TEST_F(HttpLifeTest, TheHeadMustArriveInTime) {
  HttpConfig config;
  config.header_timeout = milliseconds(200);
  tests::TestServer server(handler_, config);
  tests::RawClient silent(server.port());
  tests::RawClient dripping(server.port());
  const auto start = steady_clock::now();
  // A byte now and then does not put it off.
  for (char c : std::string("POST /mcp HTTP/1.1\r\nHost: localhost\r\nA: ")) {
    if (!dripping.Send(std::string(1, c)) || !dripping.IsSilent(milliseconds(10))) break;
  }
  tests::ExpectError(dripping.Receive(), 408);
  EXPECT_TRUE(dripping.IsClosed());
  EXPECT_GE(steady_clock::now() - start, milliseconds(190));
  EXPECT_TRUE(silent.IsClosed());

  tests::RawClient second(server.port());
  second.Send(tests::Post("{}"));
  EXPECT_EQ(second.Receive().status, 200);
  second.Send("POST");
  tests::ExpectError(second.Receive(), 408);
}

TEST_F(HttpLifeTest, TheBodyMustArriveInTime) {
  HttpConfig config;
  config.body_timeout = milliseconds(200);
  tests::TestServer server(handler_, config);
  for (const std::string& request :
       {tests::Post("{\"a\":1}"),
        std::string("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")}) {
    tests::RawClient client(server.port());
    client.Send(request.substr(0, request.size() - 1));
    tests::ExpectError(client.Receive(), 408);
    EXPECT_TRUE(client.IsClosed());
  }
  EXPECT_EQ(handler_.messages, 0);
}

TEST_F(HttpLifeTest, IdleConnectionsEndButWaitingOnesDoNot) {
  HttpConfig config;
  config.idle_timeout = milliseconds(100);
  config.header_timeout = milliseconds(100);
  config.body_timeout = milliseconds(100);
  pending_.KeepAll(handler_);
  tests::TestServer server(handler_, config);
  tests::RawClient client(server.port());
  client.Send(tests::Post("{}"));
  tests::Pending request = pending_.Next();
  EXPECT_TRUE(client.IsSilent(milliseconds(400)));
  request.reply->Finish(Result("{}"));
  EXPECT_EQ(client.Receive().status, 200);
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(HttpLifeTest, AClientThatNeverReadsIsDropped) {
  HttpConfig config;
  config.write_timeout = milliseconds(200);
  pending_.KeepAll(handler_);
  tests::TestServer server(handler_, config);
  tests::RawClient client(server.port(), 4096);
  client.Send(tests::Post("{}"));
  pending_.Next().reply->Finish(Result(std::string(16 << 20, 'x')));
  EXPECT_EQ(server.connections(), 1u);
  EXPECT_TRUE(tests::Eventually([&] { return server.connections() == 0; }));
}

TEST_F(HttpLifeTest, WhatAClientDoesNotReadIsBounded) {
  pending_.KeepAll(handler_);
  tests::TestServer server(handler_);
  tests::RawClient client(server.port(), 4096);
  client.Send(tests::Post("{}"));
  tests::Pending request = pending_.Next();
  for (int i = 0; i < 24; ++i) request.reply->Notify(std::string(1 << 20, 'x'));
  EXPECT_EQ(server.connections(), 1u);
  EXPECT_FALSE(request.message.peer_gone->cancelled());
  for (int i = 0; i < 24; ++i) request.reply->Notify(std::string(1 << 20, 'x'));
  EXPECT_TRUE(tests::Eventually([&] { return request.message.peer_gone->cancelled(); }));
  EXPECT_EQ(server.connections(), 0u);
}

// Many clients together could otherwise take all memory with bodies that they never end.
TEST_F(HttpLifeTest, BodiesOnTheirWayAreBoundedTogether) {
  HttpConfig config;
  config.max_body = core::Bytes::Mebi(1);
  config.body_timeout = std::chrono::minutes(10);
  tests::TestServer server(handler_, config);
  const std::string body = "\"" + std::string(1'000'000, 'x');
  const std::string long_one = tests::Post(body + "\"");
  const std::string_view unfinished = std::string_view(long_one).substr(0, long_one.size() - 1);
  std::vector<std::unique_ptr<tests::RawClient>> clients;
  for (int i = 0; i < 16; ++i) {
    clients.push_back(std::make_unique<tests::RawClient>(server.port()));
    clients.back()->Send(unfinished);
    EXPECT_EQ(tests::Ask(server, tests::Post("{}")).status, 200);
  }
  ASSERT_TRUE(tests::Eventually([&] { return server.body_bytes() == 16 * body.size(); }));
  for (const auto& client : clients) EXPECT_TRUE(client->IsSilent(milliseconds(0)));
  EXPECT_EQ(handler_.messages, 16);
  for (int i = 0; i < 2; ++i) {
    tests::RawClient refused(server.port());
    refused.Send(unfinished);
    const tests::RawAnswer answer = refused.Receive();
    tests::ExpectError(answer, 503);
    EXPECT_EQ(answer.Header("retry-after"), "1");
  }
  EXPECT_EQ(handler_.messages, 16);
  // Short ones are taken all the same, and room that comes free is used again.
  EXPECT_EQ(tests::Ask(server, tests::Post("\"" + std::string(10'000, 'x') + "\"")).status, 200);
  clients[0]->Close();
  clients[1]->Send("\"");
  EXPECT_EQ(clients[1]->Receive().status, 200);
  EXPECT_TRUE(tests::Eventually([&] { return server.connections() == 15; }));
  EXPECT_EQ(tests::Ask(server, long_one).status, 200);
}

TEST_F(HttpLifeTest, AnswersThatNobodyReadsAreBoundedTogether) {
  pending_.KeepAll(handler_);
  tests::TestServer server(handler_);
  std::vector<std::unique_ptr<tests::RawClient>> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(std::make_unique<tests::RawClient>(server.port(), 4096));
    clients.back()->Send(tests::Post("{}"));
    pending_.Next().reply->Finish(Result(std::string(150 << 20, 'x')));
    // The three newest fit; whoever has been given longest goes.
    EXPECT_TRUE(tests::Eventually(
        [&] { return static_cast<int>(server.connections()) == std::min(i + 1, 3); }));
  }
  tests::RawClient reader(server.port());
  reader.Send(tests::Post("{}"));
  pending_.Next().reply->Finish(Result("{}"));
  EXPECT_EQ(reader.Receive().status, 200);
  clients.clear();
  EXPECT_TRUE(tests::Eventually([&] { return server.connections() == 1; }));
}

TEST_F(HttpLifeTest, ALongAnswerArrivesWhole) {
  std::string text;
  for (int i = 0; i < 2'000'000; ++i) text += static_cast<char>('a' + i % 23);
  handler_.on_message = [&](IncomingMessage, std::shared_ptr<Reply> reply) {
    reply->Finish(Result(text));
  };
  tests::TestServer server(handler_);
  EXPECT_EQ(tests::Ask(server, tests::Post("{}")).body, text);
}

// --- crowds ----------------------------------------------------------------------------------

TEST_F(HttpLifeTest, TooManyConnectionsAreTurnedAwayAndLaterOnesServed) {
  HttpConfig config;
  config.max_connections = 3;
  tests::TestServer server(handler_, config);
  std::vector<std::unique_ptr<tests::RawClient>> held;
  for (int i = 0; i < 3; ++i) {
    held.push_back(std::make_unique<tests::RawClient>(server.port()));
    held.back()->Send(tests::Post("{}"));
    EXPECT_EQ(held.back()->Receive().status, 200);
  }
  tests::RawClient fourth(server.port());
  fourth.Send(tests::Post("{}"));
  const tests::RawAnswer refused = fourth.Receive();
  tests::ExpectError(refused, 503);
  EXPECT_EQ(refused.Header("retry-after"), "1");
  EXPECT_TRUE(fourth.IsClosed());
  EXPECT_EQ(handler_.messages, 3);
  {
    std::vector<std::unique_ptr<tests::RawClient>> crowd;
    for (int i = 0; i < 300; ++i)
      crowd.push_back(std::make_unique<tests::RawClient>(server.port()));
    for (auto& client : crowd) client->Receive();
    held[0]->Send(tests::Post("{}"));
    EXPECT_EQ(held[0]->Receive().status, 200);
  }
  fourth.Close();
  held.clear();
  EXPECT_TRUE(tests::Eventually([&] { return server.connections() == 0; }));
  EXPECT_EQ(tests::Ask(server, tests::Post("{}")).status, 200);
}

TEST_F(HttpLifeTest, SurvivesRunningOutOfDescriptors) {
  tests::TestServer server(handler_);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  // The client's socket takes the only descriptor that is left.
  const int lowest = dup(0);
  ASSERT_GE(lowest, 0);
  close(lowest);
  const rlimit one_more{static_cast<rlim_t>(lowest) + 1, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &one_more), 0);
  tests::RawClient client(server.port());
  EXPECT_TRUE(client.connected());
  client.Send(tests::Post("{}"));
  EXPECT_TRUE(client.IsSilent(milliseconds(250)));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(client.Receive().status, 200);
}

// Sockets of this process on `port`, each of which closes on exec.
int SocketsOn(uint16_t port) {
  int sockets = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    struct stat status {};
    sockaddr_in name{};
    socklen_t length = sizeof name;
    if (fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode)) continue;
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&name), &length) != 0) continue;
    if (name.sin_family != AF_INET || ntohs(name.sin_port) != port) continue;
    ++sockets;
    EXPECT_TRUE(fcntl(fd, F_GETFD) & FD_CLOEXEC);
  }
  return sockets;
}

TEST_F(HttpLifeTest, NoSocketSurvivesExec) {
  tests::TestServer server(handler_);
  tests::RawClient client(server.port());
  client.Send(tests::Post("{}"));
  client.Receive();
  // On the thread that opens and closes them. One listens, one is the connection.
  EXPECT_EQ(server.Do([](HttpServer& http) { return SocketsOn(http.port()); }), 2);
}

TEST_F(HttpLifeTest, CrowdsThatComeAndGoLoseNothing) {
  std::atomic<bool> stop = false;
  std::mutex mutex;
  std::vector<tests::Pending> work;
  handler_.on_message = [&](IncomingMessage message, std::shared_ptr<Reply> reply) {
    std::lock_guard lock(mutex);
    work.push_back({std::move(message), std::move(reply)});
  };
  std::vector<std::thread> workers;
  for (int i = 0; i < 2; ++i) {
    workers.emplace_back([&] {
      while (!stop) {
        std::vector<tests::Pending> mine;
        {
          std::lock_guard lock(mutex);
          mine.swap(work);
        }
        for (tests::Pending& each : mine) {
          for (int n = 0; n < 3; ++n) each.reply->Notify(each.message.text);
          each.reply->Finish(Result(each.message.text));
        }
        if (mine.empty()) std::this_thread::yield();
      }
    });
  }
  tests::TestServer server(handler_);
  std::vector<std::thread> clients;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&, i] {
      for (int n = 0; n < 50; ++n) {
        const std::string text = std::to_string(i) + "-" + std::to_string(n);
        tests::RawClient client(server.port());
        client.Send(tests::Post(text));
        if (n % 3 == 0) continue;  // leaves at once
        if (n % 3 == 1) {
          client.ReceiveHead();  // leaves in the middle
          continue;
        }
        const std::string event = "event: message\ndata: " + text + "\n\n";
        EXPECT_EQ(client.Receive().body, event + event + event + event);
        ++answered;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answered, 4 * 16);
  EXPECT_TRUE(tests::Eventually([&] { return server.connections() == 0; }));
  server.Destroy();
  stop = true;
  for (std::thread& worker : workers) worker.join();
}

// --- stopping --------------------------------------------------------------------------------

TEST_F(HttpLifeTest, TokensAreReplacedWhileRequestsAreOnTheirWay) {
  std::vector<std::string> callers;
  std::mutex mutex;
  handler_.on_message = [&](const IncomingMessage& message, const std::shared_ptr<Reply>& reply) {
    {
      const std::lock_guard lock(mutex);
      callers.push_back(message.caller.name);
    }
    reply->Finish({Answer::Kind::kResult, "{}", std::nullopt, ""});
  };
  std::vector<std::string> logged;
  HttpMonitoring monitoring;
  monitoring.access = [&](const HttpAccess& access) {
    const std::lock_guard lock(mutex);
    logged.emplace_back(access.caller);
  };
  const TokenConfig anna = tests::MakeToken("anna", 'a'), bert = tests::MakeToken("bert", 'b');
  tests::TestServer server(handler_, {}, {anna, bert}, monitoring);
  const auto replace = [&](std::vector<TokenConfig> tokens) {
    return server.Do([&](HttpServer& http) { return http.ReplaceTokens(tokens); });
  };
  const std::string request =
      tests::Post("{\"x\":1}", "Authorization: Bearer " + bert.secret + "\r\n");
  // Its head was accepted as bert's, whose place in the table is another token's, or nobody's, when
  // its body comes.
  const std::string waits =
      tests::Post("{}", "Expect: 100-continue\r\nAuthorization: Bearer " + bert.secret + "\r\n");
  tests::RawClient slow(server.port());
  slow.Send(waits.substr(0, waits.size() - 2));
  EXPECT_EQ(slow.Receive().status, 100);
  ASSERT_TRUE(replace({tests::MakeToken("carl", 'c')}));
  slow.Send("{}");
  EXPECT_EQ(slow.Receive().status, 200);
  // The next request on the same connection is checked anew.
  slow.Send(request);
  EXPECT_EQ(slow.Receive().status, 401);
  EXPECT_EQ(callers, std::vector<std::string>{"bert"});

  // Nothing changes by what cannot be used.
  TokenConfig weak = anna;
  weak.secret = "short";
  EXPECT_FALSE(replace({weak}));
  EXPECT_FALSE(replace({}));
  EXPECT_EQ(tests::Ask(server, request).status, 401);

  // Clients of a token that stays notice nothing.
  EXPECT_TRUE(replace({anna}));
  std::atomic<bool> stops = false;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      tests::RawClient client(server.port());
      const std::string mine = tests::Post("{}", "Authorization: Bearer " + anna.secret + "\r\n");
      while (!stops) {
        client.Send(mine);
        EXPECT_EQ(client.Receive().status, 200);
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(replace(i % 2 ? std::vector{anna, bert}
                              : std::vector{bert, tests::MakeToken("carl", 'c'), anna}));
  }
  stops = true;
  for (std::thread& thread : threads) thread.join();
  const std::lock_guard lock(mutex);
  for (const std::string& name : callers) EXPECT_TRUE(name == "bert" || name == "anna") << name;
  for (const std::string& name : logged) EXPECT_NE(name, "carl");
}

TEST_F(HttpLifeTest, StopsGracefully) {
  pending_.KeepAll(handler_);
  tests::TestServer server(handler_);
  tests::RawClient idle(server.port()), kept(server.port()), busy(server.port()),
      late(server.port());
  kept.Send(tests::Get("/healthz"));
  EXPECT_EQ(kept.Receive().status, 200);
  busy.Send(tests::Post("{}"));
  tests::Pending request = pending_.Next();
  late.Send(tests::Post("{}").substr(0, 20));
  // What was sent before this has arrived with it.
  kept.Send(tests::Get("/healthz"));
  EXPECT_EQ(kept.Receive().status, 200);
  server.StopAccepting();
  EXPECT_TRUE(idle.IsClosed());
  EXPECT_TRUE(kept.IsClosed());
  EXPECT_FALSE(tests::RawClient(server.port()).connected());
  // Who waits gets an answer, and who was in the middle of asking too.
  EXPECT_FALSE(request.message.peer_gone->cancelled());
  request.reply->Finish(Result("{}"));
  EXPECT_EQ(busy.Receive().Header("connection"), "close");
  EXPECT_TRUE(busy.IsClosed());
  late.Send(tests::Post("{}").substr(20));
  pending_.Next().reply->Finish(Result("{}"));
  EXPECT_EQ(late.Receive().Header("connection"), "close");
  EXPECT_TRUE(late.IsClosed());
  busy.Close();
  late.Close();
  EXPECT_TRUE(tests::Eventually([&] { return server.connections() == 0; }));
}

// A request that is under way when the server begins to end has an answer.
TEST_F(HttpLifeTest, WhoConnectedBeforeTheDrainIsAnswered) {
  tests::TestServer server(handler_);
  tests::RawClient fresh(server.port()), kept(server.port());
  kept.Send(tests::Get("/healthz"));
  EXPECT_EQ(kept.Receive().status, 200);
  EXPECT_TRUE(tests::Eventually([&] { return server.connections() == 2; }));
  server.Do([](HttpServer& of_loop) { of_loop.Drain(); });
  EXPECT_TRUE(kept.IsClosed());
  fresh.Send(tests::Get("/readyz"));
  const tests::RawAnswer answer = fresh.Receive();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.Header("connection"), "close");
  EXPECT_TRUE(fresh.IsClosed());
}

TEST_F(HttpLifeTest, AStoppedServerLetsTheLoopEnd) {
  boost::asio::io_context io;
  auto server = HttpServer::Listen(io, {.port = 0}, {}, handler_);
  ASSERT_TRUE(server) << server.error().ToString();
  const uint16_t port = (*server)->port();
  std::thread loop([&] { io.run(); });
  {
    tests::RawClient client(port);
    client.Send(tests::Post("{}"));
    EXPECT_EQ(client.Receive().status, 200);
    boost::asio::post(io, [&] { (*server)->StopAccepting(); });
    EXPECT_TRUE(client.IsClosed());
  }
  loop.join();
  EXPECT_EQ((*server)->connections(), 0u);
}

TEST_F(HttpLifeTest, RepliesOutliveTheServerAndItsLoop) {
  pending_.KeepAll(handler_);
  std::vector<tests::Pending> late;
  {
    tests::TestServer server(handler_);
    tests::RawClient one(server.port()), other(server.port());
    one.Send(tests::Post("{}"));
    late.push_back(pending_.Next());
    other.Send(tests::Post("{}"));
    late.push_back(pending_.Next());
    late[0].reply->Notify("1");
    one.ReceiveHead();
    server.Destroy();
    EXPECT_TRUE(late[0].message.peer_gone->cancelled());
    EXPECT_TRUE(late[1].message.peer_gone->cancelled());
    late[0].reply->Notify("2");
    EXPECT_TRUE(other.IsClosed());
  }
  late[0].reply->Notify("3");
  late[0].reply->Finish(Result("4"));
  late.clear();
}

}  // namespace
}  // namespace belljar::server::http::http_life_test
