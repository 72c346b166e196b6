// Log: one entry a line, nothing in it that a guest could forge or that should not be logged, and
// nobody waits for a reader that does not read.
#include "server/operations/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/core/fd.h"
#include "tests/server/call_records.h"
#include "tests/support/support.h"

namespace belljar::server::operations::log_test {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    reader.Reset(ends[0]);
    writer.Reset(ends[1]);
  }
  // Everything until nobody can write any more.
  std::string ReadAll() const {
    std::string text;
    std::array<char, 65536> part;
    for (ssize_t n; (n = read(reader.get(), part.data(), part.size())) > 0;) {
      text.append(part.data(), static_cast<size_t>(n));
    }
    return text;
  }
  core::UniqueFd reader, writer;
};

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::unique_ptr<Log> OpenLog(const LogConfig& config, int fd) {
  core::Result<std::unique_ptr<Log>> log = Log::Open(config, fd);
  if (!log) ADD_FAILURE() << log.error().ToString();
  return log ? std::move(*log) : nullptr;
}

// What `use` writes, as text.
template <typename Use>
std::string Written(const LogConfig& config, const Use& use) {
  Pipe pipe;
  std::string text;
  std::thread reader([&] { text = pipe.ReadAll(); });
  {
    const std::unique_ptr<Log> log = OpenLog(config, pipe.writer.get());
    if (log) use(*log);
  }
  pipe.writer.Reset();
  reader.join();
  return text;
}

TEST(Log, AnExecutionIsOneEntryWithoutCodeOrOutput) {
  host::Outcome outcome = tests::GoodOutcome();
  outcome.error =
      host::GuestError{"ValueError", "hunter2-in-the-message", 1, 1, 1, 1, tests::kSecretCode, ""};
  outcome.status = host::Status::kException;
  outcome.stderr_stream.dropped_bytes = 17;
  outcome.findings = {{"BJ201", "import-not-allowed", 1, 1, 1, 1, tests::kSecretCode, "", ""}};
  const std::string text = Written({}, [&](Log& log) { log.Called(tests::RecordOf(outcome)); });
  ASSERT_EQ(Lines(text).size(), 1u);
  EXPECT_EQ(text.find("hunter2"), std::string::npos) << text;
  const json entry = json::parse(text);
  EXPECT_TRUE(std::regex_match(entry["time"].get<std::string>(),
                               std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")));
  EXPECT_EQ(entry["level"], "info");
  EXPECT_EQ(entry["event"], "execution.ended");
  EXPECT_EQ(entry["tool"], "execute_code");
  EXPECT_EQ(entry["token"], "team-a");
  EXPECT_EQ(entry["profile"], "basic");
  EXPECT_EQ(entry["status"], "exception");
  EXPECT_EQ(entry["execution_id"], "0123abcd");
  EXPECT_EQ(entry["wall_ms"], 1.5);
  EXPECT_EQ(entry["cpu_ms"], 0.9);
  EXPECT_EQ(entry["max_rss_bytes"], 20 << 20);
  EXPECT_EQ(entry["stdout"]["bytes"], sizeof tests::kSecretOutput - 1);
  EXPECT_EQ(entry["stderr"]["dropped_bytes"], 17);
  EXPECT_EQ(entry["error_type"], "ValueError");
  EXPECT_EQ(entry["rules"], json::array({"BJ201"}));
  EXPECT_EQ(entry["isolation"], "strict");
  EXPECT_FALSE(entry.contains("layers_missing"));
  EXPECT_FALSE(entry.contains("code"));
}

TEST(Log, NamesThatAProgramChoseAreNotInIt) {
  host::Outcome outcome = tests::GoodOutcome();
  outcome.status = host::Status::kException;
  outcome.error = host::GuestError{"Root_password_is_hunter2", "", 1, 1, 1, 1, "", ""};
  outcome.findings = {{"hunter2", "", 1, 1, 1, 1, "", "", ""},
                      {"BJ20\xb2", "", 1, 1, 1, 1, "", "", ""}};
  const std::string text = Written({}, [&](Log& log) { log.Called(tests::RecordOf(outcome)); });
  EXPECT_EQ(text.find("hunter2"), std::string::npos) << text;
  const json entry = json::parse(text);
  EXPECT_EQ(entry["error_type"], "other");
  EXPECT_EQ(entry["rules"], json::array({"other"}));
}

TEST(Log, MissingLayersEventsAndFailuresAreReported) {
  host::Outcome outcome = tests::GoodOutcome();
  outcome.isolation.layers[1].held = false;
  outcome.security_events = {{"seccomp", "killed", "bpf", 2}};
  CallRecord failed = tests::RecordOf(outcome);
  failed.outcome = nullptr;
  failed.failure = "start zygote: No such file or directory (ENOENT)";
  const std::vector<std::string> lines = Lines(Written({}, [&](Log& log) {
    log.Called(tests::RecordOf(outcome));
    log.Called(failed);
  }));
  ASSERT_EQ(lines.size(), 2u);
  const json entry = json::parse(lines[0]), failure = json::parse(lines[1]);
  EXPECT_EQ(entry["level"], "warning");
  EXPECT_EQ(entry["layers_held"], json::array({"namespaces"}));
  EXPECT_EQ(entry["layers_missing"], json::array({"landlock"}));
  EXPECT_EQ(entry["security_events"][0]["detail"], "bpf");
  EXPECT_EQ(failure["level"], "error");
  EXPECT_EQ(failure["status"], "failure");
  EXPECT_EQ(failure["failure"], *failed.failure);
}

TEST(Log, ASessionAndItsCells) {
  host::Outcome outcome = tests::GoodOutcome();
  outcome.session = host::SessionReport{
      .id = "5e55", .cell = 3, .checkpoint = "c2", .restored = true, .note = "hunter2"};
  const std::vector<std::string> lines = Lines(Written({}, [&](Log& log) {
    log.SessionChanged({"opened", "team-a", "5e55", "basic", ""});
    log.SessionChanged({"closed", "team-a", "5e55", "basic", "nobody had used it"});
    log.Called(tests::RecordOf(outcome));
  }));
  ASSERT_EQ(lines.size(), 3u);
  const json opened = json::parse(lines[0]), closed = json::parse(lines[1]);
  EXPECT_EQ(opened["event"], "session.opened");
  EXPECT_EQ(closed["event"], "session.closed");
  EXPECT_EQ(opened["token"], "team-a");
  EXPECT_EQ(opened["session"], "5e55");
  EXPECT_EQ(opened["profile"], "basic");
  EXPECT_FALSE(opened.contains("detail"));
  EXPECT_EQ(closed["detail"], "nobody had used it");
  const json cell = json::parse(lines[2]);
  EXPECT_EQ(cell["session"], "5e55");
  EXPECT_EQ(cell["cell"], 3);
  EXPECT_EQ(cell["restored"], true);
  EXPECT_EQ(lines[2].find("hunter2"), std::string::npos);
}

TEST(Log, EntriesHaveTheNamesOfEvents) {
  host::Outcome outcome = tests::GoodOutcome();
  const std::vector<std::string> lines = Lines(Written({}, [&](Log& log) {
    CallRecord validation = tests::RecordOf(outcome);
    validation.execution = {};
    log.Called(validation);
    for (const char* action : {"branched", "rolled_back", "evicted", "files_written"}) {
      log.SessionChanged({action, "team-a", "5e55", "basic", "c1"});
    }
    log.DeliveryFailed("webhook grader", "HTTP status 503", 2, true);
    outcome.status = host::Status::kRefused;
    log.Called(tests::RecordOf(outcome));
  }));
  std::string names;
  for (const std::string& line : lines)
    names += json::parse(line)["event"].get<std::string>() + " ";
  EXPECT_EQ(names,
            "call.ended session.opened session.restored session.evicted session.files_written "
            "delivery_failed execution.refused ");
  const json failed = json::parse(lines[5]);
  EXPECT_EQ(failed["receiver"], "webhook grader");
  EXPECT_EQ(failed["attempts"], 2);
  EXPECT_EQ(failed["lost"], true);
}

TEST(Log, CodeIsHeldOnlyIfConfiguredAndBounded) {
  LogConfig config;
  config.code = true;
  const host::Outcome outcome = tests::GoodOutcome();
  CallRecord record = tests::RecordOf(outcome);
  const std::string long_code(200'000, '#');
  const std::vector<std::string> lines = Lines(Written(config, [&](Log& log) {
    log.Called(record);
    record.code = long_code;
    log.Called(record);
  }));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(json::parse(lines[0])["code"], tests::kSecretCode);
  EXPECT_EQ(json::parse(lines[1])["code"].get<std::string>().size(), 65536u);
  EXPECT_EQ(json::parse(lines[1])["code_bytes"], 200'000);
}

TEST(Log, HostileStringsForgeNeitherLinesNorTerminals) {
  host::Outcome outcome = tests::GoodOutcome();
  // A line break, an escape, C1 control, U+2028, bytes that are no UTF-8, a format string.
  const std::string hostile =
      std::string("E\n{\"forged\":1}\x1b[2J\xc2\x9b\xe2\x80\xa8\xff {} %s%n ") + '\0' +
      std::string(100'000, 'x');
  outcome.security_events = {{"seccomp", "denied", hostile, 1}};
  for (const char* format : {"json", "text"}) {
    LogConfig config;
    config.format = format;
    const std::string text =
        Written(config, [&](Log& log) { log.Called(tests::RecordOf(outcome)); });
    EXPECT_EQ(Lines(text).size(), 1u) << text;
    EXPECT_LT(text.size(), 2000u);
    for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << int{c};
    EXPECT_NE(text.find("{} %s%n"), std::string::npos) << text;
  }
}

TEST(Log, TextFormatQuotesWhatIsNoWord) {
  LogConfig config;
  config.format = "text";
  const std::string text = Written(config, [&](Log& log) {
    log.Write(LogLevel::kWarning, "reload",
              {{"file", "/etc/belljar.toml"},
               {"why", "a=b c"},
               {"empty", ""},
               {"n", 3},
               {"names", {"a", "b.c"}},
               {"odd", {"a", "b,c=d"}},
               {"none", json::array()}});
  });
  EXPECT_TRUE(std::regex_match(
      text, std::regex("\\S+Z warning reload file=/etc/belljar\\.toml why=\"a=b c\" "
                       "empty=\"\" n=3 names=a,b\\.c odd=\\[\"a\",\"b,c=d\"\\] none=\\[\\]\n")))
      << text;
}

TEST(Log, LevelsKeepBackWhatIsBelowThem) {
  const auto at = [](const char* level) {
    LogConfig config;
    config.level = level;
    return Lines(Written(config,
                         [](Log& log) {
                           for (const LogLevel each :
                                {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning,
                                 LogLevel::kError, LogLevel::kOff}) {
                             log.Write(each, "event");
                           }
                         }))
        .size();
  };
  EXPECT_EQ(at("debug"), 4u);
  EXPECT_EQ(at("info"), 3u);
  EXPECT_EQ(at("warning"), 2u);
  EXPECT_EQ(at("error"), 1u);
  EXPECT_EQ(at("off"), 0u);
}

TEST(Log, StartAndEndAreReported) {
  StartRecord start;
  start.version = "0.1.0";
  start.listen = "http://127.0.0.1:9015/mcp";
  start.profiles = {"basic"};
  start.isolation = "standard";
  start.warnings = {"listening beyond loopback"};
  start.missing = {"there are no namespaces"};
  const std::vector<std::string> lines = Lines(Written({}, [&](Log& log) {
    log.ServerStarted(start);
    log.Stopping("SIGTERM", 2, 3);
    log.Stopped(true);
  }));
  ASSERT_EQ(lines.size(), 5u);
  const json started = json::parse(lines[0]);
  EXPECT_EQ(started["event"], "started");
  EXPECT_EQ(started["listen"], "http://127.0.0.1:9015/mcp");
  EXPECT_EQ(json::parse(lines[1])["warning"], "listening beyond loopback");
  EXPECT_EQ(json::parse(lines[2])["event"], "cannot_run");
  EXPECT_EQ(json::parse(lines[2])["level"], "error");
  EXPECT_EQ(json::parse(lines[2])["why"], "there are no namespaces");
  EXPECT_EQ(json::parse(lines[3])["waiting"], 3);
  EXPECT_EQ(json::parse(lines[4])["drained"], true);
}

TEST(Log, AFloodOfFailuresIsAFewEntriesAndACount) {
  const std::vector<std::string> lines = Lines(Written({}, [](Log& log) {
    for (int i = 0; i < 1000; ++i) {
      log.AuthenticationFailed("203.0.113.9", "unknown token");
      log.Overloaded("team-a", "queue full", 4, 64);
    }
    log.Stopped(true);
  }));
  std::map<std::string, int> events;
  int suppressed_failures = 0;
  for (const std::string& line : lines) {
    const json entry = json::parse(line);
    ++events[entry["event"]];
    if (entry["event"] == "authentication_failed") {
      suppressed_failures += entry["suppressed"].get<int>();
    }
  }
  EXPECT_GE(events["authentication_failed"], 5);
  EXPECT_LT(events["authentication_failed"], 30);
  EXPECT_LT(events["overloaded"], 30);
  suppressed_failures += json::parse(lines.back()).value("authentication_failures", 0);
  EXPECT_EQ(events["authentication_failed"] + suppressed_failures, 1000) << "each is counted";
}

TEST(Log, AnUnreadPipeDoesNotBlockAndDropsAreReported) {
  Pipe pipe;
  const host::Outcome outcome = tests::GoodOutcome();
  auto log = OpenLog(LogConfig{}, pipe.writer.get());
  ASSERT_TRUE(log);
  constexpr int kEntries = 20'000;  // some 6 MB, a hundred times what a pipe takes
  for (int i = 0; i < kEntries; ++i) log->Called(tests::RecordOf(outcome));
  const uint64_t dropped = log->dropped();
  EXPECT_GT(dropped, 10'000u);

  std::string text;
  std::thread reader([&] { text = pipe.ReadAll(); });
  log.reset();
  pipe.writer.Reset();
  reader.join();
  int executions = 0;
  uint64_t reported = 0;
  for (const std::string& line : Lines(text)) {
    const json entry = json::parse(line);
    if (entry["event"] == "execution.ended") ++executions;
    if (entry["event"] == "log_dropped") reported += entry["entries"].get<uint64_t>();
  }
  EXPECT_EQ(reported, dropped);
  EXPECT_EQ(reported + static_cast<uint64_t>(executions), static_cast<uint64_t>(kEntries));
}

TEST(Log, TheEndComesThoughNobodyReads) {
  Pipe pipe;
  const int flags = fcntl(pipe.writer.get(), F_GETFL);
  auto log = OpenLog(LogConfig{}, pipe.writer.get());
  ASSERT_TRUE(log);
  for (int i = 0; i < 5'000; ++i) log->Write(LogLevel::kInfo, std::string(100, 'e'));
  log.reset();
  EXPECT_EQ(fcntl(pipe.writer.get(), F_GETFL), flags) << "a shell shares these with us";
}

TEST(Log, ASocketThatNobodyReadsIsNoDifferent) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const core::UniqueFd one(ends[0]), two(ends[1]);
  {
    const auto log = OpenLog(LogConfig{}, one.get());
    ASSERT_TRUE(log);
    for (int i = 0; i < 10'000; ++i) log->Write(LogLevel::kInfo, std::string(100, 'e'));
    EXPECT_GT(log->dropped(), 0u);
  }
}

TEST(Log, AReaderThatIsGoneIsNoEndOfTheServer) {
  Pipe pipe;
  pipe.reader.Reset();
  const auto log = OpenLog(LogConfig{}, pipe.writer.get());
  ASSERT_TRUE(log);
  for (int i = 0; i < 10; ++i) log->Write(LogLevel::kInfo, "event");
  EXPECT_TRUE(tests::Eventually([&] { return log->dropped() >= 10; }));
  EXPECT_EQ(log->dropped(), 10u);
}

TEST(Log, AFileHasEveryEntry) {
  const std::string path = testing::TempDir() + "/belljar_log_" + std::to_string(getpid());
  const core::UniqueFd file(open(path.c_str(), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600));
  {
    const auto log = OpenLog(LogConfig{}, file.get());
    ASSERT_TRUE(log);
    for (int i = 0; i < 1000; ++i) log->Write(LogLevel::kInfo, "event", {{"i", i}});
  }
  const core::Result<std::string> text = core::ReadFile(path, 1 << 20);
  unlink(path.c_str());
  ASSERT_TRUE(text);
  EXPECT_EQ(Lines(*text).size(), 1000u);
}

TEST(Log, NoDescriptorIsAnErrorOfOpening) {
  if (tests::Sanitized()) GTEST_SKIP() << "the sanitizer needs descriptors itself";
  const tests::Death death = tests::InChild([] {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
    const auto log = Log::Open({}, 2);
    if (log) return 1;
    return log.error().error_number == EMFILE && log.error().operation == "open the log" ? 0 : 2;
  });
  EXPECT_EQ(death, tests::Exited(0));
}

TEST(Log, NoThreadIsAnErrorOfOpening) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("needs root, to become somebody else");
  const tests::Death death = tests::WithThreads(0, [] {
    const auto log = Log::Open({}, 2);
    if (log) return 1;
    return log.error().error_number == EAGAIN && log.error().operation == "open the log" ? 0 : 2;
  });
  EXPECT_EQ(death, tests::Exited(0));
}

}  // namespace
}  // namespace belljar::server::operations::log_test
