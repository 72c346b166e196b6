// The egress proxy of a container without one: a belljar-guest whose only network is a loopback of
// its own, this process as its host, and the hosts that it may reach beside it. With and without
// the namespaces that a container may or may not leave to a worker.
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "container/backend/guest_connection.h"
#include "container/inside/egress_relay.h"
#include "container/inside/guest.h"
#include "container/wire/outcome_text.h"
#include "engine/profiles/profile_catalogue.h"
#include "tests/container/frames.h"
#include "tests/container/spawned_guest.h"
#include "tests/egress/egress_hosts.h"
#include "tests/support/support.h"

namespace belljar::container::inside::egress_guest_test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

core::Deadline Soon() { return core::Clock::now() + seconds(60); }

// --- what a container is to its guest -----------------------------------------------------------

constexpr int kNothingOfItsOwn = 98;  // exit code: this machine gives no network namespace

bool RaiseLoopback() {
  const core::UniqueFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  return ioctl(fd.get(), SIOCSIFFLAGS, &request) == 0;
}

// As Docker's own filter has it for a container without capabilities.
bool RefuseNamespaces() {
  constexpr uint32_t kNamespaces = 0x7e020000;  // CLONE_NEW*
  constexpr uint32_t kNumber = offsetof(seccomp_data, nr);
  constexpr uint32_t kFlags = offsetof(seccomp_data, args);
  constexpr auto refuse = [](uint32_t error) { return SECCOMP_RET_ERRNO | error; };
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFlags),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kNamespaces, 1, 2),
      BPF_STMT(BPF_RET | BPF_K, refuse(ENOSYS)),
      BPF_STMT(BPF_RET | BPF_K, refuse(EPERM)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

void EnterContainer(bool leaves_namespaces) {
  const int wanted = geteuid() == 0 ? CLONE_NEWNET : CLONE_NEWUSER | CLONE_NEWNET;
  if (unshare(wanted) != 0 || !RaiseLoopback()) _exit(kNothingOfItsOwn);
  if (!leaves_namespaces && !RefuseNamespaces()) _exit(kNothingOfItsOwn);
}

core::Profile NetworkProfile() {
  core::Result<core::Profile> profile = profiles::ProfileCatalogue::Open()->Choose("network");
  EXPECT_TRUE(profile);
  return std::move(*profile);
}

std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at; (at = text.find(what)) != text.npos;) text.replace(at, what.size(), with);
  return text;
}

constexpr char kAnswer[] =
    "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nanswer";
constexpr size_t kMuch = 20 << 20;

// One byte says what is wanted: 'e', what comes is sent back; 'd', much is sent; 'u', much is taken
// and its size told; else it is HTTP.
void Serve(tests::Peer& peer) {
  const std::string first = peer.Receive(1);
  if (first == "e") return tests::Echo(peer);
  if (first == "d") {
    const std::string piece(1 << 20, 'd');
    for (size_t sent = 0; sent < kMuch && peer.Send(piece); sent += piece.size()) {
    }
  } else if (first == "u") {
    peer.Send(std::to_string(peer.Receive(kMuch).size()));
  } else {
    (void)peer.ReceiveHead();
    (void)peer.Send(kAnswer);
  }
}

// `true`: the container leaves namespaces to the worker.
class EgressOfGuest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    signal(SIGPIPE, SIG_IGN);
    const auto enter = [] { return EnterContainer(GetParam()), 0; };
    if (tests::InChild(enter) == tests::Exited(kNothingOfItsOwn)) {
      BELLJAR_SKIP_OR_FAIL("no network namespaces here");
    }
    policy.allowed_domains = {"allowed.test:*", "www.allowed.test:*"};
    policy.allow_private = {"127.0.0.1"};
    policy.resolve = {"allowed.test=127.0.0.1", "www.allowed.test=127.0.0.1"};
    request.limits = NetworkProfile().default_limits;
    request.limits.timeout = seconds(60);
  }

  // PORT in `source` is that of the host.
  core::Result<host::Outcome> Try(const std::string& source,
                                  outside::Policy language_policy = outside::Policy::kOff) {
    core::Result<egress::EgressRules> rules = egress::EgressRules::Make(policy);
    EXPECT_TRUE(rules);
    core::Result<std::unique_ptr<egress::EgressService>> egress_service =
        egress::EgressService::Start(std::move(*rules));
    EXPECT_TRUE(egress_service);
    const char* name = language_policy == outside::Policy::kOff ? "off" : "on";
    tests::SpawnedGuest guest({"--profile", "network", "--policy", name},
                              tests::SpawnedGuest::Over::kSocket, {}, tests::GuestProgram(),
                              [] { EnterContainer(GetParam()); });
    backend::GuestConnection connection(
        guest.TakeChannel(),
        backend::GuestTerms::Of(NetworkProfile(), "standard", name, egress_service->get()));
    if (core::Result<void> ready = connection.AwaitReady({Soon()}); !ready) return ready.error();
    request.source = Replaced(source, "PORT", std::to_string(host.port()));
    core::Result<host::Outcome> outcome = connection.Run(request, options);
    end = connection.end();
    if (outcome) {
      EXPECT_EQ(guest.AwaitDeath(), tests::Exited(kGuestDone));
    }
    return outcome;
  }

  host::Outcome Run(const std::string& source,
                    outside::Policy language_policy = outside::Policy::kOff) {
    core::Result<host::Outcome> outcome = Try(source, language_policy);
    EXPECT_TRUE(outcome) << outcome.error().ToString();
    if (!outcome) return {};
    EXPECT_EQ(end, backend::GuestConnection::End::kOutcome);
    if (outcome->error) {
      EXPECT_EQ(outcome->error->message, expected_error) << outcome->error->traceback;
    }
    return std::move(*outcome);
  }

  tests::Host host{Serve};
  host::NetworkPolicy policy;
  host::Request request;
  run::RunOptions options;
  backend::GuestConnection::End end = backend::GuestConnection::End::kClosed;
  std::string expected_error;
};

INSTANTIATE_TEST_SUITE_P(Container, EgressOfGuest, testing::Bool(), [](const auto& info) {
  return info.param ? "WithNamespaces" : "WithoutNamespaces";
});

// Every way that there is, by what the library does unasked.
TEST_P(EgressOfGuest, EveryWayLeadsThroughIt) {
  const host::Outcome outcome = Run(R"(
import http.client, socket, urllib.request
print(urllib.request.urlopen("http://allowed.test:PORT/x").read())
tunnel = http.client.HTTPConnection("127.0.0.1", 1080)
tunnel.set_tunnel("www.allowed.test", PORT)
tunnel.request("GET", "/")
print(tunnel.getresponse().read())
plain = socket.create_connection(("allowed.test", PORT))
plain.sendall(b"ehello")
plain.shutdown(socket.SHUT_WR)
print(plain.makefile("rb").read())
)");
  EXPECT_EQ(outcome.stdout_stream.text, "b'answer'\nb'answer'\nb'hello'\n");
  ASSERT_EQ(outcome.network.size(), 3u);
  const char* const kWays[][2] = {
      {"http", "allowed.test"}, {"connect", "www.allowed.test"}, {"socks5", "allowed.test"}};
  for (size_t i = 0; i < 3; ++i) {
    const host::NetworkEvent& event = outcome.network[i];
    EXPECT_EQ(event.protocol, kWays[i][0]);
    EXPECT_EQ(event.host, kWays[i][1]);
    EXPECT_EQ(event.port, host.port());
    EXPECT_TRUE(event.allowed);
    EXPECT_EQ(event.detail, "127.0.0.1");
  }
  EXPECT_EQ(outcome.network[2].sent, 6u);
  EXPECT_EQ(outcome.network[2].received, 5u);
  EXPECT_EQ(outcome.network_left_out, 0u);
  EXPECT_EQ(host.accepted(), 3);
}

TEST_P(EgressOfGuest, AProgramOfTheLanguageHasIt) {
  const host::Outcome outcome = Run(R"(
import urllib.request
print(urllib.request.urlopen("http://allowed.test:PORT/").read())
)",
                                    outside::Policy::kOn);
  EXPECT_EQ(outcome.stdout_stream.text, "b'answer'\n");
  EXPECT_EQ(outcome.network.size(), 1u);
}

TEST_P(EgressOfGuest, WhatIsNotAllowedIsRefusedAndRecorded) {
  const host::Outcome outcome = Run(R"(
import socket, urllib.error, urllib.request
try:
    urllib.request.urlopen("http://denied.test:PORT/")
except urllib.error.URLError as error:
    print(error.reason)
try:
    socket.create_connection(("127.0.0.1", PORT))
except PermissionError as error:
    print("refused")
)");
  EXPECT_THAT(outcome.stdout_stream.text, HasSubstr("403 denied.test:"));
  EXPECT_THAT(outcome.stdout_stream.text, HasSubstr("refused\n"));
  ASSERT_EQ(outcome.network.size(), 2u);
  for (const host::NetworkEvent& event : outcome.network) {
    EXPECT_FALSE(event.allowed);
    EXPECT_THAT(event.detail, HasSubstr("is not an allowed host"));
  }
  EXPECT_EQ(host.accepted(), 0);
}

TEST_P(EgressOfGuest, ACallNarrowsItAndDoesNotWidenIt) {
  request.allowed_domains = {"www.allowed.test:*"};
  const host::Outcome outcome = Run(R"(
import urllib.error, urllib.request
print(urllib.request.urlopen("http://www.allowed.test:PORT/").read())
try:
    urllib.request.urlopen("http://allowed.test:PORT/")
except urllib.error.URLError as error:
    print("403" in str(error.reason))
)");
  EXPECT_EQ(outcome.stdout_stream.text, "b'answer'\nTrue\n");
  ASSERT_EQ(outcome.network.size(), 2u);
  EXPECT_THAT(outcome.network[1].detail, HasSubstr("not among the allowed domains of this call"));

  request.allowed_domains = {"elsewhere.test"};
  const core::Result<host::Outcome> wider = Try("1");
  ASSERT_FALSE(wider);
  EXPECT_THAT(wider.error().ToString(), HasSubstr("elsewhere.test"));
}

TEST_P(EgressOfGuest, MuchGoesThroughBothWays) {
  const host::Outcome outcome = Run(R"(
import socket
down = socket.create_connection(("allowed.test", PORT))
down.sendall(b"d")
print(len(down.makefile("rb").read()))
up = socket.create_connection(("allowed.test", PORT))
up.sendall(b"u")
for _ in range(20):
    up.sendall(bytes(1 << 20))
print(up.makefile("rb").read())
)");
  EXPECT_EQ(outcome.stdout_stream.text,
            std::to_string(kMuch) + "\nb'" + std::to_string(kMuch) + "'\n");
  ASSERT_EQ(outcome.network.size(), 2u);
  EXPECT_EQ(outcome.network[0].received, kMuch);
  EXPECT_EQ(outcome.network[1].sent, kMuch + 1);
}

// The host moves nothing while it is in a function; what is on its way goes on afterwards.
TEST_P(EgressOfGuest, ACallOfAFunctionLosesNothing) {
  request.functions = {"ask"};
  options.call = [](std::string_view, std::string_view) {
    // sleeps: what is on its way would be moved
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return std::string(R"({"value":1})");
  };
  const host::Outcome outcome = Run(R"(
import socket
down = socket.create_connection(("allowed.test", PORT))
down.sendall(b"d")
up = socket.create_connection(("allowed.test", PORT))
up.sendall(b"u")
left = 20 << 20
up.setblocking(False)
for _ in range(3):
    try:
        while left:
            left -= up.send(bytes(min(left, 1 << 20)))
    except BlockingIOError:
        pass
    ask()
up.setblocking(True)
up.sendall(bytes(left))
print(up.makefile("rb").read())
print(len(down.makefile("rb").read()))
)");
  EXPECT_EQ(outcome.stdout_stream.text,
            "b'" + std::to_string(kMuch) + "'\n" + std::to_string(kMuch) + "\n");
}

TEST_P(EgressOfGuest, OneThatNobodyReadsHoldsUpNoOther) {
  const host::Outcome outcome = Run(R"(
import socket, time
stuck = socket.create_connection(("allowed.test", PORT))
stuck.sendall(b"d")
for _ in range(50):
    other = socket.create_connection(("allowed.test", PORT))
    other.sendall(b"eping")
    assert other.recv(4, socket.MSG_WAITALL) == b"ping"
    other.close()
print(len(stuck.makefile("rb").read()))
)");
  EXPECT_EQ(outcome.stdout_stream.text, std::to_string(kMuch) + "\n");
  EXPECT_EQ(outcome.network.size(), 51u);
}

TEST_P(EgressOfGuest, ManyAtATimeAndMoreOneAfterTheOther) {
  policy.bounds.concurrent = 9;  // the last one may not have been counted out yet
  request.limits.open_files = NetworkProfile().maximum_limits.open_files;
  const host::Outcome outcome = Run(R"(
import socket
for turn in range(10):
    several = [socket.create_connection(("allowed.test", PORT)) for _ in range(8)]
    for number, one in enumerate(several):
        one.sendall(b"e%d" % number)
    print(b"".join(one.recv(1) for one in several).decode())
    for one in several:
        one.shutdown(socket.SHUT_WR)
        assert one.recv(1) == b""
        one.close()
)");
  std::string expected;
  for (int turn = 0; turn < 10; ++turn) expected += "01234567\n";
  EXPECT_EQ(outcome.stdout_stream.text, expected);
  EXPECT_EQ(outcome.network.size(), 80u);
}

// More than are served at a time wait to be accepted, and are served when others have gone.
TEST_P(EgressOfGuest, ThoseBeyondTheBoundWait) {
  policy.bounds.concurrent = 1;
  const host::Outcome outcome = Run(R"(
import _socket
def connect():
    plain = _socket.socket()
    plain.connect(("127.0.0.1", 1080))
    return plain
silent = [connect() for _ in range(17)]
late = connect()
late.send(b"CONNECT denied.test:80 HTTP/1.1\r\n\r\n")
late.settimeout(0.5)
try:
    late.recv(1)
except TimeoutError:
    print("waits")
late.settimeout(None)
silent.pop().close()
print(late.recv(12))
)");
  EXPECT_EQ(outcome.stdout_stream.text, "waits\nb'HTTP/1.1 403'\n");
}

TEST_P(EgressOfGuest, ItsBoundsHold) {
  policy.bounds.connections = 3;
  policy.bounds.received = core::Bytes::Mebi(1);
  const host::Outcome outcome = Run(R"(
import socket, urllib.request
down = socket.create_connection(("allowed.test", PORT))
down.sendall(b"d")
got = 0
try:
    while more := down.recv(1 << 16):
        got += len(more)
except ConnectionError:
    pass
print(got <= 1 << 20)
for _ in range(4):
    try:
        socket.create_connection(("denied.test", PORT))
    except OSError as error:
        print(type(error).__name__)
)");
  EXPECT_THAT(outcome.stdout_stream.text, testing::StartsWith("True\nPermissionError\n"
                                                              "PermissionError\n"));
  ASSERT_EQ(outcome.network.size(), 4u);
  EXPECT_THAT(outcome.network[0].detail, HasSubstr("more bytes than a run may receive"));
  EXPECT_LE(outcome.network[0].received, policy.bounds.received.count);
  EXPECT_EQ(outcome.network[3].detail,
            "the egress proxy is closed: more than 3 connections in one run");
}

TEST_P(EgressOfGuest, ARunThatEndsWithOpenConnectionsEndsThem) {
  const host::Outcome outcome = Run(R"(
import socket
still = [socket.create_connection(("allowed.test", PORT)) for _ in range(5)]
for one in still:
    one.sendall(b"e")
still[0].sendall(b"x")
print(still[0].recv(1))
)");
  EXPECT_EQ(outcome.stdout_stream.text, "b'x'\n");
  EXPECT_EQ(outcome.network.size(), 5u);
  // Each of the host's threads sees its end, or the destructor would not come back.
}

TEST_P(EgressOfGuest, ARunOutOfTimeHasItsRecordToo) {
  request.limits.timeout = std::chrono::milliseconds(4500);
  expected_error = "stopped after 4500ms of wall time";
  const host::Outcome outcome = Run(R"(
import socket
one = socket.create_connection(("allowed.test", PORT))
one.sendall(b"e")
one.recv(1)
)");
  EXPECT_EQ(outcome.status, host::Status::kTimeout);
  EXPECT_EQ(outcome.network.size(), 1u);
}

TEST_P(EgressOfGuest, AValidationHasNone) {
  request.mode = host::Request::Mode::kValidate;
  const host::Outcome outcome = Run("import urllib.request\n", outside::Policy::kOn);
  EXPECT_EQ(outcome.status, host::Status::kOk);
  EXPECT_TRUE(outcome.network.empty());
}

TEST_P(EgressOfGuest, NothingElseCanBeReached) {
  const host::Outcome outcome = Run(R"(
import _socket
def attempt(address, family=_socket.AF_INET, kind=_socket.SOCK_STREAM):
    try:
        plain = _socket.socket(family, kind)
        plain.settimeout(2)
        plain.connect(address)
        return "reached"
    except OSError as error:
        return "no"
print(attempt(("127.0.0.1", 1080)))
print(attempt(("127.0.0.1", PORT)), attempt(("127.0.0.1", 22)), attempt(("192.0.2.1", 80)),
      attempt(("::1", 1080), _socket.AF_INET6), attempt("\0x", _socket.AF_UNIX),
      attempt(("127.0.0.1", 1080), _socket.AF_INET, _socket.SOCK_DGRAM))
try:
    server = _socket.socket()
    server.bind(("127.0.0.1", 4000))
    print("bound")
except OSError:
    print("not bound")
)");
  EXPECT_EQ(outcome.stdout_stream.text, "reached\nno no no no no no\nnot bound\n");
}

// --- the relay by itself ------------------------------------------------------------------------

// One that was shut is readable for ever, and gives no connection.
core::UniqueFd ShutListener() {
  core::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(listen(fd.get(), 1), 0);
  EXPECT_EQ(shutdown(fd.get(), SHUT_RDWR), 0);
  pollfd polled{fd.get(), POLLIN, 0};
  EXPECT_EQ(poll(&polled, 1, 0), 1);
  EXPECT_LT(accept(fd.get(), nullptr, nullptr), 0);
  EXPECT_EQ(errno, EINVAL);
  return fd;
}

TEST(EgressRelay, AListenerThatFailsForEverDoesNotKeepItsEnd) {
  auto pair = core::CreateSocketPair(SOCK_STREAM);
  ASSERT_TRUE(pair);
  const core::Result<wire::Channel> channel = wire::Channel::OfSocket(std::move(pair->first));
  ASSERT_TRUE(channel);
  EgressRelay relay(*channel);
  relay.Allow({.at_a_time = 2, .in_all = 2});
  ASSERT_TRUE(relay.Start(ShutListener()));
  // Each look takes the lock that its thread may hold, long enough for that to have got there.
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(relay.Take(tests::DataFrame(1, "x")));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // sleeps: so that it gets there
  }
  relay.Stop();
}

// While the host is in a function, which may take longer than anybody waits to send.
TEST(EgressRelay, HeldItSendsNothing) {
  auto pair = core::CreateSocketPair(SOCK_STREAM);
  ASSERT_TRUE(pair);
  const core::Result<wire::Channel> channel = wire::Channel::OfSocket(std::move(pair->first));
  ASSERT_TRUE(channel);
  const core::Result<wire::Channel> host = wire::Channel::OfSocket(std::move(pair->second));
  ASSERT_TRUE(host);
  core::UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener.get(), any, size), 0);
  ASSERT_EQ(listen(listener.get(), 4), 0);
  ASSERT_EQ(getsockname(listener.get(), any, &size), 0);
  EgressRelay relay(*channel);
  relay.Allow({.at_a_time = 4, .in_all = 4});
  ASSERT_TRUE(relay.Start(std::move(listener)));
  const auto connect_and_say = [&] {
    core::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(fd.get(), any, size), 0);
    EXPECT_EQ(send(fd.get(), "x", 1, MSG_NOSIGNAL), 1);
    return fd;
  };
  const core::UniqueFd first = connect_and_say();
  std::string said;
  while (said.find('x') == said.npos) said += *host->Receive({Soon()});
  relay.Hold();
  const core::UniqueFd second = connect_and_say();
  EXPECT_EQ(send(first.get(), "y", 1, MSG_NOSIGNAL), 1);
  const core::Result<std::string> held =
      host->Receive({core::Clock::now() + std::chrono::milliseconds(300)});
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().error_number, ETIMEDOUT);
  relay.GoOn();
  for (said.clear(); said.find('x') == said.npos || said.find('y') == said.npos;) {
    said += *host->Receive({Soon()});
  }
  relay.Hold();
  relay.Stop();
}

// --- hostile guests -----------------------------------------------------------------------------

std::string OpenBytes(uint32_t stream) { return tests::FrameBytes(tests::OpenFrame(stream)); }
std::string DataBytes(uint32_t stream, std::string_view bytes) {
  return tests::FrameBytes(tests::DataFrame(stream, bytes));
}
// The data of all streams, in the order of the frames: where one ends and the next begins is
// random.
std::string DataIn(std::string_view bytes) {
  wire::FrameDecoder frames;
  frames.Feed(bytes);
  std::string data;
  while (const std::optional<wire::Frame> frame = frames.Next()) {
    if (frame->kind == wire::FrameKind::kEgressData)
      data += frame->payload.substr(sizeof(uint32_t));
  }
  return data;
}
std::string CloseBytes(uint32_t stream, int ways) {
  return tests::FrameBytes(tests::CloseFrame(stream, ways));
}

// A host with an egress proxy, and a guest that has broken out: it says what it likes.
class HostileGuest : public testing::Test {
 protected:
  void SetUp() override {
    signal(SIGPIPE, SIG_IGN);
    policy.allowed_domains = {"allowed.test:*"};
    policy.allow_private = {"127.0.0.1"};
    policy.resolve = {"allowed.test=127.0.0.1"};
    request.source = "1";
    request.limits.timeout = seconds(20);
  }

  // Greets, and once it has its request says `bytes`, and then does as `behave` has it.
  host::Outcome Run(const std::string& bytes,
                    const std::function<void(tests::Peer&)>& behave = {}) {
    core::Result<std::unique_ptr<egress::EgressService>> egress_service =
        egress::EgressService::Start(*egress::EgressRules::Make(policy));
    auto pair = core::CreateSocketPair(SOCK_STREAM);
    backend::GuestTerms terms;
    terms.egress_service = egress_service->get();
    std::optional<backend::GuestConnection> connection;
    connection.emplace(*wire::Channel::OfSocket(std::move(pair->first)), terms);
    std::thread guest([&bytes, &behave, socket = std::move(pair->second)]() mutable {
      tests::Peer peer{std::move(socket)};
      peer.Send(tests::HelloBytes() + tests::FrameBytes(wire::FrameKind::kReady));
      std::string content = peer.Receive(wire::kFrameHeaderSize);
      content = peer.Receive(wire::NumberAt(content, 8) + wire::kFrameHeaderSize + 1);
      if (!peer.Send(bytes)) return;
      if (behave) return behave(peer);
      (void)peer.ReceiveAll();
    });
    EXPECT_TRUE(connection->AwaitReady({Soon()}));
    core::Result<host::Outcome> outcome = connection->Run(request, options);
    end = connection->end();
    // With it the channel ends, until when the guest may be heard.
    connection.reset();
    guest.join();
    return outcome ? std::move(*outcome) : host::Outcome();
  }

  void ExpectFault(const std::string& bytes, const std::string& what,
                   const std::function<void(tests::Peer&)>& behave = {}) {
    const host::Outcome outcome = Run(bytes, behave);
    EXPECT_EQ(end, backend::GuestConnection::End::kFault) << what;
    EXPECT_EQ(outcome.status, host::Status::kKilled);
    ASSERT_TRUE(outcome.error);
    EXPECT_THAT(outcome.error->message, HasSubstr(what));
  }

  std::string Tunnel() const {
    const std::string authority = host.authority("allowed.test");
    return "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n";
  }

  tests::Host host{Serve};
  host::NetworkPolicy policy;
  host::Request request;
  run::RunOptions options;
  backend::GuestConnection::End end = backend::GuestConnection::End::kClosed;
};

// What the others are to be compared with.
TEST_F(HostileGuest, AnHonestStreamIsServed) {
  std::string said;  // by the host, after the request
  const host::Outcome outcome =
      Run(OpenBytes(1) + DataBytes(1, Tunnel()) + DataBytes(1, "ehello") +
              CloseBytes(1, wire::kSendsNoMore),
          [&](tests::Peer& peer) {
            while (!DataIn(said).ends_with("hello")) {
              const std::string more = peer.Receive(1);
              if (more.empty()) return;
              said += more;
            }
            peer.Send(tests::FrameBytes(wire::FrameKind::kOutcome,
                                        wire::OutcomeToText({.status = host::Status::kOk})));
          });
  EXPECT_EQ(end, backend::GuestConnection::End::kOutcome);
  EXPECT_EQ(outcome.status, host::Status::kOk);
  ASSERT_EQ(outcome.network.size(), 1u);
  EXPECT_TRUE(outcome.network[0].allowed);
  EXPECT_EQ(outcome.network[0].received, 5u);
  EXPECT_THAT(DataIn(said), HasSubstr("200 Connection established"));
}

TEST_F(HostileGuest, WhatItMayNotSayIsItsEnd) {
  const std::string slow = OpenBytes(1) + DataBytes(1, Tunnel() + "d") + OpenBytes(2);
  ExpectFault(OpenBytes(2), "egress open is out of order");
  ExpectFault(OpenBytes(1) + OpenBytes(1), "egress open is out of order");
  ExpectFault(DataBytes(1, "x"), "for an unknown stream");
  ExpectFault(OpenBytes(1) + CloseBytes(1, 3) + CloseBytes(1, 1), "egress close");
  ExpectFault(OpenBytes(1) + CloseBytes(1, 1) + DataBytes(1, "x"),
              "egress data after it was closed");
  ExpectFault(OpenBytes(1) + tests::FrameBytes(tests::WindowFrame(1, 1)), "more than was sent");
  // How much of it the proxy takes, and thus grants, before it says that this is no request, is
  // chance; not without end.
  ExpectFault(slow, "beyond its window",
              [piece = std::string(wire::kEgressPiece, 'x')](tests::Peer& peer) {
                while (peer.Send(DataBytes(2, piece))) continue;
              });
  ExpectFault(OpenBytes(1) + tests::FrameBytes(wire::FrameKind::kReady),
              "ready is not allowed here");
}

TEST_F(HostileGuest, StreamsWithoutEndAreItsEnd) {
  std::string opens;
  for (uint32_t i = 1; i < 100; ++i) opens += OpenBytes(i);
  ExpectFault(opens, "too many streams");
  // Said to be over, they count until the host has let go of them.
  policy.bounds.connections = 20;
  std::string all;
  for (uint32_t i = 1; i < 100; ++i) all += OpenBytes(i) + CloseBytes(i, 3);
  ExpectFault(all, "too many streams");
}

// Half of it is never read by anybody: the host's memory is what it is about, and its time.
TEST_F(HostileGuest, OneThatNeverListensNorStopsIsCut) {
  const core::UniqueFd cancel(eventfd(0, EFD_CLOEXEC));
  options.cancel_fd = cancel.get();
  request.limits.output =
      core::Bytes::Mebi(1024);  // more than it can say in the time that it is left
  std::string streams;
  for (uint32_t i = 1; i <= 16; ++i) streams += OpenBytes(i) + DataBytes(i, Tunnel() + "d");
  const host::Outcome outcome = Run(streams, [&](tests::Peer& peer) {
    EXPECT_TRUE(tests::Eventually([&] { return host.accepted() == 16; }));
    eventfd_write(cancel.get(), 1);
    while (peer.Send(tests::FrameBytes(wire::FrameKind::kStandardOutput, "x"))) {
    }
  });
  EXPECT_EQ(end, backend::GuestConnection::End::kCancelled);
  EXPECT_EQ(outcome.network.size(), 16u);
  for (const host::NetworkEvent& event : outcome.network) EXPECT_LE(event.received, 1u << 20);
}

TEST_F(HostileGuest, WithoutAnEgressProxyItIsTheEndOfAnyStream) {
  request.mode = host::Request::Mode::kValidate;
  ExpectFault(OpenBytes(1), "egress open is not allowed here");
}

}  // namespace
}  // namespace belljar::container::inside::egress_guest_test
