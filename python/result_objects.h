// Converts an Outcome to the objects that the package returns, the frozen dataclasses of
// belljar/_result.py. Any text may be the guest's: bytes that are not UTF-8 become U+FFFD, and
// nothing is evaluated.
#ifndef BELLJAR_PYTHON_RESULT_OBJECTS_H_
#define BELLJAR_PYTHON_RESULT_OBJECTS_H_

#include <pybind11/pybind11.h>

#include "engine/host/outcome.h"

namespace belljar::python {

// Registers belljar._result and belljar._plain. Call it before anything else here.
void RegisterResults(const pybind11::module_& results, const pybind11::module_& plain);

// A Result.
pybind11::object ResultObject(const host::Outcome& outcome);

// A Validation, from the outcome of a request in mode kValidate.
pybind11::object ValidationObject(const host::Outcome& outcome);

// What the tables say about the dataclasses: class -> field -> annotation and meaning.
pybind11::dict ResultFields();

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_RESULT_OBJECTS_H_
