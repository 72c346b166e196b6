// The audit log as the server writes it: nothing is lost that need not be, nothing is in it that
// should not be, and nobody waits for it who need not.
#include "server/audit/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "server/audit/audit_observer.h"
#include "server/audit/audited_tool.h"
#include "server/audit/search.h"
#include "tests/server/audit/log_support.h"
#include "tests/server/call_records.h"

namespace belljar::server::audit::audit_log_test {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;
using tests::ConfigFor;
using tests::Content;
using tests::FaultsOf;
using tests::Had;
using tests::LinesOf;
using tests::Paths;
using tests::Verified;

std::unique_ptr<AuditLog> OpenLog(const AuditConfig& config) {
  return Had(AuditLog::Open(config, [](const Notice&) {}));
}

std::string Members(const std::string& session) {
  Entry entry;
  entry.kind = Kind::kSession;
  entry.session = session;
  return MembersOf(entry);
}

class AuditLogTest : public ::testing::Test {
 protected:
  std::vector<json> Entries() const {
    std::vector<json> entries;
    for (const std::string& path : Paths(folder_)) {
      for (const std::string& line : LinesOf(path)) entries.push_back(json::parse(line));
    }
    return entries;
  }
  std::vector<json> EntriesOf(const char* kind) const {
    std::vector<json> entries = Entries();
    std::erase_if(entries, [&](const json& entry) { return entry["kind"] != kind; });
    return entries;
  }
  std::string Text() const {
    std::string text;
    for (const std::string& path : Paths(folder_)) text += Content(path);
    return text;
  }

  const tests::TemporaryFolder home_;
  const std::string folder_ = home_.path() + "/state/audit";
  AuditConfig config_ = ConfigFor(folder_);
};

TEST_F(AuditLogTest, AnExecutionHasDigestsAndNothingElseOfItsContent) {
  host::Outcome outcome = tests::GoodOutcome();
  outcome.artifacts.push_back({.name = "figure-1.png",
                               .media_type = "image/png",
                               .size = 3,
                               .sha256 = host::Sha256("png"),
                               .content = "png",
                               .note = "",
                               .uri = ""});
  host::Request request;
  request.source = tests::kSecretCode;
  request.standard_input = "";
  request.arguments = {"a", "b"};
  request.files = {{"data.csv", "hunter2-in-a-file"}};
  CallRecord record = tests::RecordOf(outcome);
  record.request = &request;
  {
    const auto log = OpenLog(config_);
    AuditObserver observer(*log, config_);
    observer.ServerStarted({{"listen", "stdio"}});
    observer.Called(record);
  }
  EXPECT_EQ(FaultsOf(Verified(folder_)), "");
  const std::vector<json> entries = Entries();
  std::string kinds;
  for (const json& entry : entries) kinds += entry["kind"].get<std::string>() + " ";
  EXPECT_EQ(kinds, "segment start execution stop segment_end ");
  const json& entry = entries[2];
  EXPECT_EQ(entry["caller"], "team-a");
  EXPECT_EQ(entry["tool"], "execute_code");
  EXPECT_EQ(entry["profile"], "basic");
  const json& execution = entry["execution"];
  EXPECT_EQ(execution["id"], "0123abcd");
  EXPECT_EQ(execution["status"], "ok");
  EXPECT_EQ(execution["code"]["sha256"], host::Sha256(tests::kSecretCode));
  EXPECT_EQ(execution["stdin"], json({{"bytes", 0}, {"sha256", host::Sha256("")}}));
  EXPECT_EQ(execution["arguments"]["sha256"], host::Sha256(std::string("a\0b\0", 4)));
  EXPECT_EQ(execution["files"][0]["name"], "data.csv");
  EXPECT_EQ(execution["files"][0]["sha256"], host::Sha256("hunter2-in-a-file"));
  EXPECT_EQ(execution["stdout"]["sha256"], host::Sha256(tests::kSecretOutput));
  EXPECT_EQ(execution["artifacts"][0]["sha256"], host::Sha256("png"));
  EXPECT_EQ(execution["limits"]["timeout"], 30);
  EXPECT_EQ(execution["isolation"]["mode"], "strict");
  EXPECT_EQ(execution["isolation"]["layers"][0], json({{"name", "namespaces"}, {"held", true}}));
  EXPECT_THAT(Text(), Not(HasSubstr("hunter2")));
}

TEST_F(AuditLogTest, ItHasCodeAndOutputOnlyIfTheOperatorAsks) {
  config_.code = config_.output = true;
  const host::Outcome outcome = tests::GoodOutcome();
  {
    const auto log = OpenLog(config_);
    AuditObserver(*log, config_).Called(tests::RecordOf(outcome));
  }
  const json entry = EntriesOf("execution").at(0);
  EXPECT_EQ(entry["code"], tests::kSecretCode);
  EXPECT_EQ(entry["stdout"], tests::kSecretOutput);
}

TEST_F(AuditLogTest, NoTextCanForgeALineOrReachATerminal) {
  const std::string hostile = "a\n{\"seq\":1}\x1b[2J\x7f\xff\u202e\u2028\",\"caller\":\"root";
  host::Outcome outcome = tests::GoodOutcome();
  outcome.artifacts.push_back({.name = hostile, .media_type = "", .note = "", .uri = ""});
  outcome.network.push_back({.host = hostile, .protocol = hostile, .detail = hostile});
  outcome.error = host::GuestError{.type = hostile, .message = "", .traceback = "", .hint = ""};
  outcome.status = host::Status::kRefused;
  CallRecord record = tests::RecordOf(outcome);
  record.caller = hostile;
  {
    const auto log = OpenLog(config_);
    AuditObserver observer(*log, config_);
    observer.Called(record);
    observer.SessionChanged({"closed", hostile, hostile, hostile, hostile});
    observer.CallRefused(hostile, "overloaded", hostile);
    observer.SettingChanged(hostile, {"execution.queue", hostile});
  }
  const std::string text = Text();
  EXPECT_TRUE(std::all_of(text.begin(), text.end(),
                          [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  EXPECT_EQ(Entries().size(), 7u);
  EXPECT_EQ(FaultsOf(Verified(folder_)), "");
  Query query;
  query.caller = "root";
  EXPECT_EQ(Had(Search(folder_, query, [](const FoundLine&) {})).found, 0u);
  query.caller = EntriesOf("settings").at(0)["caller"];
  EXPECT_EQ(Had(Search(folder_, query, [](const FoundLine&) {})).found, 4u);
}

TEST_F(AuditLogTest, RefusalsWithoutATokenCannotFillTheDisk) {
  {
    const auto log = OpenLog(config_);
    AuditObserver observer(*log, config_);
    for (int i = 0; i < 1000; ++i) observer.CallRefused("", "authentication_failed", "192.0.2.1");
    observer.CallRefused("team-a", "overloaded", "full");
  }
  const std::vector<json> refusals = EntriesOf("refusal");
  EXPECT_GE(refusals.size(), 6u);
  EXPECT_LE(refusals.size(), 12u);
  EXPECT_EQ(refusals.back()["caller"], "team-a");
}

TEST_F(AuditLogTest, EntriesOfManyThreadsAreAllThereInSegmentsThatAreSigned) {
  constexpr int kThreads = 8, kEach = 500;
  config_.segment_size = core::Bytes::Kibi(64);
  {
    const auto log = OpenLog(config_);
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          log->Add(Members(std::to_string(t) + "-" + std::to_string(i)));
          (void)log->WhyRefused();
          (void)log->figures();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const Verification verified = Verified(folder_);
  EXPECT_EQ(FaultsOf(verified), "");
  EXPECT_EQ(verified.entries, static_cast<uint64_t>(kThreads * kEach));
  EXPECT_EQ(verified.unsigned_entries, 0u);
  EXPECT_GT(verified.segments, 5u);
  // Those of one thread are in its order.
  std::vector<int> next(kThreads);
  for (const json& entry : EntriesOf("session")) {
    const std::string session = entry["session"];
    EXPECT_EQ(std::stoi(session.substr(2)), next[static_cast<size_t>(session[0] - '0')]++);
  }
}

TEST_F(AuditLogTest, ASegmentEndsWithItsAge) {
  config_.segment_age = milliseconds(100);
  const auto log = OpenLog(config_);
  log->Add(Members("a"));
  EXPECT_TRUE(tests::Eventually([&] { return Paths(folder_).size() == 2; }));
  // One without entries does not.
  std::this_thread::sleep_for(milliseconds(300));  // sleeps: three times that age
  EXPECT_EQ(Paths(folder_).size(), 2u);
  EXPECT_EQ(FaultsOf(Verified(folder_)), "");
}

TEST_F(AuditLogTest, OnlyOneServerWritesALog) {
  const auto log = OpenLog(config_);
  const auto second = AuditLog::Open(config_, [](const Notice&) {});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().ToString(), HasSubstr("another server is writing to it"));
}

TEST_F(AuditLogTest, OthersMayNeitherReadTheFilesNorTheKey) {
  OpenLog(config_).reset();
  struct stat status;
  for (const std::string& path : {Paths(folder_).front(), folder_ + "/key.pem"}) {
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u) << path;
  }
  ASSERT_EQ(stat(folder_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);

  chmod((folder_ + "/key.pem").c_str(), 0640);
  auto refused = AuditLog::Open(config_, [](const Notice&) {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("chmod 600"));
  chmod((folder_ + "/key.pem").c_str(), 0600);
  chmod(folder_.c_str(), 0755);
  refused = AuditLog::Open(config_, [](const Notice&) {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("chmod 700"));
}

TEST_F(AuditLogTest, AKeyFromElsewhereStaysThere) {
  config_.key_file = home_.path() + "/own.pem";
  OpenLog(config_).reset();
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/key.pem"));
  EXPECT_EQ(Had(ReadKeys(folder_)).size(), 1u);
  OpenLog(config_).reset();
  EXPECT_EQ(FaultsOf(Verified(folder_)), "");
  // Another one from now on; both are beside the log.
  config_.key_file.clear();
  OpenLog(config_).reset();
  EXPECT_EQ(FaultsOf(Verified(folder_)), "");
  EXPECT_EQ(Verified(folder_).keys.size(), 2u);
}

TEST_F(AuditLogTest, AServerThatIsKilledLeavesALogThatCanBeContinued) {
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto log = OpenLog(config_);
      for (int n = 0;; ++n) {
        log->Add(Members(std::to_string(n)));
        if (n % 10 == 0) std::this_thread::sleep_for(milliseconds(1));  // sleeps: at its pace
      }
    }
    std::this_thread::sleep_for(milliseconds(60 + 25 * i));  // sleeps: killed at many moments
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    if (!std::filesystem::exists(SegmentPath(folder_, 1))) continue;  // it came to nothing
    EXPECT_EQ(FaultsOf(Verified(folder_)), "");
  }
  OpenLog(config_).reset();
  const Verification verified = Verified(folder_);
  EXPECT_EQ(FaultsOf(verified), "");
  EXPECT_EQ(verified.unsigned_entries, 0u);
  EXPECT_FALSE(verified.notes.empty());
}

// --- a disk that is full
// --------------------------------------------------------------------------

// In a process of its own: no file may grow beyond `bytes`.
void LimitFiles(rlim_t bytes) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = std::min(bytes, limit.rlim_max);
  setrlimit(RLIMIT_FSIZE, &limit);
}

TEST_F(AuditLogTest, WhileItCannotBeWrittenCallsAreRefusedAndNothingIsLost) {
  const auto died = tests::InChild([&] {
    const auto log = OpenLog(config_);
    for (int i = 0; i < 5; ++i) log->Add(Members("before"));
    if (!tests::Eventually([&] { return log->figures().entries == 5; })) return 1;
    // In the middle of a line.
    LimitFiles(std::filesystem::file_size(SegmentPath(folder_, 1)) + 100);
    for (int i = 0; i < 50; ++i) log->Add(Members("during"));
    if (!tests::Eventually([&] { return log->WhyRefused().has_value(); })) return 2;
    if (log->WhyRefused()->find("File too large") == std::string::npos) return 3;
    if (!log->figures().is_failing || log->figures().failures == 0) return 4;
    LimitFiles(RLIM_INFINITY);
    if (!tests::Eventually([&] { return !log->WhyRefused(); })) return 5;
    log->Add(Members("after"));
    if (!tests::Eventually([&] { return log->figures().entries == 56; })) return 6;
    return log->figures().lost == 0 ? 0 : 7;
  });
  EXPECT_EQ(died, tests::Exited(0));
  const Verification verified = Verified(folder_);
  EXPECT_EQ(FaultsOf(verified), "");
  EXPECT_EQ(EntriesOf("session").size(), 56u);
}

TEST_F(AuditLogTest, OrCallsGoOnAndWhatIsLostIsCounted) {
  config_.on_failure = "continue";
  const auto died = tests::InChild([&] {
    const auto log = OpenLog(config_);
    LimitFiles(std::filesystem::file_size(SegmentPath(folder_, 1)) + 100);
    log->Add(Members("first"));
    if (!tests::Eventually([&] { return log->figures().is_failing; })) return 1;
    if (log->WhyRefused()) return 2;
    for (int i = 0; i < 10'000; ++i) log->Add(Members("during"));
    const AuditLog::Figures figures = log->figures();
    if (figures.lost == 0 || figures.lost > 10'000) return 3;
    LimitFiles(RLIM_INFINITY);
    if (!tests::Eventually([&] { return log->figures().waiting == 0; })) return 4;
    log->Add(Members("after"));
    if (!tests::Eventually([&] { return log->figures().waiting == 0; })) return 5;
    if (10'002 != log->figures().entries + log->figures().lost) return 6;
    log->Close();
    return 0;
  });
  EXPECT_EQ(died, tests::Exited(0));
  EXPECT_EQ(FaultsOf(Verified(folder_)), "");
  const std::vector<json> lost = EntriesOf("lost");
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0]["count"].get<size_t>() + EntriesOf("session").size(), 10'002u);
}

TEST_F(AuditLogTest, AServerEndsAlthoughItsLogCannotBeWritten) {
  const auto died = tests::InChild([&] {
    const auto log = OpenLog(config_);
    LimitFiles(std::filesystem::file_size(SegmentPath(folder_, 1)) + 100);
    for (int i = 0; i < 50; ++i) log->Add(Members("a"));
    log->Close();
    return log->figures().lost > 0 ? 0 : 2;
  });
  EXPECT_EQ(died, tests::Exited(0));
  EXPECT_EQ(FaultsOf(Verified(folder_)), "");
}

// --- calls --------------------------------------------------------------------------------------

class CountingTool : public Tool {
 public:
  CountingTool(int& calls, bool uses_worker) : calls_(calls), uses_worker_(uses_worker) {
    description_.name = "execute_code";
  }
  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return uses_worker_; }
  core::Result<ToolResult> Call(const ToolCall& call) override {
    ++calls_;
    is_deferred_ = call.deferred != nullptr;
    if (log) log->Add(Members("call"));
    ToolResult result;
    result.text = is_deferred_ ? "deferred" : "at once";
    return result;
  }
  AuditLog* log = nullptr;

 private:
  int& calls_;
  const bool uses_worker_;
  bool is_deferred_ = false;
  ToolDescription description_;
};

TEST_F(AuditLogTest, NothingRunsWithoutAnEntry) {
  const auto died = tests::InChild([&] {
    const auto log = OpenLog(config_);
    int calls = 0;
    std::vector<std::unique_ptr<Tool>> tools;
    tools.push_back(std::make_unique<CountingTool>(calls, true));
    tools.push_back(std::make_unique<CountingTool>(calls, false));
    tools = WithAudit(std::move(tools), *log);
    if (Had(tools[0]->Call({})).is_error || calls != 1) return 1;
    LimitFiles(10);
    log->Add(Members("a"));
    if (!tests::Eventually([&] { return log->WhyRefused().has_value(); })) return 2;
    const ToolResult refused = Had(tools[0]->Call({}));
    if (!refused.is_error || calls != 1) return 3;
    if (refused.text.find("nothing was run") == std::string::npos) return 4;
    // What runs no code goes on.
    if (Had(tools[1]->Call({})).is_error || calls != 2) return 5;
    LimitFiles(RLIM_INFINITY);
    if (!tests::Eventually([&] { return !log->WhyRefused(); })) return 6;
    return Had(tools[0]->Call({})).is_error ? 7 : 0;
  });
  EXPECT_EQ(died, tests::Exited(0));
}

TEST_F(AuditLogTest, WithSyncAlwaysAnAnswerComesAfterItsEntry) {
  config_.sync = "always";
  const auto died = tests::InChild([&] {
    const auto log = OpenLog(config_);
    int calls = 0;
    auto counting = std::make_unique<CountingTool>(calls, true);
    counting->log = log.get();
    std::vector<std::unique_ptr<Tool>> tools;
    tools.push_back(std::move(counting));
    tools = WithAudit(std::move(tools), *log);
    host::DeferredTasks deferred;
    ToolCall call;
    call.deferred = &deferred;
    for (size_t i = 1; i <= 20; ++i) {
      if (Had(tools[0]->Call(call)).text != "at once") return 1;
      // The first line of the segment, and the entries so far.
      if (LinesOf(SegmentPath(folder_, 1)).size() != 1 + i) return 2;
    }
    LimitFiles(std::filesystem::file_size(SegmentPath(folder_, 1)) + 10);
    const ToolResult withheld = Had(tools[0]->Call(call));
    if (!withheld.is_error || withheld.text.find("withheld") == std::string::npos) return 3;
    return calls == 21 ? 0 : 4;
  });
  EXPECT_EQ(died, tests::Exited(0));
}

// --- search -------------------------------------------------------------------------------------

TEST_F(AuditLogTest, SearchFindsWhatHasAllThatIsAsked) {
  const host::Outcome good = tests::GoodOutcome();
  host::Outcome late = tests::GoodOutcome();
  late.status = host::Status::kTimeout;
  late.execution_id = "late";
  {
    const auto log = OpenLog(config_);
    AuditObserver observer(*log, config_);
    CallRecord record = tests::RecordOf(good);
    observer.Called(record);
    record.outcome = &late;
    observer.Called(record);
    record.caller = "team-b";
    observer.Called(record);
  }
  const auto found = [&](const Query& query) {
    return Had(Search(folder_, query, [](const FoundLine&) {})).found;
  };
  EXPECT_EQ(found({}), 4u);
  EXPECT_EQ(found({.status = "timeout"}), 2u);
  EXPECT_EQ(found({.caller = "team-b", .status = "timeout"}), 1u);
  EXPECT_EQ(found({.caller = "team-b", .status = "ok"}), 0u);
  EXPECT_EQ(found({.execution = "late"}), 2u);
  EXPECT_EQ(found({.sha256 = host::Sha256(tests::kSecretCode)}), 3u);
  EXPECT_EQ(found({.kind = "segment_end"}), 1u);
  EXPECT_EQ(found({.since = "2020", .until = "2999-12"}), 4u);
  EXPECT_EQ(found({.until = "2020-01-01"}), 0u);
  EXPECT_EQ(TimeViolation("2026-11-26T05"), "");
  EXPECT_NE(TimeViolation("26.11.2026"), "");
  const std::vector<std::string> last = Had(LastLines(folder_, {}, 2));
  ASSERT_EQ(last.size(), 2u);
  EXPECT_THAT(last[0], HasSubstr("team-b"));
  EXPECT_THAT(last[1], HasSubstr("\"stop\""));
}

TEST_F(AuditLogTest, PagesGoBackThroughAllSegments) {
  config_.segment_size = core::Bytes{4096};
  {
    const auto log = OpenLog(config_);
    for (int i = 0; i < 60; ++i) log->Add(Members(std::to_string(i)));
  }
  ASSERT_GT(Paths(folder_).size(), 3u);
  const auto sessions = [&](size_t count, core::Bytes work, size_t& pages) {
    std::vector<std::string> found;
    uint64_t before = 0;
    for (pages = 1;; ++pages) {
      const SearchPage page =
          Had(SearchBackwards(folder_, {.kind = "session"}, before, count, work));
      EXPECT_LE(page.lines.size(), count);
      for (const std::string& line : page.lines) {
        found.push_back(json::parse(line)["session"].get<std::string>());
      }
      if (page.next == 0) return found;
      EXPECT_TRUE(before == 0 || page.next < before) << "it does not end";
      before = page.next;
      if (pages > 1000) return found;
    }
  };
  std::vector<std::string> all;
  for (int i = 59; i >= 0; --i) all.push_back(std::to_string(i));
  size_t pages = 0;
  EXPECT_EQ(sessions(1000, core::Bytes::Mebi(64), pages), all);
  EXPECT_EQ(pages, 1u);
  EXPECT_EQ(sessions(7, core::Bytes::Mebi(64), pages), all);
  EXPECT_GE(pages, 9u);
  // One segment at a time.
  EXPECT_EQ(sessions(1000, core::Bytes{1}, pages), all);
  EXPECT_EQ(pages, Paths(folder_).size());
  // Nothing is found, and the pages still end.
  const SearchPage none =
      Had(SearchBackwards(folder_, {.session = "none"}, 0, 10, core::Bytes::Mebi(64)));
  EXPECT_TRUE(none.lines.empty());
  EXPECT_EQ(none.next, 0u);
}

TEST_F(AuditLogTest, ReceiptsAreKeptForTheirOwnersAndWithinBounds) {
  ReceiptStore store({.count = 2, .total = core::Bytes{100}});
  store.Begin("a", "1");
  EXPECT_TRUE(store.Find("a", "1").is_running);
  EXPECT_FALSE(store.Find("b", "1").is_running);
  store.Drop("a", "1");
  EXPECT_FALSE(store.Find("a", "1").is_running);
  store.Begin("a", "1");
  store.Add("a", "1", "first");
  store.Add("a", "1", "second");
  EXPECT_FALSE(store.Find("a", "1").is_running);
  EXPECT_EQ(store.Find("a", "1").statement, "second");
  EXPECT_EQ(store.Find("b", "1").statement, "");
  store.Add("a", "2", std::string(60, 'x'));
  store.Add("a", "3", std::string(60, 'y'));
  EXPECT_EQ(store.Find("a", "1").statement, "");
  EXPECT_EQ(store.Find("a", "2").statement, "");
  EXPECT_EQ(store.Find("a", "3").statement.size(), 60u);
  store.Add("a", "4", std::string(101, 'z'));
  EXPECT_EQ(store.Find("a", "4").statement, "");
  EXPECT_EQ(store.Find("a", "3").statement.size(), 60u);
}

}  // namespace
}  // namespace belljar::server::audit::audit_log_test
