// GET /v1/events over real sockets: what a client gets, what it may ask for, and how streams end.
#include "server/events/event_streams.h"

#include <gtest/gtest.h>

#include "tests/server/http_client.h"

namespace belljar::server::events::event_streams_test {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

// NOLINTNEXTLINE(bugprone-exception-escape): it is JSON's, whose move does not throw
struct Received {
  std::string id, type;
  Json data;
};

// One stream, event by event.
class Client {
 public:
  Client(uint16_t port, const std::string& path, const std::string& headers = "",
         int receive_buffer = 0)
      : raw_(port, receive_buffer) {
    raw_.Send(tests::Get(path, headers));
    head_ = raw_.ReceiveHead();
  }
  const tests::RawAnswer& head() const { return head_; }
  tests::RawClient& raw() { return raw_; }
  // nullopt: the stream has ended.
  std::optional<Received> Next() {
    for (;;) {
      while (text_.starts_with(":\n")) text_.erase(0, 2);
      const size_t end = text_.find("\n\n");
      if (end == std::string::npos) {
        std::optional<std::string> chunk = raw_.NextChunk();
        if (!chunk) return std::nullopt;
        text_ += *chunk;
        continue;
      }
      const std::string block = text_.substr(0, end + 1);
      text_.erase(0, end + 2);
      return Parse(block);
    }
  }
  // Instead of Next.
  void AwaitComments(int count) {
    for (; count > 0; --count) EXPECT_EQ(raw_.NextChunk(), ":\n");
  }
  // "stream.opened execution.started …", the next `count`.
  std::string Names(int count) {
    std::string names;
    for (int i = 0; i < count; ++i) {
      const std::optional<Received> next = Next();
      names += (i > 0 ? " " : "") + (next ? next->type : "(end)");
    }
    return names;
  }

 private:
  static Received Parse(const std::string& block) {
    Received received;
    std::istringstream lines(block);
    for (std::string line; std::getline(lines, line);) {
      const size_t colon = line.find(": ");
      const std::string name = line.substr(0, colon), value = line.substr(colon + 2);
      if (name == "id") received.id = value;
      if (name == "event") received.type = value;
      if (name == "data") received.data = Json::parse(value);
    }
    EXPECT_EQ(received.data["type"], received.type);
    return received;
  }
  tests::RawClient raw_;
  tests::RawAnswer head_;
  std::string text_;
};

class Streams : public ::testing::Test {
 protected:
  tests::TestServer& server() {
    if (!server_) {
      streams_ = std::make_unique<EventStreams>(*hub_, options_);
      EXPECT_TRUE(streams_->Start());
      server_.emplace(messages_, config_, tokens_, http::HttpMonitoring{},
                      std::vector<WebHandler*>{streams_.get()});
    }
    return *server_;
  }
  Client Connect(const std::string& query = "", const std::string& headers = "") {
    return Client(server().port(), "/v1/events" + query, headers);
  }
  void Publish(const std::string& execution, const std::string& owner = "local") {
    hub_->Publish(owner, ExecutionStarted{execution, "execute_code"});
  }
  int Status(const std::string& query, const std::string& headers = "") {
    return tests::Ask(server(), tests::Get("/v1/events" + query, headers)).status;
  }

  std::unique_ptr<EventHub> hub_ =
      std::make_unique<EventHub>(EventHub::Bounds{.events = 100, .bytes = 1 << 20});
  EventStreams::Options options_{.version = "1.2.3"};
  HttpConfig config_;
  std::vector<TokenConfig> tokens_;
  tests::FakeHandler messages_;
  std::unique_ptr<EventStreams> streams_;
  std::optional<tests::TestServer> server_;
};

TEST_F(Streams, BeginAndGoOn) {
  Client client = Connect();
  EXPECT_EQ(client.head().status, 200);
  EXPECT_EQ(client.head().Header("content-type"), "text/event-stream");
  EXPECT_EQ(client.head().Header("cache-control"), "no-cache, no-transform");
  const auto opened = client.Next();
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->type, "stream.opened");
  EXPECT_EQ(opened->id, hub_->epoch() + "-0");
  EXPECT_EQ(opened->data["data"]["server"], "1.2.3");
  Publish("e1");
  const auto first = client.Next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->type, "execution.started");
  EXPECT_EQ(first->id, hub_->epoch() + "-1");
  EXPECT_EQ(first->data["data"]["execution"], "e1");
  EXPECT_EQ(streams_->open(), 1u);
}

TEST_F(Streams, ResumeByHeaderOrParameter) {
  server();
  for (int i = 1; i <= 5; ++i) Publish("e" + std::to_string(i));
  const std::string id = hub_->epoch() + "-3";
  const std::string header = "Last-Event-ID: " + id + "\r\n";
  const std::pair<std::string, std::string> kWays[] = {
      {"", header},
      {"?after=" + id, ""},
      // The header is the newer one: a browser sends both when it connects again.
      {"?after=" + hub_->epoch() + "-1", header},
  };
  for (const auto& [query, headers] : kWays) {
    Client client = Connect(query, headers);
    const auto opened = client.Next();
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->id, "");  // else a client that is cut off here would skip what it missed
    EXPECT_EQ(client.Next()->data["data"]["execution"], "e4");
    EXPECT_EQ(client.Next()->data["data"]["execution"], "e5");
  }
}

TEST_F(Streams, ReportWhatWasMissed) {
  server();
  for (int i = 1; i <= 120; ++i) Publish("e" + std::to_string(i));
  Client expired = Connect("?after=" + hub_->epoch() + "-5");
  EXPECT_EQ(expired.Names(1), "stream.opened");
  const auto gap = expired.Next();
  EXPECT_EQ(gap->type, "gap");
  EXPECT_EQ(gap->data["data"], Json({{"cause", "expired"}, {"missed", 15}}));
  EXPECT_EQ(expired.Next()->data["data"]["execution"], "e21");
  Client restarted = Connect("?after=0123456789abcdef-7");
  EXPECT_EQ(restarted.Names(2), "stream.opened gap");
}

TEST_F(Streams, Filter) {
  server();
  const std::string all = "?after=" + hub_->epoch() + "-0";
  Publish("e1");
  hub_->Publish("local", SessionOpened{"s1", "basic", ""});
  hub_->Publish("local", ExecutionEnded{.execution = "e2", .session = "s1"});
  hub_->Publish("local", SessionClosed{"s1", "basic", "why"});
  EXPECT_EQ(Connect(all + "&types=session.*").Names(3),
            "stream.opened session.opened session.closed");
  EXPECT_EQ(Connect(all + "&types=execution.ended,session.closed").Names(3),
            "stream.opened execution.ended session.closed");
  EXPECT_EQ(Connect(all + "&execution=e2").Names(2), "stream.opened execution.ended");
  EXPECT_EQ(Connect(all + "&session=s1").Names(4),
            "stream.opened session.opened execution.ended session.closed");
}

TEST_F(Streams, HaveOutputOnlyOnRequest) {
  Client plain = Connect(), with = Connect("?output=true&types=execution.ended");
  EXPECT_EQ(plain.Names(1) + with.Names(1), "stream.openedstream.opened");
  hub_->PublishOutput("local", {"e1", "hello"});
  hub_->Publish("local", ExecutionEnded{.execution = "e1"});
  EXPECT_EQ(plain.Names(1), "execution.ended");
  const auto output = with.Next();
  EXPECT_EQ(output->type, "execution.output");
  EXPECT_EQ(output->id, "");
  EXPECT_EQ(output->data["data"]["text"], "hello");
  EXPECT_EQ(with.Names(1), "execution.ended");
}

TEST_F(Streams, RefuseWhatTheyDoNotKnow) {
  for (const char* query :
       {"?types=", "?types=nothing", "?types=execution.ended,,", "?output=1", "?after=5",
        "?after=x-1", "?execution=", "?session=", "?since=1", "?types=*&types=*", "?a=%ff"}) {
    EXPECT_EQ(Status(query), 400) << query;
  }
  EXPECT_EQ(Status("", "Last-Event-ID: 17\r\n"), 400);
  EXPECT_EQ(Status("?execution=" + std::string(129, 'e')), 400);
  const tests::RawAnswer answer = tests::Ask(server(), tests::Get("/v1/events?types=nothing"));
  EXPECT_EQ(answer.Header("content-type"), "application/problem+json");
  EXPECT_EQ(streams_->open(), 0u);
}

TEST_F(Streams, AreTheOwnersAlone) {
  tokens_ = {tests::MakeToken("anna", 'a'), tests::MakeToken("bert", 'b')};
  const auto header = [&](int i) { return "Authorization: Bearer " + tokens_[i].secret + "\r\n"; };
  EXPECT_EQ(Status(""), 401);
  Client anna = Connect("", header(0)), bert = Connect("", header(1));
  EXPECT_EQ(anna.Names(1) + bert.Names(1), "stream.openedstream.opened");
  Publish("of anna", "anna");
  Publish("of bert", "bert");
  EXPECT_EQ(anna.Next()->data["data"]["execution"], "of anna");
  const auto of_bert = bert.Next();
  EXPECT_EQ(of_bert->data["data"]["execution"], "of bert");
  EXPECT_EQ(of_bert->id, hub_->epoch() + "-1");
  // The id of another one's event is nothing to resume from.
  Client again = Connect("?after=" + hub_->epoch() + "-1&execution=of%20anna", header(1));
  EXPECT_EQ(again.Names(1), "stream.opened");
  EXPECT_TRUE(again.raw().IsSilent(milliseconds(100)));
}

TEST_F(Streams, ShowAnOperatorAllAndNameEachCaller) {
  tokens_ = {tests::MakeToken("anna", 'a'), tests::MakeToken("bert", 'b'),
             tests::MakeToken("op", 'c')};
  tokens_[2].caller.is_operator = true;
  const auto header = [&](size_t of) {
    return "Authorization: Bearer " + tokens_[of].secret + "\r\n";
  };
  Client all = Connect("", header(2)), of_bert = Connect("?caller=bert", header(2));
  // Whoever is no operator sees nobody else's, whatever it asks for.
  Client anna = Connect("?output=true", header(0)), curious = Connect("?caller=bert", header(0));
  EXPECT_EQ(all.Next()->data["caller"], "op");
  EXPECT_EQ(of_bert.Next()->data["caller"], "op");
  EXPECT_EQ(anna.Next()->data["caller"], "anna");
  EXPECT_EQ(curious.Next()->type, "stream.opened");
  Publish("b1", "bert");
  Publish("a1", "anna");
  Publish("b2", "bert");
  for (const char* execution : {"b1", "a1", "b2"}) {
    const auto next = all.Next();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->data["data"]["execution"], execution);
    EXPECT_EQ(next->data["caller"], execution[0] == 'a' ? "anna" : "bert");
    for (const TokenConfig& token : tokens_) {
      EXPECT_EQ(next->data.dump().find(token.secret), std::string::npos);
    }
  }
  EXPECT_EQ(of_bert.Next()->data["data"]["execution"], "b1");
  EXPECT_EQ(of_bert.Next()->data["data"]["execution"], "b2");
  EXPECT_EQ(anna.Next()->data["data"]["execution"], "a1");
  streams_->EndAll();
  EXPECT_FALSE(anna.Next());
  EXPECT_FALSE(curious.Next());
  EXPECT_EQ(Status("?caller=", header(2)), 400);
}

TEST_F(Streams, AreBoundedPerOwnerAndFreedWhenAClientLeaves) {
  options_.per_owner = 2;
  tokens_ = {tests::MakeToken("anna", 'a'), tests::MakeToken("bert", 'b')};
  const auto header = [&](int i) { return "Authorization: Bearer " + tokens_[i].secret + "\r\n"; };
  auto first = std::make_unique<Client>(Connect("", header(0)));
  Client second = Connect("", header(0));
  const tests::RawAnswer third = tests::Ask(server(), tests::Get("/v1/events", header(0)));
  EXPECT_EQ(third.status, 429);
  EXPECT_EQ(third.Header("retry-after"), "1");
  EXPECT_EQ(Connect("", header(1)).head().status, 200);
  first->raw().Reset();
  EXPECT_TRUE(tests::Eventually([&] { return streams_->open() <= 1; }));
  EXPECT_EQ(Connect("", header(0)).head().status, 200);
}

TEST_F(Streams, OfACallerWhoseTokenHasChangedEnd) {
  tokens_ = {tests::MakeToken("anna", 'a'), tests::MakeToken("bert", 'b')};
  const auto header = [&](size_t of) {
    return "Authorization: Bearer " + tokens_[of].secret + "\r\n";
  };
  Client anna = Connect("", header(0)), too = Connect("", header(0)), bert = Connect("", header(1));
  EXPECT_EQ(anna.Names(1) + too.Names(1) + bert.Names(1),
            "stream.openedstream.openedstream.opened");
  streams_->EndOf({"anna", "nobody"});
  EXPECT_FALSE(anna.Next());
  EXPECT_FALSE(too.Next());
  EXPECT_TRUE(tests::Eventually([&] { return streams_->open() == 1; }));
  Publish("b1", "bert");
  EXPECT_EQ(bert.Next()->data["data"]["execution"], "b1");
  // It may come back, as far as it has a token.
  EXPECT_EQ(Connect("", header(0)).Names(1), "stream.opened");
}

TEST_F(Streams, HeadBeginsNone) {
  tests::RawClient client(server().port());
  client.Send("HEAD /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.Receive(true).status, 200);
  EXPECT_TRUE(tests::Eventually([&] { return streams_->open() == 0; }));
}

TEST_F(Streams, SendHeartbeats) {
  options_.heartbeat = milliseconds(100);
  Client client = Connect();
  EXPECT_EQ(client.Names(1), "stream.opened");
  client.AwaitComments(2);
  Publish("e1");
  EXPECT_EQ(client.Names(1), "execution.started");
}

TEST_F(Streams, EndWithTheServerButHaveAllBefore) {
  Client client = Connect();
  EXPECT_EQ(client.Names(1), "stream.opened");
  for (int i = 0; i < 90; ++i) Publish("e" + std::to_string(i));
  streams_->EndAll();
  for (int i = 0; i < 90; ++i) {
    const auto next = client.Next();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->data["data"]["execution"], "e" + std::to_string(i));
  }
  EXPECT_FALSE(client.Next());
  EXPECT_EQ(Status(""), 503);
  EXPECT_TRUE(tests::Eventually([&] { return streams_->open() == 0; }));
}

// A client that does not read costs no memory: it is told that it has lost events, and cut off.
TEST_F(Streams, CutOffASlowReader) {
  config_.write_timeout = seconds(600);  // else it may close the connection first
  server();
  Client slow(server().port(), "/v1/events", "", 4096);
  Client quick = Connect();
  EXPECT_EQ(quick.Names(1), "stream.opened");
  const std::string large(200'000, 'x');
  for (int i = 0; i < 80; ++i) {
    hub_->Publish("local", ExecutionStarted{large, "execute_code"});
    EXPECT_EQ(quick.Names(1), "execution.started");
  }
  EXPECT_TRUE(tests::Eventually([&] { return streams_->open() == 1; }));
  std::optional<Received> last;
  int events = 0;
  while (std::optional<Received> next = slow.Next()) {
    last = std::move(next);
    ++events;
  }
  ASSERT_TRUE(last);
  EXPECT_EQ(last->type, "gap");
  EXPECT_EQ(last->data["data"]["cause"], "slow");
  EXPECT_GE(last->data["data"]["missed"].get<int>(), 1);
  EXPECT_LT(events, 60);
}

}  // namespace
}  // namespace belljar::server::events::event_streams_test
