#include "server/jobs/sql_job_store.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <tuple>

#include "engine/core/text.h"
#include "server/jobs/job_schema.h"

namespace belljar::server::jobs {
namespace {

constexpr size_t kMostJobsAtOnce = 100'000;
constexpr size_t kMostKeyBytes = 255;
constexpr size_t kMostKindBytes = 64;
// Of requests and results in one answer of BatchResults, which has at least one job.
constexpr int64_t kMostPageBytes = 16 << 20;

// With the server's number and the milliseconds of a lease. A lease that has run out is still this
// server's until another one has deleted it.
constexpr char kRenewLease[] =
    "UPDATE servers SET lease = @lease_now + ?2 WHERE id = ?1 RETURNING id";
constexpr char kCheckLease[] =
    "SELECT id FROM servers WHERE id = ?1 AND CAST(?2 AS BIGINT) > 0 @share";

constexpr char kServerEnded[] =
    "the server that ran it ended, or stopped answering, before the job did";
constexpr char kDeadlinePassed[] = "its deadline passed before it was started";

// Every database can store it, and gives it back unchanged.
bool IsStorable(std::string_view text) {
  return text.find('\0') == std::string_view::npos && core::IsUtf8(text);
}

// What is wrong with a submission; empty: nothing.
std::string SubmissionFault(const Submission& submission) {
  if (submission.owner.empty() || !IsStorable(submission.owner)) return "the owner has no name";
  if (submission.jobs.empty()) return "there is no job";
  if (submission.jobs.size() > kMostJobsAtOnce) {
    return "there are more than " + std::to_string(kMostJobsAtOnce) + " jobs";
  }
  if (submission.idempotency_key.size() > kMostKeyBytes ||
      !IsStorable(submission.idempotency_key)) {
    return "the idempotency key is not text of at most " + std::to_string(kMostKeyBytes) + " bytes";
  }
  for (const NewJob& job : submission.jobs) {
    if (job.kind.empty() || job.kind.size() > kMostKindBytes || !IsStorable(job.kind)) {
      return "the kind of a job is not text of 1 to " + std::to_string(kMostKindBytes) + " bytes";
    }
    if (job.priority < kLowestPriority || job.priority > kHighestPriority) {
      return "the priority of a job is not from -10 to 10";
    }
    if (job.request.empty() || !IsStorable(job.request)) return "the request of a job is not JSON";
  }
  return {};
}

JobName NameOf(const SqlRow& row) { return {.owner = row.Text(0), .id = row.Text(2)}; }
JobKey KeyOf(const SqlRow& row) { return {.owner = row.Text(0), .number = row.Int(1)}; }

}  // namespace

SqlJobStore::SqlJobStore(std::unique_ptr<Database> writes, std::unique_ptr<Database> reads,
                         JobLimits limits, StepHook step)
    : limits_(limits), reads_(std::move(reads)), writer_(std::move(writes), std::move(step)) {}

SqlJobStore::~SqlJobStore() {
  // A failure leaves the lease to run out.
  (void)writer_.Write({.locks = {}, .run = [this](Database& database, bool) -> core::Result<void> {
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
      writer_.Write({.locks = {.submits = true, .all_owners = false, .owners = {submission.owner}},
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

// Owners with queued jobs: those with the fewest running first, then those whose last turn is
// longest ago.
core::Result<std::vector<std::string>> SqlJobStore::OwnersInTurn(Database& database) {
  // From owner to owner by the index, however many jobs each has.
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
  for (auto& [running, turn, owner] : order) owners.push_back(std::move(owner));
  return owners;
}

core::Result<void> SqlJobStore::ClaimInTurn(Database& database, size_t most,
                                            std::vector<Job>& claimed) {
  bool found = true;
  while (found && claimed.size() < most) {
    found = false;
    const core::Result<std::vector<std::string>> owners = OwnersInTurn(database);
    if (!owners) return owners.error();
    for (const std::string& owner : *owners) {
      core::Result<std::optional<Job>> job = StartNext(database, owner, server_);
      if (!job) return job.error();
      if (!*job) continue;  // its deadline has passed, or another server took it
      if (last_turn_.size() >= kMostTurns) last_turn_.clear();
      last_turn_[owner] = ++turn_;
      claimed.push_back(std::move(**job));
      found = true;
      break;
    }
  }
  return {};
}

core::Result<std::vector<Job>> SqlJobStore::Claim(size_t most) {
  std::vector<Job> claimed;
  // Without a write: servers ask often, and most of the time there is nothing.
  const core::Result<SqlRows> queued = Read("SELECT 1 FROM jobs WHERE state = 0 LIMIT 1", {});
  if (!queued) return queued.error();
  if (queued->empty()) return claimed;
  const auto forget = [&] {
    const std::lock_guard lock(held_mutex_);
    for (const Job& job : claimed) held_.erase(AttemptOf(job));
    claimed.clear();
  };
  const core::Result<void> written =
      writer_.Write({.locks = {}, .run = [&](Database& database, bool) -> core::Result<void> {
                       forget();
                       core::Result<void> held = HoldLease(database, kCheckLease);
                       if (!held) return held;
                       core::Result<void> done = ClaimInTurn(database, most, claimed);
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
  const core::Result<void> written = writer_.Write(
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
             // Claimed by a transaction whose connection was lost while it was committed.
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
  if (!HasEnded(end.state) || end.state == JobState::kExpired || !IsStorable(end.result) ||
      !IsStorable(end.failure)) {
    return core::SystemErrorOf(EINVAL, "finish job " + claimed.id,
                               "its end is not a state with text that can be stored");
  }
  const JobKey key{.owner = claimed.owner, .number = static_cast<int64_t>(claimed.number)};
  const Expected expected{
      .state = JobState::kRunning, .server = claimed.server, .attempts = claimed.attempts};
  bool finished = false;
  const core::Result<void> written = writer_.Write(
      {.locks = {.submits = false, .all_owners = false, .owners = {claimed.owner}},
       .run = [&](Database& database, bool again) -> core::Result<void> {
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
         // The transaction before may have done it.
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

core::Result<Cancellation> SqlJobStore::CancelKnown(Database& database, const JobKey& key) {
  // Twice: between the two statements a server may put it back into the queue.
  for (int attempt = 0; attempt < 2; ++attempt) {
    const core::Result<bool> cancelled =
        EndJob(database, key, {.state = JobState::kQueued},
               {.state = JobState::kCancelled, .result = {}, .failure = {}});
    if (!cancelled) return cancelled.error();
    if (*cancelled) return Cancellation{.outcome = Cancellation::Outcome::kCancelled};
    const core::Result<SqlRows> requested = database.Run(
        "UPDATE jobs SET cancel = 1 WHERE owner = ?1 AND number = ?2 AND state = 1"
        " RETURNING server",
        {key.owner, key.number});
    if (!requested) return requested.error();
    if (!requested->empty()) {
      return Cancellation{.outcome = Cancellation::Outcome::kRequested,
                          .runs_here = requested->front().Int(0) == server_};
    }
  }
  return Cancellation{.outcome = Cancellation::Outcome::kEnded};
}

core::Result<Cancellation> SqlJobStore::Cancel(const std::string& owner, const std::string& id) {
  Cancellation cancellation;
  if (!IsJobId(id)) return cancellation;
  const core::Result<void> written = writer_.Write(
      {.locks = {.submits = false, .all_owners = false, .owners = {owner}},
       .run = [&](Database& database, bool) -> core::Result<void> {
         cancellation = {};
         const core::Result<SqlRows> rows = database.Run(
             "SELECT owner, number FROM jobs WHERE id = ?1 AND owner = ?2", {id, owner});
         if (!rows) return rows.error();
         if (rows->empty()) return {};
         const core::Result<Cancellation> done = CancelKnown(database, KeyOf(rows->front()));
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
    const core::Result<void> written = writer_.Write(
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
             const core::Result<Cancellation> done = CancelKnown(database, KeyOf(row));
             if (!done) return done.error();
             part.first += done->outcome == Cancellation::Outcome::kCancelled;
             part.second += done->outcome == Cancellation::Outcome::kRequested;
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

core::Result<std::optional<Job>> SqlJobStore::Find(const std::string& owner,
                                                   const std::string& id) {
  if (!IsJobId(id)) return std::optional<Job>();
  const core::Result<SqlRows> rows =
      Read("SELECT " BELLJAR_JOB_COLUMNS BELLJAR_JOB_REQUEST BELLJAR_JOB_RESULT
           " FROM jobs WHERE id = ?1 AND owner = ?2",
           {id, owner});
  if (!rows) return rows.error();
  if (rows->empty()) return std::optional<Job>();
  return std::optional<Job>(ReadJob(rows->front(), JobTexts::kRequestAndResult));
}

core::Result<JobPage> SqlJobStore::List(const std::string& owner, const JobFilter& filter,
                                        const std::string& cursor, size_t most) {
  // A cursor is the number of the last job of the page before: it says nothing about other owners.
  int64_t before = std::numeric_limits<int64_t>::max();
  if (!cursor.empty()) {
    const char* const end = cursor.data() + cursor.size();
    const auto [read, error] = std::from_chars(cursor.data(), end, before);
    if (error != std::errc() || read != end || before < 0) {
      return core::SystemErrorOf(EINVAL, "list jobs", "the cursor is not of a page of this list");
    }
  }
  if (!filter.batch.empty() && !IsJobId(filter.batch)) return JobPage();
  most = std::clamp<size_t>(most, 1, kMostInPage);
  const core::Result<SqlRows> rows =
      Read("SELECT " BELLJAR_JOB_COLUMNS
           " FROM jobs WHERE owner = ?1 AND number < ?2 AND (?3 < 0 OR state = ?3)"
           " AND (CAST(?4 AS TEXT) = '' OR batch = ?4) ORDER BY number DESC LIMIT ?5",
           {owner, before, filter.state ? static_cast<int64_t>(*filter.state) : int64_t{-1},
            filter.batch, static_cast<int64_t>(most) + 1});
  if (!rows) return rows.error();
  JobPage page;
  for (const SqlRow& row : *rows) {
    if (page.jobs.size() == most) {
      page.next = std::to_string(page.jobs.back().number);
      break;
    }
    page.jobs.push_back(ReadJob(row, JobTexts::kNone));
  }
  return page;
}

core::Result<std::optional<Batch>> SqlJobStore::FindBatch(const std::string& owner,
                                                          const std::string& batch) {
  if (!IsJobId(batch)) return std::optional<Batch>();
  // In one statement, so that the sums are of one moment.
  const core::Result<SqlRows> rows = Read(
      "SELECT batches.submitted, batches.total, batches.removed, jobs.state, count(jobs.id)"
      " FROM batches LEFT JOIN jobs ON jobs.batch = batches.id"
      " WHERE batches.id = ?1 AND batches.owner = ?2"
      " GROUP BY batches.submitted, batches.total, batches.removed, jobs.state",
      {batch, owner});
  if (!rows) return rows.error();
  if (rows->empty()) return std::optional<Batch>();
  Batch found{.id = batch, .owner = owner};
  for (const SqlRow& row : *rows) {
    found.submitted = FromMilliseconds(row.Int(0));
    found.total = static_cast<uint32_t>(row.Int(1));
    found.removed = static_cast<uint32_t>(row.Int(2));
    if (row.IsNull(3)) continue;
    found.by_state.at(static_cast<size_t>(row.Int(3))) = static_cast<uint32_t>(row.Int(4));
  }
  return std::optional<Batch>(found);
}

core::Result<std::vector<Job>> SqlJobStore::BatchResults(const std::string& owner,
                                                         const std::string& batch, uint64_t after,
                                                         size_t most) {
  std::vector<Job> jobs;
  if (!IsJobId(batch) || after > uint64_t{std::numeric_limits<int64_t>::max()}) return jobs;
  most = std::clamp<size_t>(most, 1, kMostInPage);
  const core::Result<SqlRows> sizes = Read(
      "SELECT request_bytes + result_bytes FROM jobs"
      " WHERE batch = ?1 AND owner = ?2 AND finish > ?3 ORDER BY finish LIMIT ?4",
      {batch, owner, static_cast<int64_t>(after), static_cast<int64_t>(most)});
  if (!sizes) return sizes.error();
  if (sizes->empty()) return jobs;
  int64_t bytes = 0;
  size_t count = 0;
  for (const SqlRow& row : *sizes) {
    bytes += row.Int(0);
    if (count > 0 && bytes > kMostPageBytes) break;
    ++count;
  }
  const core::Result<SqlRows> rows =
      Read("SELECT " BELLJAR_JOB_COLUMNS BELLJAR_JOB_REQUEST BELLJAR_JOB_RESULT
           " FROM jobs WHERE batch = ?1 AND owner = ?2 AND finish > ?3 ORDER BY finish LIMIT ?4",
           {batch, owner, static_cast<int64_t>(after), static_cast<int64_t>(count)});
  if (!rows) return rows.error();
  for (const SqlRow& row : *rows) jobs.push_back(ReadJob(row, JobTexts::kRequestAndResult));
  return jobs;
}

core::Result<Recovered> SqlJobStore::Recover() {
  Recovered recovered;
  while (true) {
    Recovered part;
    size_t found = 0;
    const core::Result<void> written = writer_.Write(
        {.locks = {.submits = false, .all_owners = true, .owners = {}},
         .run = [&](Database& database, bool) -> core::Result<void> {
           part = {};
           const core::Result<SqlRows> expired =
               database.Run("DELETE FROM servers WHERE id <> ?1 AND lease < @lease_now", {server_});
           if (!expired) return expired.error();
           const core::Result<SqlRows> others =
               database.Run("SELECT id FROM servers WHERE id <> ?1", {server_});
           if (!others) return others.error();
           for (const SqlRow& row : *others) {
             if (!database.HasEnded(row.Int(0))) continue;
             const core::Result<SqlRows> ended =
                 database.Run("DELETE FROM servers WHERE id = ?1", {row.Int(0)});
             if (!ended) return ended.error();
           }
           const core::Result<SqlRows> rows = database.Run(
               "SELECT owner, number, id, server, attempts, cancel FROM jobs WHERE state = 1"
               " AND NOT EXISTS (SELECT 1 FROM servers WHERE servers.id = jobs.server) LIMIT ?1",
               {static_cast<int64_t>(kPart)});
           if (!rows) return rows.error();
           found = rows->size();
           for (const SqlRow& row : *rows) {
             const core::Result<Interruption> done = InterruptJob(
                 database, KeyOf(row),
                 {.state = JobState::kRunning, .server = row.Int(3), .attempts = row.Int(4)},
                 limits_.attempts, kServerEnded);
             if (!done) return done.error();
             if (*done == Interruption::kInterrupted) part.interrupted.push_back(NameOf(row));
             if (*done == Interruption::kQueuedAgain) part.queued_again.push_back(NameOf(row));
           }
           return {};
         }});
    if (!written) return written.error();
    recovered.interrupted.insert(recovered.interrupted.end(), part.interrupted.begin(),
                                 part.interrupted.end());
    recovered.queued_again.insert(recovered.queued_again.end(), part.queued_again.begin(),
                                  part.queued_again.end());
    if (found < kPart) return recovered;
  }
}

core::Result<size_t> SqlJobStore::ExpirePart(Removed& removed) {
  std::vector<JobName> part;
  const core::Result<void> written = writer_.Write(
      {.locks = {.submits = false, .all_owners = true, .owners = {}},
       .run = [&](Database& database, bool) -> core::Result<void> {
         part.clear();
         const core::Result<SqlRows> rows = database.Run(
             "SELECT owner, number, id FROM jobs WHERE state = 0 AND deadline IS NOT NULL"
             " AND deadline <= @now ORDER BY deadline LIMIT ?1",
             {static_cast<int64_t>(kPart)});
         if (!rows) return rows.error();
         for (const SqlRow& row : *rows) {
           const core::Result<bool> ended =
               EndJob(database, KeyOf(row), {.state = JobState::kQueued},
                      {.state = JobState::kExpired, .result = {}, .failure = kDeadlinePassed});
           if (!ended) return ended.error();
           if (*ended) part.push_back(NameOf(row));
         }
         return {};
       }});
  if (!written) return written.error();
  removed.expired.insert(removed.expired.end(), part.begin(), part.end());
  return part.size();
}

core::Result<size_t> SqlJobStore::RemovePart(Database& database, const std::vector<KeptJob>& jobs,
                                             int64_t excess, Removed& removed) {
  size_t count = 0;
  for (const KeptJob& job : jobs) {
    if (excess <= 0) break;
    if (const core::Result<void> gone = RemoveJob(database, job); !gone) return gone.error();
    excess -= job.bytes;
    removed.bytes.count += static_cast<uint64_t>(job.bytes);
    ++removed.jobs;
    ++count;
  }
  return count;
}

core::Result<size_t> SqlJobStore::RemoveAged(const std::string& owner, Removed& removed) {
  Removed part;
  const core::Result<void> written =
      writer_.Write({.locks = {.submits = false, .all_owners = false, .owners = {owner}},
                     .run = [&](Database& database, bool) -> core::Result<void> {
                       part = {};
                       const core::Result<std::vector<KeptJob>> jobs =
                           OldestEnded(database, owner, limits_.retention.count(), kPart);
                       if (!jobs) return jobs.error();
                       const core::Result<size_t> gone =
                           RemovePart(database, *jobs, std::numeric_limits<int64_t>::max(), part);
                       if (!gone) return gone.error();
                       return {};
                     }});
  if (!written) return written.error();
  removed.jobs += part.jobs;
  removed.bytes.count += part.bytes.count;
  return part.jobs;
}

// Of the owner who has most, down to what the next one has, until all together are in the limit.
core::Result<size_t> SqlJobStore::RemoveExcess(Removed& removed) {
  Removed part;
  const core::Result<void> written = writer_.Write(
      {.locks = {.submits = false, .all_owners = true, .owners = {}},
       .run = [&](Database& database, bool) -> core::Result<void> {
         part = {};
         const core::Result<SqlRows> rows = database.Run(
             "SELECT owner, kept, (SELECT sum(kept) FROM owners) FROM owners WHERE kept > 0"
             " ORDER BY kept DESC LIMIT 2",
             {});
         if (!rows) return rows.error();
         if (rows->empty()) return {};
         const int64_t excess = rows->front().Int(2) - static_cast<int64_t>(limits_.retained.count);
         if (excess <= 0) return {};
         // One byte more than the next has: of two that have the same, each gives in turn.
         const int64_t lead =
             rows->size() == 2 ? rows->front().Int(1) - rows->back().Int(1) + 1 : excess;
         const core::Result<std::vector<KeptJob>> jobs =
             OldestEnded(database, rows->front().Text(0), std::nullopt, kPart);
         if (!jobs) return jobs.error();
         const core::Result<size_t> gone =
             RemovePart(database, *jobs, std::min(excess, lead), part);
         if (!gone) return gone.error();
         return {};
       }});
  if (!written) return written.error();
  removed.jobs += part.jobs;
  removed.bytes.count += part.bytes.count;
  return part.jobs;
}

core::Result<Removed> SqlJobStore::Expire() {
  Removed removed;
  // Each is looked for without a write first.
  const core::Result<SqlRows> due = Read(
      "SELECT 1 FROM jobs WHERE state = 0 AND deadline IS NOT NULL AND deadline <= @now LIMIT 1",
      {});
  if (!due) return due.error();
  while (!due->empty()) {
    const core::Result<size_t> part = ExpirePart(removed);
    if (!part) return part.error();
    if (*part < kPart) break;
  }
  const core::Result<SqlRows> owners = Read(
      "SELECT owner FROM owners WHERE kept > 0 AND EXISTS (SELECT 1 FROM jobs"
      " WHERE jobs.state >= 2 AND jobs.owner = owners.owner AND jobs.ended < @now - ?1)",
      {limits_.retention.count()});
  if (!owners) return owners.error();
  for (const SqlRow& row : *owners) {
    while (true) {
      const core::Result<size_t> part = RemoveAged(row.Text(0), removed);
      if (!part) return part.error();
      if (*part < kPart) break;
    }
  }
  const core::Result<SqlRows> kept = Read("SELECT coalesce(sum(kept), 0) FROM owners", {});
  if (!kept) return kept.error();
  if (static_cast<uint64_t>(kept->front().Int(0)) <= limits_.retained.count) return removed;
  while (true) {
    const core::Result<size_t> part = RemoveExcess(removed);
    if (!part) return part.error();
    if (*part == 0) return removed;
  }
}

core::Result<JobCounters> SqlJobStore::Counters() {
  JobCounters counters;
  const core::Result<SqlRows> states = Read("SELECT state, count(*) FROM jobs GROUP BY state", {});
  if (!states) return states.error();
  for (const SqlRow& row : *states) {
    counters.by_state.at(static_cast<size_t>(row.Int(0))) = static_cast<uint64_t>(row.Int(1));
  }
  const core::Result<SqlRows> rows = Read(
      "SELECT (SELECT coalesce(sum(kept), 0) FROM owners),"
      " (SELECT min(submitted) FROM jobs WHERE state = 0)",
      {});
  if (!rows) return rows.error();
  counters.retained.count = static_cast<uint64_t>(rows->front().Int(0));
  if (!rows->front().IsNull(1)) counters.oldest_queued = FromMilliseconds(rows->front().Int(1));
  return counters;
}

}  // namespace belljar::server::jobs
