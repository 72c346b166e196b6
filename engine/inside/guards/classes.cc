// Every class created after the freeze passes through here.
//
// A class statement, type(name, bases, namespace), a metaclass's super().__new__, namedtuple(),
// NamedTuple, Enum('E', ...), dataclass(slots=True) and types.new_class all end in the tp_new of
// `type`. Guarding that one slot covers them all. Wrapping __build_class__ and the name `type`
// would not cover type(C)('X', (), ns), C.__class__ and the library's metaclasses.
//
// The guard copies the namespace into an exact dict, so that what was checked is what is used,
// checks its names and the bases, and marks the finished class as made by the guest. Until it is
// finished it is in `pending` (__set_name__ and __init_subclass__ already see it).
#include <algorithm>
#include <cstddef>
#include <utility>

#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {
namespace {

newfunc original_new = nullptr;
allocfunc original_alloc = nullptr;
setattrofunc original_store = nullptr;
// Classes allocated by `type` and not finished yet; each entry holds a reference. All threads share
// it, since a thread may see a class that another one is creating. If the other one ends first, an
// entry is dropped early: then the class is already marked as the guest's.
std::vector<PyTypeObject*> pending;
int creating = 0;  // of the running thread

bool IsMetaclass(PyObject* bases) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(bases); ++i) {
    PyObject* base = PyTuple_GET_ITEM(bases, i);
    if (PyType_Check(base) && PyType_IsSubtype(AsType(base), &PyType_Type)) return true;
  }
  return false;
}

// Whether a guest's class may derive from it.
bool IsSubclassable(PyTypeObject* type) {
  if (IsGuestClass(type) || (type->tp_flags & kSubclassable) != 0) return true;
  return (type->tp_flags & Py_TPFLAGS_BASETYPE) == 0 || IsOpenPackageType(type);
}

// `metaclass`: the new class is a metaclass. Then its bases must be metaclasses too, since the
// attributes of other classes were not checked by the rules for metaclasses, and may be set later.
bool CheckBases(PyObject* bases, bool metaclass) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(bases); ++i) {
    PyObject* base = PyTuple_GET_ITEM(bases, i);
    if (!PyType_Check(base)) continue;  // `type` raises its own error
    PyTypeObject* type = AsType(base);
    if (metaclass && IsGuestClass(type) && !PyType_IsSubtype(type, &PyType_Type)) {
      PyErr_Format(PyExc_TypeError,
                   "[BJ404] a metaclass may not derive from '%.200s', which is not one",
                   type->tp_name);
      return false;
    }
    if (IsSubclassable(type)) continue;
    PyErr_Format(
        PyExc_TypeError,
        "[BJ404] class '%.200s' may not be derived from; hold an instance and delegate to it",
        type->tp_name);
    return false;
  }
  return true;
}

// `__slots__` makes attributes too. Anything except a plain container of plain str is first
// converted to a tuple, so that it cannot answer differently the second time.
bool CheckSlots(PyObject* names) {
  PyObject* key = PyUnicode_InternFromString("__slots__");
  if (key == nullptr) return false;
  PyObject* slots = PyDict_GetItemWithError(names, key);
  bool fine = !PyErr_Occurred();
  if (fine && slots != nullptr && !PyUnicode_CheckExact(slots)) {
    PyObject* copy = PySequence_Tuple(slots);
    fine = copy != nullptr;
    for (Py_ssize_t i = 0; fine && i < PyTuple_GET_SIZE(copy); ++i) {
      PyObject* name = PyTuple_GET_ITEM(copy, i);
      if (!PyUnicode_CheckExact(name)) {
        PyErr_SetString(PyExc_TypeError, "[BJ403] __slots__ items must be plain strings");
        fine = false;
      } else if (IsDunder(name) && PyUnicode_CompareWithASCIIString(name, "__dict__") != 0 &&
                 PyUnicode_CompareWithASCIIString(name, "__weakref__") != 0) {
        PyErr_Format(PyExc_TypeError, "[BJ403] %R may not be a slot", name);
        fine = false;
      }
    }
    if (fine && PyList_CheckExact(slots)) {  // stays a list, as the program may read it back
      PyObject* list = PySequence_List(copy);
      fine = list != nullptr && PyDict_SetItem(names, key, list) == 0;
      Py_XDECREF(list);
    } else if (fine && !PyDict_CheckExact(slots)) {
      fine = PyDict_SetItem(names, key, copy) == 0;
    }
    Py_XDECREF(copy);
  } else if (fine && slots != nullptr && IsDunder(slots)) {
    PyErr_Format(PyExc_TypeError, "[BJ403] %R may not be a slot", slots);
    fine = false;
  }
  Py_DECREF(key);
  return fine;
}

// Stores a copy, so that what dataclasses() inspects cannot change afterwards.
bool KeepFields(PyObject* names, PyObject* fields) {
  if (!PyDict_CheckExact(fields)) {
    PyErr_SetString(PyExc_TypeError, "[BJ403] __dataclass_fields__ must be a plain dict");
    return false;
  }
  PyObject* copy = PyDict_Copy(fields);
  const bool fine =
      copy != nullptr && PyDict_SetItemString(names, "__dataclass_fields__", copy) == 0;
  Py_XDECREF(copy);
  return fine;
}

bool CheckNamespace(PyObject* names, bool metaclass) {
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  PyObject* match_args = nullptr;
  PyObject* fields = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(names, &position, &name, &value)) {
    if (!PyUnicode_CheckExact(name)) {
      // A key with its own __eq__ could match look-ups for other names.
      PyErr_SetString(PyExc_TypeError, "[BJ403] names in a class must be plain strings");
      return false;
    }
    if (metaclass && IsForbiddenOnMetaclass(name)) {
      PyErr_Format(PyExc_TypeError, "[BJ403] a metaclass may not define %R", name);
      return false;
    }
    if (!IsDunder(name)) continue;
    const int allowed = PySet_Contains(state.class_dunders, name);
    if (allowed < 0) return false;
    if (allowed == 0) {
      const int made = PySet_Contains(state.made_dunders, name);
      if (made < 0) return false;
      if (made == 0) {
        PyErr_Format(PyExc_TypeError, "[BJ403] a class may not define %R", name);
        return false;
      }
    }
    if (PyUnicode_CompareWithASCIIString(name, "__match_args__") == 0) match_args = value;
    if (PyUnicode_CompareWithASCIIString(name, "__dataclass_fields__") == 0) fields = value;
  }
  if (fields != nullptr && !KeepFields(names, fields)) return false;
  if (match_args != nullptr) {
    PyObject* checked = CheckMatchArgs(match_args);
    if (checked == nullptr) return false;
    const int set = PyDict_SetItemString(names, "__match_args__", checked);
    Py_DECREF(checked);
    if (set < 0) return false;
  }
  return CheckSlots(names);
}

bool HasPrivateNames(PyTypeObject* type) {
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  PyObject* names = TypeDict(type);
  while (PyDict_Next(names, &position, &name, &value)) {
    if (!PyUnicode_Check(name) || PyUnicode_GET_LENGTH(name) == 0) continue;
    if (PyUnicode_READ_CHAR(name, 0) != '_' || IsDunder(name)) continue;
    // Every abstract class and protocol has its own, including the guest's.
    if (PyUnicode_CompareWithASCIIString(name, "_abc_impl") == 0) continue;
    if (PyUnicode_CompareWithASCIIString(name, "_is_protocol") == 0) continue;
    return true;
  }
  return false;
}

void MarkGuestMade(PyTypeObject* type) {
  bool pure = type->tp_mro != nullptr;
  for (Py_ssize_t i = 0; pure && i < PyTuple_GET_SIZE(type->tp_mro); ++i) {
    PyTypeObject* base = AsType(PyTuple_GET_ITEM(type->tp_mro, i));
    if (base != type && (base->tp_flags & kGuestMade) == 0 && HasPrivateNames(base)) pure = false;
  }
  type->tp_flags |= pure ? kGuestMade | kPure : kGuestMade;
}

PyObject* GuardedAlloc(PyTypeObject* metatype, Py_ssize_t items) {
  PyObject* object = original_alloc(metatype, items);
  if (object != nullptr && creating > 0) pending.push_back(AsType(Py_NewRef(object)));
  return object;
}

// A class that failed in __set_name__ or __init_subclass__ also belongs to the guest, which has
// seen it.
void MarkPending(size_t depth) {
  if (pending.size() <= depth) return;
  const std::vector<PyTypeObject*> ended(pending.begin() + static_cast<std::ptrdiff_t>(depth),
                                         pending.end());
  pending.resize(depth);
  for (PyTypeObject* type : ended) {
    type->tp_flags |= kGuestMade;
    Py_DECREF(reinterpret_cast<PyObject*>(type));
  }
}

// Whether a guest's class may have a name like this, whatever its value.
bool IsFreeName(PyObject* name, bool metaclass) {
  if (metaclass && IsForbiddenOnMetaclass(name)) return false;
  if (!IsDunder(name)) return true;
  // Its value is what is checked, and a class pattern trusts that it was.
  if (PyUnicode_CompareWithASCIIString(name, "__match_args__") == 0) return false;
  return PySet_Contains(state.class_dunders, name) == 1 ||
         PySet_Contains(state.made_dunders, name) == 1;
}

// A class that library code creates from a guest's input: `type` is an ordinary callable, and the
// library calls what it is given. Or one that a guest's finalizer creates, which is C all the way,
// while that code runs. What a guest's class may not have, only the library's own functions may be,
// and only from a base that it may have does the class derive.
bool CarriesGuest(PyTypeObject* metatype, PyObject* args) {
  if (IsGuestClass(metatype)) return true;
  PyObject* bases = PyTuple_GET_ITEM(args, 1);
  PyObject* names = PyTuple_GET_ITEM(args, 2);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(bases); ++i) {
    PyObject* base = PyTuple_GET_ITEM(bases, i);
    if (PyType_Check(base) && !IsSubclassable(AsType(base))) return true;
  }
  const bool metaclass = IsMetaclass(bases);
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(names, &position, &name, &value)) {
    if (!PyUnicode_CheckExact(name)) return true;
    if (IsFreeName(name, metaclass)) continue;
    if (!PyFunction_Check(value) || IsGuestFunction(value)) return true;
  }
  return false;
}

PyObject* GuardedNew(PyTypeObject* metatype, PyObject* args, PyObject* kwargs) {
  if (!state.frozen || PyTuple_GET_SIZE(args) != 3) return original_new(metatype, args, kwargs);
  PyObject* bases = PyTuple_GET_ITEM(args, 1);
  PyObject* names = PyTuple_GET_ITEM(args, 2);
  if (!PyTuple_Check(bases) || !PyDict_Check(names)) return original_new(metatype, args, kwargs);
  const bool by_host = MadeByHost(state.lenient_classes ? Trust::kClassMakers : Trust::kNone) &&
                       !(state.guest_began && CarriesGuest(metatype, args));
  if (by_host || IsOfLibraryStatement(metatype, bases, names)) {
    // A module may be imported while a guest's class is being created.
    const int outer = std::exchange(creating, 0);
    PyObject* made = original_new(metatype, args, kwargs);
    creating = outer;
    if (state.loading && made != nullptr && PyType_Check(made)) {
      if (PyType_IsSubtype(AsType(made), &PyType_Type)) AsType(made)->tp_alloc = GuardedAlloc;
      NoteLoaded(AsType(made), true);
    }
    return made;
  }
  const bool metaclass = IsMetaclass(bases);
  if (!CheckBases(bases, metaclass)) return nullptr;
  names = PyDict_Copy(names);
  if (names == nullptr) return nullptr;
  PyObject* checked = nullptr;
  if (CheckNamespace(names, metaclass)) {
    checked = PyTuple_Pack(3, PyTuple_GET_ITEM(args, 0), bases, names);
  }
  Py_DECREF(names);
  if (checked == nullptr) return nullptr;
  const size_t depth = pending.size();
  ++creating;
  PyObject* made = original_new(metatype, checked, kwargs);
  --creating;
  MarkPending(depth);
  Py_DECREF(checked);
  if (made == nullptr || !PyType_Check(made)) return made;
  PyTypeObject* type = AsType(made);
  MarkGuestMade(type);
  NoteLoaded(type, false);
  // type_new sets the plain allocator in every heap type.
  if (metaclass) type->tp_alloc = GuardedAlloc;
  return made;
}

// Attributes that a guest's class must not get later either. Library code also stores names chosen
// by the guest (NamedTuple copies a class's namespace, dataclass() writes names into
// __match_args__), and does so natively.
bool MayNotBeGained(PyTypeObject* type, PyObject* name) {
  constexpr const char* kNames[] = {"__getattribute__", "__prepare__", "__del__"};
  return std::ranges::any_of(kNames,
                             [name](const char* forbidden) {
                               return PyUnicode_CompareWithASCIIString(name, forbidden) == 0;
                             }) ||
         (PyType_IsSubtype(type, &PyType_Type) && IsForbiddenOnMetaclass(name));
}

// tp_setattro of `type`: all stores to classes go through it.
int GuardedStore(PyObject* target, PyObject* name, PyObject* value) {
  PyTypeObject* type = AsType(target);
  const bool guests = IsGuestClass(type);
  if (value == nullptr || !(guests || state.guest_began) || !state.frozen ||
      !PyUnicode_Check(name)) {
    return original_store(target, name, value);
  }
  if (guests && MayNotBeGained(type, name)) {
    PyErr_Format(PyExc_TypeError, "[BJ403] a class may not define %R", name);
    return -1;
  }
  // Also for the library's classes: dataclass() accepts any class.
  if (PyUnicode_CompareWithASCIIString(name, "__match_args__") != 0) {
    return original_store(target, name, value);
  }
  PyObject* checked = CheckMatchArgs(value);
  if (checked == nullptr) return -1;
  const int result = original_store(target, name, checked);
  Py_DECREF(checked);
  return result;
}

// type.__setattr__ and type.__delattr__ hold their own pointer to the slot's function.
void PatchStoreMethods() {
  for (const char* name : {"__setattr__", "__delattr__"}) {
    PyObject* method = PyDict_GetItemString(TypeDict(&PyType_Type), name);
    if (method != nullptr && Py_TYPE(method) == &PyWrapperDescr_Type) {
      reinterpret_cast<PyWrapperDescrObject*>(method)->d_wrapped =
          reinterpret_cast<void*>(GuardedStore);
    }
  }
}

// Metaclasses created before the freeze have inherited the old slots.
bool PatchMetaclasses(PyTypeObject* metatype) {
  if (metatype->tp_new == original_new) metatype->tp_new = GuardedNew;
  if (metatype->tp_setattro == original_store) metatype->tp_setattro = GuardedStore;
  metatype->tp_alloc = GuardedAlloc;
  PyObject* subclasses =
      PyObject_CallMethod(reinterpret_cast<PyObject*>(&PyType_Type), "__subclasses__", "O",
                          reinterpret_cast<PyObject*>(metatype));
  if (subclasses == nullptr) return false;
  bool fine = true;
  for (Py_ssize_t i = 0; fine && i < PyList_GET_SIZE(subclasses); ++i) {
    fine = PatchMetaclasses(AsType(PyList_GET_ITEM(subclasses, i)));
  }
  Py_DECREF(subclasses);
  return fine;
}

}  // namespace

PyObject* TypeDict(PyTypeObject* type) {
#if PY_VERSION_HEX >= 0x030C0000
  PyObject* dict = PyType_GetDict(type);  // static types keep theirs elsewhere since 3.12
  Py_XDECREF(dict);                       // the type keeps it alive
  return dict;
#else
  return type->tp_dict;
#endif
}

PyTypeObject* FindInMro(PyTypeObject* type, PyObject* name) {
  PyObject* mro = type->tp_mro;
  if (mro == nullptr) return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(mro); ++i) {
    PyTypeObject* base = AsType(PyTuple_GET_ITEM(mro, i));
    if (PyDict_GetItemWithError(TypeDict(base), name) != nullptr) return base;
    if (PyErr_Occurred()) PyErr_Clear();
  }
  return nullptr;
}

bool IsGuestClass(const PyTypeObject* type) {
  if ((type->tp_flags & kGuestMade) != 0) return true;
  return !pending.empty() && std::find(pending.begin(), pending.end(), type) != pending.end();
}

bool IsForbiddenOnMetaclass(PyObject* name) {
  constexpr const char* kNames[] = {"mro", "__getattr__", "__eq__", "__ne__", "__hash__"};
  return std::ranges::any_of(kNames, [name](const char* forbidden) {
    return PyUnicode_CompareWithASCIIString(name, forbidden) == 0;
  });
}

bool InGuestFrame() {
  return state.guest_builtins != nullptr && PyEval_GetBuiltins() == state.guest_builtins;
}

bool RequestedByGuest() {
  return !MadeByHost(state.lenient_classes ? Trust::kFrames : Trust::kNone);
}

bool CalledByGuest() { return !MadeByHost(Trust::kNone); }

bool IsGuestFunction(PyObject* object) {
  if (PyMethod_Check(object)) object = PyMethod_GET_FUNCTION(object);
  return PyFunction_Check(object) && state.guest_builtins != nullptr &&
         reinterpret_cast<PyFunctionObject*>(object)->func_builtins == state.guest_builtins;
}

PyObject* CheckMatchArgs(PyObject* value) {
  if (!PyTuple_CheckExact(value)) {
    PyErr_SetString(PyExc_TypeError, "[BJ307] __match_args__ must be a plain tuple of names");
    return nullptr;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i) {
    PyObject* name = PyTuple_GET_ITEM(value, i);
    const NameKind kind = Classify(name);
    if (kind == NameKind::kError) return nullptr;
    // A class pattern loads the attribute natively from anything that passes isinstance().
    if (kind == NameKind::kPrivate) return PyTuple_GetSlice(value, 0, i);
    if (kind != NameKind::kPublic && kind != NameKind::kNativeDunder) {
      PyErr_Format(PyExc_TypeError, "[BJ307] %R may not be in __match_args__", name);
      return nullptr;
    }
  }
  return Py_NewRef(value);
}

bool IsOpenPackageType(PyTypeObject* type) {
  const bool heap = (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0;
  return IsOpenPackage(heap ? Text(PyDict_GetItemString(TypeDict(type), "__module__"))
                            : std::string_view(type->tp_name));
}

int ExchangeClassesInCreation(int number) { return std::exchange(creating, number); }

bool InstallClassHooks() {
  original_new = PyType_Type.tp_new;
  original_alloc = PyType_Type.tp_alloc;
  original_store = PyType_Type.tp_setattro;
  PatchStoreMethods();
  return PatchMetaclasses(&PyType_Type) && InstallBuildClass();
}

}  // namespace belljar::inside::guards
