// What the tools say of themselves, and what they make of good and bad arguments.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/server/schema_check.h"
#include "tests/server/tools_support.h"

namespace belljar::server::tools::tool_arguments_test {
namespace {

using nlohmann::json;

TEST(ToolDescriptions, AreFitForClientsAndGateways) {
  const char* const kNames[] = {"execute_code",  "validate_code", "get_sandbox_info",
                                "read_output",   "open_session",  "list_sessions",
                                "close_session", "checkpoint",    "session_files"};
  ASSERT_EQ(tests::Shared().all().size(), std::size(kNames));
  for (size_t i = 0; i < std::size(kNames); ++i) {
    const ToolDescription& description = tests::Shared().all()[i]->description();
    EXPECT_EQ(description.name, kNames[i]);
    EXPECT_FALSE(description.title.empty());
    EXPECT_LT(description.description.size(), 1000u) << description.name;
    if (i == 0) {
      EXPECT_HOLDS(description.description, "Example");
      EXPECT_HOLDS(description.description, "Limits");
    }
    std::string texts = description.title + description.description;
    for (const auto& [name, property] : description.input_schema["properties"].items()) {
      texts += property["description"].get<std::string>();
    }
    for (const char* bad : {"&&", "||", "$(", "`", "<", ">"}) {
      EXPECT_EQ(texts.find(bad), std::string::npos) << description.name << ": " << bad;
    }
    EXPECT_FALSE(description.open_world);
    if (i >= 3) continue;
    EXPECT_GT(description.description.size(), 100u);
    EXPECT_TRUE(description.read_only);
    EXPECT_FALSE(description.destructive);
    EXPECT_EQ(description.idempotent, description.name != "execute_code");
    EXPECT_EQ(tests::Shared().all()[i]->uses_worker(), description.name != "get_sandbox_info");
  }
}

TEST(ToolDescriptions, InputSchemasAreClosedAndBounded) {
  for (const auto& tool : tests::Shared().all()) {
    const json schema = tool->description().input_schema;
    EXPECT_EQ(schema["type"], "object");
    EXPECT_EQ(schema["additionalProperties"], false);
    for (const auto& [name, property] : schema["properties"].items()) {
      const std::string type = property.value("type", "");
      const char* bound = type == "string"   ? "maxLength"
                          : type == "number" ? "maximum"
                          : type == "array"  ? "maxItems"
                                             : "description";
      EXPECT_TRUE(property.contains(bound)) << name << " without " << bound;
      if (property.contains("default")) {
        EXPECT_EQ(tests::SchemaErrors(property, property["default"]), std::vector<std::string>())
            << name;
      }
    }
  }
  const json properties =
      tests::Shared().Get("execute_code").description().input_schema["properties"];
  EXPECT_HOLDS(tests::Shared().Get("execute_code").description().description,
               "Profile basic: the standard library without files, network, processes and pip.");
  EXPECT_EQ(properties["timeout"]["minimum"], 0.1);
  EXPECT_EQ(properties["timeout"]["maximum"], 300);
  EXPECT_EQ(properties["timeout"]["default"], 30);
  EXPECT_EQ(properties["profile"]["enum"], json::array({"basic"}));
  EXPECT_EQ(properties["code"]["maxLength"], 1 << 20);
}

// Whatever the schema refuses is refused, and what it allows is taken.
TEST(ToolArguments, TheSchemaAndTheCheckAgree) {
  const json schema = tests::Shared().Get("execute_code").description().input_schema;
  const json kValues[] = {nullptr,
                          true,
                          0,
                          1,
                          -1,
                          0.05,
                          0.1,
                          10,
                          300,
                          300.5,
                          1e300,
                          "",
                          "x",
                          "8m",
                          "256m",
                          "1tb",
                          "-1",
                          "9999999g",
                          8388608,
                          8388607,
                          json::array(),
                          json::array({"math"}),
                          json::array({1}),
                          json::object(),
                          "basic"};
  size_t refused = 0;
  for (const auto& [name, property] : schema["properties"].items()) {
    for (const json& value : kValues) {
      json arguments = {{"code", "1"}};
      arguments[name] = value;
      // Judged beyond types and ranges, with messages of their own.
      if (name == "use_container" && value == true) continue;
      const bool is_names = name == "allowed_domains" || name == "packages";
      if (is_names && value == json::array({"math"})) continue;
      if (name == "session" && value.is_string()) continue;
      const bool conforms =
          value.is_null() ? name != "code" : tests::SchemaErrors(property, value).empty();
      const tests::Answered answer = tests::Execute(arguments);
      const bool too_big = name == "memory_limit" && value == "9999999g";
      EXPECT_EQ(answer.message.empty(), conforms && !too_big) << name << " " << value << "\n"
                                                              << answer.message;
      refused += answer.message.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 60u);
}

TEST(ToolArguments, EveryProblemIsNamedInOneMessage) {
  const tests::Answered answer = tests::Execute({{"cod", "1"},
                                                 {"timeout", "soon"},
                                                 {"memory_limit", 1},
                                                 {"allowed_imports", {"math", 7}},
                                                 {"capture_output", "yes"}});
  EXPECT_TRUE(answer.is_error);
  EXPECT_TRUE(answer.object.is_null());
  EXPECT_HOLDS(answer.message, "execute_code: 6 problems");
  EXPECT_HOLDS(answer.message, "unknown argument \"cod\"; did you mean \"code\"?");
  EXPECT_HOLDS(answer.message, "code is missing; it is a string");
  EXPECT_HOLDS(answer.message, "timeout must be a number from 0.1 to 300, not the string \"soon\"");
  EXPECT_HOLDS(answer.message, "memory_limit is 1; the minimum is 8m");
  EXPECT_HOLDS(answer.message, "allowed_imports item 2 must be a string, not the number 7");
  EXPECT_HOLDS(answer.message, "capture_output must be true or false, not the string \"yes\"");
}

TEST(ToolArguments, HostileValuesAreShownShortAndPrintable) {
  const std::string evil = "\x1b[31m\n" + std::string(100'000, 'x');
  const tests::Answered answer =
      tests::Execute({{"code", "1"}, {evil, 1}, {"timeout", evil}, {"profile", evil}});
  EXPECT_TRUE(answer.is_error);
  EXPECT_LT(answer.message.size(), 1500u);
  EXPECT_EQ(answer.message.find('\x1b'), std::string::npos);
  json many = {{"code", "1"}};
  for (int i = 0; i < 10'000; ++i) many["name" + std::to_string(i)] = i;
  EXPECT_LT(tests::Execute(many).message.size(), 4000u);
}

TEST(ToolArguments, WhatIsNoObjectIsRefusedAndNothingIsAnObject) {
  for (const json& arguments : {json::array(), json("code"), json(1), json(true)}) {
    EXPECT_HOLDS(tests::Execute(arguments).message, "the arguments must be an object");
    EXPECT_HOLDS(tests::Info(arguments).message, "the arguments must be an object");
  }
  EXPECT_HOLDS(tests::Execute(nullptr).message, "code is missing");
  EXPECT_HOLDS(tests::Execute(json::object()).message, "code is missing");
  EXPECT_FALSE(tests::Info(nullptr).is_error);
  EXPECT_FALSE(tests::Info(json::object()).is_error);
  EXPECT_HOLDS(tests::Info({{"names", true}}).message, "unknown argument \"names\"");
}

TEST(ToolArguments, NulAndLengthOfTheCode) {
  for (const char* tool : {"execute_code", "validate_code"}) {
    tests::Answered answer = tests::Shared().Call(tool, {{"code", std::string("a\0b", 3)}});
    EXPECT_HOLDS(answer.message, "code contains a NUL character at byte 2");
    answer = tests::Shared().Call(tool, {{"code", std::string((1 << 20) + 1, '#')}});
    EXPECT_HOLDS(answer.message, "code is 1048577 bytes long; the maximum is 1048576");
    EXPECT_FALSE(tests::Shared().Call(tool, {{"code", std::string(1 << 20, '#')}}).is_error);
  }
  const tests::Answered answer = tests::Execute(
      {{"code", "import sys\nlen(sys.stdin.read())"}, {"stdin", std::string("a\0b", 3)}});
  EXPECT_EQ(answer.object["result"], 3);
}

TEST(ToolArguments, NullIsNotGiven) {
  const tests::Answered answer = tests::Execute({{"code", "input()"},
                                                 {"timeout", nullptr},
                                                 {"memory_limit", nullptr},
                                                 {"allowed_imports", nullptr},
                                                 {"use_container", nullptr},
                                                 {"profile", nullptr},
                                                 {"stdin", nullptr},
                                                 {"detail", "full"}});
  EXPECT_EQ(answer.object["error"]["type"], "EOFError");
  EXPECT_EQ(answer.object["limits"]["timeout"], 30.0);
}

}  // namespace
}  // namespace belljar::server::tools::tool_arguments_test
