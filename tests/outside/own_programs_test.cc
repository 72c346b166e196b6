#include "engine/outside/own_programs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace belljar::outside {
namespace {

using namespace std::chrono_literals;

constexpr char kProgram[] = "import subprocess, sys; sys.executable";

class OwnProgramsTest : public testing::Test {
 protected:
  OwnProgramsTest() { request_.source = kProgram; }

  // What the host answers to a worker that makes this call.
  std::string Answer(std::string_view arguments) {
    std::string answer;
    const RunProgram first = [&](const host::Request& request, const run::RunOptions& run) {
      EXPECT_EQ(request.functions, std::vector<std::string>{"@python"});
      if (run.allowance) *run.allowance = {10s, 5s, {}};
      answer = run.call("@python", arguments);
      host::Outcome outcome;
      outcome.status = host::Status::kOk;
      used_ = run.allowance ? run.allowance->used : 0us;
      return core::Result<host::Outcome>(std::move(outcome));
    };
    const RunProgram others = [&](const host::Request& request, const run::RunOptions&) {
      started_.push_back(request);
      host::Outcome outcome;
      outcome.status = host::Status::kOk;
      outcome.stdout_stream.text = "out";
      outcome.usage.cpu_time = 7us;
      return core::Result<host::Outcome>(std::move(outcome));
    };
    EXPECT_TRUE(RunWithOwnPrograms(options_, request_, {}, first, others));
    return answer;
  }

  SandboxOptions options_;
  host::Request request_;
  std::vector<host::Request> started_;
  std::chrono::microseconds used_{0};
};

TEST_F(OwnProgramsTest, RunsWhatIsAskedForWithinWhatIsLeft) {
  EXPECT_EQ(
      Answer(R"J({"args": ["print(1)", "<string>", ["a"], null, null, 2], "kwargs": {}})J"),
      R"({"value":[0,false,{"$type":"bytes","base64":"b3V0"},{"$type":"bytes","base64":""}]})");
  ASSERT_EQ(started_.size(), 1U);
  EXPECT_EQ(started_[0].source, "print(1)");
  EXPECT_EQ(started_[0].limits.timeout, 2s);
  EXPECT_EQ(started_[0].limits.cpu, 5s);
  EXPECT_TRUE(started_[0].functions.empty());
  EXPECT_EQ(used_, 7us);
}

TEST_F(OwnProgramsTest, RunsNothingForCallsThatNoViewMakes) {
  for (const char* const arguments :
       {"", "[]", "{}", R"({"args": []})", R"({"args": {}})", R"({"args": [1, 2, 3, 4, 5, 6]})",
        R"({"args": ["1", "n", "x", null, null, null]})",
        R"({"args": ["1", "n", [1], null, null, null]})",
        R"({"args": ["1", "n", [], ["A=1", 2], null, null]})",
        R"({"args": ["1", "n", [], null, "text", null]})",
        R"({"args": ["1", "n", [], null, {"base64": 1}, null]})",
        R"({"args": ["1", "n", [], null, {"base64": "?"}, null]})",
        R"({"args": ["1", "n", [], null, null, "1"]})"}) {
    EXPECT_NE(Answer(arguments).find("ValueError"), std::string::npos) << arguments;
  }
  EXPECT_TRUE(started_.empty());
}

TEST_F(OwnProgramsTest, AreOnlyForProgramsOfThePolicyThatNameThem) {
  const auto has_function = [this] {
    bool has = false;
    const RunProgram first = [&](const host::Request& request, const run::RunOptions&) {
      has = !request.functions.empty();
      return core::Result<host::Outcome>(host::Outcome());
    };
    (void)RunWithOwnPrograms(options_, request_, {}, first, first);
    return has;
  };
  EXPECT_TRUE(has_function());
  options_.policy = Policy::kOff;
  EXPECT_FALSE(has_function());
  options_.policy = Policy::kOn;
  options_.single_run = true;  // in a container
  EXPECT_FALSE(has_function());
  options_.single_run = false;
  request_.source = "import subprocess";
  EXPECT_FALSE(has_function());
}

}  // namespace
}  // namespace belljar::outside
