// RunOptions: what a caller wants of one run besides its request: the output while it runs, calls
// of its functions, and what ends it early.
#ifndef BELLJAR_ENGINE_RUN_RUN_OPTIONS_H_
#define BELLJAR_ENGINE_RUN_RUN_OPTIONS_H_

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "engine/host/deferred_tasks.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"

namespace belljar::run {

// Receives output while the guest runs, on the thread that called Run. Bytes, in order for each
// stream.
struct OutputSink {
  std::function<void(std::string_view)> on_stdout;
  std::function<void(std::string_view)> on_stderr;
};

// Answers a call of one of the request's functions. Called on the thread that called Run, while the
// program waits. Both texts are plain data in JSON form (plain_data.py). `arguments` comes from the
// guest, but is well-formed and bounded in size and depth:
//   {"args": [...], "kwargs": {...}}
// The answer: {"value": ...}, or {"error": {"type": "KeyError", "message": "..."}}, which raises an
// exception in the program. An empty answer means that there is none: the caller has cancelled the
// run, and the program waits for its end; a cell gets a KeyboardInterrupt.
//
// The answer to kAwaitsCalls and kAwaitsCallsUntil (host/request.h): kCallEnded with the number of
// a call that has ended, before its "value" or "error"; or {}, if none has yet: the program asks
// again.
using FunctionCall = std::function<std::string(std::string_view name, std::string_view arguments)>;

inline constexpr std::string_view kCallEnded = R"({"ended":)";

// The answer to a call that no runner makes, such as one of a number that was never given: only an
// attacker in the worker's place does. The run ends as killed.
inline constexpr std::string_view kRefusedCall = "refused";

// What a run has left, for a call that uses some of it. The run writes `time` and `cpu` before each
// call; the call adds to `used`, which counts as the run's own.
struct Allowance {
  std::chrono::milliseconds time{0};
  std::chrono::microseconds cpu{0};
  std::chrono::microseconds used{0};  // CPU time
};

struct RunOptions {
  const OutputSink* sink = nullptr;  // borrowed; null: output only with the outcome
  // Whether the sink also gets the output that is left when the run ends; the outcome has all of it
  // anyway.
  bool sink_gets_the_rest = true;
  int cancel_fd = -1;  // borrowed; kills the run once it is readable
  // Called when a signal handler has run on this thread, and periodically; true kills the run. For
  // callers whose handlers only set a flag, like Python's.
  std::function<bool()> interrupted;
  FunctionCall call;               // of the request's functions
  Allowance* allowance = nullptr;  // borrowed; null: no call uses any
  int interrupt_fd = -1;           // borrowed; of a cell: cancels it too, once it is readable
  int kill_fd = -1;  // borrowed; of a cell: kills it at once, as when its session is closed
  // In a session, a cancelled cell first gets a KeyboardInterrupt, and this time to end with it.
  std::chrono::milliseconds interrupt_grace{2'000};
  // Borrowed. Where ending the worker is deferred to; null: it ends before Run returns. By then the
  // program has ended and everything it could reach is closed, but an attacker that has taken over
  // the worker may still use CPU time.
  host::DeferredTasks* deferred = nullptr;
  // Maximum time to wait for a free worker, before the request's own timeout starts. Longer than a
  // zygote may take to start (SparePoolOptions).
  std::chrono::milliseconds queue_timeout{90'000};
};

// The outcome of a run that was cancelled before it had a worker.
host::Outcome CancelledBefore(const host::Request& request, std::string mode, std::string policy);

}  // namespace belljar::run

#endif  // BELLJAR_ENGINE_RUN_RUN_OPTIONS_H_
