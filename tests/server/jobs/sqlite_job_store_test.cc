// Jobs in a file: which files are refused, and what happens when there is no space, when others
// have locked it, and when clocks are set.
#include "server/jobs/sqlite_job_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "tests/support/support.h"

namespace belljar::server::jobs::sqlite_job_store_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using tests::Had;

class SqliteJobStoreTest : public testing::Test {
 protected:
  std::unique_ptr<JobStore> Open() { return Had(OpenSqliteJobStore(options_)); }
  core::Error Refusal() {
    const auto store = OpenSqliteJobStore(options_);
    if (store) throw std::runtime_error("it was opened");
    return store.error();
  }
  // By another program.
  void Execute(const char* sql) const {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(options_.path.c_str(), &connection), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(connection, sql, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(connection);
    sqlite3_close(connection);
  }
  static core::Result<Submitted> Submit(JobStore& store, size_t size = 100) {
    return store.Submit({.owner = "ann", .jobs = {{"execution", std::string(size, '1')}}});
  }
  static uint64_t Queued(JobStore& store) { return Had(store.Counters()).by_state[0]; }

  const tests::TemporaryFolder folder_;
  Time now_{hours(500'000)};
  milliseconds lease_now_ = hours(5);
  SqliteJobOptions options_{.path = folder_.path() + "/jobs/jobs.db",
                            .busy_timeout = milliseconds(50),
                            .reserve = core::Bytes{0},
                            .now = [this] { return now_; },
                            .lease_now = [this] { return lease_now_; }};
};

TEST_F(SqliteJobStoreTest, NobodyElseCanReadIt) {
  const mode_t before = umask(0);
  const auto store = Open();
  Had(Submit(*store));
  umask(before);
  struct stat about {};
  ASSERT_EQ(stat((folder_.path() + "/jobs").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0700U);
  for (const char* suffix : {"", "-wal", "-shm", "-servers"}) {
    ASSERT_EQ(stat((options_.path + suffix).c_str(), &about), 0) << suffix;
    EXPECT_EQ(about.st_mode & 07777, 0600U) << suffix;
  }
}

TEST_F(SqliteJobStoreTest, ASymbolicLinkIsRefused) {
  mkdir((folder_.path() + "/jobs").c_str(), 0700);
  const std::string target = folder_.Write("target", "");
  ASSERT_EQ(symlink(target.c_str(), options_.path.c_str()), 0);
  EXPECT_EQ(Refusal().detail, "it is not a regular file");
  std::filesystem::remove(options_.path);
  ASSERT_EQ(link(target.c_str(), options_.path.c_str()), 0);
  EXPECT_EQ(Refusal().detail, "it has more than one name (hard links)");
  std::filesystem::remove(options_.path);
  ASSERT_EQ(mkfifo(options_.path.c_str(), 0600), 0);
  EXPECT_EQ(Refusal().detail, "it is not a regular file");
}

TEST_F(SqliteJobStoreTest, AFolderThatOthersCanWriteToIsRefused) {
  mkdir((folder_.path() + "/jobs").c_str(), 0700);
  chmod((folder_.path() + "/jobs").c_str(), 0770);
  EXPECT_EQ(Refusal().detail, "its folder must be this user's, and not writable for others");
}

TEST_F(SqliteJobStoreTest, AFolderBehindALinkIsUsed) {
  mkdir((folder_.path() + "/real").c_str(), 0700);
  ASSERT_EQ(symlink("real", (folder_.path() + "/jobs").c_str()), 0);
  Had(Submit(*Open()));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() + "/real/jobs.db"));
}

TEST_F(SqliteJobStoreTest, FilesOfOthersAreRefused) {
  mkdir((folder_.path() + "/jobs").c_str(), 0700);
  std::ofstream(options_.path) << std::string(5000, 'x');
  EXPECT_EQ(Refusal().error_number, EUCLEAN);
  EXPECT_EQ(std::filesystem::file_size(options_.path), 5000U) << "and left as they are";

  std::filesystem::remove(options_.path);
  Execute("CREATE TABLE addresses (name TEXT)");
  EXPECT_EQ(Refusal().detail, "it belongs to another program");
}

TEST_F(SqliteJobStoreTest, AFileOfANewerVersionIsRefused) {
  Had(Submit(*Open()));
  Execute("PRAGMA user_version = 999");
  EXPECT_EQ(Refusal().detail,
            "it was created by a newer version of Belljar (format 999, this one supports 1)");
  Execute("PRAGMA user_version = 1");
  EXPECT_EQ(Queued(*Open()), 1U);
}

TEST_F(SqliteJobStoreTest, ADamagedFileIsRefused) {
  for (int i = 0; i < 50; ++i) Had(Submit(*Open()));
  Execute("PRAGMA wal_checkpoint(TRUNCATE)");
  {
    std::fstream file(options_.path, std::ios::in | std::ios::out | std::ios::binary);
    constexpr size_t kPage = 4096;
    file.seekp(3 * kPage);
    file << std::string(8 * kPage, '\x7f');
  }
  const core::Error refusal = Refusal();
  EXPECT_EQ(refusal.error_number, EUCLEAN) << refusal.ToString();
  EXPECT_NE(refusal.detail.find("the file is damaged"), std::string::npos) << refusal.ToString();
}

// As a process leaves it that ended in the middle of a write.
TEST_F(SqliteJobStoreTest, AHalfWrittenLogIsCutOff) {
  const tests::Death death = tests::InChild([&]() -> int {
    const auto store = Open();
    for (int i = 0; i < 3; ++i) (void)Had(Submit(*store));
    _exit(0);  // without closing it
  });
  ASSERT_EQ(death, tests::Exited(0));
  std::filesystem::resize_file(options_.path + "-wal",
                               std::filesystem::file_size(options_.path + "-wal") - 1000);
  EXPECT_EQ(Queued(*Open()), 2U);
}

TEST_F(SqliteJobStoreTest, AFullFileIsAnErrorAndLosesNothing) {
  options_.size = core::Bytes::Kibi(400);
  const auto store = Open();
  for (int i = 0; i < 20; ++i) Had(store->Cancel("ann", Had(Submit(*store, 2000)).ids.at(0)));
  std::vector<std::string> ids;
  core::Result<Submitted> last = Submit(*store, 2000);
  for (; last.ok(); last = Submit(*store, 2000)) ids.push_back(last->ids.at(0));
  EXPECT_EQ(last.error().error_number, ENOSPC);
  EXPECT_EQ(last.error().detail, "no space is left for it");
  ASSERT_GT(ids.size(), 20U);
  EXPECT_EQ(Queued(*store), ids.size());

  // What has ended can be removed, and makes space.
  now_ += hours(48);
  EXPECT_EQ(Had(store->Expire()).jobs, 20U);
  EXPECT_TRUE(Submit(*store, 2000).ok());
  for (const std::string& id : ids) {
    EXPECT_EQ(Had(store->Cancel("ann", id)).outcome, JobCancellation::Outcome::kCancelled);
  }
}

// One that is too large does not fail those that are written with it.
TEST_F(SqliteJobStoreTest, NeighboursOfAFailedWriteAreWritten) {
  options_.size = core::Bytes::Kibi(400);
  const auto store = Open();
  std::atomic<int> accepted = 0, full = 0;
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 5; ++n) {
        const auto submitted = Submit(*store, i == 0 ? 1'000'000 : 100);
        ++(submitted ? accepted : full);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(full, 5);
  EXPECT_EQ(accepted, 35);
  EXPECT_EQ(Queued(*store), 35U);
}

// A real file system without space, in a mount namespace of a child's own.
TEST_F(SqliteJobStoreTest, AFullDiskIsAnErrorAndLosesNothing) {
  enum Steps { kGood, kNoNamespace, kNotFull, kWrongError, kLost, kStillFull, kNoReserve };
  const tests::Death death = tests::InChild([&]() -> int {
    if (unshare(CLONE_NEWNS) != 0 || mount("", "/", "", MS_REC | MS_PRIVATE, "") != 0 ||
        mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=1m,mode=0700") != 0) {
      return kNoNamespace;
    }
    const std::string ballast = folder_.Write("ballast", std::string(300'000, 'x'));
    const auto store = Open();
    uint64_t accepted = 0;
    core::Result<Submitted> last = Submit(*store, 5000);
    for (; last.ok() && accepted < 1000; last = Submit(*store, 5000)) ++accepted;
    if (last.ok()) return kNotFull;
    if (last.error().error_number != ENOSPC) {
      fprintf(stderr, "%s\n", last.error().ToString().c_str());
      return kWrongError;
    }
    if (Queued(*store) != accepted) return kLost;
    unlink(ballast.c_str());
    if (!Submit(*store, 5000).ok()) return kStillFull;
    SqliteJobOptions careful = options_;
    careful.reserve = core::Bytes::Mebi(2);
    const auto refused = Submit(*Had(OpenSqliteJobStore(careful)));
    if (refused.ok() || refused.error().detail != "less than 2m of its disk are free") {
      return kNoReserve;
    }
    return Queued(*Open()) == accepted + 1 ? kGood : kLost;
  });
  if (death == tests::Exited(kNoNamespace)) {
    BELLJAR_SKIP_OR_FAIL("no mount namespace: this needs root");
  }
  EXPECT_EQ(death, tests::Exited(kGood));
}

TEST_F(SqliteJobStoreTest, ALockedFileIsAnErrorAndLosesNothing) {
  const auto store = Open();
  Had(Submit(*store));
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(options_.path.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  const auto refused = Submit(*store);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_number, EBUSY);
  EXPECT_EQ(refused.error().detail, "another program has locked the file for too long");
  EXPECT_EQ(Queued(*store), 1U) << "reads go on";
  ASSERT_EQ(sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);
  EXPECT_TRUE(Submit(*store).ok());
  EXPECT_EQ(Queued(*store), 2U);
}

TEST_F(SqliteJobStoreTest, ManyDoNotWaitForALockOneAfterTheOther) {
  options_.busy_timeout = milliseconds(100);
  const auto store = Open();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(options_.path.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  const auto start = std::chrono::steady_clock::now();
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  threads.reserve(60);
  for (int i = 0; i < 60; ++i) {
    threads.emplace_back([&] { refused += !Submit(*store).ok(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 60);
  EXPECT_LT(std::chrono::steady_clock::now() - start, tests::Within(milliseconds(60 * 100 / 2)));
  sqlite3_close(other);
}

TEST_F(SqliteJobStoreTest, AClockThatIsSetBackChangesNoOrder) {
  const auto store = Open();
  const std::string first = Had(Submit(*store)).ids[0];
  now_ -= hours(24 * 365);
  const std::string second = Had(Submit(*store)).ids[0];
  EXPECT_EQ(Had(store->List("ann", {}, "", 10)).jobs.at(0).id, second) << "newest first";
  const Job job = Had(store->Claim(1)).at(0);
  EXPECT_EQ(job.id, first) << "oldest first";
  EXPECT_GE(*job.started, job.submitted);
  const auto other = Open();
  EXPECT_TRUE(Had(other->Recover()).interrupted.empty()) << "leases have another clock";
  now_ -= hours(1);
  EXPECT_TRUE(Had(store->Finish(job, {.result = "1"})));
  const Job ended = Had(store->Find("ann", first)).value();
  EXPECT_EQ(ended.state, JobState::kSucceeded);
  EXPECT_GE(*ended.ended, *ended.started);
  EXPECT_EQ(Had(store->Expire()).jobs, 0U) << "kept rather longer";
}

// Its lease would last for long: that the process is gone is seen all the same.
TEST_F(SqliteJobStoreTest, TheJobsOfAKilledProcessAreRecoveredAtOnce) {
  const std::string id = Had(Submit(*Open())).ids[0];
  const tests::Death death = tests::InChild([&] {
    const auto store = Open();
    (void)Had(store->Claim(1));
    raise(SIGKILL);
    return 0;
  });
  ASSERT_EQ(death, tests::KilledBy(SIGKILL));
  const auto store = Open();
  EXPECT_EQ(Had(store->Find("ann", id))->state, JobState::kRunning);
  EXPECT_EQ(Had(store->Recover()).interrupted.size(), 1U);
}

// The clock of leases starts again with the machine.
TEST_F(SqliteJobStoreTest, JobsOfBeforeARestartOfTheMachineAreRecovered) {
  const std::string id = Had(Submit(*Open())).ids[0];
  ASSERT_EQ(tests::InChild([&]() -> int {
              const auto store = Open();
              (void)Had(store->Claim(1));
              _exit(0);
            }),
            tests::Exited(0));
  lease_now_ = milliseconds(10);
  EXPECT_EQ(Had(Open()->Recover()).interrupted.size(), 1U);
}

}  // namespace
}  // namespace belljar::server::jobs::sqlite_job_store_test
