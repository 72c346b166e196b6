// The texts for models (engine/host/answer.h), from the package's objects.
#ifndef BELLJAR_PYTHON_ANSWER_OBJECTS_H_
#define BELLJAR_PYTHON_ANSWER_OBJECTS_H_

#include <pybind11/pybind11.h>

#include <cstddef>

namespace belljar::python {

// `result`: a Result. `json`: its value as JSON if it is plain data whose repr was cut, otherwise
// None.
pybind11::str AnswerText(const pybind11::object& result, const pybind11::object& json,
                         size_t characters);

// Only the section about the failure.
pybind11::str FailureText(const pybind11::object& result, size_t characters);

pybind11::str ProgramText(const pybind11::str& text, size_t characters);

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_ANSWER_OBJECTS_H_
