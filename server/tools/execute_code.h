// execute_code: runs a piece of code in a fresh worker. The answer is the outcome.
#ifndef BELLJAR_SERVER_TOOLS_EXECUTE_CODE_H_
#define BELLJAR_SERVER_TOOLS_EXECUTE_CODE_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/core/request.h"
#include "server/core/observer.h"
#include "server/core/tool.h"
#include "server/tools/arguments.h"
#include "server/tools/sandboxes.h"

namespace belljar {

class ExecuteCode final : public Tool {
 public:
  // Both are borrowed; `observer` may be null.
  ExecuteCode(Sandboxes& sandboxes, CallObserver* observer);

  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return true; }
  Result<ToolResult> Call(const ToolCall& call) override;

 private:
  struct Plan {
    const EnabledProfile* profile = nullptr;
    Request request;
    bool capture_output = true;
  };
  // Whatever is wrong is added to `problems`; the plan is then of no use.
  Plan Prepare(const Arguments& arguments, const Caller& caller,
               std::vector<std::string>& problems) const;

  Sandboxes& sandboxes_;
  CallObserver* const observer_;
  const ParameterTable parameters_;
  const ToolDescription description_;
};

}  // namespace belljar

#endif  // BELLJAR_SERVER_TOOLS_EXECUTE_CODE_H_
