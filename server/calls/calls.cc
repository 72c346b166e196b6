#include "server/calls/calls.h"

#include <cerrno>
#include <exception>
#include <utility>

#include "engine/host/deferred_tasks.h"

namespace belljar::server {
namespace {

core::Result<ToolResult> CallTool(Tool& tool, const ToolCall& call) {
  if (call.cancellation && call.cancellation->cancelled()) {
    return core::SystemErrorOf(ECANCELED, "call " + tool.description().name);
  }
  try {
    return tool.Call(call);
  } catch (const std::exception& error) {
    return core::MakeError("call " + tool.description().name,
                           std::string("unexpected: ") + error.what());
  }
}

}  // namespace

struct Calls::Started {
  Started(CallObserver* observer, Tool& the_tool, ToolCall the_call)
      : tool(the_tool), call(std::move(the_call)), execution(observer, tool, call) {}
  // The queue has dropped it.
  ~Started() {
    if (waits) execution.Refuse(CallQueue::Refusal::Reason::kClosing);
  }
  Tool& tool;
  ToolCall call;
  ObservedExecution execution;
  std::optional<Pending> pending;
  bool waits = false;  // submitted, and neither refused nor run
};

std::optional<CallQueue::Refusal> Calls::Start(Tool& tool, ToolCall call, OnEnd on_end) {
  if (!tool.UsesWorker(call)) {
    Run(tool, std::move(call), on_end);
    return std::nullopt;
  }
  const auto started = std::make_shared<Started>(observer_, tool, std::move(call));
  if (started->call.cancellation) started->pending.emplace(*this, started->call.cancellation);
  started->execution.Submit();
  started->waits = true;  // before another thread can take it
  const Caller& caller = started->call.caller;
  const auto refusal =
      queue_.Submit(caller.name, caller.concurrency,
                    [this, started, on_end = std::move(on_end)] { Execute(*started, on_end); });
  if (refusal) {
    started->waits = false;
    started->execution.Refuse(refusal->reason);
    if (on_refusal_) on_refusal_(caller, *refusal);
  }
  return refusal;
}

void Calls::Run(Tool& tool, ToolCall call, const OnEnd& on_end) {
  Started started(observer_, tool, std::move(call));
  // A job was submitted under its own id.
  if (started.call.execution_id.empty()) started.execution.Submit();
  Execute(started, on_end);
}

void Calls::Execute(Started& started, const OnEnd& on_end) {
  started.waits = false;
  host::DeferredTasks deferred;  // run when this function returns, after the answer
  started.call.deferred = &deferred;
  started.call.execution = &started.execution;
  started.execution.Start();
  core::Result<ToolResult> result = CallTool(started.tool, started.call);
  started.pending.reset();
  started.execution.End(result, deferred);
  on_end(std::move(result));
}

Calls::Pending::Pending(Calls& calls, std::shared_ptr<Cancellation> cancellation)
    : calls_(calls), cancellation_(std::move(cancellation)) {
  const std::lock_guard lock(calls_.mutex_);
  calls_.pending_.insert(cancellation_);
}

Calls::Pending::~Pending() {
  const std::lock_guard lock(calls_.mutex_);
  calls_.pending_.erase(calls_.pending_.find(cancellation_));
}

void Calls::CancelAll() {
  const std::lock_guard lock(mutex_);
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
