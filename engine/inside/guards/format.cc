// str.format and str.format_map, replaced in `str` itself at the freeze.
//
// Replacing the methods in the type covers every access to them: ''.format, str.format,
// map(str.format, ...), a class pattern `case str(format=f)`, a dataclass field named format on a
// subclass of str. Guarding only the attribute name did not cover the last two.
//
// A template is parsed with the interpreter's own parser, and its field names and nested
// specifications are checked. The original method then runs on the same (immutable) string.
#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {
namespace {

PyObject* original_format = nullptr;  // method descriptors of `str`
PyObject* original_format_map = nullptr;

bool CheckTemplate(PyObject* text, int depth);

bool CheckFieldName(PyObject* field) {
  PyObject* split = PyObject_CallOneArg(state.field_name_split, field);
  if (split == nullptr) return false;
  PyObject* parts = Py_NewRef(PyTuple_GET_ITEM(split, 1));
  Py_DECREF(split);
  bool fine = true;
  // One at a time: format() looks each field up before it reaches a malformed one.
  while (fine) {
    PyObject* part = PyIter_Next(parts);
    if (part == nullptr) {
      fine = !PyErr_Occurred();
      break;
    }
    PyObject* name = PyTuple_GET_ITEM(part, 1);
    const NameKind kind =
        PyTuple_GET_ITEM(part, 0) == Py_True ? Classify(name) : NameKind::kPublic;  // else an item
    if (kind == NameKind::kError) {
      fine = false;
    } else if (kind != NameKind::kPublic && kind != NameKind::kNativeDunder) {
      PyErr_Format(PyExc_AttributeError,
                   "[BJ308] attribute %R may not be used in a format string; use an f-string",
                   name);
      fine = false;
    }
    Py_DECREF(part);
  }
  Py_DECREF(parts);
  return fine;
}

bool CheckTemplate(PyObject* text, int depth) {
  if (depth > 4) return true;  // the interpreter stops at two
  PyObject* parsed = PyObject_CallOneArg(state.formatter_parser, text);
  if (parsed == nullptr) return false;
  bool fine = true;
  while (fine) {
    PyObject* piece = PyIter_Next(parsed);
    if (piece == nullptr) {
      fine = !PyErr_Occurred();
      break;
    }
    PyObject* field = PyTuple_GET_ITEM(piece, 1);
    PyObject* spec = PyTuple_GET_ITEM(piece, 2);
    if (field != Py_None) fine = CheckFieldName(field);
    if (fine && spec != Py_None && PyUnicode_GET_LENGTH(spec) != 0) {
      fine = CheckTemplate(spec, depth + 1);
    }
    Py_DECREF(piece);
  }
  Py_DECREF(parsed);
  return fine;
}

bool CheckFormat(PyObject* self) {
  // Non-public names contain an underscore, and an attribute access contains a dot.
  const Py_ssize_t length = PyUnicode_GET_LENGTH(self);
  if (PyUnicode_FindChar(self, '.', 0, length, 1) < 0 ||
      PyUnicode_FindChar(self, '_', 0, length, 1) < 0) {
    return true;
  }
  PyObject* text = PyUnicode_FromObject(self);  // an exact str
  if (text == nullptr) return false;
  bool fine = CheckTemplate(text, 0);
  if (!fine && PyErr_ExceptionMatches(PyExc_ValueError)) {
    PyErr_Clear();  // malformed: the original raises its own error
    fine = true;
  }
  Py_DECREF(text);
  return fine;
}

PyObject* Format(PyObject* self, PyObject* args, PyObject* kwargs) {
  if (!CheckFormat(self)) return nullptr;
  const NameLoadScope now;
  auto* method = reinterpret_cast<PyMethodDescrObject*>(original_format)->d_method;
  return reinterpret_cast<PyCFunctionWithKeywords>(reinterpret_cast<void*>(method->ml_meth))(
      self, args, kwargs);
}

PyObject* FormatMap(PyObject* self, PyObject* mapping) {
  if (!CheckFormat(self)) return nullptr;
  const NameLoadScope now;
  return reinterpret_cast<PyMethodDescrObject*>(original_format_map)
      ->d_method->ml_meth(self, mapping);
}

PyMethodDef format_methods[] = {
    {"format", AsPyCFunction(Format), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"format_map", FormatMap, METH_O, nullptr},
};

bool Replace(PyMethodDef* method, int flags, PyObject** original) {
  PyObject* names = TypeDict(&PyUnicode_Type);
  PyObject* old = PyDict_GetItemString(names, method->ml_name);
  if (old == nullptr || Py_TYPE(old) != &PyMethodDescr_Type ||
      reinterpret_cast<PyMethodDescrObject*>(old)->d_method->ml_flags != flags) {
    PyErr_Format(PyExc_RuntimeError, "str.%s is not what this build knows", method->ml_name);
    return false;
  }
  *original = Py_NewRef(old);
  method->ml_doc = reinterpret_cast<PyMethodDescrObject*>(old)->d_method->ml_doc;
  PyObject* descriptor = PyDescr_NewMethod(&PyUnicode_Type, method);
  const bool fine =
      descriptor != nullptr && PyDict_SetItemString(names, method->ml_name, descriptor) == 0;
  Py_XDECREF(descriptor);
  return fine;
}

}  // namespace

bool InstallFormatGuards() {
  const bool fine = Replace(&format_methods[0], METH_VARARGS | METH_KEYWORDS, &original_format) &&
                    Replace(&format_methods[1], METH_O, &original_format_map);
  PyType_Modified(&PyUnicode_Type);
  return fine;
}

}  // namespace belljar::inside::guards
