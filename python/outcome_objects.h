// An Outcome as objects of Python's: a dict of plain ones, which _result.py makes a Result of.
// Every text in it may be the guest's: bytes that are not UTF-8 become U+FFFD, nothing is
// evaluated.
#ifndef BELLJAR_PYTHON_OUTCOME_OBJECTS_H_
#define BELLJAR_PYTHON_OUTCOME_OBJECTS_H_

#include <pybind11/pybind11.h>

#include <string_view>

#include "engine/core/outcome.h"

namespace belljar::python {

pybind11::str TextObject(std::string_view utf8);

pybind11::dict OutcomeObject(const Outcome& outcome);

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_OUTCOME_OBJECTS_H_
