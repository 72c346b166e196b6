// Backend: where a request runs. The local backend forks sealed workers. The container backend runs
// the same workers inside a container (container/backend). Same request, same outcome.
#ifndef BELLJAR_ENGINE_OUTSIDE_BACKEND_H_
#define BELLJAR_ENGINE_OUTSIDE_BACKEND_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/host/deferred_tasks.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"

namespace belljar::outside {

// Receives output while the guest runs, on the thread that called Run. Bytes, in order for each
// stream.
struct OutputSink {
  std::function<void(std::string_view)> on_stdout;
  std::function<void(std::string_view)> on_stderr;
};

// Takes over the connections to a worker's egress proxy for one run, instead of this process's own
// proxy. Called before the guest runs; if it fails, the run fails. An empty `listener` means that
// the workers are in this process's network namespace, and its listener is already there.
using EgressHandler = std::function<core::Result<void>(core::UniqueFd listener)>;

// Answers a call of one of the request's functions. Called on the thread that called Run, while the
// program waits. Both texts are plain data in JSON form (plain_data.py). `arguments` comes from the
// guest, but is well-formed and bounded in size and depth:
//   {"args": [...], "kwargs": {...}}
// The answer: {"value": ...}, or {"error": {"type": "KeyError", "message": "..."}}, which raises an
// exception in the program. An empty answer means that the caller has cancelled the run: the
// program waits for its end, or, in a cell, gets a KeyboardInterrupt.
using FunctionCall = std::function<std::string(std::string_view name, std::string_view arguments)>;

struct RunOptions {
  const OutputSink* sink = nullptr;  // borrowed; null: output only with the outcome
  // Whether the sink also gets output that is left when the run ends; the outcome contains it
  // anyway.
  bool sink_gets_the_rest = true;
  int cancel_fd = -1;  // borrowed; kills the run once it is readable
  // Called when a signal handler has run on this thread, and periodically; true kills the run. For
  // callers whose handlers only set a flag, like Python's.
  std::function<bool()> interrupted;
  FunctionCall call;      // for calls of the request's functions
  int interrupt_fd = -1;  // borrowed; for a cell: also cancels it, once it is readable
  int kill_fd = -1;       // borrowed; for a cell: kills it at once, as when its session is closed
  // In a session, a cancelled cell first gets a KeyboardInterrupt, and this much time to end.
  std::chrono::milliseconds interrupt_grace{2'000};
  // Borrowed. Defers the ending of the worker; null: it ends before Run returns. By then the
  // program has ended and everything it could reach is closed, but an attacker that has taken over
  // the worker may still use CPU time.
  host::DeferredTasks* deferred = nullptr;
  // Maximum time to wait for a free worker, before the request's own timeout starts. Longer than a
  // zygote may take to start (SparePoolOptions).
  std::chrono::milliseconds queue_timeout{90'000};
};

// The outcome of a run that was cancelled before it got a worker.
host::Outcome CancelledBefore(const host::Request& request, std::string mode, std::string language);

class Session;
struct SessionOptions;

class Backend {
 public:
  virtual ~Backend() = default;
  // Blocks. Any thread, concurrently. The limits of `request` are final: the facade has checked
  // them against the profile.
  virtual core::Result<host::Outcome> Run(const host::Request& request,
                                          const RunOptions& options) = 0;

  // Opens a session (session.h), whose limits are final. It is closed with the backend, by which
  // time none of its calls may be running. Uses only those parts of `run` that concern waiting for
  // a worker.
  virtual core::Result<std::shared_ptr<Session>> OpenSession(const SessionOptions& options,
                                                             const RunOptions& run) = 0;

  // Waits until a worker or container is ready for the next Run. The error says why there is none;
  // ETIMEDOUT: not yet. The backend must outlive the call.
  virtual core::Result<void> WaitForSpare(core::Deadline deadline) = 0;

  struct Counters {
    uint64_t zygotes_started = 0;
    uint64_t workers_spawned = 0;  // or containers started
    size_t waiting = 0;            // workers that are ready, whichever program comes next
    pid_t zygote_pid = -1;         // -1: none, or not on this machine
    pid_t light_zygote_pid = -1;   // by a second zygote, see light_backend.h
  };
  virtual Counters counters() const = 0;
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_BACKEND_H_
