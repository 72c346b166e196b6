// Guards: the native half of the language policy. The module `_belljar_guards`.
//
//   import _belljar_guards as guards
//   guards.configure({...})              # the tables of policy/belljar_policy/tables.py
//   proxy = guards.Proxy("math", "doc", {"sqrt": math.sqrt})
//   guards.freeze()                      # once, in the zygote, before any guest code
//
// Who calls it: policy/belljar_policy, in the zygote; after freeze() the guest's own bytecode, in
// the worker. One interpreter, one thread that matters. The state is per process because what it
// guards (the interpreter's own types) is per process too.
//
// The one rule of this folder: no decision may run code that a guest can override. Types are
// compared by pointer, names are exact str, classes are searched through tp_mro and their dicts
// directly.
#ifndef BELLJAR_ENGINE_INSIDE_GUARDS_GUARDS_H_
#define BELLJAR_ENGINE_INSIDE_GUARDS_GUARDS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <vector>

extern "C" PyObject* PyInit__belljar_guards();

namespace belljar::inside::guards {

// Marks on a type object. CPython leaves bits 15 and 16 of tp_flags to Stackless, which is not
// here; no subclass inherits them.
inline constexpr unsigned long kGuestMade = 1UL << 15;
// On a guest-made class: no class it inherits from has private names, so `obj._x` needs no look-up.
inline constexpr unsigned long kPure = 1UL << 16;
// On any other class: a guest may derive from it (it was given by name and reviewed).
inline constexpr unsigned long kSubclassable = 1UL << 16;
static_assert((Py_TPFLAGS_DEFAULT & (kGuestMade | kPure)) == 0);

struct State {
  bool frozen = false;
  PyFrameObject* asking = nullptr;     // the guest's frame that getattr() or format() loads for
  bool guest_began = false;            // a program runs, or ended and left its objects
  bool strict_classes = true;          // see classes.cc: classes made by host code after the freeze
  PyObject* guest_builtins = nullptr;  // dict; a frame with these builtins is guest code
  PyObject* refused_names = nullptr;   // frozenset: never loaded, by no route
  PyObject* native_dunders = nullptr;  // frozenset: loaded like any public name
  PyObject* class_dunders = nullptr;   // frozenset: a guest's class may define them
  PyObject* made_dunders = nullptr;  // frozenset: the compiler and the library put them in classes
  PyObject* function_dunders = nullptr;   // frozenset: may be set on a guest's function
  PyObject* exception_dunders = nullptr;  // frozenset: may be set on any exception
  PyObject* tuple_names = nullptr;        // frozenset: the public `_x` names of named tuples
  PyObject* writable_types = nullptr;     // set: library classes whose instances take attributes
  PyObject* open_packages = nullptr;      // frozenset of top-level packages left unhardened
  PyObject* namespace_type = nullptr;     // types.SimpleNamespace
  PyObject* is_normalized = nullptr;      // unicodedata.is_normalized
  PyObject* modules = nullptr;            // dict: name -> Proxy
  PyObject* internal_modules = nullptr;   // frozenset: C code may ask for them, guests may not
  PyObject* allowed_modules = nullptr;    // frozenset or NULL (all)
  PyObject* bootstrap_globals = nullptr;  // dict of importlib._bootstrap
  PyObject* formatter_parser = nullptr;   // _string.formatter_parser
  PyObject* field_name_split = nullptr;   // _string.formatter_field_name_split
};

extern State state;

// The argument at a position or of that name; borrowed, nullptr if there is none.
inline PyObject* Argument(PyObject* args, PyObject* kwargs, Py_ssize_t position, const char* name) {
  if (position < PyTuple_GET_SIZE(args)) return PyTuple_GET_ITEM(args, position);
  return kwargs == nullptr ? nullptr : PyDict_GetItemString(kwargs, name);
}

// --- names.cc -----------------------------------------------------------------------------------

enum class NameKind { kPublic, kPrivate, kNativeDunder, kGuardedDunder, kRefused, kError };

// Judges an attribute name that came at run time. kError: an exception is set (not an exact str, or
// spelled in a form that NFKC would change).
NameKind Judge(PyObject* name);
// The rule that refuses such a name in source, for one that came at run time.
const char* RuleOfRefused(PyObject* name);
// Sets AttributeError "[rule] ..." and returns nullptr.
PyObject* Refuse(const char* rule, PyObject* target, PyObject* name, const char* reason);
bool IsDunder(PyObject* exact_str);

// --- classes.cc ---------------------------------------------------------------------------------

bool IsGuestClass(const PyTypeObject* type);
PyObject* TypeDict(PyTypeObject* type);                       // borrowed
PyTypeObject* FindInMro(PyTypeObject* type, PyObject* name);  // borrowed; nullptr: nowhere
// What a metaclass could use to answer for a class's order or patterns, or to be shown the classes
// that library code compares with its own (the sets of `abc`, the caches of `typing`).
bool IsForbiddenOnMetaclass(PyObject* exact_str);
bool InGuestFrame();  // the running frame is guest code
// The running frame is guest code, or library code that such code called (and no import between).
bool RequestedByGuest();
// The same where packages are left open too: a frame of theirs is no proof that nobody asked.
bool CalledByGuest();
bool IsGuestFunction(PyObject* object);

// While C code of ours, or CPython's, loads attributes by names that the running frame gave it.
class Asking {
 public:
  Asking() : outer_(state.asking) { state.asking = PyEval_GetFrame(); }
  ~Asking() { state.asking = outer_; }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

 private:
  PyFrameObject* outer_;
};

bool InstallClassHooks();  // tp_new and tp_alloc of `type`
// Checks and, where only harmless names would be lost, shortens a `__match_args__`. New reference.
PyObject* CheckMatchArgs(PyObject* value);
bool IsOpenPackageType(PyTypeObject* type);

// --- attributes.cc ------------------------------------------------------------------------------

PyObject* GuardedGet(PyObject* target, PyObject* name);
// value == nullptr deletes.
int GuardedSet(PyObject* target, PyObject* name, PyObject* value);
bool MayWritePublic(PyObject* target);
bool ReadyAttributeTypes();

// --- hooks.cc -----------------------------------------------------------------------------------

extern PyMethodDef hook_methods[];
bool ReadyHooks();

// --- proxy, getters, format, groups, hardening, files, real_modules, arrays ---------------------

bool IsProxy(PyObject* object);
extern PyMethodDef proxy_methods[];
bool ReadyProxyType(PyObject* module);
bool ReadyGetterTypes(PyObject* module);
bool InstallFormatGuards();
extern PyMethodDef group_methods[];
bool ReadyGroups();
extern PyMethodDef module_guard_methods[];
bool ReadyRealModules();
// The attribute of that name is loaded by a guest's own instruction or getattr(), not by C code
// that it calls.
bool GuestLoads(PyObject* name);
extern PyMethodDef array_methods[];
bool ReadyHardeningTypes();
bool InstallHardening();
// The methods of a type by their names (__eq__, __init__) hold the slots' functions on their own.
void ReplaceWrapped(PyTypeObject* type, void* original, void* replacement);
bool InstallFileGuard();

}  // namespace belljar::inside::guards

#endif  // BELLJAR_ENGINE_INSIDE_GUARDS_GUARDS_H_
