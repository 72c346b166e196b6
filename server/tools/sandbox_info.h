// get_sandbox_info: what code may use here, and what holds it in. Answered from what was known when
// the server started, without a worker.
#ifndef BELLJAR_SERVER_TOOLS_SANDBOX_INFO_H_
#define BELLJAR_SERVER_TOOLS_SANDBOX_INFO_H_

#include <string>
#include <vector>

#include "server/core/tool.h"
#include "server/tools/arguments.h"
#include "server/tools/sandboxes.h"

namespace belljar::server::tools {

class SandboxInfo final : public Tool {
 public:
  // Both are borrowed for the call; `sandboxes` for good. Probes this machine.
  SandboxInfo(Sandboxes& sandboxes, const outside::ProfileCatalogue& catalogue);

  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return false; }
  core::Result<ToolResult> Call(const ToolCall& call) override;

 private:
  // One member of security_profiles, as JSON text, ready for either kind of caller.
  struct Entry {
    const EnabledProfile* enabled = nullptr;  // null: nobody may name it
    std::string text;
    std::string withheld_text;  // for a caller who may not
  };

  Sandboxes& sandboxes_;
  const ParameterTable parameters_;
  const ToolDescription description_;
  std::vector<Entry> entries_;
  std::string ending_;  // all members that are the same for every caller
};

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_SANDBOX_INFO_H_
