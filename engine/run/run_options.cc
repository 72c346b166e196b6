#include "engine/run/run_options.h"

#include <utility>

namespace belljar::run {

host::Outcome CancelledBefore(const host::Request& request, std::string mode, std::string policy) {
  host::Outcome outcome;
  host::SetKilled(outcome, host::KillCause::kCancelled, "cancelled");
  outcome.limits = request.limits;
  outcome.isolation.mode = std::move(mode);
  outcome.isolation.policy = std::move(policy);
  return outcome;
}

}  // namespace belljar::run
