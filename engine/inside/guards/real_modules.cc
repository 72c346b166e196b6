// Real modules, for profiles with unhardened packages (docs/policy.md): their objects have modules
// in public attributes, and loading such an attribute is native bytecode that no hook sees. A guest
// may therefore obtain a real module, but must get nothing from it:
// `figure.re.enum.sys.modules["os"]`.
//
// Each real module gets a class of ours, which refuses loads by a guest's own instruction and
// answers everyone else: library code, and C code called from a guest's frame (it has no frame of
// its own). A separate class is necessary because CPython specialises loads from exact modules
// (LOAD_ATTR_MODULE), which then bypass the slot.
#include <opcode.h>

#include <map>
#include <optional>

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

PyObject* Load(PyObject* object, PyObject* name) {
  if (GuestAccesses(name)) {
    return Refuse("BJ301", object, name, "is of a real module; import the module by its name");
  }
  return OriginalOf(original_loads, object, PyModule_Type.tp_getattro)(object, name);
}

int Store(PyObject* object, PyObject* name, PyObject* value) {
  if (GuestAccesses(name)) {
    Refuse("BJ305", object, name, "may not be set: it is of a real module");
    return -1;
  }
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

}  // namespace

bool GuestLoads(PyObject* name) { return GuestAccesses(name); }

PyMethodDef module_guard_methods[] = {
    {"guard_module", GuardModule, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

bool ReadyRealModules() {
  module_type.tp_basicsize = PyModule_Type.tp_basicsize;
  return PyType_Ready(&module_type) == 0;
}

}  // namespace belljar::inside::guards
