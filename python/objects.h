// Objects from Python's C API, and conversions of text.
#ifndef BELLJAR_PYTHON_OBJECTS_H_
#define BELLJAR_PYTHON_OBJECTS_H_

#include <pybind11/pybind11.h>

#include <string_view>

namespace belljar::python {

// Takes a new reference from the C API. Null: throws the exception that it has raised.
inline pybind11::object Owned(PyObject* made) {
  if (!made) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(made);
}

// A str. Bytes that are not UTF-8 become U+FFFD.
inline pybind11::str TextObject(std::string_view utf8) {
  return Owned(PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "replace"));
}

// The text of a str, which owns it. Raises UnicodeEncodeError for a lone surrogate.
inline std::string_view TextView(const pybind11::handle& text) {
  Py_ssize_t size = 0;
  const char* const utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!utf8) throw pybind11::error_already_set();
  return {utf8, static_cast<size_t>(size)};
}

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_OBJECTS_H_
