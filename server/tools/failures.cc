#include "server/tools/failures.h"

#include <cerrno>
#include <string>
#include <utility>

namespace belljar::server::tools {
namespace {

ToolResult Failed(std::string_view tool, std::string text) {
  ToolResult result;
  result.is_error = true;
  result.fault = ToolResult::Fault::kUnavailable;
  result.text = std::string(tool) + ": " + std::move(text);
  return result;
}

}  // namespace

ToolResult SandboxFailed(std::string_view tool, std::string_view profile,
                         const core::Error& error) {
  if (error.error_number == ETIMEDOUT) {
    return Failed(tool, "profile " + std::string(profile) +
                            " was not ready in time: it is still starting, or the server is busy. "
                            "Nothing was run. Call again in a moment.");
  }
  return Failed(tool,
                "the server could not run the code. That is not the code's fault, and it has no "
                "result. Call again; if it happens again, an operator finds the cause in the "
                "server's log.");
}

// Other calls are not affected. The error names the engine's socket or image, which an operator can
// fix.
ToolResult ContainerFailed(std::string_view tool, const core::Error& error) {
  if (error.error_number == ETIMEDOUT) {
    return Failed(
        tool,
        "use_container is true, but no container was ready in time. Nothing was run. Call "
        "again in a moment, or without use_container.");
  }
  return Failed(tool,
                "use_container is true, but the container failed: " + error.ToString() +
                    ". The code has no result. An operator can fix this; a call without "
                    "use_container is sealed by the kernel layers and does not depend on it.");
}

// The error says what to do: use another name or version, or retry later.
ToolResult PackagesFailed(std::string_view tool, const core::Error& error) {
  return Failed(
      tool, "the packages could not be installed, and nothing was run: " + error.ToString() + ".");
}

}  // namespace belljar::server::tools
