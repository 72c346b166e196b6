#include "server/fronts/fronts.h"

#include <algorithm>
#include <utility>

#include "server/fronts/judge0.h"
#include "server/fronts/piston.h"
#include "server/fronts/sandbox_fusion.h"

namespace belljar::server::fronts {
namespace {

Tool* Named(const std::vector<std::shared_ptr<Tool>>& tools, std::string_view name) {
  const auto found = std::ranges::find_if(
      tools, [&](const auto& tool) { return tool->description().name == name; });
  return found == tools.end() ? nullptr : found->get();
}

}  // namespace

Fronts::Fronts(Parts parts, Calls& calls) : tools_(std::move(parts.tools)) {
  const FrontTools tools{*Named(tools_, "execute_code"), Named(tools_, "open_session"),
                         Named(tools_, "close_session")};
  if (parts.sandbox_fusion) {
    handlers_.push_back(std::make_unique<SandboxFusion>(calls, tools, *parts.sandbox_fusion));
  }
  if (parts.piston) {
    handlers_.push_back(
        std::make_unique<Piston>(calls, tools, *parts.piston, parts.python_version));
  }
  if (parts.judge0) {
    handlers_.push_back(
        std::make_unique<Judge0>(calls, tools, submissions_, *parts.judge0,
                                 Judge0::About{parts.version, parts.python_version, parts.queue}));
  }
}

std::vector<WebHandler*> Fronts::handlers() const {
  std::vector<WebHandler*> handlers;
  for (const auto& handler : handlers_) handlers.push_back(handler.get());
  return handlers;
}

}  // namespace belljar::server::fronts
