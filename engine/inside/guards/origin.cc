// Who made a class, and the loading of modules while a program runs.
//
// The rule: after a program has started, a new object is the program's unless it is proved to be
// the library's. That no frame of the program is near proves nothing: a finalizer, a weak
// reference's callback or an `__eq__` implemented entirely in C (functools.partial,
// itertools.starmap) has no frame, and runs wherever library code drops a reference or compares.
//
// The proof for a class is its namespace. Class statements of library code are carried out by
// BuildClass, below, which knows the dict that the statement's body filled. The class that is made
// from that very dict is the library's, as its contents are. Other classes that are made while the
// policy loads modules (namedtuple() in a module) are checked as the program's; they become the
// library's at the end, if the loaded modules have them. Our own code says so when it makes one for
// the library (library_class()).
#include <opcode.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {
namespace {

PyObject* original_build_class = nullptr;
PyObject* resolve_bases = nullptr;  // of `types`
PyObject* prepare_class = nullptr;
// The namespaces of library class statements that are being carried out; each holds a reference.
std::vector<PyObject*> statements;
std::vector<PyTypeObject*> loaded;  // the library's classes since load() began, with references
std::vector<PyTypeObject*> others;  // that were made since then, with references

// Library code that creates a class because its caller asked for one.
bool IsClassMachinery(PyObject* globals) {
  constexpr std::string_view kModules[] = {"abc",   "enum",        "typing",
                                           "types", "dataclasses", "collections"};
  constexpr std::string_view kOurs = "belljar_policy.library.";
  const std::string_view module = ModuleOf(globals);
  return std::ranges::find(kModules, module) != std::end(kModules) || module.starts_with(kOurs);
}

// Code with a class statement, or that names another way to create classes. Code that creates one
// only because a guest passed it `type` to call usually has neither.
bool MakesClasses(PyCodeObject* code) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_names); ++i) {
    PyObject* name = PyTuple_GET_ITEM(code->co_names, i);
    if (PyUnicode_CompareWithASCIIString(name, "type") == 0 ||
        PyUnicode_CompareWithASCIIString(name, "__new__") == 0) {
      return true;
    }
  }
  PyObject* bytecode = PyCode_GetCode(code);
  if (bytecode == nullptr) {
    PyErr_Clear();
    return false;
  }
  bool found = false;
  const char* bytes = PyBytes_AS_STRING(bytecode);
  for (Py_ssize_t i = 0; !found && i < PyBytes_GET_SIZE(bytecode); i += 2) {
    found = static_cast<unsigned char>(bytes[i]) == LOAD_BUILD_CLASS;
  }
  Py_DECREF(bytecode);
  return found;
}

bool IsTrusted(PyFrameObject* frame, PyObject* globals, Trust trust) {
  if (trust == Trust::kNone || IsClassMachinery(globals)) return false;
  if (trust == Trust::kFrames || !state.guest_began) return true;
  // Other library code makes its classes by statements, which have a proof.
  if (!IsOpenPackage(ModuleOf(globals))) return false;
  PyCodeObject* code = PyFrame_GetCode(frame);
  const bool makes = MakesClasses(code);
  Py_DECREF(code);
  return makes;
}

bool IsGuestsOwn(PyObject* value) {
  if (PyType_Check(value)) return IsGuestClass(AsType(value));
  return IsGuestFunction(value) || IsGuestClass(Py_TYPE(value));
}

// `type`: the class with this namespace, or nullptr. Members of an enumeration are its instances.
bool HasGuestsOwn(PyObject* names, const PyTypeObject* type) {
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(names, &position, &name, &value)) {
    if (Py_TYPE(value) != type && IsGuestsOwn(value)) return true;
  }
  return false;
}

// --- class statements ---------------------------------------------------------------------------

// Calls the metaclass with the namespace that the body has filled.
PyObject* CallMetaclass(PyObject* metaclass, PyObject* name, PyObject* bases, PyObject* names,
                        PyObject* keywords) {
  PyObject* args = PyTuple_Pack(3, name, bases, names);
  if (args == nullptr) return nullptr;
  statements.push_back(Py_NewRef(names));
  PyObject* made = PyObject_Call(metaclass, args, keywords);
  // By identity: threads of a guest may have been switched in between.
  const auto own = std::ranges::find(statements, names);
  if (own != statements.end()) {
    statements.erase(own);
    Py_DECREF(names);
  }
  Py_DECREF(args);
  return made;
}

// CPython sets the cell of `__class__` in type.__new__. A metaclass that drops it makes super()
// fail.
PyObject* CheckCell(PyObject* made, PyObject* cell) {
  if (made == nullptr || !PyType_Check(made) || !PyCell_Check(cell)) return made;
  if (PyCell_GET(cell) == made) return made;
  PyErr_Format(PyExc_RuntimeError, "__class__ of %.200R was not set by its metaclass", made);
  Py_DECREF(made);
  return nullptr;
}

// Steps 3.3.3.3 to 3.3.3.6 of the language reference ("Customizing class creation").
PyObject* RunClassStatement(PyObject* function, PyObject* name, PyObject* given,
                            PyObject* keywords) {
  PyObject* bases = PyObject_CallOneArg(resolve_bases, given);
  PyObject* prepared = bases == nullptr ? nullptr
                                        : PyObject_CallFunctionObjArgs(prepare_class, name, bases,
                                                                       keywords, nullptr);
  PyObject* made = nullptr;
  if (prepared != nullptr && PyTuple_Check(prepared) && PyTuple_GET_SIZE(prepared) == 3) {
    PyObject* metaclass = PyTuple_GET_ITEM(prepared, 0);
    PyObject* names = PyTuple_GET_ITEM(prepared, 1);
    PyObject* cell = PyEval_EvalCodeEx(PyFunction_GET_CODE(function),
                                       PyFunction_GET_GLOBALS(function), names, nullptr, 0, nullptr,
                                       0, nullptr, 0, nullptr, PyFunction_GET_CLOSURE(function));
    const bool fine =
        cell != nullptr &&
        (bases == given || PyMapping_SetItemString(names, "__orig_bases__", given) == 0);
    if (fine) made = CallMetaclass(metaclass, name, bases, names, PyTuple_GET_ITEM(prepared, 2));
    if (fine) made = CheckCell(made, cell);
    Py_XDECREF(cell);
  }
  Py_XDECREF(prepared);
  Py_XDECREF(bases);
  return made;
}

// `__build_class__` of library code. No program gets hold of it.
PyObject* BuildClass(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count,
                     PyObject* names) {
  if (!state.guest_began || count < 2 || !PyFunction_Check(args[0]) || IsGuestFunction(args[0])) {
    return PyObject_Vectorcall(original_build_class, args, static_cast<size_t>(count), names);
  }
  PyObject* bases = PyTuple_New(count - 2);
  PyObject* keywords = PyDict_New();
  bool fine = bases != nullptr && keywords != nullptr;
  for (Py_ssize_t i = 2; fine && i < count; ++i) {
    PyTuple_SET_ITEM(bases, i - 2, Py_NewRef(args[i]));
  }
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; fine && i < named; ++i) {
    fine = PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, i), args[count + i]) == 0;
  }
  PyObject* made = fine ? RunClassStatement(args[0], args[1], bases, keywords) : nullptr;
  Py_XDECREF(bases);
  Py_XDECREF(keywords);
  return made;
}

PyMethodDef build_class = {"__build_class__", AsPyCFunction(BuildClass),
                           METH_FASTCALL | METH_KEYWORDS, nullptr};

// --- loading ------------------------------------------------------------------------------------

// Headroom for the calls of an import, however deep the program's stack is: one that fails halfway
// leaves a module whose functions have not been replaced.
class Headroom {
 public:
  Headroom() : thread_(PyThreadState_Get()) {
#if PY_VERSION_HEX >= 0x030C0000
    remaining_ = thread_->py_recursion_remaining;
    thread_->py_recursion_remaining += kCalls;
#if PY_VERSION_HEX < 0x030E0000
    through_c_ = thread_->c_recursion_remaining;
    thread_->c_recursion_remaining += kCalls;
#endif
#else
    remaining_ = thread_->recursion_remaining;
    thread_->recursion_remaining += kCalls;
#endif
  }
  ~Headroom() {
#if PY_VERSION_HEX >= 0x030C0000
    thread_->py_recursion_remaining = remaining_;
#if PY_VERSION_HEX < 0x030E0000
    thread_->c_recursion_remaining = through_c_;
#endif
#else
    thread_->recursion_remaining = remaining_;
#endif
  }
  Headroom(const Headroom&) = delete;
  Headroom& operator=(const Headroom&) = delete;

 private:
  static constexpr int kCalls = 600;
  PyThreadState* thread_;
  int remaining_;
#if PY_VERSION_HEX >= 0x030C0000 && PY_VERSION_HEX < 0x030E0000
  int through_c_;
#endif
};

// Turns the classes of the loaded modules into library classes, and makes all library classes
// immutable.
void EndLoad(PyObject* found) {
  for (PyTypeObject* type : others) {
    const bool of_library =
        found != nullptr && Holds(found, type) && !HasGuestsOwn(TypeDict(type), type);
    if (of_library) {
      type->tp_flags &= ~(kGuestMade | kPure);
      loaded.push_back(type);
    } else {
      Py_DECREF(reinterpret_cast<PyObject*>(type));
    }
  }
  others.clear();
  for (PyTypeObject* type : loaded) {
    if (state.frozen && !IsOpenPackageType(type)) type->tp_flags |= Py_TPFLAGS_IMMUTABLETYPE;
    Py_DECREF(reinterpret_cast<PyObject*>(type));
  }
  loaded.clear();
}

// load(function): calls it; until it returns, modules may be imported and proxies made, as before
// the freeze. It returns two lists of classes: those from which a guest's class may derive, and
// those that the loaded modules have. What is permitted ends here, not in code that needs stack or
// memory to end it. The collector is off, and there is room for the calls of an import.
PyObject* LoadModules(PyObject* /*module*/, PyObject* function) {
  if (state.loading) {
    PyErr_SetString(PyExc_RuntimeError, "load() does not nest");
    return nullptr;
  }
  const int collects = PyGC_Disable();
  state.loading = true;
  PyObject* lists = nullptr;
  {
    const Headroom headroom;
    lists = PyObject_CallNoArgs(function);
  }
  state.loading = false;
  if (collects != 0) PyGC_Enable();
  const bool fits = lists != nullptr && PyTuple_CheckExact(lists) && PyTuple_GET_SIZE(lists) == 2 &&
                    PyList_CheckExact(PyTuple_GET_ITEM(lists, 0)) &&
                    PyList_CheckExact(PyTuple_GET_ITEM(lists, 1));
  EndLoad(fits ? PyTuple_GET_ITEM(lists, 1) : nullptr);
  if (!fits) {
    if (lists != nullptr) PyErr_SetString(PyExc_TypeError, "load() expects two lists of classes");
    Py_XDECREF(lists);
    return nullptr;
  }
  PyObject* subclassable = PyTuple_GET_ITEM(lists, 0);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(subclassable); ++i) {
    PyObject* type = PyList_GET_ITEM(subclassable, i);
    if (PyType_Check(type) && !IsGuestClass(AsType(type))) AsType(type)->tp_flags |= kSubclassable;
  }
  Py_DECREF(lists);
  Py_RETURN_NONE;
}

// library_class(name, bases, namespace, metaclass=type, **keywords): a class that our own code
// makes for the library during load(), as a call of the metaclass makes it.
PyObject* LibraryClass(PyObject* /*module*/, PyObject* args, PyObject* keywords) {
  PyObject* name = nullptr;
  PyObject* bases = nullptr;
  PyObject* names = nullptr;
  PyObject* metaclass = reinterpret_cast<PyObject*>(&PyType_Type);
  if (!PyArg_ParseTuple(args, "UO!O!|O!", &name, &PyTuple_Type, &bases, &PyDict_Type, &names,
                        &PyType_Type, &metaclass)) {
    return nullptr;
  }
  return CallMetaclass(metaclass, name, bases, names, keywords);
}

PyObject* IsLoading(PyObject* /*module*/, PyObject* /*unused*/) {
  return PyBool_FromLong(state.loading);
}

}  // namespace

PyMethodDef origin_methods[] = {
    {"load", LoadModules, METH_O, nullptr},
    {"library_class", AsPyCFunction(LibraryClass), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"is_loading", IsLoading, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// Frames of unhardened packages count as the host's if `trust` says so (profiles whose libraries
// create classes at run time and rely on the kernel layers). The class machinery never counts: it
// is between a guest's class statement and `type` whenever there is a metaclass. Before the guest
// begins, everything is the host's but what a guest's frame does, and its modules define their
// classes freely.
bool MadeByHost(Trust trust) {
  if (InGuestFrame()) return false;
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  bool host = frame == nullptr && !state.guest_began;
  while (frame != nullptr) {
    PyObject* builtins = PyFrame_GetBuiltins(frame);
    PyObject* globals = PyFrame_GetGlobals(frame);
    const bool guest = builtins == state.guest_builtins;
    const bool imports = globals == state.bootstrap_globals && !state.guest_began;
    host = !guest && (imports || IsTrusted(frame, globals, trust));
    Py_XDECREF(builtins);
    Py_XDECREF(globals);
    PyFrameObject* back = guest || host ? nullptr : PyFrame_GetBack(frame);
    // No guest frame at all: before the guest began, it is the host itself. Afterwards it may be C
    // code reached through a guest's object (a __repr__ that is a partial of type), called by the
    // runner.
    if (back == nullptr && !guest && !host) host = !state.guest_began;
    Py_DECREF(frame);
    frame = back;
  }
  return host;
}

bool IsOfLibraryStatement(PyTypeObject* metatype, PyObject* bases, PyObject* names) {
  if (std::ranges::find(statements, names) == statements.end()) return false;
  // The contents are the statement's own. What is not may come from arguments of a function around
  // it.
  if (IsGuestClass(metatype) || HasGuestsOwn(names, nullptr)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(bases); ++i) {
    if (IsGuestsOwn(PyTuple_GET_ITEM(bases, i))) return false;
  }
  return true;
}

void NoteLoaded(PyTypeObject* type, bool of_library) {
  if (!state.loading) return;
  (of_library ? loaded : others).push_back(AsType(Py_NewRef(reinterpret_cast<PyObject*>(type))));
}

bool InstallBuildClass() {
  PyObject* types = PyImport_ImportModule("types");
  PyObject* builtins = PyImport_ImportModule("builtins");
  bool fine = types != nullptr && builtins != nullptr;
  if (fine) {
    resolve_bases = PyObject_GetAttrString(types, "resolve_bases");
    prepare_class = PyObject_GetAttrString(types, "prepare_class");
    original_build_class = PyObject_GetAttrString(builtins, "__build_class__");
    fine = resolve_bases != nullptr && prepare_class != nullptr && original_build_class != nullptr;
  }
  PyObject* ours = fine ? PyCFunction_New(&build_class, nullptr) : nullptr;
  fine = ours != nullptr && PyObject_SetAttrString(builtins, "__build_class__", ours) == 0;
  Py_XDECREF(ours);
  Py_XDECREF(builtins);
  Py_XDECREF(types);
  return fine;
}

}  // namespace belljar::inside::guards
