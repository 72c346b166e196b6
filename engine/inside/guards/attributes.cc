// Loads and stores whose safety depends on the object: names with a leading underscore, public
// stores, and every access with a computed name.
#include <cstddef>
#include <string_view>

#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {
namespace {

PyObject* super_thisclass = nullptr;  // member descriptors: normal attribute look-up on a
PyObject* super_self = nullptr;       // super object asks the guest's class first
PyObject* super_self_class = nullptr;

PyObject* ReadMember(PyObject* descriptor, PyObject* object) {
  return Py_TYPE(descriptor)
      ->tp_descr_get(descriptor, object, reinterpret_cast<PyObject*>(Py_TYPE(object)));
}

// The class that answers super().name.
PyTypeObject* FindInSuper(PyObject* object, PyObject* name) {
  PyObject* after = ReadMember(super_thisclass, object);
  PyObject* start = ReadMember(super_self_class, object);
  PyTypeObject* found = nullptr;
  if (after != nullptr && start != nullptr && PyType_Check(start)) {
    PyObject* mro = AsType(start)->tp_mro;
    bool passed = false;
    for (Py_ssize_t i = 0; mro != nullptr && i < PyTuple_GET_SIZE(mro); ++i) {
      PyObject* base = PyTuple_GET_ITEM(mro, i);
      if (passed && PyDict_GetItemWithError(TypeDict(AsType(base)), name) != nullptr) {
        found = AsType(base);
        break;
      }
      passed = passed || base == after;
    }
  }
  PyErr_Clear();
  Py_XDECREF(after);
  Py_XDECREF(start);
  return found;
}

// types.SimpleNamespace, or a class of ours directly below it (argparse.Namespace): what is in an
// instance is the program's. A program's class below it is judged as every class of its own.
bool IsNamespace(const PyTypeObject* type) {
  const PyTypeObject* plain = AsType(state.namespace_type);
  return type == plain || (type->tp_base == plain && !IsGuestClass(type));
}

// Whether `name` resolves to something of the guest's own: its class, its instance, its function.
bool GuestResolves(PyObject* target, PyObject* name) {
  PyTypeObject* type = Py_TYPE(target);
  if (PyType_Check(target)) {
    PyTypeObject* meta_owner = FindInMro(type, name);
    if (meta_owner != nullptr && !IsGuestClass(meta_owner)) return false;
    PyTypeObject* owner = FindInMro(AsType(target), name);
    return owner == nullptr || IsGuestClass(owner);
  }
  if (PyObject_TypeCheck(target, &PySuper_Type)) {
    PyTypeObject* owner = FindInSuper(target, name);
    return owner == nullptr || IsGuestClass(owner);
  }
  PyTypeObject* owner = FindInMro(type, name);
  if (owner != nullptr) {
    if (IsGuestClass(owner)) return true;
    return PyTuple_Check(target) && PySet_Contains(state.tuple_names, name) == 1;
  }
  return IsGuestClass(type) || IsGuestFunction(target) || IsProxy(target) || IsNamespace(type) ||
         IsOpenPackageType(type);
}

// Whether nobody can have given the object such an attribute: None, numbers, containers. CPython
// then handles the access, with its own error message.
bool CannotHave(PyObject* target, PyObject* name) {
  PyTypeObject* type = Py_TYPE(target);
  return type->tp_getattro == PyObject_GenericGetAttr &&
         type->tp_setattro == PyObject_GenericSetAttr && type->tp_dictoffset == 0 &&
         (type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 && FindInMro(type, name) == nullptr;
}

PyObject* Sealed(PyObject* target, PyObject* name, PyObject* result) {
  if (result != nullptr && PyModule_Check(result)) {
    Py_DECREF(result);
    return Refuse("BJ301", target, name, "is a module; import it by its name");
  }
  return result;
}

bool ForbiddenOnMetaclass(PyObject* target, PyObject* name) {
  return PyType_Check(target) && PyType_IsSubtype(AsType(target), &PyType_Type) &&
         IsForbiddenOnMetaclass(name);
}

// --- object.__setattr__ and similar: the same method, with target and name checked --------------

// Whether an instance of the program's class may get an attribute of that special name: if it is
// the program's own, or if it only hides a method of the library in this instance (`__str__`), as
// an entry of its __dict__ could too.
bool MayStoreInInstance(PyObject* target, PyObject* name) {
  if (PyType_Check(target) || !IsGuestClass(Py_TYPE(target))) return false;
  const std::string_view text = Text(name);
  if (text == "__class__" || text == "__dict__") return false;
  if (text == "__doc__" || GuestResolves(target, name)) return true;
  if (PySet_Contains(state.class_dunders, name) != 1) return false;
  PyTypeObject* owner = FindInMro(Py_TYPE(target), name);
  PyObject* found = owner == nullptr ? nullptr : PyDict_GetItemWithError(TypeDict(owner), name);
  return found != nullptr && Py_TYPE(found)->tp_descr_set == nullptr;
}

struct Setter {
  PyObject_HEAD PyObject* method;
  PyObject* self;   // the bound object, or nullptr
  PyObject* owner;  // unbound: the class it was taken from
  bool deletes;
  vectorcallfunc vectorcall;
};

void SetterDealloc(PyObject* object) {
  auto* self = reinterpret_cast<Setter*>(object);
  Py_XDECREF(self->method);
  Py_XDECREF(self->self);
  Py_XDECREF(self->owner);
  Py_TYPE(object)->tp_free(object);
}

// A special name that the program may store in its own object without further checks
// (GuardedDunderSet).
bool IsOwnDunderOfInstance(PyObject* target, PyObject* name, NameKind kind) {
  if (kind != NameKind::kNativeDunder && kind != NameKind::kGuardedDunder) return false;
  return !PyExceptionInstance_Check(target) && MayStoreInInstance(target, name);
}

PyObject* SetterCall(PyObject* object, PyObject* const* args, size_t flags, PyObject* names) {
  auto* self = reinterpret_cast<Setter*>(object);
  const Py_ssize_t given = PyVectorcall_NARGS(flags);
  const Py_ssize_t wanted = (self->deletes ? 1 : 2) + (self->self == nullptr ? 1 : 0);
  if (given != wanted || (names != nullptr && PyTuple_GET_SIZE(names) != 0)) {
    PyErr_Format(PyExc_TypeError, "%s expected %zd arguments, got %zd",
                 self->deletes ? "__delattr__" : "__setattr__", wanted, given);
    return nullptr;
  }
  PyObject* target = self->self == nullptr ? *args++ : self->self;
  // A method written in Python accepts anything as `self`, and may forward the store to another
  // object (typing's aliases: `__origin__`).
  if (self->owner != nullptr && !PyObject_TypeCheck(target, AsType(self->owner))) {
    PyErr_Format(PyExc_TypeError, "descriptor requires a '%.200s' object, not '%.200s'",
                 AsType(self->owner)->tp_name, Py_TYPE(target)->tp_name);
    return nullptr;
  }
  // Checked like setattr(), but executed by the base class's own method: GuardedSet would call the
  // guest's override again.
  PyObject* name = args[0];
  const NameKind kind = Classify(name);
  if (kind == NameKind::kError) return nullptr;
  const bool own = PyType_Check(target) ? IsGuestClass(AsType(target))
                                        : IsGuestClass(Py_TYPE(target)) || IsGuestFunction(target);
  const bool plain = kind == NameKind::kPublic || kind == NameKind::kPrivate ||
                     IsOwnDunderOfInstance(target, name, kind);
  if (ForbiddenOnMetaclass(target, name)) {
    return Refuse("BJ304", target, name, "may not be set on a metaclass");
  }
  if (!own && !(kind == NameKind::kPublic && MayWritePublic(target))) {
    return Refuse("BJ305", target, name, "may not be set: the program did not create it");
  }
  if (!plain) {
    if (GuardedSet(target, name, self->deletes ? nullptr : args[1]) < 0) return nullptr;
    Py_RETURN_NONE;
  }
  PyObject* stack[4] = {nullptr, target, name, self->deletes ? nullptr : args[1]};
  PyObject** first = self->self == nullptr ? stack + 1 : stack + 2;
  const auto count = static_cast<size_t>(wanted);
  return PyObject_Vectorcall(self->method, first, count | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
}

PyTypeObject setter_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "method-wrapper",
    .tp_basicsize = sizeof(Setter),
    .tp_dealloc = SetterDealloc,
    .tp_vectorcall_offset = offsetof(Setter, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
};

// `target` is a class (the method is unbound), a super object or an instance (bound).
PyObject* MakeSetter(PyObject* target, PyObject* name, bool deletes) {
  PyObject* method = PyObject_GetAttr(target, name);
  if (method == nullptr || IsGuestFunction(method)) return method;
  PyObject* self = nullptr;
  if (PyObject_TypeCheck(target, &PySuper_Type)) {
    self = ReadMember(super_self, target);
    if (self == nullptr || self == Py_None) {
      Py_XDECREF(self);
      Py_DECREF(method);
      return Refuse("BJ301", target, name, "needs a bound super()");
    }
  } else if (!PyType_Check(target)) {
    self = Py_NewRef(target);
  }
  auto* made = PyObject_New(Setter, &setter_type);
  if (made == nullptr) {
    Py_XDECREF(self);
    Py_DECREF(method);
    return nullptr;
  }
  made->method = method;
  made->self = self;
  made->owner = PyType_Check(target) ? Py_NewRef(target) : nullptr;
  made->deletes = deletes;
  made->vectorcall = SetterCall;
  return reinterpret_cast<PyObject*>(made);
}

// --- dunder names -------------------------------------------------------------------------------

// Whether a program may see the entry in the namespace of its own class: if `C.name` would give it
// too, and it is not a library method whose target must be checked (__setattr__ of a frozen
// dataclass stores any name).
bool IsShownOfClass(PyObject* name, PyObject* value) {
  if (!PyUnicode_CheckExact(name)) return false;
  switch (Classify(name)) {
    case NameKind::kPublic:
    case NameKind::kPrivate:
    case NameKind::kNativeDunder: return true;
    case NameKind::kGuardedDunder: {
      const std::string_view text = Text(name);
      // The compiler of 3.13 adds the last two to every class: a number, and names.
      return text == "__slots__" || text == "__match_args__" || text == "__firstlineno__" ||
             text == "__static_attributes__" ||
             (PySet_Contains(state.class_dunders, name) == 1 && IsGuestFunction(value));
    }
    case NameKind::kRefused: return false;
    case NameKind::kError: PyErr_Clear(); return false;
  }
  return false;
}

// `C.__dict__` and vars(C): a copy without the entries of the interpreter and the library,
// read-only like CPython's.
PyObject* NamespaceOfClass(PyTypeObject* type) {
  PyObject* shown = PyDict_New();
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (shown != nullptr && PyDict_Next(TypeDict(type), &position, &name, &value)) {
    if (IsShownOfClass(name, value) && PyDict_SetItem(shown, name, value) < 0) Py_CLEAR(shown);
  }
  if (shown == nullptr) return nullptr;
  PyObject* result = PyDictProxy_New(shown);
  Py_DECREF(shown);
  return result;
}

// A classmethod around a function. Around another descriptor it passes its argument, whatever it
// is, to that descriptor's __get__: functools.cached_property then reads and writes the object's
// __dict__.
bool BindsFunction(PyObject* target) {
  if (Py_TYPE(target) != &PyClassMethod_Type) return false;
  PyObject* wrapped = PyObject_GetAttrString(target, "__wrapped__");
  if (wrapped == nullptr) PyErr_Clear();
  const bool binds = wrapped != nullptr && PyFunction_Check(wrapped);
  Py_XDECREF(wrapped);
  return binds;
}

// A property of the program's, or without a getter. One of the library would be given any object.
bool IsOwnProperty(PyObject* target) {
  if (Py_TYPE(target) != &PyProperty_Type) return false;
  PyObject* getter = PyObject_GetAttrString(target, "fget");  // see InstallOnCallers
  if (getter == nullptr) PyErr_Clear();
  Py_XDECREF(getter);
  return getter != nullptr;
}

// __subclasses__() of a program's class, whose subclasses are also the program's.
PyObject* SubclassesOf(PyObject* self, PyObject* /*unused*/) {
  PyObject* all = PyObject_CallOneArg(state.subclasses_of, self);
  PyObject* own = all == nullptr ? nullptr : PyList_New(0);
  for (Py_ssize_t i = 0; own != nullptr && i < PyList_GET_SIZE(all); ++i) {
    PyObject* each = PyList_GET_ITEM(all, i);
    if (IsGuestClass(AsType(each)) && PyList_Append(own, each) < 0) Py_CLEAR(own);
  }
  Py_XDECREF(all);
  return own;
}

PyMethodDef subclasses_method = {"__subclasses__", SubclassesOf, METH_NOARGS, nullptr};

PyObject* GuardedDunderGet(PyObject* target, PyObject* name) {
  const std::string_view text = Text(name);
  const bool is_class = PyType_Check(target);
  bool allowed = false;
  if (text == "__setattr__" || text == "__delattr__") {
    return MakeSetter(target, name, text == "__delattr__");
  }
  if (text == "__dict__" && IsOwnModule(target)) return NamespaceOfModule(target);
  if (text == "__dict__") {
    if (is_class && IsGuestClass(AsType(target))) return NamespaceOfClass(AsType(target));
    // An instance's own attributes. The dict of a library class would expose its internals.
    allowed = !is_class && (IsGuestClass(Py_TYPE(target)) ||
                            (PyFunction_Check(target) && IsGuestFunction(target)) ||
                            IsNamespace(Py_TYPE(target)));
  } else if (text == "__mro__" || text == "__bases__" || text == "__base__" ||
             text == "__abstractmethods__") {
    // mro() is harmless on any class: uses of a library class are checked where it is called,
    // derived from or written to.
    allowed = is_class;
  } else if (text == "__subclasses__" && is_class && IsGuestClass(AsType(target))) {
    return PyCFunction_New(&subclasses_method, target);
  } else if (text == "__traceback__" && PyExceptionInstance_Check(target)) {
    return PyObject_CallOneArg(state.traceback_of, target);  // the real one has frames
  } else if (text == "__dataclass_fields__") {
    // A copy: dataclasses() inspects the dict of the class (KeepFields).
    PyObject* fields = PyObject_GetAttr(target, name);
    if (fields == nullptr) return nullptr;
    PyObject* copy = PyDict_CheckExact(fields) ? PyDict_Copy(fields) : nullptr;
    Py_DECREF(fields);
    if (copy != nullptr || PyErr_Occurred()) return copy;
  } else if (text == "__get__") {
    allowed = PyFunction_Check(target) || IsOwnProperty(target) || BindsFunction(target) ||
              Py_TYPE(target) == &PyStaticMethod_Type || GuestResolves(target, name);
  } else if (text == "__wrapped__" ||
             (text == "__func__" && (Py_TYPE(target) == &PyClassMethod_Type ||
                                     Py_TYPE(target) == &PyStaticMethod_Type))) {
    PyObject* wrapped = PyObject_GetAttr(target, name);
    if (wrapped == nullptr || IsGuestFunction(wrapped)) return wrapped;
    Py_DECREF(wrapped);
  } else if (text == "__self__" || text == "__func__" || text == "__defaults__" ||
             text == "__kwdefaults__") {
    allowed = IsGuestFunction(target);
  } else {
    allowed = GuestResolves(target, name);
  }
  if (allowed) return Sealed(target, name, PyObject_GetAttr(target, name));
  return Refuse("BJ301", target, name, "belongs to the interpreter");
}

int RefuseStore(PyObject* target, PyObject* name, const char* reason) {
  Refuse("BJ304", target, name, reason);
  return -1;
}

int GuardedDunderSet(PyObject* target, PyObject* name, PyObject* value) {
  const std::string_view text = Text(name);
  if (text == "__class__") return RefuseStore(target, name, "may not be set");
  if (PyType_Check(target)) {
    PyTypeObject* type = AsType(target);
    if (!IsGuestClass(type)) return RefuseStore(target, name, "may not be set");
    // The name of a class is not used for any decision; type() accepts any name too.
    const bool named = (text == "__name__" || text == "__qualname__") && value != nullptr &&
                       PyUnicode_CheckExact(value);
    if (!named && PySet_Contains(state.class_dunders, name) != 1) {
      return RefuseStore(target, name, "may not be set");
    }
    if (text == "__match_args__" && value != nullptr) {
      PyObject* checked = CheckMatchArgs(value);
      if (checked == nullptr) return -1;
      const int result = PyObject_SetAttr(target, name, checked);
      Py_DECREF(checked);
      return result;
    }
    return PyObject_SetAttr(target, name, value);
  }
  if (IsGuestFunction(target) && !PyMethod_Check(target)) {
    if (PySet_Contains(state.function_dunders, name) == 1) {
      return PyObject_SetAttr(target, name, value);
    }
    return RefuseStore(target, name, "may not be set");
  }
  if (PyExceptionInstance_Check(target) && PySet_Contains(state.exception_dunders, name) == 1) {
    return PyObject_SetAttr(target, name, value);
  }
  if (PyExceptionInstance_Check(target) && text == "__traceback__" && value == Py_None) {
    return PyObject_SetAttr(target, name, value);
  }
  if (IsGuestClass(Py_TYPE(target))) {
    // __dict__ only as a plain dict: the interpreter accepts any subclass and then bypasses its
    // methods.
    if (text == "__dict__" && value != nullptr) {
      if (PyDict_CheckExact(value)) return PyObject_SetAttr(target, name, value);
      return RefuseStore(target, name,
                         "takes a plain dict only; define __getattr__ and __setattr__ instead");
    }
    if (MayStoreInInstance(target, name)) return PyObject_SetAttr(target, name, value);
  }
  return RefuseStore(target, name, "may not be set");
}

bool MayWritePrivate(PyObject* target) {
  if (IsOwnModule(target)) return true;
  if (PyType_Check(target)) return IsGuestClass(AsType(target));
  return IsGuestClass(Py_TYPE(target)) || (IsGuestFunction(target) && !PyMethod_Check(target)) ||
         IsNamespace(Py_TYPE(target)) || IsOpenPackageType(Py_TYPE(target));
}

}  // namespace

bool MayWritePublic(PyObject* target) {
  PyTypeObject* type = Py_TYPE(target);
  if ((type->tp_flags & kGuestMade) != 0) return true;
  // Not for classes of unhardened packages either: code that runs after the program relies on them.
  if (PyType_Check(target)) return IsGuestClass(AsType(target));
  if (PyFunction_Check(target)) return IsGuestFunction(target);
  if (PyModule_Check(target) || IsProxy(target)) return false;
  if (PyExceptionInstance_Check(target) || IsGuestClass(type)) return true;
  if (PySet_Contains(state.writable_types, reinterpret_cast<PyObject*>(type)) == 1) return true;
  return IsOpenPackageType(type);
}

namespace {

PyObject* Get(PyObject* target, PyObject* name) {
  if (PyModule_Check(target) && PyUnicode_CheckExact(name)) {
    return Refuse("BJ301", target, name, "is of a real module; import the module by its name");
  }
  switch (Classify(name)) {
    case NameKind::kPublic:
    case NameKind::kNativeDunder: return Sealed(target, name, PyObject_GetAttr(target, name));
    case NameKind::kPrivate:
      if (GuestResolves(target, name) || CannotHave(target, name)) {
        return Sealed(target, name, PyObject_GetAttr(target, name));
      }
      return Refuse("BJ302", target, name, "is private to a class that the program did not define");
    case NameKind::kGuardedDunder: return GuardedDunderGet(target, name);
    case NameKind::kRefused:
      return Refuse(RuleOfRefused(name), target, name, "belongs to the interpreter");
    case NameKind::kError: return nullptr;
  }
  return nullptr;
}

}  // namespace

PyObject* GuardedGet(PyObject* target, PyObject* name) {
  const NameLoadScope now;
  return Get(target, name);
}

int GuardedSet(PyObject* target, PyObject* name, PyObject* value) {
  const NameKind kind = Classify(name);
  if (kind != NameKind::kError && ForbiddenOnMetaclass(target, name)) {
    return RefuseStore(target, name, "may not be set on a metaclass");
  }
  switch (kind) {
    case NameKind::kPublic:
      if (IsProxy(target)) return PyObject_SetAttr(target, name, value);  // raises its own error
      if (MayWritePublic(target) || CannotHave(target, name)) {
        return PyObject_SetAttr(target, name, value);
      }
      Refuse("BJ305", target, name, "may not be set: the program did not create it");
      return -1;
    case NameKind::kPrivate:
      if (MayWritePrivate(target) || CannotHave(target, name)) {
        return PyObject_SetAttr(target, name, value);
      }
      Refuse("BJ302", target, name, "is private to a class that the program did not define");
      return -1;
    case NameKind::kNativeDunder:
    case NameKind::kGuardedDunder: return GuardedDunderSet(target, name, value);
    case NameKind::kRefused:
      // The program's own attribute may have the name of an interpreter attribute: only loads are
      // risky.
      return RefuseStore(target, name, "belongs to the interpreter");
    case NameKind::kError: return -1;
  }
  return -1;
}

bool ReadyAttributeTypes() {
  if (PyType_Ready(&setter_type) < 0) return false;
  auto* super_type = reinterpret_cast<PyObject*>(&PySuper_Type);
  super_thisclass = PyObject_GetAttrString(super_type, "__thisclass__");
  super_self = PyObject_GetAttrString(super_type, "__self__");
  super_self_class = PyObject_GetAttrString(super_type, "__self_class__");
  return super_thisclass != nullptr && super_self != nullptr && super_self_class != nullptr;
}

}  // namespace belljar::inside::guards
