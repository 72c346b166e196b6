// One run, asked for from Python: request in, result out, and the callbacks between.
#ifndef BELLJAR_PYTHON_RUN_H_
#define BELLJAR_PYTHON_RUN_H_

#include <pybind11/pybind11.h>

#include "python/engine.h"

namespace belljar::python {

// A Result. The GIL is held while it is made, and by callbacks. An exception of a callback's, or of
// a signal's handler, kills the run and is thrown on. `cancellation` may be null. Signals are for
// the thread that their handlers run in to watch.
pybind11::object Run(Engine& engine, const pybind11::dict& requested,
                     const Cancellation* cancellation, bool watches_signals);

// A Validation, in the same way.
pybind11::object Validate(Engine& engine, const pybind11::dict& requested, bool watches_signals);

// Until a worker waits, or `seconds` have passed: then false. A signal's handler may raise
// meanwhile.
bool WaitUntilReady(Engine& engine, double seconds);

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_RUN_H_
