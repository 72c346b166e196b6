// get_sandbox_info: what code may use here and what contains it. Answered from data collected at
// startup, without a worker.
#ifndef BELLJAR_SERVER_TOOLS_SANDBOX_INFO_H_
#define BELLJAR_SERVER_TOOLS_SANDBOX_INFO_H_

#include <string>
#include <vector>

#include "server/core/config.h"
#include "server/core/tool.h"
#include "server/tools/arguments.h"
#include "server/tools/sandboxes.h"

namespace belljar::server::tools {

class SandboxInfo final : public Tool {
 public:
  // `catalogue` is borrowed for the call; `sandboxes` must outlive this object. Probes this
  // machine.
  SandboxInfo(Sandboxes& sandboxes, const outside::ProfileCatalogue& catalogue,
              const AnswersConfig& answers);

  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return false; }
  core::Result<ToolResult> Call(const ToolCall& call) override;

 private:
  // One member of security_profiles as JSON text, for permitted and for other callers.
  struct Entry {
    const EnabledProfile* enabled = nullptr;  // null: not enabled
    std::string text;
    std::string withheld_text;  // for callers who may not use it
  };

  Sandboxes& sandboxes_;
  const AnswersConfig answers_;
  const ParameterTable parameters_;
  const ToolDescription description_;
  std::vector<Entry> entries_;
  std::string ending_;  // members that are the same for all callers
};

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_SANDBOX_INFO_H_
