#include "engine/outside/local_backend.h"

#include <memory>
#include <utility>

#include "engine/outside/execution.h"

namespace belljar {

LocalBackend::LocalBackend(SparePoolOptions pool, std::string mode, std::string language)
    : mode_(std::move(mode)), language_(std::move(language)), pool_(std::move(pool)) {}

Result<Outcome> LocalBackend::Run(const Request& request, const RunOptions& options) {
  Result<Worker> worker = pool_.Take(Clock::now() + options.queue_timeout);
  if (!worker) return worker.error();
  Execution execution(std::move(*worker), request, options, language_);
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
