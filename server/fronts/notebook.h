// Notebook: a tool used only by these APIs and listed nowhere: opens a session, runs cells in it
// one after the other, and closes it. One call takes one place in the queue.
//
// Arguments: profile, memory_limit (optional), cells, cell_timeout and total_timeout (seconds, 0:
// none and the maximum), files (optional), fetch_files. Created by this server, not by a client.
#ifndef BELLJAR_SERVER_FRONTS_NOTEBOOK_H_
#define BELLJAR_SERVER_FRONTS_NOTEBOOK_H_

#include "server/calls/calls.h"
#include "server/calls/tool.h"
#include "server/fronts/program.h"

namespace belljar::server::fronts {

class Notebook final : public Tool {
 public:
  // All but `terms` are borrowed. Precondition: the session tools exist.
  Notebook(Calls& calls, const FrontTools& tools, const FrontTerms& terms);

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
  const FrontTools tools_;
  const FrontTerms terms_;
  const ToolDescription description_;
};

}  // namespace belljar::server::fronts

#endif  // BELLJAR_SERVER_FRONTS_NOTEBOOK_H_
