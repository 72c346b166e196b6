// read_output: reads what an answer left out, for clients that do not read resources. Its text is
// that of resources/read, in pieces that are as long as an answer may be.
#ifndef BELLJAR_SERVER_TOOLS_READ_OUTPUT_H_
#define BELLJAR_SERVER_TOOLS_READ_OUTPUT_H_

#include "server/calls/tool.h"
#include "server/core/config.h"
#include "server/core/resource_store.h"
#include "server/tools/arguments.h"

namespace belljar::server::tools {

inline constexpr char kReadName[] = "read_output";

class ReadOutput final : public Tool {
 public:
  // `resources` is borrowed.
  ReadOutput(const AnswersConfig& answers, ResourceStore& resources);

  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return false; }
  // Another caller's resource does not exist for this one.
  core::Result<ToolResult> Call(const ToolCall& call) override;

 private:
  const AnswersConfig answers_;
  ResourceStore& resources_;
  const ParameterTable parameters_;
  const ToolDescription description_;
};

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_READ_OUTPUT_H_
