// What Python does with a session, but for its cells (run.h). All with the GIL, and let go of it
// meanwhile.
#ifndef BELLJAR_PYTHON_SESSIONS_H_
#define BELLJAR_PYTHON_SESSIONS_H_

#include <pybind11/pybind11.h>

#include <chrono>
#include <cstdint>
#include <memory>

#include "engine/core/result.h"
#include "engine/outside/session.h"
#include "python/live_session.h"

namespace belljar::python {

// How long a call waits for the session's turn, and whether it looks after signals meanwhile, as
// the thread must that their handlers run in.
struct TurnRequest {
  int64_t milliseconds = 0;
  bool watches_signals = false;

  outside::Patience patience() const {
    return {.waits = true, .at_most = std::chrono::milliseconds(milliseconds)};
  }
};

// Throws unless the session is open, is this process's, and does not wait for this very call.
void CheckUsable(const LiveSession& session);
// Throws what `error` means for a user of the session.
[[noreturn]] void ThrowSessionError(const LiveSession& session, const core::Error& error);
// That the engine has been closed, and the session with it.
[[noreturn]] void ThrowSandboxClosed();

// What Python holds: closes it when it is dropped.
std::shared_ptr<LiveSession> HoldSession(std::shared_ptr<Engine> engine,
                                         std::shared_ptr<outside::Session> session,
                                         core::RequestedLimits limits);

// Adds the class Session, and its methods, to belljar._host.
void DefineSessions(pybind11::module_& module);

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_SESSIONS_H_
