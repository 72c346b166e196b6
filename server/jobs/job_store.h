// JobStore: where jobs are kept. What Submit accepted is on the disk when it returns, and so is
// what Claim and Finish did: neither the end of the process nor a power cut loses it.
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
// Several servers may use one store. Each has a lease; when it is not renewed in time, or as soon
// as its process has ended where that can be seen (SQLite), another server's Recover says so of the
// jobs that it ran: they are `interrupted`, or queued again if they asked for it. A job is never
// run a second time otherwise. A server that lost its lease is told so, and what it finishes then
// is refused.
//
// A job belongs to its owner. For anyone else it does not exist.
//
// Owners take turns: the next job is of the owner who has the fewest running, then of the one who
// has waited longest for a turn. Of an owner's jobs the one with the highest priority is next, then
// the oldest. So priorities cannot be used to get before others.
//
// Errors are failures of the store, and say by error_number what kind: ENOSPC no space, EBUSY
// locked by others for too long, ENOTCONN database out of reach, EUCLEAN damaged file, EROFS not
// writable, EINVAL text that cannot be stored. The operation was then not carried out, unless the
// error says that this is not known. Refusals are results.
#ifndef BELLJAR_SERVER_JOBS_JOB_STORE_H_
#define BELLJAR_SERVER_JOBS_JOB_STORE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
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
  // Jobs that are queued or running, and the bytes of their requests: of one owner, and in total.
  uint64_t owner_jobs = 10'000;
  uint64_t jobs = 100'000;
  core::Bytes owner_bytes = core::Bytes::Mebi(256);
  core::Bytes bytes = core::Bytes::Mebi(1024);
  // Ended jobs are kept for this time, and as long as requests and results of all have at most so
  // many bytes. The oldest go first, of the owner who has most.
  std::chrono::milliseconds retention = std::chrono::hours(24);
  core::Bytes retained = core::Bytes::Mebi(1024);
  // A server is treated as dead if its lease is not renewed for this time.
  std::chrono::milliseconds lease = std::chrono::seconds(30);
  // A job that asks to be queued again after an interruption is started at most so often: it may
  // itself be what ends servers.
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
  bool batch = false;  // more than one job is a batch anyway
  // Submitting again with the same key returns what the first submission made, as long as that is
  // kept.
  std::string idempotency_key;
};

struct Submitted {
  enum class Outcome {
    kAccepted,
    kRepeated,   // the key was used before, for the same: `ids` and `batch` are of then
    kKeyReused,  // the key was used before, for something else
    kOwnerFull,  // too many unfinished jobs or bytes of the owner, or
    kFull,       // of all; `full` says of which
    kInvalid,    // `full` says what
  };
  Outcome outcome = Outcome::kAccepted;
  std::vector<std::string> ids;  // in order; of a repeated batch only those that are still kept
  std::string batch;             // id; empty: none
  std::string full;              // "10000 jobs of this owner are queued or running, …"
};

struct JobEnd {
  // kSucceeded, kFailed or kCancelled; or kInterrupted, by a server that stops: a job that asked
  // for it is queued again.
  JobState state = JobState::kSucceeded;
  std::string result;   // JSON
  std::string failure;  // in words
};

struct JobName {
  std::string owner;
  std::string id;
};

struct Renewal {
  // Another server took this one for dead: what this one ran is no longer its own, and should end.
  bool lost = false;
  std::vector<std::string> cancelled;  // ids of those that run here and whose end was requested
};

struct Cancellation {
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
  std::string next;  // the cursor of the next page; empty: there is none
};

struct Recovered {
  std::vector<JobName> interrupted;
  std::vector<JobName> queued_again;
};

struct Removed {
  std::vector<JobName> expired;  // their deadline passed
  uint64_t jobs = 0;             // no longer kept
  core::Bytes bytes;             // of those
};

struct JobCounters {
  std::array<uint64_t, kJobStates> by_state{};
  core::Bytes retained;               // requests and results of ended jobs
  std::optional<Time> oldest_queued;  // when it was submitted
};

// For tests, which end the process at each step of a write: "begun", "written", "committed".
using StepHook = std::function<void(std::string_view step)>;

// Any thread, concurrently. Calls block until the disk has what they wrote; those that wait at the
// same time are written together.
class JobStore {
 public:
  static constexpr size_t kMaxPageSize = 1000;

  virtual ~JobStore() = default;

  // All jobs or none.
  virtual core::Result<Submitted> Submit(const Submission& submission) = 0;

  // Up to `max` jobs, now running, with their requests. Empty: nothing is queued.
  virtual core::Result<std::vector<Job>> Claim(size_t max) = 0;
  virtual core::Result<Renewal> Renew() = 0;
  // False: the job is no longer run by this server, or was removed; nothing was changed.
  virtual core::Result<bool> Finish(const Job& claimed, const JobEnd& end) = 0;

  virtual core::Result<Cancellation> Cancel(const std::string& owner, const std::string& id) = 0;
  // All jobs of the batch. How many were cancelled at once, and of how many it was requested;
  // nullopt: there is no such batch.
  virtual core::Result<std::optional<std::pair<uint64_t, uint64_t>>> CancelBatch(
      const std::string& owner, const std::string& batch) = 0;

  virtual core::Result<std::optional<Job>> Find(const std::string& owner,
                                                const std::string& id) = 0;
  // Newest first, without requests and results. `cursor`: empty, or `next` of a page before.
  virtual core::Result<JobPage> List(const std::string& owner, const JobFilter& filter,
                                     const std::string& cursor, size_t max) = 0;
  virtual core::Result<std::optional<Batch>> FindBatch(const std::string& owner,
                                                       const std::string& batch) = 0;
  // Jobs of the batch that have ended, in that order, with results, after the one whose `finish` is
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
