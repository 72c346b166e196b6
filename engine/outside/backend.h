// Backend: where a request runs. The local one forks sealed workers; a container one will put the
// same worker behind another kernel. Same request, same outcome.
#ifndef BELLJAR_ENGINE_OUTSIDE_BACKEND_H_
#define BELLJAR_ENGINE_OUTSIDE_BACKEND_H_

#include <chrono>
#include <functional>
#include <string_view>

#include "engine/core/afterwards.h"
#include "engine/core/outcome.h"
#include "engine/core/request.h"
#include "engine/core/result.h"

namespace belljar {

// Receives output while the guest runs, on the thread that called Run. Bytes, in order per stream.
struct OutputSink {
  std::function<void(std::string_view)> on_stdout;
  std::function<void(std::string_view)> on_stderr;
};

struct RunOptions {
  const OutputSink* sink = nullptr;  // borrowed; null: output comes with the outcome only
  // Whether the sink also gets what is left when the run is over; the outcome has all of it anyway.
  bool sink_gets_the_rest = true;
  int cancel_fd = -1;  // borrowed; becoming readable kills the run
  // Borrowed: where the end of the worker is left to; null: it ends before Run returns. Either way
  // the guest has nothing left to run by then, or has been killed.
  Afterwards* afterwards = nullptr;
  // How long to wait for a free worker, before the request's own time begins.
  std::chrono::milliseconds queue_timeout{30'000};
};

class Backend {
 public:
  virtual ~Backend() = default;
  // Blocks; any thread, many at once. The limits of `request` are final: the facade has checked
  // them against the profile.
  virtual Result<Outcome> Run(const Request& request, const RunOptions& options) = 0;
};

}  // namespace belljar

#endif  // BELLJAR_ENGINE_OUTSIDE_BACKEND_H_
