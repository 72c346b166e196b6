// What a run leaves: as contents of the answer, and as resources that its caller can read later.
#include <gtest/gtest.h>

#include <thread>

#include "engine/host/outcome.h"
#include "server/core/resource_store.h"
#include "server/tools/artifact_contents.h"
#include "tests/server/tools_support.h"

namespace belljar::server::tools::artifacts_test {
namespace {

using nlohmann::json;

const std::string kPng = "\x89PNG\r\n\x1a\n and so on";

host::Artifact FileOf(std::string name, std::string media_type, std::string content) {
  host::Artifact artifact;
  artifact.name = std::move(name);
  artifact.media_type = std::move(media_type);
  artifact.size = content.size();
  artifact.content = std::move(content);
  return artifact;
}

Resource ResourceOf(const std::string& uri, size_t bytes = 4) {
  return {uri, "name", "text/plain", true, std::make_shared<const std::string>(bytes, 'x')};
}

class Contents : public testing::Test {
 protected:
  std::vector<Content> Take(const ContentBounds& bounds = kFullContents) {
    return TakeContents(outcome_, bounds, "ada", store_);
  }
  void Add(std::string name, std::string media_type, std::string content) {
    outcome_.artifacts.push_back(
        FileOf(std::move(name), std::move(media_type), std::move(content)));
  }
  Contents() { outcome_.execution_id = "7f3c"; }

  host::Outcome outcome_;
  ResourceStore store_;
};

TEST_F(Contents, EachKindGoesItsWay) {
  Add("figure-1.png", "image/png", kPng);
  Add("out/näme 1.csv", "text/csv", "a,b\n1,2\n");
  Add("data.bin", "application/octet-stream", std::string("\0\xff", 2));
  Add("long.txt", "text/plain", std::string(40'000, 'x'));
  const std::vector<Content> contents = Take();
  ASSERT_EQ(contents.size(), 4u);
  EXPECT_EQ(contents[0].kind, Content::Kind::kImage);
  EXPECT_EQ(contents[1].kind, Content::Kind::kEmbedded);
  EXPECT_TRUE(contents[1].resource.is_text);
  EXPECT_EQ(contents[1].resource.uri, "belljar://executions/7f3c/out/n%C3%A4me%201.csv");
  EXPECT_EQ(contents[2].kind, Content::Kind::kEmbedded);
  EXPECT_FALSE(contents[2].resource.is_text);
  EXPECT_EQ(contents[3].kind, Content::Kind::kLink);
  for (const Content& content : contents) {
    const std::optional<Resource> kept = store_.Find("ada", content.resource.uri);
    ASSERT_TRUE(kept) << content.resource.uri;
    EXPECT_EQ(kept->bytes, content.resource.bytes) << "one copy of it";
    EXPECT_FALSE(store_.Find("bob", content.resource.uri));
  }
}

TEST_F(Contents, ALeanAnswerEmbedsShortTextAlone) {
  Add("figure-1.png", "image/png", kPng);
  Add("short.csv", "text/csv", "a,b\n1,2\n");
  Add("long.csv", "text/csv", std::string(5'000, 'x'));
  Add("data.bin", "application/octet-stream", std::string("\0\xff", 2));
  Add("result.csv", "text/csv", "a table\n");  // whose head and tail are the value's text
  outcome_.artifacts.back().origin = host::Artifact::Origin::kDisplay;
  const std::vector<Content> contents = Take(kLeanContents);
  ASSERT_EQ(contents.size(), 4u) << "the text says where the table is";
  EXPECT_EQ(contents[0].kind, Content::Kind::kImage);
  EXPECT_EQ(contents[1].kind, Content::Kind::kEmbedded);
  for (size_t i = 2; i < 4; ++i) EXPECT_EQ(contents[i].kind, Content::Kind::kLink) << i;
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(outcome_.artifacts[i].is_inline, i < 2) << i;
    EXPECT_TRUE(store_.Find("ada", outcome_.artifacts[i].uri)) << i;
  }
}

TEST_F(Contents, LongPartsAreKeptUnderNamesThatNoFileTakes) {
  outcome_.stdout_stream.text = std::string(50'000, 'x');
  Add("stdout.txt", "text/plain", "a file");
  const auto uris = KeepLongParts(outcome_, 10'000, "ada", store_);
  ASSERT_EQ(uris.size(), 1u);
  const std::string& uri = uris.at(host::LongPart::kStdout);
  const std::vector<Content> contents = TakeContents(outcome_, kLeanContents, "ada", store_, {uri});
  EXPECT_NE(contents[0].resource.uri, uri);
  EXPECT_EQ(store_.Find("ada", uri)->bytes->size(), 50'000u);
  EXPECT_EQ(*store_.Find("ada", contents[0].resource.uri)->bytes, "a file");
  EXPECT_FALSE(store_.Find("bob", uri));
  outcome_.stdout_stream.text = std::string(17 << 20, 'x');
  EXPECT_TRUE(KeepLongParts(outcome_, 10'000, "ada", store_).empty()) << "too large to keep";
}

TEST_F(Contents, OnlyShortTextStandsInTheObjectToo) {
  Add("short.csv", "text/csv", "a\n");
  Add("figure.png", "image/png", kPng);
  Add("longer.txt", "text/plain", std::string(5'000, 'x'));
  Add("odd.txt", "text/plain", "\xff");
  Take();
  const json artifacts = json::parse(host::OutcomeToJson(outcome_))["artifacts"];
  EXPECT_EQ(artifacts[0]["content"], "a\n");
  EXPECT_EQ(artifacts[0]["encoding"], "utf-8");
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_TRUE(artifacts[i]["content"].is_null()) << artifacts[i];
    EXPECT_TRUE(artifacts[i]["encoding"].is_null());
    EXPECT_EQ(artifacts[i]["uri"], outcome_.artifacts[i].uri);
    EXPECT_FALSE(outcome_.artifacts[i].uri.empty());
  }
}

TEST_F(Contents, AnImageIsOneByItsBytes) {
  Add("a.png", "image/png", "not at all");
  Add("b.svg", "image/svg+xml", "<svg/>");
  Add("c.webp", "image/webp", "RIFF....WEBP");
  Add("d.webp", "image/webp", "RIFF");
  Add("e.gif", "image/gif", "GIF89a");
  Add("f.jpg", "image/jpeg", "\xff\xd8\xff\xe0");
  std::string kinds;
  for (const Content& content : Take()) {
    kinds += content.kind == Content::Kind::kImage ? 'i' : content.resource.is_text ? 't' : 'b';
  }
  EXPECT_EQ(kinds, "btibii");
}

TEST_F(Contents, EverythingIsBounded) {
  const size_t max = kFullContents.images.count + kFullContents.embedded.count + kMaxLinks;
  for (size_t i = 0; i < kMaxListed + 50; ++i) {
    Add("f" + std::to_string(i) + ".png", "image/png", kPng + std::string(300'000, 'x'));
  }
  outcome_.artifacts.back().origin = host::Artifact::Origin::kDisplay;
  outcome_.artifacts_left_out = 7;
  const std::vector<Content> contents = Take();
  EXPECT_LE(contents.size(), max);
  size_t images = 0, shown = 0;
  for (const Content& content : contents) {
    images += content.kind == Content::Kind::kImage ? 1 : 0;
    shown += content.kind == Content::Kind::kLink ? 0 : content.resource.bytes->size();
  }
  EXPECT_EQ(images, kFullContents.images.count);
  EXPECT_LE(shown, kFullContents.images.together.count + kFullContents.embedded.together.count);
  EXPECT_EQ(outcome_.artifacts.size(), kMaxListed);
  EXPECT_EQ(outcome_.artifacts_left_out, 57u);
  EXPECT_EQ(outcome_.artifacts[0].name, "f249.png") << "a figure is not left out for a file";
}

TEST_F(Contents, WhatWasNotTakenAlongIsOnlyListed) {
  host::Artifact artifact = FileOf("huge.bin", "application/octet-stream", "");
  artifact.content.reset();
  artifact.size = 1ull << 40;
  artifact.note = "too large";
  outcome_.artifacts.push_back(artifact);
  Add("too_long.bin", "application/octet-stream", std::string((16 << 20) + 1, '\0'));
  EXPECT_TRUE(Take().empty());
  EXPECT_EQ(outcome_.artifacts[0].note, "too large");
  EXPECT_EQ(outcome_.artifacts[1].note, "too large to be sent or kept");
  EXPECT_TRUE(outcome_.artifacts[1].uri.empty());
}

TEST_F(Contents, TwoOfOneNameHaveEachTheirUri) {
  Add("figure-1.png", "image/png", kPng);
  Add("figure-1.png", "image/png", kPng + "2");
  const std::vector<Content> contents = Take();
  EXPECT_NE(contents[0].resource.uri, contents[1].resource.uri);
  EXPECT_EQ(*store_.Find("ada", contents[1].resource.uri)->bytes, kPng + "2");
}

TEST(ResourceStore, IsBoundedAndDropsTheOldestOfWhoHoldsTheMost) {
  ResourceStore store({.total = core::Bytes{10'000}, .each = core::Bytes{4'000}, .count = 100});
  EXPECT_FALSE(store.Keep("ada", ResourceOf("long", 4'001)));
  EXPECT_TRUE(store.Keep("bob", ResourceOf("bob", 1'000)));
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(store.Keep("ada", ResourceOf("ada" + std::to_string(i), 3'000)));
  }
  EXPECT_TRUE(store.Find("bob", "bob")) << "a flood of another's does not push it out";
  EXPECT_FALSE(store.Find("ada", "ada7"));
  EXPECT_TRUE(store.Find("ada", "ada8"));
  EXPECT_TRUE(store.Find("ada", "ada9"));
}

TEST(ResourceStore, ManySmallOnesAreBoundedByTheirNumber) {
  ResourceStore store({.count = 3});
  for (int i = 0; i < 5; ++i) store.Keep("ada", ResourceOf(std::to_string(i)));
  EXPECT_FALSE(store.Find("ada", "1"));
  EXPECT_TRUE(store.Find("ada", "2"));
}

TEST(ResourceStore, KeepsForAWhile) {
  ResourceStore store({.lifetime = std::chrono::milliseconds(0)});
  EXPECT_TRUE(store.Keep("ada", ResourceOf("a")));
  EXPECT_FALSE(store.Find("ada", "a"));
}

TEST(ResourceStore, ManyThreads) {
  ResourceStore store({.total = core::Bytes{20'000}});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&store, owner = std::to_string(thread)] {
      for (int i = 0; i < 500; ++i) {
        store.Keep(owner, ResourceOf(std::to_string(i), 100));
        store.Find(owner, std::to_string(i / 2));
      }
      EXPECT_TRUE(store.Keep(owner, ResourceOf("last")));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// --- what callers send ---------------------------------------------------------------------------

TEST(Files, EachItemIsJudgedByItself) {
  const tests::Answered answer =
      tests::Execute({{"code", "1"},
                      {"files",
                       {"a.txt",
                        json::object(),
                        {{"path", "b"}},
                        {{"path", "c"}, {"text", "1"}, {"base64", ""}},
                        {{"path", "d"}, {"base64", "a"}},
                        {{"path", "e"}, {"txt", "1"}},
                        {{"path", 7}, {"text", ""}},
                        {{"path", ""}, {"text", ""}},
                        {{"path", std::string(1025, 'x')}, {"text", ""}}}}});
  EXPECT_TRUE(answer.is_error);
  for (const char* problem :
       {"files item 1 must be an object with path and text or base64, not the string \"a.txt\"",
        "files item 2 has no path", "files item 3 (\"b\") has neither text nor base64",
        "files item 4 (\"c\") has both text and base64", "files item 5 (\"d\") is not base64",
        "files item 6 has an unknown key \"txt\"; did you mean \"text\"?",
        "files item 7: path must be a string, not the number 7", "files item 8: path is empty",
        "files item 9: path is 1025 bytes long; the maximum is 1024"}) {
    EXPECT_HOLDS(answer.message, problem);
  }
}

TEST(Files, TheirNumberAndBytesAreBounded) {
  json many = json::array();
  for (int i = 0; i < 101; ++i) many.push_back({{"path", std::to_string(i)}, {"text", ""}});
  EXPECT_HOLDS(tests::Execute({{"code", "1"}, {"files", many}}).message,
               "files has 101 items; the maximum is 100");
  const json one = {{"path", "a"}, {"text", std::string(7 << 20, 'x')}};
  json other = one;
  other["path"] = "b";
  EXPECT_HOLDS(tests::Execute({{"code", "1"}, {"files", {one, other}}}).message,
               "files contains 14680064 bytes in total; the maximum is 12582912");
  json wrong = json::array();
  for (int i = 0; i < 100; ++i) wrong.push_back(i);
  const tests::Answered answer = tests::Execute({{"code", "1"}, {"files", wrong}});
  EXPECT_HOLDS(answer.message, "files has more invalid items");
  EXPECT_LT(answer.message.size(), 2000u);
}

TEST(Files, AProfileWithoutAWorkspaceOrNetworkSaysSo) {
  const tests::Answered answer = tests::Execute({{"code", "1"},
                                                 {"files", {{{"path", "a"}, {"text", "1"}}}},
                                                 {"allowed_domains", {"example.com"}}});
  EXPECT_HOLDS(answer.message,
               "files: profile basic has no workspace; no profile that this caller");
  EXPECT_HOLDS(answer.message, "allowed_domains: profile basic has no network");
}

TEST(Files, GoInAndComeBack) {
  ExecutionConfig config;
  config.spares = 1;
  config.profiles = {"basic", "filesystem"};
  tests::Tools tools(config);
  ToolCall call;
  call.caller.name = "ada";
  call.arguments = {{"code",
                     "with open('in/a.txt') as a, open('out.csv', 'w') as out:\n"
                     "    out.write(a.read().upper())"},
                    {"profile", "filesystem"},
                    {"files", {{{"path", "in/a.txt"}, {"base64", "YSxiCg=="}}}}};
  const core::Result<ToolResult> result = tools.Get("execute_code").Call(call);
  ASSERT_TRUE(result) << result.error().ToString();
  ASSERT_EQ(result->contents.size(), 1u) << result->structured;
  EXPECT_EQ(*result->contents[0].resource.bytes, "A,B\n");
  const json artifacts = json::parse(result->structured)["artifacts"];
  ASSERT_EQ(artifacts.size(), 1u);
  EXPECT_FALSE(artifacts[0].contains("content")) << "it is in a block of its own";
  EXPECT_TRUE(tools.resources().Find("ada", artifacts[0]["uri"]));
  EXPECT_FALSE(tools.resources().Find("bob", artifacts[0]["uri"]));
  for (const char* path : {"../a", "/etc/passwd", "a//b", "."}) {
    call.arguments["files"] = {{{"path", path}, {"text", ""}}};
    const core::Result<ToolResult> refused = tools.Get("execute_code").Call(call);
    ASSERT_TRUE(refused) << "the caller's mistake, not ours";
    EXPECT_TRUE(refused->is_error);
    EXPECT_HOLDS(refused->text, path);
  }
}

}  // namespace
}  // namespace belljar::server::tools::artifacts_test
