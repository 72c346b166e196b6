// except* and exception groups (CVE-2025-22153).
//
// CPython before 3.13.2 trusts the return value of an exception group's split(): `except*` assumes
// a pair of exceptions, so a class with a false split() causes type confusion in C. What remains of
// a group after one clause goes to the next one, and may have been made by the guest's derive(). So
// `except*` is entered only with a group that runs no guest code when it is split: it and all
// nested groups are of the interpreter's two classes. Neither a subclass (the type is compared
// exactly) nor an instance attribute (both methods are data descriptors since the freeze, see
// hardening.cc) can hide their split and derive. Groups are immutable, so one check is enough:
// splitting such a group yields such groups.
#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {
namespace {

PyTypeObject* base_group_type = nullptr;
PyTypeObject* group_type = nullptr;

bool IsPlainTree(PyObject* exception) {
  PyTypeObject* type = Py_TYPE(exception);
  if (!PyType_IsSubtype(type, base_group_type)) return true;
  if (type != base_group_type && type != group_type) {
    PyErr_Format(PyExc_TypeError,
                 "[BJ402] except* takes groups of the class ExceptionGroup or BaseExceptionGroup "
                 "only, not '%.200s'; catch it with except and look at its .exceptions",
                 type->tp_name);
    return false;
  }
  if (Py_EnterRecursiveCall(" in except*") != 0) return false;
  PyObject* inner = reinterpret_cast<PyBaseExceptionGroupObject*>(exception)->excs;
  bool fine = true;
  for (Py_ssize_t i = 0; fine && i < PyTuple_GET_SIZE(inner); ++i) {
    fine = IsPlainTree(PyTuple_GET_ITEM(inner, i));
  }
  Py_LeaveRecursiveCall();
  return fine;
}

// The transformer writes `except* @plain_group() or T:` in the first clause, so this runs on the
// raised exception before any expression of the guest.
PyObject* PlainGroup(PyObject* /*module*/, PyObject* /*unused*/) {
  PyObject* raised = PyErr_GetHandledException();
  if (raised == nullptr || raised == Py_None) {
    Py_XDECREF(raised);
    PyErr_SetString(PyExc_TypeError, "[BJ402] except* has nothing to catch");
    return nullptr;
  }
  const bool fine = IsPlainTree(raised);
  Py_DECREF(raised);
  if (!fine) return nullptr;
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef group_methods[] = {
    {"plain_group", PlainGroup, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

bool ReadyGroups() {
  base_group_type = reinterpret_cast<PyTypeObject*>(PyExc_BaseExceptionGroup);
  PyObject* builtins = PyImport_ImportModule("builtins");
  if (builtins == nullptr) return false;
  // CPython exports no C symbol for it.
  PyObject* group = PyObject_GetAttrString(builtins, "ExceptionGroup");
  Py_DECREF(builtins);
  group_type = reinterpret_cast<PyTypeObject*>(group);  // kept forever
  return group != nullptr && PyType_Check(group);
}

}  // namespace belljar::inside::guards
