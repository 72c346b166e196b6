// Worker: the host's hold on one sealed, waiting, single-use process.
#ifndef BELLJAR_ENGINE_OUTSIDE_WORKER_H_
#define BELLJAR_ENGINE_OUTSIDE_WORKER_H_

#include <chrono>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/outcome.h"
#include "engine/core/process.h"
#include "engine/outside/capture_reader.h"
#include "engine/seal/furnishings.h"

namespace belljar {

// Destroying it kills the process.
struct Worker {
  CaptureReader capture;
  UniqueFd socket;
  UniqueFd status_fd;              // its /proc/<pid>/status, opened while it waited
  Furnishings furnishings;         // empty where the profile has none
  std::vector<LayerState> layers;  // as observed on this process
  Process process;
  std::chrono::microseconds cpu_before{0};  // that a single run's process took to come up
};

}  // namespace belljar

#endif  // BELLJAR_ENGINE_OUTSIDE_WORKER_H_
