#include "server/jobs/job_changes.h"

#include "engine/host/digest.h"
#include "server/jobs/job_schema.h"

// Returns the error of a statement, or keeps its rows as `name`.
#define BELLJAR_ROWS(name, ...)                            \
  const core::Result<SqlRows> name##_result = __VA_ARGS__; \
  if (!name##_result) return name##_result.error();        \
  const SqlRows& name = *name##_result
// The same for statements without rows.
#define BELLJAR_DONE(...) \
  if (const core::Result<SqlRows> done = __VA_ARGS__; !done) return done.error()

namespace belljar::server::jobs {
namespace {

// What a key stands for. Without the deadline: a client that retries counts it from the retry.
std::string SubmissionDigest(const Submission& submission) {
  host::Sha256Stream digest;
  const auto add = [&](std::string_view text) {
    digest.Add(std::to_string(text.size()) + ":");
    digest.Add(text);
  };
  add(submission.batch || submission.jobs.size() > 1 ? "batch" : "job");
  for (const NewJob& job : submission.jobs) {
    add(job.kind);
    add(std::to_string(job.priority));
    add(job.retry_interrupted ? "again" : "once");
    add(job.request);
  }
  return digest.Finish();
}

SqlParameter TextOrNull(std::string_view text) {
  if (text.empty()) return nullptr;
  return text;
}

int64_t SizeOf(std::string_view text) { return static_cast<int64_t>(text.size()); }

core::Result<Submitted> Earlier(Database& database, const SqlRow& key, std::string_view digest) {
  Submitted submitted;
  if (key.Text(0) != digest) {
    submitted.outcome = Submitted::Outcome::kKeyReused;
    return submitted;
  }
  submitted.outcome = Submitted::Outcome::kRepeated;
  submitted.batch = key.Text(2);
  if (submitted.batch.empty()) {
    submitted.ids = {key.Text(1)};
    return submitted;
  }
  BELLJAR_ROWS(rows, database.Run("SELECT id FROM jobs WHERE batch = ?1 ORDER BY position",
                                  {submitted.batch}));
  for (const SqlRow& row : rows) submitted.ids.push_back(row.Text(0));
  return submitted;
}

// Which limit is reached, if any.
struct Fullness {
  Submitted::Outcome outcome = Submitted::Outcome::kAccepted;
  std::string text;
};
Fullness FullnessOf(const SqlRow& sums, uint64_t jobs, uint64_t bytes, const JobLimits& limits) {
  const auto column = [&](size_t index) { return static_cast<uint64_t>(sums.Int(index)); };
  const auto full = [&](size_t index, uint64_t limit, uint64_t more, const char* what,
                        const char* whose) -> std::string {
    if (column(index) <= limit && more <= limit - column(index)) return {};
    return std::to_string(column(index)) + " " + what + " of " + whose +
           " are queued or running, of at most " + std::to_string(limit);
  };
  std::string text = full(0, limits.owner_jobs, jobs, "jobs", "this owner");
  if (text.empty()) text = full(1, limits.owner_bytes.count, bytes, "bytes", "this owner's jobs");
  if (!text.empty()) return {Submitted::Outcome::kOwnerFull, text};
  text = full(2, limits.jobs, jobs, "jobs", "all owners");
  if (text.empty()) text = full(3, limits.bytes.count, bytes, "bytes", "all owners' jobs");
  if (!text.empty()) return {Submitted::Outcome::kFull, text};
  return {};
}

core::Result<void> InsertJobs(Database& database, const Submission& submission,
                              const std::vector<std::string>& ids, std::string_view batch,
                              int64_t first) {
  std::vector<std::vector<SqlParameter>> rows;
  std::vector<std::vector<SqlParameter>> texts;
  for (size_t i = 0; i < submission.jobs.size(); ++i) {
    const NewJob& job = submission.jobs[i];
    const int64_t number = first + static_cast<int64_t>(i);
    SqlParameter deadline = nullptr;
    if (job.deadline) deadline = ToMilliseconds(*job.deadline);
    rows.push_back({submission.owner, number, ids[i], job.kind, int64_t{job.priority}, deadline,
                    int64_t{job.retry_interrupted}, TextOrNull(batch), static_cast<int64_t>(i),
                    TextOrNull(submission.idempotency_key), SizeOf(job.request)});
    texts.push_back({submission.owner, number, job.request});
  }
  core::Result<void> added = database.RunEach(
      "INSERT INTO jobs (owner, number, id, kind, priority, deadline, retry, state, cancel,"
      " submitted, attempts, server, batch, position, finish, key, request_bytes, result_bytes)"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, 0, @now, 0, 0, ?8, ?9, 0, ?10, ?11, 0)",
      rows);
  if (!added) return added;
  return database.RunEach("INSERT INTO requests (owner, number, request) VALUES (?1, ?2, ?3)",
                          texts);
}

}  // namespace

core::Result<Submitted> AddJobs(Database& database, const Submission& submission,
                                const JobLimits& limits, const std::vector<std::string>& ids,
                                const std::string& batch, bool again) {
  Submitted submitted{.ids = ids, .batch = batch, .full = {}};
  if (again) {
    BELLJAR_ROWS(added, database.Run("SELECT 1 FROM jobs WHERE id = ?1", {ids.front()}));
    if (!added.empty()) return submitted;
  }
  const std::string& key = submission.idempotency_key;
  std::string digest;
  if (!key.empty()) {
    digest = SubmissionDigest(submission);
    BELLJAR_ROWS(keys,
                 database.Run("SELECT digest, job, batch FROM keys WHERE owner = ?1 AND key = ?2",
                              {submission.owner, key}));
    if (!keys.empty()) return Earlier(database, keys.front(), digest);
  }

  const uint64_t count = submission.jobs.size();
  uint64_t bytes = 0;
  for (const NewJob& job : submission.jobs) bytes += job.request.size();
  BELLJAR_ROWS(sums, database.Run("SELECT coalesce(sum(CASE WHEN owner = ?1 THEN jobs END), 0),"
                                  " coalesce(sum(CASE WHEN owner = ?1 THEN bytes END), 0),"
                                  " coalesce(sum(jobs), 0), coalesce(sum(bytes), 0) FROM owners",
                                  {submission.owner}));
  if (Fullness full = FullnessOf(sums.front(), count, bytes, limits); !full.text.empty()) {
    return Submitted{.outcome = full.outcome, .ids = {}, .batch = {}, .full = std::move(full.text)};
  }
  const auto more = static_cast<int64_t>(count);
  BELLJAR_ROWS(
      numbers,
      database.Run("INSERT INTO owners (owner, jobs, bytes, kept, last) VALUES (?1, ?2, ?3, 0, ?2)"
                   " ON CONFLICT (owner) DO UPDATE SET jobs = owners.jobs + ?2,"
                   " bytes = owners.bytes + ?3, last = owners.last + ?2 RETURNING last",
                   {submission.owner, more, static_cast<int64_t>(bytes)}));
  const core::Result<void> inserted =
      InsertJobs(database, submission, ids, batch, numbers.front().Int(0) - more + 1);
  if (!inserted) return inserted.error();
  if (!batch.empty()) {
    BELLJAR_DONE(
        database.Run("INSERT INTO batches (id, owner, submitted, key, total, finished, removed)"
                     " VALUES (?1, ?2, @now, ?3, ?4, 0, 0)",
                     {batch, submission.owner, TextOrNull(key), more}));
  }
  if (!key.empty()) {
    BELLJAR_DONE(database.Run(
        "INSERT INTO keys (owner, key, digest, job, batch) VALUES (?1, ?2, ?3, ?4, ?5)",
        {submission.owner, key, digest,
         batch.empty() ? SqlParameter(ids.front()) : SqlParameter(nullptr), TextOrNull(batch)}));
  }
  return submitted;
}

core::Result<std::optional<Job>> StartNext(Database& database, const std::string& owner,
                                           int64_t server) {
  BELLJAR_ROWS(
      rows,
      database.Run("UPDATE jobs SET state = 1, cancel = 0, server = ?2,"
                   " attempts = attempts + 1, started = @greatest(submitted, @now)"
                   " WHERE owner = ?1 AND number = (SELECT number FROM jobs"
                   "  WHERE state = 0 AND owner = ?1 AND (deadline IS NULL OR deadline > @now)"
                   "  ORDER BY priority DESC, number LIMIT 1 @claim)"
                   " RETURNING " BELLJAR_JOB_COLUMNS BELLJAR_JOB_REQUEST,
                   {owner, server}));
  if (rows.empty()) return std::optional<Job>();
  return std::optional<Job>(ReadJob(rows.front(), JobTexts::kRequest));
}

core::Result<bool> EndJob(Database& database, const JobKey& key, const Expected& expected,
                          const JobEnd& end) {
  const int64_t bytes = SizeOf(end.result) + SizeOf(end.failure);
  // Not before its start, in case the clock was set back meanwhile.
  BELLJAR_ROWS(
      rows,
      database.Run("UPDATE jobs SET state = ?3,"
                   " ended = @greatest(coalesce(started, submitted), @now), result_bytes = ?4"
                   " WHERE owner = ?1 AND number = ?2 AND state = ?5"
                   " AND (state = 0 OR (server = ?6 AND attempts = ?7))"
                   " RETURNING request_bytes, batch",
                   {key.owner, key.number, static_cast<int64_t>(end.state), bytes,
                    static_cast<int64_t>(expected.state), expected.server, expected.attempts}));
  if (rows.empty()) return false;
  const int64_t request_bytes = rows.front().Int(0);
  if (bytes != 0) {
    BELLJAR_DONE(
        database.Run("INSERT INTO results (owner, number, result, failure) VALUES (?1, ?2, ?3, ?4)",
                     {key.owner, key.number, end.result, end.failure}));
  }
  BELLJAR_DONE(database.Run(
      "UPDATE owners SET jobs = jobs - 1, bytes = bytes - ?2, kept = kept + ?3 WHERE owner = ?1",
      {key.owner, request_bytes, request_bytes + bytes}));
  const std::string batch = rows.front().Text(1);
  if (batch.empty()) return true;
  BELLJAR_ROWS(finished, database.Run("UPDATE batches SET finished = finished + 1 WHERE id = ?1"
                                      " RETURNING finished",
                                      {batch}));
  if (finished.empty()) return core::MakeError("end a job", "its batch is not in the database");
  BELLJAR_DONE(database.Run("UPDATE jobs SET finish = ?3 WHERE owner = ?1 AND number = ?2",
                            {key.owner, key.number, finished.front().Int(0)}));
  return true;
}

core::Result<Interruption> InterruptJob(Database& database, const JobKey& key,
                                        const Expected& expected, uint32_t max_attempts,
                                        std::string_view why) {
  BELLJAR_ROWS(again,
               database.Run("UPDATE jobs SET state = 0, started = NULL, server = 0"
                            " WHERE owner = ?1 AND number = ?2 AND state = 1 AND server = ?3"
                            " AND attempts = ?4 AND retry = 1 AND cancel = 0 AND attempts < ?5"
                            " RETURNING id",
                            {key.owner, key.number, expected.server, expected.attempts,
                             int64_t{max_attempts}}));
  if (!again.empty()) return Interruption::kQueuedAgain;
  const core::Result<bool> ended =
      EndJob(database, key, expected,
             {.state = JobState::kInterrupted, .result = {}, .failure = std::string(why)});
  if (!ended) return ended.error();
  return *ended ? Interruption::kInterrupted : Interruption::kNone;
}

core::Result<void> ReleaseJob(Database& database, const JobKey& key, int64_t server) {
  BELLJAR_DONE(
      database.Run("UPDATE jobs SET state = 0, started = NULL, server = 0, attempts = attempts - 1"
                   " WHERE owner = ?1 AND number = ?2 AND state = 1 AND server = ?3",
                   {key.owner, key.number, server}));
  return {};
}

core::Result<bool> ReturnJob(Database& database, const JobKey& key, const Expected& expected) {
  BELLJAR_ROWS(rows, database.Run("SELECT cancel FROM jobs WHERE owner = ?1 AND number = ?2"
                                  " AND state = 1 AND server = ?3 AND attempts = ?4",
                                  {key.owner, key.number, expected.server, expected.attempts}));
  if (rows.empty()) return false;
  if (rows.front().Int(0) != 0) {
    return EndJob(database, key, expected,
                  {.state = JobState::kCancelled, .result = {}, .failure = {}});
  }
  const core::Result<void> released = ReleaseJob(database, key, expected.server);
  if (!released) return released.error();
  return true;
}

core::Result<std::vector<KeptJob>> OldestEnded(Database& database, const std::string& owner,
                                               std::optional<int64_t> age, size_t max) {
  BELLJAR_ROWS(rows, age ? database.Run("SELECT number, id, request_bytes + result_bytes FROM jobs"
                                        " WHERE state >= 2 AND owner = ?1 AND ended < @now - ?2"
                                        " ORDER BY ended LIMIT ?3",
                                        {owner, *age, static_cast<int64_t>(max)})
                         : database.Run("SELECT number, id, request_bytes + result_bytes FROM jobs"
                                        " WHERE state >= 2 AND owner = ?1 ORDER BY ended LIMIT ?2",
                                        {owner, static_cast<int64_t>(max)}));
  std::vector<KeptJob> jobs;
  for (const SqlRow& row : rows) {
    jobs.push_back(
        {.key = {.owner = owner, .number = row.Int(0)}, .id = row.Text(1), .bytes = row.Int(2)});
  }
  return jobs;
}

core::Result<void> RemoveJob(Database& database, const KeptJob& job) {
  const auto& [owner, number] = job.key;
  BELLJAR_ROWS(rows, database.Run("DELETE FROM jobs WHERE owner = ?1 AND number = ?2 AND state >= 2"
                                  " RETURNING batch, key",
                                  {owner, number}));
  if (rows.empty()) return {};
  BELLJAR_DONE(
      database.Run("DELETE FROM requests WHERE owner = ?1 AND number = ?2", {owner, number}));
  BELLJAR_DONE(
      database.Run("DELETE FROM results WHERE owner = ?1 AND number = ?2", {owner, number}));
  BELLJAR_DONE(
      database.Run("UPDATE owners SET kept = kept - ?2 WHERE owner = ?1", {owner, job.bytes}));
  const std::string batch = rows.front().Text(0);
  std::string key = rows.front().Text(1);
  if (!batch.empty()) {
    BELLJAR_ROWS(left, database.Run("UPDATE batches SET removed = removed + 1 WHERE id = ?1"
                                    " RETURNING total - removed",
                                    {batch}));
    if (left.empty() || left.front().Int(0) > 0) return {};  // the key is the whole batch's
    BELLJAR_DONE(database.Run("DELETE FROM batches WHERE id = ?1", {batch}));
  }
  if (!key.empty()) {
    BELLJAR_DONE(database.Run("DELETE FROM keys WHERE owner = ?1 AND key = ?2", {owner, key}));
  }
  return {};
}

}  // namespace belljar::server::jobs
