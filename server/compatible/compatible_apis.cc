#include "server/compatible/compatible_apis.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace belljar::server::compatible {
namespace {

Tool* Named(const std::vector<std::shared_ptr<Tool>>& tools, std::string_view name) {
  const auto found = std::ranges::find_if(
      tools, [&](const auto& tool) { return tool->description().name == name; });
  return found == tools.end() ? nullptr : found->get();
}

}  // namespace

CompatibleApis::CompatibleApis(std::vector<std::shared_ptr<Tool>> tools, Calls& calls, About about)
    : tools_(std::move(tools)),
      api_tools_{*Named(tools_, "execute_code"), Named(tools_, "open_session"),
                 Named(tools_, "close_session")},
      calls_(calls),
      about_(std::move(about)) {}

std::vector<WebHandler*> CompatibleApis::handlers() const {
  std::vector<WebHandler*> handlers;
  for (const auto& handler : handlers_) handlers.push_back(handler.get());
  return handlers;
}

}  // namespace belljar::server::compatible
