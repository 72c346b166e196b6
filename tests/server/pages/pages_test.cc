// Pages for browsers: what they show is escaped, whatever it contains, and nothing in them runs.
#include "server/pages/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "engine/host/base64.h"
#include "engine/host/digest.h"
#include "server/pages/html.h"
#include "server/pages/reference.h"
#include "tests/server/http_client.h"

namespace belljar::server::pages::pages_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kHostile[] =
    "</style></title><script>alert(1)</script>\"'><img src=x onerror=y>&amp;`<b>``<i>";

// The elements and attributes of a document, as a browser finds them.
std::set<std::string> PartsOf(std::string document) {
  constexpr std::string_view kType = "<!DOCTYPE html>";
  if (document.starts_with(kType)) document.erase(0, kType.size());
  static const std::set<std::string> kKnown = {
      "html lang", "head",  "meta charset", "meta name content",
      "title",     "style", "body",         "h1",
      "h2",        "h2 id", "h4",           "p",
      "a href",    "code",  "table",        "tr",
      "th",        "td",    "details id",   "summary"};
  std::set<std::string> unknown;
  static const std::regex kTag("<([a-z!][a-z0-9]*)((?: [a-z-]+=\"[^\"<>]*\")*)>|</[a-z0-9]+>\n?|<");
  for (std::sregex_iterator at(document.begin(), document.end(), kTag), end; at != end; ++at) {
    if (at->str().starts_with("</")) continue;
    std::string part = (*at)[1];
    const std::string attributes = (*at)[2];
    static const std::regex kName(" ([a-z-]+)=\"[^\"]*\"");
    for (std::sregex_iterator name(attributes.begin(), attributes.end(), kName); name != end;
         ++name) {
      part += " " + (*name)[1].str();
    }
    if (!kKnown.contains(part)) unknown.insert(at->str());
  }
  return unknown;
}

Json HostileDocument() {
  const Json schema = {
      {"type", "object"},
      {"description", kHostile},
      {"properties",
       {{kHostile, {{"type", kHostile}, {"default", kHostile}, {"description", kHostile}}},
        {"choice", {{"enum", {kHostile, 1}}}},
        {"ref", {{"$ref", std::string("#/components/schemas/") + kHostile}}},
        {"list", {{"type", "array"}, {"items", {{"properties", {{kHostile, Json::object()}}}}}}}}},
      {"required", {kHostile}}};
  const Json operation = {
      {"operationId", kHostile},
      {"tags", {kHostile}},
      {"summary", kHostile},
      {"description", kHostile},
      {"parameters", {{{"name", kHostile}, {"in", kHostile}, {"schema", schema}}}},
      {"requestBody", {{"content", {{kHostile, {{"schema", schema}}}}}}},
      {"responses",
       {{kHostile, {{"description", kHostile}, {"content", {{kHostile, {{"schema", schema}}}}}}}}}};
  return {
      {"info",
       {{"title", kHostile},
        {"version", kHostile},
        {"summary", kHostile},
        {"description", kHostile}}},
      {"tags", {{{"name", kHostile}, {"description", kHostile}}}},
      {"paths", {{kHostile, {{kHostile, operation}}}}},
      {"components",
       {{"schemas", {{kHostile, schema}, {"Sum", {{"oneOf", {schema, {{"type", "string"}}}}}}}}}}};
}

TEST(HtmlTest, ProseHasCodeBetweenBackticks) {
  Html html("t");
  html.Prose("a `b` and `<c>`, ``d `e");
  EXPECT_THAT(std::move(html).Finish(),
              testing::HasSubstr("a <code>b</code> and <code>&lt;c&gt;</code>, <code></code>d `e"));
}

TEST(PagesTest, KnowsWhatIsNoPartOfAPage) {
  // The positive control of the tests below.
  EXPECT_EQ(PartsOf(std::string("<p>") + kHostile + "</p>").size(), 4u);
  EXPECT_EQ(PartsOf("<a href=\"#x\" onclick=\"y\">z</a>").size(), 1u);
  EXPECT_EQ(PartsOf("<a href='javascript:x'>z</a>").size(), 1u);
}

TEST(PagesTest, NothingInAReferenceIsMarkupOfItsDocument) {
  const std::string page = ReferencePage(HostileDocument());
  EXPECT_EQ(PartsOf(page), std::set<std::string>());
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;&lt;img"),
            std::string::npos);
  EXPECT_NE(page.find("&amp;amp;"), std::string::npos);
}

TEST(PagesTest, NothingInTheFrontPageIsMarkupOfAName) {
  Pages pages({.version = kHostile,
               .python_version = kHostile,
               .profiles = {kHostile},
               .open_api = "{}",
               .compatible_apis = {{kHostile, kHostile}},
               .has_events = true});
  tests::FakeHandler messages;
  TokenConfig token = tests::MakeToken("<b>anna</b>", 'a');
  token.caller.profiles = {"<i>own</i>"};
  tests::TestServer server(messages, {}, {token}, {}, {&pages});
  const tests::RawAnswer answer = tests::Ask(
      server, tests::Get("/?<script>", "Authorization: Bearer " + token.secret + "\r\n"));
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(answer.Header("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(PartsOf(answer.body), std::set<std::string>());
  EXPECT_NE(answer.body.find("You are &lt;b&gt;anna&lt;/b&gt;."), std::string::npos);
  EXPECT_NE(answer.body.find("Profiles: &lt;i&gt;own"), std::string::npos);
}

TEST(PagesTest, AllowsItsOwnStyleAndNothingElse) {
  Pages pages({.open_api = "{}"});
  tests::FakeHandler messages;
  tests::TestServer server(messages, {}, {}, {}, {&pages});
  const tests::RawAnswer answer = tests::Ask(server, tests::Get("/"));
  const size_t begin = answer.body.find("<style>") + 7, end = answer.body.find("</style>");
  ASSERT_LT(begin, end);
  std::string digest;
  const std::string hex = host::Sha256(answer.body.substr(begin, end - begin));
  for (size_t i = 0; i < hex.size(); i += 2) {
    digest += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  EXPECT_EQ(answer.Header("content-security-policy"),
            "default-src 'none'; style-src 'sha256-" + host::EncodeBase64(digest) +
                "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  EXPECT_EQ(answer.Header("x-content-type-options"), "nosniff");
}

TEST(PagesTest, LinksLeadNowhereElse) {
  const auto link = [](std::string_view to) {
    Html html("");
    const std::string page = std::move(html.Link(to, "x")).Finish();
    const size_t begin = page.find("<body>\n") + 7;
    return page.substr(begin, page.find("</body>") - begin);
  };
  EXPECT_EQ(link("/docs"), "<a href=\"/docs\">x</a>");
  EXPECT_EQ(link("#schema-a\"b"), "<a href=\"#schema-a&quot;b\">x</a>");
  for (const char* elsewhere :
       {"//evil.example", "https://evil.example", "javascript:x", "x", ""}) {
    EXPECT_EQ(link(elsewhere), "x") << elsewhere;
  }
}

TEST(PagesTest, ABrowserAsksItsUserForTheToken) {
  Pages pages({.open_api = "{}"});
  tests::FakeHandler messages;
  const TokenConfig token = tests::MakeToken("anna", 'a');
  tests::TestServer server(messages, {}, {token}, {}, {&pages});
  const auto basic = [](const std::string& password) {
    return "Authorization: Basic " + host::EncodeBase64("any:" + password) + "\r\n";
  };
  for (const std::string& headers :
       {std::string(), basic("wrong"), "X-Auth-Token: " + token.secret + "\r\n"}) {
    for (const char* path : {"/", "/docs"}) {
      const tests::RawAnswer refused = tests::Ask(server, tests::Get(path, headers));
      EXPECT_EQ(refused.status, 401);
      EXPECT_TRUE(refused.Header("www-authenticate").starts_with("Basic ")) << path;
      EXPECT_EQ(refused.body.find('<'), std::string::npos);
    }
  }
  EXPECT_EQ(tests::Ask(server, tests::Get("/", basic(token.secret))).status, 200);
  // A page of another origin gets nothing of it, although the browser knows the password.
  EXPECT_EQ(
      tests::Ask(server, tests::Get("/", basic(token.secret) + "Origin: https://evil.example\r\n"))
          .status,
      403);
}

TEST(PagesTest, WithoutTheApiThereIsNoReferenceOfIt) {
  Pages pages({.version = "1"});
  tests::FakeHandler messages;
  tests::TestServer server(messages, {}, {}, {}, {&pages});
  const tests::RawAnswer front = tests::Ask(server, tests::Get("/"));
  EXPECT_EQ(front.status, 200);
  EXPECT_EQ(front.body.find("/docs"), std::string::npos);
  EXPECT_EQ(tests::Ask(server, tests::Get("/docs")).status, 404);
}

}  // namespace
}  // namespace belljar::server::pages::pages_test
