// The periodic work of SqlJobStore: jobs of dead servers, deadlines, old results.
#include <algorithm>
#include <limits>

#include "server/jobs/sql_job_store.h"

namespace belljar::server::jobs {
namespace {

constexpr char kServerEnded[] =
    "the server that ran it ended or stopped responding before the job ended";
constexpr char kDeadlinePassed[] = "its deadline passed before it was started";

JobName NameOf(const SqlRow& row) { return {.owner = row.Text(0), .id = row.Text(2)}; }

}  // namespace

core::Result<Recovered> SqlJobStore::Recover() {
  Recovered recovered;
  while (true) {
    Recovered part;
    size_t found = 0;
    const core::Result<void> written = writer_->Write(
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
  const core::Result<void> written = writer_->Write(
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

core::Result<void> SqlJobStore::RemoveJobs(Database& database, const std::vector<KeptJob>& jobs,
                                           int64_t excess, Removed& removed) {
  for (const KeptJob& job : jobs) {
    if (excess <= 0) break;
    if (const core::Result<void> gone = RemoveJob(database, job); !gone) return gone.error();
    excess -= job.bytes;
    removed.bytes.count += static_cast<uint64_t>(job.bytes);
    ++removed.jobs;
  }
  return {};
}

core::Result<size_t> SqlJobStore::RemovePart(
    SqlLocks locks, Removed& removed,
    const std::function<core::Result<void>(Database&, Removed&)>& remove) {
  Removed part;
  const core::Result<void> written = writer_->Write(
      {.locks = std::move(locks), .run = [&](Database& database, bool) -> core::Result<void> {
         part = {};
         return remove(database, part);
       }});
  if (!written) return written.error();
  removed.jobs += part.jobs;
  removed.bytes.count += part.bytes.count;
  return part.jobs;
}

core::Result<size_t> SqlJobStore::RemoveAged(const std::string& owner, Removed& removed) {
  return RemovePart({.submits = false, .all_owners = false, .owners = {owner}}, removed,
                    [&](Database& database, Removed& part) -> core::Result<void> {
                      const core::Result<std::vector<KeptJob>> jobs =
                          OldestEnded(database, owner, limits_.retention.count(), kPart);
                      if (!jobs) return jobs.error();
                      return RemoveJobs(database, *jobs, std::numeric_limits<int64_t>::max(), part);
                    });
}

// From the largest owner, down to the size of the next largest, until the total is within the
// limit.
core::Result<size_t> SqlJobStore::RemoveExcess(Removed& removed) {
  return RemovePart(
      {.submits = false, .all_owners = true, .owners = {}}, removed,
      [&](Database& database, Removed& part) -> core::Result<void> {
        const core::Result<SqlRows> rows = database.Run(
            "SELECT owner, kept, (SELECT sum(kept) FROM owners) FROM owners WHERE kept > 0"
            " ORDER BY kept DESC LIMIT 2",
            {});
        if (!rows) return rows.error();
        if (rows->empty()) return {};
        const int64_t excess = rows->front().Int(2) - static_cast<int64_t>(limits_.retained.count);
        if (excess <= 0) return {};
        // One byte more than the next has: if two are equal, they take turns.
        const int64_t lead =
            rows->size() == 2 ? rows->front().Int(1) - rows->back().Int(1) + 1 : excess;
        const core::Result<std::vector<KeptJob>> jobs =
            OldestEnded(database, rows->front().Text(0), std::nullopt, kPart);
        if (!jobs) return jobs.error();
        return RemoveJobs(database, *jobs, std::min(excess, lead), part);
      });
}

core::Result<Removed> SqlJobStore::Expire() {
  Removed removed;
  // Each is first looked for without a write.
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

}  // namespace belljar::server::jobs
