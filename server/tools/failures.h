// What a model is told when a call failed for reasons other than its code: what happened and what
// to do. The cause is in the log, for the operator.
#ifndef BELLJAR_SERVER_TOOLS_FAILURES_H_
#define BELLJAR_SERVER_TOOLS_FAILURES_H_

#include <string_view>

#include "engine/core/result.h"
#include "server/calls/tool.h"

namespace belljar::server::tools {

// The sandbox of `profile` could not be started, or could not run the code.
ToolResult SandboxFailed(std::string_view tool, std::string_view profile, const core::Error& error);

ToolResult ContainerFailed(std::string_view tool, const core::Error& error);

ToolResult PackagesFailed(std::string_view tool, const core::Error& error);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_FAILURES_H_
