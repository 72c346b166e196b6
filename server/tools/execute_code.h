// execute_code: runs a piece of code in a fresh worker, or as a cell of a session. The result is
// the outcome.
#ifndef BELLJAR_SERVER_TOOLS_EXECUTE_CODE_H_
#define BELLJAR_SERVER_TOOLS_EXECUTE_CODE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/host/request.h"
#include "server/calls/observer.h"
#include "server/calls/tool.h"
#include "server/core/config.h"
#include "server/core/resource_store.h"
#include "server/core/session_registry.h"
#include "server/tools/arguments.h"
#include "server/tools/sandboxes.h"
#include "server/tools/session_calls.h"

namespace belljar::server::tools {

class ExecuteCode final : public Tool {
 public:
  // All but `answers` are borrowed; `observer` may be null, and so may `sessions`, if sessions are
  // disabled. Artifacts of runs are stored in `resources`.
  // `installation` is used here only.
  ExecuteCode(Sandboxes& sandboxes, const installation::Installation& installation,
              const AnswersConfig& answers, ResourceStore& resources, SessionRegistry* sessions,
              CallObserver* observer);

  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return true; }
  bool runs_code() const override { return true; }
  core::Result<ToolResult> Call(const ToolCall& call) override;

 private:
  struct Plan {
    const EnabledProfile* profile = nullptr;
    host::Request request;
    bool capture_output = true;
    bool in_container = false;
    bool is_full = false;  // the answer
    std::optional<Requirements> packages;
    std::optional<SessionUse> session;
    bool opens_session = false;  // there was none
    sessions::Patience patience;
  };
  // Appends to `problems` if the arguments are invalid; the plan must not be used then.
  Plan Prepare(const Arguments& arguments, const ToolCall& call,
               std::vector<std::string>& problems) const;
  void PrepareSession(const std::string& session, const Arguments& arguments, const ToolCall& call,
                      Plan& plan, std::vector<std::string>& problems) const;
  void PrepareTerms(const Arguments& arguments, const Caller& caller, Plan& plan,
                    std::vector<std::string>& problems) const;
  void PrepareCell(const Arguments& arguments, const Caller& caller, Plan& plan,
                   std::vector<std::string>& problems) const;
  void PrepareInput(const Arguments& arguments, const ToolCall& call, Plan& plan,
                    std::vector<std::string>& problems) const;

  // Installs the requested packages before the run. Errors are reported to the caller.
  core::Result<container::packages::PreparedPackages> Install(Plan& plan,
                                                              const ToolCall& call) const;
  core::Result<host::Outcome> RunPlan(Plan& plan, const run::OutputSink* sink,
                                      const ToolCall& call) const;
  ToolResult Failure(const Plan& plan, const core::Error& error, const Caller& caller) const;
  // Runs a cell, in a new session if the plan says so.
  core::Result<ToolResult> CallSession(Plan& plan, const ToolCall& call) const;
  core::Result<ToolResult> RunAndAnswer(Plan& plan, const ToolCall& call) const;

  ToolResult ResultOf(const std::shared_ptr<host::Outcome>& shared, const Plan& plan,
                      const ToolCall& call) const;

  Sandboxes& sandboxes_;
  const AnswersConfig answers_;
  ResourceStore& resources_;
  SessionRegistry* const sessions_;
  CallObserver* const observer_;
  const ParameterTable parameters_;
  const ToolDescription description_;
};

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_EXECUTE_CODE_H_
