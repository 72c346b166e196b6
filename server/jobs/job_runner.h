// JobRunner: runs the jobs of a store with the tools of this server, in its queue along with other
// calls.
//
//   JobRunner runner(*store, calls, {.tools = {{"execution", execute}}, .callers = …, .width = 4});
//   if (auto started = runner.Start(); !started) return started.error();
//   store.Submit(…); runner.Wake();
//
// Each place that it takes in the queue runs jobs for a short time and goes back to the end of the
// queue, so that calls do not wait longer for jobs than for other calls.
#ifndef BELLJAR_SERVER_JOBS_JOB_RUNNER_H_
#define BELLJAR_SERVER_JOBS_JOB_RUNNER_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/result.h"
#include "engine/core/thread.h"
#include "server/calls/calls.h"
#include "server/calls/tool.h"
#include "server/core/caller.h"
#include "server/core/cancellation.h"
#include "server/jobs/job_store.h"

namespace belljar::server::jobs {

// Any thread, concurrently.
class JobRunner {
 public:
  struct Options {
    std::map<std::string, Tool*> tools;  // by Job::kind; borrowed
    // What the operator grants the owner now; nullopt: the token no longer exists, and its jobs
    // fail.
    std::function<std::optional<Caller>(const std::string& owner)> callers;
    size_t width = 1;  // jobs that run at a time
    // interval for checking for other servers' jobs and a free place
    std::chrono::milliseconds poll{1000};
    // Renewal interval of the lease: less than half of it.
    std::chrono::milliseconds renewal{10'000};
    // Interval for removing what is due and recovering lost jobs.
    std::chrono::milliseconds upkeep{5000};
    // Receives failures of the store; called on any thread.
    std::function<void(const core::Error&)> on_failure;
  };

  // `store` and `calls` must outlive this object. Jobs are reported to the observer of `calls` as
  // executions, under the ids of the jobs.
  JobRunner(JobStore& store, Calls& calls, Options options);
  // Stop the queue first.
  ~JobRunner();
  JobRunner(const JobRunner&) = delete;

  // Recovers what an earlier server left, and runs queued jobs. An error: the store cannot be used.
  core::Result<void> Start();
  // Call it when a job may have been queued.
  void Wake();
  // Reports that jobs of one kind were submitted.
  void NotifySubmitted(const std::string& owner, const std::string& kind,
                       const std::vector<std::string>& ids, const std::string& traceparent) const;
  // Reports that jobs ended without having run to their end.
  void NotifyRefused(const std::vector<JobName>& jobs, std::string_view reason) const;
  // A job that runs here was cancelled.
  void Cancel(const std::string& id);
  // Starts no more jobs. Running jobs continue.
  void StopClaiming();
  // Ends running jobs; the store then records them as interrupted.
  void InterruptAll();

 private:
  struct Running {
    std::shared_ptr<server::Cancellation> cancellation;
    bool is_interrupted = false;
  };

  void EndAll();
  void Upkeep();
  void TakePlace();
  void Turn();
  bool RunNext();
  JobEnd Run(const Job& job, std::shared_ptr<server::Cancellation> cancellation) const;
  void Forget(const std::string& id, bool& is_interrupted);
  // Keeps results that the store does not accept now: otherwise the job would count as running as
  // long as this server runs.
  void Finish(Job job, JobEnd end);
  // Puts a job back that was claimed while this server began to stop.
  void Release(const Job& job);
  void FinishKept();
  void Report(const core::Error& error) const;

  JobStore& store_;
  Calls& calls_;
  const Options options_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // used by the thread only
  bool claiming_ = false;
  size_t turns_ = 0;                        // in the queue or running
  bool is_woken_ = false;                   // by Wake, since a turn last looked for a job
  std::map<std::string, Running> running_;  // by id
  std::vector<std::pair<Job, JobEnd>> unfinished_;
  core::Thread upkeep_;
};

}  // namespace belljar::server::jobs

#endif  // BELLJAR_SERVER_JOBS_JOB_RUNNER_H_
