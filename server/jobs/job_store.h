// JobStore: keeps jobs. What Submit has accepted is on the disk when it returns, and so are the
// effects of Claim and Finish: neither the end of the process nor a power failure loses them.
//
//   std::unique_ptr<JobStore> store = …;               // sqlite_job_store.h, postgres_job_store.h
//   store->Recover();                                  // at start, and every few seconds
//   store->Submit({.owner = "team-a", .jobs = {{.kind = "execution", .request = "{…}"}}});
//   for (const Job& job : *store->Claim(1)) {          // on a thread that runs jobs
//     store->Finish(job, {.state = JobState::kSucceeded, .result = Run(job.request)});
//   }
//   store->Renew();                                    // three times in each lease
//   store->Expire();                                   // every few seconds
//
// Several servers may share one store. Each has a lease; when it is not renewed in time, or as soon
// as its process has ended where that can be detected (SQLite), another server's Recover marks the
// jobs that it ran: they are `interrupted`, or queued again if they allow it. Otherwise a job never
// runs twice. A server that lost its lease is told so, and its results are then refused.
//
// A job belongs to its owner. For anyone else it does not exist.
//
// Owners take turns: the next job belongs to the owner with the fewest running jobs, or among
// those, to the one who has waited longest for a turn. Among an owner's jobs, the highest priority
// is next, then the oldest. So priorities cannot be used to overtake other owners.
//
// Errors are failures of the store, and error_number says of what kind: ENOSPC no space, EBUSY
// locked by others for too long, ENOTCONN database unreachable, EUCLEAN damaged file, EROFS not
// writable, EINVAL text that cannot be stored. The operation was not carried out, unless the error
// says that this is unknown. Refusals are results.
#ifndef BELLJAR_SERVER_JOBS_JOB_STORE_H_
#define BELLJAR_SERVER_JOBS_JOB_STORE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "server/jobs/job.h"

namespace belljar::server::jobs {

struct JobLimits {
  // Limits for queued or running jobs, and for the bytes of their requests: per owner, and in
  // total.
  uint64_t owner_jobs = 10'000;
  uint64_t jobs = 100'000;
  core::Bytes owner_bytes = core::Bytes::Mebi(256);
  core::Bytes bytes = core::Bytes::Mebi(1024);
  // Ended jobs are kept for this time, as long as all requests and results together fit this size.
  // The oldest ones of the largest owner are removed first.
  std::chrono::milliseconds retention = std::chrono::hours(24);
  core::Bytes retained = core::Bytes::Mebi(1024);
  // A server is treated as dead if its lease is not renewed for this time.
  std::chrono::milliseconds lease = std::chrono::seconds(30);
  // Maximum number of starts of a job that asks to be queued again after an interruption: the job
  // itself may be what ends servers.
  uint32_t attempts = 3;
};

struct NewJob {
  std::string kind;
  std::string request;  // JSON
  int priority = 0;
  std::optional<Time> deadline;
  bool retry_interrupted = false;
};

struct Submission {
  std::string owner;
  std::vector<NewJob> jobs;
  bool batch = false;  // more than one job is always a batch
  // Submitting again with the same key returns the result of the first submission, as long as that
  // is kept.
  std::string idempotency_key;
};

struct Submitted {
  enum class Outcome {
    kAccepted,
    kRepeated,   // the key was used for the same request: `ids` and `batch` are the original ones
    kKeyReused,  // the key was used for another request
    kOwnerFull,  // too many unfinished jobs or bytes of the owner, or
    kFull,       // of all owners; `full` says which
    kInvalid,    // `full` explains
  };
  Outcome outcome = Outcome::kAccepted;
  std::vector<std::string> ids;  // in order; for a repeated batch only those that are still kept
  std::string batch;             // id; empty: none
  std::string full;              // "10000 jobs of this owner are queued or running, …"
};

struct JobEnd {
  // kSucceeded, kFailed or kCancelled; or kInterrupted, when a server stops: a job that allows it
  // is queued again. kQueued, by a server that claims no more: it was claimed, but not started. It
  // is queued as before, or cancelled if its owner has asked for that meanwhile.
  JobState state = JobState::kSucceeded;
  std::string result;   // JSON
  std::string failure;  // as text
};

struct JobName {
  std::string owner;
  std::string id;
};

struct Renewal {
  // Another server treated this one as dead: its jobs no longer belong to it, and should end.
  bool lost = false;
  std::vector<std::string> cancelled;  // ids of jobs that run here and should be cancelled
};

struct JobCancellation {
  enum class Outcome { kUnknown, kCancelled, kRequested, kEnded } outcome = Outcome::kUnknown;
  // The server that runs it, for kRequested.
  bool runs_here = false;
};

struct JobFilter {
  std::optional<JobState> state;
  std::string batch;  // id; empty: any
};

struct JobPage {
  std::vector<Job> jobs;
  std::string next;  // the cursor of the next page; empty: no more
};

struct Recovered {
  std::vector<JobName> interrupted;
  std::vector<JobName> queued_again;
};

struct Removed {
  std::vector<JobName> expired;  // because their deadline passed
  uint64_t jobs = 0;             // no longer kept
  core::Bytes bytes;             // bytes of those
};

struct JobCounters {
  std::array<uint64_t, kJobStates> by_state{};
  core::Bytes retained;               // requests and results of ended jobs
  std::optional<Time> oldest_queued;  // when it was submitted
};

// For tests, which kill the process at each step of a write: "begun", "written", "committed".
using StepHook = std::function<void(std::string_view step)>;

// Any thread, concurrently. Calls block until their writes are on the disk; concurrent writes are
// combined.
class JobStore {
 public:
  static constexpr size_t kMaxPageSize = 1000;

  virtual ~JobStore() = default;

  // All jobs or none.
  virtual core::Result<Submitted> Submit(const Submission& submission) = 0;

  // Up to `max` jobs, now running, with their requests. Empty: nothing is queued.
  virtual core::Result<std::vector<Job>> Claim(size_t max) = 0;
  virtual core::Result<Renewal> Renew() = 0;
  // False: this server no longer runs the job, or it was removed; nothing was changed.
  virtual core::Result<bool> Finish(const Job& claimed, const JobEnd& end) = 0;

  virtual core::Result<JobCancellation> Cancel(const std::string& owner, const std::string& id) = 0;
  // All jobs of the batch. How many were cancelled at once, and how many are being cancelled;
  // nullopt: no such batch.
  virtual core::Result<std::optional<std::pair<uint64_t, uint64_t>>> CancelBatch(
      const std::string& owner, const std::string& batch) = 0;

  virtual core::Result<std::optional<Job>> Find(const std::string& owner,
                                                const std::string& id) = 0;
  // Newest first, without requests and results. `cursor`: empty, or `next` of a previous page.
  virtual core::Result<JobPage> List(const std::string& owner, const JobFilter& filter,
                                     const std::string& cursor, size_t max) = 0;
  virtual core::Result<std::optional<Batch>> FindBatch(const std::string& owner,
                                                       const std::string& batch) = 0;
  // Ended jobs of the batch, in order of completion, with results, after the one whose `finish` is
  // `after`.
  virtual core::Result<std::vector<Job>> BatchResults(const std::string& owner,
                                                      const std::string& batch, uint64_t after,
                                                      size_t max) = 0;

  virtual core::Result<Recovered> Recover() = 0;
  virtual core::Result<Removed> Expire() = 0;
  virtual core::Result<JobCounters> Counters() = 0;
};

}  // namespace belljar::server::jobs

#endif  // BELLJAR_SERVER_JOBS_JOB_STORE_H_
