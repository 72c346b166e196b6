// What every store of jobs does, whichever database it uses.
#include "server/jobs/job_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "tests/server/jobs/store_support.h"

namespace belljar::server::jobs::job_store_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using tests::Had;
using tests::StoreKind;

class JobStoreTest : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    if (const std::string reason = place_.MissingReason(); !reason.empty()) {
      BELLJAR_SKIP_OR_FAIL(reason);
    }
  }
  std::unique_ptr<JobStore> Open() { return Had(place_.Open(limits_)); }

  static NewJob Work(std::string request = R"({"code":"1"})", int priority = 0) {
    return {.kind = "execution", .request = std::move(request), .priority = priority};
  }
  // The id of the accepted job.
  static std::string Submit(JobStore& store, NewJob job = Work(), std::string owner = "ann") {
    const Submitted submitted =
        Had(store.Submit({.owner = std::move(owner), .jobs = {std::move(job)}}));
    EXPECT_EQ(submitted.outcome, Submitted::Outcome::kAccepted) << submitted.full;
    return submitted.ids.at(0);
  }
  static Submitted SubmitBatch(JobStore& store, size_t count, std::string owner = "ann") {
    return Had(store.Submit(
        {.owner = std::move(owner), .jobs = std::vector<NewJob>(count, Work()), .batch = true}));
  }
  static Job ClaimOne(JobStore& store) {
    std::vector<Job> jobs = Had(store.Claim(1));
    if (jobs.size() != 1) throw std::runtime_error("nothing was claimed");
    return jobs.front();
  }
  static bool Succeed(JobStore& store, const Job& job, std::string result = R"({"result":1})") {
    return Had(store.Finish(job, {.state = JobState::kSucceeded, .result = std::move(result)}));
  }
  static Job Found(JobStore& store, const std::string& id, const std::string& owner = "ann") {
    return Had(store.Find(owner, id)).value();
  }
  static JobState StateOf(JobStore& store, const std::string& id) { return Found(store, id).state; }
  // As the store's clock has it: in tests this machine's is also that of the database.
  Time FromNow(milliseconds time) const {
    if (place_.kind() == StoreKind::kSqlite) return Time(place_.wall_clock + time);
    return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now()) + time;
  }
  // One second of "a while" is long for SQLite's clock and short enough to wait for.
  void LetLeasesRunOut() { place_.Pass(limits_.lease + milliseconds(200)); }

  tests::StorePlace place_{GetParam()};
  JobLimits limits_{.lease = place_.kind() == StoreKind::kSqlite ? seconds(30) : seconds(1)};
};

INSTANTIATE_TEST_SUITE_P(Stores, JobStoreTest,
                         testing::Values(StoreKind::kSqlite, StoreKind::kPostgres),
                         tests::StoreName);

TEST_P(JobStoreTest, AJobIsSubmittedClaimedAndFinished) {
  const auto store = Open();
  NewJob work = Work(R"json({"code":"print('å\u0000')"})json", 3);
  const std::string id = Submit(*store, work);
  EXPECT_TRUE(IsJobId(id));

  Job job = Found(*store, id);
  EXPECT_EQ(job.state, JobState::kQueued);
  EXPECT_EQ(job.owner, "ann");
  EXPECT_EQ(job.kind, "execution");
  EXPECT_EQ(job.priority, 3);
  EXPECT_EQ(job.request, work.request);
  EXPECT_EQ(job.attempts, 0U);
  EXPECT_FALSE(job.started || job.ended || job.deadline);
  EXPECT_EQ(job.number, 1U);

  const Job claimed = ClaimOne(*store);
  EXPECT_EQ(claimed.id, id);
  EXPECT_EQ(claimed.request, work.request);
  EXPECT_EQ(claimed.attempts, 1U);
  EXPECT_EQ(StateOf(*store, id), JobState::kRunning);
  EXPECT_TRUE(Had(store->Claim(10)).empty());

  EXPECT_TRUE(Had(store->Finish(
      claimed, {.state = JobState::kFailed, .result = R"({"é":2})", .failure = "no"})));
  job = Found(*store, id);
  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_EQ(job.result, R"({"é":2})");
  EXPECT_EQ(job.failure, "no");
  ASSERT_TRUE(job.started && job.ended);
  EXPECT_LE(job.submitted, *job.started);
  EXPECT_LE(*job.started, *job.ended);
  EXPECT_FALSE(Succeed(*store, claimed)) << "a second end of the same attempt";
  EXPECT_EQ(StateOf(*store, id), JobState::kFailed);
}

TEST_P(JobStoreTest, JobsOutliveTheStore) {
  std::string id;
  {
    const auto store = Open();
    id = Submit(*store);
  }
  const auto store = Open();
  EXPECT_EQ(ClaimOne(*store).id, id);
}

TEST_P(JobStoreTest, AnotherOwnersJobIsAsIfNotThere) {
  const auto store = Open();
  const std::string id = Submit(*store);
  const Submitted batch = SubmitBatch(*store, 2);
  EXPECT_FALSE(Had(store->Find("bob", id)));
  EXPECT_FALSE(Had(store->Find("ann", NewJobId())));
  EXPECT_FALSE(Had(store->Find("ann", "' OR 1=1 --")));
  EXPECT_EQ(Had(store->Cancel("bob", id)).outcome, JobCancellation::Outcome::kUnknown);
  EXPECT_FALSE(Had(store->FindBatch("bob", batch.batch)));
  EXPECT_FALSE(Had(store->CancelBatch("bob", batch.batch)));
  EXPECT_TRUE(Had(store->List("bob", {}, "", 10)).jobs.empty());
  EXPECT_TRUE(Had(store->List("bob", {.batch = batch.batch}, "", 10)).jobs.empty());
  for (const Job& job : Had(store->Claim(10))) Succeed(*store, job);
  EXPECT_TRUE(Had(store->BatchResults("bob", batch.batch, 0, 10)).empty());
  EXPECT_EQ(Had(store->BatchResults("ann", batch.batch, 0, 10)).size(), 2U);
  // Numbers count an owner's own jobs, and cursors are made of them.
  EXPECT_EQ(Found(*store, Submit(*store, Work(), "bob"), "bob").number, 1U);
}

TEST_P(JobStoreTest, TheHighestPriorityIsNextThenTheOldest) {
  const auto store = Open();
  const std::string low = Submit(*store, Work("1", -10));
  const std::string first = Submit(*store, Work("2"));
  const std::string second = Submit(*store, Work("3"));
  const std::string high = Submit(*store, Work("4", 10));
  std::vector<std::string> order;
  for (const Job& job : Had(store->Claim(2))) order.push_back(job.id);
  for (const Job& job : Had(store->Claim(10))) order.push_back(job.id);
  EXPECT_EQ(order, (std::vector{high, first, second, low}));
}

TEST_P(JobStoreTest, OwnersTakeTurnsWhateverTheirPriorities) {
  const auto store = Open();
  for (int i = 0; i < 6; ++i) Submit(*store, Work("1", 10), "hog");
  Submit(*store, Work("1", -10), "ann");
  Submit(*store, Work("1", -10), "ann");
  std::string owners;
  for (int i = 0; i < 5; ++i) owners += ClaimOne(*store).owner.front();
  EXPECT_EQ(owners, "ahahh");
}

// With one job running at a time, as many as running say nothing of who is next.
TEST_P(JobStoreTest, WhoSubmitsOneJobAtATimeDoesNotStarveOthers) {
  const auto store = Open();
  for (int i = 0; i < 4; ++i) Submit(*store, Work(), "zoe");
  std::string owners;
  for (int i = 0; i < 6; ++i) {
    if (owners.empty() || owners.back() == 'a') Submit(*store, Work(), "ann");
    const Job job = ClaimOne(*store);
    owners += job.owner.front();
    Succeed(*store, job);
  }
  EXPECT_EQ(owners, "azazaz");
}

TEST_P(JobStoreTest, AQueuedJobIsCancelledAtOnceAndARunningOneIsTold) {
  const auto store = Open();
  const std::string queued = Submit(*store, Work("1", -1));
  const std::string running = Submit(*store);
  const Job job = ClaimOne(*store);
  ASSERT_EQ(job.id, running);

  EXPECT_EQ(Had(store->Cancel("ann", queued)).outcome, JobCancellation::Outcome::kCancelled);
  EXPECT_EQ(StateOf(*store, queued), JobState::kCancelled);
  EXPECT_EQ(Had(store->Cancel("ann", queued)).outcome, JobCancellation::Outcome::kEnded);
  EXPECT_TRUE(Had(store->Claim(1)).empty());

  EXPECT_TRUE(Had(store->Renew()).cancelled.empty());
  const JobCancellation requested = Had(store->Cancel("ann", running));
  EXPECT_EQ(requested.outcome, JobCancellation::Outcome::kRequested);
  EXPECT_TRUE(requested.runs_here);
  EXPECT_TRUE(Found(*store, running).cancel_requested);
  EXPECT_EQ(Had(store->Renew()).cancelled, std::vector{running});
  EXPECT_TRUE(Had(store->Finish(job, {.state = JobState::kCancelled})));
  EXPECT_EQ(StateOf(*store, running), JobState::kCancelled);
  EXPECT_TRUE(Had(store->Renew()).cancelled.empty());
}

TEST_P(JobStoreTest, AnotherServersJobIsCancelledThroughItsLease) {
  const auto one = Open(), other = Open();
  const std::string id = Submit(*one);
  const Job job = ClaimOne(*other);
  const JobCancellation requested = Had(one->Cancel("ann", id));
  EXPECT_EQ(requested.outcome, JobCancellation::Outcome::kRequested);
  EXPECT_FALSE(requested.runs_here);
  EXPECT_TRUE(Had(one->Renew()).cancelled.empty());
  EXPECT_EQ(Had(other->Renew()).cancelled, std::vector{id});
}

TEST_P(JobStoreTest, QuotasOfAnOwnerAndOfAll) {
  limits_.owner_jobs = 3;
  limits_.jobs = 5;
  limits_.owner_bytes.count = 100;
  const auto store = Open();
  const auto outcome = [&](const char* owner, size_t count, const std::string& request = "1") {
    return Had(store->Submit({.owner = owner, .jobs = std::vector<NewJob>(count, Work(request))}));
  };
  EXPECT_EQ(outcome("ann", 4).outcome, Submitted::Outcome::kOwnerFull) << "all or none";
  EXPECT_TRUE(Had(store->List("ann", {}, "", 10)).jobs.empty());
  EXPECT_EQ(outcome("ann", 3).outcome, Submitted::Outcome::kAccepted);
  EXPECT_EQ(outcome("ann", 1).full, "3 jobs of this owner are queued or running, of at most 3");
  EXPECT_EQ(outcome("bob", 1, std::string(101, '1')).full,
            "0 bytes of this owner's jobs are queued or running, of at most 100");
  EXPECT_EQ(outcome("bob", 2).outcome, Submitted::Outcome::kAccepted);
  const Submitted full = outcome("cat", 1);
  EXPECT_EQ(full.outcome, Submitted::Outcome::kFull);
  EXPECT_EQ(full.full, "5 jobs of all owners are queued or running, of at most 5");

  // Running counts, ended does not.
  const std::vector<Job> jobs = Had(store->Claim(5));
  EXPECT_EQ(outcome("cat", 1).outcome, Submitted::Outcome::kFull);
  Succeed(*store, jobs.at(0));
  EXPECT_EQ(outcome("cat", 1).outcome, Submitted::Outcome::kAccepted);
  Had(store->Cancel("cat", Had(store->List("cat", {}, "", 1)).jobs.at(0).id));
  EXPECT_EQ(outcome("cat", 1).outcome, Submitted::Outcome::kAccepted);
}

TEST_P(JobStoreTest, WhatCannotBeStoredIsRefused) {
  const auto store = Open();
  const auto fault = [&](const Submission& submission) {
    const Submitted submitted = Had(store->Submit(submission));
    EXPECT_EQ(submitted.outcome, Submitted::Outcome::kInvalid);
    return submitted.full;
  };
  EXPECT_EQ(fault({.owner = "ann"}), "it has no jobs");
  EXPECT_EQ(fault({.owner = "", .jobs = {Work()}}), "the owner has no name");
  EXPECT_EQ(fault({.owner = "ann", .jobs = {Work(std::string("\"\0\"", 3))}}),
            "the request of a job is not JSON");
  EXPECT_EQ(fault({.owner = "ann", .jobs = {Work("\"\xff\"")}}),
            "the request of a job is not JSON");
  EXPECT_EQ(fault({.owner = "ann", .jobs = {Work("1", 11)}}),
            "the priority of a job is not from -10 to 10");
  EXPECT_EQ(fault({.owner = "ann", .jobs = {Work()}, .idempotency_key = std::string(256, 'k')}),
            "the idempotency key is not text of at most 255 bytes");
  Submit(*store);
  const Job job = ClaimOne(*store);
  const auto refused = store->Finish(job, {.result = std::string("\0", 1)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_number, EINVAL);
  EXPECT_TRUE(Succeed(*store, job)) << "and can still be finished";
}

TEST_P(JobStoreTest, TheSameKeyIsTheSameSubmission) {
  const auto store = Open();
  const Submission once{.owner = "ann", .jobs = {Work()}, .idempotency_key = "k"};
  const Submitted first = Had(store->Submit(once));
  Submission again = once;
  again.jobs[0].deadline = FromNow(hours(1));  // counted from now by a client that tries again
  const Submitted second = Had(store->Submit(again));
  EXPECT_EQ(second.outcome, Submitted::Outcome::kRepeated);
  EXPECT_EQ(second.ids, first.ids);
  EXPECT_EQ(Found(*store, first.ids[0]).idempotency_key, "k");

  Submission other = once;
  other.jobs[0].request = "2";
  EXPECT_EQ(Had(store->Submit(other)).outcome, Submitted::Outcome::kKeyReused);
  other = once;
  other.batch = true;
  EXPECT_EQ(Had(store->Submit(other)).outcome, Submitted::Outcome::kKeyReused);
  other = once;
  other.owner = "bob";
  EXPECT_EQ(Had(store->Submit(other)).outcome, Submitted::Outcome::kAccepted)
      << "an owner's keys are its own";
  EXPECT_EQ(Had(store->List("ann", {}, "", 10)).jobs.size(), 1U);

  const Submission batch{.owner = "ann", .jobs = {Work("1"), Work("2")}, .idempotency_key = "b"};
  const Submitted made = Had(store->Submit(batch));
  const Submitted repeated = Had(store->Submit(batch));
  EXPECT_EQ(repeated.outcome, Submitted::Outcome::kRepeated);
  EXPECT_EQ(repeated.batch, made.batch);
  EXPECT_EQ(repeated.ids, made.ids);
}

TEST_P(JobStoreTest, ManyWithTheSameKeyAtOnceAreOneJob) {
  const auto store = Open(), other = Open();
  std::vector<std::thread> threads;
  std::vector<Submitted> submitted(8);
  for (size_t i = 0; i < submitted.size(); ++i) {
    threads.emplace_back([&, i] {
      JobStore& own = i % 2 == 0 ? *store : *other;
      submitted[i] = Had(own.Submit({.owner = "ann", .jobs = {Work()}, .idempotency_key = "k"}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> ids;
  for (const Submitted& each : submitted) ids.insert(each.ids.at(0));
  EXPECT_EQ(ids.size(), 1U);
  EXPECT_EQ(Had(store->Counters()).by_state[0], 1U);
}

TEST_P(JobStoreTest, PagesAreNewestFirst) {
  const auto store = Open();
  std::vector<std::string> ids;
  for (int i = 0; i < 7; ++i) ids.insert(ids.begin(), Submit(*store));
  Submit(*store, Work(), "bob");
  std::vector<std::string> listed;
  std::string cursor;
  int pages = 0;
  do {
    const JobPage page = Had(store->List("ann", {}, cursor, 3));
    for (const Job& job : page.jobs) listed.push_back(job.id);
    cursor = page.next;
    // What is new does not move what follows.
    if (pages == 0) Submit(*store);
    ++pages;
  } while (!cursor.empty() && pages < 10);
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(listed, ids);

  const Job claimed = ClaimOne(*store);
  const JobPage running = Had(store->List("ann", {.state = JobState::kRunning}, "", 10));
  ASSERT_EQ(running.jobs.size(), 1U);
  EXPECT_EQ(running.jobs[0].id, claimed.id);
  EXPECT_EQ(running.jobs[0].request, "") << "lists have no texts";
  for (const char* wrong : {"x", "1x", "-1", "99999999999999999999"}) {
    const auto refused = store->List("ann", {}, wrong, 3);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().error_number, EINVAL);
  }
}

TEST_P(JobStoreTest, ABatchIsReadInTheOrderOfFinishing) {
  const auto store = Open();
  const Submitted batch = SubmitBatch(*store, 5);
  ASSERT_EQ(batch.ids.size(), 5U);
  std::vector<Job> jobs = Had(store->Claim(4));
  ASSERT_EQ(jobs.size(), 4U);
  EXPECT_EQ(jobs[2].position, 2U);
  Succeed(*store, jobs[2], "22");
  Succeed(*store, jobs[0], "0");
  std::vector<Job> ended = Had(store->BatchResults("ann", batch.batch, 0, 10));
  ASSERT_EQ(ended.size(), 2U);
  EXPECT_EQ(ended[0].position, 2U);
  EXPECT_EQ(ended[0].result, "22");
  EXPECT_EQ(ended[0].finish, 1U);
  EXPECT_EQ(ended[1].position, 0U);
  EXPECT_EQ(Had(store->BatchResults("ann", batch.batch, 2, 10)).size(), 0U);

  EXPECT_EQ(Had(store->Cancel("ann", batch.ids[4])).outcome, JobCancellation::Outcome::kCancelled);
  Had(store->Finish(jobs[3], {.state = JobState::kFailed, .failure = "no"}));
  ended = Had(store->BatchResults("ann", batch.batch, 2, 1));
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].position, 4U);
  EXPECT_EQ(Had(store->BatchResults("ann", batch.batch, 3, 10)).at(0).position, 3U);

  const Batch progress = Had(store->FindBatch("ann", batch.batch)).value();
  EXPECT_EQ(progress.total, 5U);
  EXPECT_EQ(progress.by_state, (std::array<uint32_t, kJobStates>{0, 1, 2, 1, 1, 0, 0}));
  EXPECT_EQ(Had(store->List("ann", {.batch = batch.batch}, "", 10)).jobs.size(), 5U);
}

TEST_P(JobStoreTest, ABatchIsCancelledAsAWhole) {
  const auto store = Open();
  const Submitted batch = SubmitBatch(*store, 450);  // more than one part
  const Job job = ClaimOne(*store);
  const auto counts = Had(store->CancelBatch("ann", batch.batch)).value();
  EXPECT_EQ(counts, std::pair(uint64_t{449}, uint64_t{1}));
  EXPECT_EQ(Had(store->Renew()).cancelled, std::vector{job.id});
  EXPECT_TRUE(Had(store->Claim(1)).empty());
  EXPECT_EQ(Had(store->FindBatch("ann", batch.batch))->by_state[4], 449U);
}

TEST_P(JobStoreTest, AServerThatStopsLeavesItsJobsInterrupted) {
  const auto store = Open();
  const std::string once = Submit(*store);
  NewJob retried = Work();
  retried.retry_interrupted = true;
  const std::string again = Submit(*store, retried);
  const std::string cancelled = Submit(*store, retried);
  {
    const auto stopping = Open();
    ASSERT_EQ(Had(stopping->Claim(3)).size(), 3U);
    ASSERT_EQ(Had(store->Cancel("ann", cancelled)).outcome, JobCancellation::Outcome::kRequested);
    const Recovered nothing = Had(store->Recover());
    EXPECT_TRUE(nothing.interrupted.empty() && nothing.queued_again.empty()) << "it still runs";
  }
  const Recovered recovered = Had(store->Recover());
  ASSERT_EQ(recovered.interrupted.size(), 2U);
  EXPECT_EQ(recovered.interrupted[0].id, once);
  EXPECT_EQ(recovered.interrupted[0].owner, "ann");
  ASSERT_EQ(recovered.queued_again.size(), 1U);
  EXPECT_EQ(recovered.queued_again[0].id, again);

  const Job interrupted = Found(*store, once);
  EXPECT_EQ(interrupted.state, JobState::kInterrupted);
  EXPECT_EQ(interrupted.failure,
            "the server that ran it ended or stopped responding before the job ended");
  EXPECT_EQ(Found(*store, again).attempts, 1U);
  const Job second = ClaimOne(*store);
  EXPECT_EQ(second.id, again);
  EXPECT_EQ(second.attempts, 2U);
  EXPECT_TRUE(Succeed(*store, second));
  EXPECT_TRUE(Had(store->Claim(1)).empty());
}

TEST_P(JobStoreTest, AServerThatDoesNotRenewLosesItsJobsAndIsTold) {
  const auto store = Open(), hung = Open();
  NewJob retried = Work();
  retried.retry_interrupted = true;
  const std::string id = Submit(*store, retried);
  const Job first = ClaimOne(*hung);
  Had(store->Renew());
  place_.Pass(limits_.lease / 2);
  Had(hung->Renew());
  place_.Pass(limits_.lease * 3 / 4);
  EXPECT_TRUE(Had(store->Recover()).queued_again.empty()) << "it renewed in time";

  LetLeasesRunOut();
  EXPECT_EQ(Had(store->Recover()).queued_again.size(), 1U);
  const Job second = ClaimOne(*store);
  EXPECT_EQ(second.id, id);
  EXPECT_FALSE(Succeed(*hung, first, "1")) << "it is no longer its job";
  const Renewal renewal = Had(hung->Renew());
  EXPECT_TRUE(renewal.lost);
  EXPECT_FALSE(Had(hung->Renew()).lost) << "told once";
  EXPECT_TRUE(Succeed(*store, second, "2"));
  EXPECT_EQ(Found(*store, id).result, "2");
}

// The first attempt's end must not be taken for that of the second on the same server.
TEST_P(JobStoreTest, AnEndBelongsToItsAttempt) {
  const auto store = Open(), other = Open();
  NewJob retried = Work();
  retried.retry_interrupted = true;
  const std::string id = Submit(*store, retried);
  const Job first = ClaimOne(*store);
  EXPECT_TRUE(Had(store->Finish(first, {.state = JobState::kInterrupted, .failure = "stops"})));
  EXPECT_EQ(StateOf(*store, id), JobState::kQueued);
  const Job second = ClaimOne(*store);
  EXPECT_FALSE(Succeed(*store, first));
  EXPECT_EQ(StateOf(*store, id), JobState::kRunning);
  Had(store->Renew());
  EXPECT_EQ(StateOf(*store, id), JobState::kRunning) << "renewing knows that it runs here";
  EXPECT_TRUE(Succeed(*store, second));
}

TEST_P(JobStoreTest, AJobThatWasClaimedButNotStartedIsQueuedAsBefore) {
  const auto store = Open(), other = Open();
  const std::string id = Submit(*store);
  const Job unstarted = ClaimOne(*store);
  EXPECT_TRUE(Had(store->Finish(unstarted, {.state = JobState::kQueued})));
  EXPECT_EQ(StateOf(*store, id), JobState::kQueued);
  EXPECT_EQ(Found(*store, id).attempts, 0U);
  EXPECT_FALSE(Had(store->Finish(unstarted, {.state = JobState::kQueued}))) << "it is not its job";
  const Job first = ClaimOne(*other);
  EXPECT_EQ(first.attempts, 1U);
  EXPECT_FALSE(Had(store->Finish(unstarted, {.state = JobState::kQueued})));
  EXPECT_TRUE(Succeed(*other, first));

  const std::string cancelled = Submit(*store);
  const Job claimed = ClaimOne(*store);
  ASSERT_EQ(Had(store->Cancel("ann", cancelled)).outcome, JobCancellation::Outcome::kRequested);
  EXPECT_TRUE(Had(store->Finish(claimed, {.state = JobState::kQueued})));
  EXPECT_EQ(StateOf(*store, cancelled), JobState::kCancelled);
}

TEST_P(JobStoreTest, AJobThatEndsServersIsNotStartedForEver) {
  limits_.attempts = 3;
  const auto store = Open();
  NewJob retried = Work();
  retried.retry_interrupted = true;
  const std::string id = Submit(*store, retried);
  for (int attempt = 1; attempt <= 3; ++attempt) {
    const Job job = ClaimOne(*store);
    EXPECT_TRUE(Had(store->Finish(job, {.state = JobState::kInterrupted, .failure = "again"})));
  }
  EXPECT_EQ(StateOf(*store, id), JobState::kInterrupted);
  EXPECT_EQ(Found(*store, id).attempts, 3U);
  EXPECT_TRUE(Had(store->Claim(1)).empty());
}

TEST_P(JobStoreTest, AJobIsNotStartedAfterItsDeadline) {
  const auto store = Open();
  NewJob late = Work("1", 10);
  late.deadline = FromNow(milliseconds(300));
  const std::string id = Submit(*store, late);
  const std::string other = Submit(*store);
  place_.Pass(milliseconds(400));
  EXPECT_EQ(ClaimOne(*store).id, other);
  const Removed removed = Had(store->Expire());
  ASSERT_EQ(removed.expired.size(), 1U);
  EXPECT_EQ(removed.expired[0].id, id);
  const Job expired = Found(*store, id);
  EXPECT_EQ(expired.state, JobState::kExpired);
  EXPECT_EQ(expired.failure, "its deadline passed before it was started");
  EXPECT_EQ(Had(store->Counters()).by_state[0], 0U);
}

TEST_P(JobStoreTest, ResultsAreKeptForATime) {
  limits_.retention = milliseconds(300);
  const auto store = Open();
  const Submission submission{.owner = "ann", .jobs = {Work()}, .idempotency_key = "k"};
  const std::string id = Had(store->Submit(submission)).ids[0];
  const Submitted batch = SubmitBatch(*store, 2);
  const std::vector<Job> jobs = Had(store->Claim(2));
  for (const Job& job : jobs) Succeed(*store, job);
  EXPECT_EQ(Had(store->Expire()).jobs, 0U);
  place_.Pass(milliseconds(400));
  EXPECT_EQ(Had(store->Expire()).jobs, 2U);
  EXPECT_FALSE(Had(store->Find("ann", id)));
  EXPECT_EQ(Had(store->Counters()).retained.count, 0U);
  EXPECT_EQ(Had(store->Submit(submission)).outcome, Submitted::Outcome::kAccepted)
      << "the key went with its job";

  // The batch counts what is gone, and goes with its last job.
  EXPECT_EQ(Had(store->FindBatch("ann", batch.batch))->removed, 1U);
  EXPECT_EQ(Had(store->FindBatch("ann", batch.batch))->by_state[0], 1U);
  for (const Job& job : Had(store->Claim(2))) Succeed(*store, job);
  place_.Pass(milliseconds(400));
  EXPECT_EQ(Had(store->Expire()).jobs, 2U);
  EXPECT_FALSE(Had(store->FindBatch("ann", batch.batch)));
}

TEST_P(JobStoreTest, ResultsAboveTheSizeGoFromTheOwnerWhoHasMost) {
  limits_.retained.count = 10'000;
  const auto store = Open();
  std::vector<std::string> hogs, anns;
  for (int i = 0; i < 20; ++i) {
    hogs.push_back(Submit(*store, Work("1"), "hog"));
    Succeed(*store, ClaimOne(*store), std::string(999, '7'));
  }
  for (int i = 0; i < 2; ++i) {
    anns.push_back(Submit(*store, Work("1"), "ann"));
    Succeed(*store, ClaimOne(*store), std::string(999, '7'));
  }
  EXPECT_EQ(Had(store->Counters()).retained.count, 22'000U);
  const Removed removed = Had(store->Expire());
  EXPECT_EQ(removed.jobs, 12U);
  EXPECT_EQ(removed.bytes.count, 12'000U);
  EXPECT_EQ(Had(store->Counters()).retained.count, 10'000U);
  for (const std::string& id : anns) EXPECT_TRUE(Had(store->Find("ann", id)));
  EXPECT_FALSE(Had(store->Find("hog", hogs[11])));
  EXPECT_TRUE(Had(store->Find("hog", hogs[12]))) << "the oldest went";
}

TEST_P(JobStoreTest, Counters) {
  const auto store = Open();
  EXPECT_FALSE(Had(store->Counters()).oldest_queued);
  const std::string oldest = Submit(*store, Work("1", -5));
  place_.Pass(milliseconds(10));
  Submit(*store);
  Submit(*store, Work(), "bob");
  Succeed(*store, ClaimOne(*store));
  ClaimOne(*store);
  const JobCounters counters = Had(store->Counters());
  EXPECT_EQ(counters.by_state, (std::array<uint64_t, kJobStates>{1, 1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(counters.oldest_queued, Found(*store, oldest).submitted);
  EXPECT_GT(counters.retained.count, 0U);
}

TEST_P(JobStoreTest, LargeTextsComeBackUnchanged) {
  const auto store = Open();
  std::string large = "\"";
  for (int i = 0; large.size() < (3U << 20); ++i) large += "é" + std::to_string(i);
  large += '"';
  const Submitted batch = Had(
      store->Submit({.owner = "ann", .jobs = std::vector<NewJob>(9, Work(large)), .batch = true}));
  ASSERT_EQ(batch.outcome, Submitted::Outcome::kAccepted) << batch.full;
  for (const Job& job : Had(store->Claim(9))) {
    EXPECT_TRUE(job.request == large);
    Succeed(*store, job, large);
  }
  EXPECT_TRUE(Found(*store, batch.ids[8]).result == large);
  // An answer has at most 16 MiB, each of these more than six.
  EXPECT_EQ(Had(store->BatchResults("ann", batch.batch, 0, 100)).size(), 2U);
  EXPECT_EQ(Had(store->BatchResults("ann", batch.batch, 7, 100)).size(), 2U);
}

TEST_P(JobStoreTest, ThreadsAndServersShareTheWork) {
  const auto one = Open(), other = Open();
  constexpr size_t kJobs = 120;
  std::vector<std::thread> threads;
  std::atomic<size_t> finished = 0;
  std::mutex mutex;
  std::set<std::string> claimed;
  const Submitted batch = SubmitBatch(*one, kJobs / 2);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      JobStore& own = i % 2 == 0 ? *one : *other;
      for (size_t n = 0; n < kJobs / 8; ++n) Submit(own, Work(), "owner" + std::to_string(i));
    });
    threads.emplace_back([&, i] {
      JobStore& own = i % 2 == 0 ? *one : *other;
      while (finished < kJobs) {
        for (const Job& job : Had(own.Claim(3))) {
          {
            const std::lock_guard lock(mutex);
            EXPECT_TRUE(claimed.insert(job.id).second) << "claimed twice";
          }
          EXPECT_TRUE(Succeed(own, job));
          ++finished;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(claimed.size(), kJobs);
  EXPECT_EQ(Had(one->Counters()).by_state[2], kJobs);
  // Each end has a number of its own, without gaps.
  uint64_t expected = 0;
  for (const Job& job : Had(one->BatchResults("ann", batch.batch, 0, 1000))) {
    EXPECT_EQ(job.finish, ++expected);
  }
  EXPECT_EQ(expected, kJobs / 2);
}

}  // namespace
}  // namespace belljar::server::jobs::job_store_test
