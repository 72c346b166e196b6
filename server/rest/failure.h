// Failures of calls as answers of the HTTP API.
#ifndef BELLJAR_SERVER_REST_FAILURE_H_
#define BELLJAR_SERVER_REST_FAILURE_H_

#include "engine/core/result.h"
#include "server/calls/call_queue.h"
#include "server/calls/tool.h"
#include "server/core/web.h"

namespace belljar::server::rest {

// Precondition: result.fault is not kNone.
WebAnswer ProblemOf(const ToolResult& result);
// Belljar's own failure, or the call was cancelled.
WebAnswer ProblemOf(const core::Error& error);
WebAnswer ProblemOf(const CallQueue::Refusal& refusal);

}  // namespace belljar::server::rest

#endif  // BELLJAR_SERVER_REST_FAILURE_H_
