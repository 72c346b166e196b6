// checkpoint: keeps, lists, rolls back to, branches from and compares states of a session.
#ifndef BELLJAR_SERVER_TOOLS_CHECKPOINT_TOOL_H_
#define BELLJAR_SERVER_TOOLS_CHECKPOINT_TOOL_H_

#include <string>

#include "server/calls/observer.h"
#include "server/calls/tool.h"
#include "server/core/session_registry.h"
#include "server/tools/arguments.h"
#include "server/tools/session_calls.h"

namespace belljar::server::tools {

class CheckpointTool final : public Tool {
 public:
  // Both are borrowed; `observer` may be null.
  CheckpointTool(SessionRegistry& registry, CallObserver* observer);

  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return true; }
  core::Result<ToolResult> Call(const ToolCall& call) override;

 private:
  struct Request;
  using Answer = core::Result<nlohmann::ordered_json>;

  Answer Keep(const Request& request) const;
  Answer List(const Request& request) const;
  Answer RollBack(const Request& request) const;
  Answer Branch(const Request& request) const;
  Answer Compare(const Request& request) const;

  SessionRegistry& registry_;
  CallObserver* const observer_;
  const ParameterTable parameters_;
  const ToolDescription description_;
};

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_CHECKPOINT_TOOL_H_
