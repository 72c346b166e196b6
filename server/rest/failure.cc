#include "server/rest/failure.h"

#include <cerrno>
#include <cstdlib>

#include "server/calls/calls.h"

namespace belljar::server::rest {
namespace {

constexpr char kRetrySoon[] = "Retry-After: 1\r\n";

unsigned StatusOf(ToolResult::Fault fault) {
  switch (fault) {
    case ToolResult::Fault::kArguments: return 422;
    case ToolResult::Fault::kNotFound: return 404;
    case ToolResult::Fault::kConflict: return 409;
    case ToolResult::Fault::kUnavailable: return 503;
    case ToolResult::Fault::kNone: break;
  }
  std::abort();
}

}  // namespace

WebAnswer ProblemOf(const ToolResult& result) {
  const bool may_pass = result.fault == ToolResult::Fault::kUnavailable;
  return Problem(StatusOf(result.fault), result.text, may_pass ? kRetrySoon : "");
}

WebAnswer ProblemOf(const core::Error& error) {
  if (error.error_number == ECANCELED) {
    return Problem(503, "the call was cancelled: the server is shutting down", kRetrySoon);
  }
  return Problem(500, error.ToString());
}

WebAnswer ProblemOf(const CallQueue::Refusal& refusal) {
  // A server shutting down is not the caller's fault.
  const unsigned status = refusal.reason == CallQueue::Refusal::Reason::kClosing ? 503 : 429;
  return Problem(status, Describe(refusal), RetryAfter(refusal.retry_after));
}

}  // namespace belljar::server::rest
