#include "server/calls/observer.h"

#include <cerrno>
#include <utility>

#include "engine/host/random.h"

namespace belljar::server {
namespace {

// Why the call left no CallRecord.
std::string_view ReasonOf(const core::Result<ToolResult>& result) {
  if (!result) return result.error().error_number == ECANCELED ? "cancelled" : "failure";
  switch (result->fault) {
    case ToolResult::Fault::kNone: break;
    case ToolResult::Fault::kArguments: return "arguments";
    case ToolResult::Fault::kNotFound: return "not_found";
    case ToolResult::Fault::kConflict: return "conflict";
    case ToolResult::Fault::kUnavailable: return "unavailable";
  }
  return "failure";
}

}  // namespace

ObservedExecution::ObservedExecution(CallObserver* observer, const Tool& tool, const ToolCall& call)
    : observer_(tool.RunsCode(call) ? observer : nullptr),
      tool_(tool),
      caller_(call.caller.name),
      traceparent_(call.traceparent),
      id_(!call.execution_id.empty() ? call.execution_id
          : tool.RunsCode(call)      ? host::NewUuid()
                                     : "") {}

ExecutionRecord ObservedExecution::Record() const {
  return {id_, tool_.description().name, caller_, traceparent_, {}};
}

void ObservedExecution::Submit() {
  if (observer_) observer_->Submitted(Record());
}

void ObservedExecution::Refuse(std::string_view reason) {
  if (!observer_) return;
  ExecutionRecord record = Record();
  record.reason = reason;
  observer_->Refused(record);
}

void ObservedExecution::Refuse(CallQueue::Refusal::Reason reason) { Refuse(NameOf(reason)); }

void ObservedExecution::Start() {
  if (observer_) observer_->Started(Record());
}

bool ObservedExecution::WantsOutput() const { return observer_ && observer_->WantsOutput(caller_); }

void ObservedExecution::Print(std::string_view text) {
  if (observer_) observer_->Printed(Record(), text);
}

void ObservedExecution::End(const core::Result<ToolResult>& result, host::DeferredTasks& deferred) {
  if (!observer_) return;
  deferred.Add([this, reason = ReasonOf(result)] {
    if (!recorded_) Refuse(reason);
  });
}

std::string_view NameOf(CallQueue::Refusal::Reason reason) {
  switch (reason) {
    case CallQueue::Refusal::Reason::kFull: return "queue_full";
    case CallQueue::Refusal::Reason::kCallerFull: return "token_full";
    case CallQueue::Refusal::Reason::kClosing: return "closing";
  }
  return "unknown";
}

}  // namespace belljar::server
