#include "server/calls/execution.h"

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

Execution::Execution(CallObserver* observer, const Tool& tool, const ToolCall& call)
    : observer_(tool.runs_code() ? observer : nullptr),
      tool_(tool),
      caller_(call.caller.name),
      traceparent_(call.traceparent),
      id_(!call.execution_id.empty() ? call.execution_id
          : tool.runs_code()         ? host::NewUuid()
                                     : "") {}

ExecutionRecord Execution::Record() const {
  return {id_, tool_.description().name, caller_, traceparent_, {}};
}

void Execution::Submit() {
  if (observer_) observer_->Submitted(Record());
}

void Execution::Refuse(std::string_view reason) {
  if (!observer_) return;
  ExecutionRecord record = Record();
  record.reason = reason;
  observer_->Refused(record);
}

void Execution::Refuse(CallQueue::Refusal::Reason reason) { Refuse(NameOf(reason)); }

void Execution::Start() {
  if (observer_) observer_->Started(Record());
}

bool Execution::WantsOutput() const { return observer_ && observer_->WantsOutput(caller_); }

void Execution::Print(std::string_view text) {
  if (observer_) observer_->Printed(Record(), text);
}

void Execution::End(const core::Result<ToolResult>& result, host::DeferredTasks& deferred) {
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
