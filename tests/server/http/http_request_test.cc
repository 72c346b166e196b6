// What is decided about a request before anything is done with it; without sockets.
#include <gtest/gtest.h>

#include <boost/beast/http/message.hpp>
#include <string>
#include <vector>

#include "engine/host/base64.h"
#include "engine/http1/request_reader.h"
#include "server/http/host_check.h"
#include "server/http/request_check.h"
#include "server/http/response.h"
#include "server/http/tokens.h"

namespace belljar::server::http::http_request_test {
namespace {

namespace http = boost::beast::http;
using std::chrono::seconds;
using Stage = http1::RequestReader::Stage;

constexpr size_t kMaxHead = 4096;
constexpr size_t kMaxBody = 1000;

struct ReadResult {
  Stage stage;
  unsigned status = 0;  // of a failure
  std::string body;
  std::string rest;  // not used up
};

// Feeds `input` in parts of `step` bytes, as a connection would.
ReadResult ReadAllOf(std::string_view input, size_t step) {
  http1::RequestReader reader(kMaxHead);
  std::string waiting;
  while (true) {
    const size_t used = reader.Take(waiting);
    waiting.erase(0, used);
    if (reader.stage() == Stage::kHeadRead) {
      reader.ReadBody(kMaxBody);
      continue;
    }
    if (reader.stage() == Stage::kDone || reader.stage() == Stage::kFailed || input.empty()) break;
    waiting += input.substr(0, step);
    input.remove_prefix(std::min(step, input.size()));
  }
  ReadResult result{reader.stage(), 0, "", waiting + std::string(input)};
  if (reader.stage() == Stage::kDone) result.body = reader.body();
  if (reader.stage() == Stage::kFailed) result.status = reader.failure().status;
  return result;
}

std::string Head(std::string_view lines) {
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + std::string(lines) + "\r\n";
}

void ExpectBody(const std::string& request, const std::string& body, const std::string& rest = "") {
  for (size_t step : {request.size(), size_t{1}, size_t{2}, size_t{7}}) {
    const ReadResult result = ReadAllOf(request, step);
    ASSERT_EQ(result.stage, Stage::kDone) << result.status << " in steps of " << step;
    EXPECT_EQ(result.body, body);
    EXPECT_EQ(result.rest, rest);
  }
}

void ExpectFailure(const std::string& request, unsigned status) {
  for (size_t step : {request.size(), size_t{1}, size_t{3}}) {
    const ReadResult result = ReadAllOf(request, step);
    EXPECT_EQ(result.stage, Stage::kFailed) << request.substr(0, 200);
    EXPECT_EQ(result.status, status) << request.substr(0, 200);
  }
}

TEST(RequestReaderTest, ReadsBodiesOfAKnownLength) {
  ExpectBody(Head("Content-Length: 5\r\n") + "hello", "hello");
  ExpectBody(Head(""), "");
  ExpectBody(Head("Content-Length: 0\r\n") + "GET /next", "", "GET /next");
  ExpectBody("\r\n\r\n" + Head("Content-Length: 2\r\n") + "{}", "{}");
}

TEST(RequestReaderTest, ReadsChunkedBodies) {
  const std::string head = Head("Transfer-Encoding: chunked\r\n");
  ExpectBody(head + "5\r\nhello\r\n0\r\n\r\n", "hello");
  ExpectBody(head + "1;name=value\r\nh\r\n4\r\nello\r\n0\r\n\r\nPOST", "hello", "POST");
  ExpectBody(head + "5\r\nhello\r\n0\r\nTrailer: x\r\n\r\n", "hello");
  ExpectBody(head + "0\r\n\r\n", "");
}

TEST(RequestReaderTest, RefusesChunksThatAreNotWellFormed) {
  const std::string head = Head("Transfer-Encoding: chunked\r\n");
  ExpectFailure(head + "5\nhello\n0\n\n\r\n\r\n", 400);
  ExpectFailure(head + "x\r\nhello\r\n0\r\n\r\n", 400);
  ExpectFailure(head + "-5\r\nhello\r\n0\r\n\r\n", 400);
  ExpectFailure(head + "5\r\nhello!\r\n0\r\n\r\n", 400);
  ExpectFailure(head + "5 \rx\r\nhello\r\n0\r\n\r\n", 400);
  ExpectFailure(head + "1;" + std::string(40'000, 'x'), 400);
}

TEST(RequestReaderTest, RefusesBodiesPastTheLimit) {
  ExpectBody(Head("Content-Length: 1000\r\n") + std::string(1000, 'x'), std::string(1000, 'x'));
  ExpectFailure(Head("Content-Length: 1001\r\n"), 413);
  ExpectFailure(Head("Content-Length: 18446744073709551615\r\n"), 413);
  const std::string head = Head("Transfer-Encoding: chunked\r\n");
  ExpectFailure(head + "3e9\r\n", 413);
  ExpectFailure(head + "ffffffffffffffff\r\n", 413);
  std::string many = head;
  for (int i = 0; i < 101; ++i) many += "a\r\n0123456789\r\n";
  ExpectFailure(many, 413);
}

TEST(RequestReaderTest, RefusesHeadsThatServersReadDifferently) {
  ExpectFailure("POST /mcp HTTP/1.1\nHost: localhost\n\n", 400);
  ExpectFailure("POST /mcp HTTP/1.1\r\nHost: localhost\r\nA: b\nC: d\r\n\r\n", 400);
  ExpectFailure("POST /mcp HTTP/1.1\r\nHost: localhost\r\nA: b\rC: d\r\n\r\n", 400);
  ExpectFailure("POST /mcp HTTP/1.1\r\nHost: localhost\r\nA: b\r\n c\r\n\r\n", 400);
  ExpectFailure("POST /mcp HTTP/1.1\r\nHost: localhost\r\nA: b\r\n\tc\r\n\r\n", 400);
  ExpectFailure(Head("A: b" + std::string(1, '\0') + "c\r\n"), 400);
  ExpectFailure("POST /mcp HTTP/1.1\r\nHost : localhost\r\n\r\n", 400);
  ExpectFailure("POST /mcp HTTP/1.1\r\n: localhost\r\n\r\n", 400);
  ExpectFailure("POST  /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", 400);
  ExpectFailure("POST /mcp HTTP/2.0\r\nHost: localhost\r\n\r\n", 400);
  ExpectFailure("POST /mcp\r\nHost: localhost\r\n\r\n", 400);
  ExpectFailure("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400);
  ExpectFailure("\x16\x03\x01\x02\r\n\r\n", 400);
  ExpectFailure(Head("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400);
  ExpectFailure(Head("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), 400);
  ExpectFailure(Head("Content-Length: 5\r\nContent-Length: 6\r\n"), 400);
  ExpectFailure(Head("Content-Length: -1\r\n"), 400);
  ExpectFailure(Head("Content-Length: 1x\r\n"), 400);
  ExpectFailure(Head("Content-Length: 18446744073709551616\r\n"), 400);
}

TEST(RequestReaderTest, RefusesLongHeads) {
  ExpectFailure(Head("A: " + std::string(kMaxHead, 'x') + "\r\n"), 431);
  ExpectFailure("GET /" + std::string(2 * kMaxHead, 'x'), 431);
  const std::string fits =
      Head("A: " + std::string(kMaxHead - Head("A: \r\n").size(), 'x') + "\r\n");
  ASSERT_EQ(fits.size(), kMaxHead);
  ExpectBody(fits, "");
}

// --- what is allowed -------------------------------------------------------------------------

TEST(HostRulesTest, KnowsHostsAndPorts) {
  EXPECT_EQ(HostWithoutPort("example.com:80"), "example.com");
  EXPECT_EQ(HostWithoutPort("[::1]:9015"), "[::1]");
  EXPECT_EQ(HostWithoutPort("127.0.0.1"), "127.0.0.1");
  for (const char* bad : {"", ":80", "a b", "a/b", "a@b", "localhost:80@evil", "a:b", "a:123456",
                          "[::1", "[::g]", "::1", "localhost\x80", "[::1]x", "a,b"}) {
    EXPECT_EQ(HostWithoutPort(bad), std::nullopt) << bad;
  }
}

TEST(HostRulesTest, AllowsLoopbackItsAddressAndNamedHosts) {
  HostRules rules("192.0.2.7", {"belljar.example", "ported.example:8443", "2001:db8::1"}, {});
  for (const char* host :
       {"localhost", "LOCALHOST:1", "127.0.0.1:9015", "127.9.9.9", "[::1]", "[::1]:9015",
        "192.0.2.7:9015", "Belljar.example:1", "ported.example:8443", "[2001:db8::1]:80"}) {
    EXPECT_TRUE(rules.AllowsHost(host)) << host;
  }
  for (const char* host :
       {"evil.example", "localhost.evil.example", "localhost.", "127.0.0.1.evil.example",
        "192.0.2.8", "ported.example", "ported.example:80", "0.0.0.0", "0x7f.1", "2130706433",
        "[::ffff:127.0.0.1]", "[::]", "", "*"}) {
    EXPECT_FALSE(rules.AllowsHost(host)) << host;
  }
  HostRules any("0.0.0.0", {"*"}, {});
  EXPECT_TRUE(any.AllowsHost("evil.example"));
  EXPECT_FALSE(any.AllowsHost("not a host"));
}

TEST(HostRulesTest, AllowsOriginsOfThisMachineAndNamedOnes) {
  using Origin = HostRules::Origin;
  HostRules rules("127.0.0.1", {}, {"https://app.example"});
  EXPECT_EQ(rules.CheckOrigin("http://localhost:6274"), Origin::kAllowed);
  EXPECT_EQ(rules.CheckOrigin("https://127.0.0.1"), Origin::kAllowed);
  EXPECT_EQ(rules.CheckOrigin("http://[::1]:80"), Origin::kAllowed);
  EXPECT_EQ(rules.CheckOrigin("https://app.example"), Origin::kNamed);
  for (const char* origin :
       {"null", "", "https://evil.example", "http://app.example", "https://app.example:8443",
        "http://localhost.evil.example", "http://localhost/", "http://evil@localhost", "localhost",
        "file://localhost", "://localhost", "https://app.example.evil.example"}) {
    EXPECT_EQ(rules.CheckOrigin(origin), Origin::kRefused) << origin;
  }
  HostRules any("127.0.0.1", {}, {"*"});
  EXPECT_EQ(any.CheckOrigin("https://evil.example"), Origin::kNamed);
  EXPECT_EQ(any.CheckOrigin("null"), Origin::kRefused);
}

TokenConfig MakeToken(std::string name, std::string secret) {
  TokenConfig token;
  token.secret = std::move(secret);
  token.caller.name = std::move(name);
  return token;
}

Tokens MakeTokens(const std::vector<TokenConfig>& configs) {
  core::Result<Tokens> tokens = Tokens::Make(configs);
  EXPECT_TRUE(tokens) << tokens.error().ToString();
  return std::move(*tokens);
}

TEST(TokensTest, FindsTheTokenThatWasSent) {
  const std::string a(32, 'a'), b(512, 'b');
  Tokens tokens = MakeTokens({MakeToken("ann", a), MakeToken("bob", b)});
  EXPECT_EQ(tokens.Check("Bearer " + a).token, 0u);
  EXPECT_EQ(tokens.Check("bearer   " + b).token, 1u);
  EXPECT_EQ(tokens.caller(1).name, "bob");
  for (const std::string& wrong :
       {"Bearer " + a + "a", "Bearer " + a.substr(1), "Bearer " + b + "b", std::string("Bearer "),
        "Bearer " + a.substr(1) + "b", "Bearer " + a + std::string(1, '\0'),
        "Bearer " + std::string(5000, 'a')}) {
    EXPECT_TRUE(tokens.Check(wrong).was_sent) << wrong;
    EXPECT_EQ(tokens.Check(wrong).token, std::nullopt) << wrong;
  }
  EXPECT_EQ(tokens.Check("Basic " + host::EncodeBase64("any:" + b)).token, 1u);
  EXPECT_EQ(tokens.Check("basic  " + host::EncodeBase64(":" + a)).token, 0u);
  for (const std::string& wrong : {"any:" + a + "a", a + ":", std::string(":"), "x:" + a + ":"}) {
    EXPECT_TRUE(tokens.Check("Basic " + host::EncodeBase64(wrong)).was_sent) << wrong;
    EXPECT_EQ(tokens.Check("Basic " + host::EncodeBase64(wrong)).token, std::nullopt) << wrong;
  }
  for (const std::string& other : {"Basic " + a, "Basic " + host::EncodeBase64(a), "Basic any:" + a,
                                   std::string("Basic "), a, std::string("Bearer"), "Bearer" + a}) {
    EXPECT_FALSE(tokens.Check(other).was_sent) << other;
    EXPECT_EQ(tokens.Check(other).token, std::nullopt) << other;
  }
  EXPECT_EQ(tokens.Check(std::nullopt).token, std::nullopt);
}

TEST(TokensTest, TakesEitherHeaderAndBothIfTheyAgree) {
  const std::string a(32, 'a'), b(512, 'b'), wrong(32, 'c');
  Tokens tokens = MakeTokens({MakeToken("ann", a), MakeToken("bob", b)});
  EXPECT_EQ(tokens.Check(std::nullopt, a).token, 0u);
  EXPECT_EQ(tokens.Check("Bearer " + b, b).token, 1u);
  EXPECT_EQ(tokens.Check("Basic " + host::EncodeBase64("any:" + a), a).token, 0u);
  for (const std::string& text :
       {wrong, std::string(), "Bearer " + a, a + " ", std::string(5000, 'a')}) {
    EXPECT_TRUE(tokens.Check(std::nullopt, text).was_sent) << text;
    EXPECT_EQ(tokens.Check(std::nullopt, text).token, std::nullopt) << text;
  }
  const std::pair<std::string, std::string> conflicts[] = {
      {"Bearer " + a, b},     {"Bearer " + b, a},        {"Bearer " + a, wrong},
      {"Bearer " + wrong, a}, {"Digest whatever", a},    {"", a},
      {"Bearer " + a, ""},    {"Basic not base64!!", a},
  };
  for (const auto& [authorization, auth_token] : conflicts) {
    const Tokens::Presented presented = tokens.Check(authorization, auth_token);
    EXPECT_TRUE(presented.is_ambiguous) << authorization;
    EXPECT_EQ(presented.token, std::nullopt) << authorization;
  }
}

TEST(TokensTest, RefusesTokensThatCannotBeUsedAndTellsNoneOfThem) {
  for (const std::string& secret :
       {std::string(), std::string(31, 'x'), std::string(513, 'x'), std::string(40, 'x') + " ",
        "\xc3\xa9" + std::string(40, 'x')}) {
    core::Result<Tokens> tokens = Tokens::Make({MakeToken("ann", secret)});
    ASSERT_FALSE(tokens);
    EXPECT_NE(tokens.error().ToString().find("ann"), std::string::npos);
    EXPECT_EQ(tokens.error().ToString().find("xxx"), std::string::npos);
  }
}

TEST(TokensTest, LimitsTheRateOfEachToken) {
  TokenConfig config = MakeToken("ann", std::string(32, 'a'));
  config.caller.rate = 0.5;
  config.caller.burst = 2;
  Tokens tokens = MakeTokens({config, MakeToken("bob", std::string(32, 'b'))});
  Tokens::Clock::time_point now{};
  EXPECT_EQ(tokens.Take(0, now), std::nullopt);
  EXPECT_EQ(tokens.Take(0, now), std::nullopt);
  EXPECT_EQ(tokens.Take(0, now), seconds(2));
  EXPECT_EQ(tokens.Take(0, now + seconds(1)), seconds(1));
  EXPECT_EQ(tokens.Take(0, now + seconds(2)), std::nullopt);
  EXPECT_EQ(tokens.Take(0, now + seconds(2)), seconds(2));
  // No more is saved up than the burst.
  EXPECT_EQ(tokens.Take(0, now + seconds(1000)), std::nullopt);
  EXPECT_EQ(tokens.Take(0, now + seconds(1000)), std::nullopt);
  EXPECT_EQ(tokens.Take(0, now + seconds(1000)), seconds(2));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(tokens.Take(1, now), std::nullopt);
}

TEST(TokensTest, ContinuesTheRateOfATokenThatStays) {
  TokenConfig config = MakeToken("ann", std::string(32, 'a'));
  config.caller.rate = 0.5;
  config.caller.burst = 3;
  Tokens before = MakeTokens({MakeToken("bob", std::string(32, 'b')), config});
  Tokens::Clock::time_point now{};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(before.Take(1, now), std::nullopt);
  config.secret = std::string(32, 'c');
  TokenConfig other = config;
  other.secret = std::string(32, 'd');
  other.caller.name = "new";
  Tokens after = MakeTokens({config, other});
  after.ContinueRates(before);
  EXPECT_EQ(after.Take(0, now), seconds(2));
  EXPECT_EQ(after.Take(1, now), std::nullopt);
  // A smaller burst holds at once.
  config.caller.burst = 1;
  Tokens smaller = MakeTokens({config});
  Tokens full = MakeTokens({other});
  smaller.ContinueRates(MakeTokens({other}));
  EXPECT_EQ(smaller.Take(0, now), std::nullopt);
  EXPECT_EQ(smaller.Take(0, now), seconds(2));
}

// --- the decision ----------------------------------------------------------------------------

using Fields = std::vector<std::pair<std::string, std::string>>;

Verdict Decide(http::verb method, const std::string& target, const Fields& fields,
               const Tokens& tokens = {}, unsigned version = 11) {
  HostRules hosts("127.0.0.1", {}, {"https://app.example"});
  http::request_header<> head;
  head.method(method);
  head.target(target);
  head.version(version);
  for (const auto& [name, value] : fields) head.insert(name, value);
  return CheckRequest(hosts, tokens, Router(), head);
}

unsigned StatusOf(const Verdict& verdict) {
  return verdict.action == Verdict::Action::kRefuse ? verdict.refusal.status : 0;
}

Verdict PostWith(Fields fields) {
  Fields all = {{"Host", "localhost"}, {"Content-Type", "application/json"}};
  all.insert(all.end(), fields.begin(), fields.end());
  return Decide(http::verb::post, "/mcp", all);
}

TEST(RequestCheckTest, TakesMessages) {
  const Verdict verdict = PostWith({{"MCP-Protocol-Version", "2026-07-28"},
                                    {"mcp-method", "tools/call"},
                                    {"MCP-NAME", "execute_code"},
                                    {"Mcp-Session-Id", "abc"}});
  EXPECT_EQ(verdict.action, Verdict::Action::kMessage) << verdict.refusal.message;
  EXPECT_EQ(verdict.headers.protocol_version, "2026-07-28");
  EXPECT_EQ(verdict.headers.method, "tools/call");
  EXPECT_EQ(verdict.headers.name, "execute_code");
  EXPECT_EQ(verdict.conversation, "abc");
  const Verdict bare = PostWith({});
  EXPECT_EQ(bare.headers.protocol_version, std::nullopt);
  EXPECT_EQ(bare.headers.method, std::nullopt);
  EXPECT_TRUE(bare.accepts_json && bare.accepts_stream);
}

TEST(RequestCheckTest, RefusesRepeatedHeaders) {
  for (const char* name :
       {"Host", "Content-Type", "Origin", "Authorization", "MCP-Protocol-Version", "Mcp-Method",
        "mcp-name", "Mcp-Session-Id", "Content-Encoding", "Content-Length", "Expect"}) {
    EXPECT_EQ(StatusOf(PostWith({{name, "1"}, {name, "1"}})), 400u) << name;
  }
}

TEST(RequestCheckTest, RefusesLengthsThatCanBeReadTwoWays) {
  EXPECT_EQ(StatusOf(PostWith({{"Content-Length", "5, 5"}})), 400u);
  EXPECT_EQ(StatusOf(PostWith({{"Content-Length", "+5"}})), 400u);
  EXPECT_EQ(StatusOf(PostWith({{"Transfer-Encoding", "gzip, chunked"}})), 400u);
  EXPECT_EQ(StatusOf(PostWith({{"Transfer-Encoding", "identity"}})), 400u);
  EXPECT_EQ(StatusOf(PostWith({{"Transfer-Encoding",
                                "\x0b"
                                "chunked"}})),
            400u);
  EXPECT_EQ(StatusOf(PostWith({{"Transfer-Encoding", "chunked"}})), 0u);
  EXPECT_EQ(StatusOf(Decide(
                http::verb::post, "/mcp",
                {{"Content-Type", "application/json"}, {"Transfer-Encoding", "chunked"}}, {}, 10)),
            400u);
}

TEST(RequestCheckTest, KnowsItsPaths) {
  for (const char* path : {"/", "/mcp/", "/MCP", "//mcp", "/mcp/x", "/%6dcp", "*", "mcp",
                           "http://localhost/mcp", "/healthz/", "/metricsx"}) {
    EXPECT_EQ(StatusOf(Decide(http::verb::post, path, {{"Host", "localhost"}})), 404u) << path;
  }
  EXPECT_EQ(ResourceAt("/mcp?key=value"), Resource::kMcp);
}

TEST(RequestCheckTest, KnowsItsMethods) {
  const Fields fields = {{"Host", "localhost"}};
  for (http::verb method : {http::verb::get, http::verb::head, http::verb::put, http::verb::delete_,
                            http::verb::options, http::verb::trace, http::verb::connect}) {
    const Verdict verdict = Decide(method, "/mcp", fields);
    EXPECT_EQ(StatusOf(verdict), 405u) << http::to_string(method);
    EXPECT_NE(verdict.refusal.headers.find("Allow: POST"), std::string::npos);
  }
  EXPECT_EQ(StatusOf(Decide(http::verb::post, "/healthz", fields)), 405u);
  EXPECT_EQ(Decide(http::verb::head, "/readyz", fields).action, Verdict::Action::kMonitor);
  EXPECT_EQ(
      Decide(http::verb::delete_, "/mcp", {{"Host", "localhost"}, {"Mcp-Session-Id", "a"}}).action,
      Verdict::Action::kEndConversation);
}

TEST(RequestCheckTest, ChecksHostAndOrigin) {
  const std::pair<std::string, std::string> json{"Content-Type", "application/json"};
  EXPECT_EQ(StatusOf(Decide(http::verb::post, "/mcp", {json})), 400u);
  EXPECT_EQ(StatusOf(Decide(http::verb::post, "/mcp", {json}, {}, 10)), 0u);
  EXPECT_EQ(StatusOf(Decide(http::verb::post, "/mcp", {json, {"Host", "evil.example"}})), 403u);
  EXPECT_EQ(StatusOf(Decide(http::verb::get, "/metrics", {{"Host", "evil.example"}})), 403u);
  EXPECT_EQ(StatusOf(Decide(http::verb::get, "/healthz", {{"Host", "evil.example"}})), 0u);
  EXPECT_EQ(StatusOf(PostWith({{"Origin", "null"}})), 403u);
  EXPECT_EQ(StatusOf(PostWith({{"Origin", "https://evil.example"}})), 403u);
  EXPECT_EQ(PostWith({{"Origin", "http://localhost:3000"}}).answer_headers, "");
  EXPECT_NE(PostWith({{"Origin", "https://app.example"}})
                .answer_headers.find("Access-Control-Allow-Origin: https://app.example\r\n"),
            std::string::npos);
}

TEST(RequestCheckTest, AnswersPreflightsOfNamedOriginsOnly) {
  Tokens tokens = MakeTokens({MakeToken("ann", std::string(32, 'a'))});
  auto preflight = [&](const char* origin) {
    return Decide(
        http::verb::options, "/mcp",
        {{"Host", "localhost"}, {"Origin", origin}, {"Access-Control-Request-Method", "POST"}},
        tokens);
  };
  EXPECT_EQ(preflight("https://app.example").action, Verdict::Action::kPreflight);
  EXPECT_EQ(StatusOf(preflight("http://localhost:3000")), 401u);
  EXPECT_EQ(StatusOf(preflight("https://evil.example")), 403u);
}

TEST(RequestCheckTest, AsksForATokenFirst) {
  Tokens tokens = MakeTokens({MakeToken("ann", std::string(32, 'a'))});
  const Fields bare = {{"Host", "localhost"}};
  for (auto [method, path] : {std::pair(http::verb::get, "/metrics"),
                              {http::verb::get, "/mcp"},
                              {http::verb::post, "/mcp"},
                              {http::verb::delete_, "/mcp"}}) {
    const Verdict verdict = Decide(method, path, bare, tokens);
    EXPECT_EQ(StatusOf(verdict), 401u) << path;
    EXPECT_EQ(verdict.refusal.headers, "WWW-Authenticate: Bearer realm=\"belljar\"\r\n");
  }
  const Verdict wrong =
      Decide(http::verb::post, "/mcp",
             {{"Host", "localhost"}, {"Authorization", "Bearer " + std::string(32, 'b')}}, tokens);
  EXPECT_EQ(wrong.refusal.headers,
            "WWW-Authenticate: Bearer realm=\"belljar\", error=\"invalid_token\"\r\n");
  const Verdict right =
      Decide(http::verb::get, "/metrics",
             {{"Host", "localhost"}, {"Authorization", "Bearer " + std::string(32, 'a')}}, tokens);
  EXPECT_EQ(right.action, Verdict::Action::kMonitor);
  EXPECT_EQ(StatusOf(Decide(http::verb::get, "/healthz", bare, tokens)), 0u);
  EXPECT_EQ(StatusOf(Decide(http::verb::get, "/readyz", bare, tokens)), 0u);
}

TEST(RequestCheckTest, ChecksTheKindOfBody) {
  auto with_type = [](const char* type) {
    return StatusOf(
        Decide(http::verb::post, "/mcp", {{"Host", "localhost"}, {"Content-Type", type}}));
  };
  EXPECT_EQ(StatusOf(Decide(http::verb::post, "/mcp", {{"Host", "localhost"}})), 415u);
  EXPECT_EQ(with_type("text/plain"), 415u);
  EXPECT_EQ(with_type("application/jsonp"), 415u);
  EXPECT_EQ(with_type("application/json-patch+json"), 415u);
  EXPECT_EQ(with_type("multipart/form-data; x=application/json"), 415u);
  EXPECT_EQ(with_type("Application/JSON ; charset=utf-8"), 0u);
  EXPECT_EQ(StatusOf(PostWith({{"Content-Encoding", "gzip"}})), 415u);
  EXPECT_EQ(StatusOf(PostWith({{"Expect", "a miracle"}})), 417u);
  EXPECT_TRUE(PostWith({{"Expect", "100-Continue"}}).expects_continue);
}

TEST(RequestCheckTest, ReadsAccept) {
  auto accepts = [](std::vector<const char*> values) {
    Fields fields;
    for (const char* value : values) fields.push_back({"Accept", value});
    const Verdict verdict = PostWith(fields);
    if (StatusOf(verdict) != 0) return std::to_string(StatusOf(verdict));
    return std::string(verdict.accepts_json ? "json " : "") +
           (verdict.accepts_stream ? "stream" : "");
  };
  EXPECT_EQ(accepts({"application/json, text/event-stream"}), "json stream");
  EXPECT_EQ(accepts({"application/json", "text/event-stream"}), "json stream");
  EXPECT_EQ(accepts({"*/*"}), "json stream");
  EXPECT_EQ(accepts({""}), "json stream");
  EXPECT_EQ(accepts({"application/json"}), "json ");
  EXPECT_EQ(accepts({"text/*;q=0.5"}), "stream");
  EXPECT_EQ(accepts({"TEXT/EVENT-STREAM"}), "stream");
  EXPECT_EQ(accepts({"*/*, text/event-stream; q=0.0"}), "json ");
  EXPECT_EQ(accepts({"text/html, image/*"}), "406");
  EXPECT_EQ(accepts({"application/json;q=0"}), "406");
  EXPECT_EQ(accepts({std::string(5000, 'x').c_str()}), "400");
}

TEST(RequestCheckTest, ChecksTheNamesOfConversations) {
  for (const std::string& name : {std::string(), std::string(129, 'a'), std::string("a b"),
                                  std::string("\xc3\xa9"), std::string("a\x7f")}) {
    EXPECT_EQ(StatusOf(PostWith({{"Mcp-Session-Id", name}})), 400u) << name;
  }
  EXPECT_EQ(PostWith({{"Mcp-Session-Id", std::string(128, '~')}}).conversation.size(), 128u);
}

// --- answers ---------------------------------------------------------------------------------

std::string Joined(const Pieces& pieces) {
  std::string joined;
  for (const std::string& piece : pieces) joined += piece;
  return joined;
}

TEST(ResponseTest, FramesEvents) {
  EXPECT_EQ(Joined(MessageEvent("{}")), "event: message\ndata: {}\n\n");
  EXPECT_EQ(Joined(MessageEvent("{\n}\r\n1\r2")), "event: message\ndata: { }  1 2\n\n");
  // What some clients, not the specification, take for the end of a line.
  EXPECT_EQ(Joined(MessageEvent("\"\xc2\x85\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\x99\xc2\xa9\xe2\"")),
            "event: message\ndata: \"\\u0085\\u2028\\u2029\xe2\x80\x99\xc2\xa9\xe2\"\n\n");
  const std::string text(100'000, 'x');
  EXPECT_EQ(Joined(MessageEvent(text)), "event: message\ndata: " + text + "\n\n");
  // As a chunk: 100,000 and the 23 around it.
  Response response{Response::Manner{}};
  const Pieces pieces = response.Notification(text);
  EXPECT_TRUE(
      Joined(pieces).ends_with("\r\n\r\n186b7\r\nevent: message\ndata: " + text + "\n\n\r\n"));
}

TEST(ResponseTest, ErrorBodiesStayJson) {
  EXPECT_EQ(ErrorBody("a \"b\" \\ \n"),
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":"
            "\"a \\\"b\\\" \\\\ ?\"}}");
}

TEST(ResponseTest, DateIsThatOfHttp) {
  EXPECT_EQ(HttpDate().size(), std::string_view("Sun, 06 Nov 1994 08:49:37 GMT").size());
  EXPECT_TRUE(HttpDate().ends_with(" GMT"));
}

TEST(ResponseTest, NoHeaderCanBeSmuggledIntoAnAnswer) {
  Response response{Response::Manner{}};
  Answer answer;
  answer.text = "{}";
  answer.conversation = "abc\r\nX-Evil: 1";
  const Pieces pieces = response.Finish(answer);
  EXPECT_EQ(pieces.front().find("X-Evil"), std::string::npos);
}

}  // namespace
}  // namespace belljar::server::http::http_request_test
