#include "server/jobs/job_schema.h"

#include <array>
#include <optional>

namespace belljar::server::jobs {
namespace {

// states: see job.h. Indexes only contain the rows that they are used to search for, so that an
// ended job costs the queue nothing. `state = 0` and the like are literals here and in statements,
// since a partial index is only used by statements with the same condition.
constexpr const char* kFirstVersion[] = {
    // bytes: of requests of unfinished jobs; kept: of requests and results of ended ones; last: the
    // number of the newest job.
    "CREATE TABLE owners ("
    " owner TEXT NOT NULL PRIMARY KEY,"
    " jobs BIGINT NOT NULL, bytes BIGINT NOT NULL, kept BIGINT NOT NULL, last BIGINT NOT NULL)",

    "CREATE TABLE servers (id @identity, lease BIGINT NOT NULL)",

    "CREATE TABLE jobs ("
    " owner TEXT NOT NULL, number BIGINT NOT NULL, id TEXT NOT NULL UNIQUE,"
    " kind TEXT NOT NULL, priority BIGINT NOT NULL, deadline BIGINT, retry BIGINT NOT NULL,"
    " state BIGINT NOT NULL, cancel BIGINT NOT NULL,"
    " submitted BIGINT NOT NULL, started BIGINT, ended BIGINT,"
    " attempts BIGINT NOT NULL, server BIGINT NOT NULL,"
    " batch TEXT, position BIGINT NOT NULL, finish BIGINT NOT NULL, key TEXT,"
    " request_bytes BIGINT NOT NULL, result_bytes BIGINT NOT NULL,"
    " PRIMARY KEY (owner, number)) @clustered",
    "CREATE INDEX jobs_queued ON jobs (owner, priority DESC, number, submitted) WHERE state = 0",
    "CREATE INDEX jobs_due ON jobs (deadline) WHERE state = 0 AND deadline IS NOT NULL",
    "CREATE INDEX jobs_running ON jobs (owner, server) WHERE state = 1",
    "CREATE INDEX jobs_ended ON jobs (owner, ended) WHERE state >= 2",
    "CREATE INDEX jobs_batch ON jobs (batch, finish) WHERE batch IS NOT NULL",

    "CREATE TABLE requests ("
    " owner TEXT NOT NULL, number BIGINT NOT NULL, request TEXT NOT NULL,"
    " PRIMARY KEY (owner, number))",
    "CREATE TABLE results ("
    " owner TEXT NOT NULL, number BIGINT NOT NULL, result TEXT NOT NULL, failure TEXT NOT NULL,"
    " PRIMARY KEY (owner, number))",

    // finished: how many jobs have ended; the next one's `finish` is one higher.
    "CREATE TABLE batches ("
    " id TEXT NOT NULL PRIMARY KEY, owner TEXT NOT NULL, submitted BIGINT NOT NULL, key TEXT,"
    " total BIGINT NOT NULL, finished BIGINT NOT NULL, removed BIGINT NOT NULL)",

    // Idempotency keys of jobs and batches.
    "CREATE TABLE keys ("
    " owner TEXT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL, job TEXT, batch TEXT,"
    " PRIMARY KEY (owner, key)) @clustered",
};

constexpr std::array<std::span<const char* const>, kSchemaVersion> kSchemaSteps = {kFirstVersion};

std::optional<Time> ReadTime(const SqlRow& row, size_t column) {
  if (row.IsNull(column)) return std::nullopt;
  return FromMilliseconds(row.Int(column));
}

}  // namespace

std::span<const char* const> SchemaStep(int version) {
  return kSchemaSteps.at(static_cast<size_t>(version));
}

int64_t ToMilliseconds(Time time) { return time.time_since_epoch().count(); }
Time FromMilliseconds(int64_t milliseconds) {
  return Time(std::chrono::milliseconds(milliseconds));
}

Job ReadJob(const SqlRow& row, JobTexts texts) {
  Job job;
  job.id = row.Text(0);
  job.owner = row.Text(1);
  job.number = static_cast<uint64_t>(row.Int(2));
  job.kind = row.Text(3);
  job.priority = static_cast<int>(row.Int(4));
  job.deadline = ReadTime(row, 5);
  job.retry_interrupted = row.Int(6) != 0;
  job.state = static_cast<JobState>(row.Int(7));
  job.cancel_requested = job.state == JobState::kRunning && row.Int(8) != 0;
  job.submitted = FromMilliseconds(row.Int(9));
  job.started = ReadTime(row, 10);
  job.ended = ReadTime(row, 11);
  job.attempts = static_cast<uint32_t>(row.Int(12));
  job.batch = row.Text(13);
  job.position = static_cast<uint32_t>(row.Int(14));
  job.finish = static_cast<uint64_t>(row.Int(15));
  job.idempotency_key = row.Text(16);
  job.server = row.Int(17);
  if (texts != JobTexts::kNone) job.request = row.Text(18);
  if (texts == JobTexts::kRequestAndResult) {
    job.result = row.Text(19);
    job.failure = row.Text(20);
  }
  return job;
}

}  // namespace belljar::server::jobs
