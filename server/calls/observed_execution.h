// ObservedExecution: one call of a tool that runs code, from its submission to its end, as reported
// to observers. For calls of other tools it has no id, and nothing is reported.
//
//   ObservedExecution execution(observer, tool, call);
//   execution.Submit();                       // before the queue, so that nothing can come earlier
//   if (refusal) execution.Refuse("queue_full");
//   execution.Start();                        // on the thread of the call
//   execution.End(result, deferred);          // after the tool has returned
#ifndef BELLJAR_SERVER_CALLS_OBSERVED_EXECUTION_H_
#define BELLJAR_SERVER_CALLS_OBSERVED_EXECUTION_H_

#include <string>
#include <string_view>

#include "engine/core/result.h"
#include "engine/host/deferred_tasks.h"
#include "server/calls/call_queue.h"
#include "server/calls/observer.h"
#include "server/calls/tool.h"

namespace belljar::server {

// Used by one thread at a time.
class ObservedExecution {
 public:
  // `observer`, which may be null, and `tool` must outlive it.
  ObservedExecution(CallObserver* observer, const Tool& tool, const ToolCall& call);
  ObservedExecution(const ObservedExecution&) = delete;

  // Unguessable; empty for other tools.
  const std::string& id() const { return id_; }

  void Submit();
  void Refuse(std::string_view reason);
  void Refuse(CallQueue::Refusal::Reason reason);
  void Start();
  // Whether an observer wants its output.
  bool WantsOutput() const;
  void Print(std::string_view text);
  // Whether a CallRecord has reported to an observer how it ended.
  void SetRecorded() { recorded_ = true; }
  // Once the deferred work that is already in `deferred` is done, a call without a CallRecord
  // counts as refused. This object must outlive `deferred`.
  void End(const core::Result<ToolResult>& result, host::DeferredTasks& deferred);

 private:
  ExecutionRecord Record() const;

  CallObserver* const observer_;  // null: nothing is reported
  const Tool& tool_;
  const std::string caller_;
  const std::string traceparent_;
  const std::string id_;
  bool recorded_ = false;
};

// "queue_full", "token_full", "closing": for logs and events.
std::string_view NameOf(CallQueue::Refusal::Reason reason);

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CALLS_OBSERVED_EXECUTION_H_
