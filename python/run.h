// One run, asked for from Python: request in, result out, and the callbacks between.
#ifndef BELLJAR_PYTHON_RUN_H_
#define BELLJAR_PYTHON_RUN_H_

#include <pybind11/pybind11.h>

#include <memory>

#include "python/engine.h"
#include "python/live_session.h"
#include "python/sessions.h"

namespace belljar::python {

// A Result. The GIL is held while it is made, and by callbacks. An exception of a callback's, or of
// a signal's handler, kills the run and is thrown on. `cancellation` may be null. Signals are for
// the thread that their handlers run in to watch.
pybind11::object Run(Engine& engine, const pybind11::dict& requested,
                     const Cancellation* cancellation, bool watches_signals);

// A Validation, in the same way.
pybind11::object Validate(Engine& engine, const pybind11::dict& requested, bool watches_signals);

// A cell of a session, in the same way; a callback's exception interrupts it (RunOptions).
pybind11::object RunCell(LiveSession& live, const pybind11::dict& requested,
                         const Cancellation* cancellation, const TurnRequest& turn);

// Waits for a worker.
std::shared_ptr<LiveSession> OpenSession(const std::shared_ptr<Engine>& engine,
                                         const pybind11::dict& requested, bool watches_signals);

// Until a worker waits, or `seconds` have passed: then false. A signal's handler may raise
// meanwhile.
bool WaitUntilReady(Engine& engine, double seconds);

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_RUN_H_
