// Backend: where a request runs. The local one forks sealed workers; that of containers puts the
// same worker behind one wall more (container/backend). Same request, same outcome.
#ifndef BELLJAR_ENGINE_OUTSIDE_BACKEND_H_
#define BELLJAR_ENGINE_OUTSIDE_BACKEND_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/host/deferred_tasks.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"

namespace belljar::outside {

// Receives output while the guest runs, on the thread that called Run. Bytes, in order per stream.
struct OutputSink {
  std::function<void(std::string_view)> on_stdout;
  std::function<void(std::string_view)> on_stderr;
};

// Takes the connections to a worker's egress proxy for one run, in place of this process's own
// proxy, and is called before the guest runs; without it there is no run. An empty `listener`: the
// workers are in this process's network namespace, and what listens there is already its own.
using EgressKeeper = std::function<core::Result<void>(core::UniqueFd listener)>;

// Answers a call of one of the request's functions, and is called on the thread that called Run,
// while the program waits. What is said there is plain data in its JSON form (plain_data.py);
// `arguments` is the guest's word, of bounded size and depth and well-formed:
//   {"args": [...], "kwargs": {...}}
// The answer: {"value": ...}, or {"error": {"type": "KeyError", "message": "..."}}, which the
// program gets as an exception. Empty: there is none, and the program waits for the end of its run,
// which whoever has none to give has cancelled.
using FunctionCall = std::function<std::string(std::string_view name, std::string_view arguments)>;

struct RunOptions {
  const OutputSink* sink = nullptr;  // borrowed; null: output comes with the outcome only
  // Whether the sink also gets what is left when the run is over; the outcome has all of it anyway.
  bool sink_gets_the_rest = true;
  int cancel_fd = -1;  // borrowed; becoming readable kills the run
  // Asked when a signal's handler has run on this thread, and now and then; true kills the run. For
  // callers whose handlers only leave a note, as Python's do.
  std::function<bool()> interrupted;
  FunctionCall call;  // of the request's functions
  // Borrowed: where the end of the worker is left to; null: it ends before Run returns. By then the
  // program has ended, and all that it could reach is closed; somebody who has taken the worker
  // over may still use its processor.
  host::DeferredTasks* deferred = nullptr;
  // How long to wait for a free worker, before the request's own time begins.
  std::chrono::milliseconds queue_timeout{30'000};
};

// The outcome of a run that was cancelled before it had a worker.
host::Outcome CancelledBefore(const host::Request& request, std::string mode, std::string language);

class Backend {
 public:
  virtual ~Backend() = default;
  // Blocks; any thread, many at once. The limits of `request` are final: the facade has checked
  // them against the profile.
  virtual core::Result<host::Outcome> Run(const host::Request& request,
                                          const RunOptions& options) = 0;

  // Until the next Run will find what it runs in waiting; the error says why there is none,
  // ETIMEDOUT that there is none yet. The backend outlives the call.
  virtual core::Result<void> WaitForSpare(core::Deadline deadline) = 0;

  struct Counters {
    uint64_t zygotes_started = 0;
    uint64_t workers_spawned = 0;  // or containers started
    size_t waiting = 0;
    pid_t zygote_pid = -1;  // -1: there is none, or it is not this machine's
  };
  virtual Counters counters() const = 0;
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_BACKEND_H_
