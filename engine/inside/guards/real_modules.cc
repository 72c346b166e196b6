// Real modules, for profiles with unhardened packages (docs/policy.md): their objects have modules
// in public attributes, and loading such an attribute is native bytecode that no hook sees. A guest
// may therefore obtain a real module, but must get nothing from it:
// `figure.re.enum.sys.modules["os"]`.
//
// Each real module gets a class of ours, which refuses loads by a guest's own instruction. A
// separate class is necessary because CPython specialises loads from exact modules
// (LOAD_ATTR_MODULE), which then bypass the slot.
//
// Library code forwards, too: an alias, a proxy or a wrapper passes any name on to the object that
// it was created with. So while a program runs, a module answers library code only where an
// instruction of that code has the name (`module.name`: the slot does nothing for these, which are
// nearly all). getattr(), setattr(), `__getattribute__` and `__dict__`, where the name may be the
// program's, answer only if the module provably is not: see MayForward(). C code that forwards does
// not accept modules. C code called from a guest's frame, which has no frame of its own, is served.
#include <opcode.h>

#include <map>
#include <optional>
#include <utility>

#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {
namespace {

// How many low bits of an instruction's argument are flags and not part of the name index; nullopt
// for instructions that do not access an attribute of a module.
std::optional<unsigned> FlagBitsOf(int opcode) {
  switch (opcode) {
    case LOAD_ATTR:
#if PY_VERSION_HEX >= 0x030C0000
      return 1;                      // 3.12 merged LOAD_METHOD into LOAD_ATTR with a flag...
    case LOAD_SUPER_ATTR: return 2;  // ...and made super().name its own instruction, with two
#else
    case LOAD_METHOD:
#endif
    case IMPORT_FROM:
    case STORE_ATTR:
    case DELETE_ATTR: return 0;
    default: return std::nullopt;
  }
}

// Whether `name` is one that an instruction with this last argument byte may refer to.
bool IsAmong(PyObject* names, unsigned low_byte, unsigned flag_bits, PyObject* name) {
  const auto count = static_cast<size_t>(PyTuple_GET_SIZE(names));
  for (size_t i = low_byte >> flag_bits; i < count; i += size_t{256} >> flag_bits) {
    PyObject* each = PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i));
    if (each == name || PyUnicode_Compare(each, name) == 0) return true;
  }
  return false;
}

// Whether the running instruction is a guest's own access to an attribute of that name. C code that
// it calls uses other names: a property in C looks up what it needs in modules.
bool GuestAccesses(PyObject* name) {
  if (!InGuestFrame()) return false;
  PyFrameObject* frame = PyEval_GetFrame();
  if (frame == nullptr) return false;
  if (frame == state.asking) return true;
  const int at = PyFrame_GetLasti(frame);
  PyCodeObject* code = PyFrame_GetCode(frame);
  PyObject* names = Py_NewRef(code->co_names);
  PyObject* bytecode = PyCode_GetCode(code);  // the compiled bytecode, kept by the code object
  Py_DECREF(code);
  bool accesses = true;
  if (bytecode == nullptr) {
    PyErr_Clear();
  } else if (at >= 0 && at + 1 < PyBytes_GET_SIZE(bytecode)) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(PyBytes_AS_STRING(bytecode));
    const std::optional<unsigned> flag_bits = FlagBitsOf(bytes[at]);
    accesses =
        bytes[at] == MATCH_CLASS || (flag_bits && IsAmong(names, bytes[at + 1], *flag_bits, name));
  }
  Py_XDECREF(bytecode);
  Py_DECREF(names);
  return accesses;
}

PyObject* module_readers = nullptr;  // dict, see IsReviewed()
PyObject* all_names = nullptr;       // "__dict__", interned as in every instruction that names it

// The original slots of module classes that libraries derived.
std::map<const PyTypeObject*, getattrofunc> original_loads;
std::map<const PyTypeObject*, setattrofunc> original_stores;

template <typename Function>
Function OriginalOf(const std::map<const PyTypeObject*, Function>& originals, PyObject* object,
                    Function fallback) {
  PyTypeObject* type = Py_TYPE(object);
  while (type != nullptr) {
    const auto found = originals.find(type);
    if (found != originals.end()) return found->second;
    type = type->tp_base;
  }
  return fallback;
}

PyObject* RefuseLoad(PyObject* module, PyObject* name) {
  return Refuse("BJ301", module, name, "is of a real module; import the module by its name");
}

int RefuseStore(PyObject* module, PyObject* name) {
  Refuse("BJ305", module, name, "may not be set: it is of a real module");
  return -1;
}

bool HasText(PyObject* text, const char* ascii) {
  return text != nullptr && PyUnicode_CheckExact(text) &&
         PyUnicode_CompareWithASCIIString(text, ascii) == 0;
}

bool IsAmongExact(PyObject* texts, PyObject* text) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(texts); ++i) {
    PyObject* each = PyTuple_GET_ITEM(texts, i);
    if (PyUnicode_CheckExact(each) && PyUnicode_Compare(each, text) == 0) return true;
  }
  return false;
}

// Whether the code takes the module from where no program can put one: it is its own, or a global
// variable that the code names, or imported by it.
bool NamesModule(PyCodeObject* code, PyObject* globals, PyObject* module, PyObject* module_name) {
  if (globals == PyModule_GetDict(module)) return true;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_names); ++i) {
    PyObject* name = PyTuple_GET_ITEM(code->co_names, i);
    PyObject* named = PyDict_GetItemWithError(globals, name);
    if (named == module) return true;
    PyErr_Clear();
  }
  return module_name != nullptr && IsAmongExact(code->co_names, module_name);
}

bool IsIn(PyObject* package, PyObject* module_name) {
  const Py_ssize_t length = PyUnicode_GET_LENGTH(package);
  return length == 0 || (PyUnicode_Tailmatch(module_name, package, 0, PY_SSIZE_T_MAX, -1) == 1 &&
                         (PyUnicode_GET_LENGTH(module_name) == length ||
                          PyUnicode_READ_CHAR(module_name, length) == '.'));
}

// Whether reviewed.MODULE_READERS has the function, for such a module.
bool IsReviewed(PyObject* reader, PyObject* module_name) {
  if (reader == nullptr || module_name == nullptr) return false;
  PyObject* packages = PyDict_GetItemWithError(module_readers, reader);
  bool reviewed = false;
  for (Py_ssize_t i = 0; packages != nullptr && i < PyTuple_GET_SIZE(packages); ++i) {
    reviewed = reviewed || IsIn(PyTuple_GET_ITEM(packages, i), module_name);
  }
  return reviewed;
}

bool IsReviewedReader(PyCodeObject* code, PyObject* globals, PyObject* module_name) {
  static PyObject* const key = PyUnicode_InternFromString("__name__");
  PyObject* own = key == nullptr ? nullptr : PyDict_GetItemWithError(globals, key);
  if (module_readers == nullptr || own == nullptr || !PyUnicode_CheckExact(own)) return false;
  PyObject* function = PyUnicode_FromFormat("%U:%U", own, code->co_qualname);
  const bool reviewed = IsReviewed(own, module_name) || IsReviewed(function, module_name);
  Py_XDECREF(function);
  return reviewed;
}

// Whether the body of the module runs, and no program's code has been called by it.
bool IsBeingImported(PyObject* module) {
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  bool imports = false;
  while (frame != nullptr) {
    PyObject* builtins = PyFrame_GetBuiltins(frame);
    PyObject* globals = PyFrame_GetGlobals(frame);
    PyCodeObject* code = PyFrame_GetCode(frame);
    const bool guest = builtins == state.guest_builtins;
    imports = !guest && globals == PyModule_GetDict(module) && HasText(code->co_name, "<module>");
    Py_DECREF(builtins);
    Py_DECREF(globals);
    Py_DECREF(code);
    PyFrameObject* back = guest || imports ? nullptr : PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return imports;
}

// Whether the running code may read or write an attribute of the module by a name that it may have
// got from elsewhere. It must be shown that no program chose the module, or that the code itself
// has the name.
bool MayForward(PyObject* module, PyObject* name, bool stores = false) {
  if (!state.guest_began) return true;
  if (InGuestFrame()) return false;
  PyFrameObject* frame = PyEval_GetFrame();
  if (frame == nullptr || !PyUnicode_CheckExact(name)) return false;
  PyCodeObject* code = PyFrame_GetCode(frame);
  PyObject* globals = PyFrame_GetGlobals(frame);
  PyObject* module_name = PyDict_GetItemString(PyModule_GetDict(module), "__name__");
  if (module_name != nullptr && !PyUnicode_CheckExact(module_name)) module_name = nullptr;
  const bool spelled = !stores && !HasText(name, "__dict__") &&
                       (IsAmongExact(code->co_consts, name) || HasText(name, "__version__"));
  const bool may = spelled || HasText(code->co_name, "<module>") ||
                   NamesModule(code, globals, module, module_name) ||
                   IsReviewedReader(code, globals, module_name) || IsBeingImported(module);
  Py_DECREF(code);
  Py_DECREF(globals);
  PyErr_Clear();
  return may;
}

PyObject* Load(PyObject* object, PyObject* name) {
  if (GuestAccesses(name)) return RefuseLoad(object, name);
  if (name == all_names && !MayForward(object, name)) return RefuseLoad(object, name);
  return OriginalOf(original_loads, object, PyModule_Type.tp_getattro)(object, name);
}

int Store(PyObject* object, PyObject* name, PyObject* value) {
  if (GuestAccesses(name) || !MayForward(object, name, true)) return RefuseStore(object, name);
  return OriginalOf(original_stores, object, PyModule_Type.tp_setattro)(object, name, value);
}

PyTypeObject module_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "module",
    .tp_getattro = Load,
    .tp_setattro = Store,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,  // the GC slots are inherited
    .tp_base = &PyModule_Type,
};

void GuardClass(PyTypeObject* type) {
  if (type->tp_getattro == Load) return;
  original_loads[type] = type->tp_getattro;
  original_stores[type] = type->tp_setattro;
  type->tp_getattro = Load;
  type->tp_setattro = Store;
  PyType_Modified(type);
}

// guard_module(module): does nothing if it is not a module or is already guarded.
PyObject* GuardModule(PyObject* /*module*/, PyObject* object) {
  if (PyModule_CheckExact(object)) {
    Py_SET_TYPE(object, &module_type);
  } else if (PyModule_Check(object) && Py_TYPE(object) != &module_type) {
    GuardClass(Py_TYPE(object));
  }
  Py_RETURN_NONE;
}

// --- forwarders: code that gets the object and the name from elsewhere

using FastFunction = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);

bool IsGuarded(PyObject* object) {
  return PyModule_Check(object) && Py_TYPE(object)->tp_getattro == Load;
}

bool IsForwarded(PyObject* const* args, Py_ssize_t count) {
  return count >= 2 && IsGuarded(args[0]) && PyUnicode_Check(args[1]) &&
         !MayForward(args[0], args[1]);
}

FastFunction original_getattr = nullptr;

PyObject* GetAttr(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  if (!IsForwarded(args, count)) return original_getattr(self, args, count);
  return count == 3 ? Py_NewRef(args[2]) : RefuseLoad(args[0], args[1]);
}

// `object.__getattribute__(module, name)`, and that of every other class.
wrapperfunc original_get_attribute = nullptr;

PyObject* GetAttribute(PyObject* self, PyObject* args, void* wrapped) {
  if (IsGuarded(self) && PyTuple_GET_SIZE(args) == 1 &&
      !MayForward(self, PyTuple_GET_ITEM(args, 0))) {
    return RefuseLoad(self, PyTuple_GET_ITEM(args, 0));
  }
  return original_get_attribute(self, args, wrapped);
}

// C code that passes every name on: weak proxies, and aliases as of types.GenericAlias.
std::map<const PyTypeObject*, getattrofunc> forwarding_loads;
newfunc original_new_alias = nullptr;

PyObject* LoadFromProxy(PyObject* proxy, PyObject* name) {
  PyObject* target = reinterpret_cast<PyWeakReference*>(proxy)->wr_object;
  if (IsGuarded(target) && state.guest_began) return RefuseLoad(target, name);
  return forwarding_loads[Py_TYPE(proxy)](proxy, name);
}

PyObject* NewAlias(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* origin = Argument(args, kwargs, 0, "origin");
  if (origin != nullptr && IsGuarded(origin)) {
    PyErr_SetString(PyExc_TypeError, "[BJ301] a module is not a type");
    return nullptr;
  }
  return original_new_alias(type, args, kwargs);
}

// The definition is static and belongs to all who hold the builtin.
bool ReplaceGetattr() {
  PyObject* builtin = PyDict_GetItemString(PyEval_GetBuiltins(), "getattr");
  if (builtin == nullptr || !PyCFunction_CheckExact(builtin)) return false;
  PyMethodDef* definition = reinterpret_cast<PyCFunctionObject*>(builtin)->m_ml;
  if (definition->ml_flags != METH_FASTCALL) return false;
  auto* replacement = AsPyCFunction(GetAttr);
  if (definition->ml_meth != replacement) {
    original_getattr = reinterpret_cast<FastFunction>(
        reinterpret_cast<void*>(std::exchange(definition->ml_meth, replacement)));
  }
  return true;
}

// guard_forwarders(readers): names of modules or functions, and the packages whose modules they may
// read: a dict of tuples.
PyObject* GuardForwarders(PyObject* /*module*/, PyObject* readers) {
  all_names = PyUnicode_InternFromString("__dict__");
  PyObject* get_attribute = PyDict_GetItemString(TypeDict(&PyBaseObject_Type), "__getattribute__");
  if (all_names == nullptr || !PyDict_CheckExact(readers) || !ReplaceGetattr() ||
      get_attribute == nullptr || Py_TYPE(get_attribute) != &PyWrapperDescr_Type) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_RuntimeError, "getattr() or object is not CPython's");
    return nullptr;
  }
  Py_XSETREF(module_readers, Py_NewRef(readers));
  // One for all classes: CPython compares it where a class inherits the slot.
  wrapperbase* base = reinterpret_cast<PyWrapperDescrObject*>(get_attribute)->d_base;
  if (base->wrapper != GetAttribute) {
    original_get_attribute = std::exchange(base->wrapper, GetAttribute);
    original_new_alias = std::exchange(Py_GenericAliasType.tp_new, NewAlias);
    for (PyTypeObject* type : {&_PyWeakref_ProxyType, &_PyWeakref_CallableProxyType}) {
      forwarding_loads[type] = std::exchange(type->tp_getattro, LoadFromProxy);
    }
  }
  Py_RETURN_NONE;
}

}  // namespace

bool GuestLoads(PyObject* name) { return GuestAccesses(name); }

PyMethodDef module_guard_methods[] = {
    {"guard_module", GuardModule, METH_O, nullptr},
    {"guard_forwarders", GuardForwarders, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

bool ReadyRealModules() {
  module_type.tp_basicsize = PyModule_Type.tp_basicsize;
  return PyType_Ready(&module_type) == 0;
}

}  // namespace belljar::inside::guards
