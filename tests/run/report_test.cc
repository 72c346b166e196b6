// The report reader: a hostile process wrote what it reads. It answers false or fills the outcome;
// it never crashes, and on false the outcome is as it was.
#include "engine/run/report.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/host/digest.h"
#include "tests/support/support.h"

namespace belljar::run::report_test {
namespace {

using nlohmann::json;

json GoodReport() {
  return {{"status", "exception"},
          {"exit_code", 3},
          {"has_result", true},
          {"result", {1, 2, 3}},
          {"result_repr", "[1, 2, 3]"},
          {"variables", {"a", "b"}},
          {"error",
           {{"type", "ValueError"},
            {"message", "no"},
            {"line", 4},
            {"column", 5},
            {"end_line", 4},
            {"end_column", 9},
            {"traceback", "Traceback…"},
            {"hint", nullptr}}},
          {"findings",
           {{{"rule", "BJ201"},
             {"name", "import-not-allowed"},
             {"line", 1},
             {"column", 1},
             {"end_line", nullptr},
             {"end_column", nullptr},
             {"reason", "os is not in this profile"},
             {"hint", "leave it out"},
             {"profile", nullptr}}}},
          {"analysis",
           {{"imports", {"math", "os"}},
            {"branches", 2},
            {"nesting", 1},
            {"missing", {"click", "flask"}}}},
          {"truncated", {{"result", false}, {"traceback", true}}}};
}

// An outcome in which every field that the reader may touch has a mark.
host::Outcome Marked() {
  host::Outcome outcome;
  outcome.status = host::Status::kTimeout;
  outcome.exit_code = 77;
  outcome.result_json = "\"mark\"";
  outcome.result_repr = "mark";
  outcome.variables = {"mark"};
  outcome.error = host::GuestError{"mark", "mark", 1, 1, 1, 1, "mark", "mark"};
  outcome.findings = {{"mark", "mark", 1, 1, 1, 1, "mark", "mark", "mark"}};
  outcome.analysis = host::Analysis{{"mark"}, 1, 1};
  outcome.truncated = {"mark"};
  return outcome;
}

void ExpectRefused(const std::string& report, const std::string& what) {
  host::Outcome outcome = Marked();
  EXPECT_FALSE(ReadReport(report, outcome)) << what;
  EXPECT_EQ(host::OutcomeToJson(outcome), host::OutcomeToJson(Marked()))
      << what << ": the outcome changed";
  ASSERT_TRUE(outcome.analysis) << what;
  EXPECT_EQ(outcome.analysis->imports, std::vector<std::string>{"mark"}) << what;
}

TEST(Report, AGoodOneFillsTheOutcome) {
  host::Outcome outcome;
  ASSERT_TRUE(ReadReport(GoodReport().dump(), outcome));
  EXPECT_EQ(outcome.status, host::Status::kException);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.result_json, "[1,2,3]");
  EXPECT_EQ(outcome.result_repr, "[1, 2, 3]");
  EXPECT_EQ(outcome.variables, (std::vector<std::string>{"a", "b"}));
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->line, 4);
  EXPECT_EQ(outcome.error->hint, "");
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].rule, "BJ201");
  ASSERT_TRUE(outcome.analysis);
  EXPECT_EQ(outcome.analysis->imports, (std::vector<std::string>{"math", "os"}));
  EXPECT_EQ(outcome.analysis->branches, 2);
  EXPECT_EQ(outcome.analysis->nesting, 1);
  EXPECT_EQ(outcome.analysis->missing, (std::vector<std::string>{"click", "flask"}));
  EXPECT_EQ(outcome.truncated, std::vector<std::string>{"traceback"});
}

TEST(Report, OnlyWhatAWorkerCanKnowIsAStatus) {
  for (const char* status : {"ok", "exception", "refused", "memory_limit"}) {
    json report = GoodReport();
    report["status"] = status;
    host::Outcome outcome;
    EXPECT_TRUE(ReadReport(report.dump(), outcome)) << status;
  }
  for (const char* status : {"timeout", "cpu_limit", "killed", "OK", "", "strict", "ok "}) {
    json report = GoodReport();
    report["status"] = status;
    ExpectRefused(report.dump(), status);
  }
}

TEST(Report, EveryMissingKeyIsRefused) {
  const json good = GoodReport();
  for (const auto& [key, value] : good.items()) {
    json report = GoodReport();
    report.erase(key);
    ExpectRefused(report.dump(), "without " + key);
  }
  for (const char* part : {"error", "findings", "analysis"}) {
    const json& original = good[part];
    const json& object = original.is_array() ? original[0] : original;
    for (const auto& [key, value] : object.items()) {
      json report = GoodReport();
      (original.is_array() ? report[part][0] : report[part]).erase(key);
      ExpectRefused(report.dump(), std::string(part) + " without " + key);
    }
  }
}

// Every value in the report replaced, one at a time, by values of every type.
TEST(Report, WrongTypesForEveryFieldDoNoHarm) {
  const std::vector<json> wrong = {nullptr,
                                   true,
                                   -1,
                                   2.5,
                                   1e300,
                                   -1e300,
                                   UINT64_MAX,
                                   INT64_MIN,
                                   "",
                                   "text",
                                   json::array(),
                                   json::array({1, "a", nullptr}),
                                   json::object(),
                                   {{"line", {1}}},
                                   json::array({json::array({json::object()})})};
  const json flat = GoodReport().flatten();
  std::vector<std::string> pointers;
  for (const auto& [pointer, value] : flat.items()) {
    for (std::string at = pointer; !at.empty(); at.resize(at.rfind('/'))) pointers.push_back(at);
  }
  for (const std::string& pointer : pointers) {
    for (const json& value : wrong) {
      json report = GoodReport();
      report[json::json_pointer(pointer)] = value;
      host::Outcome outcome = Marked();
      const bool read = ReadReport(report.dump(), outcome);
      if (!read) {
        EXPECT_EQ(host::OutcomeToJson(outcome), host::OutcomeToJson(Marked()))
            << pointer << " " << value;
      }
    }
  }
  for (const json& value : wrong) ExpectRefused(value.dump(), value.dump());
}

TEST(Report, PositionsAndExitCodesThatAreNoIntegersAreRefused) {
  for (const json& value : {json(2.5), json(1e300), json(UINT64_MAX), json(INT64_MIN), json(true),
                            json("7"), json(int64_t{1} << 31)}) {
    json report = GoodReport();
    report["error"]["line"] = value;
    ExpectRefused(report.dump(), "line " + value.dump());
    report = GoodReport();
    report["findings"][0]["column"] = value;
    ExpectRefused(report.dump(), "column " + value.dump());
    report = GoodReport();
    report["exit_code"] = value;
    ExpectRefused(report.dump(), "exit_code " + value.dump());
  }
}

TEST(Report, CommentsAreReadWhereThereAreAny) {
  const auto with = [](const json& comments) {
    json report = GoodReport();
    report["comments"] = comments;
    return report.dump();
  };
  host::Outcome outcome;
  ASSERT_TRUE(ReadReport(GoodReport().dump(), outcome));
  EXPECT_TRUE(outcome.comments.empty());
  const json comment = {{"line", 3}, {"text", "# belljar: ignore[BJ501]"}};
  ASSERT_TRUE(ReadReport(with(json::array({comment})), outcome));
  ASSERT_EQ(outcome.comments.size(), 1u);
  EXPECT_EQ(outcome.comments[0].line, 3);
  EXPECT_EQ(outcome.comments[0].text, "# belljar: ignore[BJ501]");
  ExpectRefused(with("#"), "a text");
  ExpectRefused(with(json::array({"#"})), "a list of texts");
  ExpectRefused(with(json::array({{{"line", -1}, {"text", "#"}}})), "a negative line");
  ExpectRefused(with(json::array({{{"line", 1}}})), "no text");
  ExpectRefused(with(json::array({{{"line", 1}, {"text", std::string(801, '#')}}})), "too long");
  ExpectRefused(with(json(std::vector<json>(1001, comment))), "too many");
}

TEST(Report, AnAnalysisThatTheRunnerCannotHaveWrittenIsRefused) {
  const auto with = [](const char* key, const json& value) {
    json report = GoodReport();
    report["analysis"][key] = value;
    return report.dump();
  };
  for (const json& value : {json(-1), json(2.5), json(UINT64_MAX), json(true), json("2"), json()}) {
    ExpectRefused(with("branches", value), "branches " + value.dump());
    ExpectRefused(with("nesting", value), "nesting " + value.dump());
  }
  for (const json& value : {json("math"), json(), json::array({1}), json::array({nullptr})}) {
    ExpectRefused(with("imports", value), "imports " + value.dump());
    ExpectRefused(with("missing", value), "missing " + value.dump());
  }
  const std::string longest(host::kMaxImportBytes, 'm');
  ExpectRefused(with("imports", {longest + "m"}), "a long import");
  ExpectRefused(with("missing", {longest + "m"}), "a long name");
  ExpectRefused(with("imports", std::vector<std::string>(host::kMaxImports + 1, "m")),
                "many imports");
  host::Outcome outcome;
  EXPECT_TRUE(
      ReadReport(with("imports", std::vector<std::string>(host::kMaxImports, longest)), outcome));
  json report = GoodReport();
  report["analysis"] = nullptr;
  host::Outcome without;
  EXPECT_TRUE(ReadReport(report.dump(), without));
  EXPECT_FALSE(without.analysis);
}

TEST(Report, AWorkerOfPythonCannotSayHowAProgramEnded) {
  json report = GoodReport();
  report["program"] = {
      {"cpu_microseconds", 7}, {"max_rss_bytes", 8}, {"signal", 11}, {"session_ended", true}};
  host::Outcome outcome;
  ASSERT_TRUE(ReadReport(report.dump(), outcome));
  EXPECT_EQ(outcome.kill_signal, 0);
  EXPECT_EQ(outcome.usage.max_rss_bytes, 0);
  EXPECT_FALSE(outcome.session);
}

TEST(Report, ListsThatAreNoListsAreRefused) {
  for (const char* key : {"variables", "findings", "truncated"}) {
    for (const json& value : {json("text"), json(nullptr), json(1)}) {
      json report = GoodReport();
      report[key] = value;
      ExpectRefused(report.dump(), std::string(key) + " " + value.dump());
    }
  }
}

TEST(Report, DepthIsRefusedBeforeATreeIsBuilt) {
  const size_t kDeep = 100'000;
  for (const auto& [open, close] : {std::pair("[", "]"), std::pair("{\"a\":", "}")}) {
    std::string nested;
    for (size_t i = 0; i < kDeep; ++i) nested += open;
    ExpectRefused(nested, "unclosed");
    nested += "1";
    for (size_t i = 0; i < kDeep; ++i) nested += close;
    ExpectRefused(nested, "closed");
    json report = GoodReport();
    std::string text = report.dump();
    text.replace(text.find("[1,2,3]"), 7, nested);
    ExpectRefused(text, "in the result");
  }
}

TEST(Report, ItTakesTimeInProportionToTheLength) {
  // Once each of these objects cost a look at all before it, and the host two minutes.
  json report = GoodReport();
  report["result"] = json::array();
  for (int i = 0; i < 300'000; ++i) report["result"].push_back(json::object());
  const std::string text = report.dump();
  host::Outcome outcome;
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(ReadReport(text, outcome));
  EXPECT_LT(std::chrono::steady_clock::now() - began, tests::Within(std::chrono::seconds(10)));
}

TEST(Report, OnlyTheRunnersOwnPartsAreCut) {
  // "stdout" would hide how much of the output the host has dropped.
  for (const char* part : {"stdout", "stderr", "", "limits"}) {
    json report = GoodReport();
    report["truncated"] = {{part, true}};
    ExpectRefused(report.dump(), part);
    report["truncated"] = {{part, false}};
    ExpectRefused(report.dump(), part);
  }
  for (const char* part :
       {"result", "result_repr", "traceback", "findings", "variables", "message", "imports"}) {
    json report = GoodReport();
    report["truncated"] = {{part, true}};
    host::Outcome outcome;
    EXPECT_TRUE(ReadReport(report.dump(), outcome));
    EXPECT_EQ(outcome.truncated, std::vector<std::string>{part});
  }
}

TEST(Report, DepthUpToTheLimitIsRead) {
  const size_t depth = kMaxReportDepth - 10;
  std::string text = GoodReport().dump();
  text.replace(text.find("[1,2,3]"), 7, std::string(depth, '[') + std::string(depth, ']'));
  host::Outcome outcome;
  EXPECT_TRUE(ReadReport(text, outcome));
  EXPECT_FALSE(host::OutcomeToJson(outcome).empty());
}

TEST(Report, HugeAndOddNumbersInTheResult) {
  const auto with_result = [](const std::string& result) {
    std::string text = GoodReport().dump();
    return text.replace(text.find("[1,2,3]"), 7, result);
  };
  for (const char* bad : {"NaN", "Infinity", "-Infinity", "1e999", "-1e999", "0x10", "01", "+1",
                          "1.", ".5", "--1", "1e"}) {
    ExpectRefused(with_result(bad), bad);
  }
  for (const std::string& good :
       {std::string("18446744073709551615"), std::string("-9223372036854775808"),
        std::string("1e-999"), std::string("-0.0"), std::string(300, '9')}) {
    host::Outcome outcome;
    EXPECT_TRUE(ReadReport(with_result(good), outcome)) << good;
    EXPECT_TRUE(json::accept(host::OutcomeToJson(outcome))) << good;
  }
  ExpectRefused(with_result(std::string(100'000, '9')), "a number of 100,000 digits");
}

TEST(Report, InvalidTextIsRefused) {
  const auto with_repr = [](const std::string& repr) {
    std::string text = GoodReport().dump();
    return text.replace(text.find("\"[1, 2, 3]\""), 11, repr);
  };
  for (const std::string& bad :
       {std::string("\"\xff\""), std::string("\"\xed\xa0\x80\""), std::string("\"\xc0\x80\""),
        std::string("\"\xf5\x80\x80\x80\""), std::string("\"\\ud800\""),
        std::string("\"\\udc00\\ud800\""), std::string("\"\\u12\""), std::string("\"\\x41\""),
        std::string("\"\n\""), std::string("\"a\0b\"", 5), std::string("\"open")}) {
    ExpectRefused(with_repr(bad), json(bad).dump(-1, ' ', true, json::error_handler_t::replace));
  }
  host::Outcome outcome;
  EXPECT_TRUE(ReadReport(with_repr("\"\\u0000\""), outcome)) << "NUL is a character";
  EXPECT_EQ(outcome.result_repr, std::string(1, '\0'));
}

TEST(Report, DuplicateKeysDoNoHarm) {
  std::string text = GoodReport().dump();
  text.insert(1, R"("status":"ok","status":7,"variables":null,"error":[],)");
  host::Outcome outcome = Marked();
  if (!ReadReport(text, outcome)) {
    EXPECT_EQ(host::OutcomeToJson(outcome), host::OutcomeToJson(Marked()));
  }
}

TEST(Report, EveryTruncationIsRefused) {
  const std::string text = GoodReport().dump();
  for (size_t size = 0; size < text.size(); ++size) {
    ExpectRefused(text.substr(0, size), "cut at " + std::to_string(size));
  }
  ExpectRefused(text + "x", "something behind");
  ExpectRefused(text + text, "two");
  ExpectRefused(std::string("\0", 1) + text, "NUL before");
}

TEST(Report, RandomDamageDoesNoHarm) {
  std::mt19937 random(20261121);
  const std::string text = GoodReport().dump();
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = text;
    for (int i = 0; i < 1 + round % 4; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    host::Outcome outcome = Marked();
    if (!ReadReport(damaged, outcome)) {
      ASSERT_EQ(host::OutcomeToJson(outcome), host::OutcomeToJson(Marked())) << damaged;
    } else {
      ASSERT_TRUE(json::accept(host::OutcomeToJson(outcome))) << damaged;
    }
  }
}

TEST(Report, TenMegabytesAreReadInReasonableTime) {
  const size_t kSize = 10 << 20;
  json report = GoodReport();
  report["result"] = std::string(kSize, 'x');
  const auto start = std::chrono::steady_clock::now();
  host::Outcome outcome;
  EXPECT_TRUE(ReadReport(report.dump(), outcome));
  ExpectRefused(std::string(kSize, '['), "ten million brackets");
  ExpectRefused(std::string(kSize, '"'), "ten million quotes");
  ExpectRefused(std::string(kSize, '\0'), "zeros");
  ExpectRefused(std::string(kSize, ' '), "spaces");
  EXPECT_LT(std::chrono::steady_clock::now() - start, tests::Within(std::chrono::seconds(20)));
}

json ReportWith(const json& artifact) {
  json report = GoodReport();
  report["artifacts"] = json::array({artifact});
  report["artifacts_left_out"] = 2;
  return report;
}

json GoodArtifact() {
  return {{"name", "figure-1.png"},
          {"media_type", "image/png"},
          {"offset", 3},
          {"size", 4},
          {"note", nullptr}};
}

TEST(Report, ArtifactsAreTheirPartsOfTheBytes) {
  host::Outcome outcome;
  ASSERT_TRUE(ReadReport(ReportWith(GoodArtifact()).dump(), outcome, "abcdefghij"));
  ASSERT_EQ(outcome.artifacts.size(), 1u);
  EXPECT_EQ(outcome.artifacts[0].name, "figure-1.png");
  EXPECT_EQ(outcome.artifacts[0].origin, host::Artifact::Origin::kDisplay);
  EXPECT_EQ(outcome.artifacts[0].content, "defg");
  EXPECT_EQ(outcome.artifacts[0].size, 4u);
  EXPECT_EQ(outcome.artifacts[0].sha256, host::Sha256("defg"));
  EXPECT_EQ(outcome.artifacts_left_out, 2u);
}

TEST(Report, ArtifactsOfAnotherFormAreRefused) {
  const auto with = [](const char* key, const json& value) {
    json artifact = GoodArtifact();
    artifact[key] = value;
    return ReportWith(artifact);
  };
  host::Outcome outcome;
  ASSERT_TRUE(ReadReport(ReportWith(GoodArtifact()).dump(), outcome, "abcdefg"));
  const json long_name = std::string(kMaxArtifactName + 1, 'a');
  for (const auto& [key, value] : std::vector<std::pair<const char*, json>>{
           {"name", ""},
           {"name", "../passwd"},
           {"name", "a/b.png"},
           {"name", ".hidden"},
           {"name", "a\nb"},
           {"name", "a\u00e4"},
           {"name", long_name},
           {"name", 7},
           {"media_type", "image/png\r\nX: y"},
           {"media_type", ""},
           {"note", std::string(kMaxArtifactNote + 1, 'a')},
           {"offset", 8},
           {"offset", -1},
           {"offset", 3.0},
           {"offset", UINT64_MAX},
           {"size", 5},
           {"size", UINT64_MAX},
           {"size", "4"},
       }) {
    host::Outcome untouched = Marked();
    EXPECT_FALSE(ReadReport(with(key, value).dump(), untouched, "abcdefg")) << key << value;
    EXPECT_TRUE(untouched.artifacts.empty());
  }
}

TEST(Report, ArtifactsThatShareBytesOrNamesAreRefused) {
  json first = GoodArtifact();
  json second = GoodArtifact();
  second["name"] = "figure-2.png";
  json report = GoodReport();
  report["artifacts_left_out"] = 0;
  report["artifacts"] = {first, second};
  host::Outcome outcome;
  EXPECT_TRUE(ReadReport(report.dump(), outcome, "abcdefghij"));
  EXPECT_FALSE(ReadReport(report.dump(), outcome, "abcdefg")) << "eight bytes of seven";
  report["artifacts"] = {first, first};
  EXPECT_FALSE(ReadReport(report.dump(), outcome, "abcdefghij")) << "two of one name";
  report["artifacts"] = std::vector<json>(kMaxArtifacts + 1, first);
  EXPECT_FALSE(ReadReport(report.dump(), outcome, std::string(1000, 'a')));
  report["artifacts"] = json::array();
  report["artifacts_left_out"] = -1;
  EXPECT_FALSE(ReadReport(report.dump(), outcome, "abcdefghij"));
  report.erase("artifacts_left_out");
  EXPECT_FALSE(ReadReport(report.dump(), outcome, "abcdefghij"));
}

}  // namespace
}  // namespace belljar::run::report_test
