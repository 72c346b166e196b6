#include "server/tools/output_forwarder.h"

#include "engine/core/text.h"

namespace belljar::server::tools {

OutputForwarder::OutputForwarder(const std::function<void(std::string_view)>& receiver)
    : receiver_(receiver) {
  sink_.on_stdout = [this](std::string_view bytes) { Take(pending_stdout_, bytes); };
  sink_.on_stderr = [this](std::string_view bytes) { Take(pending_stderr_, bytes); };
}

void OutputForwarder::Take(std::string& pending, std::string_view bytes) {
  pending += bytes;
  const size_t whole = core::CompletePrefix(pending);
  if (whole == 0) return;
  receiver_(std::string_view(pending).substr(0, whole));
  pending.erase(0, whole);
}

}  // namespace belljar::server::tools
