// Tool: one tool that clients can call. It knows the sandbox, but not how calls arrive.
#ifndef BELLJAR_SERVER_CALLS_TOOL_H_
#define BELLJAR_SERVER_CALLS_TOOL_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/host/deferred_tasks.h"
#include "engine/host/outcome.h"
#include "server/core/caller.h"
#include "server/core/cancellation.h"
#include "server/core/content.h"

namespace belljar::server {

class ObservedExecution;

// Asks whoever made a call for a line of the program's input, without its line end, and blocks
// until it is there; nullopt: there is no more. `prompt` is the program's, safe to display.
using AskForLine = std::function<std::optional<std::string>(const std::string& prompt)>;

// Gets the output of a command while it runs, for protocols that keep its streams apart. Called on
// the thread of the call.
struct CommandSink {
  std::function<void(uint64_t command)> on_start;
  // May wait for its reader. False: nobody wants more, and the command is killed.
  std::function<bool(bool is_errors, std::string_view bytes)> on_piece;
};

struct ToolCall {
  // What the caller reads of an outcome. Nothing else is made of it. For tools that run code; the
  // results of others have one form.
  enum class Form {
    kAnswer,      // both `structured` and `text`
    kStructured,  // `structured`
    kOutcome,     // `outcome`
  };

  nlohmann::json arguments;  // as sent by the client: any JSON value; null: none were sent
  Caller caller;
  // For clients that have no argument `profile`: the operator's setting in its place. Empty: they
  // have it.
  std::string profile_setting;
  // Receives the guest's output while it runs, in whole UTF-8 characters, on the thread of the
  // call; may be empty. Must not block.
  std::function<void(std::string_view)> on_output;
  // Whether on_output also gets what is left when the run ends; the result has all of it anyway.
  bool streams_all = false;
  // Receives what the call is waiting for before it runs, on the thread of the call; may be empty.
  // Must not block.
  std::function<void(std::string_view)> on_status;
  std::optional<CommandSink> command_sink;  // for a tool that runs commands
  AskForLine ask_for_line;                  // on the thread of the call; empty: nobody can be asked
  std::shared_ptr<Cancellation> cancellation;  // null: it cannot be cancelled
  std::string traceparent;   // the client's (W3C Trace Context), unchecked; may be empty
  std::string execution_id;  // of a job, under which it was submitted; empty: generate one
  // CPU time limit, for protocols that have a separate one; nullopt: the timeout is both.
  std::optional<std::chrono::milliseconds> cpu_limit;
  // Likewise, the time limit of compiling; nullopt: the language's.
  std::optional<std::chrono::milliseconds> compile_limit;
  Form form = Form::kAnswer;
  // Set by Calls for the tool. Runs work after the client has been answered; null: all work is done
  // before Call returns.
  host::DeferredTasks* deferred = nullptr;
  // Borrowed until the deferred work is done: receives the reports on the call; null: none.
  ObservedExecution* execution = nullptr;
};

struct ToolResult {
  // Why a call has no result of its code, for protocols that distinguish such failures.
  enum class Fault {
    kNone,         // it has one
    kArguments,    // the arguments were invalid
    kNotFound,     // something that they name does not exist
    kConflict,     // wrong state: a session is busy, closed, or has no such checkpoint
    kUnavailable,  // the server could not run it, now or ever
  };

  // A JSON object as text, as described by the tool's output schema; empty if there is none, for
  // example when the arguments were rejected.
  std::string structured;
  // What a model reads. Empty: the same as `structured`.
  std::string text;
  // The call failed: the guest failed, or the arguments were invalid. Belljar's own failures are
  // reported as an Error instead.
  bool is_error = false;
  Fault fault = Fault::kNone;
  // In the order in which clients see it, after the text.
  std::vector<Content> contents;
  // What the code did, for callers that asked for this form: `contents` has the artifacts' bytes.
  // Null: there is no outcome, or it has another form.
  std::shared_ptr<const host::Outcome> outcome;
  std::string session;  // its id, of one that the tool opened; else empty
};

// The tool as clients see it. The schemas are JSON Schema 2020-12.
struct ToolDescription {
  std::string name;
  std::string title;
  std::string description;
  nlohmann::ordered_json input_schema;
  nlohmann::ordered_json output_schema;  // null: its results are text alone
  // Protocol hints (ToolAnnotations).
  bool read_only = false;
  bool destructive = false;
  bool idempotent = false;
  bool open_world = false;
};

class Tool {
 public:
  virtual ~Tool() = default;
  virtual const ToolDescription& description() const = 0;
  // Whether a call runs in a worker and may take long; other calls are answered at once, even when
  // the server is busy.
  virtual bool uses_worker() const = 0;
  // Whether a call is an execution, with an id (execution.h).
  virtual bool runs_code() const { return false; }
  // The same for one call, of tools whose calls differ.
  virtual bool UsesWorker(const ToolCall& call) const {
    (void)call;
    return uses_worker();
  }
  virtual bool RunsCode(const ToolCall& call) const {
    (void)call;
    return runs_code();
  }
  // Blocks; any thread, concurrently. What the caller can retry is a result; an error is something
  // that no caller can act upon.
  virtual core::Result<ToolResult> Call(const ToolCall& call) = 0;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CALLS_TOOL_H_
