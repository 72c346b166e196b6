#include "server/jobs/job_runner.h"

#include <utility>
#include <vector>

#include "engine/host/json_reader.h"
#include "server/calls/observer.h"

namespace belljar::server::jobs {
namespace {

using RunnerClock = std::chrono::steady_clock;

// Time limit of a turn, for the sake of others' calls, which wait in the queue.
constexpr std::chrono::milliseconds kTurn{100};
constexpr int kMaxRequestDepth = 64;

JobEnd Failed(std::string why) { return {JobState::kFailed, "", std::move(why)}; }

}  // namespace

JobRunner::JobRunner(JobStore& store, Calls& calls, Options options)
    : store_(store), calls_(calls), options_(std::move(options)) {}

JobRunner::~JobRunner() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    claiming_ = false;
  }
  wake_.notify_all();
  upkeep_.Join();
}

core::Result<void> JobRunner::Start() {
  const core::Result<Recovered> recovered = store_.Recover();
  if (!recovered) return recovered.error();
  NotifyRefused(recovered->interrupted, "interrupted");
  {
    std::lock_guard lock(mutex_);
    claiming_ = true;
  }
  return upkeep_.Start("run jobs", [this] { Upkeep(); });
}

void JobRunner::Report(const core::Error& error) const {
  if (options_.on_failure) options_.on_failure(error);
}

void JobRunner::Wake() {
  {
    std::lock_guard lock(mutex_);
    is_woken_ = true;
  }
  TakePlace();
}

// Submits one more turn to the queue, unless it has its maximum.
void JobRunner::TakePlace() {
  {
    std::lock_guard lock(mutex_);
    if (!claiming_ || turns_ == options_.width) return;
    ++turns_;
  }
  // Not charged to the caller: the store decides whose job is next.
  if (!calls_.queue().Submit("", 0, [this] { Turn(); })) return;
  std::lock_guard lock(mutex_);
  --turns_;  // the queue is full: Upkeep tries again
}

void JobRunner::Turn() {
  const RunnerClock::time_point began = RunnerClock::now();
  bool has_run = true;
  while (has_run && RunnerClock::now() - began < kTurn) {
    has_run = RunNext();
    // There may be more jobs: another turn, as long as there is work for each.
    if (has_run) TakePlace();
  }
  {
    std::lock_guard lock(mutex_);
    --turns_;
    // A job may have arrived after the last check, when all turns were taken.
    has_run = has_run || is_woken_;
  }
  if (has_run) TakePlace();
}

// False: there is no job to run.
bool JobRunner::RunNext() {
  {
    std::lock_guard lock(mutex_);
    if (!claiming_) return false;
    is_woken_ = false;
  }
  core::Result<std::vector<Job>> claimed = store_.Claim(1);
  if (!claimed) {
    Report(claimed.error());
    return false;
  }
  if (claimed->empty()) return false;
  const Job& job = claimed->front();
  const auto cancellation = std::make_shared<server::Cancellation>();
  bool is_stopping = false;
  {
    std::lock_guard lock(mutex_);
    is_stopping = !claiming_;
    if (!is_stopping) running_[job.id] = {cancellation, false};
  }
  if (is_stopping) {
    Release(job);
    return false;
  }
  JobEnd end = Run(job, cancellation);
  bool is_interrupted = false;
  Forget(job.id, is_interrupted);
  if (cancellation->cancelled()) {
    end = {is_interrupted ? JobState::kInterrupted : JobState::kCancelled, "",
           is_interrupted ? "the server was stopped while it ran" : "cancelled while it ran"};
  }
  Finish(job, std::move(end));
  return true;
}

void JobRunner::Finish(Job job, JobEnd end) {
  const core::Result<bool> finished = store_.Finish(job, end);
  if (finished) return;
  Report(finished.error());
  std::lock_guard lock(mutex_);
  unfinished_.emplace_back(std::move(job), std::move(end));
}

void JobRunner::Release(const Job& job) {
  Finish(job, {.state = JobState::kQueued, .result = {}, .failure = {}});
  // Its owner may have cancelled it after it was claimed.
  const core::Result<std::optional<Job>> released = store_.Find(job.owner, job.id);
  if (released && *released && (*released)->state == JobState::kCancelled) {
    NotifyRefused({{job.owner, job.id}}, "cancelled");
  }
}

void JobRunner::FinishKept() {
  std::vector<std::pair<Job, JobEnd>> kept;
  {
    std::lock_guard lock(mutex_);
    kept.swap(unfinished_);
  }
  for (auto& [job, end] : kept) Finish(std::move(job), std::move(end));
}

JobEnd JobRunner::Run(const Job& job, std::shared_ptr<server::Cancellation> cancellation) const {
  const auto tool = options_.tools.find(job.kind);
  const auto refuse = [&](std::string why) {
    NotifyRefused({{job.owner, job.id}}, "failure");
    return Failed(std::move(why));
  };
  if (tool == options_.tools.end()) return refuse("this server does not run " + job.kind + "s");
  std::optional<Caller> caller = options_.callers(job.owner);
  if (!caller) return refuse("its token is no longer configured");
  host::JsonReading reading = host::ReadJson(job.request, {.depth = kMaxRequestDepth});
  if (std::holds_alternative<host::JsonFailure>(reading)) return refuse("its request is damaged");
  ToolCall call;
  call.arguments = std::move(std::get<nlohmann::json>(reading));
  call.caller = std::move(*caller);
  call.cancellation = std::move(cancellation);
  call.execution_id = job.id;
  call.form = ToolCall::Form::kStructured;
  JobEnd end;
  calls_.Run(*tool->second, std::move(call), [&](core::Result<ToolResult> result) {
    if (!result) {
      end = Failed(result.error().ToString());
    } else if (result->fault != ToolResult::Fault::kNone) {
      end = Failed(std::move(result->text));
    } else {
      end = {JobState::kSucceeded, std::move(result->structured), ""};
    }
  });
  return end;
}

void JobRunner::NotifySubmitted(const std::string& owner, const std::string& kind,
                                const std::vector<std::string>& ids,
                                const std::string& traceparent) const {
  const auto tool = options_.tools.find(kind);
  if (tool == options_.tools.end()) return;
  ToolCall call;
  call.caller.name = owner;
  call.traceparent = traceparent;
  for (const std::string& id : ids) {
    call.execution_id = id;
    ObservedExecution(calls_.observer(), *tool->second, call).Submit();
  }
}

void JobRunner::NotifyRefused(const std::vector<JobName>& jobs, std::string_view reason) const {
  if (!calls_.observer()) return;
  for (const JobName& job : jobs) {
    ExecutionRecord record;
    record.execution = job.id;
    record.caller = job.owner;
    record.reason = reason;
    calls_.observer()->Refused(record);
  }
}

void JobRunner::Forget(const std::string& id, bool& is_interrupted) {
  std::lock_guard lock(mutex_);
  const auto found = running_.find(id);
  is_interrupted = found->second.is_interrupted;
  running_.erase(found);
}

void JobRunner::Cancel(const std::string& id) {
  std::lock_guard lock(mutex_);
  const auto found = running_.find(id);
  if (found != running_.end()) found->second.cancellation->Cancel();
}

void JobRunner::StopClaiming() {
  std::lock_guard lock(mutex_);
  claiming_ = false;
}

void JobRunner::InterruptAll() {
  StopClaiming();
  EndAll();
}

void JobRunner::EndAll() {
  std::lock_guard lock(mutex_);
  for (auto& [id, running] : running_) {
    // A job cancelled by its owner before stays cancelled.
    running.is_interrupted = running.is_interrupted || !running.cancellation->cancelled();
    running.cancellation->Cancel();
  }
}

void JobRunner::Upkeep() {
  RunnerClock::time_point renewed = RunnerClock::now(), kept = renewed;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, options_.poll, [this] { return stopping_; })) {
    lock.unlock();
    const RunnerClock::time_point now = RunnerClock::now();
    FinishKept();
    if (now - renewed >= options_.renewal) {
      renewed = now;
      core::Result<Renewal> renewal = store_.Renew();
      if (!renewal) {
        Report(renewal.error());
      } else {
        for (const std::string& id : renewal->cancelled) Cancel(id);
        if (renewal->lost) EndAll();
      }
    }
    if (now - kept >= options_.upkeep) {
      kept = now;
      if (const core::Result<Recovered> recovered = store_.Recover(); !recovered) {
        Report(recovered.error());
      } else {
        NotifyRefused(recovered->interrupted, "interrupted");
      }
      if (const core::Result<Removed> removed = store_.Expire(); !removed) {
        Report(removed.error());
      } else {
        NotifyRefused(removed->expired, "expired");
      }
    }
    TakePlace();
    lock.lock();
  }
}

}  // namespace belljar::server::jobs
