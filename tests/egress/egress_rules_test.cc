// What of an address, a name or a request the egress proxy lets through: the parts that know no
// socket.
#include <gtest/gtest.h>

#include <boost/asio/ip/address.hpp>
#include <variant>

#include "engine/egress/address_policy.h"
#include "engine/egress/allow_list.h"
#include "engine/egress/egress_rules.h"
#include "engine/egress/http_proxy_request.h"
#include "engine/egress/request_body.h"
#include "engine/egress/socks5.h"
#include "engine/http1/request_reader.h"

namespace belljar::egress::egress_rules_test {
namespace {

using Strings = std::vector<std::string>;

std::string Canonical(std::string_view text) {
  const std::optional<HostName> host = HostName::Parse(text);
  return host ? host->text : "none";
}

TEST(HostName, HasOneFormForAllItsSpellings) {
  EXPECT_EQ(Canonical("Example.ORG"), "example.org");
  EXPECT_EQ(Canonical("example.org."), "example.org");
  EXPECT_EQ(Canonical("xn--bcher-kva.example"), "xn--bcher-kva.example");
  EXPECT_EQ(Canonical("_dmarc.example.org"), "_dmarc.example.org");
  EXPECT_EQ(Canonical("[2001:DB8:0::1]"), "2001:db8::1");
  EXPECT_EQ(Canonical("2001:db8::1"), "2001:db8::1");
  EXPECT_EQ(Canonical("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(Canonical("[::ffff:192.0.2.7]"), "192.0.2.7");
}

TEST(HostName, WhatAResolverMightTakeForAnAddressIsNone) {
  for (const char* text : {"127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1",
                           "017700000001", "0177.0.0.1", "127.0.0.1.", "1.2.3.4.5", "256.1.1.1",
                           "127.0.0.0x1", "example.0x7f", "example.1", "\xe2\x91\xa0\xe2\x91\xa1",
                           "127\xe3\x80\x82"
                           "0.0.1"}) {
    // With its root's dot it is still four decimal parts.
    if (std::string_view(text) == "127.0.0.1.") {
      EXPECT_EQ(Canonical(text), "127.0.0.1");
    } else {
      EXPECT_EQ(Canonical(text), "none") << text;
    }
  }
}

TEST(HostName, WhatIsNoNameIsNone) {
  for (const std::string& text : Strings{"",
                                         ".",
                                         "..",
                                         "a..b",
                                         ".a",
                                         "-a.org",
                                         "a-.org",
                                         "a b",
                                         "a/b",
                                         "a@b",
                                         "a:b",
                                         "fe80::1%eth0",
                                         "[::1",
                                         "::1]",
                                         "[]",
                                         "b\xc3\xbc"
                                         "cher.example",
                                         "a\nb",
                                         std::string("a\0b", 3),
                                         std::string(64, 'a') + ".org",
                                         std::string(300, 'a'),
                                         "*.example.org",
                                         "%61.org"}) {
    EXPECT_EQ(Canonical(text), "none") << text;
  }
}

bool Allows(const Strings& entries, std::string_view host, uint16_t port) {
  core::Result<AllowList> list = AllowList::Parse(entries);
  EXPECT_TRUE(list) << list.error().ToString();
  const std::optional<HostName> name = HostName::Parse(host);
  EXPECT_TRUE(name) << host;
  return list->Allows(*name, port);
}

TEST(AllowList, AnEmptyOneAllowsNothing) { EXPECT_FALSE(Allows({}, "example.org", 443)); }

TEST(AllowList, AnEntryIsThatNameOnThePortsOfTheWeb) {
  const Strings list = {"Example.org."};
  EXPECT_TRUE(Allows(list, "example.org", 443));
  EXPECT_TRUE(Allows(list, "EXAMPLE.org.", 80));
  EXPECT_FALSE(Allows(list, "example.org", 8443));
  EXPECT_FALSE(Allows(list, "www.example.org", 443));
  EXPECT_FALSE(Allows(list, "badexample.org", 443));
  EXPECT_FALSE(Allows(list, "example.org.evil.test", 443));
  EXPECT_FALSE(Allows(list, "192.0.2.7", 443));
}

TEST(AllowList, AStarIsWhatIsBelowAndNotTheNameItself) {
  const Strings list = {"*.example.org"};
  EXPECT_TRUE(Allows(list, "www.example.org", 443));
  EXPECT_TRUE(Allows(list, "a.b.example.org", 443));
  EXPECT_FALSE(Allows(list, "example.org", 443));
  EXPECT_FALSE(Allows(list, "wwwexample.org", 443));
  EXPECT_TRUE(Allows({"*"}, "anything.test", 80));
  EXPECT_FALSE(Allows({"*"}, "192.0.2.7", 80));
}

TEST(AllowList, PortsAreNamedOrAll) {
  EXPECT_TRUE(Allows({"example.org:8443"}, "example.org", 8443));
  EXPECT_FALSE(Allows({"example.org:8443"}, "example.org", 443));
  EXPECT_TRUE(Allows({"example.org:*"}, "example.org", 25));
  EXPECT_TRUE(Allows({"[2001:db8::1]:25"}, "2001:db8::1", 25));
  EXPECT_TRUE(Allows({"2001:db8::1"}, "[2001:db8::1]", 80));
  EXPECT_TRUE(Allows({"192.0.2.7:*"}, "192.0.2.7", 1));
}

TEST(AllowList, WhatIsNoEntryIsNamed) {
  for (const std::string& entry :
       Strings{"", "https://example.org", "example.org/path", "example.org:", "example.org:0",
               "example.org:65536", "*example.org", "a.*.org", "*.192.0.2.7",
               "b\xc3\xbc"
               "cher.example"}) {
    const core::Result<AllowList> list = AllowList::Parse({entry});
    ASSERT_FALSE(list) << entry;
    EXPECT_TRUE(list.error().ToString().starts_with("allowed domain \"")) << entry;
  }
}

TEST(AllowList, ACallOnlyNarrows) {
  host::NetworkPolicy policy;
  policy.allowed_domains = {"*.example.org", "example.net:443", "192.0.2.7:*"};
  const core::Result<EgressRules> rules = EgressRules::Make(policy);
  ASSERT_TRUE(rules);
  for (const char* entry : {"www.example.org", "*.example.org", "*.eu.example.org", "example.net",
                            "example.net:443", "192.0.2.7:22", "192.0.2.7"}) {
    EXPECT_TRUE(rules->Narrow({entry})) << entry;
  }
  for (const char* entry : {"example.org", "*", "*.org", "www.example.org:*", "example.net:80",
                            "example.net:*", "192.0.2.8", "www.example.org:22"}) {
    const auto narrowed = rules->Narrow({"www.example.org", entry});
    ASSERT_FALSE(narrowed) << entry;
    EXPECT_NE(narrowed.error().ToString().find(entry), std::string::npos);
  }
}

std::string Violation(const std::string& address, const Strings& allowed = {}) {
  const core::Result<AddressPolicy> judge = AddressPolicy::Make(allowed);
  EXPECT_TRUE(judge) << judge.error().ToString();
  return judge->Violation(boost::asio::ip::make_address(address));
}

TEST(AddressPolicy, PublicAddressesMay) {
  for (const char* address :
       {"8.8.8.8", "1.1.1.1", "93.184.216.34", "172.15.255.255", "172.32.0.0", "100.63.255.255",
        "100.128.0.0", "11.0.0.0", "223.255.255.255", "198.20.0.1", "2606:4700::1111",
        "2a00:1450:4001::1", "64:ff9b::808:808", "::ffff:8.8.8.8"}) {
    EXPECT_EQ(Violation(address), "") << address;
  }
}

TEST(AddressPolicy, WhatIsNotPublicMayNot) {
  for (const char* address : {"0.0.0.0",
                              "0.1.2.3",
                              "10.0.0.1",
                              "100.64.0.1",
                              "100.127.255.255",
                              "127.0.0.1",
                              "127.255.255.254",
                              "169.254.169.254",
                              "172.16.0.1",
                              "172.31.255.255",
                              "192.0.0.192",
                              "192.0.2.1",
                              "192.88.99.1",
                              "192.168.1.1",
                              "198.18.0.1",
                              "198.19.255.255",
                              "198.51.100.1",
                              "203.0.113.1",
                              "224.0.0.1",
                              "239.255.255.255",
                              "240.0.0.1",
                              "255.255.255.255",
                              "168.63.129.16",
                              "::",
                              "::1",
                              "::127.0.0.1",
                              "::ffff:127.0.0.1",
                              "::ffff:169.254.169.254",
                              "64:ff9b::7f00:1",
                              "64:ff9b::a9fe:a9fe",
                              "64:ff9b:1::1",
                              "100::1",
                              "2001:0:4136:e378:8000:63bf:3fff:fdd2",
                              "2001:db8::1",
                              "2002:7f00:1::",
                              "2002:808:808::1",
                              "3fff::1",
                              "5f00::1",
                              "fc00::1",
                              "fd00:ec2::254",
                              "fe80::1",
                              "fec0::1",
                              "ff02::1",
                              "4000::1",
                              "1::1"}) {
    EXPECT_NE(Violation(address), "") << address;
  }
}

TEST(AddressPolicy, AnOperatorPermitsBlocksAndNothingBesides) {
  EXPECT_EQ(Violation("10.1.2.3", {"10.1.0.0/16"}), "");
  EXPECT_NE(Violation("10.2.2.3", {"10.1.0.0/16"}), "");
  EXPECT_EQ(Violation("::ffff:10.1.2.3", {"10.1.0.0/16"}), "");
  EXPECT_EQ(Violation("127.0.0.1", {"127.0.0.1"}), "");
  EXPECT_NE(Violation("127.0.0.2", {"127.0.0.1"}), "");
  EXPECT_EQ(Violation("fd00::7", {"fd00::/8"}), "");
  EXPECT_NE(Violation("10.1.2.3", {"::/0"}), "");
  EXPECT_EQ(Violation("10.1.2.3", {"0.0.0.0/0"}), "");
  for (const char* entry : {"", "10.0.0.0/33", "10.0.0.0/", "10.1.2.3/8", "example.org",
                            "fd00::/-1", "127.1", "10.0.0.0/8/8"}) {
    const core::Result<AddressPolicy> judge = AddressPolicy::Make({entry});
    ASSERT_FALSE(judge) << entry;
    EXPECT_NE(judge.error().ToString().find("private address \""), std::string::npos);
  }
}

// --- HTTP -----------------------------------------------------------------------------------

std::variant<HttpProxyRequest, HttpRejection> Read(const std::string& head) {
  http1::RequestReader reader(32 << 10);
  (void)reader.Take(head);
  if (reader.stage() != http1::RequestReader::Stage::kHeadRead)
    return HttpRejection{400, "malformed"};
  return ReadHttpProxyRequest(reader.head());
}

HttpProxyRequest ReadValid(const std::string& head) {
  auto read = Read(head);
  if (const auto* rejection = std::get_if<HttpRejection>(&read)) {
    ADD_FAILURE() << rejection->text << " in " << head;
    return {};
  }
  return std::get<HttpProxyRequest>(std::move(read));
}

TEST(HttpProxyRequest, ConnectNamesHostAndPort) {
  const HttpProxyRequest ask =
      ReadValid("CONNECT example.org:443 HTTP/1.1\r\nHost: other.test:1\r\n\r\n");
  EXPECT_TRUE(ask.tunnel);
  EXPECT_EQ(ask.host, "example.org");
  EXPECT_EQ(ask.port, 443);
  EXPECT_EQ(ReadValid("CONNECT [2001:db8::1]:443 HTTP/1.1\r\n\r\n").host, "[2001:db8::1]");
}

TEST(HttpProxyRequest, AWholeUrlIsForwardedWithTheHostThatWasJudged) {
  const HttpProxyRequest ask = ReadValid(
      "GET HTTP://Example.org:8080/a?b=c HTTP/1.1\r\nHost: evil.test\r\nAccept: */*\r\n"
      "Proxy-Authorization: Basic x\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\n"
      "Upgrade: h2c\r\nX-Hop: 1\r\nConnection: keep-alive, X-Hop, Upgrade\r\nX-Kept: 2\r\n\r\n");
  EXPECT_FALSE(ask.tunnel);
  EXPECT_EQ(ask.host, "Example.org");
  EXPECT_EQ(ask.port, 8080);
  EXPECT_EQ(ask.head,
            "GET /a?b=c HTTP/1.1\r\nHost: example.org:8080\r\nAccept: */*\r\nX-Kept: 2\r\n"
            "Connection: close\r\n\r\n");
  EXPECT_EQ(ReadValid("GET http://example.org HTTP/1.1\r\n\r\n").head,
            "GET / HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(ReadValid("GET http://example.org?q HTTP/1.0\r\n\r\n").head,
            "GET /?q HTTP/1.0\r\nHost: example.org\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(ReadValid("PUT http://[2001:db8::1]:81/ HTTP/1.1\r\nContent-Length: 3\r\n\r\n").head,
            "PUT / HTTP/1.1\r\nHost: [2001:db8::1]:81\r\nContent-Length: 3\r\n"
            "Connection: close\r\n\r\n");
}

TEST(HttpProxyRequest, WhatTwoReadersMightReadDifferentlyIsRefused) {
  const std::string post = "POST http://example.org/ HTTP/1.1\r\n";
  for (const std::string& head :
       Strings{post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
               post + "Content-Length: 3\r\nContent-Length: 3\r\n\r\n",
               post + "Content-Length: 3, 3\r\n\r\n",
               post + "Content-Length: +3\r\n\r\n",
               post + "Content-Length: 99999999999999999999\r\n\r\n",
               post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
               post + "Transfer-Encoding: gzip, chunked\r\n\r\n",
               post + "Transfer-Encoding: xchunked\r\n\r\n",
               "POST http://example.org/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
               post + "Host: a\r\nHost: b\r\n\r\n",
               post + "X: a\r\n b\r\n\r\n",
               post + "X: a\nY: b\r\n\r\n",
               post + "X: a\rY: b\r\n\r\n",
               post + std::string("X: a\0b\r\n\r\n", 10),
               post + "X : a\r\n\r\n",
               "GET /path HTTP/1.1\r\nHost: example.org\r\n\r\n",
               "GET https://example.org/ HTTP/1.1\r\n\r\n",
               "GET ftp://example.org/ HTTP/1.1\r\n\r\n",
               "GET http://a@example.org/ HTTP/1.1\r\n\r\n",
               "GET http://example.org:99999/ HTTP/1.1\r\n\r\n",
               "GET http://example.org/#a HTTP/1.1\r\n\r\n",
               "GET http://[::1/ HTTP/1.1\r\n\r\n",
               "GET http://example.org/\xc3\xbc HTTP/1.1\r\n\r\n",
               "GET http://example.org/ HTTP/2.0\r\n\r\n",
               "CONNECT example.org HTTP/1.1\r\n\r\n",
               "CONNECT example.org:0 HTTP/1.1\r\n\r\n",
               "CONNECT example.org:443 HTTP/1.1\r\nContent-Length: 3\r\n\r\n",
               "CONNECT 2001:db8::1:443 HTTP/1.1\r\n\r\n"}) {
    EXPECT_TRUE(std::holds_alternative<HttpRejection>(Read(head))) << head;
  }
}

TEST(RequestBody, EndsWhereItsLengthSays) {
  RequestBody body(5);
  std::string out;
  EXPECT_EQ(body.Take("hel", out), 3u);
  EXPECT_EQ(body.Take("loGET http://evil.test/", out), 2u);
  EXPECT_EQ(out, "hello");
  EXPECT_EQ(body.state(), RequestBody::State::kDone);
  EXPECT_EQ(body.Take("more", out), 0u);
}

RequestBody Chunked() {
  auto reader = std::make_unique<http1::RequestReader>(32 << 10);
  (void)reader->Take("POST http://a.test/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
  return RequestBody(std::move(reader));
}

TEST(RequestBody, ChunksAreMadeAnew) {
  RequestBody body = Chunked();
  const std::string sent = "3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\nGET http://evil/";
  std::string input, out;
  for (const char c : sent) {
    input += c;
    input.erase(0, body.Take(input, out));
    if (body.state() != RequestBody::State::kMore) break;
  }
  EXPECT_EQ(body.state(), RequestBody::State::kDone);
  EXPECT_TRUE(out.ends_with("0\r\n\r\n"));
  EXPECT_EQ(out.find("ext"), std::string::npos);
  EXPECT_EQ(out.find("Trailer"), std::string::npos);
  EXPECT_EQ(out.find("evil"), std::string::npos);
}

TEST(RequestBody, AMalformedChunkIsNone) {
  for (const char* sent :
       {"x\r\nabc\r\n", "-1\r\nabc\r\n", "3\r\nabcd\r\n", "3\nabc\r\n0\r\n\r\n"}) {
    RequestBody body = Chunked();
    std::string out;
    const std::string input = std::string(sent) + "0\r\n\r\n";
    (void)body.Take(input, out);
    EXPECT_EQ(body.state(), RequestBody::State::kMalformed) << sent;
  }
}

// --- SOCKS5 ---------------------------------------------------------------------------------

struct Socks {
  Socks5Reader reader;
  std::string replies;
};

Socks Feed(std::string_view bytes) {
  Socks socks;
  std::string input;
  for (const char c : bytes) {
    input += c;
    for (size_t used = 1; used > 0;) {
      used = socks.reader.Take(input);
      input.erase(0, used);
      socks.replies += socks.reader.TakeReply();
    }
  }
  return socks;
}

using namespace std::string_view_literals;

TEST(Socks5, NamesAndAddressesAreRead) {
  Socks name = Feed(
      "\5\1\0\5\1\0\3\x0b"
      "example.org\x01\xbb"sv);
  ASSERT_EQ(name.reader.stage(), Socks5Reader::Stage::kDone);
  EXPECT_EQ(name.reader.host(), "example.org");
  EXPECT_EQ(name.reader.port(), 443);
  EXPECT_EQ(name.replies, "\5\0"sv);
  Socks v4 = Feed("\5\2\2\0\5\1\0\1\x7f\0\0\1\0\x50"sv);
  EXPECT_EQ(v4.reader.host(), "127.0.0.1");
  EXPECT_EQ(v4.reader.port(), 80);
  Socks v6 = Feed("\5\1\0\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\x50"sv);
  EXPECT_EQ(v6.reader.host(), "::1");
}

TEST(Socks5, EverythingElseIsRefusedInItsWords) {
  EXPECT_EQ(Feed("\5\1\2"sv).replies, "\5\xff"sv);
  EXPECT_EQ(Feed("\5\0"sv).replies, "\5\xff"sv);
  EXPECT_EQ(Feed("\5\1\0\5\2\0\1\x7f\0\0\1\0\x50"sv).replies[3], 7);  // BIND
  EXPECT_EQ(Feed("\5\1\0\5\3\0\1\x7f\0\0\1\0\x50"sv).replies[3], 7);  // UDP ASSOCIATE
  EXPECT_EQ(Feed("\5\1\0\5\1\0\2\x7f\0\0\1\0\x50"sv).replies[3], 8);
  EXPECT_EQ(Feed("\5\1\0\4\1\0\1\x7f\0\0\1\0\x50"sv).replies[3], 1);
}

}  // namespace
}  // namespace belljar::egress::egress_rules_test
