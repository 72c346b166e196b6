// execute_code: runs a piece of code in a fresh worker. The result is the outcome.
#ifndef BELLJAR_SERVER_TOOLS_EXECUTE_CODE_H_
#define BELLJAR_SERVER_TOOLS_EXECUTE_CODE_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/host/request.h"
#include "server/core/config.h"
#include "server/core/observer.h"
#include "server/core/resource_store.h"
#include "server/core/tool.h"
#include "server/tools/arguments.h"
#include "server/tools/sandboxes.h"

namespace belljar::server::tools {

class ExecuteCode final : public Tool {
 public:
  // All but `answers` are borrowed; `observer` may be null. Artifacts of runs are stored in
  // `resources`.
  ExecuteCode(Sandboxes& sandboxes, const AnswersConfig& answers, ResourceStore& resources,
              CallObserver* observer);

  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return true; }
  core::Result<ToolResult> Call(const ToolCall& call) override;

 private:
  struct Plan {
    const EnabledProfile* profile = nullptr;
    host::Request request;
    bool capture_output = true;
    bool in_container = false;
    bool is_full = false;  // the answer
    std::optional<Requirements> packages;
  };
  // Appends to `problems` if the arguments are invalid; the plan must not be used then.
  Plan Prepare(const Arguments& arguments, const Caller& caller,
               std::vector<std::string>& problems) const;

  // Installs the requested packages before the run. Errors are reported to the caller.
  core::Result<container::packages::PreparedPackages> Install(Plan& plan,
                                                              const ToolCall& call) const;
  core::Result<host::Outcome> RunPlan(Plan& plan, const outside::OutputSink* sink,
                                      const ToolCall& call) const;
  ToolResult Failure(const Plan& plan, const core::Error& error) const;

  ToolResult ResultOf(host::Outcome& outcome, const Plan& plan, const Caller& caller) const;

  Sandboxes& sandboxes_;
  const AnswersConfig answers_;
  ResourceStore& resources_;
  CallObserver* const observer_;
  const ParameterTable parameters_;
  const ToolDescription description_;
};

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_EXECUTE_CODE_H_
