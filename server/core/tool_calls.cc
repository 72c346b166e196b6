#include "server/core/tool_calls.h"

#include <cerrno>
#include <exception>
#include <utility>

#include "engine/host/deferred_tasks.h"
#include "server/core/execution.h"

namespace belljar::server {

core::Result<ToolResult> CallTool(Tool& tool, const ToolCall& call) {
  try {
    return tool.Call(call);
  } catch (const std::exception& error) {
    return core::MakeError("call " + tool.description().name,
                           std::string("unexpected: ") + error.what());
  }
}

struct ToolCalls::Started {
  Started(CallObserver* observer, const Tool& tool, Call the_call, OnEnd then)
      : call(std::move(the_call)),
        on_end(std::move(then)),
        execution(observer, tool, call.caller.name, call.traceparent) {}
  Call call;
  OnEnd on_end;
  Execution execution;
};

std::optional<CallQueue::Refusal> ToolCalls::Start(Tool& tool, Call call, OnEnd on_end) {
  auto started = std::make_shared<Started>(observer_, tool, std::move(call), std::move(on_end));
  if (!tool.uses_worker()) {
    Run(tool, *started);
    return std::nullopt;
  }
  const Caller& caller = started->call.caller;
  {
    std::lock_guard lock(mutex_);
    pending_.insert(started->call.cancellation);
  }
  started->execution.Submit();
  const auto refusal = queue_.Submit(caller.name, caller.concurrency,
                                     [this, &tool, started] { Run(tool, *started); });
  if (refusal) {
    {
      std::lock_guard lock(mutex_);
      pending_.erase(started->call.cancellation);
    }
    started->execution.Refuse(refusal->reason);
    if (on_refusal_) on_refusal_(caller, *refusal);
  }
  return refusal;
}

void ToolCalls::Run(Tool& tool, Started& started) {
  host::DeferredTasks deferred;  // executed when this function returns, after the answer
  Call& call = started.call;
  ToolCall tool_call;
  tool_call.deferred = &deferred;
  tool_call.execution = &started.execution;
  tool_call.arguments = std::move(call.arguments);
  tool_call.caller = call.caller;
  tool_call.cancellation = call.cancellation.get();
  tool_call.on_output = call.on_output;
  started.execution.Start();
  core::Result<ToolResult> result = call.cancellation->cancelled()
                                        ? core::Result<ToolResult>(core::SystemErrorOf(
                                              ECANCELED, "call " + tool.description().name))
                                        : CallTool(tool, tool_call);
  {
    std::lock_guard lock(mutex_);
    pending_.erase(call.cancellation);
  }
  started.execution.End(result, deferred);
  started.on_end(std::move(result));
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
