// ToolCalls: runs calls of tools for protocols that answer a request each: in the queue if the tool
// uses a worker, at once otherwise.
//
//   ToolCalls calls(queue, on_refusal, &observers);
//   std::optional<CallQueue::Refusal> refusal = calls.Start(
//       *tool, {.arguments = …, .caller = …, .cancellation = request.peer_gone},
//       [reply](core::Result<ToolResult> result) { reply->Finish(…); });
#ifndef BELLJAR_SERVER_CORE_TOOL_CALLS_H_
#define BELLJAR_SERVER_CORE_TOOL_CALLS_H_

#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/core/result.h"
#include "server/core/call_queue.h"
#include "server/core/caller.h"
#include "server/core/cancellation.h"
#include "server/core/observer.h"
#include "server/core/tool.h"

namespace belljar::server {

// Calls the tool; what it throws becomes an error.
core::Result<ToolResult> CallTool(Tool& tool, const ToolCall& call);

// Any thread, concurrently. Must outlive the queue's calls: stop it first.
class ToolCalls {
 public:
  using RefusalListener = std::function<void(const Caller&, const CallQueue::Refusal&)>;
  // `observer`, which may be null, is told about executions; it must outlive this object.
  ToolCalls(CallQueue& queue, RefusalListener on_refusal, CallObserver* observer = nullptr)
      : queue_(queue), on_refusal_(std::move(on_refusal)), observer_(observer) {}

  struct Call {
    nlohmann::json arguments;
    Caller caller;
    std::shared_ptr<Cancellation> cancellation;       // never null
    std::function<void(std::string_view)> on_output;  // as in ToolCall
    std::string traceparent;                          // of the client; may be empty
  };
  // `on_end` is called once, before the deferred work of the call, unless the queue refuses the
  // call. A call that was cancelled while it waited ends with ECANCELED.
  using OnEnd = std::function<void(core::Result<ToolResult>)>;
  std::optional<CallQueue::Refusal> Start(Tool& tool, Call call, OnEnd on_end);

  void CancelAll();

 private:
  struct Started;
  void Run(Tool& tool, Started& started);

  CallQueue& queue_;
  const RefusalListener on_refusal_;
  CallObserver* const observer_;
  std::mutex mutex_;
  std::set<std::shared_ptr<Cancellation>> pending_;
};

// "overloaded: …; try again in 3 s"
std::string Describe(const CallQueue::Refusal& refusal);

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_TOOL_CALLS_H_
