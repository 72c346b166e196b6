#include "engine/outside/local_backend.h"

#include <cerrno>
#include <memory>
#include <utility>

#include "engine/outside/execution.h"

namespace belljar {

LocalBackend::LocalBackend(SparePoolOptions pool, std::string mode, std::string language,
                           std::unique_ptr<DoorService> doors, DoorKeeper keeper)
    : mode_(std::move(mode)),
      language_(std::move(language)),
      doors_(std::move(doors)),
      keeper_(std::move(keeper)),
      pool_(std::move(pool)) {}

Result<Outcome> LocalBackend::Run(const Request& request, const RunOptions& options) {
  std::optional<AllowList> narrower;
  if (!keeper_) {  // who else keeps it has judged the request too
    Result<std::optional<AllowList>> judged = Narrower(doors_.get(), request);
    if (!judged) return judged.error();
    narrower = std::move(*judged);
  }
  Result<Worker> worker = pool_.Take(Clock::now() + options.queue_timeout, options);
  if (!worker) {
    if (worker.error().error_number == ECANCELED) return CancelledBefore(request, mode_, language_);
    return worker.error();
  }
  const bool runs = request.mode == Request::Mode::kRun;
  if (keeper_ && runs) {
    Result<void> kept = keeper_(std::move(worker->furnishings.door));
    if (!kept) {
      pool_.Retire(std::move(*worker));
      return kept.error();
    }
  }
  Execution execution(std::move(*worker), request, options, language_);
  if (doors_ && runs) execution.ServeDoor(*doors_, std::move(narrower));
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
