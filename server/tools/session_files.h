// session_files: the files of a session's workspace.
#ifndef BELLJAR_SERVER_TOOLS_SESSION_FILES_H_
#define BELLJAR_SERVER_TOOLS_SESSION_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "server/calls/observer.h"
#include "server/calls/tool.h"
#include "server/core/config.h"
#include "server/core/resource_store.h"
#include "server/core/session_registry.h"
#include "server/tools/arguments.h"
#include "server/tools/sandboxes.h"
#include "server/tools/session_calls.h"

namespace belljar::server::tools {

class SessionFiles final : public Tool {
 public:
  // All but `answers` are borrowed; `observer` may be null. Contents are stored in `resources`.
  SessionFiles(const Sandboxes& sandboxes, SessionRegistry& registry, const AnswersConfig& answers,
               ResourceStore& resources, CallObserver* observer);

  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return true; }
  core::Result<ToolResult> Call(const ToolCall& call) override;

 private:
  struct Request;
  using Answer = core::Result<ToolResult>;

  Answer List(const Request& request) const;
  Answer Read(const Request& request) const;
  Answer Write(const Request& request) const;
  Answer Delete(const Request& request) const;
  Answer Copy(const Request& request) const;
  Answer Export(const Request& request) const;
  const core::Profile& ProfileOfFiles(const OpenedSession& session, const Caller& caller) const;

  const Sandboxes& sandboxes_;
  SessionRegistry& registry_;
  const AnswersConfig answers_;
  ResourceStore& resources_;
  CallObserver* const observer_;
  const ParameterTable parameters_;
  const ToolDescription description_;
};

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_SESSION_FILES_H_
