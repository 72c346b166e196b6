#include "server/json_rpc/message.h"

#include <gtest/gtest.h>

#include <chrono>

namespace belljar::server::json_rpc::json_rpc_test {
namespace {

RpcMessage Message(std::string_view text) {
  auto parsed = ParseMessage(text);
  EXPECT_TRUE(std::holds_alternative<RpcMessage>(parsed)) << text;
  return std::get<RpcMessage>(std::move(parsed));
}

RpcRefusal Refused(std::string_view text) {
  auto parsed = ParseMessage(text);
  EXPECT_TRUE(std::holds_alternative<RpcRefusal>(parsed)) << text;
  return std::get<RpcRefusal>(std::move(parsed));
}

TEST(ParseMessage, Request) {
  const RpcMessage message =
      Message(R"({"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":[1]}})");
  EXPECT_EQ(message.kind, RpcMessage::Kind::kRequest);
  EXPECT_EQ(message.id, 7);
  EXPECT_EQ(message.method, "ping");
  EXPECT_EQ(message.params, nlohmann::json({{"a", {1}}}));
}

TEST(ParseMessage, TheIdKeepsItsType) {
  EXPECT_EQ(Message(R"({"jsonrpc":"2.0","id":"7","method":"m"})").id.dump(), R"("7")");
  EXPECT_EQ(Message(R"({"jsonrpc":"2.0","id":-7,"method":"m"})").id.dump(), "-7");
  EXPECT_EQ(Message(R"({"jsonrpc":"2.0","id":18446744073709551615,"method":"m"})").id.dump(),
            "18446744073709551615");
}

TEST(ParseMessage, NotificationAndResponse) {
  EXPECT_EQ(Message(R"({"jsonrpc":"2.0","method":"m"})").kind, RpcMessage::Kind::kNotification);
  EXPECT_EQ(Message(R"({"jsonrpc":"2.0","id":1,"result":{}})").kind, RpcMessage::Kind::kResponse);
  EXPECT_EQ(Message(R"({"jsonrpc":"2.0","id":1,"error":{}})").kind, RpcMessage::Kind::kResponse);
}

TEST(ParseMessage, WhatIsNotJson) {
  for (const std::string& text : std::initializer_list<std::string>{
           "", " ", "{", "{\"jsonrpc\"", "nonsense", "{} {}", "{\"a\":1,}", "\xff\xfe", "[", "\"",
           std::string("{\"jsonrpc\":\"2.0\"\0}", 18), "{\"method\":\"\xc3\x28\"}",
           "{\"method\":\"\xed\xa0\x80\"}", "{\"a\":1e999}", "{\"a\":NaN}"}) {
    const RpcRefusal refusal = Refused(text);
    EXPECT_EQ(refusal.error.code, kParseError) << text;
    EXPECT_TRUE(refusal.id.is_null());
    EXPECT_FALSE(refusal.error.message.empty());
  }
}

TEST(ParseMessage, NothingHidesBehindANul) {
  const std::string message = R"({"jsonrpc":"2.0","id":1,"method":"m"})";
  for (const std::string& behind : {std::string(1, '\0'), std::string("\0x", 2)}) {
    EXPECT_EQ(Refused(message + behind).error.code, kParseError);
  }
}

TEST(ParseMessage, AnErrorDoesNotRepeatTheText) {
  EXPECT_EQ(Refused(R"({"token":"secret)").error.message.find("secret"), std::string::npos);
}

TEST(ParseMessage, WhatIsNoMessage) {
  const struct {
    const char* text;
    const char* id;
    const char* about;
  } kCases[] = {
      {"[]", "null", "batch"},
      {R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", "null", "batch"},
      {"7", "null", "object"},
      {"null", "null", "object"},
      {R"("ping")", "null", "object"},
      {"{}", "null", "jsonrpc"},
      {R"({"id":1,"method":"m"})", "1", "jsonrpc"},
      {R"({"jsonrpc":2.0,"id":1,"method":"m"})", "1", "jsonrpc"},
      {R"({"jsonrpc":"1.0","id":1,"method":"m"})", "1", "jsonrpc"},
      {R"({"jsonrpc":"2.0","id":1})", "1", "method"},
      {R"({"jsonrpc":"2.0","id":1,"method":7})", "1", "method"},
      {R"({"jsonrpc":"2.0","id":null,"method":"m"})", "null", "id"},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"m"})", "null", "id"},
      {R"({"jsonrpc":"2.0","id":{},"method":"m"})", "null", "id"},
      {R"({"jsonrpc":"2.0","id":true,"method":"m"})", "null", "id"},
      {R"({"jsonrpc":"2.0","id":"a","method":"m","params":[1]})", R"("a")", "params"},
      {R"({"jsonrpc":"2.0","id":"a","method":"m","params":null})", R"("a")", "params"},
  };
  for (const auto& each : kCases) {
    const RpcRefusal refusal = Refused(each.text);
    EXPECT_EQ(refusal.error.code, kInvalidRequest) << each.text;
    EXPECT_EQ(refusal.id.dump(), each.id) << each.text;
    EXPECT_NE(refusal.error.message.find(each.about), std::string::npos) << refusal.error.message;
  }
}

// A message with `count` values besides its own.
std::string WithItems(const std::string& item, size_t count) {
  std::string text = R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[)";
  for (size_t i = 0; i < count; ++i) text += (i > 0 ? "," : "") + item;
  return text + "]}}";
}

TEST(ParseMessage, TheNumberOfValuesIsBounded) {
  EXPECT_EQ(Message(WithItems("{}", 9'000)).params["a"].size(), 9'000u);
  for (const char* item : {"{}", "[]", "1", "\"\""}) {
    const RpcRefusal refusal = Refused(WithItems(item, 10'000));
    EXPECT_EQ(refusal.error.code, kParseError);
    EXPECT_NE(refusal.error.message.find("10000 values"), std::string::npos)
        << refusal.error.message;
  }
}

// Two readers of one message, such as a gateway and this server, could each believe another one.
TEST(ParseMessage, RepeatedMembersAreRefused) {
  for (const char* text :
       {R"({"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"})",
        R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,"a":1}})",
        R"({"jsonrpc":"2.0","id":1,"method":"m","\u006dethod":"n"})",
        R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[{"b":{},"b":[]}]}})"}) {
    const RpcRefusal refusal = Refused(text);
    EXPECT_EQ(refusal.error.code, kParseError) << text;
    EXPECT_NE(refusal.error.message.find("duplicate key"), std::string::npos) << text;
  }
  Message(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":{"b":1},"c":{"b":1}}})");
}

// They come back in answers.
TEST(ParseMessage, IdsAreShort) {
  const auto with_id = [](size_t size) {
    return R"({"jsonrpc":"2.0","id":")" + std::string(size, 'x') + R"(","method":"m"})";
  };
  EXPECT_TRUE(Message(with_id(kMaxIdBytes)).id.is_string());
  const RpcRefusal refusal = Refused(with_id(kMaxIdBytes + 1));
  EXPECT_EQ(refusal.error.code, kInvalidRequest);
  EXPECT_TRUE(refusal.id.is_null());
}

std::string Nested(int depth) {
  return R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":)" +
         std::string(static_cast<size_t>(depth), '[') +
         std::string(static_cast<size_t>(depth), ']') + "}}";
}

TEST(ParseMessage, DepthIsBounded) {
  Message(Nested(kMaxMessageDepth - 2));
  for (const int depth : {kMaxMessageDepth - 1, kMaxMessageDepth, 1000, 10'000'000}) {
    const RpcRefusal refusal = Refused(Nested(depth));
    EXPECT_EQ(refusal.error.code, kParseError);
    EXPECT_NE(refusal.error.message.find("64"), std::string::npos);
  }
}

TEST(Texts, AreJsonOnOneLine) {
  const std::string nasty = "quote\" newline\n bell\a line\xe2\x80\xa8 not utf-8 \xff";
  for (const std::string& text :
       {ResultText("a\nb", R"({"x":1})"), ErrorText(7, {kInternalError, nasty, {{"k", nasty}}}),
        NotificationText("m", R"({"y":2})")}) {
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(text)["jsonrpc"], "2.0");
  }
  EXPECT_EQ(nlohmann::json::parse(JsonString(nasty)).get<std::string>(),
            "quote\" newline\n bell\a line\xe2\x80\xa8 not utf-8 \xef\xbf\xbd");
}

}  // namespace
}  // namespace belljar::server::json_rpc::json_rpc_test
