// Changes of jobs, as parts of one write transaction. Each keeps the sums in the tables of owners
// and batches consistent. Called by SqlJobStore, on the writer's thread.
#ifndef BELLJAR_SERVER_JOBS_JOB_CHANGES_H_
#define BELLJAR_SERVER_JOBS_JOB_CHANGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "server/jobs/database.h"
#include "server/jobs/job.h"
#include "server/jobs/job_store.h"

namespace belljar::server::jobs {

struct JobKey {
  std::string owner;
  int64_t number = 0;
};

// For a row that begins with owner and number.
inline JobKey KeyOf(const SqlRow& row) { return {.owner = row.Text(0), .number = row.Int(1)}; }

// A job as it is expected to be; otherwise nothing is changed.
struct Expected {
  JobState state = JobState::kQueued;
  int64_t server = 0;  // these two for running jobs only
  int64_t attempts = 0;
};

// `ids` of the jobs and `batch` are new. `again`: as in GroupedWrite.
core::Result<Submitted> AddJobs(Database& database, const Submission& submission,
                                const JobLimits& limits, const std::vector<std::string>& ids,
                                const std::string& batch, bool again);

// The owner's next job, now run by `server`.
core::Result<std::optional<Job>> StartNext(Database& database, const std::string& owner,
                                           int64_t server);

// False: the job was not as expected.
core::Result<bool> EndJob(Database& database, const JobKey& key, const Expected& expected,
                          const JobEnd& end);

// It no longer runs, and nobody knows how far it got: queued again if it allows that.
enum class Interruption { kNone, kInterrupted, kQueuedAgain };
core::Result<Interruption> InterruptJob(Database& database, const JobKey& key,
                                        const Expected& expected, uint32_t max_attempts,
                                        std::string_view why);

// It was marked as running, but was not started.
core::Result<void> ReleaseJob(Database& database, const JobKey& key, int64_t server);
// The same, unless its owner has asked for its end: then it is cancelled. False: the job was not as
// expected. Requires the owner's lock.
core::Result<bool> ReturnJob(Database& database, const JobKey& key, const Expected& expected);

struct KeptJob {
  JobKey key;
  std::string id;
  int64_t bytes = 0;  // request and result
};
// Up to `max` jobs of the owner, the oldest first, that ended more than `age` milliseconds ago
// (nullopt: at any time).
core::Result<std::vector<KeptJob>> OldestEnded(Database& database, const std::string& owner,
                                               std::optional<int64_t> age, size_t max);
core::Result<void> RemoveJob(Database& database, const KeptJob& job);

}  // namespace belljar::server::jobs

#endif  // BELLJAR_SERVER_JOBS_JOB_CHANGES_H_
