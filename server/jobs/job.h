// Job: one piece of work that outlives the server that accepted it, and Batch: jobs that were
// submitted together.
//
//   queued ──▶ running ──▶ succeeded, failed, cancelled
//     │           └──────▶ interrupted   the server that ran it is gone; queued again if the job
//     └─▶ cancelled, expired             allows it
//
// Values only; job_store.h keeps them.
#ifndef BELLJAR_SERVER_JOBS_JOB_H_
#define BELLJAR_SERVER_JOBS_JOB_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace belljar::server::jobs {

// UTC, as shown to clients.
using Time = std::chrono::sys_time<std::chrono::milliseconds>;

// The numbers are stored: a new state comes last.
enum class JobState {
  kQueued = 0,
  kRunning = 1,
  kSucceeded = 2,
  kFailed = 3,
  kCancelled = 4,
  kInterrupted = 5,  // because its server ended, and not run again
  kExpired = 6,      // its deadline passed before it started
};
inline constexpr size_t kJobStates = 7;
// "queued", "running", …
std::string_view JobStateName(JobState state);
std::optional<JobState> JobStateNamed(std::string_view name);
inline bool HasEnded(JobState state) { return state >= JobState::kSucceeded; }

inline constexpr int kMinPriority = -10;
inline constexpr int kMaxPriority = 10;

struct Job {
  std::string id;  // 32 hexadecimal digits, unguessable
  std::string owner;
  uint64_t number = 0;  // the owner's jobs count from 1, in order of submission
  std::string kind;     // what runs it: "execution", …
  int priority = 0;
  std::optional<Time> deadline;  // not started after this time
  bool retry_interrupted = false;
  std::string request;  // JSON; empty in lists
  JobState state = JobState::kQueued;
  bool cancel_requested = false;  // while it runs; the runner ends it
  Time submitted{};
  std::optional<Time> started;  // of the latest attempt
  std::optional<Time> ended;
  uint32_t attempts = 0;        // number of times it was started
  std::string result;           // JSON; empty: none, or in lists
  std::string failure;          // why it has no result, as text; empty in lists
  std::string batch;            // id; empty: none
  uint32_t position = 0;        // in the batch, from 0
  uint64_t finish = 0;          // in the batch, from 1, in order of ending; 0: has not ended
  std::string idempotency_key;  // of its submission; empty: none
  // The server that runs it or last ran it: Finish checks this and `attempts`.
  int64_t server = 0;
};

struct Batch {
  std::string id;
  std::string owner;
  Time submitted{};
  uint32_t total = 0;
  std::array<uint32_t, kJobStates> by_state{};
  uint32_t removed = 0;  // ended and no longer kept
};

// 128 random bits in hexadecimal.
std::string NewJobId();
// Whether `id` has the form of one: others need not be looked up.
bool IsJobId(std::string_view text);

}  // namespace belljar::server::jobs

#endif  // BELLJAR_SERVER_JOBS_JOB_H_
