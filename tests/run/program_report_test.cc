// The reader of reports of programs of other languages: a hostile process may have written what it
// reads. It answers false or fills the outcome, and on false the outcome is as it was.
#include "engine/run/program_report.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/flat.h"
#include "engine/core/program_messages.h"
#include "engine/host/outcome_fields.h"

namespace belljar::run::program_report_test {
namespace {

constexpr uint64_t kMaxSize = 1000;

core::ProgramReport Failed() {
  return {.end = {.exit_code = 3, .max_rss_bytes = 8},
          .error = {.type = "TypeError", .message = "boom", .line = 4, .column = 5},
          .cpu_microseconds = 7};
}

core::ProgramReport Answered(std::string answer) { return {.answer = std::move(answer)}; }

host::Outcome Read(const core::ProgramReport& report) {
  host::Outcome outcome;
  EXPECT_TRUE(ReadProgramReport(core::ToFlat(report), kMaxSize, outcome));
  return outcome;
}

std::string ErrorText(const host::Outcome& outcome) {
  return outcome.error ? outcome.error->type + ": " + outcome.error->message : "";
}

TEST(ProgramReport, AGoodOneFillsTheOutcome) {
  const host::Outcome outcome = Read(Failed());
  EXPECT_EQ(outcome.status, host::Status::kException);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(ErrorText(outcome), "TypeError: boom");
  EXPECT_EQ(outcome.error->line, 4);
  EXPECT_EQ(outcome.error->column, 5);
  EXPECT_EQ(outcome.usage.cpu_time, std::chrono::microseconds(7));
  EXPECT_EQ(outcome.usage.max_rss_bytes, 8);
  EXPECT_FALSE(outcome.session);
  EXPECT_EQ(Read({}).status, host::Status::kOk);
  EXPECT_EQ(Read({}).exit_code, 0);
}

TEST(ProgramReport, WhatWasRunNamesAnErrorWithoutOne) {
  EXPECT_EQ(ErrorText(Read({.end = {.exit_code = 2}})), "ExitStatus: exited with status 2");
  EXPECT_EQ(ErrorText(Read({.end = {.exit_code = 2}, .is_compiler = true})),
            "CompileError: exited with status 2");
  EXPECT_EQ(ErrorText(Read({.end = {.not_started = ENOENT}})),
            "ExitStatus: the program could not be started: No such file or directory");
  const host::Outcome killed = Read({.end = {.exit_code = 128 + SIGSEGV, .signal = SIGSEGV}});
  EXPECT_EQ(ErrorText(killed), "SIGSEGV: killed by a signal: Segmentation fault");
  EXPECT_EQ(killed.kill_signal, SIGSEGV);
  EXPECT_FALSE(killed.exit_code);
}

TEST(ProgramReport, AMalformedOneIsRefused) {
  std::string good = core::ToFlat(Failed());
  const auto is_refused = [](const std::string& report) {
    host::Outcome outcome;
    outcome.status = host::Status::kTimeout;
    outcome.result_repr = "mark";
    const std::string before = host::OutcomeToJson(outcome);
    const bool read = ReadProgramReport(report, kMaxSize, outcome);
    EXPECT_TRUE(read || host::OutcomeToJson(outcome) == before) << "the outcome changed";
    return !read;
  };
  ASSERT_FALSE(is_refused(good));
  for (size_t size = 0; size < good.size(); ++size) EXPECT_TRUE(is_refused(good.substr(0, size)));
  EXPECT_TRUE(is_refused(good + '\0'));
  for (const int32_t signal : {-1, static_cast<int32_t>(host::kMaxSignal) + 1}) {
    core::ProgramReport report = Failed();
    report.end.signal = signal;
    EXPECT_TRUE(is_refused(core::ToFlat(report))) << signal;
  }
  // Each byte replaced: it is refused, or reads as something else, and nothing is read beyond it.
  for (size_t at = 0; at < good.size(); ++at) {
    for (const char byte : {'\x01', '\x7f', '\xff'}) {
      std::string changed = good;
      changed[at] = byte;
      (void)is_refused(changed);
    }
  }
}

TEST(ProgramReport, NumbersAndTextsHaveBounds) {
  core::ProgramReport report = Failed();
  report.error = {.type = std::string(1000, 't'), .message = std::string(100'000, 'm'), .line = -3};
  report.cpu_microseconds = std::numeric_limits<uint64_t>::max();
  const host::Outcome outcome = Read(report);
  EXPECT_EQ(outcome.error->type.size(), 200);
  EXPECT_EQ(outcome.error->message.size(), 16 << 10);
  EXPECT_EQ(outcome.error->line, 0);
  EXPECT_EQ(outcome.usage.cpu_time, std::chrono::microseconds(host::kMaxMicroseconds));
  report.error.message = "\xff";
  EXPECT_EQ(ErrorText(Read(report)), std::string(200, 't') + ": \xef\xbf\xbd");
}

TEST(ProgramReport, AnAnswerHasAResultAndARepr) {
  const host::Outcome outcome =
      Read(Answered(R"({"result": "{\"a\": [1, 2]}", "repr": "a: 1 2"})"));
  EXPECT_EQ(outcome.status, host::Status::kOk);
  EXPECT_EQ(outcome.result_json, R"({"a":[1,2]})");
  EXPECT_EQ(outcome.result_repr, "a: 1 2");
  EXPECT_FALSE(Read(Answered(R"({"result": "null"})")).result_json);
  EXPECT_TRUE(Read(Answered(R"({"result": "null"})")).truncated.empty());
}

TEST(ProgramReport, AnAnswerSaysHowTheCellFailed) {
  const host::Outcome failed =
      Read(Answered(R"({"error": {"type": "E", "message": "m", "line": 2}})"));
  EXPECT_EQ(ErrorText(failed), "E: m");
  EXPECT_EQ(failed.error->line, 2);
  EXPECT_EQ(failed.exit_code, 1);
  const host::Outcome interrupted = Read(Answered(R"({"interrupted": true})"));
  EXPECT_EQ(ErrorText(interrupted), "Interrupted: interrupted");
  EXPECT_EQ(interrupted.exit_code, 128 + SIGINT);
  // By the patterns of its language, where the interpreter does not say it.
  core::ProgramReport by_pattern = Answered(R"({"exit_code": 4})");
  by_pattern.error = {.message = "boom", .line = 9};
  EXPECT_EQ(ErrorText(Read(by_pattern)), "ExitStatus: boom");
  // A cell that is fine may have written something like an error.
  EXPECT_FALSE(Read({.error = {.line = 1}, .answer = "{}"}).error);
}

TEST(ProgramReport, AMalformedAnswerEndsTheInterpreter) {
  for (const char* answer :
       {"x", "[]", "1", "{", R"({"exit_code": "1"})", R"({"exit_code": 1e300})",
        R"({"error": {"line": 2.5}})", R"({"error": {"column": 99999999999}})", R"({"error": 1})",
        R"({"result": 1})", R"({"repr": [1]})", R"({"repr": "a", "repr": "b"})",
        "[[[[[[[[[[[[[]]]]]]]]]]]]]"}) {
    const host::Outcome outcome = Read(Answered(answer));
    EXPECT_EQ(ErrorText(outcome), "SessionError: the interpreter's answer was malformed") << answer;
    EXPECT_TRUE(outcome.session && outcome.session->restarted) << answer;
    EXPECT_FALSE(outcome.result_json) << answer;
  }
}

TEST(ProgramReport, AResultThatIsTooLongOrTooDeepIsLeftOut) {
  const auto answer = [](const std::string& result, const std::string& repr) {
    return Answered(nlohmann::json{{"result", result}, {"repr", repr}}.dump());
  };
  const std::string number(kMaxSize, '1');
  const host::Outcome fits = Read(answer('"' + std::string(kMaxSize - 2, 'a') + '"', ""));
  EXPECT_TRUE(fits.result_json);
  const host::Outcome long_repr = Read(answer("1", number));
  EXPECT_EQ(long_repr.result_json, "1");
  EXPECT_EQ(long_repr.truncated, std::vector<std::string>{"result_repr"});
  for (const std::string& result :
       {'"' + number + '"', std::string("[1"), std::string(65, '[') + std::string(65, ']')}) {
    const host::Outcome outcome = Read(answer(result, "repr"));
    EXPECT_FALSE(outcome.result_json) << result;
    EXPECT_EQ(outcome.result_repr, "repr");
    EXPECT_EQ(outcome.truncated, std::vector<std::string>{"result"});
  }
}

}  // namespace
}  // namespace belljar::run::program_report_test
