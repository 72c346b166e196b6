// One run, asked for from Python: request in, outcome out, and the callbacks between.
#ifndef BELLJAR_PYTHON_RUN_H_
#define BELLJAR_PYTHON_RUN_H_

#include <pybind11/pybind11.h>

#include "python/engine.h"

namespace belljar::python {

// What `finish` makes of the outcome. The GIL is held by it and by callbacks alone. An exception of
// a callback's, or of a signal's handler, kills the run and is thrown on. `cancellation` may be
// null.
pybind11::object Run(Engine& engine, const Cancellation* cancellation, const pybind11::dict& asked,
                     const pybind11::function& finish);

// Until a worker waits, or `seconds` have passed: then false. A signal's handler may raise
// meanwhile.
bool WaitUntilReady(Engine& engine, double seconds, bool watches_signals);

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_RUN_H_
