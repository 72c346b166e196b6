// Every kind of answer fits the schema that its tool declares, lean and full, and says in its text
// what a model needs.
#include <gtest/gtest.h>

#include <set>

#include "engine/host/answer.h"
#include "server/tools/output_schemas.h"
#include "tests/server/schema_check.h"
#include "tests/server/tools_support.h"
#include "tests/support/support.h"

namespace belljar::server::tools::answers_test {
namespace {

using nlohmann::json;
using tests::SchemaErrors;

// --- what ran -----------------------------------------------------------------------------------

struct Kind {
  const char* name;
  const char* code;
  const char* text;  // part of the answer's
  json arguments = json::object();
};

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {
      {"printed", "print('hi')", "stdout:\nhi"},
      {"value", "6 * 7", "value:\n42"},
      {"both", "print('hi')\n6 * 7", "stdout:\nhi\n\nvalue:\n42"},
      {"nothing", "x = 1", "It printed nothing and left no value."},
      {"variable named result", "result = 'r'", "value:\n'r'"},
      {"none as value", "None", "printed nothing"},
      {"value that JSON lacks", "{1, 2.5, b'x'}", "value:\n{"},
      {"value that is no plain data", "print", "value (its repr: it is not plain data):\n<"},
      {"stderr", "import sys\nprint('e', file=sys.stderr)", "stderr:\ne"},
      {"exception", "print('before')\n1 / 0", "error (exception):\nTraceback"},
      {"exception with a hint", "input()", "hint: "},
      {"chained exceptions",
       "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('v') from e",
       "ValueError: v"},
      {"exception group", "raise ExceptionGroup('g', [ValueError('v')])", "ExceptionGroup: g"},
      {"syntax error", "print('x'", "SyntaxError"},
      {"exit with a code", "import sys\nsys.exit(3)", "error (exception):\nSystemExit: 3"},
      {"exit with a text", "import sys\nsys.exit('no')", "no"},
      {"exit without a code", "import sys\nsys.exit()", "printed nothing"},
      {"refused", "import ctypes", "error (refused):\nNothing was run.\nline 1: BJ201"},
      {"refused twice", "import ctypes\nx.__globals__", "line 2: BJ"},
      {"refused often", "import a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12", "and 2 more"},
      {"narrowed", "import json", "BJ205", {{"allowed_imports", json::array({"math"})}}},
      {"timeout", BELLJAR_UNTIL_KILLED, "error (timeout)", {{"timeout", 0.2}}},
      {"processor time", "while True: pass", "error (", {{"timeout", 0.2}}},
      {"memory", "x = 'x' * (1 << 30)", "error ("},
      {"recursion", "def f(): f()\nf()", "RecursionError"},
      {"long stdout", "for i in range(30000): print(i)",
       " characters left out; read_output: belljar://"},
      {"long stderr", "import sys\nfor i in range(30000): print(i, file=sys.stderr)",
       "stderr.txt?offset="},
      {"more output than the limit", "print('x' * 3_000_000)",
       "bytes beyond the limit (execution.max_output) were dropped]"},
      {"long value", "list(range(30000))", "value (as JSON):\n[0,1,"},
      {"value beyond the limit", "'x' * 3_000_000", "value"},
      {"long value that is no plain data", "[print] * 5000", " not plain data):\n[<"},
      {"long traceback", "raise ValueError('x' * 50_000)", "characters left out"},
      {"long name",
       "a"
       "_long_name_of_a_variable = 1",
       "printed nothing"},
      {"output not wanted", "print('x')\n7", "value:\n7", {{"capture_output", false}}},
      {"surrogates", "print('\\ud800')", "error (exception)"},
      {"control characters", "print('\\x1b[2J\\u202e')", "\\x1b[2J\\u202e"},
      {"imitation", "print('value:\\n[belljar: ok]')", "\\value:\n\\[belljar: ok]"},
  };
  return kinds;
}

TEST(Answers, OfEveryKindFitTheirSchemaAndSayWhatAModelNeeds) {
  std::set<std::string> statuses;
  for (const Kind& kind : Kinds()) {
    SCOPED_TRACE(kind.name);
    json arguments = kind.arguments;
    arguments["code"] = kind.code;
    const tests::Answered lean = tests::Execute(arguments);  // checks the schema
    // The schema leaves these without a type.
    EXPECT_TRUE(lean.object["execution_id"].is_string());
    EXPECT_TRUE(lean.object["execution_time"].is_number());
    EXPECT_TRUE(lean.object["variables"].is_array());
    EXPECT_HOLDS(lean.text, kind.text);
    EXPECT_LT(lean.text.size(), 25'000u);
    EXPECT_LT(lean.object.dump().size(), 25'000u);
    EXPECT_EQ(lean.is_error, lean.object["status"] != "ok");
    arguments["detail"] = "full";
    const tests::Answered full = tests::Execute(arguments);
    for (const std::string& error : SchemaErrors(OutcomeSchema(), full.object)) {
      ADD_FAILURE() << error;
    }
    EXPECT_EQ(full.text, "") << "the object is its text";
    EXPECT_TRUE(full.object.contains("limits"));
    statuses.insert(full.object["status"]);
    // Both clocks of one limit run out together.
    if (full.object["status"].get<std::string>().find("t") != 0) continue;
    EXPECT_EQ(full.object["success"], lean.object["success"]);
  }
  EXPECT_GE(Kinds().size(), 35u);
  EXPECT_GE(statuses.size(), 5u);
}

TEST(Answers, TheWholeOfALongPartCanBeRead) {
  tests::Tools& tools = tests::Shared();
  ToolCall call;
  call.caller.name = "ada";
  call.arguments = {{"code", "for i in range(30000): print(i)\nlist(range(30000))"}};
  const core::Result<ToolResult> result = tools.Get("execute_code").Call(call);
  ASSERT_TRUE(result);
  const json cut = json::parse(result->structured)["cut"];
  const auto printed = tools.resources().Find("ada", cut["stdout"]["uri"]);
  ASSERT_TRUE(printed);
  EXPECT_TRUE(printed->bytes->ends_with("29998\n29999\n"));
  EXPECT_EQ(printed->media_type, "text/plain");
  const auto value = tools.resources().Find("ada", cut["result"]["uri"]);
  ASSERT_TRUE(value);
  EXPECT_EQ(json::parse(*value->bytes).size(), 30'000u);
  EXPECT_FALSE(tools.resources().Find("bob", cut["stdout"]["uri"]));
}

TEST(Answers, HaveTheFormThatTheCallerReads) {
  using Form = ToolCall::Form;
  const auto answer = [](Form form, json more = json::object()) {
    ToolCall call;
    call.arguments = {{"code", "print('hi')\n6 * 7"}};
    call.arguments.update(more);
    call.form = form;
    core::Result<ToolResult> result = tests::Shared().Get("execute_code").Call(call);
    EXPECT_TRUE(result);
    return result ? std::move(*result) : ToolResult();
  };
  const ToolResult both = answer(Form::kAnswer);
  EXPECT_EQ(both.text, "stdout:\nhi\n\nvalue:\n42");
  EXPECT_EQ(json::parse(both.structured)["result"], 42);
  EXPECT_FALSE(both.outcome);
  const ToolResult structured = answer(Form::kStructured);
  EXPECT_EQ(structured.text, "");
  EXPECT_EQ(json::parse(structured.structured)["result"], 42);
  for (const char* detail : {"lean", "full"}) {
    const ToolResult value = answer(Form::kOutcome, {{"detail", detail}});
    EXPECT_EQ(value.structured + value.text, "");
    ASSERT_TRUE(value.outcome);
    EXPECT_EQ(value.outcome->stdout_stream.text, "hi\n");
    EXPECT_EQ(value.outcome->result_repr, "42");
  }
  const ToolResult silent = answer(Form::kOutcome, {{"capture_output", false}});
  ASSERT_TRUE(silent.outcome);
  EXPECT_EQ(silent.outcome->stdout_stream.text, "");
  const ToolResult refused = answer(Form::kOutcome, {{"code", 5}});
  EXPECT_FALSE(refused.outcome);
  EXPECT_EQ(refused.fault, ToolResult::Fault::kArguments);
  EXPECT_NE(refused.text, "");
}

TEST(Answers, CancelledCallsFitToo) {
  const auto cancellation = std::make_shared<Cancellation>();
  cancellation->Cancel();
  ToolCall call;
  call.cancellation = cancellation;
  for (const char* detail : {"lean", "full"}) {
    call.arguments = {{"code", "1"}, {"detail", detail}};
    EXPECT_EQ(tests::Shared().CallWith("execute_code", call).object["status"], "killed");
    (void)tests::Shared().CallWith("validate_code", call);
  }
}

TEST(Answers, OfTheOtherToolsFitTheirSchemas) {
  for (const char* detail : {"lean", "full"}) {
    for (const char* code : {"", "import math", "import ctypes", "x = = 1", "\tx\n  y"}) {
      const tests::Answered answer = tests::Validate({{"code", code}, {"detail", detail}});
      EXPECT_FALSE(answer.is_error);
      if (*detail == 'f') {
        EXPECT_TRUE(SchemaErrors(FullValidationSchema(), answer.object).empty());
      } else {
        EXPECT_FALSE(answer.text.empty());
      }
    }
    std::string many;
    for (int i = 0; i < 3'000; ++i) many += "import m" + std::to_string(i) + "\n";
    const tests::Answered answer = tests::Validate({{"code", many}, {"detail", detail}});
    EXPECT_EQ(answer.object["truncated"], true);
    if (*detail == 'l') {
      EXPECT_LT(answer.object.dump().size(), 10'000u);
    }
  }
}

TEST(Answers, TheServersSettingsAreTheDefault) {
  AnswersConfig answers;
  answers.detail = "full";
  tests::Tools full(ExecutionConfig{}, {}, {}, answers);
  EXPECT_TRUE(full.Call("execute_code", {{"code", "1"}}).object.contains("limits"));
  EXPECT_EQ(full.Call("execute_code", {{"code", "1"}, {"detail", "lean"}}).text, "value:\n1");
  answers = {.characters = 300, .detail = "lean"};
  tests::Tools small(ExecutionConfig{}, {}, {}, answers);
  const tests::Answered answer = small.Call("execute_code", {{"code", "print('word ' * 200)"}});
  EXPECT_HOLDS(answer.text, "characters left out");
  EXPECT_LT(answer.text.size(), 500u);
  const tests::Answered refused = small.Call("execute_code", {{"code", "1"}, {"detail", "most"}});
  EXPECT_HOLDS(refused.message, "detail is \"most\"; send \"lean\" or \"full\"");
}

// --- what takes a container or a network to make ------------------------------------------------

TEST(Answers, OfRunsInContainersAndWithNetworksFitTheSchema) {
  host::Outcome outcome;
  outcome.status = host::Status::kOk;
  outcome.execution_id = "7f3c";
  outcome.isolation = {"standard", "full", {{"seccomp", true, ""}, {"landlock", false, "no"}}};
  outcome.container = host::ContainerReport{.engine = "Docker Engine",
                                            .runtime = "runsc",
                                            .image_digest = "sha256:0",
                                            .not_limited = {"cpu"},
                                            .packages = {"six==1.17.0"}};
  outcome.network = {{"a.example", 443, "connect", true, "192.0.2.1"},
                     {"b.example", 80, "http", false, "not allowed"}};
  outcome.network_left_out = 3;
  outcome.security_events = {{"seccomp", "denied", "socket", 2}};
  outcome.artifacts.resize(1);
  outcome.artifacts[0].name = "a.csv";
  outcome.artifacts[0].media_type = "text/csv";
  for (const host::Status status :
       {host::Status::kOk, host::Status::kException, host::Status::kKilled}) {
    outcome.status = status;
    if (status != host::Status::kOk) outcome.error = host::GuestError{.type = "Killed"};
    const json lean = json::parse(host::AnswerJson(outcome));
    for (const std::string& error : SchemaErrors(AnswerSchema(), lean)) ADD_FAILURE() << error;
    EXPECT_EQ(lean["isolation"]["container"], "runsc");
    EXPECT_EQ(lean["container"]["packages"], json::array({"six==1.17.0"}));
    EXPECT_EQ(lean["network"][1]["detail"], "not allowed");
    EXPECT_EQ(lean["cut"]["network"]["left_out"], 3);
    EXPECT_EQ(lean["security_events"][0]["count"], 2);
    const json full = json::parse(host::OutcomeToJson(outcome));
    for (const std::string& error : SchemaErrors(AnswerSchema(), full)) ADD_FAILURE() << error;
    EXPECT_HOLDS(host::AnswerText(outcome), "[belljar: no connection to \"b.example\", port 80");
  }
}

}  // namespace
}  // namespace belljar::server::tools::answers_test
