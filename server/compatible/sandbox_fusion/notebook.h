// Notebook: a tool used only by these APIs and listed nowhere: opens a session, runs cells in it
// one after the other, and closes it. One call takes one place in the queue.
//
// Arguments: profile, memory_limit (optional), cells, cell_timeout and total_timeout (seconds, 0:
// none and the maximum), files (optional), fetch_files, note (about the request; may be empty).
// Made by this server, not by a client.
#ifndef BELLJAR_SERVER_COMPATIBLE_SANDBOX_FUSION_NOTEBOOK_H_
#define BELLJAR_SERVER_COMPATIBLE_SANDBOX_FUSION_NOTEBOOK_H_

#include "server/calls/calls.h"
#include "server/calls/tool.h"
#include "server/compatible/program.h"

namespace belljar::server::compatible::sandbox_fusion {

class Notebook final : public Tool {
 public:
  // All but `terms` are borrowed. Precondition: there are tools for sessions.
  Notebook(Calls& calls, const ApiTools& tools, const ApiTerms& terms);

  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return true; }
  // The result is the answer of /run_jupyter, unless no session could be opened.
  core::Result<ToolResult> Call(const ToolCall& call) override;

 private:
  struct Progress;
  class ClosesSession;
  // One step of the notebook, reported to its caller: each cell is an execution.
  core::Result<ToolResult> Step(Tool& tool, const ToolCall& call, nlohmann::json arguments) const;
  ToolResult RunCells(const ToolCall& call, const std::string& session) const;
  // False: the notebook ends here.
  bool RunCell(const ToolCall& call, nlohmann::json arguments, Progress& progress) const;

  Calls& calls_;
  const ApiTools tools_;
  const ApiTerms terms_;
  const ToolDescription description_;
};

}  // namespace belljar::server::compatible::sandbox_fusion

#endif  // BELLJAR_SERVER_COMPATIBLE_SANDBOX_FUSION_NOTEBOOK_H_
