// LocalBackend: runs each request in a fresh sealed worker of one zygote on this machine.
#ifndef BELLJAR_ENGINE_OUTSIDE_LOCAL_BACKEND_H_
#define BELLJAR_ENGINE_OUTSIDE_LOCAL_BACKEND_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/egress/egress_proxy.h"
#include "engine/outside/backend.h"
#include "engine/outside/sandbox_options.h"
#include "engine/pool/spare_pool.h"
#include "engine/run/run_options.h"
#include "engine/sessions/branching_session.h"
#include "engine/sessions/session.h"
#include "engine/waiting/background_tasks.h"
#include "engine/workers/zygote_process.h"

namespace belljar::outside {

class LocalBackend : public Backend {
 public:
  // Returns before the first worker is ready. Precondition: the options have an installation.
  static core::Result<std::unique_ptr<Backend>> Start(const SandboxOptions& options,
                                                      workers::ZygoteKind kind);
  // `mode` and `policy` ("strict", "on", …) are copied into every outcome. For a profile
  // with an egress proxy, either `egress_service` or `egress_handler` is set; otherwise neither.
  LocalBackend(std::unique_ptr<pool::SparePool> pool, std::string mode, std::string policy,
               std::unique_ptr<egress::EgressService> egress_service, EgressHandler egress_handler);
  ~LocalBackend() override;

  core::Result<host::Outcome> Run(const host::Request& request,
                                  const run::RunOptions& options) override;

  core::Result<std::shared_ptr<sessions::Session>> OpenSession(
      const sessions::SessionOptions& options, const run::RunOptions& run) override;

  core::Result<void> WaitForSpare(core::Deadline deadline) override {
    return pool_->WaitForSpare(deadline);
  }
  Counters counters() const override { return pool_->counters(); }

 private:
  core::Result<std::shared_ptr<const sessions::SessionHost>> HostSessions();
  core::Result<std::shared_ptr<sessions::Session>> OpenCommands(
      const sessions::SessionOptions& options, const run::RunOptions& run,
      const std::shared_ptr<const sessions::OpenedSessions::Use>& use);
  core::Result<std::shared_ptr<sessions::Session>> OpenKept(const sessions::SessionOptions& options,
                                                            const run::RunOptions& run);

  const std::string mode_;
  const std::string policy_;
  const std::unique_ptr<egress::EgressService> egress_service_;
  const EgressHandler egress_handler_;
  const std::unique_ptr<pool::SparePool> pool_;

  const std::shared_ptr<sessions::OpenedSessions> opened_ =
      std::make_shared<sessions::OpenedSessions>();
  std::mutex mutex_;
  std::shared_ptr<const sessions::SessionHost> session_host_;  // created for the first session
  std::unique_ptr<waiting::BackgroundTasks> background_;       // destroyed first
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_LOCAL_BACKEND_H_
