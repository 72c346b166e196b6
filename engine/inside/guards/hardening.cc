// Hardening of the interpreter's own types at the freeze: a second defence behind the compile-time
// names.
//
// Tripwires: attributes that lead out of the sandbox (f.__globals__, gen.gi_frame, ...) are
// replaced, in their types, by descriptors. These answer library code whose own source names the
// attribute, and refuse all other code called by a guest. They catch look-ups that no table knows
// about: in C under a guest's frame, and in library code that takes the name from its caller or
// calls back an object of the guest (heapq.merge(key=f.__getattribute__)).
//
// Library classes become immutable (Py_TPFLAGS_IMMUTABLETYPE), so that nothing, including setattr()
// in a decorator, can change what other code relies on, and no object's __class__ can change.
#include <initializer_list>
#include <set>

#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {
namespace {

enum class Trip {
  kUnspelled,      // refused to a guest's frame, and to library code that does not name it
  kStore,          // the same for stores only
  kModuleResult,   // refused to a guest if the result is a module
  kForeignResult,  // None for a guest if the result is not its own
  kSubclasses,     // kUnspelled, and for `object` and `type` refused to everyone
  kNotShadowed,    // answers everyone, but no instance may have an attribute of that name
  kGetter,         // refused to a guest if the result is not its own function (functions.cc)
  kCalled,         // the same if nothing else leads to the result
};

struct Tripwire {
  PyObject_HEAD PyObject* original;
  PyObject* name;
  Trip trip;
};

Tripwire* AsTripwire(PyObject* object) { return reinterpret_cast<Tripwire*>(object); }

bool IsOwn(PyObject* value) {
  if (PyType_Check(value)) return IsGuestClass(reinterpret_cast<PyTypeObject*>(value));
  return IsGuestClass(Py_TYPE(value)) || IsProxy(value) || PyUnicode_CheckExact(value) ||
         PyLong_CheckExact(value);
}

bool Holds(PyObject* names, PyObject* name) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    PyObject* item = PyTuple_GET_ITEM(names, i);
    if (item == name) return true;
    if (PyUnicode_CheckExact(item) && PyUnicode_Compare(item, name) == 0) return true;
  }
  return false;
}

// Whether `name` is among the names or string constants of the running code.
bool SpelledInFrame(PyObject* name) {
  PyFrameObject* frame = PyEval_GetFrame();
  if (frame == nullptr) return false;
  PyCodeObject* code = PyFrame_GetCode(frame);
  const bool spelled = Holds(code->co_names, name) || Holds(code->co_consts, name);
  Py_DECREF(code);
  return spelled;
}

// The C half of `abc` needs the subclasses of a class; its frame is ABCMeta.__subclasscheck__.
bool AbcAsks() {
  static PyObject* const own_name = PyUnicode_InternFromString("_abc_subclasscheck");
  return own_name != nullptr && SpelledInFrame(own_name);
}

bool IsRefused(const Tripwire* self) {
  if (InGuestFrame()) return true;
  if (SpelledInFrame(self->name)) return false;
  if (self->trip == Trip::kSubclasses && AbcAsks()) return false;
  return CalledByGuest();
}

bool IsRoot(PyObject* target) {
  return target == reinterpret_cast<PyObject*>(&PyBaseObject_Type) ||
         target == reinterpret_cast<PyObject*>(&PyType_Type);
}

PyObject* TripwireGet(PyObject* object, PyObject* target, PyObject* type) {
  Tripwire* self = AsTripwire(object);
  if (self->trip == Trip::kNotShadowed) {
    return Py_TYPE(self->original)->tp_descr_get(self->original, target, type);
  }
  const bool by_name = self->trip == Trip::kUnspelled || self->trip == Trip::kSubclasses;
  if (target == nullptr) {
    if (self->trip != Trip::kStore && IsRefused(self)) {
      return Refuse(RuleOfRefused(self->name), type == nullptr ? Py_None : type, self->name,
                    "belongs to the interpreter");
    }
    return Py_TYPE(self->original)->tp_descr_get(self->original, target, type);
  }
  if ((self->trip == Trip::kSubclasses && IsRoot(target)) || (by_name && IsRefused(self))) {
    return Refuse(RuleOfRefused(self->name), target, self->name, "belongs to the interpreter");
  }
  PyObject* value = Py_TYPE(self->original)->tp_descr_get(self->original, target, type);
  if (value == nullptr || by_name) return value;
  // Library code called by a guest may store the result where the guest can read it (partialmethod
  // does).
  if (self->trip == Trip::kModuleResult && PyModule_Check(value) && RequestedByGuest()) {
    Py_DECREF(value);
    return Refuse(RuleOfRefused(self->name), target, self->name, "belongs to the interpreter");
  }
  if (((self->trip == Trip::kGetter && !IsShownByProperty(value)) ||
       (self->trip == Trip::kCalled && !IsShownByPartial(value))) &&
      IsRefused(self)) {
    Py_DECREF(value);
    return Refuse(RuleOfRefused(self->name), target, self->name, "belongs to the library");
  }
  if (self->trip == Trip::kForeignResult && !IsOwn(value) && IsRefused(self)) {
    Py_DECREF(value);
    Py_RETURN_NONE;
  }
  return value;
}

int TripwireSet(PyObject* object, PyObject* target, PyObject* value) {
  Tripwire* self = AsTripwire(object);
  descrsetfunc set = Py_TYPE(self->original)->tp_descr_set;
  const bool by_name = self->trip == Trip::kUnspelled || self->trip == Trip::kStore;
  if (set == nullptr || (by_name && IsRefused(self))) {
    Refuse(RuleOfRefused(self->name), target, self->name, "belongs to the interpreter");
    return -1;
  }
  return set(self->original, target, value);
}

PyObject* TripwireRepr(PyObject* object) { return PyObject_Repr(AsTripwire(object)->original); }

// inspect and doctest read these from the descriptors of a class.
PyObject* TripwireGetAttr(PyObject* object, PyObject* name) {
  if (InGuestFrame()) return PyObject_GenericGetAttr(object, name);
  PyObject* value = PyObject_GenericGetAttr(object, name);
  if (value != nullptr || !PyErr_ExceptionMatches(PyExc_AttributeError)) return value;
  PyErr_Clear();
  return PyObject_GetAttr(AsTripwire(object)->original, name);
}

PyTypeObject data_tripwire_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "getset_descriptor",
    .tp_basicsize = sizeof(Tripwire),
    .tp_repr = TripwireRepr,
    .tp_getattro = TripwireGetAttr,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_descr_get = TripwireGet,
    .tp_descr_set = TripwireSet,
};

// A method is a non-data descriptor and must not gain tp_descr_set.
PyTypeObject method_tripwire_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "method_descriptor",
    .tp_basicsize = sizeof(Tripwire),
    .tp_repr = TripwireRepr,
    .tp_getattro = TripwireGetAttr,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_descr_get = TripwireGet,
};

bool Install(PyTypeObject* type, const char* name, Trip trip = Trip::kUnspelled) {
  PyObject* names = TypeDict(type);
  PyObject* old = PyDict_GetItemString(names, name);
  if (old == nullptr) return true;  // not in this version
  if (Py_TYPE(old)->tp_descr_get == nullptr) return true;
  const bool data = Py_TYPE(old)->tp_descr_set != nullptr || trip == Trip::kNotShadowed;
  auto* wire = PyObject_New(Tripwire, data ? &data_tripwire_type : &method_tripwire_type);
  if (wire == nullptr) return false;
  wire->original = Py_NewRef(old);
  wire->name = PyUnicode_InternFromString(name);
  wire->trip = trip;
  const bool fine = PyDict_SetItemString(names, name, reinterpret_cast<PyObject*>(wire)) == 0;
  Py_DECREF(wire);
  PyType_Modified(type);
  return fine;
}

// A type without a public C name, taken from an object such as `types.FrameType`.
PyTypeObject* Named(PyObject* types, const char* name) {
  PyObject* type = PyObject_GetAttrString(types, name);
  if (type == nullptr) PyErr_Clear();
  Py_XDECREF(type);  // the module keeps it alive
  return reinterpret_cast<PyTypeObject*>(type);
}

// What shows the functions that it calls.
bool InstallOnCallers() {
  PyObject* functools = PyImport_ImportModule("functools");
  if (functools == nullptr) return false;
  PyTypeObject* partial = Named(functools, "partial");
  Py_DECREF(functools);
  bool fine = partial != nullptr;
  for (const char* name : {"fget", "fset", "fdel"}) {
    fine = fine && Install(&PyProperty_Type, name, Trip::kGetter);
  }
  for (const char* name : {"func", "args", "keywords"}) {
    fine = fine && Install(partial, name, Trip::kCalled);
  }
  return fine;
}

bool InstallTripwires() {
  struct Wire {
    const char* type;
    const char* names[7];
  };
  // Each of these is one step away from a frame, a code object or a real namespace.
  constexpr Wire kWires[] = {
      {"FunctionType", {"__globals__", "__code__", "__closure__", "__builtins__"}},
      {"FrameType",
       {"f_back", "f_builtins", "f_code", "f_globals", "f_locals", "f_trace", "f_generator"}},
      {"GeneratorType", {"gi_frame", "gi_code"}},
      {"CoroutineType", {"cr_frame", "cr_code"}},
      {"AsyncGeneratorType", {"ag_frame", "ag_code"}},
      {"TracebackType", {"tb_frame", "tb_next"}},
      {"CellType", {"cell_contents"}},
  };
  PyObject* types = PyImport_ImportModule("types");
  if (types == nullptr) return false;
  bool fine = true;
  for (const Wire& wire : kWires) {
    PyTypeObject* type = Named(types, wire.type);
    for (const char* name : wire.names) {
      if (type != nullptr && name != nullptr) fine = fine && Install(type, name);
    }
  }
  Py_DECREF(types);
  return fine && Install(&PyCFunction_Type, "__self__", Trip::kModuleResult) &&
         Install(&PyType_Type, "__subclasses__", Trip::kSubclasses) &&
         Install(reinterpret_cast<PyTypeObject*>(PyExc_AttributeError), "obj",
                 Trip::kForeignResult) &&
         Install(reinterpret_cast<PyTypeObject*>(PyExc_BaseException), "__traceback__") &&
         // It sets any attribute: library/copy.py does without.
         Install(reinterpret_cast<PyTypeObject*>(PyExc_BaseException), "__setstate__") &&
         InstallOnCallers() && Install(&PyFunction_Type, "__defaults__", Trip::kStore) &&
         Install(&PyFunction_Type, "__kwdefaults__", Trip::kStore) &&
         // Called by except*: see groups.cc.
         Install(reinterpret_cast<PyTypeObject*>(PyExc_BaseExceptionGroup), "split",
                 Trip::kNotShadowed) &&
         Install(reinterpret_cast<PyTypeObject*>(PyExc_BaseExceptionGroup), "derive",
                 Trip::kNotShadowed);
}

newfunc original_function_new = nullptr;
newfunc original_code_new = nullptr;

PyObject* FunctionNew(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  if (CalledByGuest()) {  // library code that calls back would create one on behalf of a guest
    PyErr_SetString(PyExc_TypeError, "[BJ502] functions are made by def and lambda only");
    return nullptr;
  }
  return original_function_new(type, args, kwargs);
}

PyObject* CodeNew(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  if (CalledByGuest()) {
    PyErr_SetString(PyExc_TypeError, "[BJ502] code objects may not be made");
    return nullptr;
  }
  return original_code_new(type, args, kwargs);
}

// A mappingproxy compares and merges by passing the underlying dict to the other operand: a guest's
// __eq__ or __ror__ would get a writable dict of the library. It gets the proxy instead.
richcmpfunc original_proxy_compare = nullptr;
binaryfunc original_proxy_or = nullptr;

bool IsMappingProxy(PyObject* object) { return Py_TYPE(object) == &PyDictProxy_Type; }

// Whether it is a dict, or a proxy of one, that compares and merges without passing the other
// operand on. A library class may pass it to an object of the guest: UserList.__eq__ compares its
// `data`.
bool IsPlainDict(PyObject* object) {
  struct MappingProxy {  // as in CPython's descrobject.c
    PyObject_HEAD PyObject* mapping;
  };
  while (IsMappingProxy(object)) object = reinterpret_cast<MappingProxy*>(object)->mapping;
  return PyDict_Check(object) && !IsGuestClass(Py_TYPE(object));
}

// Whether the operation would pass the dict behind `proxy` to `other`.
bool ShowsDict(PyObject* proxy, PyObject* other) {
  return IsMappingProxy(proxy) && IsPlainDict(proxy) && !IsPlainDict(other);
}

PyObject* ProxyCompare(PyObject* self, PyObject* other, int operation) {
  if (ShowsDict(self, other)) Py_RETURN_NOTIMPLEMENTED;
  return original_proxy_compare(self, other, operation);
}

PyObject* ProxyOr(PyObject* left, PyObject* right) {
  if (ShowsDict(left, right) || ShowsDict(right, left)) Py_RETURN_NOTIMPLEMENTED;
  return original_proxy_or(left, right);
}

template <typename Slot>
void ReplaceMethod(PyTypeObject* type, Slot original, Slot replacement) {
  ReplaceWrapped(type, reinterpret_cast<void*>(original), reinterpret_cast<void*>(replacement));
}

void ReduceMappingProxy() {
  PyTypeObject* type = &PyDictProxy_Type;
  original_proxy_compare = type->tp_richcompare;
  original_proxy_or = type->tp_as_number->nb_or;
  type->tp_richcompare = ProxyCompare;
  type->tp_as_number->nb_or = ProxyOr;
  ReplaceMethod(type, original_proxy_compare, ProxyCompare);
  ReplaceMethod(type, original_proxy_or, ProxyOr);
}

// The subclasses of `type`, as a new list.
PyObject* Subclasses(PyObject* subclasses_of, PyTypeObject* type) {
  return PyObject_CallOneArg(subclasses_of, reinterpret_cast<PyObject*>(type));
}

// property, classmethod and staticmethod objects are attributes of classes: calling __init__ again
// would put a guest's function into a library class.
initproc original_property_init = nullptr;
initproc original_classmethod_init = nullptr;
initproc original_staticmethod_init = nullptr;

bool HasAny(PyObject* self, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    // The member descriptors of the three types, which attributes of a subclass cannot override.
    PyObject* value = nullptr;
    PyTypeObject* base = Py_TYPE(self);
    while ((base->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) base = base->tp_base;
    PyObject* member = PyDict_GetItemString(TypeDict(base), name);
    if (member != nullptr) {
      if (Py_TYPE(member) == &data_tripwire_type) member = AsTripwire(member)->original;
      value = Py_TYPE(member)->tp_descr_get(member, self, reinterpret_cast<PyObject*>(base));
    }
    if (value == nullptr) PyErr_Clear();
    const bool has = value != nullptr && value != Py_None;
    Py_XDECREF(value);
    if (has) return true;
  }
  return false;
}

int InitOnce(initproc original, bool is_made, PyObject* self, PyObject* args, PyObject* kwargs) {
  if (is_made && !IsGuestClass(Py_TYPE(self)) && CalledByGuest()) {
    PyErr_Format(PyExc_TypeError, "[BJ305] this '%.200s' object is made and may not be changed",
                 Py_TYPE(self)->tp_name);
    return -1;
  }
  return original(self, args, kwargs);
}

int PropertyInit(PyObject* self, PyObject* args, PyObject* kwargs) {
  const bool is_made = HasAny(self, {"fget", "fset", "fdel"});
  return InitOnce(original_property_init, is_made, self, args, kwargs);
}

int ClassMethodInit(PyObject* self, PyObject* args, PyObject* kwargs) {
  return InitOnce(original_classmethod_init, HasAny(self, {"__func__"}), self, args, kwargs);
}

int StaticMethodInit(PyObject* self, PyObject* args, PyObject* kwargs) {
  return InitOnce(original_staticmethod_init, HasAny(self, {"__func__"}), self, args, kwargs);
}

bool ReplaceInit(PyTypeObject* type, initproc original, initproc replacement,
                 PyObject* subclasses_of) {
  if (type->tp_init == original) type->tp_init = replacement;
  PyObject* below = Subclasses(subclasses_of, type);
  if (below == nullptr) return false;
  bool fine = true;
  for (Py_ssize_t i = 0; fine && i < PyList_GET_SIZE(below); ++i) {
    auto* subclass = reinterpret_cast<PyTypeObject*>(PyList_GET_ITEM(below, i));
    fine = ReplaceInit(subclass, original, replacement, subclasses_of);
  }
  Py_DECREF(below);
  return fine;
}

bool InstallOnce(PyTypeObject* type, initproc* original, initproc replacement,
                 PyObject* subclasses_of) {
  *original = type->tp_init;
  ReplaceMethod(type, *original, replacement);
  return ReplaceInit(type, *original, replacement, subclasses_of);
}

// A Context exposes the library's own context variables, and _decimal assumes that the value in its
// variable is a decimal.Context. A guest may only set variables that it created.
newfunc original_variable_new = nullptr;
destructor original_variable_dealloc = nullptr;
PyObject* original_variable_set = nullptr;     // method descriptor
std::set<const PyObject*> variables_of_guest;  // never dereferenced

PyObject* VariableNew(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* made = original_variable_new(type, args, kwargs);
  // While a module is loaded (origin.cc) they are the library's; if not, the program loses one.
  const bool of_module = state.loading && !InGuestFrame();
  if (made != nullptr && !of_module && RequestedByGuest()) variables_of_guest.insert(made);
  return made;
}

void VariableDealloc(PyObject* self) {
  variables_of_guest.erase(self);
  original_variable_dealloc(self);
}

// Unhardened packages set their own variables, to a value of the same type. They also call guest
// objects, from code that happens to name `set`.
bool LibrarySets(PyObject* variable, PyObject* value) {
  static PyObject* const own_name = PyUnicode_InternFromString("set");
  if (!state.lenient_classes || own_name == nullptr || InGuestFrame() ||
      !SpelledInFrame(own_name)) {
    return false;
  }
  PyObject* current = nullptr;
  if (PyContextVar_Get(variable, nullptr, &current) < 0) PyErr_Clear();
  const bool same = current != nullptr && Py_TYPE(current) == Py_TYPE(value);
  Py_XDECREF(current);
  return same;
}

PyObject* VariableSet(PyObject* self, PyObject* value) {
  if (!variables_of_guest.contains(self) && CalledByGuest() && !LibrarySets(self, value)) {
    PyErr_SetString(PyExc_TypeError, "[BJ305] this context variable is the library's own");
    return nullptr;
  }
  return reinterpret_cast<PyMethodDescrObject*>(original_variable_set)
      ->d_method->ml_meth(self, value);
}

PyMethodDef variable_set = {"set", VariableSet, METH_O, nullptr};

bool ReduceContextVariables() {
  PyTypeObject* type = &PyContextVar_Type;
  PyObject* old = PyDict_GetItemString(TypeDict(type), "set");
  if (old == nullptr || Py_TYPE(old) != &PyMethodDescr_Type ||
      reinterpret_cast<PyMethodDescrObject*>(old)->d_method->ml_flags != METH_O) {
    PyErr_SetString(PyExc_RuntimeError, "ContextVar.set is not what this build knows");
    return false;
  }
  original_variable_set = Py_NewRef(old);
  variable_set.ml_doc = reinterpret_cast<PyMethodDescrObject*>(old)->d_method->ml_doc;
  PyObject* set = PyDescr_NewMethod(type, &variable_set);
  const bool fine = set != nullptr && PyDict_SetItemString(TypeDict(type), "set", set) == 0;
  Py_XDECREF(set);
  original_variable_new = type->tp_new;
  original_variable_dealloc = type->tp_dealloc;
  type->tp_new = VariableNew;
  type->tp_dealloc = VariableDealloc;
  PyType_Modified(type);
  return fine;
}

// Marks `type` and all heap types derived from it.
bool MakeImmutable(PyTypeObject* type, PyObject* subclasses_of) {
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 && !IsOpenPackageType(type)) {
    type->tp_flags |= Py_TPFLAGS_IMMUTABLETYPE;
  }
  PyObject* below = Subclasses(subclasses_of, type);
  if (below == nullptr) return false;
  bool fine = true;
  for (Py_ssize_t i = 0; fine && i < PyList_GET_SIZE(below); ++i) {
    fine = MakeImmutable(reinterpret_cast<PyTypeObject*>(PyList_GET_ITEM(below, i)), subclasses_of);
  }
  Py_DECREF(below);
  return fine;
}

}  // namespace

void ReplaceWrapped(PyTypeObject* type, void* original, void* replacement) {
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(TypeDict(type), &position, &name, &value)) {
    if (Py_TYPE(value) != &PyWrapperDescr_Type) continue;
    void*& wrapped = reinterpret_cast<PyWrapperDescrObject*>(value)->d_wrapped;
    if (wrapped == original) wrapped = replacement;
  }
}

bool ReadyHardeningTypes() {
  return PyType_Ready(&data_tripwire_type) == 0 && PyType_Ready(&method_tripwire_type) == 0;
}

bool InstallHardening() {
  PyObject* subclasses_of = PyDict_GetItemString(TypeDict(&PyType_Type), "__subclasses__");
  if (subclasses_of == nullptr || !MakeImmutable(&PyBaseObject_Type, subclasses_of)) return false;
  state.subclasses_of = Py_NewRef(subclasses_of);
  original_function_new = PyFunction_Type.tp_new;
  original_code_new = PyCode_Type.tp_new;
  ReduceMappingProxy();
  if (!ReduceContextVariables() ||
      !InstallOnce(&PyProperty_Type, &original_property_init, PropertyInit, subclasses_of) ||
      !InstallOnce(&PyClassMethod_Type, &original_classmethod_init, ClassMethodInit,
                   subclasses_of) ||
      !InstallOnce(&PyStaticMethod_Type, &original_staticmethod_init, StaticMethodInit,
                   subclasses_of)) {
    return false;
  }
  PyFunction_Type.tp_new = FunctionNew;
  PyCode_Type.tp_new = CodeNew;
  return InstallFileGuard() && InstallFunctionGuard() && InstallTripwires();
}

}  // namespace belljar::inside::guards
