// What library/scopes.py needs for the text that a program evaluates: to run it, and objects of the
// policy's own whose contents no attribute leads to.
//
//   class Names(guards.Hiding):            # policy/belljar_policy/library/scopes.py
//       __slots__ = ()
//   view = guards.hide(Names, scope)       # an instance that holds `scope`
//   scope = guards.hidden(Names, view)     # TypeError for anything but an exact instance
#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {
namespace {

// --- Hiding: a base class ------------------------------------------------------------------------

// A slot would have a descriptor, and a private name that one hole is enough to read.
struct Hiding {
  PyObject_HEAD PyObject* contents;
};

int HidingTraverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<Hiding*>(object)->contents);
  return 0;
}

int HidingClear(PyObject* object) {
  Py_CLEAR(reinterpret_cast<Hiding*>(object)->contents);
  return 0;
}

void HidingDealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  (void)HidingClear(object);
  Py_TYPE(object)->tp_free(object);
}

PyTypeObject hiding_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "_belljar_guards.Hiding",
    .tp_basicsize = sizeof(Hiding),
    .tp_dealloc = HidingDealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_traverse = HidingTraverse,
    .tp_clear = HidingClear,
};

bool TakesTwo(const char* name, Py_ssize_t count, PyObject* const* args) {
  const bool fine = count == 2 && PyType_Check(args[0]) &&
                    PyType_IsSubtype(AsType(args[0]), &hiding_type) &&
                    !IsGuestClass(AsType(args[0]));
  if (!fine) PyErr_Format(PyExc_TypeError, "%s() takes a class below Hiding and an object", name);
  return fine;
}

PyObject* Hide(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  if (!TakesTwo("hide", count, args)) return nullptr;
  PyObject* made = AsType(args[0])->tp_alloc(AsType(args[0]), 0);
  if (made != nullptr) reinterpret_cast<Hiding*>(made)->contents = Py_NewRef(args[1]);
  return made;
}

PyObject* Hidden(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  if (!TakesTwo("hidden", count, args)) return nullptr;
  PyObject* contents =
      Py_TYPE(args[1]) == AsType(args[0]) ? reinterpret_cast<Hiding*>(args[1])->contents : nullptr;
  if (contents != nullptr) return Py_NewRef(contents);
  return PyErr_Format(PyExc_TypeError, "this method takes a %.200s, not %.200s",
                      AsType(args[0])->tp_name, Py_TYPE(args[1])->tp_name);
}

// --- running text --------------------------------------------------------------------------------

// No name of a hook may be in a namespace: code that loads a hook there would get the program's.
bool HasNoHooks(PyObject* names) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(state.hooks); ++i) {
    const int has = PyDict_Contains(names, PyTuple_GET_ITEM(state.hooks, i));
    if (has == 0) continue;
    if (has > 0) PyErr_SetString(PyExc_SystemError, "a namespace replaces a hook of the policy");
    return false;
  }
  return true;
}

// run_text(code, globals, locals): code that the policy has checked, in globals with the guest's
// builtins. Everything is verified once more: whoever gets this wrong opens the policy.
PyObject* RunText(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  if (count != 3 || !PyCode_Check(args[0]) || !PyDict_Check(args[1]) ||
      !PyDict_CheckExact(args[2])) {
    PyErr_SetString(PyExc_TypeError, "run_text() takes code and two dicts");
    return nullptr;
  }
  if (PyDict_GetItemString(args[1], "__builtins__") != state.guest_builtins) {
    PyErr_SetString(PyExc_SystemError, "these globals do not have the guest's builtins");
    return nullptr;
  }
  if (!HasNoHooks(args[1]) || !HasNoHooks(args[2])) return nullptr;
  return PyEval_EvalCode(args[0], args[1], args[2]);
}

}  // namespace

PyMethodDef text_methods[] = {
    {"hide", AsPyCFunction(Hide), METH_FASTCALL, nullptr},
    {"hidden", AsPyCFunction(Hidden), METH_FASTCALL, nullptr},
    {"run_text", AsPyCFunction(RunText), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

bool ReadyText(PyObject* module) {
  return PyType_Ready(&hiding_type) == 0 &&
         PyModule_AddObjectRef(module, "Hiding", reinterpret_cast<PyObject*>(&hiding_type)) == 0;
}

}  // namespace belljar::inside::guards
