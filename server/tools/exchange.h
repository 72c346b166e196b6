// The tool `exchange`: passes plain data to variables of a session's languages, from the caller or
// from another language.
#ifndef BELLJAR_SERVER_TOOLS_EXCHANGE_H_
#define BELLJAR_SERVER_TOOLS_EXCHANGE_H_

#include <string>
#include <vector>

#include "server/calls/observer.h"
#include "server/calls/tool.h"
#include "server/core/session_registry.h"
#include "server/tools/arguments.h"
#include "server/tools/sandboxes.h"
#include "server/tools/session_calls.h"

namespace belljar::server::tools {

class Exchange final : public Tool {
 public:
  // All are borrowed; `observer` may be null.
  Exchange(Sandboxes& sandboxes, SessionRegistry& registry, CallObserver* observer);

  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return true; }
  core::Result<ToolResult> Call(const ToolCall& call) override;

 private:
  // The language's own name, of which the session has a kernel then.
  core::Result<std::string> Prepared(const SessionUse& session, const std::string& language,
                                     const ToolCall& call) const;
  core::Result<std::vector<std::string>> Pass(const SessionUse& session, const Arguments& arguments,
                                              const sessions::Patience& patience,
                                              const ToolCall& call) const;

  Sandboxes& sandboxes_;
  SessionRegistry& registry_;
  CallObserver* const observer_;
  const ParameterTable parameters_;
  const ToolDescription description_;
};

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_EXCHANGE_H_
