// Proxy: what `import` gives a guest in place of a module. It holds a reviewed dict that it never
// exposes, has no __dict__, keeps its exports whatever a program sets, and cannot be created by
// Python code after freeze(), except by the policy during load(). Its type is
// the only `types.ModuleType` that a guest sees: isinstance() behaves as a program expects, and
// exposes nothing beyond type().
//
// What a program sets (`random.random = f`, or unittest.mock for a test) is put in an overlay,
// which only the program's own code sees: a frame of the library that loads the same name gets the
// export, and a real module is not changed. A name that the profile withholds cannot be set: what
// reads it is the library (sys.excepthook), which would not see it.
//
// Two modules show a dict that changes, through the names that a program could bind itself:
// `__main__` its globals, `builtins` its builtins. Neither shows the hooks or `__builtins__`.
//
// Also the guest's __import__. C code (datetime.strptime, re.sub with a template) imports through
// the running frame's __import__ too. It passes a list as fromlist and then takes the module from
// sys.modules itself, so such a call only gets None from here, which cannot be abused.
//
// A module of the program's own files (library/own_modules.py) is such a module of its own, too: a
// scope of its own, which the program may write to, and nothing of the library's.
#include <opcode.h>

#include <cstdint>
#include <vector>

#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {
namespace {

// The exports again, indexed by the address of the name: names in code are interned, and so are the
// keys. CPython only specialises loads from real modules; this recovers half of that.
struct Index {
  struct Entry {
    PyObject* name = nullptr;   // borrowed from the exports, which never change
    PyObject* value = nullptr;  // likewise
  };
  std::vector<Entry> entries;  // open addressing; size is a power of two, never full
  size_t mask = 0;

  size_t SlotOf(PyObject* name) const {
    const auto address = reinterpret_cast<uintptr_t>(name);
    return (address >> 4 ^ address >> 12) & mask;
  }
  PyObject* Find(PyObject* name) const {
    for (size_t slot = SlotOf(name);; slot = (slot + 1) & mask) {
      if (entries[slot].name == name) return entries[slot].value;
      if (entries[slot].name == nullptr) return nullptr;
    }
  }
  void Fill(PyObject* exports);
};

struct Proxy {
  PyObject_HEAD PyObject* name;
  PyObject* doc;
  PyObject* exports;  // dict: name -> object
  const Index* index;
  PyObject* live;  // dict: name -> callable without arguments, called at each load; or nullptr
  PyObject*
      withheld;       // frozenset: names that the real module has and this one does not; or nullptr
  PyObject* stores;   // dict: name -> callable that gets an assigned value; or nullptr
  PyObject* overlay;  // dict: name -> what the program put there for now; or nullptr
  PyObject* scope;    // dict whose names are attributes too; or nullptr
  bool writable;      // the program may store to the scope: it could as well bind the name
  bool own;           // the program made the module, by types.ModuleType()
};

extern PyTypeObject proxy_type;

Proxy* AsProxy(PyObject* object) { return reinterpret_cast<Proxy*>(object); }

bool IsWithheld(Proxy* self, PyObject* name) {
  return self->withheld != nullptr && PySet_Contains(self->withheld, name) == 1;
}

// Whether a program may reach this key of its globals or builtins. A name of a hook would replace
// the hook, `__builtins__` all of them.
bool IsShownInScope(PyObject* name) {
  if (!PyUnicode_CheckExact(name) || PyUnicode_GET_LENGTH(name) == 0) return false;
  if (PyUnicode_READ_CHAR(name, 0) == '@') return false;
  return !IsDunder(name) || PySet_Contains(state.module_dunders, name) == 1;
}

// Borrowed; nullptr without an error if there is none.
PyObject* FindInScope(Proxy* self, PyObject* name) {
  if (self->scope == nullptr || !IsShownInScope(name)) return nullptr;
  return PyDict_GetItemWithError(self->scope, name);
}

// Borrowed. Only for the program's own instructions and calls.
PyObject* FindInOverlay(Proxy* self, PyObject* name) {
  if (self->overlay == nullptr || !InGuestFrame()) return nullptr;
  return PyDict_GetItemWithError(self->overlay, name);
}

// Whether the program's running instruction is the part of `from m import name` that loads it.
bool ImportsFrom() {
  if (!InGuestFrame()) return false;
  PyFrameObject* frame = PyEval_GetFrame();
  const int at = PyFrame_GetLasti(frame);
  PyCodeObject* code = PyFrame_GetCode(frame);
  PyObject* bytecode = PyCode_GetCode(code);  // as compiled; kept by the code object
  Py_DECREF(code);
  if (bytecode == nullptr) {
    PyErr_Clear();
    return true;
  }
  const bool imports = at < 0 || at >= PyBytes_GET_SIZE(bytecode) ||
                       static_cast<unsigned char>(PyBytes_AS_STRING(bytecode)[at]) == IMPORT_FROM;
  Py_DECREF(bytecode);
  return imports;
}

PyObject* RefuseImport(PyObject* type, PyObject* module, PyObject* text);

// CPython's AttributeError, with the name and the module that its "Did you mean" needs.
//
// Not for `from m import name`: after an AttributeError, CPython takes sys.modules["m.name"], which
// is a real module (import_from() in ceval.c). Import() has checked the names of the statement, but
// binding one of them may run a finalizer of the program's, which removes the next.
PyObject* MissingAttribute(PyObject* object, PyObject* name) {
  Proxy* self = AsProxy(object);
  if (ImportsFrom()) {
    return RefuseImport(
        PyExc_ImportError, self->name,
        PyUnicode_FromFormat("cannot import name '%S' from '%U'", name, self->name));
  }
  const char* form = IsWithheld(self, name) ? "[BJ202] module '%U' has no attribute '%S' here: the "
                                              "profile withholds it"
                                            : "module '%U' has no attribute '%S'";
  PyObject* text = PyUnicode_FromFormat(form, self->name, name);
  PyObject* error = text == nullptr ? nullptr : PyObject_CallOneArg(PyExc_AttributeError, text);
  Py_XDECREF(text);
  if (error == nullptr) return nullptr;
  if (PyObject_SetAttrString(error, "name", name) == 0 &&
      PyObject_SetAttrString(error, "obj", object) == 0) {
    PyErr_SetObject(PyExc_AttributeError, error);
  }
  Py_DECREF(error);
  return nullptr;
}

PyObject* ProxyGet(PyObject* object, PyObject* name) {
  Proxy* self = AsProxy(object);
  PyObject* value = FindInOverlay(self, name);
  if (value != nullptr) return Py_NewRef(value);
  if (self->overlay != nullptr && PyErr_Occurred()) return nullptr;
  value = self->index->Find(name);
  if (value != nullptr) return Py_NewRef(value);
  value = PyDict_GetItemWithError(self->exports, name);
  if (value != nullptr) return Py_NewRef(value);
  if (PyErr_Occurred()) return nullptr;
  if (self->live != nullptr) {
    PyObject* ask = PyDict_GetItemWithError(self->live, name);
    if (ask != nullptr) {
      value = PyObject_CallNoArgs(ask);
      if (value != nullptr || !PyErr_ExceptionMatches(PyExc_AttributeError)) return value;
      PyErr_Clear();
      return MissingAttribute(object, name);
    }
    if (PyErr_Occurred()) return nullptr;
  }
  value = FindInScope(self, name);
  if (value != nullptr) return Py_NewRef(value);
  if (PyErr_Occurred()) return nullptr;
  if (PyUnicode_CheckExact(name)) {
    if (PyUnicode_CompareWithASCIIString(name, "__name__") == 0) return Py_NewRef(self->name);
    if (PyUnicode_CompareWithASCIIString(name, "__doc__") == 0) return Py_NewRef(self->doc);
    if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0) {
      return Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(object)));
    }
  }
  return MissingAttribute(object, name);
}

// Stores `value` under `name`, or removes the name if it is nullptr.
int ChangeDict(PyObject* object, PyObject* dict, PyObject* name, PyObject* value) {
  if (value != nullptr) return PyDict_SetItem(dict, name, value);
  if (PyDict_DelItem(dict, name) == 0) return 0;
  if (PyErr_ExceptionMatches(PyExc_KeyError)) {
    PyErr_Clear();
    MissingAttribute(object, name);
  }
  return -1;
}

// What the program sees under `name` from now on; without a value, what was there before.
int ChangeOverlay(PyObject* object, PyObject* name, PyObject* value) {
  Proxy* self = AsProxy(object);
  if (self->overlay == nullptr) self->overlay = PyDict_New();
  return self->overlay == nullptr ? -1 : ChangeDict(object, self->overlay, name, value);
}

// Not a special name, which is the interpreter's, nor one of our hooks, nor a private one, which no
// module exports.
bool IsPublicName(PyObject* name) {
  return IsShownInScope(name) && Classify(name) == NameKind::kPublic;
}

int ProxySet(PyObject* object, PyObject* name, PyObject* value) {
  Proxy* self = AsProxy(object);
  if (self->writable && IsShownInScope(name)) return ChangeDict(object, self->scope, name, value);
  if (self->stores != nullptr && value != nullptr && PyUnicode_CheckExact(name)) {
    PyObject* store = PyDict_GetItemWithError(self->stores, name);
    if (store != nullptr) {
      PyObject* done = PyObject_CallOneArg(store, value);
      Py_XDECREF(done);
      return done == nullptr ? -1 : 0;
    }
    if (PyErr_Occurred()) return -1;
  }
  if (self->scope == nullptr && IsPublicName(name) && !IsWithheld(self, name)) {
    if (value != nullptr) return ChangeOverlay(object, name, value);
    if (self->overlay != nullptr && PyDict_Contains(self->overlay, name) == 1) {
      return ChangeOverlay(object, name, nullptr);
    }
  }
  if (PyErr_Occurred()) return -1;
  const char* why = value == nullptr         ? "a module of the library keeps its names"
                    : IsWithheld(self, name) ? "the profile withholds it"
                                             : "it is no public name";
  PyErr_Format(PyExc_AttributeError, "[BJ305] '%S' of module '%U' may not be %s: %s", name,
               self->name, value == nullptr ? "deleted" : "set", why);
  return -1;
}

PyObject* ProxyRepr(PyObject* object) {
  return PyUnicode_FromFormat("<module '%U'>", AsProxy(object)->name);
}

// Appends the shown names of the scope.
bool AddNamesOfScope(Proxy* self, PyObject* names) {
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (self->scope != nullptr && PyDict_Next(self->scope, &position, &name, &value)) {
    if (IsShownInScope(name) && PyList_Append(names, name) < 0) return false;
  }
  return true;
}

// A new list of the module's public names, unsorted.
PyObject* GivenNames(Proxy* self) {
  PyObject* names = PyDict_Keys(self->exports);
  if (names == nullptr) return nullptr;
  if (!AddNamesOfScope(self, names)) {
    Py_DECREF(names);
    return nullptr;
  }
  if (self->live != nullptr) {
    PyObject* more = PyDict_Keys(self->live);
    const int extended = more == nullptr ? -1
                                         : PyList_SetSlice(names, PyList_GET_SIZE(names),
                                                           PyList_GET_SIZE(names), more);
    Py_XDECREF(more);
    if (extended < 0) {
      Py_DECREF(names);
      return nullptr;
    }
  }
  return names;
}

PyObject* Sorted(PyObject* names) {
  if (names != nullptr && PyList_Sort(names) < 0) Py_CLEAR(names);
  return names;
}

// Appends what the program has set and the module does not have.
bool AddNamesOfOverlay(Proxy* self, PyObject* names) {
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  if (self->overlay == nullptr || !InGuestFrame()) return true;
  while (PyDict_Next(self->overlay, &position, &name, &value)) {
    const int known = PySequence_Contains(names, name);
    if (known < 0 || (known == 0 && PyList_Append(names, name) < 0)) return false;
  }
  return true;
}

PyObject* ProxyDir(PyObject* object, PyObject* /*unused*/) {
  PyObject* names = GivenNames(AsProxy(object));
  if (names != nullptr && !AddNamesOfOverlay(AsProxy(object), names)) Py_CLEAR(names);
  for (const char* own : {"__doc__", "__name__"}) {
    PyObject* name = names == nullptr ? nullptr : PyUnicode_FromString(own);
    if (name == nullptr || PyList_Append(names, name) < 0) Py_CLEAR(names);
    Py_XDECREF(name);
  }
  return Sorted(names);
}

PyMethodDef proxy_type_methods[] = {
    {"__dir__", ProxyDir, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyObject* ProxyNew(PyTypeObject* type, PyObject* args, PyObject* kwargs);
void ProxyDealloc(PyObject* object);

PyTypeObject proxy_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "module",
    .tp_basicsize = sizeof(Proxy),
    .tp_dealloc = ProxyDealloc,
    .tp_repr = ProxyRepr,
    .tp_getattro = ProxyGet,
    .tp_setattro = ProxySet,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "ModuleType(name, doc=None): a module, for names of the program's own.",
    .tp_methods = proxy_type_methods,
    .tp_new = ProxyNew,
};

void Index::Fill(PyObject* exports) {
  size_t size = 8;
  while (size < 2 * static_cast<size_t>(PyDict_GET_SIZE(exports)) + 1) size *= 2;
  entries.resize(size);
  mask = size - 1;
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(exports, &position, &name, &value)) {
    size_t slot = SlotOf(name);
    while (entries[slot].name != nullptr) slot = (slot + 1) & mask;
    entries[slot] = {.name = name, .value = value};
  }
}

// A copy with interned names. TypeError if a name is not an exact str.
PyObject* WithInternedNames(PyObject* exports) {
  PyObject* copy = PyDict_New();
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (copy != nullptr && PyDict_Next(exports, &position, &name, &value)) {
    if (!PyUnicode_CheckExact(name)) {
      PyErr_SetString(PyExc_TypeError, "a module's names must be plain str");
      Py_CLEAR(copy);
      break;
    }
    Py_INCREF(name);
    PyUnicode_InternInPlace(&name);
    if (PyDict_SetItem(copy, name, value) < 0) Py_CLEAR(copy);
    Py_DECREF(name);
  }
  return copy;
}

Proxy* NewProxy(PyObject* name, PyObject* doc, PyObject* exports) {
  PyObject* copy = WithInternedNames(exports);
  if (copy == nullptr) return nullptr;
  auto* made = PyObject_New(Proxy, &proxy_type);
  if (made == nullptr) {
    Py_DECREF(copy);
    return nullptr;
  }
  auto* index = new Index;
  index->Fill(copy);
  made->name = Py_NewRef(name);
  made->doc = Py_NewRef(doc);
  made->exports = copy;
  made->index = index;
  made->live = made->withheld = made->stores = made->overlay = made->scope = nullptr;
  made->writable = made->own = false;
  return made;
}

PyObject* MakeProxy(PyObject* /*module*/, PyObject* args) {
  PyObject* name = nullptr;
  PyObject* doc = nullptr;
  PyObject* exports = nullptr;
  PyObject* live = nullptr;
  PyObject* withheld = nullptr;
  PyObject* stores = nullptr;
  if (state.frozen && !state.loading) {
    PyErr_SetString(PyExc_RuntimeError, "no module may be made after freeze()");
    return nullptr;
  }
  if (!PyArg_ParseTuple(args, "UOO!|O!O!O!", &name, &doc, &PyDict_Type, &exports, &PyDict_Type,
                        &live, &PyFrozenSet_Type, &withheld, &PyDict_Type, &stores)) {
    return nullptr;
  }
  Proxy* made = NewProxy(name, doc, exports);
  if (made == nullptr) return nullptr;
  made->live = live == nullptr || PyDict_GET_SIZE(live) == 0 ? nullptr : PyDict_Copy(live);
  made->withheld = Py_XNewRef(withheld);
  made->stores = stores == nullptr || PyDict_GET_SIZE(stores) == 0 ? nullptr : PyDict_Copy(stores);
  return reinterpret_cast<PyObject*>(made);
}

// A module of the program's own: its scope is writable. `called`: its `__name__`.
Proxy* NewOwnModule(PyObject* name, PyObject* called, PyObject* doc) {
  PyObject* exports = PyDict_New();
  PyObject* scope = PyDict_New();
  Proxy* made = nullptr;
  if (exports != nullptr && scope != nullptr &&
      PyDict_SetItemString(scope, "__name__", called) == 0 &&
      PyDict_SetItemString(scope, "__doc__", doc) == 0 &&
      PyDict_SetItemString(scope, "__builtins__", state.guest_builtins) == 0) {
    made = NewProxy(name, doc, exports);
  }
  if (made != nullptr) {
    made->scope = Py_NewRef(scope);
    made->writable = made->own = true;
  }
  Py_XDECREF(exports);
  Py_XDECREF(scope);
  return made;
}

// ModuleType(name, doc=None), of a program: a module with names of its own, which are globals for
// text that runs in it (library/scopes.py). It gets `__name__` as other text does: a class's module
// is looked up by its name, and must be none of the library's.
PyObject* ProxyNew(PyTypeObject* /*type*/, PyObject* args, PyObject* kwargs) {
  PyObject* name = nullptr;
  PyObject* doc = Py_None;
  const char* const keywords[] = {"name", "doc", nullptr};
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:module", const_cast<char**>(keywords), &name,
                                  &doc) == 0) {
    return nullptr;
  }
  if (!PyUnicode_CheckExact(name)) {
    return PyErr_Format(PyExc_TypeError, "module() argument 'name' must be a plain str, not %.200s",
                        Py_TYPE(name)->tp_name);
  }
  const bool is_main = PyUnicode_CompareWithASCIIString(name, "__main__") == 0;
  return reinterpret_cast<PyObject*>(NewOwnModule(name, is_main ? name : state.name_of_text, doc));
}

// own_module(name, called, file, package): a module of the program's files, for our own code.
// `called` is its `__name__` as its code sees it, by which libraries look a class's module up.
PyObject* MakeOwnModule(PyObject* /*module*/, PyObject* args) {
  PyObject *name = nullptr, *called = nullptr, *file = nullptr, *package = nullptr;
  if (!PyArg_ParseTuple(args, "UUUU", &name, &called, &file, &package)) return nullptr;
  Proxy* made = NewOwnModule(name, called, Py_None);
  if (made == nullptr) return nullptr;
  if (PyDict_SetItemString(made->scope, "__file__", file) != 0 ||
      PyDict_SetItemString(made->scope, "__package__", package) != 0) {
    Py_DECREF(made);
    return nullptr;
  }
  return reinterpret_cast<PyObject*>(made);
}

// Only for proxies that the program created: others live as long as the process.
void ProxyDealloc(PyObject* object) {
  Proxy* self = AsProxy(object);
  for (PyObject* each : {self->name, self->doc, self->exports, self->live, self->withheld,
                         self->stores, self->overlay, self->scope}) {
    Py_XDECREF(each);
  }
  delete self->index;
  PyObject_Free(object);
}

// show_scope(proxy, dict or None, writable): the policy only, before a program starts.
PyObject* ShowScope(PyObject* /*module*/, PyObject* args) {
  PyObject* object = nullptr;
  PyObject* scope = nullptr;
  int writable = 0;
  if (!PyArg_ParseTuple(args, "OOp", &object, &scope, &writable)) return nullptr;
  if (!IsProxy(object) || (scope != Py_None && !PyDict_CheckExact(scope))) {
    PyErr_SetString(PyExc_TypeError, "show_scope() takes a module of the sandbox and a dict");
    return nullptr;
  }
  Proxy* self = AsProxy(object);
  Py_XSETREF(self->scope, scope == Py_None ? nullptr : Py_NewRef(scope));
  self->writable = self->scope != nullptr && writable != 0;
  Py_RETURN_NONE;
}

// scope_of(object): the dict of a module that the program made, for our own code; None for others.
PyObject* ScopeOf(PyObject* /*module*/, PyObject* object) {
  return Py_NewRef(IsOwnModule(object) ? AsProxy(object)->scope : Py_None);
}

// patch_module(proxy, name[, value]): what the program sees under `name` from now on; without a
// value, what was there before. For unittest.mock, which runs as the program's code: a program that
// gets hold of this function can do no more than patch() does.
PyObject* PatchModule(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  if (count < 2 || count > 3 || !IsProxy(args[0])) {
    PyErr_SetString(PyExc_TypeError, "patch_module() takes a module, a name and a value");
    return nullptr;
  }
  Proxy* self = AsProxy(args[0]);
  PyObject* name = args[1];
  PyObject* value = count == 3 ? args[2] : nullptr;
  const NameKind kind = Classify(name);
  if (kind == NameKind::kError) return nullptr;
  // Private names of the program are its own; those of a module are not exported. The names of
  // special builtins (__import__, __build_class__) are the interpreter's.
  const bool own = self->writable && IsShownInScope(name);
  if (!own && kind != NameKind::kPublic) {
    return Refuse("BJ305", args[0], name, "may not be patched");
  }
  if (self->scope != nullptr) {
    if (!IsShownInScope(name)) return Refuse("BJ305", args[0], name, "may not be patched");
    if (ChangeDict(args[0], self->scope, name, value) < 0) return nullptr;
    Py_RETURN_NONE;
  }
  if (ChangeOverlay(args[0], name, value) < 0) return nullptr;
  Py_RETURN_NONE;
}

bool HasExport(PyObject* proxy, PyObject* name) {
  Proxy* self = AsProxy(proxy);
  const bool changed = FindInOverlay(self, name) != nullptr || FindInScope(self, name) != nullptr;
  PyErr_Clear();
  return changed || PyDict_Contains(self->exports, name) == 1 ||
         (self->live != nullptr && PyDict_Contains(self->live, name) == 1);
}

PyObject* ExportNames(PyObject* /*module*/, PyObject* object) {
  if (!IsProxy(object)) {
    PyErr_SetString(PyExc_TypeError, "expected a module of the sandbox");
    return nullptr;
  }
  return Sorted(GivenNames(AsProxy(object)));
}

// Raises `type`, an ImportError, with `name` set to the module's name.
PyObject* RefuseImport(PyObject* type, PyObject* module, PyObject* text) {
  if (text != nullptr) PyErr_SetImportErrorSubclass(type, text, module, nullptr);
  Py_XDECREF(text);
  return nullptr;
}

PyObject* NotAvailable(PyObject* name) {
  return RefuseImport(
      PyExc_ModuleNotFoundError, name,
      PyUnicode_FromFormat("[BJ201] module '%U' is not available in this sandbox", name));
}

// Whether the running code is the library's own text that runs as the program's (unittest.mock). It
// imports what it needs, whatever the call allows. The permission is that frame's alone: what it
// calls has a frame of its own.
bool InLibraryText() {
  PyObject* globals = PyEval_GetGlobals();
  return globals != nullptr && Holds(state.library_scopes, globals);
}

// Whether files of the program come before the profile's modules for this name.
bool IsOwn(PyObject* name) {
  if (PySet_GET_SIZE(state.own_tops) == 0) return false;
  const Py_ssize_t dot = PyUnicode_FindChar(name, '.', 0, PyUnicode_GET_LENGTH(name), 1);
  PyObject* top = dot < 0 ? Py_NewRef(name) : PyUnicode_Substring(name, 0, dot);
  const bool own = top != nullptr && PySet_Contains(state.own_tops, top) == 1;
  if (top == nullptr) PyErr_Clear();
  Py_XDECREF(top);
  return own;
}

// IMPORT_FROM falls back to sys.modules["a.b"] for a missing name, which would be a real module.
bool HasAll(PyObject* module, PyObject* name, PyObject* names) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    PyObject* each = PyTuple_GET_ITEM(names, i);
    if (HasExport(module, each)) continue;
    const char* form = IsOwnModule(module)
                           ? "cannot import name '%S' from '%U'"
                           : "[BJ202] cannot import name '%S' from '%U' in this sandbox";
    RefuseImport(PyExc_ImportError, name, PyUnicode_FromFormat(form, each, name));
    return false;
  }
  return true;
}

// A module of the program's own files; None: there is none of that name.
PyObject* ImportOwn(PyObject* const* args, Py_ssize_t count) {
  PyObject* names = count > 3 ? args[3] : Py_None;
  PyObject* level = count > 4 ? args[4] : Py_None;
  PyObject* found = PyObject_CallFunctionObjArgs(
      state.import_own, args[0], count > 1 ? args[1] : Py_None, names, level, nullptr);
  if (found == nullptr || found == Py_None || !PyTuple_CheckExact(names)) return found;
  if (!IsOwnModule(found)) {
    PyErr_SetString(PyExc_SystemError, "a module of the program's own is none");
    Py_CLEAR(found);
    return nullptr;
  }
  if (HasAll(found, AsProxy(found)->name, names)) return found;
  Py_DECREF(found);
  return nullptr;
}

// An import by C code that runs in the program's frame.
PyObject* ImportForC(PyObject* name, PyObject* names) {
  if (PySet_Contains(state.internal_modules, name) == 1 ||
      PyDict_Contains(state.modules, name) == 1) {
    Py_RETURN_NONE;
  }
  // C code of unhardened packages imports without restriction.
  if (PySet_GET_SIZE(state.open_packages) > 0) {
    PyObject* module = PyImport_ImportModuleLevelObject(name, nullptr, nullptr, names, 0);
    if (module == nullptr) return nullptr;
    Py_DECREF(module);
    Py_RETURN_NONE;
  }
  return NotAvailable(name);
}

// __import__(name, globals, locals, fromlist, level)
PyObject* Import(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  if (count < 1 || !PyUnicode_CheckExact(args[0])) {
    PyErr_SetString(PyExc_TypeError, "__import__() needs the name of a module");
    return nullptr;
  }
  PyObject* name = args[0];
  PyObject* names = count > 3 ? args[3] : Py_None;
  const bool by_c = PyList_CheckExact(names);
  const bool is_relative = count > 4 && PyLong_Check(args[4]) && PyObject_IsTrue(args[4]) == 1;
  if (is_relative && by_c) {
    PyErr_SetString(PyExc_ImportError, "[BJ204] there is no package to import from");
    return nullptr;
  }
  const bool is_absent = PySet_Contains(state.absent_modules, name) == 1;
  const bool is_known = is_absent || PyDict_Contains(state.modules, name) == 1;
  // Library text that runs as the program's sees none of the program's files.
  if (!by_c && (is_relative || !is_known || IsOwn(name)) && !InLibraryText()) {
    PyObject* own = ImportOwn(args, count);
    if (own != Py_None) return own;
    Py_DECREF(own);
  }
  if (is_absent) {
    PyObject* const never = PyObject_CallNoArgs(state.start_over);
    if (never == nullptr) return nullptr;
    Py_DECREF(never);
  }
  if (by_c) return ImportForC(name, names);
  PyObject* found = PyDict_GetItemWithError(state.modules, name);
  if (found == nullptr) return PyErr_Occurred() ? nullptr : NotAvailable(name);
  if (state.allowed_modules != nullptr && PySet_Contains(state.allowed_modules, name) != 1 &&
      !InLibraryText()) {
    return RefuseImport(
        PyExc_ModuleNotFoundError, name,
        PyUnicode_FromFormat("[BJ205] module '%U' is not among this call's imports", name));
  }
  if (names == Py_None || (PyTuple_CheckExact(names) && PyTuple_GET_SIZE(names) == 0)) {
    // `import a.b` binds a.
    const Py_ssize_t dot = PyUnicode_FindChar(name, '.', 0, PyUnicode_GET_LENGTH(name), 1);
    if (dot < 0) return Py_NewRef(found);
    PyObject* top = PyUnicode_Substring(name, 0, dot);
    if (top == nullptr) return nullptr;
    found = PyDict_GetItemWithError(state.modules, top);
    Py_DECREF(top);
    return found == nullptr ? NotAvailable(name) : Py_NewRef(found);
  }
  if (!PyTuple_CheckExact(names)) return NotAvailable(name);
  return HasAll(found, name, names) ? Py_NewRef(found) : nullptr;
}

}  // namespace

bool IsProxy(PyObject* object) { return Py_TYPE(object) == &proxy_type; }

bool IsOwnModule(PyObject* object) { return IsProxy(object) && AsProxy(object)->own; }

PyObject* NamespaceOfModule(PyObject* object) {
  return PyObject_CallOneArg(state.view_of, AsProxy(object)->scope);
}

bool IsExported(PyObject* value) {
  PyObject* name = nullptr;
  PyObject* module = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(state.modules, &position, &name, &module)) {
    if (IsProxy(module) && HoldsValue(AsProxy(module)->exports, value)) return true;
  }
  return false;
}

PyMethodDef proxy_methods[] = {
    {"Proxy", MakeProxy, METH_VARARGS,
     "Proxy(name, doc, exports[, live[, withheld[, stores]]]) -> module"},
    {"export_names", ExportNames, METH_O, nullptr},
    {"show_scope", ShowScope, METH_VARARGS, nullptr},
    {"scope_of", ScopeOf, METH_O, nullptr},
    {"own_module", MakeOwnModule, METH_VARARGS,
     "own_module(name, called, file, package) -> module"},
    {"patch_module", AsPyCFunction(PatchModule), METH_FASTCALL,
     "patch_module(module, name[, value])"},
    {"import_module", AsPyCFunction(Import), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

bool ReadyProxyType(PyObject* /*module*/) { return PyType_Ready(&proxy_type) == 0; }

}  // namespace belljar::inside::guards
