// The operations on sessions for Python, except cells (run.h). Called with the GIL, which they
// release while they wait.
#ifndef BELLJAR_PYTHON_SESSIONS_H_
#define BELLJAR_PYTHON_SESSIONS_H_

#include <pybind11/pybind11.h>

#include <chrono>
#include <cstdint>
#include <memory>

#include "engine/core/result.h"
#include "engine/sessions/session.h"
#include "python/live_session.h"

namespace belljar::python {

// How long a call waits for the session's turn, and whether it checks for signals meanwhile, as the
// thread must in which signal handlers run.
struct TurnRequest {
  int64_t milliseconds = 0;
  bool watches_signals = false;

  sessions::Patience patience() const {
    return {.waits = true, .at_most = std::chrono::milliseconds(milliseconds)};
  }
};

// Throws if the session is closed, belongs to another process, or is waiting for this very call.
void CheckUsable(const LiveSession& session);
// Throws the exception that represents `error` to a user of the session.
[[noreturn]] void ThrowSessionError(const LiveSession& session, const core::Error& error);
// Throws that the engine, and with it the session, has been closed.
[[noreturn]] void ThrowSandboxClosed();

// The object that Python holds. Closes the session when it is dropped.
std::shared_ptr<LiveSession> HoldSession(std::shared_ptr<Engine> engine,
                                         std::shared_ptr<sessions::Session> session,
                                         core::RequestedLimits limits);

// Adds the classes LiveSession and Turn, and functions that use them, to belljar._host.
void DefineSessions(pybind11::module_& module);

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_SESSIONS_H_
