// ContainerBackend: runs each request in its own container, which is destroyed after the run. A
// session has a container to itself.
//
//   caller ──request──▶ ContainerPool: a waiting container, else one started for the request
//          ──request──▶ GuestConnection ──▶ belljar-guest in the container: the engine itself
//          ◀──outcome── with what only the host knows: which container, and why it ended
#ifndef BELLJAR_CONTAINER_BACKEND_CONTAINER_BACKEND_H_
#define BELLJAR_CONTAINER_BACKEND_CONTAINER_BACKEND_H_

#include <memory>

#include "container/backend/container_pool.h"
#include "engine/core/result.h"
#include "engine/egress/egress_proxy.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/outside/backend.h"
#include "engine/run/run_options.h"
#include "engine/sessions/session.h"

namespace belljar::container::backend {

struct ContainerBackendOptions {
  ContainerPoolOptions pool;
  host::ContainerReport report;  // engine, runtime, image: the same in every outcome
  // The service in pool.terms if the profile has an egress proxy, otherwise null.
  std::shared_ptr<egress::EgressService> egress_service;
};

class ContainerBackend : public outside::Backend {
 public:
  // Precondition of destruction: no run or call of a session is in progress, and the deferred tasks
  // have run.
  static core::Result<std::unique_ptr<ContainerBackend>> Start(ContainerBackendOptions options);
  ~ContainerBackend() override { sessions_->CloseAll(); }

  core::Result<host::Outcome> Run(const host::Request& request,
                                  const run::RunOptions& options) override;

  // In a container of its own, until it is closed: without checkpoints, since a container's seccomp
  // profile, or its kernel, lacks what copies of a process need.
  core::Result<std::shared_ptr<sessions::Session>> OpenSession(
      const sessions::SessionOptions& options, const run::RunOptions& run) override;

  core::Result<void> WaitForSpare(core::Deadline deadline) override {
    return pool_->WaitForSpare(deadline);
  }
  Counters counters() const override { return pool_->counters(); }

 private:
  ContainerBackend(ContainerBackendOptions options, std::unique_ptr<ContainerPool> pool);
  core::Result<PooledContainer> TakeForSession(const sessions::SessionOptions& options,
                                               const waiting::Wait& wait);
  core::Result<host::Outcome> RunIn(const PooledContainer& container, const host::Request& request,
                                    const run::RunOptions& options) const;
  void ExplainEnd(const PooledContainer& container, host::Outcome& outcome) const;
  void Leave(PooledContainer container, host::DeferredTasks* deferred);
  void SetOutOfMemory(host::Outcome& outcome) const;

  const ContainerBackendOptions options_;
  const std::unique_ptr<ContainerPool> pool_;
  const std::shared_ptr<sessions::OpenedSessions> sessions_ =
      std::make_shared<sessions::OpenedSessions>();
};

}  // namespace belljar::container::backend

#endif  // BELLJAR_CONTAINER_BACKEND_CONTAINER_BACKEND_H_
