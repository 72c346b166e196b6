// JobRunner: runs the jobs of a store with the tools of this server, in its queue beside other
// calls.
//
//   JobRunner runner(*store, calls, {.tools = {{"execution", execute}}, .callers = …, .width = 4});
//   if (auto started = runner.Start(); !started) return started.error();
//   store.Submit(…); runner.Wake();
//
// Each place that it takes in the queue runs one job after another for a short time and goes back
// to the end of the queue, so that calls wait no longer for jobs than for other calls.
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
    // What the operator grants the owner now; nullopt: nothing any more, and its jobs fail.
    std::function<std::optional<Caller>(const std::string& owner)> callers;
    size_t width = 1;                           // jobs that run at a time
    std::chrono::milliseconds poll{1000};       // for jobs of other servers, and for a free place
    std::chrono::milliseconds renewal{10'000};  // of the lease: less than half of it
    std::chrono::milliseconds upkeep{5000};     // what is due is removed, and what is lost is found
    // Told about failures of the store; called on any thread.
    std::function<void(const core::Error&)> on_failure;
  };

  // `store` and `calls` must outlive this object. The observer of `calls` is told about jobs as
  // executions, whose ids are those of the jobs.
  JobRunner(JobStore& store, Calls& calls, Options options);
  // Stop the queue first.
  ~JobRunner();
  JobRunner(const JobRunner&) = delete;

  // Finds what an earlier server left, and runs what is queued. An error: the store cannot be used.
  core::Result<void> Start();
  // A job may have been queued.
  void Wake();
  // Jobs were submitted, of one kind.
  void NotifySubmitted(const std::string& owner, const std::string& kind,
                       const std::vector<std::string>& ids, const std::string& traceparent) const;
  // Jobs ended without having run to their end.
  void NotifyRefused(const std::vector<JobName>& jobs, std::string_view reason) const;
  // A job was cancelled that runs here.
  void Cancel(const std::string& id);
  // Starts no more jobs. Those that run go on.
  void StopClaiming();
  // Ends those that run; the store then has them as interrupted.
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
  // Keeps what the store does not take now: otherwise the job would run as long as this server.
  void Finish(Job job, JobEnd end);
  void FinishKept();
  void Report(const core::Error& error) const;

  JobStore& store_;
  Calls& calls_;
  const Options options_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // of the thread
  bool claiming_ = false;
  size_t turns_ = 0;                        // in the queue or running
  bool is_woken_ = false;                   // by Wake, since a turn looked for a job
  std::map<std::string, Running> running_;  // by id
  std::vector<std::pair<Job, JobEnd>> unfinished_;
  core::Thread upkeep_;
};

}  // namespace belljar::server::jobs

#endif  // BELLJAR_SERVER_JOBS_JOB_RUNNER_H_
