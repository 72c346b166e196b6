// Reads plain data (defined in _plain.py) from its JSON form, which a hostile worker may have
// written.
#ifndef BELLJAR_PYTHON_PLAIN_DATA_H_
#define BELLJAR_PYTHON_PLAIN_DATA_H_

#include <pybind11/pybind11.h>

#include <string_view>

namespace belljar::python {

// `tagged` is called with each object that has a key beginning with "$", and returns the value that
// the object stands for. Time and memory are proportional to the text, plus what `tagged` takes.
// Throws pybind11::value_error if the text is malformed, and what `tagged` raises.
pybind11::object ReadPlain(std::string_view json, const pybind11::function& tagged);

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_PLAIN_DATA_H_
