// run_command: commands of sessions of the language shell (docs/workshop.md): runs one and waits
// for it, or leaves it in the background, where its output is read, its input written, and it is
// ended.
#ifndef BELLJAR_SERVER_TOOLS_RUN_COMMAND_H_
#define BELLJAR_SERVER_TOOLS_RUN_COMMAND_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/commands/command.h"
#include "server/calls/observer.h"
#include "server/calls/tool.h"
#include "server/core/config.h"
#include "server/core/resource_store.h"
#include "server/core/session_registry.h"
#include "server/tools/arguments.h"
#include "server/tools/followed_command.h"
#include "server/tools/sandboxes.h"
#include "server/tools/session_calls.h"

namespace belljar::server::tools {

class RunCommand final : public Tool {
 public:
  // Whether the operator has enabled a language of commands.
  static bool IsOffered(const Sandboxes& sandboxes);

  // All but `answers` are borrowed; `observer` may be null. IsOffered is true.
  RunCommand(Sandboxes& sandboxes, SessionRegistry& registry, const AnswersConfig& answers,
             ResourceStore& resources, CallObserver* observer);

  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return true; }
  bool runs_code() const override { return true; }
  // Calls that do not wait are answered also while all places of the queue are taken: they end what
  // takes them.
  bool UsesWorker(const ToolCall& call) const override;
  bool RunsCode(const ToolCall& call) const override;
  core::Result<ToolResult> Call(const ToolCall& call) override;

 private:
  struct Terms;
  struct Plan;
  struct Found;  // a command of a session, for the other actions
  using Answer = core::Result<ToolResult>;

  Answer Run(const ToolCall& call, const Arguments& arguments) const;
  void Prepare(const ToolCall& call, const Arguments& arguments, Plan& plan,
               std::vector<std::string>& problems) const;
  core::Result<void> OpenSession(Plan& plan, const ToolCall& call) const;
  core::Result<void> Install(Plan& plan, const ToolCall& call) const;
  Answer RunInSession(Plan& plan, const ToolCall& call) const;
  Answer Await(Plan& plan, const ToolCall& call, commands::Command& command) const;
  Answer LeaveInBackground(Plan& plan, const ToolCall& call) const;
  Answer NotStarted(const Plan& plan, const core::Error& error, const ToolCall& call) const;
  ToolResult ResultOf(const host::Outcome& outcome, const commands::Command& command,
                      const Plan& plan, const ToolCall& call) const;
  static void Complete(host::Outcome& outcome, const Terms& terms, const Sandboxes& sandboxes,
                       const commands::Command& command);

  Answer Control(const std::string& action, const ToolCall& call, const Arguments& arguments) const;
  Answer List(const SessionUse& session) const;
  Answer Read(const Found& found) const;
  Answer Write(const Found& found) const;
  Answer Signal(const Found& found) const;
  Answer Kill(const Found& found) const;
  Answer Resize(const Found& found) const;

  Sandboxes& sandboxes_;
  SessionRegistry& registry_;
  const AnswersConfig answers_;
  const bool is_full_;
  ResourceStore& resources_;
  CallObserver* const observer_;
  const EnabledProfile& shell_;
  const ParameterTable parameters_;
  const ToolDescription description_;
};

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_RUN_COMMAND_H_
