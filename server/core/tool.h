// Tool: one thing that clients can call. Knows the sandbox, and nothing of how calls arrive.
#ifndef BELLJAR_SERVER_CORE_TOOL_H_
#define BELLJAR_SERVER_CORE_TOOL_H_

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/host/deferred_tasks.h"
#include "server/core/caller.h"
#include "server/core/cancellation.h"
#include "server/core/content.h"

namespace belljar::server {

struct ToolCall {
  nlohmann::json arguments;  // as the client sent them: any JSON value; null: none were sent
  Caller caller;
  // Receives the guest's output while it runs, whole UTF-8 characters, on the thread of the call;
  // empty: nobody listens. Must not block.
  std::function<void(std::string_view)> on_output;
  const Cancellation* cancellation = nullptr;  // borrowed for the call; null: cannot be cancelled
  // Borrowed for the call: what need not be done before the client has its answer; null: it is done
  // before Call returns.
  host::DeferredTasks* deferred = nullptr;
};

struct ToolResult {
  // The JSON text of an object that the tool's output schema describes; empty when there is none,
  // as for arguments that were refused.
  std::string structured;
  // For results without `structured`: what to say instead.
  std::string message;
  // What was asked for did not succeed: the guest failed, or the arguments were wrong. Never our
  // own failure: that is an Error.
  bool is_error = false;
  // In the order in which clients shall see it, after the text.
  std::vector<Content> contents;
};

// As clients see it. The schemas are JSON Schema 2020-12.
struct ToolDescription {
  std::string name;
  std::string title;
  std::string description;
  nlohmann::ordered_json input_schema;
  nlohmann::ordered_json output_schema;
  // Hints of the protocol (ToolAnnotations).
  bool read_only = false;
  bool destructive = false;
  bool idempotent = false;
  bool open_world = false;
};

class Tool {
 public:
  virtual ~Tool() = default;
  virtual const ToolDescription& description() const = 0;
  // Whether a call runs in a worker and may take long; the others are answered on the spot, also
  // by a server that is busy.
  virtual bool uses_worker() const = 0;
  // Blocks; any thread, many at once. An error is our machine's.
  virtual core::Result<ToolResult> Call(const ToolCall& call) = 0;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_TOOL_H_
