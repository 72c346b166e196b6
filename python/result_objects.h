// An Outcome as the objects that the package returns: the frozen dataclasses of belljar/_result.py.
// Every text in it may be the guest's: bytes that are not UTF-8 become U+FFFD, nothing is
// evaluated.
#ifndef BELLJAR_PYTHON_RESULT_OBJECTS_H_
#define BELLJAR_PYTHON_RESULT_OBJECTS_H_

#include <pybind11/pybind11.h>

#include "engine/host/outcome.h"

namespace belljar::python {

// The modules belljar._result and belljar._plain, before anything is made.
void KnowResults(const pybind11::module_& results, const pybind11::module_& plain);

// A Result.
pybind11::object ResultObject(const host::Outcome& outcome);

// A Validation, of a request that was validated.
pybind11::object ValidationObject(const host::Outcome& outcome);

// What the tables say of the dataclasses: of each, by field, its annotation and its meaning.
pybind11::dict ResultFields();

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_RESULT_OBJECTS_H_
