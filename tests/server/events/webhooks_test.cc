// Webhooks and traces, with receivers on loopback: what arrives, in which order, how it is signed,
// and what happens when it does not arrive.
#include "server/events/webhooks.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "engine/core/text.h"
#include "engine/host/base64.h"
#include "engine/host/digest.h"
#include "server/events/event_service.h"
#include "server/events/http_post.h"
#include "server/events/trace_exporter.h"
#include "tests/server/http_client.h"

namespace belljar::server::events::webhooks_test {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

struct Arrived {
  std::string head;
  std::string body;
  std::string Header(const std::string& name) const {
    const size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

// Answers each request as the test says.
class Receiver {
 public:
  Receiver() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(fd_.get(), 64), 0);
    socklen_t size = sizeof address;
    getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Work(); });
  }
  ~Receiver() {
    shutdown(fd_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::string url(const std::string& path = "/hook") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  // Connections stay open after the answer, as long as this object.
  void KeepOpen() {
    const std::lock_guard lock(mutex_);
    keeps_open_ = true;
  }
  // What is answered to the request of this number, from 1; "silence": nothing.
  using Answers = std::function<std::string(size_t number)>;
  void Answer(Answers answers) {
    const std::lock_guard lock(mutex_);
    answers_ = std::move(answers);
  }
  // Waits for so many requests.
  std::vector<Arrived> Get(size_t count) {
    EXPECT_TRUE(tests::Eventually([&] { return this->count() >= count; })) << this->count();
    const std::lock_guard lock(mutex_);
    return arrived_;
  }
  size_t count() {
    const std::lock_guard lock(mutex_);
    return arrived_.size();
  }

 private:
  void Work() {
    for (;;) {
      core::UniqueFd client(accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client) return;
      std::string text;
      char buffer[65536];
      size_t end = 0, wanted = std::string::npos;
      while (text.size() < wanted) {
        const ssize_t size = recv(client.get(), buffer, sizeof buffer, 0);
        if (size <= 0) break;
        text.append(buffer, static_cast<size_t>(size));
        if (wanted != std::string::npos || (end = text.find("\r\n\r\n")) == text.npos) continue;
        const std::string head = core::LowerCase(text.substr(0, end + 2));
        wanted = end + 4 + std::stoul(Arrived{head, ""}.Header("content-length"));
      }
      if (text.size() < wanted) continue;
      size_t number = 0;
      Answers answers;
      {
        const std::lock_guard lock(mutex_);
        arrived_.push_back({text.substr(0, end + 2), text.substr(end + 4)});
        number = arrived_.size();
        answers = answers_;
      }
      const std::string reply = answers(number);
      if (reply == "silence") {
        std::this_thread::sleep_for(milliseconds(500));  // sleeps: longer than anybody waits
        continue;
      }
      for (std::string_view left = reply; !left.empty();) {
        const ssize_t sent = send(client.get(), left.data(), left.size(), MSG_NOSIGNAL);
        if (sent <= 0) break;
        left.remove_prefix(static_cast<size_t>(sent));
      }
      const std::lock_guard lock(mutex_);
      if (keeps_open_) open_.push_back(std::move(client));
    }
  }
  core::UniqueFd fd_;
  uint16_t port_ = 0;
  std::mutex mutex_;
  std::vector<Arrived> arrived_;
  bool keeps_open_ = false;
  std::vector<core::UniqueFd> open_;
  Answers answers_ = [](size_t) { return "HTTP/1.1 204 No Content\r\n\r\n"; };
  std::thread thread_;
};

constexpr char kBusy[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
constexpr char kTaken[] = "HTTP/1.1 204 No Content\r\n\r\n";

std::string TypeOf(const Arrived& arrived) { return Json::parse(arrived.body)["type"]; }
std::string ExecutionIn(const Arrived& arrived) {
  return Json::parse(arrived.body)["data"].value("execution", "");
}

class WebhooksTest : public ::testing::Test {
 protected:
  WebhookConfig Config(const std::string& name = "hook") {
    WebhookConfig config;
    config.name = name;
    config.url = receiver_.url();
    config.secret = "a key of thirty-two random bytes";
    config.timeout = milliseconds(5000);
    return config;
  }
  Webhooks& Start(const std::vector<WebhookConfig>& configs) {
    auto started = Webhooks::Start(hub_, configs, [this](const Webhooks::Failure& failure) {
      const std::lock_guard lock(mutex_);
      failures_.push_back(failure);
    });
    if (!started) {
      ADD_FAILURE() << started.error().ToString();
      std::abort();
    }
    webhooks_ = std::move(*started);
    return *webhooks_;
  }
  void Publish(const std::string& id, const std::string& owner = "a") {
    hub_.Publish(owner, ExecutionStarted{id, "execute_code"});
  }
  std::vector<Webhooks::Failure> failures() {
    const std::lock_guard lock(mutex_);
    return failures_;
  }

  Receiver receiver_;
  EventHub hub_{{}};
  std::mutex mutex_;
  std::vector<Webhooks::Failure> failures_;
  std::unique_ptr<Webhooks> webhooks_;
};

// The example of the specification of Standard Webhooks, and RFC 4231.
TEST(WebhookSignatures, AreThoseOfTheSpecification) {
  const auto hex = [](const std::string& text) {
    return core::Hex(std::span(reinterpret_cast<const unsigned char*>(text.data()), text.size()));
  };
  EXPECT_EQ(hex(host::HmacSha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex(host::HmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(host::HmacSha256(std::string(131, '\xaa'),
                                 "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(SignWebhook(*host::DecodeBase64("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
                        "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", R"({"test": 2432232314})"),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST_F(WebhooksTest, AreDeliveredInOrderAndSigned) {
  Webhooks& webhooks = Start({Config()});
  for (int i = 0; i < 20; ++i) Publish("e" + std::to_string(i));
  const std::vector<Arrived> all = receiver_.Get(20);
  std::set<std::string> ids;
  for (int i = 0; i < 20; ++i) {
    const Arrived& each = all[i];
    EXPECT_TRUE(each.head.starts_with("POST /hook HTTP/1.1\r\n")) << each.head;
    EXPECT_EQ(each.Header("Content-Type"), "application/json");
    EXPECT_EQ(TypeOf(each), "execution.started");
    EXPECT_EQ(ExecutionIn(each), "e" + std::to_string(i));
    const std::string id = each.Header("webhook-id"), time = each.Header("webhook-timestamp");
    ids.insert(id);
    EXPECT_LT(std::abs(std::stol(time) - static_cast<long>(::time(nullptr))), 60);
    EXPECT_EQ(each.Header("webhook-signature"), SignWebhook(Config().secret, id, time, each.body));
  }
  EXPECT_EQ(ids.size(), 20u);
  EXPECT_TRUE(tests::Eventually([&] { return webhooks.counters()[0].delivered == 20; }));
  EXPECT_EQ(webhooks.counters()[0].failed, 0u);
}

TEST_F(WebhooksTest, HaveWhatTheyWantOfWhomTheyWant) {
  WebhookConfig some = Config();
  some.events = {"session.*", "execution.started"};
  some.tokens = {"a", "b"};
  Start({some});
  Publish("e1", "c");
  hub_.Publish("a", ExecutionEnded{.execution = "e2"});
  hub_.Publish("b", SessionOpened{"s1", "basic", ""});
  Publish("e3", "a");
  const std::vector<Arrived> all = receiver_.Get(2);
  EXPECT_EQ(TypeOf(all[0]) + " " + TypeOf(all[1]), "session.opened execution.started");
  EXPECT_EQ(ExecutionIn(all[1]), "e3");
}

TEST_F(WebhooksTest, AreTriedAgainWithTheSameIdBeforeWhatComesNext) {
  receiver_.Answer([](size_t number) { return number <= 2 ? kBusy : kTaken; });
  Webhooks& webhooks = Start({Config()});
  Publish("e1");
  Publish("e2");
  const std::vector<Arrived> all = receiver_.Get(4);
  EXPECT_EQ(ExecutionIn(all[0]) + ExecutionIn(all[1]) + ExecutionIn(all[2]) + ExecutionIn(all[3]),
            "e1e1e1e2");
  EXPECT_EQ(all[0].Header("webhook-id"), all[2].Header("webhook-id"));
  EXPECT_NE(all[2].Header("webhook-id"), all[3].Header("webhook-id"));
  EXPECT_TRUE(tests::Eventually([&] { return webhooks.counters()[0].delivered == 2; }));
  EXPECT_EQ(webhooks.counters()[0].failed, 2u);
  EXPECT_EQ(webhooks.counters()[0].dropped, 0u);
  ASSERT_EQ(failures().size(), 2u);
  EXPECT_EQ(failures()[1].attempts, 2u);
  EXPECT_FALSE(failures()[1].dropped);
  EXPECT_EQ(failures()[0].why, "HTTP status 503");
}

TEST_F(WebhooksTest, AReceiverLearnsOfWhatWasDropped) {
  receiver_.Answer([](size_t number) { return number <= 2 ? kBusy : kTaken; });
  WebhookConfig config = Config();
  config.attempts = 2;
  Webhooks& webhooks = Start({config});
  Publish("e1");
  Publish("e2");
  const std::vector<Arrived> all = receiver_.Get(4);
  EXPECT_EQ(TypeOf(all[2]), "gap");
  EXPECT_EQ(Json::parse(all[2].body)["data"], Json({{"cause", "slow"}, {"missed", 1}}));
  EXPECT_EQ(ExecutionIn(all[3]), "e2");
  EXPECT_TRUE(tests::Eventually([&] { return webhooks.counters()[0].delivered == 2; }));
  EXPECT_EQ(webhooks.counters()[0].dropped, 1u);
  EXPECT_TRUE(failures().back().dropped);
}

TEST_F(WebhooksTest, RedirectsAreNotFollowed) {
  Receiver other;
  // By value: the receiver outlives this function.
  receiver_.Answer([url = other.url()](size_t) {
    return "HTTP/1.1 307 Temporary Redirect\r\nLocation: " + url + "\r\nContent-Length: 0\r\n\r\n";
  });
  WebhookConfig config = Config();
  config.attempts = 1;
  Webhooks& webhooks = Start({config});
  Publish("e1");
  EXPECT_TRUE(tests::Eventually([&] { return webhooks.counters()[0].dropped >= 1; }));
  EXPECT_EQ(failures()[0].why, "HTTP status 307");
  EXPECT_EQ(other.count(), 0u);
}

TEST_F(WebhooksTest, AReceiverThatIsGoneGetsNoMore) {
  receiver_.Answer([](size_t) { return "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n"; });
  Webhooks& webhooks = Start({Config()});
  Publish("e1");
  EXPECT_TRUE(tests::Eventually([&] { return webhooks.counters()[0].dropped == 1; }));
  Publish("e2");
  std::this_thread::sleep_for(milliseconds(100));  // sleeps: it would come
  EXPECT_EQ(receiver_.count(), 1u);
  EXPECT_EQ(webhooks.counters()[0].waiting, 0u);
}

TEST_F(WebhooksTest, AnEndpointThatHangsDelaysNoOther) {
  Receiver silent;
  silent.Answer([](size_t) { return "silence"; });
  WebhookConfig hanging = Config("silent");
  hanging.url = silent.url();
  hanging.timeout = milliseconds(200);
  hanging.attempts = 1;
  Webhooks& webhooks = Start({hanging, Config("quick")});
  const auto start = steady_clock::now();
  for (int i = 0; i < 5; ++i) Publish("e" + std::to_string(i));
  receiver_.Get(5);
  EXPECT_TRUE(tests::Eventually([&] { return webhooks.counters()[0].failed >= 1; }));
  EXPECT_GE(steady_clock::now() - start, milliseconds(200));
  EXPECT_NE(failures()[0].why.find("ETIMEDOUT"), std::string::npos) << failures()[0].why;
}

TEST_F(WebhooksTest, GarbageIsNoAnswer) {
  receiver_.Answer([](size_t) { return "220 mail.example ESMTP\r\n\r\n"; });
  WebhookConfig config = Config();
  config.attempts = 1;
  Start({config});
  Publish("e1");
  EXPECT_TRUE(tests::Eventually([&] { return !failures().empty(); }));
  EXPECT_EQ(failures()[0].why, "read the response: it is not one of HTTP/1.1");
}

TEST_F(WebhooksTest, WhatWaitsIsBoundedAndTheOldestGoFirst) {
  std::promise<void> go_on;
  std::shared_future<void> may_go_on = go_on.get_future();
  receiver_.Answer([&](size_t number) {
    if (number == 1) may_go_on.wait();
    return kTaken;
  });
  WebhookConfig config = Config();
  config.timeout = seconds(60);
  Webhooks& webhooks = Start({config});
  Publish("first");
  receiver_.Get(1);
  const int more = static_cast<int>(Webhooks::kMaxWaiting) + 10;
  for (int i = 0; i < more; ++i) Publish(std::to_string(i));
  EXPECT_EQ(webhooks.counters()[0].waiting, Webhooks::kMaxWaiting);
  EXPECT_EQ(webhooks.counters()[0].dropped, 10u);
  go_on.set_value();
  const std::vector<Arrived> all = receiver_.Get(3);
  EXPECT_EQ(Json::parse(all[1].body)["data"]["missed"], 10);
  EXPECT_EQ(ExecutionIn(all[2]), "10");
}

TEST_F(WebhooksTest, TheEndDeliversWhatIsThereButDoesNotWaitForTheDead) {
  Webhooks& webhooks = Start({Config()});
  for (int i = 0; i < 50; ++i) Publish("e" + std::to_string(i));
  webhooks.Finish(steady_clock::now() + seconds(20));
  EXPECT_EQ(receiver_.count(), 50u);
  receiver_.Answer([](size_t) { return kBusy; });
  EventHub hub({});
  auto dead = Webhooks::Start(hub, {Config()}, {});
  ASSERT_TRUE(dead);
  hub.Publish("a", ExecutionStarted{"e", "t"});
  (*dead)->Finish(steady_clock::now() + std::chrono::hours(1));  // longer than a test may take
  dead->reset();
}

// --- where it may go -----------------------------------------------------------------------------

std::string WrongUrl(const std::string& url, const std::vector<std::string>& allowed = {}) {
  const core::Result<HttpTarget> target = HttpTarget::Parse(url, allowed);
  return target ? "" : target.error().detail;
}

TEST(HttpTargets, AreThisMachineOrWhatTheOperatorNames) {
  for (const char* good : {"http://127.0.0.1", "http://127.9.9.9:8080/a?b=c", "http://[::1]:9/x",
                           "http://localhost:8080/", "http://relay.internal/"}) {
    EXPECT_EQ(WrongUrl(good), "") << good;
  }
  EXPECT_EQ(WrongUrl("http://10.1.2.3/hook", {"10.1.0.0/16"}), "");
  EXPECT_EQ(WrongUrl("http://[fd00::1]/hook", {"fd00::/8"}), "");
  for (const char* bad :
       {"http://10.1.2.3/hook", "http://192.0.2.1/", "http://169.254.169.254/", "http://0.0.0.0/",
        "http://[::]/", "http://[::ffff:10.0.0.1]/", "http://8.8.8.8/"}) {
    EXPECT_NE(WrongUrl(bad).find("is not an address of this machine"), std::string::npos) << bad;
  }
  EXPECT_EQ(WrongUrl("http://[::ffff:127.0.0.1]/"), "");
  // With TLS anywhere: the certificate says who it is.
  for (const char* good :
       {"https://example.org/", "https://10.1.2.3:8443/hook", "https://[::1]/x"}) {
    EXPECT_EQ(WrongUrl(good), "") << good;
  }
  EXPECT_EQ(HttpTarget::Parse("https://example.org/", {})->port, 443);
  for (const char* bad :
       {"", "http://", "ftp://127.0.0.1/", "127.0.0.1:8080", "http://user:pass@127.0.0.1/",
        "http://127.1/", "http://0x7f000001/", "http://127.0.0.1:0/", "http://127.0.0.1:99999/",
        "http://127.0.0.1/a b", "http://127.0.0.1/#x", "https://", "https://user@example.org/",
        "HTTPS://example.org/", "http://127.0.0.1/\r\nX: y", "http://[::1/", "http://::1/"}) {
    EXPECT_NE(WrongUrl(bad), "") << bad;
  }
  EXPECT_NE(WrongUrl("http://127.0.0.1/", {"10.0.0.0/99"}), "");
  const core::Result<HttpTarget> target = HttpTarget::Parse("http://LOCALHOST:8080?x=1", {});
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/?x=1");
  EXPECT_EQ(target->port, 8080);
}

TEST(HttpTargets, NamesAreResolvedAndTheirAddressesChecked) {
  Receiver receiver;
  const std::string port = receiver.url().substr(receiver.url().rfind(':') + 1);
  core::Result<HttpTarget> target = HttpTarget::Parse("http://localhost:" + port, {});
  ASSERT_TRUE(target);
  HttpPost post(*target);
  const Cancellation stop;
  const core::Result<unsigned> status =
      post.Send({}, "{}", steady_clock::now() + seconds(20), stop);
  ASSERT_TRUE(status) << status.error().ToString();
  EXPECT_EQ(*status, 204u);
  EXPECT_EQ(receiver.Get(1)[0].Header("Host"), "localhost:" + port.substr(0, port.find('/')));
}

TEST(HttpTargets, AStoppedAttemptEndsAtOnce) {
  Receiver receiver;
  receiver.Answer([](size_t) { return "silence"; });
  HttpPost post(*HttpTarget::Parse(receiver.url(), {}));
  Cancellation stop;
  std::thread stopper([&] {
    receiver.Get(1);
    stop.Cancel();
  });
  const core::Result<unsigned> status =
      post.Send({}, "{}", steady_clock::now() + seconds(60), stop);
  stopper.join();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().error_number, ECANCELED);
}

// --- what libcurl must not do --------------------------------------------------------------------

core::Result<unsigned> SendTo(const std::string& url, milliseconds timeout = seconds(20)) {
  HttpPost post(*HttpTarget::Parse(url, {}));
  return post.Send({{"Content-Type", "application/json"}}, "{}", steady_clock::now() + timeout, {});
}

std::string Repeated(std::string_view text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  ~Variable() { unsetenv(name_); }

 private:
  const char* const name_;
};

TEST(HttpPosts, AddNoHeaderOfTheLibrarysOwn) {
  Receiver receiver;
  ASSERT_EQ(*SendTo(receiver.url("/a/../b?c=%2F")), 204u);
  const std::string host = receiver.url("").substr(std::string("http://").size());
  EXPECT_EQ(receiver.Get(1)[0].head,
            "POST /a/../b?c=%2F HTTP/1.1\r\nHost: " + host +
                "\r\nConnection: close\r\nContent-Type: application/json\r\n"
                "Content-Length: 2\r\n");
}

TEST(HttpPosts, RedirectsToOtherProtocolsAreNotFollowed) {
  for (const char* location : {"file:///etc/hostname", "ftp://127.0.0.1/", "gopher://127.0.0.1/"}) {
    Receiver receiver;
    receiver.Answer([location](size_t) {
      return std::string("HTTP/1.1 302 Found\r\nLocation: ") + location + "\r\n\r\n";
    });
    EXPECT_EQ(*SendTo(receiver.url()), 302u);
    EXPECT_EQ(receiver.count(), 1u);
  }
}

TEST(HttpPosts, AProxyOfTheEnvironmentIsNotUsed) {
  Receiver proxy, receiver;
  const Variable http("http_proxy", proxy.url("")), all("ALL_PROXY", proxy.url("")),
      none("no_proxy", "");
  EXPECT_EQ(*SendTo(receiver.url()), 204u);
  EXPECT_EQ(receiver.count(), 1u);
  EXPECT_EQ(proxy.count(), 0u);
}

TEST(HttpPosts, ABodyIsNotWaitedFor) {
  Receiver receiver;
  receiver.KeepOpen();
  for (const char* fields : {"Content-Length: 1000000000000\r\n", "Transfer-Encoding: chunked\r\n",
                             "Content-Encoding: gzip\r\n", ""}) {
    receiver.Answer([fields](size_t) {
      return std::string("HTTP/1.1 200 OK\r\n") + fields + "\r\n" + std::string(100'000, 'x');
    });
    EXPECT_EQ(*SendTo(receiver.url()), 200u) << fields;
  }
}

TEST(HttpPosts, AHeadWithoutAnEndIsRefused) {
  Receiver receiver;
  receiver.Answer([](size_t number) {
    return number == 1   ? "HTTP/1.1 200 OK\r\n" + Repeated("X: y\r\n", 200'000)
           : number == 2 ? Repeated("HTTP/1.1 103 Early Hints\r\n\r\n", 50'000)
                         : "HTTP/1.1 200 OK\r\nX: " + Repeated("x", 1 << 20);
  });
  for (int i = 0; i < 2; ++i) {
    const core::Result<unsigned> status = SendTo(receiver.url());
    ASSERT_FALSE(status) << *status;
    EXPECT_EQ(status.error().ToString(), "read the response: it is not one of HTTP/1.1");
  }
  // A line beyond 100 kB, which libcurl itself refuses, each version in its own words.
  EXPECT_FALSE(SendTo(receiver.url()));
}

TEST(HttpPosts, TheLastOfSeveralHeadsCounts) {
  Receiver receiver;
  receiver.Answer([](size_t) {
    return "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 500 Broken\r\n\r\n";
  });
  EXPECT_EQ(*SendTo(receiver.url()), 500u);
}

TEST(HttpPosts, AnEndpointThatNeverAnswersEndsAtTheDeadline) {
  Receiver receiver;
  receiver.KeepOpen();
  receiver.Answer([](size_t) { return ""; });
  const core::Result<unsigned> status = SendTo(receiver.url(), milliseconds(200));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().error_number, ETIMEDOUT);
}

TEST(HttpPosts, AnEndpointThatClosesOrIsNotThereSaysSo) {
  Receiver receiver;
  receiver.Answer([](size_t) { return ""; });
  EXPECT_EQ(SendTo(receiver.url()).error().error_number, ECONNRESET);
  std::string url;
  {
    const Receiver gone;
    url = gone.url();
  }
  EXPECT_EQ(SendTo(url).error().error_number, ECONNREFUSED);
}

// Whatever a name resolves to: the last word is said where a socket is made.
TEST(HttpPosts, WithoutTlsNoSocketLeadsElsewhere) {
  HttpTarget target = *HttpTarget::Parse("http://127.0.0.1:9/", {});
  target.host = *egress::HostName::Parse("192.0.2.1");
  HttpPost post(target);
  const core::Result<unsigned> status = post.Send({}, "", steady_clock::now() + seconds(20), {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().operation, "connect to 192.0.2.1");
  EXPECT_NE(status.error().detail.find("no address of this machine"), std::string::npos);
}

TEST(HttpPosts, NoProgramInheritsADescriptor) {
  Receiver receiver;
  std::promise<std::string> seen;
  receiver.Answer([&](size_t) {
    std::string inherited;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      const int fd = std::stoi(entry.path().filename());
      const int flags = fcntl(fd, F_GETFD);
      if (fd > STDERR_FILENO && flags >= 0 && (flags & FD_CLOEXEC) == 0) {
        inherited += std::filesystem::read_symlink(entry.path()).string() + " ";
      }
    }
    seen.set_value(inherited);
    return kTaken;
  });
  EXPECT_EQ(*SendTo(receiver.url()), 204u);
  EXPECT_EQ(seen.get_future().get(), "");
}

// --- traces --------------------------------------------------------------------------------------

constexpr char kParent[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

class TracesTest : public WebhooksTest {
 protected:
  TraceExporter& Start() {
    TracingConfig config;
    config.endpoint = receiver_.url("/base/");
    auto started =
        TraceExporter::Start(hub_, config, [this](const std::string& why, unsigned, bool lost) {
          const std::lock_guard lock(mutex_);
          failures_.push_back({"", "", why, 0, lost});
        });
    if (!started) {
      ADD_FAILURE() << started.error().ToString();
      std::abort();
    }
    traces_ = std::move(*started);
    return *traces_;
  }
  void Execute(const std::string& id, const std::string& traceparent = "") {
    hub_.Publish("a", ExecutionSubmitted{id, "execute_code", traceparent});
    hub_.Publish("a", ExecutionStarted{id, "execute_code"});
    hub_.Publish("a", ExecutionLimit{id, "timeout", ""});
    hub_.Publish("a", ExecutionEnded{.execution = id, .status = "timeout"});
  }
  std::unique_ptr<TraceExporter> traces_;
};

TEST_F(TracesTest, ASpanOfEachExecutionContinuesItsClientsTrace) {
  TraceExporter& traces = Start();
  Execute("e1", kParent);
  Execute("e2");
  Execute("e3", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00");  // not sampled
  Execute("e4", "nonsense");
  traces.Finish(steady_clock::now() + seconds(20));
  const std::vector<Arrived> all = receiver_.Get(1);
  EXPECT_TRUE(all[0].head.starts_with("POST /base/v1/traces HTTP/1.1\r\n")) << all[0].head;
  const Json resource = Json::parse(all[0].body)["resourceSpans"][0];
  EXPECT_EQ(resource["resource"]["attributes"][0],
            Json::parse(R"({"key":"service.name","value":{"stringValue":"belljar"}})"));
  const Json spans = resource["scopeSpans"][0]["spans"];
  ASSERT_EQ(spans.size(), 3u);
  const Json& first = spans[0];
  EXPECT_EQ(first["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(first["parentSpanId"], "00f067aa0ba902b7");
  EXPECT_EQ(first["spanId"].get<std::string>().size(), 16u);
  EXPECT_EQ(first["name"], "execute_code");
  EXPECT_EQ(first["kind"], 2);
  EXPECT_EQ(first["status"]["code"], 2);
  EXPECT_EQ(first["events"][0]["name"], "execution.started");
  EXPECT_EQ(first["events"][1]["name"], "execution.limit");
  EXPECT_LE(std::stoull(first["startTimeUnixNano"].get<std::string>()),
            std::stoull(first["endTimeUnixNano"].get<std::string>()));
  EXPECT_NE(
      first["attributes"].dump().find(R"({"key":"belljar.token","value":{"stringValue":"a"}})"),
      std::string::npos)
      << first["attributes"];
  EXPECT_FALSE(spans[1].contains("parentSpanId"));
  EXPECT_EQ(spans[1]["traceId"].get<std::string>().size(), 32u);
  EXPECT_NE(spans[1]["traceId"], spans[2]["traceId"]);
  EXPECT_EQ(traces.counters().exported, 3u);
}

TEST_F(TracesTest, ACollectorThatIsBusyIsAskedAgainAndOneThatRefusesIsNot) {
  receiver_.Answer([](size_t number) {
    return number == 1   ? kBusy
           : number == 2 ? kTaken
                         : "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
  });
  TraceExporter& traces = Start();
  Execute("e1");
  receiver_.Get(2);
  EXPECT_TRUE(tests::Eventually([&] { return traces.counters().exported == 1; }));
  Execute("e2");
  receiver_.Get(3);
  EXPECT_TRUE(tests::Eventually([&] { return traces.counters().dropped == 1; }));
  EXPECT_FALSE(failures()[0].dropped);
  EXPECT_TRUE(failures()[1].dropped);
  EXPECT_EQ(failures()[1].why, "HTTP status 400");
}

TEST(Services, AreOnlyWhatIsConfigured) {
  ServerConfig config;
  const auto open = [&] {
    auto service = EventService::Open(config, "1", [](const EventService::Failure&) {});
    EXPECT_TRUE(service);
    return std::move(*service);
  };
  EXPECT_EQ(open()->observer(), nullptr);  // stdio
  config.http.emplace();
  EXPECT_NE(open()->observer(), nullptr);
  EXPECT_EQ(open()->handlers().size(), 1u);
  config.events.enabled = false;
  EXPECT_EQ(open()->observer(), nullptr);
  config.tracing.endpoint = "http://127.0.0.1:4318";
  EXPECT_NE(open()->observer(), nullptr);
  EXPECT_TRUE(open()->handlers().empty());
  EXPECT_TRUE(open()->figures().spans);
}

}  // namespace
}  // namespace belljar::server::events::webhooks_test
