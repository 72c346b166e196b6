// The egress proxy between a client and hosts, all of them on loopback: what it lets through, what
// it refuses and how it says so, what it bounds, and that nothing is left of it.
#include "engine/egress/egress_proxy.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/core/socket.h"
#include "engine/egress/http_proxy_request.h"
#include "tests/egress/egress_hosts.h"
#include "tests/support/support.h"

namespace belljar::egress::egress_proxy_test {
namespace {

using namespace std::string_view_literals;
using Strings = std::vector<std::string>;

class EgressTest : public ::testing::Test {
 protected:
  void SetUp() override {
    policy_.allowed_domains = {"*.allowed.test:*"};
    policy_.allow_private = {"127.0.0.1"};
  }

  void Open() {
    egress_.reset();
    core::Result<EgressRules> rules = EgressRules::Make(policy_);
    ASSERT_TRUE(rules) << rules.error().ToString();
    auto service =
        EgressService::Start(std::move(*rules), [names = names_](const std::string& name) {
          const std::lock_guard lock(names->mutex);
          names->requested.push_back(name);
          return names->answer(name);
        });
    ASSERT_TRUE(service);
    service_ = std::move(*service);
    core::UniqueFd listener = tests::Listen(port_);
    egress_ = std::make_unique<EgressProxy>(*service_, std::move(listener), std::move(narrower_));
  }

  tests::Peer Connect() {
    core::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port_);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return tests::Peer(std::move(fd));
  }

  tests::Peer Ask(const std::string& bytes) {
    tests::Peer peer = Connect();
    EXPECT_TRUE(peer.Send(bytes));
    return peer;
  }

  tests::Peer Tunnel(const std::string& authority) {
    return Ask("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
  }

  // One event, and no more.
  host::NetworkEvent OnlyEvent() {
    EgressRecord record = egress_->Close();
    EXPECT_EQ(record.events.size(), 1u);
    EXPECT_EQ(record.left_out, 0u);
    return record.events.empty() ? host::NetworkEvent() : record.events[0];
  }

  static Addresses Loopback(const std::string&) {
    return {{boost::asio::ip::make_address("127.0.0.1")}, ""};
  }

  host::NetworkPolicy policy_;
  std::optional<AllowList> narrower_;
  // Shared: the threads that look names up may outlive the service, and with it a test.
  struct Names {
    std::mutex mutex;
    Strings requested;
    Lookup answer = Loopback;
  };
  const std::shared_ptr<Names> names_ = std::make_shared<Names>();
  Strings& resolved_ = names_->requested;
  Lookup& lookup_ = names_->answer;
  std::unique_ptr<EgressService> service_;
  uint16_t port_ = 0;
  std::unique_ptr<EgressProxy> egress_;
};

TEST_F(EgressTest, ATunnelCarriesBytesBothWaysAndIsRecorded) {
  tests::Host host(tests::Echo);
  Open();
  tests::Peer peer = Tunnel(host.authority("a.allowed.test"));
  EXPECT_EQ(peer.ReceiveHead(), "HTTP/1.1 200 Connection established\r\n\r\n");
  EXPECT_TRUE(peer.Send("hello"));
  EXPECT_EQ(peer.Receive(5), "hello");
  peer.EndSending();
  EXPECT_EQ(peer.ReceiveAll(), "");
  const host::NetworkEvent event = OnlyEvent();
  EXPECT_EQ(event.host, "a.allowed.test");
  EXPECT_EQ(event.port, host.port());
  EXPECT_EQ(event.protocol, "connect");
  EXPECT_TRUE(event.allowed);
  EXPECT_EQ(event.detail, "127.0.0.1");
  EXPECT_EQ(event.sent, 5u);
  EXPECT_EQ(event.received, 5u);
  EXPECT_EQ(resolved_, Strings{"a.allowed.test"});
}

// As the connections of a container are: one end of a socket pair each.
TEST_F(EgressTest, WhatIsBroughtToItIsServedAsWhatItAccepts) {
  tests::Host host(tests::Echo);
  policy_.bounds.connections = 2;
  Open();
  EgressProxy egress(*service_, std::nullopt);
  const auto tunnel = [&] {
    auto pair = core::CreateSocketPair(SOCK_STREAM);
    EXPECT_TRUE(pair);
    egress.Serve(std::move(pair->second));
    tests::Peer peer(std::move(pair->first));
    const std::string authority = host.authority("a.allowed.test");
    (void)peer.Send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
    return peer;
  };
  tests::Peer first = tunnel();
  EXPECT_EQ(first.ReceiveHead(), kTunnelIsOpen);
  EXPECT_TRUE(first.Send("hello"));
  first.EndSending();
  EXPECT_EQ(first.ReceiveAll(), "hello");
  tests::Peer second = tunnel();
  EXPECT_EQ(second.ReceiveHead(), kTunnelIsOpen);
  EXPECT_EQ(tunnel().ReceiveHead(), "");
  EXPECT_EQ(tunnel().ReceiveHead(), "");
  const EgressRecord record = egress.Close();
  ASSERT_EQ(record.events.size(), 3u);
  EXPECT_EQ(record.events[0].sent, 5u);
  EXPECT_TRUE(record.events[1].allowed);
  EXPECT_EQ(record.events[2].detail,
            "the egress proxy is closed: more than 2 connections in one run");
  EXPECT_EQ(second.ReceiveAll(), "") << "cut";
  EXPECT_EQ(tunnel().ReceiveHead(), "") << "nobody is served any more";
  EXPECT_TRUE(egress.Close().events.empty());
}

TEST_F(EgressTest, Socks5DoesTheSame) {
  tests::Host host(tests::Echo);
  Open();
  const char port[] = {static_cast<char>(host.port() >> 8), static_cast<char>(host.port() & 255)};
  tests::Peer peer = Ask(std::string("\5\1\0\5\1\0\3\x0e"
                                     "a.allowed.test"sv) +
                         std::string(port, 2));
  EXPECT_EQ(peer.Receive(12), "\5\0\5\0\0\1\0\0\0\0\0\0"sv);
  EXPECT_TRUE(peer.Send("hello"));
  EXPECT_EQ(peer.Receive(5), "hello");
  const host::NetworkEvent event = OnlyEvent();
  EXPECT_EQ(event.protocol, "socks5");
  EXPECT_TRUE(event.allowed);
}

TEST_F(EgressTest, AForwardedRequestIsMadeAnewAndItsAnswerPassedOn) {
  std::string head, body;
  tests::Host host([&](tests::Peer& peer) {
    head = peer.ReceiveHead();
    body = peer.Receive(5);
    peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  Open();
  const std::string authority = host.authority("a.allowed.test");
  tests::Peer peer = Ask("POST http://" + authority +
                         "/x HTTP/1.1\r\nHost: evil.test\r\nProxy-Authorization: secret\r\n"
                         "Content-Length: 5\r\n\r\nhelloGET http://evil.test/ HTTP/1.1\r\n\r\n");
  EXPECT_EQ(peer.ReceiveAll(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_EQ(head, "POST /x HTTP/1.1\r\nHost: " + authority +
                      "\r\nContent-Length: 5\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(body, "hello");
  EXPECT_EQ(OnlyEvent().protocol, "http");
}

TEST_F(EgressTest, AHostThatIsNotOnTheListIsNotEvenLookedUp) {
  Open();
  const std::string answer = Tunnel("secret-data.evil.test:443").ReceiveAll();
  EXPECT_TRUE(
      answer.starts_with("HTTP/1.1 403 secret-data.evil.test:443 is not an allowed host\r\n"))
      << answer;
  EXPECT_TRUE(resolved_.empty());
  const host::NetworkEvent event = OnlyEvent();
  EXPECT_FALSE(event.allowed);
  EXPECT_EQ(event.host, "secret-data.evil.test");
  EXPECT_NE(event.detail.find("is not an allowed host; the operator allows "), std::string::npos);
}

TEST_F(EgressTest, Socks5SaysNotAllowed) {
  Open();
  tests::Peer peer =
      Ask(std::string("\5\1\0\5\1\0\3\x09"
                      "evil.test\x01\xbb"sv));
  EXPECT_EQ(peer.ReceiveAll(), "\5\0\5\2\0\1\0\0\0\0\0\0"sv);
  EXPECT_FALSE(OnlyEvent().allowed);
}

TEST_F(EgressTest, ACallsOwnListNarrowsTheOperators) {
  tests::Host host(tests::Echo);
  narrower_ = *AllowList::Parse({"b.allowed.test:*"});
  Open();
  EXPECT_TRUE(Tunnel(host.authority("b.allowed.test")).ReceiveHead().starts_with("HTTP/1.1 200 "));
  EXPECT_NE(Tunnel(host.authority("a.allowed.test")).ReceiveAll().find("not among the allowed"),
            std::string::npos);
}

TEST_F(EgressTest, ANameThatLeadsToWhatIsNotPublicIsRefused) {
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

TEST_F(EgressTest, ANameThatChangesItsMindIsJudgedEachTime) {
  tests::Host host(tests::Echo);
  // What a hostile name server does: the first answer is fine, the next one is a target inside.
  std::atomic<int> answers = 0;
  policy_.allow_private = {"127.0.0.1"};
  lookup_ = [&](const std::string&) {
    return Addresses{{boost::asio::ip::make_address(answers++ == 0 ? "127.0.0.1" : "127.0.0.9")},
                     ""};
  };
  Open();
  tests::Peer first = Tunnel(host.authority("a.allowed.test"));
  EXPECT_TRUE(first.ReceiveHead().starts_with("HTTP/1.1 200 "));
  const std::string second = Tunnel(host.authority("a.allowed.test")).ReceiveAll();
  EXPECT_NE(second.find("127.0.0.9, which is loopback"), std::string::npos) << second;
  // One lookup a connection: what was judged is what was connected to.
  EXPECT_EQ(answers, 2);
  // The host's thread may come to its connection later than we to its answer.
  EXPECT_TRUE(tests::Eventually([&] { return host.accepted() >= 1; }));
  EXPECT_EQ(host.accepted(), 1);
}

TEST_F(EgressTest, OfSeveralAddressesOnlyThoseThatMayAreTried) {
  tests::Host host(tests::Echo);
  lookup_ = [](const std::string&) {
    return Addresses{
        {boost::asio::ip::make_address("10.0.0.1"), boost::asio::ip::make_address("127.0.0.1")},
        ""};
  };
  Open();
  EXPECT_TRUE(Tunnel(host.authority("a.allowed.test")).ReceiveHead().starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(OnlyEvent().detail, "127.0.0.1");
}

TEST_F(EgressTest, ALiteralAddressHasToBeListedAsOne) {
  tests::Host host(tests::Echo);
  policy_.allowed_domains = {"*:*"};
  Open();
  EXPECT_NE(Tunnel(host.authority("127.0.0.1")).ReceiveAll().find(" 403 "), std::string::npos);
  for (const char* form : {"127.1", "2130706433", "0x7f000001", "017700000001"}) {
    EXPECT_NE(Tunnel(host.authority(form)).ReceiveAll().find("403 the host is neither"),
              std::string::npos);
  }
  EXPECT_EQ(host.accepted(), 0);
  EXPECT_TRUE(resolved_.empty());
  policy_.allowed_domains = {"127.0.0.1:*"};
  Open();
  EXPECT_TRUE(Tunnel(host.authority("127.0.0.1")).ReceiveHead().starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(
      Tunnel(host.authority("[::ffff:127.0.0.1]")).ReceiveHead().starts_with("HTTP/1.1 200 "));
}

TEST_F(EgressTest, ThePrivateExceptionIsForWhatItNamesAlone) {
  tests::Host host(tests::Echo);
  policy_.allow_private.clear();
  Open();
  EXPECT_NE(Tunnel(host.authority("a.allowed.test")).ReceiveAll().find("loopback"),
            std::string::npos);
  EXPECT_EQ(host.accepted(), 0);
}

TEST_F(EgressTest, AConfiguredAddressOfANameIsNotResolved) {
  tests::Host host(tests::Echo);
  policy_.resolve = {"a.allowed.test=127.0.0.1"};
  lookup_ = [](const std::string&) { return Addresses{{}, "no"}; };
  Open();
  EXPECT_TRUE(Tunnel(host.authority("A.Allowed.test.")).ReceiveHead().starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(resolved_.empty());
}

TEST_F(EgressTest, WhatCannotBeReachedSaysWhy) {
  uint16_t port = 0;
  tests::Listen(port);  // and nothing listens there any more
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

TEST_F(EgressTest, ANameServerThatDoesNotAnswerHoldsNobodyUp) {
  policy_.bounds.connect_timeout = std::chrono::milliseconds(50);
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  lookup_ = [stop](const std::string&) {
    stop->wait(false);
    return Addresses{{}, "late"};
  };
  Open();
  EXPECT_NE(Tunnel("a.allowed.test:80").ReceiveAll().find(" 504 "), std::string::npos);
  tests::Peer waiting = Tunnel("b.allowed.test:80");
  (void)egress_->Close();
  EXPECT_EQ(waiting.ReceiveAll(), "");
  *stop = true;
  stop->notify_all();
  egress_.reset();
  service_.reset();
}

TEST_F(EgressTest, SmugglingIsRefused) {
  tests::Host host(tests::Echo);
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

TEST_F(EgressTest, OtherProtocolsAreRefused) {
  Open();
  for (const std::string& bytes :
       Strings{std::string("\4\1\0\x50\x7f\0\0\1\0", 9), "\x16\x03\x01\r\n\r\n", "GET /\r\n\r\n",
               "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}) {
    tests::Peer peer = Ask(bytes);
    peer.EndSending();
    const std::string answer = peer.ReceiveAll();
    EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 400 ")) << answer;
  }
  EXPECT_TRUE(resolved_.empty());
}

TEST_F(EgressTest, ConnectionsAreBounded) {
  tests::Host host(tests::Echo);
  policy_.bounds.connections = 3;
  Open();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Tunnel("evil.test:80").ReceiveAll().empty());
  // The fourth is accepted by nobody: the listener is gone.
  EXPECT_EQ(Ask("CONNECT a.allowed.test:1 HTTP/1.1\r\n\r\n").ReceiveAll(), "");
  const EgressRecord record = egress_->Close();
  EXPECT_NE(record.events.back().detail.find("more than 3 connections"), std::string::npos);
}

TEST_F(EgressTest, SoAreThoseAtATime) {
  tests::Host host(tests::Echo);
  policy_.bounds.concurrent = 1;
  Open();
  {
    tests::Peer first = Tunnel(host.authority("a.allowed.test"));
    EXPECT_TRUE(first.ReceiveHead().starts_with("HTTP/1.1 200 "));
    EXPECT_NE(Tunnel(host.authority("a.allowed.test")).ReceiveAll().find(" 503 more than 1 "),
              std::string::npos);
    first.EndSending();
    EXPECT_EQ(first.ReceiveAll(), "");
  }
  EXPECT_TRUE(Tunnel(host.authority("a.allowed.test")).ReceiveHead().starts_with("HTTP/1.1 200 "));
}

TEST_F(EgressTest, ThoseThatOnlyAskWaitInTheKernelsQueue) {
  tests::Host host(tests::Echo);
  policy_.bounds.concurrent = 1;
  Open();
  std::vector<tests::Peer> silent;
  for (int i = 0; i < 17; ++i) silent.push_back(Connect());
  tests::Peer late = Tunnel(host.authority("a.allowed.test"));
  silent.pop_back();
  EXPECT_TRUE(late.ReceiveHead().starts_with("HTTP/1.1 200 "));
}

TEST_F(EgressTest, BytesAreBoundedEachWay) {
  tests::Host host([](tests::Peer& peer) {
    const std::string ask = peer.Receive(1);
    if (ask == "r") peer.Send(std::string(100'000, 'x'));
    while (!peer.Receive(4096).empty()) {
    }
  });
  policy_.bounds.sent = core::Bytes{1000};
  policy_.bounds.received = core::Bytes{50'000};
  Open();
  tests::Peer reads = Tunnel(host.authority("a.allowed.test"));
  (void)reads.ReceiveHead();
  reads.Send("r");
  EXPECT_LE(reads.ReceiveAll().size(), 50'000u);
  tests::Peer writes = Tunnel(host.authority("a.allowed.test"));
  (void)writes.ReceiveHead();
  writes.Send(std::string(2000, 'x'));
  EXPECT_EQ(writes.ReceiveAll(), "");
  const EgressRecord record = egress_->Close();
  ASSERT_EQ(record.events.size(), 2u);
  EXPECT_NE(record.events[0].detail.find("more bytes than a run may receive"), std::string::npos);
  EXPECT_NE(record.events[1].detail.find("more bytes than a run may send"), std::string::npos);
  EXPECT_LE(record.events[0].received, 50'000u);
  EXPECT_LE(record.events[0].sent + record.events[1].sent, 1000u);
}

TEST_F(EgressTest, AConnectionOnWhichNothingComesIsClosed) {
  tests::Host host(tests::Echo);
  policy_.bounds.idle_timeout = std::chrono::milliseconds(50);
  Open();
  tests::Peer peer = Tunnel(host.authority("a.allowed.test"));
  (void)peer.ReceiveHead();
  EXPECT_EQ(peer.ReceiveAll(), "");
  EXPECT_NE(OnlyEvent().detail.find("for too long"), std::string::npos);
}

TEST_F(EgressTest, MuchIsCarriedWholeInBothDirections) {
  std::string sent(20 << 20, '\0');
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 2654435761u >> 13);
  tests::Host host([&](tests::Peer& peer) {
    const std::string all = peer.Receive(sent.size());
    peer.Send(all);
  });
  Open();
  tests::Peer peer = Tunnel(host.authority("a.allowed.test"));
  (void)peer.ReceiveHead();
  std::thread writer([&] { EXPECT_TRUE(peer.Send(sent)); });
  const std::string back = peer.Receive(sent.size());
  writer.join();
  EXPECT_TRUE(back == sent);
  const host::NetworkEvent event = OnlyEvent();
  EXPECT_EQ(event.sent, sent.size());
  EXPECT_EQ(event.received, sent.size());
}

TEST_F(EgressTest, AGuestThatNeverReadsHoldsNothingButItself) {
  std::atomic<size_t> taken = 0;
  tests::Host host([&](tests::Peer& peer) {
    const std::string block(1 << 20, 'x');
    while (taken < 256u << 20 && peer.Send(block)) taken += block.size();
  });
  Open();
  tests::Peer peer = Tunnel(host.authority("a.allowed.test"));
  (void)peer.ReceiveHead();
  tests::Peer other = Tunnel("evil.test:80");
  EXPECT_FALSE(other.ReceiveAll().empty());
  (void)egress_->Close();
  // What sockets and one buffer hold, and no more.
  EXPECT_LT(taken, 64u << 20);
}

TEST_F(EgressTest, ClosingCutsEverythingAtOnce) {
  tests::Host host(tests::Echo);
  Open();
  tests::Peer tunnel = Tunnel(host.authority("a.allowed.test"));
  (void)tunnel.ReceiveHead();
  tests::Peer half = Ask("CONNECT a.allow");
  tests::Peer silent = Connect();
  EgressRecord record = egress_->Close();
  EXPECT_EQ(record.events.size(), 1u);
  EXPECT_EQ(tunnel.ReceiveAll(), "");
  EXPECT_EQ(half.ReceiveAll(), "");
  EXPECT_EQ(silent.ReceiveAll(), "");
  record = egress_->Close();
  EXPECT_TRUE(record.events.empty());
}

TEST_F(EgressTest, TheRecordIsBounded) {
  policy_.bounds.connections = 1000;
  Open();
  for (int i = 0; i < 230; ++i) EXPECT_FALSE(Tunnel("evil.test:80").ReceiveAll().empty());
  const EgressRecord record = egress_->Close();
  EXPECT_EQ(record.events.size(), 200u);
  EXPECT_EQ(record.left_out, 30u);
}

TEST_F(EgressTest, OneRunsEgressProxyKnowsNothingOfAnothers) {
  tests::Host host(tests::Echo);
  Open();
  const uint16_t first_port = port_;
  EgressProxy second(*service_, tests::Listen(port_), std::nullopt);
  EXPECT_TRUE(Tunnel(host.authority("a.allowed.test")).ReceiveHead().starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(second.Close().events.size(), 1u);
  port_ = first_port;
  EXPECT_TRUE(egress_->Close().events.empty());
}

}  // namespace
}  // namespace belljar::egress::egress_proxy_test
