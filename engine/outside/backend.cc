#include "engine/outside/backend.h"

#include <utility>

namespace belljar::outside {

host::Outcome CancelledBefore(const host::Request& request, std::string mode,
                              std::string language) {
  host::Outcome outcome;
  host::SetKilled(outcome, host::KillCause::kCancelled, "cancelled");
  outcome.limits = request.limits;
  outcome.isolation.mode = std::move(mode);
  outcome.isolation.language = std::move(language);
  return outcome;
}

core::Result<std::shared_ptr<Session>> Backend::OpenSession(const SessionOptions&,
                                                            const RunOptions&) {
  return core::MakeError("open a session", "not supported in a container yet");
}

}  // namespace belljar::outside
