// Called by guest code: the hooks that the transformer inserts, and the builtins that take a name
// (getattr and others). The decisions are in attributes.cc.
//
// Hooks that the transformer puts around a target (the attribute access itself stays native
// bytecode):
//   @private(o)._x      -> o itself when its class is pure, else a View that checks `_x`
//   @dunder(o).__dict__ -> a View that checks the name
//   @write(o).x = v     -> o itself, a View that refuses the store, or TypeError for a class
#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {
namespace {

// --- View: what a hook returns when the name has to be checked ----------------------------------

struct View {
  PyObject_HEAD PyObject* target;
};

void ViewDealloc(PyObject* object) {
  Py_XDECREF(reinterpret_cast<View*>(object)->target);
  Py_TYPE(object)->tp_free(object);
}

PyObject* ViewGet(PyObject* object, PyObject* name) {
  return GuardedGet(reinterpret_cast<View*>(object)->target, name);
}

int ViewSet(PyObject* object, PyObject* name, PyObject* value) {
  return GuardedSet(reinterpret_cast<View*>(object)->target, name, value);
}

PyTypeObject hook_view_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "object",
    .tp_basicsize = sizeof(View),
    .tp_dealloc = ViewDealloc,
    .tp_getattro = ViewGet,
    .tp_setattro = ViewSet,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
};

PyObject* MakeView(PyObject* target) {
  auto* view = PyObject_New(View, &hook_view_type);
  if (view == nullptr) return nullptr;
  view->target = Py_NewRef(target);
  return reinterpret_cast<PyObject*>(view);
}

PyObject* PrivateHook(PyObject* /*module*/, PyObject* target) {
  constexpr unsigned long kOwn = kGuestMade | kPure;
  PyTypeObject* type = Py_TYPE(target);
  if ((type->tp_flags & kOwn) == kOwn && !PyType_Check(target)) return Py_NewRef(target);
  if (type == &PyType_Type && (AsType(target)->tp_flags & kOwn) == kOwn) return Py_NewRef(target);
  return MakeView(target);
}

PyObject* DunderHook(PyObject* /*module*/, PyObject* target) { return MakeView(target); }

PyObject* WriteHook(PyObject* /*module*/, PyObject* target) {
  if ((Py_TYPE(target)->tp_flags & kGuestMade) != 0) return Py_NewRef(target);
  if (MayWritePublic(target) || IsProxy(target)) return Py_NewRef(target);
  // The store itself raises CPython's own error if nothing can be set.
  if (!PyType_Check(target)) return MakeView(target);
  PyErr_Format(PyExc_TypeError,
               "[BJ305] attributes of class '%.200s' may not be set: the program did not create it",
               AsType(target)->tp_name);
  return nullptr;
}

// --- getattr, setattr, hasattr, delattr, vars, dir ----------------------------------------------

bool CountArgs(const char* name, Py_ssize_t given, Py_ssize_t low, Py_ssize_t high) {
  if (given >= low && given <= high) return true;
  PyErr_Format(PyExc_TypeError, "%s expected %zd to %zd arguments, got %zd", name, low, high,
               given);
  return false;
}

PyObject* GetAttr(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  if (!CountArgs("getattr", count, 2, 3)) return nullptr;
  PyObject* result = GuardedGet(args[0], args[1]);
  if (result == nullptr && count == 3 && PyErr_ExceptionMatches(PyExc_AttributeError)) {
    PyErr_Clear();
    return Py_NewRef(args[2]);
  }
  return result;
}

PyObject* HasAttr(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  if (!CountArgs("hasattr", count, 2, 2)) return nullptr;
  PyObject* result = GuardedGet(args[0], args[1]);
  if (result == nullptr) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return nullptr;
    PyErr_Clear();
    Py_RETURN_FALSE;
  }
  Py_DECREF(result);
  Py_RETURN_TRUE;
}

PyObject* SetAttr(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  if (!CountArgs("setattr", count, 3, 3)) return nullptr;
  if (GuardedSet(args[0], args[1], args[2]) < 0) return nullptr;
  Py_RETURN_NONE;
}

PyObject* DelAttr(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  if (!CountArgs("delattr", count, 2, 2)) return nullptr;
  if (GuardedSet(args[0], args[1], nullptr) < 0) return nullptr;
  Py_RETURN_NONE;
}

PyObject* Vars(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  if (count == 0) return PyObject_CallNoArgs(state.own_names);
  if (!CountArgs("vars", count, 1, 1)) return nullptr;
  PyObject* name = PyUnicode_InternFromString("__dict__");
  if (name == nullptr) return nullptr;
  PyObject* result = GuardedGet(args[0], name);
  Py_DECREF(name);
  return result;
}

PyObject* Dir(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  if (!CountArgs("dir", count, 0, 1)) return nullptr;
  PyObject* names = PyObject_Dir(count == 0 ? nullptr : args[0]);
  if (names == nullptr || count != 0) return names;
  for (Py_ssize_t i = PyList_GET_SIZE(names) - 1; i >= 0; --i) {
    PyObject* name = PyList_GET_ITEM(names, i);
    const bool ours = PyUnicode_Check(name) && PyUnicode_GET_LENGTH(name) > 0 &&
                      PyUnicode_READ_CHAR(name, 0) == '@';
    const bool builtins =
        PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "__builtins__") == 0;
    if ((ours || builtins) && PyList_SetSlice(names, i, i + 1, nullptr) < 0) {
      Py_DECREF(names);
      return nullptr;
    }
  }
  return names;
}

PyObject* IsGuestClassMethod(PyObject* /*module*/, PyObject* object) {
  return PyBool_FromLong(PyType_Check(object) && IsGuestClass(AsType(object)));
}

PyObject* IsGuestFunctionMethod(PyObject* /*module*/, PyObject* object) {
  return PyBool_FromLong(IsGuestFunction(object));
}

// For methods generated by the library: their `self` is an instance of a guest's class. With the
// policy off there are no such classes or frames, and nothing to check.
PyObject* NeedOwn(PyObject* /*module*/, PyObject* object) {
  if (IsGuestClass(Py_TYPE(object)) || !RequestedByGuest()) Py_RETURN_NONE;
  PyErr_Format(PyExc_TypeError, "[BJ502] this method takes no '%.200s' object",
               Py_TYPE(object)->tp_name);
  return nullptr;
}

PyObject* CheckMatchArgsMethod(PyObject* /*module*/, PyObject* value) {
  return CheckMatchArgs(value);
}

// rebound(function, globals, closure): a function of the guest with other globals and cells, for
// library/annotationlib.py. `globals` gets the guest's builtins: the code stays guest code. It must
// be a dict that no guest can write to. `closure`: a tuple of as many cells as the code has, or
// None.
PyObject* Rebound(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  if (!CountArgs("rebound", count, 3, 3)) return nullptr;
  PyObject* function = args[0];
  PyObject* globals = args[1];
  PyObject* closure = args[2] == Py_None ? nullptr : args[2];
  if (!PyFunction_Check(function) || !IsGuestFunction(function) || !PyDict_Check(globals) ||
      (closure != nullptr && !PyTuple_CheckExact(closure))) {
    PyErr_SetString(PyExc_TypeError, "rebound() takes a guest's function, a dict and a tuple");
    return nullptr;
  }
  PyObject* code = PyFunction_GET_CODE(function);
  const Py_ssize_t cells = closure == nullptr ? 0 : PyTuple_GET_SIZE(closure);
  bool fits = cells == PyCode_GetNumFree(reinterpret_cast<PyCodeObject*>(code));
  for (Py_ssize_t i = 0; fits && i < cells; ++i) fits = PyCell_Check(PyTuple_GET_ITEM(closure, i));
  if (!fits) {
    PyErr_SetString(PyExc_ValueError, "rebound() needs a cell for each free variable");
    return nullptr;
  }
  if (PyDict_SetItemString(globals, "__builtins__", state.guest_builtins) < 0) return nullptr;
  PyObject* made = PyFunction_New(code, globals);
  if (made != nullptr && ((closure != nullptr && PyFunction_SetClosure(made, closure) < 0) ||
                          !IsGuestFunction(made))) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "rebound() lost the builtins");
    Py_CLEAR(made);
  }
  return made;
}

// retyped(object, class): makes it an instance of the other class, whose instances have the same
// layout. The library does it by `__class__ =`, which immutable classes do not allow.
PyObject* Retyped(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  if (!CountArgs("retyped", count, 2, 2)) return nullptr;
  PyTypeObject* from = Py_TYPE(args[0]);
  if (!PyType_Check(args[1])) return PyErr_Format(PyExc_TypeError, "retyped() takes a class");
  PyTypeObject* to = AsType(args[1]);
  constexpr unsigned long kLayout = Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_HAVE_GC | kGuestMade;
  if (from->tp_base != &PyBaseObject_Type || to->tp_base != &PyBaseObject_Type ||
      (from->tp_flags & kLayout) != (Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_HAVE_GC) ||
      (to->tp_flags & kLayout) != (from->tp_flags & kLayout) ||
      from->tp_basicsize != to->tp_basicsize || from->tp_itemsize != to->tp_itemsize ||
      from->tp_dictoffset != to->tp_dictoffset ||
      from->tp_weaklistoffset != to->tp_weaklistoffset || from->tp_dealloc != to->tp_dealloc ||
      from->tp_free != to->tp_free) {
    PyErr_SetString(PyExc_TypeError, "retyped() takes library objects of one layout");
    return nullptr;
  }
  Py_INCREF(args[1]);
  Py_SET_TYPE(args[0], to);
  Py_DECREF(reinterpret_cast<PyObject*>(from));
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef hook_methods[] = {
    {"private", PrivateHook, METH_O, nullptr},
    {"dunder", DunderHook, METH_O, nullptr},
    {"write", WriteHook, METH_O, nullptr},
    {"getattr", AsPyCFunction(GetAttr), METH_FASTCALL, "getattr(object, name[, default]) -> value"},
    {"hasattr", AsPyCFunction(HasAttr), METH_FASTCALL, "hasattr(object, name) -> bool"},
    {"setattr", AsPyCFunction(SetAttr), METH_FASTCALL, "setattr(object, name, value)"},
    {"delattr", AsPyCFunction(DelAttr), METH_FASTCALL, "delattr(object, name)"},
    {"vars", AsPyCFunction(Vars), METH_FASTCALL, "vars(object) -> dict"},
    {"dir", AsPyCFunction(Dir), METH_FASTCALL, "dir([object]) -> list of names"},
    {"is_guest_class", IsGuestClassMethod, METH_O, nullptr},
    {"is_guest_function", IsGuestFunctionMethod, METH_O, nullptr},
    {"need_own", NeedOwn, METH_O, nullptr},
    {"rebound", AsPyCFunction(Rebound), METH_FASTCALL, nullptr},
    {"retyped", AsPyCFunction(Retyped), METH_FASTCALL, nullptr},
    {"check_match_args", CheckMatchArgsMethod, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

bool ReadyHooks() { return PyType_Ready(&hook_view_type) == 0; }

}  // namespace belljar::inside::guards
