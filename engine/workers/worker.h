// Worker: the host's handle on one sealed, waiting process: single-use, or of a session.
#ifndef BELLJAR_ENGINE_WORKERS_WORKER_H_
#define BELLJAR_ENGINE_WORKERS_WORKER_H_

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/limits.h"
#include "engine/core/process.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/seal/self_report.h"
#include "engine/seal/worker_resources.h"
#include "engine/workers/capture_reader.h"
#include "engine/workers/session_family.h"

namespace belljar::workers {

enum class WorkerUse { kRun, kSession };

// Destroying it kills the process.
struct Worker {
  CaptureReader capture;
  core::UniqueFd socket;
  core::UniqueFd status_fd;               // its /proc/<pid>/status, opened while it waited
  seal::WorkerResources resources;        // empty if the profile has none
  seal::SelfReport self_report = 0;       // reported while it still ran only our code
  std::vector<host::LayerState> layers;   // as observed on this process
  std::shared_ptr<SessionFamily> family;  // for a session; otherwise null
  core::Process process;
  // kSession: it survives a request.
  WorkerUse use = WorkerUse::kRun;
  bool runs_programs = false;  // it starts other processes, which belong to the run
  // Those are all of our PID namespace but us and the first (KillAllOthers); false: they end with
  // the worker.
  bool owns_pid_namespace = false;
  std::optional<core::CompileLimits> compiles;  // before it runs them
  bool may_start_over = false;                  // its zygote has omitted modules
  // So far, with the programs that it has started.
  std::chrono::microseconds CpuTime() const;
  pid_t root_of_programs() const;  // as in process_tree.h

  // Used before this run: by a single run's process to start up, or in a session by earlier cells.
  std::chrono::microseconds cpu_before{0};
};

// The worker of a run, which waits for its request, becomes that of a session with these limits.
core::Result<void> BeginSession(Worker& worker, const core::Limits& limits);

}  // namespace belljar::workers

#endif  // BELLJAR_ENGINE_WORKERS_WORKER_H_
