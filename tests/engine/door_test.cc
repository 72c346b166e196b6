// The door between a client and hosts, all of them on loopback: what it lets through, what it
// refuses and how it says so, what it bounds, and that nothing is left of it.
#include "engine/door/door.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "engine/core/socket.h"
#include "engine/door/http_ask.h"
#include "tests/engine/door_hosts.h"

namespace belljar {
namespace {

using namespace std::string_view_literals;
using Strings = std::vector<std::string>;

class DoorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    policy_.allowed_domains = {"*.allowed.test:*"};
    policy_.allow_private = {"127.0.0.1"};
  }

  void Open() {
    door_.reset();
    Result<DoorRules> rules = DoorRules::Make(policy_);
    ASSERT_TRUE(rules) << rules.error().ToString();
    auto service = DoorService::Start(std::move(*rules), [names = names_](const std::string& name) {
      const std::lock_guard lock(names->mutex);
      names->asked.push_back(name);
      return names->answer(name);
    });
    ASSERT_TRUE(service);
    service_ = std::move(*service);
    UniqueFd listener = Listen(port_);
    door_ = std::make_unique<Door>(*service_, std::move(listener), std::move(narrower_));
  }

  Peer Connect() {
    UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port_);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return Peer(std::move(fd));
  }

  Peer Ask(const std::string& bytes) {
    Peer peer = Connect();
    EXPECT_TRUE(peer.Send(bytes));
    return peer;
  }

  Peer Tunnel(const std::string& authority) {
    return Ask("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
  }

  // One event, and no more.
  NetworkEvent OnlyEvent() {
    DoorRecord record = door_->Close();
    EXPECT_EQ(record.events.size(), 1u);
    EXPECT_EQ(record.left_out, 0u);
    return record.events.empty() ? NetworkEvent() : record.events[0];
  }

  static Addresses Loopback(const std::string&) {
    return {{boost::asio::ip::make_address("127.0.0.1")}, ""};
  }

  NetworkPolicy policy_;
  std::optional<AllowList> narrower_;
  // Shared: the threads that look names up may outlive the service, and with it a test.
  struct Names {
    std::mutex mutex;
    Strings asked;
    Lookup answer = Loopback;
  };
  const std::shared_ptr<Names> names_ = std::make_shared<Names>();
  Strings& asked_ = names_->asked;
  Lookup& lookup_ = names_->answer;
  std::unique_ptr<DoorService> service_;
  uint16_t port_ = 0;
  std::unique_ptr<Door> door_;
};

TEST_F(DoorTest, ATunnelCarriesBytesBothWaysAndIsRecorded) {
  Host host(Echo);
  Open();
  Peer peer = Tunnel(host.authority("a.allowed.test"));
  EXPECT_EQ(peer.ReceiveHead(), "HTTP/1.1 200 Connection established\r\n\r\n");
  EXPECT_TRUE(peer.Send("hello"));
  EXPECT_EQ(peer.Receive(5), "hello");
  peer.EndSending();
  EXPECT_EQ(peer.ReceiveAll(), "");
  const NetworkEvent event = OnlyEvent();
  EXPECT_EQ(event.host, "a.allowed.test");
  EXPECT_EQ(event.port, host.port());
  EXPECT_EQ(event.protocol, "connect");
  EXPECT_TRUE(event.allowed);
  EXPECT_EQ(event.detail, "127.0.0.1");
  EXPECT_EQ(event.sent, 5u);
  EXPECT_EQ(event.received, 5u);
  EXPECT_EQ(asked_, Strings{"a.allowed.test"});
}

// As the connections of a container are: one end of a socket pair each.
TEST_F(DoorTest, WhatIsBroughtToItIsServedAsWhatItAccepts) {
  Host host(Echo);
  policy_.bounds.connections = 2;
  Open();
  Door door(*service_, std::nullopt);
  const auto tunnel = [&] {
    auto pair = CreateSocketPair(SOCK_STREAM);
    EXPECT_TRUE(pair);
    door.Serve(std::move(pair->second));
    Peer peer(std::move(pair->first));
    const std::string authority = host.authority("a.allowed.test");
    (void)peer.Send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
    return peer;
  };
  Peer first = tunnel();
  EXPECT_EQ(first.ReceiveHead(), kTunnelIsOpen);
  EXPECT_TRUE(first.Send("hello"));
  first.EndSending();
  EXPECT_EQ(first.ReceiveAll(), "hello");
  Peer second = tunnel();
  EXPECT_EQ(second.ReceiveHead(), kTunnelIsOpen);
  EXPECT_EQ(tunnel().ReceiveHead(), "");
  EXPECT_EQ(tunnel().ReceiveHead(), "");
  const DoorRecord record = door.Close();
  ASSERT_EQ(record.events.size(), 3u);
  EXPECT_EQ(record.events[0].sent, 5u);
  EXPECT_TRUE(record.events[1].allowed);
  EXPECT_EQ(record.events[2].detail, "the door is closed: more than 2 connections in one run");
  EXPECT_EQ(second.ReceiveAll(), "") << "cut";
  EXPECT_EQ(tunnel().ReceiveHead(), "") << "nobody is served any more";
  EXPECT_TRUE(door.Close().events.empty());
}

TEST_F(DoorTest, Socks5DoesTheSame) {
  Host host(Echo);
  Open();
  const char port[] = {static_cast<char>(host.port() >> 8), static_cast<char>(host.port() & 255)};
  Peer peer = Ask(std::string("\5\1\0\5\1\0\3\x0e"
                              "a.allowed.test"sv) +
                  std::string(port, 2));
  EXPECT_EQ(peer.Receive(12), "\5\0\5\0\0\1\0\0\0\0\0\0"sv);
  EXPECT_TRUE(peer.Send("hello"));
  EXPECT_EQ(peer.Receive(5), "hello");
  const NetworkEvent event = OnlyEvent();
  EXPECT_EQ(event.protocol, "socks5");
  EXPECT_TRUE(event.allowed);
}

TEST_F(DoorTest, AForwardedRequestIsMadeAnewAndItsAnswerPassedOn) {
  std::string head, body;
  Host host([&](Peer& peer) {
    head = peer.ReceiveHead();
    body = peer.Receive(5);
    peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  Open();
  const std::string authority = host.authority("a.allowed.test");
  Peer peer = Ask("POST http://" + authority +
                  "/x HTTP/1.1\r\nHost: evil.test\r\nProxy-Authorization: secret\r\n"
                  "Content-Length: 5\r\n\r\nhelloGET http://evil.test/ HTTP/1.1\r\n\r\n");
  EXPECT_EQ(peer.ReceiveAll(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_EQ(head, "POST /x HTTP/1.1\r\nHost: " + authority +
                      "\r\nContent-Length: 5\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(body, "hello");
  EXPECT_EQ(OnlyEvent().protocol, "http");
}

TEST_F(DoorTest, AHostThatIsNotOnTheListIsNotEvenLookedUp) {
  Open();
  const std::string answer = Tunnel("secret-data.evil.test:443").ReceiveAll();
  EXPECT_TRUE(
      answer.starts_with("HTTP/1.1 403 secret-data.evil.test:443 is not on the operator's "
                         "list of allowed domains\r\n"))
      << answer;
  EXPECT_TRUE(asked_.empty());
  const NetworkEvent event = OnlyEvent();
  EXPECT_FALSE(event.allowed);
  EXPECT_EQ(event.host, "secret-data.evil.test");
  EXPECT_NE(event.detail.find("not on the operator's list"), std::string::npos);
}

TEST_F(DoorTest, Socks5SaysNotAllowed) {
  Open();
  Peer peer =
      Ask(std::string("\5\1\0\5\1\0\3\x09"
                      "evil.test\x01\xbb"sv));
  EXPECT_EQ(peer.ReceiveAll(), "\5\0\5\2\0\1\0\0\0\0\0\0"sv);
  EXPECT_FALSE(OnlyEvent().allowed);
}

TEST_F(DoorTest, ACallsOwnListNarrowsTheOperators) {
  Host host(Echo);
  narrower_ = *AllowList::Parse({"b.allowed.test:*"});
  Open();
  EXPECT_TRUE(Tunnel(host.authority("b.allowed.test")).ReceiveHead().starts_with("HTTP/1.1 200 "));
  EXPECT_NE(Tunnel(host.authority("a.allowed.test")).ReceiveAll().find("not among the allowed"),
            std::string::npos);
}

TEST_F(DoorTest, ANameThatLeadsToWhatIsNotPublicIsRefused) {
  for (const char* address : {"10.0.0.1", "169.254.169.254", "127.0.0.2", "::1", "::ffff:127.0.0.2",
                              "fd00:ec2::254", "64:ff9b::a9fe:a9fe"}) {
    lookup_ = [address](const std::string&) {
      return Addresses{{boost::asio::ip::make_address(address)}, ""};
    };
    Open();
    const std::string answer = Tunnel("a.allowed.test:80").ReceiveAll();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 403 a.allowed.test:80 leads to ")) << answer;
    EXPECT_FALSE(OnlyEvent().allowed);
  }
}

TEST_F(DoorTest, ANameThatChangesItsMindIsJudgedEachTime) {
  Host host(Echo);
  // What a hostile name server does: the first answer is fine, the next one is a target inside.
  std::atomic<int> answers = 0;
  policy_.allow_private = {"127.0.0.1"};
  lookup_ = [&](const std::string&) {
    return Addresses{{boost::asio::ip::make_address(answers++ == 0 ? "127.0.0.1" : "127.0.0.9")},
                     ""};
  };
  Open();
  Peer first = Tunnel(host.authority("a.allowed.test"));
  EXPECT_TRUE(first.ReceiveHead().starts_with("HTTP/1.1 200 "));
  const std::string second = Tunnel(host.authority("a.allowed.test")).ReceiveAll();
  EXPECT_NE(second.find("127.0.0.9, which is loopback"), std::string::npos) << second;
  // One lookup a connection: what was judged is what was connected to.
  EXPECT_EQ(answers, 2);
  EXPECT_EQ(host.accepted(), 1);
}

TEST_F(DoorTest, OfSeveralAddressesOnlyThoseThatMayAreTried) {
  Host host(Echo);
  lookup_ = [](const std::string&) {
    return Addresses{
        {boost::asio::ip::make_address("10.0.0.1"), boost::asio::ip::make_address("127.0.0.1")},
        ""};
  };
  Open();
  EXPECT_TRUE(Tunnel(host.authority("a.allowed.test")).ReceiveHead().starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(OnlyEvent().detail, "127.0.0.1");
}

TEST_F(DoorTest, ALiteralAddressHasToBeListedAsOne) {
  Host host(Echo);
  policy_.allowed_domains = {"*:*"};
  Open();
  EXPECT_NE(Tunnel(host.authority("127.0.0.1")).ReceiveAll().find(" 403 "), std::string::npos);
  for (const char* form : {"127.1", "2130706433", "0x7f000001", "017700000001"}) {
    EXPECT_NE(Tunnel(host.authority(form)).ReceiveAll().find("403 the host is neither"),
              std::string::npos);
  }
  EXPECT_EQ(host.accepted(), 0);
  EXPECT_TRUE(asked_.empty());
  policy_.allowed_domains = {"127.0.0.1:*"};
  Open();
  EXPECT_TRUE(Tunnel(host.authority("127.0.0.1")).ReceiveHead().starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(
      Tunnel(host.authority("[::ffff:127.0.0.1]")).ReceiveHead().starts_with("HTTP/1.1 200 "));
}

TEST_F(DoorTest, ThePrivateExceptionIsForWhatItNamesAlone) {
  Host host(Echo);
  policy_.allow_private.clear();
  Open();
  EXPECT_NE(Tunnel(host.authority("a.allowed.test")).ReceiveAll().find("loopback"),
            std::string::npos);
  EXPECT_EQ(host.accepted(), 0);
}

TEST_F(DoorTest, AnOperatorsAddressOfANameIsNotAskedFor) {
  Host host(Echo);
  policy_.resolve = {"a.allowed.test=127.0.0.1"};
  lookup_ = [](const std::string&) { return Addresses{{}, "no"}; };
  Open();
  EXPECT_TRUE(Tunnel(host.authority("A.Allowed.test.")).ReceiveHead().starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(asked_.empty());
}

TEST_F(DoorTest, WhatCannotBeReachedSaysWhy) {
  uint16_t port = 0;
  Listen(port);  // and nobody listens there any more
  Open();
  const std::string authority = "a.allowed.test:" + std::to_string(port);
  EXPECT_TRUE(Tunnel(authority).ReceiveAll().starts_with("HTTP/1.1 502 " + authority +
                                                         " refuses the connection\r\n"));
  lookup_ = [](const std::string&) { return Addresses{{}, "Name or service not known"}; };
  Open();
  EXPECT_TRUE(Tunnel("a.allowed.test:80")
                  .ReceiveAll()
                  .starts_with("HTTP/1.1 502 a.allowed.test:80 was not found: Name or service not "
                               "known\r\n"));
}

TEST_F(DoorTest, ANameServerThatDoesNotAnswerHoldsNobodyUp) {
  policy_.bounds.connect_timeout = std::chrono::milliseconds(50);
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  lookup_ = [stop](const std::string&) {
    while (!*stop) usleep(1000);
    return Addresses{{}, "late"};
  };
  Open();
  EXPECT_NE(Tunnel("a.allowed.test:80").ReceiveAll().find(" 504 "), std::string::npos);
  Peer waiting = Tunnel("b.allowed.test:80");
  (void)door_->Close();
  EXPECT_EQ(waiting.ReceiveAll(), "");
  *stop = true;
  door_.reset();
  service_.reset();
}

TEST_F(DoorTest, SmugglingIsRefused) {
  Host host(Echo);
  Open();
  const std::string url = "POST http://" + host.authority("a.allowed.test") + "/ HTTP/1.1\r\n";
  for (const std::string& rest :
       Strings{"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
               "Content-Length: 3\r\nContent-Length: 4\r\n\r\n",
               "Transfer-Encoding: chunked, identity\r\n\r\n", "X: a\r\n b\r\n\r\n",
               "X: a\nY: b\r\n\r\n", std::string("X: \0\r\n\r\n", 8),
               "X: " + std::string(40 << 10, 'a') + "\r\n\r\n"}) {
    const std::string answer = Ask(url + rest).ReceiveAll();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 4")) << rest;
  }
  EXPECT_EQ(host.accepted(), 0);
}

TEST_F(DoorTest, OtherProtocolsAreRefused) {
  Open();
  for (const std::string& bytes :
       Strings{std::string("\4\1\0\x50\x7f\0\0\1\0", 9), "\x16\x03\x01\r\n\r\n", "GET /\r\n\r\n",
               "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}) {
    Peer peer = Ask(bytes);
    peer.EndSending();
    const std::string answer = peer.ReceiveAll();
    EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 400 ")) << answer;
  }
  EXPECT_TRUE(asked_.empty());
}

TEST_F(DoorTest, ConnectionsAreBounded) {
  Host host(Echo);
  policy_.bounds.connections = 3;
  Open();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Tunnel("evil.test:80").ReceiveAll().empty());
  // The fourth is accepted by nobody: the listener is gone.
  EXPECT_EQ(Ask("CONNECT a.allowed.test:1 HTTP/1.1\r\n\r\n").ReceiveAll(), "");
  const DoorRecord record = door_->Close();
  EXPECT_NE(record.events.back().detail.find("more than 3 connections"), std::string::npos);
}

TEST_F(DoorTest, SoAreThoseAtATime) {
  Host host(Echo);
  policy_.bounds.concurrent = 1;
  Open();
  {
    Peer first = Tunnel(host.authority("a.allowed.test"));
    EXPECT_TRUE(first.ReceiveHead().starts_with("HTTP/1.1 200 "));
    EXPECT_NE(Tunnel(host.authority("a.allowed.test")).ReceiveAll().find(" 503 more than 1 "),
              std::string::npos);
    first.EndSending();
    EXPECT_EQ(first.ReceiveAll(), "");
  }
  EXPECT_TRUE(Tunnel(host.authority("a.allowed.test")).ReceiveHead().starts_with("HTTP/1.1 200 "));
}

TEST_F(DoorTest, ThoseThatOnlyAskWaitInTheKernelsQueue) {
  Host host(Echo);
  policy_.bounds.concurrent = 1;
  Open();
  std::vector<Peer> silent;
  for (int i = 0; i < 17; ++i) silent.push_back(Connect());
  Peer late = Tunnel(host.authority("a.allowed.test"));
  silent.pop_back();
  EXPECT_TRUE(late.ReceiveHead().starts_with("HTTP/1.1 200 "));
}

TEST_F(DoorTest, BytesAreBoundedEachWay) {
  Host host([](Peer& peer) {
    const std::string ask = peer.Receive(1);
    if (ask == "r") peer.Send(std::string(100'000, 'x'));
    while (!peer.Receive(4096).empty()) {
    }
  });
  policy_.bounds.sent = Bytes{1000};
  policy_.bounds.received = Bytes{50'000};
  Open();
  Peer reads = Tunnel(host.authority("a.allowed.test"));
  (void)reads.ReceiveHead();
  reads.Send("r");
  EXPECT_LE(reads.ReceiveAll().size(), 50'000u);
  Peer writes = Tunnel(host.authority("a.allowed.test"));
  (void)writes.ReceiveHead();
  writes.Send(std::string(2000, 'x'));
  EXPECT_EQ(writes.ReceiveAll(), "");
  const DoorRecord record = door_->Close();
  ASSERT_EQ(record.events.size(), 2u);
  EXPECT_NE(record.events[0].detail.find("more bytes than a run may receive"), std::string::npos);
  EXPECT_NE(record.events[1].detail.find("more bytes than a run may send"), std::string::npos);
  EXPECT_LE(record.events[0].received, 50'000u);
  EXPECT_LE(record.events[0].sent + record.events[1].sent, 1000u);
}

TEST_F(DoorTest, AConnectionOnWhichNothingComesIsClosed) {
  Host host(Echo);
  policy_.bounds.idle_timeout = std::chrono::milliseconds(50);
  Open();
  Peer peer = Tunnel(host.authority("a.allowed.test"));
  (void)peer.ReceiveHead();
  EXPECT_EQ(peer.ReceiveAll(), "");
  EXPECT_NE(OnlyEvent().detail.find("for too long"), std::string::npos);
}

TEST_F(DoorTest, MuchIsCarriedWholeInBothDirections) {
  std::string sent(20 << 20, '\0');
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 2654435761u >> 13);
  Host host([&](Peer& peer) {
    const std::string all = peer.Receive(sent.size());
    peer.Send(all);
  });
  Open();
  Peer peer = Tunnel(host.authority("a.allowed.test"));
  (void)peer.ReceiveHead();
  std::thread writer([&] { EXPECT_TRUE(peer.Send(sent)); });
  const std::string back = peer.Receive(sent.size());
  writer.join();
  EXPECT_TRUE(back == sent);
  const NetworkEvent event = OnlyEvent();
  EXPECT_EQ(event.sent, sent.size());
  EXPECT_EQ(event.received, sent.size());
}

TEST_F(DoorTest, AGuestThatNeverReadsHoldsNothingButItself) {
  std::atomic<size_t> taken = 0;
  Host host([&](Peer& peer) {
    const std::string block(1 << 20, 'x');
    while (taken < 256u << 20 && peer.Send(block)) taken += block.size();
  });
  Open();
  Peer peer = Tunnel(host.authority("a.allowed.test"));
  (void)peer.ReceiveHead();
  Peer other = Tunnel("evil.test:80");
  EXPECT_FALSE(other.ReceiveAll().empty());
  (void)door_->Close();
  // What sockets and one buffer hold, and no more.
  EXPECT_LT(taken, 64u << 20);
}

TEST_F(DoorTest, ClosingCutsEverythingAtOnce) {
  Host host(Echo);
  Open();
  Peer tunnel = Tunnel(host.authority("a.allowed.test"));
  (void)tunnel.ReceiveHead();
  Peer half = Ask("CONNECT a.allow");
  Peer silent = Connect();
  DoorRecord record = door_->Close();
  EXPECT_EQ(record.events.size(), 1u);
  EXPECT_EQ(tunnel.ReceiveAll(), "");
  EXPECT_EQ(half.ReceiveAll(), "");
  EXPECT_EQ(silent.ReceiveAll(), "");
  record = door_->Close();
  EXPECT_TRUE(record.events.empty());
}

TEST_F(DoorTest, TheRecordIsBounded) {
  policy_.bounds.connections = 1000;
  Open();
  for (int i = 0; i < 230; ++i) EXPECT_FALSE(Tunnel("evil.test:80").ReceiveAll().empty());
  const DoorRecord record = door_->Close();
  EXPECT_EQ(record.events.size(), 200u);
  EXPECT_EQ(record.left_out, 30u);
}

TEST_F(DoorTest, OneRunsDoorKnowsNothingOfAnothers) {
  Host host(Echo);
  Open();
  const uint16_t first_port = port_;
  Door second(*service_, Listen(port_), std::nullopt);
  EXPECT_TRUE(Tunnel(host.authority("a.allowed.test")).ReceiveHead().starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(second.Close().events.size(), 1u);
  port_ = first_port;
  EXPECT_TRUE(door_->Close().events.empty());
}

}  // namespace
}  // namespace belljar
