// The outcome as JSON: whatever bytes the guest wrote, the object is valid UTF-8 JSON.
#include "engine/host/outcome.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/support/support.h"

namespace belljar::host::outcome_test {
namespace {

using nlohmann::json;

json AsJson(const Outcome& outcome) { return json::parse(OutcomeToJson(outcome)); }

TEST(OutcomeJson, AnEmptyOutcomeHasEveryKey) {
  const json object = AsJson({});
  for (const char* key : {"success", "status", "execution_id", "result", "result_repr", "stdout",
                          "stderr", "exit_code", "execution_time", "variables", "error", "findings",
                          "usage", "truncated", "limits", "isolation", "security_events"}) {
    EXPECT_TRUE(object.contains(key)) << key;
  }
  EXPECT_EQ(object["status"], "killed") << "what nobody set is no success";
  EXPECT_EQ(object["success"], false);
  EXPECT_TRUE(object["result"].is_null());
  EXPECT_TRUE(object["error"].is_null());
  EXPECT_TRUE(object["variables"].is_array());
  EXPECT_TRUE(object["truncated"].is_object());
}

TEST(OutcomeJson, EachStatusHasItsNameAndOnlyOkIsSuccess) {
  const std::pair<Status, const char*> kNames[] = {
      {Status::kOk, "ok"},
      {Status::kException, "exception"},
      {Status::kRefused, "refused"},
      {Status::kTimeout, "timeout"},
      {Status::kCpuLimit, "cpu_limit"},
      {Status::kMemoryLimit, "memory_limit"},
      {Status::kKilled, "killed"},
  };
  for (const auto& [status, name] : kNames) {
    Outcome outcome;
    outcome.status = status;
    EXPECT_EQ(AsJson(outcome)["status"], name);
    EXPECT_EQ(AsJson(outcome)["success"], status == Status::kOk);
  }
}

TEST(OutcomeJson, OutputThatIsNotUtf8IsReplacedNotRefused) {
  Outcome outcome;
  outcome.stdout_stream.text = std::string("a\xff\xfe\0z", 5);
  outcome.stderr_stream.text = "\xed\xa0\x80 \xf4\x90\x80\x80 \xc0\xaf \xe2\x82";
  const json object = AsJson(outcome);
  EXPECT_EQ(object["stdout"].get<std::string>(), std::string("a\xef\xbf\xbd\xef\xbf\xbd\0z", 9));
  EXPECT_NE(object["stderr"].get<std::string>().find("\xef\xbf\xbd"), std::string::npos);
}

TEST(OutcomeJson, OutputThatIsNotUtf8IsThereAsBytes) {
  Outcome outcome;
  outcome.stdout_stream.text = "\xe9\n";
  outcome.stderr_stream.text = "\xc3\xa9\n";
  const json object = AsJson(outcome);
  EXPECT_EQ(object["stdout_base64"], "6Qo=");
  EXPECT_FALSE(object.contains("stderr_base64"));
}

TEST(OutcomeJson, EveryTextOfTheGuestMayBeInvalid) {
  const std::string bad = "\x80\xff";
  Outcome outcome;
  outcome.execution_id = bad;
  outcome.result_repr = bad;
  outcome.variables = {bad};
  outcome.error = GuestError{bad, bad, 1, 1, 1, 1, bad, bad};
  outcome.findings = {{bad, bad, 1, 1, 1, 1, bad, bad, bad}};
  outcome.truncated = {bad};
  outcome.isolation = {bad, bad, {{bad, true, bad}}};
  outcome.security_events = {{bad, bad, bad, 1}};
  EXPECT_TRUE(AsJson(outcome).is_object());
  EXPECT_TRUE(json::parse(FindingsToJson(outcome.findings)).is_array());
}

TEST(OutcomeJson, TheResultIsEmbeddedAsJson) {
  Outcome outcome;
  outcome.result_json = R"({"a":[1,2.5,null,"\ud83d\ude00"]})";
  const json object = AsJson(outcome);
  EXPECT_EQ(object["result"]["a"][1], 2.5);
  EXPECT_EQ(object["result"]["a"][3], "\xf0\x9f\x98\x80");
  outcome.result_json = "null";
  EXPECT_TRUE(AsJson(outcome)["result"].is_null());
}

TEST(OutcomeJson, AResultOfManyKeysTakesTimeInProportion) {
  // A guest's {str(i): 0 for i in range(80_000)}: each key was once looked up in all before it.
  json result = json::object();
  for (int i = 0; i < 80'000; ++i) result[std::to_string(100'000 + i)] = 0;
  Outcome outcome;
  outcome.result_json = result.dump();
  const auto began = std::chrono::steady_clock::now();
  const std::string text = OutcomeToJson(outcome);
  EXPECT_LT(std::chrono::steady_clock::now() - began, tests::Within(std::chrono::seconds(5)));
  EXPECT_EQ(json::parse(text)["result"], result);
}

TEST(OutcomeJson, DroppedBytesAndCutPartsAreFlagged) {
  Outcome outcome;
  outcome.stdout_stream.dropped_bytes = UINT64_MAX;
  outcome.truncated = {"result", "traceback"};
  const json truncated = AsJson(outcome)["truncated"];
  EXPECT_EQ(truncated["stdout"], UINT64_MAX);
  EXPECT_FALSE(truncated.contains("stderr"));
  EXPECT_EQ(truncated["result"], true);
  EXPECT_EQ(truncated["traceback"], true);
}

TEST(OutcomeJson, PositionsThatAreNotKnownAreNull) {
  Outcome outcome;
  outcome.error = GuestError{};
  outcome.error->type = "Timeout";
  const json error = AsJson(outcome)["error"];
  EXPECT_TRUE(error["line"].is_null());
  EXPECT_TRUE(error["traceback"].is_null());
  EXPECT_EQ(error["type"], "Timeout");
}

TEST(OutcomeJson, TimesAreSeconds) {
  Outcome outcome;
  outcome.usage.wall_time = std::chrono::milliseconds(1500);
  outcome.usage.cpu_time = std::chrono::microseconds(250);
  const json object = AsJson(outcome);
  EXPECT_DOUBLE_EQ(object["execution_time"].get<double>(), 1.5);
  EXPECT_DOUBLE_EQ(object["usage"]["cpu_time"].get<double>(), 0.00025);
  EXPECT_DOUBLE_EQ(object["limits"]["timeout"].get<double>(), 30);
}

}  // namespace
}  // namespace belljar::host::outcome_test
