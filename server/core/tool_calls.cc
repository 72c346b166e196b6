#include "server/core/tool_calls.h"

#include <cerrno>
#include <exception>
#include <utility>

#include "engine/host/deferred_tasks.h"

namespace belljar::server {

core::Result<ToolResult> CallTool(Tool& tool, const ToolCall& call) {
  try {
    return tool.Call(call);
  } catch (const std::exception& error) {
    return core::MakeError("call " + tool.description().name,
                           std::string("unexpected: ") + error.what());
  }
}

std::optional<CallQueue::Refusal> ToolCalls::Start(Tool& tool, Call call, OnEnd on_end) {
  if (!tool.uses_worker()) {
    Run(tool, call, on_end);
    return std::nullopt;
  }
  const Caller caller = call.caller;
  const std::shared_ptr<Cancellation> cancellation = call.cancellation;
  {
    std::lock_guard lock(mutex_);
    pending_.insert(cancellation);
  }
  auto shared = std::make_shared<std::pair<Call, OnEnd>>(std::move(call), std::move(on_end));
  const auto refusal = queue_.Submit(caller.name, caller.concurrency, [this, &tool, shared] {
    Run(tool, shared->first, shared->second);
  });
  if (refusal) {
    {
      std::lock_guard lock(mutex_);
      pending_.erase(cancellation);
    }
    if (on_refusal_) on_refusal_(caller, *refusal);
  }
  return refusal;
}

void ToolCalls::Run(Tool& tool, Call& call, const OnEnd& on_end) {
  host::DeferredTasks deferred;  // executed when this function returns, after the answer
  ToolCall tool_call;
  tool_call.deferred = &deferred;
  tool_call.arguments = std::move(call.arguments);
  tool_call.caller = call.caller;
  tool_call.cancellation = call.cancellation.get();
  tool_call.on_output = call.on_output;
  core::Result<ToolResult> result = call.cancellation->cancelled()
                                        ? core::Result<ToolResult>(core::SystemErrorOf(
                                              ECANCELED, "call " + tool.description().name))
                                        : CallTool(tool, tool_call);
  {
    std::lock_guard lock(mutex_);
    pending_.erase(call.cancellation);
  }
  on_end(std::move(result));
}

void ToolCalls::CancelAll() {
  std::lock_guard lock(mutex_);
  for (const auto& cancellation : pending_) cancellation->Cancel();
}

std::string Describe(const CallQueue::Refusal& refusal) {
  const std::string again = "; try again in " + std::to_string(refusal.retry_after.count()) + " s";
  switch (refusal.reason) {
    case CallQueue::Refusal::Reason::kFull:
      return "overloaded: " + std::to_string(refusal.running) + " calls are running and " +
             std::to_string(refusal.waiting) + " are waiting" + again;
    case CallQueue::Refusal::Reason::kCallerFull:
      return "overloaded: this token has reached its limit of running and waiting calls" + again;
    case CallQueue::Refusal::Reason::kClosing: return "the server is shutting down" + again;
  }
  return "overloaded" + again;
}

}  // namespace belljar::server
