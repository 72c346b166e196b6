// validate_code: checks code against the language policy without running it. The code is parsed in
// a sealed worker, never in this process.
#ifndef BELLJAR_SERVER_TOOLS_VALIDATE_CODE_H_
#define BELLJAR_SERVER_TOOLS_VALIDATE_CODE_H_

#include "server/calls/observer.h"
#include "server/calls/tool.h"
#include "server/core/config.h"
#include "server/tools/arguments.h"
#include "server/tools/sandboxes.h"

namespace belljar::server::tools {

class ValidateCode final : public Tool {
 public:
  // `sandboxes` and `observer`, which may be null, are borrowed.
  ValidateCode(Sandboxes& sandboxes, const AnswersConfig& answers, CallObserver* observer);

  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return true; }
  // Refused code is not an error of the call: the check itself succeeded.
  core::Result<ToolResult> Call(const ToolCall& call) override;

 private:
  ToolResult ResultOf(const host::Outcome& outcome, const host::Request& request,
                      const EnabledProfile& profile, bool is_full) const;

  Sandboxes& sandboxes_;
  const AnswersConfig answers_;
  CallObserver* const observer_;
  const ParameterTable parameters_;
  const ToolDescription description_;
};

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_VALIDATE_CODE_H_
