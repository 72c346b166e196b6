// Admission: what a worker must show before it gets a request. It has reported that it is sealed,
// and the required layers are in force on it, as seen from outside.
#ifndef BELLJAR_ENGINE_POOL_ADMISSION_H_
#define BELLJAR_ENGINE_POOL_ADMISSION_H_

#include <sys/types.h>

#include <mutex>
#include <optional>

#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/host/outcome.h"
#include "engine/pool/spare_pool_options.h"
#include "engine/workers/observe.h"
#include "engine/workers/worker.h"

namespace belljar::pool {

class Admission {
 public:
  // Borrowed.
  explicit Admission(const SparePoolOptions& options) : options_(options) {}

  // Reads the report of a worker whose socket is readable, and completes the handle. Only the
  // keeper calls it. `deadline`: for a session's init and its first worker.
  core::Result<void> Admit(workers::Worker& worker, core::Deadline deadline) const;

  // As in SparePool. Any thread.
  core::Result<void> Observe(workers::Worker& worker) const;

 private:
  core::Result<void> TakeWorkerResources(core::Descriptors descriptors,
                                         workers::Worker& worker) const;
  host::LayerState CgroupLayer(pid_t pid) const;
  core::Result<workers::OwnSeal> ReadOwnSeal() const;

  const SparePoolOptions& options_;
  mutable std::mutex mutex_;
  mutable std::optional<workers::OwnSeal> own_seal_;  // read once
};

}  // namespace belljar::pool

#endif  // BELLJAR_ENGINE_POOL_ADMISSION_H_
