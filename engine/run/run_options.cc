#include "engine/run/run_options.h"

#include <utility>

namespace belljar::run {

host::Outcome CancelledBefore(const host::Request& request, std::string mode,
                              std::string language) {
  host::Outcome outcome;
  host::SetKilled(outcome, host::KillCause::kCancelled, "cancelled");
  outcome.limits = request.limits;
  outcome.isolation.mode = std::move(mode);
  outcome.isolation.language = std::move(language);
  return outcome;
}

}  // namespace belljar::run
