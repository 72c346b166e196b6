// ContainerBackend: runs each request in a container of its own, which is destroyed with the run.
//
//   caller ──request──▶ ContainerPool: a container that waits, else one that is started for it
//          ──request──▶ GuestConnection ──▶ belljar-guest in the container: the engine itself
//          ◀──outcome── with what only the host knows: which container, and why it ended
#ifndef BELLJAR_CONTAINER_BACKEND_CONTAINER_BACKEND_H_
#define BELLJAR_CONTAINER_BACKEND_CONTAINER_BACKEND_H_

#include <memory>

#include "container/backend/container_pool.h"
#include "engine/core/outcome.h"
#include "engine/core/request.h"
#include "engine/core/result.h"
#include "engine/door/door.h"
#include "engine/outside/backend.h"

namespace belljar {

struct ContainerBackendOptions {
  ContainerPoolOptions pool;
  ContainerReport report;  // engine, runtime, image: the same in every outcome
  // Of a profile with a door, else null: the one of pool.terms.
  std::shared_ptr<DoorService> doors;
};

class ContainerBackend : public Backend {
 public:
  // Precondition of its end: no run is under way, and what Afterwards was given is done.
  explicit ContainerBackend(ContainerBackendOptions options);

  Result<Outcome> Run(const Request& request, const RunOptions& options) override;

  Result<void> WaitForSpare(Deadline deadline) override { return pool_.WaitForSpare(deadline); }
  Counters counters() const override { return pool_.counters(); }

 private:
  Result<Outcome> RunIn(const PooledContainer& container, const Request& request,
                        const RunOptions& options) const;
  void ExplainEnd(const PooledContainer& container, Outcome& outcome) const;
  void Leave(PooledContainer container, Afterwards* afterwards);
  void SetOutOfMemory(Outcome& outcome) const;

  const ContainerBackendOptions options_;
  ContainerPool pool_;
};

}  // namespace belljar

#endif  // BELLJAR_CONTAINER_BACKEND_CONTAINER_BACKEND_H_
