// Execution: one request in one worker, from sending it to the worker's death.
//
//   Execution execution(std::move(worker), request, options, "restricted");
//   Result<Outcome> outcome = execution.Run();
//   pool.Retire(execution.TakeWorker());
//
// The host enforces here what the worker cannot be asked for: the wall clock, the CPU time, the
// cancellation. Whatever happens, the worker has been killed when Run returns. Taking a process
// apart costs the kernel more than a short run does, so reaping it is left to whoever takes the
// worker.
#ifndef BELLJAR_ENGINE_OUTSIDE_EXECUTION_H_
#define BELLJAR_ENGINE_OUTSIDE_EXECUTION_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/core/outcome.h"
#include "engine/core/request.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/door/door.h"
#include "engine/outside/backend.h"
#include "engine/outside/interrupt_check.h"
#include "engine/outside/worker.h"
#include "engine/outside/worker_line.h"

namespace belljar {

class Execution {
 public:
  Execution(Worker worker, const Request& request, const RunOptions& options,
            std::string_view language);

  // Before Run, where the profile has a door. `narrower`: as Door has it.
  void ServeDoor(DoorService& service, std::optional<AllowList> narrower);

  Result<Outcome> Run();

  // After Run; to be killed, if it has not been.
  Worker TakeWorker() { return std::move(worker_); }

 private:
  enum class End { kReported, kDied, kNonsense, kTimeout, kCpuLimit, kCancelled };

  void StartClock();
  Result<void> SendRequest();
  Result<End> Watch();
  std::optional<End> Hear();
  Deadline NextCheck() const;
  std::chrono::microseconds OfRun(std::chrono::microseconds cpu_time) const;
  void Stream();
  Outcome Collect(End end);
  void CloseDoor(Outcome& outcome);
  void CollectOutput(Outcome& outcome);
  void CollectFiles(Outcome& outcome);
  void Explain(End end, const ExitReport& exit, Outcome& outcome);

  Worker worker_;
  std::optional<Door> door_;
  const Request& request_;
  const RunOptions& options_;
  const std::string_view language_;
  WorkerLine line_;
  InterruptCheck interrupts_;
  Deadline start_;
  Deadline deadline_;
  Deadline cpu_check_;
  Deadline next_stream_;
  uint64_t streamed_stdout_ = 0;
  uint64_t streamed_stderr_ = 0;
};

}  // namespace belljar

#endif  // BELLJAR_ENGINE_OUTSIDE_EXECUTION_H_
