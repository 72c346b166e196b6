#include "engine/outside/local_backend.h"

#include <cerrno>
#include <memory>
#include <utility>

#include "engine/outside/execution.h"

namespace belljar::outside {

LocalBackend::LocalBackend(std::unique_ptr<SparePool> pool, std::string mode, std::string language,
                           std::unique_ptr<egress::EgressService> egress_service,
                           EgressHandler egress_handler)
    : mode_(std::move(mode)),
      language_(std::move(language)),
      egress_service_(std::move(egress_service)),
      egress_handler_(std::move(egress_handler)),
      pool_(std::move(pool)) {}

core::Result<host::Outcome> LocalBackend::Run(const host::Request& request,
                                              const RunOptions& options) {
  std::optional<egress::AllowList> narrower;
  if (!egress_handler_) {  // otherwise the host that serves it has checked the request
    core::Result<std::optional<egress::AllowList>> judged =
        egress::Narrower(egress_service_.get(), request);
    if (!judged) return judged.error();
    narrower = std::move(*judged);
  }
  core::Result<Worker> worker = pool_->Take(core::Clock::now() + options.queue_timeout, options);
  if (!worker) {
    if (worker.error().error_number == ECANCELED) return CancelledBefore(request, mode_, language_);
    return worker.error();
  }
  const bool runs = request.mode == host::Request::Mode::kRun;
  if (egress_handler_ && runs) {
    core::Result<void> kept = egress_handler_(std::move(worker->resources.egress));
    if (!kept) {
      pool_->Retire(std::move(*worker));
      return kept.error();
    }
  }
  Execution execution(std::move(*worker), request, options, language_);
  if (egress_service_ && runs) execution.ServeEgress(*egress_service_, std::move(narrower));
  core::Result<host::Outcome> outcome = execution.Run();
  if (options.deferred) {
    auto spent = std::make_shared<Worker>(execution.TakeWorker());
    options.deferred->Add([this, spent] { pool_->Retire(std::move(*spent)); });
  } else {
    pool_->Retire(execution.TakeWorker());
  }
  if (outcome) {
    outcome->isolation.mode = mode_;
    outcome->isolation.language = language_;
  }
  return outcome;
}

}  // namespace belljar::outside
