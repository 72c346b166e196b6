// Classifies attribute names that are only known at run time. The compile-time check in
// policy/belljar_policy/transformer.py uses the same tables.
#include <cstddef>
#include <string_view>

#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {

bool IsDunder(PyObject* name) {
  const Py_ssize_t length = PyUnicode_GET_LENGTH(name);
  return length > 4 && PyUnicode_READ_CHAR(name, 0) == '_' && PyUnicode_READ_CHAR(name, 1) == '_' &&
         PyUnicode_READ_CHAR(name, length - 1) == '_' &&
         PyUnicode_READ_CHAR(name, length - 2) == '_';
}

NameKind Classify(PyObject* name) {
  if (!PyUnicode_CheckExact(name)) {
    // A str subclass could lie in startswith() and still reach the real attribute.
    PyErr_Format(PyExc_TypeError, "[BJ306] attribute name must be a plain str, not '%.200s'",
                 Py_TYPE(name)->tp_name);
    return NameKind::kError;
  }
  if (!PyUnicode_IS_ASCII(name)) {
    PyObject* form = PyUnicode_FromString("NFKC");
    if (form == nullptr) return NameKind::kError;
    PyObject* normal = PyObject_CallFunctionObjArgs(state.is_normalized, form, name, nullptr);
    Py_DECREF(form);
    if (normal == nullptr) return NameKind::kError;
    Py_DECREF(normal);
    if (normal != Py_True) {
      PyErr_Format(PyExc_AttributeError, "[BJ306] attribute name %R is not in NFKC form", name);
      return NameKind::kError;
    }
  }
  const int refused = PySet_Contains(state.refused_names, name);
  if (refused != 0) return refused < 0 ? NameKind::kError : NameKind::kRefused;
  if (PyUnicode_GET_LENGTH(name) == 0 || PyUnicode_READ_CHAR(name, 0) != '_') {
    return NameKind::kPublic;
  }
  if (!IsDunder(name)) return NameKind::kPrivate;
  const int native = PySet_Contains(state.native_dunders, name);
  if (native < 0) return NameKind::kError;
  return native != 0 ? NameKind::kNativeDunder : NameKind::kGuardedDunder;
}

std::string_view Text(PyObject* value) {
  if (value == nullptr || !PyUnicode_CheckExact(value)) return {};
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value, &length);
  if (text == nullptr) {
    PyErr_Clear();
    return {};
  }
  return {text, static_cast<size_t>(length)};
}

std::string_view ModuleOf(PyObject* globals) {
  return Text(PyDict_GetItemString(globals, "__name__"));
}

std::string_view TopOf(std::string_view module) { return module.substr(0, module.find('.')); }

bool IsOpenPackage(std::string_view module) {
  if (state.open_packages == nullptr || PySet_GET_SIZE(state.open_packages) == 0) return false;
  const std::string_view top = TopOf(module);
  PyObject* name = PyUnicode_FromStringAndSize(top.data(), static_cast<Py_ssize_t>(top.size()));
  const bool open = name != nullptr && PySet_Contains(state.open_packages, name) == 1;
  if (name == nullptr) PyErr_Clear();
  Py_XDECREF(name);
  return open;
}

const char* RuleOfRefused(PyObject* name) { return IsDunder(name) ? "BJ301" : "BJ303"; }

PyObject* Refuse(const char* rule, PyObject* target, PyObject* name, const char* reason) {
  const bool is_type = PyType_Check(target);
  const PyTypeObject* type = is_type ? reinterpret_cast<PyTypeObject*>(target) : Py_TYPE(target);
  PyErr_Format(PyExc_AttributeError, "[%s] attribute %R of %s'%.200s'%s %s", rule, name,
               is_type ? "class " : "", type->tp_name, is_type ? "" : " object", reason);
  return nullptr;
}

}  // namespace belljar::inside::guards
