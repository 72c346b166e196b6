// LocalBackend: runs each request in a fresh sealed worker on this machine.
#ifndef BELLJAR_ENGINE_OUTSIDE_LOCAL_BACKEND_H_
#define BELLJAR_ENGINE_OUTSIDE_LOCAL_BACKEND_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/egress/egress_proxy.h"
#include "engine/outside/backend.h"
#include "engine/outside/background_tasks.h"
#include "engine/outside/branching_session.h"
#include "engine/outside/session.h"
#include "engine/outside/spare_pool.h"

namespace belljar::outside {

class LocalBackend : public Backend {
 public:
  // `mode` and `language` ("strict", "restricted", …) are copied into every outcome. For a profile
  // with an egress proxy, either `egress_service` or `keeper` is set; otherwise neither.
  LocalBackend(std::unique_ptr<SparePool> pool, std::string mode, std::string language,
               std::unique_ptr<egress::EgressService> egress_service, EgressHandler egress_handler);
  ~LocalBackend() override;

  core::Result<host::Outcome> Run(const host::Request& request, const RunOptions& options) override;

  core::Result<std::shared_ptr<Session>> OpenSession(const SessionOptions& options,
                                                     const RunOptions& run) override;

  core::Result<void> WaitForSpare(core::Deadline deadline) override {
    return pool_->WaitForSpare(deadline);
  }
  Counters counters() const override { return pool_->counters(); }

 private:
  core::Result<std::shared_ptr<const SessionHost>> HostSessions();
  core::Result<std::shared_ptr<Session>> OpenKept(const SessionOptions& options,
                                                  const RunOptions& run);

  const std::string mode_;
  const std::string language_;
  const std::unique_ptr<egress::EgressService> egress_service_;
  const EgressHandler egress_handler_;
  const std::unique_ptr<SparePool> pool_;

  const std::shared_ptr<OpenedSessions> opened_ = std::make_shared<OpenedSessions>();
  std::mutex mutex_;
  std::shared_ptr<const SessionHost> session_host_;  // created for the first session
  std::unique_ptr<BackgroundTasks> background_;      // destroyed first
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_LOCAL_BACKEND_H_
