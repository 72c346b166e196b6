// One run for Python: its request, its callbacks and its result.
#ifndef BELLJAR_PYTHON_RUN_H_
#define BELLJAR_PYTHON_RUN_H_

#include <pybind11/pybind11.h>

#include <memory>

#include "python/engine.h"
#include "python/live_session.h"
#include "python/sessions.h"

namespace belljar::python {

// Returns a Result. Releases the GIL during the run, except for callbacks. An exception in a
// callback or a signal handler kills the run and is rethrown. `cancellation` may be null.
// `watches_signals`: this is the thread in which signal handlers run.
pybind11::object Run(Engine& engine, const pybind11::dict& requested, const Canceller* cancellation,
                     bool watches_signals);

// Likewise for a Validation.
pybind11::object Validate(Engine& engine, const pybind11::dict& requested, bool watches_signals);

// Likewise for a cell of a session, which an exception in a callback interrupts (RunOptions).
pybind11::object RunCell(LiveSession& live, const pybind11::dict& requested,
                         const Canceller* cancellation, const TurnRequest& turn);

// Waits for a worker.
// Opens a kernel for the language of `engine` in the session, if it has none, and returns the
// language's name. `requested` is as in OpenSession.
std::string AddKernel(LiveSession& live, const std::shared_ptr<Engine>& engine,
                      const pybind11::dict& requested, bool watches_signals);
std::shared_ptr<LiveSession> OpenSession(const std::shared_ptr<Engine>& engine,
                                         const pybind11::dict& requested, bool watches_signals);

// False: no worker was ready within `seconds`. Signal handlers may raise meanwhile.
bool WaitUntilReady(Engine& engine, double seconds);

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_RUN_H_
