#include "engine/outside/backend.h"

#include <poll.h>

#include <utility>

namespace belljar {

bool IsCancelled(const RunOptions& run) {
  if (run.interrupted && run.interrupted()) return true;
  pollfd cancelled{run.cancel_fd, POLLIN, 0};
  return run.cancel_fd >= 0 && poll(&cancelled, 1, 0) > 0;
}

Outcome CancelledBefore(const Request& request, std::string mode, std::string language) {
  Outcome outcome;
  outcome.status = Status::kKilled;
  outcome.error = Stopped("Cancelled", "cancelled", "");
  outcome.limits = request.limits;
  outcome.isolation.mode = std::move(mode);
  outcome.isolation.language = std::move(language);
  return outcome;
}

}  // namespace belljar
