// `__class__` of a mock: Mock(spec=Account()) passes isinstance(mock, Account). No class of a
// program may define `__class__`, because library code believes isinstance(). A mock reports only
// classes that a program could have derived from: then isinstance() was never a proof of anything
// but what the program chose to show. A metaclass is not reported: what derives from one is a class
// indeed, and code relies on that.
#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {
namespace {

struct Report {
  PyObject_HEAD
};

bool MayBeReported(PyObject* object) {
  if (!PyType_Check(object)) return false;
  PyTypeObject* type = AsType(object);
  if (PyType_IsSubtype(type, &PyType_Type)) return false;
  return IsGuestClass(type) || (type->tp_flags & kSubclassable) != 0 || IsOpenPackageType(type);
}

PyObject* ReportGet(PyObject* object, PyObject* target, PyObject* /*type*/) {
  static PyObject* const name = PyUnicode_InternFromString("_spec_class");
  if (target == nullptr) return Py_NewRef(object);
  PyObject* names =
      IsGuestClass(Py_TYPE(target)) ? PyObject_GenericGetDict(target, nullptr) : nullptr;
  PyErr_Clear();  // an instance without a __dict__
  PyObject* found = nullptr;
  if (names != nullptr && name != nullptr) found = PyDict_GetItemWithError(names, name);
  const bool reported = found != nullptr && MayBeReported(found);
  if (reported) Py_INCREF(found);
  Py_XDECREF(names);
  if (reported) return found;
  if (PyErr_Occurred()) return nullptr;
  return Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(target)));
}

// A data descriptor, so that no entry of the instance's __dict__ comes before it.
int ReportSet(PyObject* /*object*/, PyObject* target, PyObject* /*value*/) {
  PyErr_Format(PyExc_AttributeError, "[BJ304] the class of '%.200s' object may not be set",
               Py_TYPE(target)->tp_name);
  return -1;
}

PyTypeObject report_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "getset_descriptor",
    .tp_basicsize = sizeof(Report),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_descr_get = ReportGet,
    .tp_descr_set = ReportSet,
};

// report_class(cls): instances of the guest's class report their `_spec_class`. For unittest.mock,
// see PatchModule in proxy.cc.
PyObject* ReportClass(PyObject* /*module*/, PyObject* cls) {
  if (!PyType_Check(cls) || !IsGuestClass(AsType(cls)) ||
      PyType_IsSubtype(AsType(cls), &PyType_Type)) {
    PyErr_SetString(PyExc_TypeError, "report_class() takes a class of the program");
    return nullptr;
  }
  PyObject* made = reinterpret_cast<PyObject*>(PyObject_New(Report, &report_type));
  if (made == nullptr) return nullptr;
  // Not as an attribute: that would be the class of the class.
  const int set = PyDict_SetItemString(TypeDict(AsType(cls)), "__class__", made);
  Py_DECREF(made);
  if (set < 0) return nullptr;
  PyType_Modified(AsType(cls));
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef class_report_methods[] = {
    {"report_class", ReportClass, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

bool ReadyClassReport() { return PyType_Ready(&report_type) == 0; }

}  // namespace belljar::inside::guards
