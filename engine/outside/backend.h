// Backend: where a request runs. The local backend forks sealed workers. The container backend runs
// the same workers inside a container (container/backend). Same request, same outcome.
#ifndef BELLJAR_ENGINE_OUTSIDE_BACKEND_H_
#define BELLJAR_ENGINE_OUTSIDE_BACKEND_H_

#include <memory>

#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/pool/counters.h"
#include "engine/run/run_options.h"

namespace belljar::sessions {
class Session;
struct SessionOptions;
}  // namespace belljar::sessions

namespace belljar::outside {

class Backend {
 public:
  virtual ~Backend() = default;
  // Blocks. Any thread, concurrently. The limits of `request` are final: the facade has checked
  // them against the profile.
  virtual core::Result<host::Outcome> Run(const host::Request& request,
                                          const run::RunOptions& options) = 0;

  // Whether Run would not wait for a zygote that is still loading.
  virtual bool RunsEarly(const host::Request&) const { return false; }

  // Opens a session (session.h), whose limits are final. It is closed with the backend, by which
  // time none of its calls may be running. Uses only those parts of `run` that concern waiting for
  // a worker.
  virtual core::Result<std::shared_ptr<sessions::Session>> OpenSession(
      const sessions::SessionOptions& options, const run::RunOptions& run) = 0;

  // Waits until a worker or container is ready for the next Run. The error says why there is none;
  // ETIMEDOUT: not yet. The backend must outlive the call.
  virtual core::Result<void> WaitForSpare(core::Deadline deadline) = 0;

  using Counters = pool::Counters;
  virtual Counters counters() const = 0;
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_BACKEND_H_
