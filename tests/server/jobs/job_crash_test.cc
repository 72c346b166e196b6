// The process is killed in the middle of its work, at each step of a write and at any time: no job
// that was accepted is lost, none is run twice without being said to have been interrupted, and
// none is left running.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "server/jobs/job_store.h"
#include "tests/server/jobs/store_support.h"

namespace belljar::server::jobs::job_crash_test {
namespace {

using std::chrono::milliseconds;
using tests::Had;
using tests::StoreKind;

// What a child was told by the store, written down after each call returned: the kernel keeps it
// when the child is killed.
struct Told {
  std::map<std::string, std::string> submitted;  // id and owner
  std::map<std::string, std::set<uint32_t>> started;
  std::map<std::string, std::string> finished;  // id and result
  int repeated_starts = 0;                      // of the same attempt
};

class JobCrashTest : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    if (const std::string reason = place_.MissingReason(); !reason.empty()) {
      BELLJAR_SKIP_OR_FAIL(reason);
    }
  }

  void Report(const std::string& line) const {
    std::ofstream(folder_.path() + "/told", std::ios::app) << line + "\n" << std::flush;
  }

  // In the child, until it is killed: submits, starts and finishes jobs.
  [[noreturn]] void Work(const StepHook& step, int jobs) {
    const auto store = Had(place_.Open(limits_, step));
    for (int i = 0; i < jobs; ++i) {
      const std::string owner = i % 2 == 0 ? "ann" : "bob";
      NewJob job{.kind = "execution", .request = "1"};
      job.retry_interrupted = i % 3 == 0;
      const bool batch = i % 4 == 0;
      const Submitted submitted = Had(store->Submit(
          {.owner = owner, .jobs = std::vector<NewJob>(batch ? 3 : 1, job), .batch = batch}));
      for (const std::string& id : submitted.ids) {
        Report(std::string("submitted ").append(id).append(" ").append(owner));
      }
      for (const Job& claimed : Had(store->Claim(2))) {
        Report("started " + claimed.id + " " + std::to_string(claimed.attempts));
        const std::string result = std::to_string(getpid()) + std::to_string(i);
        if (Had(store->Finish(claimed, {.state = JobState::kSucceeded, .result = result}))) {
          Report("finished " + claimed.id + " " + result);
        }
      }
    }
    _exit(0);
  }

  Told ReadTold() const {
    Told told;
    std::ifstream file(folder_.path() + "/told");
    for (std::string line, word, id; std::getline(file, line);) {
      std::istringstream words(line);
      words >> word >> id;
      if (word == "submitted") words >> told.submitted[id];
      if (word == "finished") words >> told.finished[id];
      if (word == "started") {
        uint32_t attempt = 0;
        words >> attempt;
        told.repeated_starts += !told.started[id].insert(attempt).second;
      }
    }
    return told;
  }

  // Returns whether the child was killed before its work was done.
  bool RunAndKill(const std::function<void()>& child, milliseconds after) {
    const pid_t pid = fork();
    if (pid == 0) {
      child();
      _exit(0);
    }
    int status = 0;
    if (after.count() > 0) {
      std::this_thread::sleep_for(after);  // sleeps: killed at many moments
      kill(pid, SIGKILL);
    }
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << status;
    return WIFSIGNALED(status);
  }

  void Check() {
    // By the lease, if the database does not see that the process has ended.
    if (GetParam() == StoreKind::kPostgres) place_.Pass(limits_.lease + milliseconds(100));
    const auto store = Had(place_.Open(limits_));
    Had(store->Recover());
    EXPECT_EQ(Had(store->Counters()).by_state[1], 0U) << "left running";
    const Told told = ReadTold();
    EXPECT_EQ(told.repeated_starts, 0);
    for (const auto& [id, owner] : told.submitted) {
      const std::optional<Job> job = Had(store->Find(owner, id));
      ASSERT_TRUE(job) << "lost";
      const auto started = told.started.find(id);
      if (const auto finished = told.finished.find(id); finished != told.finished.end()) {
        EXPECT_EQ(job->state, JobState::kSucceeded);
        EXPECT_EQ(job->result, finished->second);
      }
      if (started == told.started.end()) continue;
      // Whoever was told to run it finds each attempt counted, also if it is to be run again.
      EXPECT_GE(job->attempts, *started->second.rbegin()) << JobStateName(job->state);
      if (!job->retry_interrupted) {
        EXPECT_EQ(started->second.size(), 1U) << "run again unasked";
        EXPECT_NE(job->state, JobState::kQueued);
      }
    }
  }

  tests::StorePlace place_{GetParam()};
  const tests::TemporaryFolder folder_;
  const JobLimits limits_{.lease = milliseconds(600)};
};

INSTANTIATE_TEST_SUITE_P(Stores, JobCrashTest,
                         testing::Values(StoreKind::kSqlite, StoreKind::kPostgres),
                         tests::StoreName);

TEST_P(JobCrashTest, KilledAtEachStepOfAWrite) {
  int killed = 0;
  for (int step = 1; step <= 24; ++step) {
    int left = step;
    const StepHook count = [&left](std::string_view) {
      if (--left == 0) raise(SIGKILL);
    };
    killed += RunAndKill([&] { Work(count, 20); }, milliseconds(0));
    if (step % 4 == 0 || GetParam() == StoreKind::kSqlite) Check();
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(killed, 24);
}

TEST_P(JobCrashTest, KilledAtAnyTime) {
  unsigned seed = 1;
  int killed = 0;
  for (int round = 0; round < 15; ++round) {
    const auto after = tests::Within(milliseconds(5 + rand_r(&seed) % 250));
    killed += RunAndKill([&] { Work({}, 100'000); }, after);
    if (round % 3 == 2) Check();
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(killed, 15);
  EXPECT_GT(ReadTold().submitted.size(), 0U);
}

TEST_P(JobCrashTest, TwoProcessesRunEachJobOnce) {
  constexpr size_t kJobs = 60;
  // Longer than this machine may take to let a process run.
  const JobLimits limits{.lease = std::chrono::minutes(1)};
  std::string batch;
  {
    const auto store = Had(place_.Open(limits));
    batch =
        Had(store->Submit({.owner = "ann", .jobs = std::vector<NewJob>(kJobs, {"execution", "1"})}))
            .batch;
  }
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    const auto store = Had(place_.Open(limits));
    while (true) {
      const std::vector<Job> jobs = Had(store->Claim(2));
      if (jobs.empty()) _exit(0);
      for (const Job& job : jobs) {
        Report("started " + job.id + " 1");
        if (!Had(store->Finish(job, {.state = JobState::kSucceeded, .result = "1"}))) _exit(1);
      }
    }
  }
  for (const pid_t pid : children) {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const Told told = ReadTold();
  EXPECT_EQ(told.started.size(), kJobs);
  EXPECT_EQ(told.repeated_starts, 0);
  const auto store = Had(place_.Open(limits));
  uint64_t expected = 0;
  for (const Job& job : Had(store->BatchResults("ann", batch, 0, 1000))) {
    EXPECT_EQ(job.finish, ++expected);
  }
  EXPECT_EQ(expected, kJobs);
}

}  // namespace
}  // namespace belljar::server::jobs::job_crash_test
