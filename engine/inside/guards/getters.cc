// operator.attrgetter and operator.methodcaller with every name checked. The library's own versions
// reach `__globals__` on every Python version, and RestrictedPython does not cover them.
#include <cstddef>

#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {
namespace {

struct Getter {
  PyObject_HEAD PyObject*
      names;         // attrgetter: tuple of tuples of str; methodcaller: the method's name
  PyObject* args;    // methodcaller: tuple
  PyObject* kwargs;  // methodcaller: dict or nullptr
  vectorcallfunc vectorcall;
};

Getter* AsGetter(PyObject* object) { return reinterpret_cast<Getter*>(object); }

int Traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(AsGetter(object)->names);
  Py_VISIT(AsGetter(object)->args);
  Py_VISIT(AsGetter(object)->kwargs);
  return 0;
}

int Clear(PyObject* object) {
  Py_CLEAR(AsGetter(object)->names);
  Py_CLEAR(AsGetter(object)->args);
  Py_CLEAR(AsGetter(object)->kwargs);
  return 0;
}

void Dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  Clear(object);
  Py_TYPE(object)->tp_free(object);
}

PyObject* OnlyArgument(PyObject* const* args, size_t flags, PyObject* names, const char* who) {
  if (PyVectorcall_NARGS(flags) == 1 && (names == nullptr || PyTuple_GET_SIZE(names) == 0)) {
    return args[0];
  }
  PyErr_Format(PyExc_TypeError, "%s expected 1 argument, got %zd", who, PyVectorcall_NARGS(flags));
  return nullptr;
}

PyObject* Walk(PyObject* object, PyObject* path) {
  Py_INCREF(object);
  for (Py_ssize_t i = 0; object != nullptr && i < PyTuple_GET_SIZE(path); ++i) {
    PyObject* next = GuardedGet(object, PyTuple_GET_ITEM(path, i));
    Py_DECREF(object);
    object = next;
  }
  return object;
}

PyObject* CallAttrGetter(PyObject* object, PyObject* const* args, size_t flags, PyObject* names) {
  PyObject* target = OnlyArgument(args, flags, names, "attrgetter");
  if (target == nullptr) return nullptr;
  PyObject* paths = AsGetter(object)->names;
  if (PyTuple_GET_SIZE(paths) == 1) return Walk(target, PyTuple_GET_ITEM(paths, 0));
  PyObject* result = PyTuple_New(PyTuple_GET_SIZE(paths));
  for (Py_ssize_t i = 0; result != nullptr && i < PyTuple_GET_SIZE(paths); ++i) {
    PyObject* value = Walk(target, PyTuple_GET_ITEM(paths, i));
    if (value == nullptr) {
      Py_CLEAR(result);
    } else {
      PyTuple_SET_ITEM(result, i, value);
    }
  }
  return result;
}

PyObject* CallMethodCaller(PyObject* object, PyObject* const* args, size_t flags, PyObject* names) {
  PyObject* target = OnlyArgument(args, flags, names, "methodcaller");
  if (target == nullptr) return nullptr;
  Getter* self = AsGetter(object);
  PyObject* method = GuardedGet(target, self->names);
  if (method == nullptr) return nullptr;
  PyObject* result = PyObject_Call(method, self->args, self->kwargs);
  Py_DECREF(method);
  return result;
}

PyObject* Allocate(PyTypeObject* type, vectorcallfunc call, PyObject* names, PyObject* args,
                   PyObject* kwargs) {
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) {
    Py_XDECREF(names);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return nullptr;
  }
  Getter* self = AsGetter(object);
  self->names = names;
  self->args = args;
  self->kwargs = kwargs;
  self->vectorcall = call;
  return object;
}

// Checked now to raise the error early; object and name are checked together at each call.
bool CheckName(PyObject* name) {
  const NameKind kind = Classify(name);
  if (kind == NameKind::kRefused) {
    PyErr_Format(PyExc_AttributeError, "[%s] attribute %R belongs to the interpreter",
                 RuleOfRefused(name), name);
  }
  return kind != NameKind::kError && kind != NameKind::kRefused;
}

PyObject* SplitPath(PyObject* name) {
  if (!PyUnicode_CheckExact(name)) {
    Classify(name);  // sets the error
    return nullptr;
  }
  PyObject* dot = PyUnicode_FromString(".");
  PyObject* parts = dot == nullptr ? nullptr : PyUnicode_Split(name, dot, -1);
  Py_XDECREF(dot);
  PyObject* path = parts == nullptr ? nullptr : PyList_AsTuple(parts);
  Py_XDECREF(parts);
  for (Py_ssize_t i = 0; path != nullptr && i < PyTuple_GET_SIZE(path); ++i) {
    if (!CheckName(PyTuple_GET_ITEM(path, i))) Py_CLEAR(path);
  }
  return path;
}

PyObject* NewAttrGetter(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  const Py_ssize_t count = PyTuple_GET_SIZE(args);
  if (count == 0 || (kwargs != nullptr && PyDict_GET_SIZE(kwargs) != 0)) {
    PyErr_SetString(PyExc_TypeError, "attrgetter expected at least 1 argument and no keywords");
    return nullptr;
  }
  PyObject* paths = PyTuple_New(count);
  if (paths == nullptr) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* path = SplitPath(PyTuple_GET_ITEM(args, i));
    if (path == nullptr) {
      Py_DECREF(paths);
      return nullptr;
    }
    PyTuple_SET_ITEM(paths, i, path);
  }
  return Allocate(type, CallAttrGetter, paths, nullptr, nullptr);
}

PyObject* NewMethodCaller(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  if (PyTuple_GET_SIZE(args) == 0) {
    PyErr_SetString(PyExc_TypeError, "methodcaller needs at least one argument, the method name");
    return nullptr;
  }
  PyObject* name = PyTuple_GET_ITEM(args, 0);
  if (!CheckName(name)) return nullptr;
  PyObject* rest = PyTuple_GetSlice(args, 1, PyTuple_GET_SIZE(args));
  if (rest == nullptr) return nullptr;
  return Allocate(type, CallMethodCaller, Py_NewRef(name), rest,
                  kwargs == nullptr ? nullptr : PyDict_Copy(kwargs));
}

constexpr unsigned long kFlags =
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL;

PyTypeObject attrgetter_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "operator.attrgetter",
    .tp_basicsize = sizeof(Getter),
    .tp_dealloc = Dealloc,
    .tp_vectorcall_offset = offsetof(Getter, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_flags = kFlags,
    .tp_doc = "attrgetter(name, ...) -> callable that fetches the named attributes",
    .tp_traverse = Traverse,
    .tp_clear = Clear,
    .tp_new = NewAttrGetter,
};

PyTypeObject methodcaller_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "operator.methodcaller",
    .tp_basicsize = sizeof(Getter),
    .tp_dealloc = Dealloc,
    .tp_vectorcall_offset = offsetof(Getter, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_flags = kFlags,
    .tp_doc = "methodcaller(name, ...) -> callable that calls the named method",
    .tp_traverse = Traverse,
    .tp_clear = Clear,
    .tp_new = NewMethodCaller,
};

}  // namespace

bool ReadyGetterTypes(PyObject* module) {
  return PyModule_AddType(module, &attrgetter_type) == 0 &&
         PyModule_AddType(module, &methodcaller_type) == 0;
}

}  // namespace belljar::inside::guards
