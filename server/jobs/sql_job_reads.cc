// The reads of SqlJobStore. They wait for no writes.
#include <algorithm>
#include <cerrno>
#include <limits>

#include "engine/host/number.h"
#include "server/jobs/job_schema.h"
#include "server/jobs/sql_job_store.h"

namespace belljar::server::jobs {
namespace {

// Limit for requests and results in one answer of BatchResults; the first job is always included.
constexpr int64_t kMaxPageBytes = 16 << 20;

}  // namespace

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
                                        const std::string& cursor, size_t max) {
  // A cursor is the number of the last job of the previous page: it says nothing about other
  // owners.
  const auto before = cursor.empty() ? std::numeric_limits<int64_t>::max()
                                     : host::NumberFrom<int64_t>(cursor).value_or(-1);
  if (before < 0) {
    return core::SystemErrorOf(EINVAL, "list jobs", "the cursor does not belong to this list");
  }
  if (!filter.batch.empty() && !IsJobId(filter.batch)) return JobPage();
  max = std::clamp<size_t>(max, 1, kMaxPageSize);
  const core::Result<SqlRows> rows =
      Read("SELECT " BELLJAR_JOB_COLUMNS
           " FROM jobs WHERE owner = ?1 AND number < ?2 AND (?3 < 0 OR state = ?3)"
           " AND (CAST(?4 AS TEXT) = '' OR batch = ?4) ORDER BY number DESC LIMIT ?5",
           {owner, before, filter.state ? static_cast<int64_t>(*filter.state) : int64_t{-1},
            filter.batch, static_cast<int64_t>(max) + 1});
  if (!rows) return rows.error();
  JobPage page;
  for (const SqlRow& row : *rows) {
    if (page.jobs.size() == max) {
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
  // In one statement, so that the sums are consistent.
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
                                                         size_t max) {
  std::vector<Job> jobs;
  if (!IsJobId(batch) || after > uint64_t{std::numeric_limits<int64_t>::max()}) return jobs;
  max = std::clamp<size_t>(max, 1, kMaxPageSize);
  const core::Result<SqlRows> sizes = Read(
      "SELECT request_bytes + result_bytes FROM jobs"
      " WHERE batch = ?1 AND owner = ?2 AND finish > ?3 ORDER BY finish LIMIT ?4",
      {batch, owner, static_cast<int64_t>(after), static_cast<int64_t>(max)});
  if (!sizes) return sizes.error();
  if (sizes->empty()) return jobs;
  int64_t bytes = 0;
  size_t count = 0;
  for (const SqlRow& row : *sizes) {
    bytes += row.Int(0);
    if (count > 0 && bytes > kMaxPageBytes) break;
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
