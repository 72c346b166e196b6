// What runs the jobs of a store: each of them is an execution that observers are told of.
#include "server/jobs/job_runner.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/host/deferred_tasks.h"
#include "server/calls/observer.h"
#include "server/jobs/sqlite_job_store.h"
#include "tests/server/jobs/store_support.h"
#include "tests/server/witness.h"

namespace belljar::server::jobs::job_runner_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using tests::Had;

class CodeTool : public Tool {
 public:
  CodeTool() { description_.name = "execute_code"; }
  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return true; }
  bool runs_code() const override { return true; }
  core::Result<ToolResult> Call(const ToolCall& call) override {
    if (call.cancellation->cancelled()) return core::SystemErrorOf(ECANCELED, "run");
    call.execution->SetRecorded();
    ToolResult result;
    result.structured = "{\"execution_id\":\"" + call.execution->id() + "\"}";
    return result;
  }

 private:
  ToolDescription description_;
};

// A store in which something happens while nothing is found, or when a job has been claimed.
class StoreWithPause final : public JobStore {
 public:
  explicit StoreWithPause(std::unique_ptr<JobStore> store) : store_(std::move(store)) {}

  std::function<void()> on_nothing;                // once
  std::function<void(const Job& job)> on_claimed;  // once

  core::Result<std::vector<Job>> Claim(size_t max) override {
    core::Result<std::vector<Job>> claimed = store_->Claim(max);
    if (claimed && !claimed->empty() && on_claimed) {
      std::exchange(on_claimed, nullptr)(claimed->front());
    }
    if (claimed && claimed->empty() && on_nothing) std::exchange(on_nothing, nullptr)();
    return claimed;
  }
  core::Result<Submitted> Submit(const Submission& submission) override {
    return store_->Submit(submission);
  }
  core::Result<Renewal> Renew() override { return store_->Renew(); }
  core::Result<bool> Finish(const Job& claimed, const JobEnd& end) override {
    return store_->Finish(claimed, end);
  }
  core::Result<JobCancellation> Cancel(const std::string& owner, const std::string& id) override {
    return store_->Cancel(owner, id);
  }
  core::Result<std::optional<std::pair<uint64_t, uint64_t>>> CancelBatch(
      const std::string& owner, const std::string& batch) override {
    return store_->CancelBatch(owner, batch);
  }
  core::Result<std::optional<Job>> Find(const std::string& owner, const std::string& id) override {
    return store_->Find(owner, id);
  }
  core::Result<JobPage> List(const std::string& owner, const JobFilter& filter,
                             const std::string& cursor, size_t max) override {
    return store_->List(owner, filter, cursor, max);
  }
  core::Result<std::optional<Batch>> FindBatch(const std::string& owner,
                                               const std::string& batch) override {
    return store_->FindBatch(owner, batch);
  }
  core::Result<std::vector<Job>> BatchResults(const std::string& owner, const std::string& batch,
                                              uint64_t after, size_t max) override {
    return store_->BatchResults(owner, batch, after, max);
  }
  core::Result<Recovered> Recover() override { return store_->Recover(); }
  core::Result<Removed> Expire() override { return store_->Expire(); }
  core::Result<JobCounters> Counters() override { return store_->Counters(); }

 private:
  const std::unique_ptr<JobStore> store_;
};

class JobRunnerTest : public testing::Test {
 protected:
  ~JobRunnerTest() override { queue_.Drain(std::chrono::steady_clock::now() + seconds(20)); }

  void Run(size_t width = 1) {
    JobRunner::Options options;
    options.tools = {{"execution", &tool_}};
    options.callers = [](const std::string& owner) {
      Caller caller;
      caller.name = owner;
      return owner == "gone" ? std::nullopt : std::optional(caller);
    };
    options.width = width;
    options.poll = hours(1);  // nobody is waited for but Wake
    runner_.emplace(*store_, calls_, std::move(options));
    ASSERT_TRUE(runner_->Start());
  }
  std::string Submit(const std::string& owner) {
    const Submitted submitted =
        Had(store_->Submit({.owner = owner, .jobs = {{.kind = "execution", .request = "{}"}}}));
    return submitted.ids.at(0);
  }
  Job Ended(const std::string& owner, const std::string& id) {
    Job job;
    EXPECT_TRUE(tests::Eventually([&] {
      job = Had(store_->Find(owner, id)).value();
      return HasEnded(job.state);
    }));
    return job;
  }

  tests::TemporaryFolder folder_;
  std::unique_ptr<StoreWithPause> store_ = std::make_unique<StoreWithPause>(
      Had(OpenSqliteJobStore({.path = folder_.path() + "/jobs/jobs.db"})));
  CodeTool tool_;
  tests::Witness witness_{true};
  CallQueue queue_{{.running = 2, .waiting = 8}};
  Calls calls_{queue_, {}, &witness_};
  std::optional<JobRunner> runner_;
};

TEST_F(JobRunnerTest, AJobIsAnExecutionOfItsId) {
  Run();
  const std::string id = Submit("ann");
  runner_->NotifySubmitted("ann", "execution", {id}, "");
  runner_->Wake();
  const Job job = Ended("ann", id);
  EXPECT_EQ(job.state, JobState::kSucceeded) << job.failure;
  EXPECT_EQ(job.result, "{\"execution_id\":\"" + id + "\"}");
  EXPECT_EQ(witness_.Seen(), "submitted ann " + id + "\nstarted ann " + id + "\n");
}

TEST_F(JobRunnerTest, WhatIsNotRunIsRefused) {
  const std::string id = Submit("gone");
  Run();
  runner_->Wake();
  EXPECT_EQ(Ended("gone", id).failure, "its token is no longer configured");
  runner_->NotifyRefused({{"ann", "1"}}, "cancelled");
  EXPECT_EQ(witness_.Seen(), "refused gone " + id + " failure\nrefused ann 1 cancelled\n");
}

// A job that is submitted when the only place is about to find nothing is not left for the poll.
TEST_F(JobRunnerTest, NoWakeIsLost) {
  std::promise<std::string> submitted;
  store_->on_nothing = [&] {
    submitted.set_value(Submit("ann"));
    runner_->Wake();  // all places are taken: by who called this
  };
  Run(1);
  runner_->Wake();
  EXPECT_TRUE(HasEnded(Ended("ann", submitted.get_future().get()).state));
}

// The server stops between the claim and the start of a job.
TEST_F(JobRunnerTest, AJobThatIsClaimedWhileTheServerStopsStaysQueuedForTheNext) {
  Run();
  store_->on_claimed = [&](const Job&) { runner_->InterruptAll(); };
  const std::string id = Submit("ann");
  runner_->Wake();
  ASSERT_TRUE(queue_.Drain(std::chrono::steady_clock::now() + seconds(20)));
  const Job job = Had(store_->Find("ann", id)).value();
  EXPECT_EQ(JobStateName(job.state), "queued") << job.failure;
  EXPECT_EQ(job.attempts, 0u);
  EXPECT_EQ(witness_.Seen(), "");
  runner_.reset();

  CallQueue queue({.running = 1, .waiting = 8});
  Calls calls(queue, {}, &witness_);
  JobRunner::Options options;
  options.tools = {{"execution", &tool_}};
  options.callers = [](const std::string&) { return Caller(); };
  JobRunner next(*store_, calls, std::move(options));
  ASSERT_TRUE(next.Start());
  next.Wake();
  EXPECT_EQ(JobStateName(Ended("ann", id).state), "succeeded");
  queue.Stop();
}

TEST_F(JobRunnerTest, AJobThatIsCancelledBetweenItsClaimAndTheStopIsCancelled) {
  Run();
  store_->on_claimed = [&](const Job& job) {
    runner_->InterruptAll();
    EXPECT_TRUE(Had(store_->Cancel(job.owner, job.id)).runs_here);
  };
  const std::string id = Submit("ann");
  runner_->Wake();
  ASSERT_TRUE(queue_.Drain(std::chrono::steady_clock::now() + seconds(20)));
  EXPECT_EQ(JobStateName(Had(store_->Find("ann", id))->state), "cancelled");
  EXPECT_EQ(witness_.Seen(), "refused ann " + id + " cancelled\n");
}

}  // namespace
}  // namespace belljar::server::jobs::job_runner_test
