// Execution: one request in one worker, from sending it until the worker's death.
//
//   Execution execution(std::move(worker), request, options, "on");
//   Result<Outcome> outcome = execution.Run();
//   pool.Retire(execution.TakeWorker());
//
// The host enforces what the worker cannot be trusted with: the wall clock, the CPU time,
// cancellation. The worker has always been killed when Run returns. Tearing down a process takes
// the kernel longer than a short run, so whoever takes the worker reaps it.
//
// With a session's worker, the request is a cell of the session. The worker survives if it has
// reported, and then waits for the next cell; its files stay in place. Time that a cell spends
// waiting for a function of the caller does not count, unless it waits for its own timers as well;
// of a run, only time that it waits for a person's input (FunctionCalls::StopsClock).
#ifndef BELLJAR_ENGINE_RUN_EXECUTION_H_
#define BELLJAR_ENGINE_RUN_EXECUTION_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/egress/egress_proxy.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/run/question.h"
#include "engine/run/run_options.h"
#include "engine/run/worker_channel.h"
#include "engine/waiting/interrupt_check.h"
#include "engine/workers/worker.h"

namespace belljar::run {

class Execution {
 public:
  Execution(workers::Worker worker, const host::Request& request, const RunOptions& options,
            std::string_view policy);

  // Before Run, without a workspace: the request's files are modules that go with it.
  void SendModules() { sends_modules_ = true; }
  // Before Run, if the profile has an egress proxy. `narrower`: as in EgressProxy.
  void ServeEgress(egress::EgressService& service, core::UniqueFd listener,
                   std::optional<egress::AllowList> narrower);
  core::UniqueFd TakeListener() { return std::move(worker_.resources.egress); }

  // Before Run, in a session: a question instead of a cell. The outcome's result is then the
  // answer, if its status is ok; otherwise the outcome says why there is none.
  void Ask(const Question& question) { question_ = &question; }

  // The error kStartOver: its worker needs a module that its zygote has omitted.
  core::Result<host::Outcome> Run();

  // After Run. The caller kills it if it is still alive.
  workers::Worker TakeWorker() { return std::move(worker_); }

  // After Run, in a session: whether the worker has reported, and so can run the next cell.
  bool reported() const { return reported_; }

 private:
  enum class End {
    kReported,
    kStartOver,
    kDied,
    kMalformed,
    kTimeout,
    kCpuLimit,
    kMemoryLimit,
    kCancelled
  };

  bool is_cell() const { return worker_.use == workers::WorkerUse::kSession; }
  void StartClock();
  std::chrono::milliseconds CompileTime() const;
  core::Bytes CompileMemory() const;
  void NoteCompiled();
  void AddCompilation(host::Outcome& outcome) const;
  bool Cancel();
  core::Result<void> SendRequest();
  core::Result<End> Watch();
  std::optional<End> ReceiveEvent();
  std::optional<End> CheckUsage(core::Deadline now);
  uint64_t MemoryOfPrograms() const;
  std::chrono::microseconds CpuTime() const;
  // A value that only a worker that runs programs has; otherwise zero.
  template <typename T>
  T ReportedByPrograms(T value) const {
    return worker_.runs_programs ? value : T{};
  }
  core::Deadline NextCheck() const;
  std::chrono::microseconds OfRun(std::chrono::microseconds cpu_time) const;
  void Stream();
  core::Result<host::Outcome> Collect(End end);
  void AskForPlaces();
  bool ReadReported(host::Outcome& outcome) const;
  void CloseEgress(host::Outcome& outcome);
  void CollectOutput(host::Outcome& outcome);
  void CollectFiles(host::Outcome& outcome);
  bool Rests();
  void Explain(End end, const core::ExitReport& exit, host::Outcome& outcome);
  void ExplainKill(End end, const core::ExitReport& exit, host::Outcome& outcome);

  workers::Worker worker_;
  std::optional<egress::EgressProxy> egress_;
  const host::Request& request_;
  const RunOptions& options_;
  const std::string_view policy_;
  WorkerChannel channel_;
  waiting::InterruptCheck interrupts_;
  core::Limits limits_;  // in force: while it compiles, those of compiling
  bool is_compiling_ = false;
  host::Compilation compilation_;  // once it is done
  core::Deadline start_;
  core::Deadline deadline_;
  core::Deadline cpu_check_;
  core::Deadline memory_check_ = core::Deadline::max();  // of a worker that runs programs
  uint64_t peak_memory_ = 0;                             // likewise
  core::Deadline kill_at_ = core::Deadline::max();       // for a cell that has been interrupted
  core::Deadline interrupt_at_ = core::Deadline::max();  // likewise, once more
  bool reported_ = false;
  const Question* question_ = nullptr;  // borrowed
  bool sends_modules_ = false;
  core::Deadline next_stream_;
  uint64_t streamed_stdout_ = 0;
  uint64_t streamed_stderr_ = 0;
};

}  // namespace belljar::run

#endif  // BELLJAR_ENGINE_RUN_EXECUTION_H_
