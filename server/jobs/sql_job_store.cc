#include "server/jobs/sql_job_store.h"

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "engine/core/text.h"
#include "server/jobs/job_schema.h"

namespace belljar::server::jobs {
namespace {

constexpr size_t kMaxJobsPerSubmission = 100'000;
constexpr size_t kMaxKeyBytes = 255;
constexpr size_t kMaxKindBytes = 64;

// With the server's number and the lease in milliseconds. An expired lease still belongs to this
// server until another server has deleted it.
constexpr char kRenewLease[] =
    "UPDATE servers SET lease = @lease_now + ?2 WHERE id = ?1 RETURNING id";
constexpr char kCheckLease[] =
    "SELECT id FROM servers WHERE id = ?1 AND CAST(?2 AS BIGINT) > 0 @share";

// Every database can store such text and returns it unchanged.
bool IsStorable(std::string_view text) {
  return text.find('\0') == std::string_view::npos && core::IsUtf8(text);
}

// What is wrong with a submission; empty: nothing.
std::string SubmissionFault(const Submission& submission) {
  if (submission.owner.empty() || !IsStorable(submission.owner)) return "the owner has no name";
  if (submission.jobs.empty()) return "it has no jobs";
  if (submission.jobs.size() > kMaxJobsPerSubmission) {
    return "there are more than " + std::to_string(kMaxJobsPerSubmission) + " jobs";
  }
  if (submission.idempotency_key.size() > kMaxKeyBytes || !IsStorable(submission.idempotency_key)) {
    return "the idempotency key is not text of at most " + std::to_string(kMaxKeyBytes) + " bytes";
  }
  for (const NewJob& job : submission.jobs) {
    if (job.kind.empty() || job.kind.size() > kMaxKindBytes || !IsStorable(job.kind)) {
      return "the kind of a job is not text of 1 to " + std::to_string(kMaxKindBytes) + " bytes";
    }
    if (job.priority < kMinPriority || job.priority > kMaxPriority) {
      return "the priority of a job is not from -10 to 10";
    }
    if (job.request.empty() || !IsStorable(job.request)) return "the request of a job is not JSON";
  }
  return {};
}

}  // namespace

core::Result<std::unique_ptr<JobStore>> SqlJobStore::Open(std::unique_ptr<Database> writes,
                                                          std::unique_ptr<Database> reads,
                                                          JobLimits limits, StepHook step) {
  core::Result<std::unique_ptr<GroupWriter>> writer =
      GroupWriter::Start(std::move(writes), std::move(step));
  if (!writer) return writer.error();
  return std::unique_ptr<JobStore>(new SqlJobStore(std::move(*writer), std::move(reads), limits));
}

SqlJobStore::~SqlJobStore() {
  // If this fails, the lease expires.
  (void)writer_->Write({.locks = {}, .run = [this](Database& database, bool) -> core::Result<void> {
                          if (server_ == 0) return {};
                          const auto deleted =
                              database.Run("DELETE FROM servers WHERE id = ?1", {server_});
                          if (!deleted) return deleted.error();
                          return {};
                        }});
}

core::Result<Submitted> SqlJobStore::Submit(const Submission& submission) {
  if (std::string fault = SubmissionFault(submission); !fault.empty()) {
    return Submitted{
        .outcome = Submitted::Outcome::kInvalid, .ids = {}, .batch = {}, .full = std::move(fault)};
  }
  std::vector<std::string> ids;
  for (size_t i = 0; i < submission.jobs.size(); ++i) ids.push_back(NewJobId());
  const std::string batch = submission.batch || ids.size() > 1 ? NewJobId() : std::string();
  Submitted submitted;
  const core::Result<void> written =
      writer_->Write({.locks = {.submits = true, .all_owners = false, .owners = {submission.owner}},
                      .run = [&](Database& database, bool again) -> core::Result<void> {
                        core::Result<Submitted> added =
                            AddJobs(database, submission, limits_, ids, batch, again);
                        if (!added) return added.error();
                        submitted = std::move(*added);
                        return {};
                      }});
  if (!written) return written.error();
  return submitted;
}

core::Result<void> SqlJobStore::HoldLease(Database& database, const char* sql) {
  if (server_ != 0) {
    const core::Result<SqlRows> held = database.Run(sql, {server_, limits_.lease.count()});
    if (!held) return held.error();
    if (!held->empty()) return {};
    lost_ = true;
  }
  const core::Result<SqlRows> added = database.Run(
      "INSERT INTO servers (lease) VALUES (@lease_now + ?1) RETURNING id", {limits_.lease.count()});
  if (!added) return added.error();
  // If the transaction fails, the number has no row and is replaced the next time.
  server_ = added->front().Int(0);
  return database.ShowAlive(server_);
}

// Owners with queued jobs: first those with the fewest running jobs, then those whose last turn is
// longest ago.
core::Result<std::vector<std::string>> SqlJobStore::OwnersInTurn(Database& database) {
  // Steps from owner to owner using the index, however many jobs each has.
  const core::Result<SqlRows> rows = database.Run(
      "WITH RECURSIVE waiting (owner) AS ("
      "  SELECT min(owner) FROM jobs WHERE state = 0"
      " UNION ALL"
      "  SELECT (SELECT min(jobs.owner) FROM jobs"
      "          WHERE jobs.state = 0 AND jobs.owner > waiting.owner)"
      "  FROM waiting WHERE waiting.owner IS NOT NULL)"
      " SELECT owner, (SELECT count(*) FROM jobs WHERE jobs.state = 1"
      "                AND jobs.owner = waiting.owner)"
      " FROM waiting WHERE owner IS NOT NULL",
      {});
  if (!rows) return rows.error();
  std::vector<std::tuple<int64_t, uint64_t, std::string>> order;
  for (const SqlRow& row : *rows) {
    std::string owner = row.Text(0);
    const auto last = last_turn_.find(owner);
    const uint64_t turn = last == last_turn_.end() ? 0 : last->second;
    order.emplace_back(row.Int(1), turn, std::move(owner));
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> owners;
  owners.reserve(order.size());
  for (auto& [running, turn, owner] : order) owners.push_back(std::move(owner));
  return owners;
}

core::Result<void> SqlJobStore::ClaimInTurn(Database& database, size_t max,
                                            std::vector<Job>& claimed) {
  bool found = true;
  while (found && claimed.size() < max) {
    found = false;
    const core::Result<std::vector<std::string>> owners = OwnersInTurn(database);
    if (!owners) return owners.error();
    for (const std::string& owner : *owners) {
      core::Result<std::optional<Job>> job = StartNext(database, owner, server_);
      if (!job) return job.error();
      if (!*job) continue;  // its deadline has passed, or another server took it
      if (last_turn_.size() >= kMaxTurns) last_turn_.clear();
      last_turn_[owner] = ++turn_;
      claimed.push_back(std::move(**job));
      found = true;
      break;
    }
  }
  return {};
}

core::Result<std::vector<Job>> SqlJobStore::Claim(size_t max) {
  std::vector<Job> claimed;
  // Checked without a write: servers ask often, and most of the time there is nothing.
  const core::Result<SqlRows> queued = Read("SELECT 1 FROM jobs WHERE state = 0 LIMIT 1", {});
  if (!queued) return queued.error();
  if (queued->empty()) return claimed;
  const auto forget = [&] {
    const std::lock_guard lock(held_mutex_);
    for (const Job& job : claimed) held_.erase(AttemptOf(job));
    claimed.clear();
  };
  const core::Result<void> written =
      writer_->Write({.locks = {}, .run = [&](Database& database, bool) -> core::Result<void> {
                        forget();
                        core::Result<void> held = HoldLease(database, kCheckLease);
                        if (!held) return held;
                        core::Result<void> done = ClaimInTurn(database, max, claimed);
                        const std::lock_guard lock(held_mutex_);
                        for (const Job& job : claimed) held_.insert(AttemptOf(job));
                        return done;
                      }});
  if (!written) {
    // If they were claimed nevertheless, Renew finds them.
    forget();
    return written.error();
  }
  return claimed;
}

core::Result<Renewal> SqlJobStore::Renew() {
  Renewal renewal;
  const core::Result<void> written = writer_->Write(
      {.locks = {},
       .run = [&](Database& database, bool) -> core::Result<void> {
         renewal = {};
         if (core::Result<void> held = HoldLease(database, kRenewLease); !held) return held;
         const core::Result<SqlRows> running = database.Run(
             "SELECT owner, number, id, cancel, attempts FROM jobs WHERE state = 1 AND server = ?1",
             {server_});
         if (!running) return running.error();
         const std::lock_guard lock(held_mutex_);
         for (const SqlRow& row : *running) {
           if (!held_.contains({row.Text(2), server_, row.Int(4)})) {
             // Claimed by a transaction whose connection was lost during the commit.
             core::Result<void> released = ReleaseJob(database, KeyOf(row), server_);
             if (!released) return released;
           } else if (row.Int(3) != 0) {
             renewal.cancelled.push_back(row.Text(2));
           }
         }
         return {};
       },
       .committed = [&] { renewal.lost = std::exchange(lost_, false); }});
  if (!written) return written.error();
  return renewal;
}

core::Result<bool> SqlJobStore::Finish(const Job& claimed, const JobEnd& end) {
  const bool is_return = end.state == JobState::kQueued;
  if ((!is_return && !HasEnded(end.state)) || end.state == JobState::kExpired ||
      !IsStorable(end.result) || !IsStorable(end.failure)) {
    return core::SystemErrorOf(EINVAL, "finish job " + claimed.id,
                               "its end is not a final state with text that can be stored");
  }
  const JobKey key{.owner = claimed.owner, .number = static_cast<int64_t>(claimed.number)};
  const Expected expected{
      .state = JobState::kRunning, .server = claimed.server, .attempts = claimed.attempts};
  bool finished = false;
  const core::Result<void> written = writer_->Write(
      {.locks = {.submits = false, .all_owners = false, .owners = {claimed.owner}},
       .run = [&](Database& database, bool again) -> core::Result<void> {
         if (is_return) {
           const core::Result<bool> returned = ReturnJob(database, key, expected);
           if (!returned) return returned.error();
           finished = *returned || again;  // the previous transaction may have done it
           return {};
         }
         if (end.state == JobState::kInterrupted) {
           const core::Result<Interruption> interrupted =
               InterruptJob(database, key, expected, limits_.attempts, end.failure);
           if (!interrupted) return interrupted.error();
           finished = *interrupted != Interruption::kNone;
           return {};
         }
         const core::Result<bool> ended = EndJob(database, key, expected, end);
         if (!ended) return ended.error();
         finished = *ended;
         if (finished || !again) return {};
         // The previous transaction may have done it.
         const core::Result<SqlRows> same = database.Run(
             "SELECT 1 FROM jobs WHERE owner = ?1 AND number = ?2 AND state = ?3 AND server = ?4"
             " AND attempts = ?5",
             {key.owner, key.number, static_cast<int64_t>(end.state), expected.server,
              expected.attempts});
         if (!same) return same.error();
         finished = !same->empty();
         return {};
       }});
  if (!written) return written.error();
  const std::lock_guard lock(held_mutex_);
  held_.erase(AttemptOf(claimed));
  return finished;
}

core::Result<JobCancellation> SqlJobStore::CancelKnown(Database& database, const JobKey& key) {
  // Twice: between the two statements a server may put it back into the queue.
  for (int attempt = 0; attempt < 2; ++attempt) {
    const core::Result<bool> cancelled =
        EndJob(database, key, {.state = JobState::kQueued},
               {.state = JobState::kCancelled, .result = {}, .failure = {}});
    if (!cancelled) return cancelled.error();
    if (*cancelled) return JobCancellation{.outcome = JobCancellation::Outcome::kCancelled};
    const core::Result<SqlRows> requested = database.Run(
        "UPDATE jobs SET cancel = 1 WHERE owner = ?1 AND number = ?2 AND state = 1"
        " RETURNING server",
        {key.owner, key.number});
    if (!requested) return requested.error();
    if (!requested->empty()) {
      return JobCancellation{.outcome = JobCancellation::Outcome::kRequested,
                             .runs_here = requested->front().Int(0) == server_};
    }
  }
  return JobCancellation{.outcome = JobCancellation::Outcome::kEnded};
}

core::Result<JobCancellation> SqlJobStore::Cancel(const std::string& owner, const std::string& id) {
  JobCancellation cancellation;
  if (!IsJobId(id)) return cancellation;
  const core::Result<void> written = writer_->Write(
      {.locks = {.submits = false, .all_owners = false, .owners = {owner}},
       .run = [&](Database& database, bool) -> core::Result<void> {
         cancellation = {};
         const core::Result<SqlRows> rows = database.Run(
             "SELECT owner, number FROM jobs WHERE id = ?1 AND owner = ?2", {id, owner});
         if (!rows) return rows.error();
         if (rows->empty()) return {};
         const core::Result<JobCancellation> done = CancelKnown(database, KeyOf(rows->front()));
         if (!done) return done.error();
         cancellation = *done;
         return {};
       }});
  if (!written) return written.error();
  return cancellation;
}

core::Result<std::optional<std::pair<uint64_t, uint64_t>>> SqlJobStore::CancelBatch(
    const std::string& owner, const std::string& batch) {
  using Counts = std::optional<std::pair<uint64_t, uint64_t>>;
  const core::Result<std::optional<Batch>> known = FindBatch(owner, batch);
  if (!known) return known.error();
  if (!*known) return Counts();
  std::pair<uint64_t, uint64_t> total;
  int64_t after = -1;  // position
  while (true) {
    std::pair<uint64_t, uint64_t> part;
    int64_t last = after;
    const core::Result<void> written = writer_->Write(
        {.locks = {.submits = false, .all_owners = false, .owners = {owner}},
         .run = [&](Database& database, bool) -> core::Result<void> {
           part = {};
           last = after;
           const core::Result<SqlRows> rows = database.Run(
               "SELECT owner, number, position FROM jobs WHERE batch = ?1 AND owner = ?2"
               " AND finish = 0 AND position > ?3 ORDER BY position LIMIT ?4",
               {batch, owner, after, static_cast<int64_t>(kPart)});
           if (!rows) return rows.error();
           for (const SqlRow& row : *rows) {
             const core::Result<JobCancellation> done = CancelKnown(database, KeyOf(row));
             if (!done) return done.error();
             part.first += done->outcome == JobCancellation::Outcome::kCancelled;
             part.second += done->outcome == JobCancellation::Outcome::kRequested;
             last = row.Int(2);
           }
           return {};
         }});
    if (!written) return written.error();
    if (last == after) return Counts(total);
    total.first += part.first;
    total.second += part.second;
    after = last;
  }
}

core::Result<SqlRows> SqlJobStore::Read(const char* sql,
                                        std::initializer_list<SqlParameter> parameters) {
  const std::lock_guard lock(reads_mutex_);
  core::Result<SqlRows> rows = reads_->Run(sql, parameters);
  if (rows.ok() || rows.error().error_number != ENOTCONN) return rows;
  if (const core::Result<void> connected = reads_->Reconnect(); !connected) {
    return connected.error();
  }
  return reads_->Run(sql, parameters);
}

}  // namespace belljar::server::jobs
