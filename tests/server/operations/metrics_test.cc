// Metrics: a page that Prometheus can read, right counts, and no label that a guest chooses.
#include "server/operations/metrics.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/core/fd.h"
#include "server/calls/observer.h"
#include "tests/server/call_records.h"

namespace belljar::server::operations::metrics_test {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

// The exposition as samples, each "name{labels}" once. Fails the test where the text is not one.
std::map<std::string, double> Parse(const std::string& text) {
  static const std::regex kHelp("# HELP [a-z_]+ .+");
  static const std::regex kType("# TYPE [a-z_]+ (counter|gauge|histogram)");
  static const std::regex kSample(
      R"re(([a-z_]+(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*\})?) (\S+))re");
  std::map<std::string, double> samples;
  std::set<std::string> families;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.starts_with("# TYPE ")) {
      EXPECT_TRUE(std::regex_match(line, kType)) << line;
      EXPECT_TRUE(families.insert(line).second) << "twice: " << line;
    } else if (line.starts_with("#")) {
      EXPECT_TRUE(std::regex_match(line, kHelp)) << line;
    } else if (std::regex_match(line, match, kSample)) {
      char* end = nullptr;
      const std::string number = match[2];
      EXPECT_TRUE(samples.emplace(match[1], strtod(number.c_str(), &end)).second) << line;
      EXPECT_EQ(*end, '\0') << line;
    } else {
      ADD_FAILURE() << "not a line of the exposition: " << line;
    }
  }
  EXPECT_FALSE(families.empty());
  return samples;
}

// The one sample whose name starts with `name` and which has all of `labels`; NaN if there is none.
double Value(const std::map<std::string, double>& samples, const std::string& name,
             const std::vector<std::string>& labels = {}) {
  double value = NAN;
  for (const auto& [key, number] : samples) {
    if (key != name && !key.starts_with(name + "{")) continue;
    bool all = true;
    for (const std::string& label : labels) all &= key.find(label) != std::string::npos;
    if (!all) continue;
    EXPECT_TRUE(std::isnan(value)) << "more than one " << name;
    value = number;
  }
  return value;
}

TEST(Metrics, EachCallIsCountedOnceUnderItsStatusAndToken) {
  Metrics metrics({"1.2.3", "3.11.2"});
  host::Outcome outcome = tests::GoodOutcome();
  metrics.Called(tests::RecordOf(outcome));
  metrics.Called(tests::RecordOf(outcome));
  outcome.status = host::Status::kTimeout;
  metrics.Called(tests::RecordOf(outcome));
  CallRecord record = tests::RecordOf(outcome);
  record.caller = "team-b";
  metrics.Called(record);
  const auto samples = Parse(metrics.Text());
  const char* kFamily = "belljar_executions_total";
  EXPECT_EQ(Value(samples, kFamily, {"status=\"ok\"", "token=\"team-a\""}), 2);
  EXPECT_EQ(Value(samples, kFamily, {"status=\"timeout\"", "token=\"team-a\""}), 1);
  EXPECT_EQ(Value(samples, kFamily, {"status=\"timeout\"", "token=\"team-b\""}), 1);
  EXPECT_EQ(
      Value(samples, kFamily,
            {"status=\"ok\"", "token=\"team-b\"", "tool=\"execute_code\"", "profile=\"basic\""}),
      0);
  EXPECT_EQ(Value(samples, "belljar_our_failures_total"), 0);
  EXPECT_EQ(Value(samples, "belljar_build_info", {"version=\"1.2.3\"", "python=\"3.11.2\""}), 1);
}

TEST(Metrics, OurFailuresAreNotOutcomesAndHaveNoDuration) {
  Metrics metrics({"1", "3"});
  const host::Outcome outcome = tests::GoodOutcome();
  CallRecord record = tests::RecordOf(outcome);
  record.outcome = nullptr;
  metrics.Called(record);
  record.failure = "no zygote";
  metrics.Called(record);
  const auto samples = Parse(metrics.Text());
  EXPECT_EQ(Value(samples, "belljar_executions_total", {"status=\"failure\""}), 1);
  EXPECT_EQ(Value(samples, "belljar_executions_total", {"status=\"none\""}), 1);
  EXPECT_EQ(Value(samples, "belljar_our_failures_total"), 1);
  EXPECT_EQ(Value(samples, "belljar_execution_duration_seconds_count"), 0);
}

TEST(Metrics, DurationsFallIntoTheirBucketsAndAreInSeconds) {
  Metrics metrics({"1", "3"});
  host::Outcome outcome = tests::GoodOutcome();
  for (const milliseconds time : {milliseconds(2), milliseconds(40), milliseconds(400'000)}) {
    outcome.usage.wall_time = time;
    metrics.Called(tests::RecordOf(outcome));
  }
  const auto samples = Parse(metrics.Text());
  const char* kBucket = "belljar_execution_duration_seconds_bucket";
  EXPECT_EQ(Value(samples, kBucket, {"le=\"0.001\""}), 0);
  EXPECT_EQ(Value(samples, kBucket, {"le=\"0.0025\""}), 1);
  EXPECT_EQ(Value(samples, kBucket, {"le=\"0.05\""}), 2);
  EXPECT_EQ(Value(samples, kBucket, {"le=\"300\""}), 2);
  EXPECT_EQ(Value(samples, kBucket, {"le=\"+Inf\""}), 3);
  EXPECT_NEAR(Value(samples, "belljar_execution_duration_seconds_sum"), 400.042, 1e-6);
  EXPECT_NEAR(Value(samples, "belljar_worker_cpu_seconds_total"), 3 * 900e-6, 1e-9);
}

TEST(Metrics, DroppedOutputEventsAndLayersAreWhatOutcomesSay) {
  Metrics metrics({"1", "3"});
  host::Outcome outcome = tests::GoodOutcome();
  outcome.stdout_stream.dropped_bytes = 100;
  outcome.stderr_stream.dropped_bytes = 11;
  outcome.security_events = {{"seccomp", "denied", "socket", 3}, {"seccomp", "killed", "bpf", 1}};
  metrics.Called(tests::RecordOf(outcome));
  EXPECT_EQ(Value(Parse(metrics.Text()), "belljar_layer_held", {"layer=\"landlock\""}), 1);
  outcome.isolation.layers[1].held = false;
  outcome.security_events.pop_back();
  metrics.Called(tests::RecordOf(outcome));
  const auto samples = Parse(metrics.Text());
  EXPECT_EQ(Value(samples, "belljar_output_dropped_bytes_total"), 222);
  EXPECT_EQ(Value(samples, "belljar_security_events_total", {"action=\"denied\""}), 6);
  EXPECT_EQ(Value(samples, "belljar_security_events_total", {"action=\"killed\""}), 1);
  EXPECT_EQ(Value(samples, "belljar_layer_held", {"layer=\"landlock\""}), 0);
  EXPECT_EQ(Value(samples, "belljar_layer_held", {"layer=\"namespaces\""}), 1);
}

TEST(Metrics, ContainersAreCountedAndSayNothingOfThisMachinesLayers) {
  Metrics metrics({"1", "3"});
  host::Outcome outcome = tests::GoodOutcome();
  metrics.Called(tests::RecordOf(outcome));
  const char kRuns[] = "belljar_container_runs_total";
  EXPECT_EQ(Value(Parse(metrics.Text()), kRuns, {"warm=\"yes\""}), 0);
  EXPECT_EQ(Value(Parse(metrics.Text()), kRuns, {"warm=\"no\""}), 0);
  outcome.isolation.layers[1].held = false;
  outcome.container = host::ContainerReport{
      .engine = "Docker Engine", .runtime = "runsc", .image_digest = "", .warm = true};
  metrics.Called(tests::RecordOf(outcome));
  metrics.Called(tests::RecordOf(outcome));
  outcome.container->warm = false;
  metrics.Called(tests::RecordOf(outcome));
  const auto samples = Parse(metrics.Text());
  EXPECT_EQ(Value(samples, kRuns, {"warm=\"yes\""}), 2);
  EXPECT_EQ(Value(samples, kRuns, {"warm=\"no\""}), 1);
  EXPECT_EQ(Value(samples, "belljar_layer_held", {"layer=\"landlock\""}), 1);
}

TEST(Metrics, SourcesAreReadAtEachScrape) {
  Metrics metrics({"1", "3"});
  EXPECT_TRUE(std::isnan(Value(Parse(metrics.Text()), "belljar_calls_running")));
  size_t running = 3;
  metrics.ReadFrom({
      .calls =
          [&] {
            return CallQueue::Counters{running, 5, 7};
          },
      .spares =
          [] {
            return std::vector<SpareGauge>{{"basic", 3, 4}, {"data-science", 0, 2}};
          },
      .http_connections = [] { return size_t{12}; },
      .sessions = [] { return size_t{6}; },
  });
  EXPECT_EQ(Value(Parse(metrics.Text()), "belljar_calls_running"), 3);
  running = 4;
  const auto samples = Parse(metrics.Text());
  EXPECT_EQ(Value(samples, "belljar_calls_running"), 4);
  EXPECT_EQ(Value(samples, "belljar_calls_waiting"), 5);
  EXPECT_EQ(Value(samples, "belljar_calls_refused_total"), 7);
  EXPECT_EQ(Value(samples, "belljar_spares_waiting", {"profile=\"basic\""}), 3);
  EXPECT_EQ(Value(samples, "belljar_spares_wanted", {"profile=\"data-science\""}), 2);
  EXPECT_EQ(Value(samples, "belljar_http_connections"), 12);
  EXPECT_EQ(Value(samples, "belljar_sessions_open"), 6);
}

TEST(Metrics, HttpAnswersByCode) {
  Metrics metrics({"1", "3"});
  for (const int code : {200, 200, 401, -1, 99'999}) metrics.HttpAnswered(code);
  metrics.AuthenticationFailed();
  const auto samples = Parse(metrics.Text());
  EXPECT_EQ(Value(samples, "belljar_http_requests_total", {"code=\"200\""}), 2);
  EXPECT_EQ(Value(samples, "belljar_http_requests_total", {"code=\"401\""}), 1);
  EXPECT_EQ(Value(samples, "belljar_http_requests_total", {"code=\"other\""}), 2);
  EXPECT_EQ(Value(samples, "belljar_auth_failures_total"), 1);
}

TEST(Metrics, TheProcessIsDescribedByItsOwnFigures) {
  const auto samples = Parse(Metrics({"1", "3"}).Text());
  const double now = static_cast<double>(time(nullptr));
  EXPECT_GT(Value(samples, "process_resident_memory_bytes"), 1 << 20);
  EXPECT_GT(Value(samples, "process_cpu_seconds_total"), 0);
  EXPECT_NEAR(Value(samples, "process_start_time_seconds"), now, 300);
  const double before = Value(samples, "process_open_fds");
  const core::UniqueFd one(dup(0)), two(dup(0));
  EXPECT_EQ(Value(Parse(Metrics({"1", "3"}).Text()), "process_open_fds"), before + 2);
}

TEST(Metrics, HostileLabelsAreEscapedBoundedAndUtf8) {
  Metrics metrics({"1", "3"});
  const host::Outcome outcome = tests::GoodOutcome();
  CallRecord record = tests::RecordOf(outcome);
  const std::string hostile = "a\"} 1\nbelljar_forged 1\\\xff\xfe" + std::string(10'000, 'x');
  record.caller = hostile;
  metrics.Called(record);
  metrics.Called(record);
  const std::string text = metrics.Text();
  const auto samples = Parse(text);
  EXPECT_TRUE(std::isnan(Value(samples, "belljar_forged")));
  EXPECT_EQ(Value(samples, "belljar_executions_total", {"status=\"ok\""}), 2);
  EXPECT_EQ(text.find(std::string(200, 'x')), std::string::npos);
  EXPECT_NO_THROW((void)json(text).dump()) << "the page is UTF-8";
}

TEST(Metrics, TheNumberOfSeriesHasAnEnd) {
  Metrics metrics({"1", "3"});
  host::Outcome outcome = tests::GoodOutcome();
  constexpr int kCallers = 3000;
  for (int i = 0; i < kCallers; ++i) {
    CallRecord record = tests::RecordOf(outcome);
    const std::string caller = "c" + std::to_string(i);
    record.caller = caller;
    outcome.security_events = {{"layer" + std::to_string(i), "denied", "x", 1}};
    metrics.Called(record);
  }
  const auto samples = Parse(metrics.Text());
  EXPECT_LT(samples.size(), 8000u);
  double all = 0;
  for (const auto& [key, value] : samples) {
    if (key.starts_with("belljar_executions_total")) all += value;
  }
  EXPECT_EQ(all, kCallers) << "what has no series of its own is counted under other";
  EXPECT_GT(Value(samples, "belljar_executions_total", {"token=\"other\"", "status=\"ok\""}), 0);
}

TEST(Metrics, CountsAreExactUnderThreadsAndScrapes) {
  Metrics metrics({"1", "3"});
  const host::Outcome outcome = tests::GoodOutcome();
  constexpr int kThreads = 4, kCalls = 5000;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < kCalls; ++call) metrics.Called(tests::RecordOf(outcome));
    });
  }
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(metrics.Text().empty());
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Value(Parse(metrics.Text()), "belljar_executions_total", {"status=\"ok\""}),
            kThreads * kCalls);
}

TEST(CallObservers, EachHearsOfEachCall) {
  Metrics one({"1", "3"}), two({"1", "3"});
  CallObservers both({&one, &two});
  const host::Outcome outcome = tests::GoodOutcome();
  both.Called(tests::RecordOf(outcome));
  for (const Metrics* metrics : {&one, &two}) {
    EXPECT_EQ(Value(Parse(metrics->Text()), "belljar_executions_total", {"status=\"ok\""}), 1);
  }
}

}  // namespace
}  // namespace belljar::server::operations::metrics_test
