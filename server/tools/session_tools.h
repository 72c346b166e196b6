// The tools for sessions besides execute_code: open_session, list_sessions, close_session.
// checkpoint and session_files have files of their own.
#ifndef BELLJAR_SERVER_TOOLS_SESSION_TOOLS_H_
#define BELLJAR_SERVER_TOOLS_SESSION_TOOLS_H_

#include "server/calls/observer.h"
#include "server/calls/tool.h"
#include "server/core/session_registry.h"
#include "server/tools/arguments.h"
#include "server/tools/sandboxes.h"
#include "server/tools/session_calls.h"

namespace belljar::server::tools {

class OpenSession final : public Tool {
 public:
  // `observer` may be null; all are borrowed, here and below.
  OpenSession(Sandboxes& sandboxes, SessionRegistry& registry, CallObserver* observer);

  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return true; }
  core::Result<ToolResult> Call(const ToolCall& call) override;

 private:
  Sandboxes& sandboxes_;
  SessionRegistry& registry_;
  CallObserver* const observer_;
  const ParameterTable parameters_;
  const ToolDescription description_;
};

class ListSessions final : public Tool {
 public:
  explicit ListSessions(SessionRegistry& registry);

  const ToolDescription& description() const override { return description_; }
  // It measures the memory of processes, which takes time.
  bool uses_worker() const override { return true; }
  core::Result<ToolResult> Call(const ToolCall& call) override;

 private:
  SessionRegistry& registry_;
  const ParameterTable parameters_;
  const ToolDescription description_;
};

class CloseSession final : public Tool {
 public:
  CloseSession(SessionRegistry& registry, CallObserver* observer);

  const ToolDescription& description() const override { return description_; }
  // It also ends what keeps the server busy.
  bool uses_worker() const override { return false; }
  core::Result<ToolResult> Call(const ToolCall& call) override;

 private:
  SessionRegistry& registry_;
  CallObserver* const observer_;
  const ParameterTable parameters_;
  const ToolDescription description_;
};

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_SESSION_TOOLS_H_
