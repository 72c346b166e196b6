#include "server/audit/audited_tool.h"

#include <string>
#include <utility>

namespace belljar::server::audit {
namespace {

// For a slow disk, rather than a broken one.
constexpr std::chrono::seconds kPatience{10};

ToolResult Refusal(const std::string& tool, const char* what) {
  ToolResult result;
  result.is_error = true;
  result.fault = ToolResult::Fault::kUnavailable;
  result.text =
      tool + ": " + what + " Call again later; the operator's log says why it cannot be written.";
  return result;
}

class AuditedTool : public Tool {
 public:
  AuditedTool(std::unique_ptr<Tool> tool, AuditLog& log) : tool_(std::move(tool)), log_(log) {}

  const ToolDescription& description() const override { return tool_->description(); }
  bool uses_worker() const override { return true; }
  bool runs_code() const override { return tool_->runs_code(); }
  bool UsesWorker(const ToolCall& call) const override { return tool_->UsesWorker(call); }
  bool RunsCode(const ToolCall& call) const override { return tool_->RunsCode(call); }

  core::Result<ToolResult> Call(const ToolCall& call) override {
    const std::string& name = description().name;
    // It runs nothing, and must not wait: it may end what keeps the server busy.
    if (!tool_->UsesWorker(call)) return tool_->Call(call);
    if (log_.WhyRefused()) {
      return Refusal(name, "the server's audit log cannot be written, so nothing was run.");
    }
    if (!log_.flushes_calls()) return tool_->Call(call);
    ToolCall whole = call;
    whole.deferred = nullptr;  // the entry is made before the answer, not after it
    core::Result<ToolResult> result = tool_->Call(whole);
    if (log_.Flush(kPatience)) return result;
    return Refusal(name,
                   "the code has run, but the server's audit log could not be written, so its "
                   "answer is withheld.");
  }

 private:
  const std::unique_ptr<Tool> tool_;
  AuditLog& log_;
};

}  // namespace

std::vector<std::unique_ptr<Tool>> WithAudit(std::vector<std::unique_ptr<Tool>> tools,
                                             AuditLog& log) {
  for (std::unique_ptr<Tool>& tool : tools) {
    if (tool->uses_worker()) tool = std::make_unique<AuditedTool>(std::move(tool), log);
  }
  return tools;
}

}  // namespace belljar::server::audit
