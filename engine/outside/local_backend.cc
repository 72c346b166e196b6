#include "engine/outside/local_backend.h"

#include <memory>
#include <utility>

#include "engine/outside/execution.h"

namespace belljar {

LocalBackend::LocalBackend(SparePoolOptions pool, std::string mode, std::string language,
                           std::unique_ptr<DoorService> doors)
    : mode_(std::move(mode)),
      language_(std::move(language)),
      doors_(std::move(doors)),
      pool_(std::move(pool)) {}

Result<std::optional<AllowList>> LocalBackend::Narrower(const Request& request) const {
  if (!request.allowed_domains) return std::optional<AllowList>();
  if (!doors_) {
    return MakeError("narrow the allowed domains", "this profile has no network to narrow");
  }
  Result<AllowList> narrower = doors_->rules().Narrow(*request.allowed_domains);
  if (!narrower) return narrower.error();
  return std::optional<AllowList>(std::move(*narrower));
}

Result<Outcome> LocalBackend::Run(const Request& request, const RunOptions& options) {
  Result<std::optional<AllowList>> narrower = Narrower(request);
  if (!narrower) return narrower.error();
  Result<Worker> worker = pool_.Take(Clock::now() + options.queue_timeout);
  if (!worker) return worker.error();
  Execution execution(std::move(*worker), request, options, language_);
  if (doors_ && request.mode == Request::Mode::kRun) {
    execution.ServeDoor(*doors_, std::move(*narrower));
  }
  Result<Outcome> outcome = execution.Run();
  if (options.afterwards) {
    auto spent = std::make_shared<Worker>(execution.TakeWorker());
    options.afterwards->Add([this, spent] { pool_.Retire(std::move(*spent)); });
  } else {
    pool_.Retire(execution.TakeWorker());
  }
  if (outcome) {
    outcome->isolation.mode = mode_;
    outcome->isolation.language = language_;
  }
  return outcome;
}

}  // namespace belljar
