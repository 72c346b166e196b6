// Worker: the host's handle on one sealed, waiting, single-use process.
#ifndef BELLJAR_ENGINE_OUTSIDE_WORKER_H_
#define BELLJAR_ENGINE_OUTSIDE_WORKER_H_

#include <chrono>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/process.h"
#include "engine/host/outcome.h"
#include "engine/outside/capture_reader.h"
#include "engine/seal/worker_resources.h"

namespace belljar::outside {

// Destroying it kills the process.
struct Worker {
  CaptureReader capture;
  core::UniqueFd socket;
  core::UniqueFd status_fd;              // its /proc/<pid>/status, opened while it waited
  seal::WorkerResources resources;       // empty if the profile has none
  std::vector<host::LayerState> layers;  // as observed on this process
  core::Process process;
  std::chrono::microseconds cpu_before{0};  // used by a single run's process to start up
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_WORKER_H_
