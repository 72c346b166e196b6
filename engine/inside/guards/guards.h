// Guards: the native half of the language policy. The module `_belljar_guards`.
//
//   import _belljar_guards as guards
//   guards.configure({...})              # the tables of policy/belljar_policy/tables.py
//   proxy = guards.Proxy("math", "doc", {"sqrt": math.sqrt})
//   guards.freeze()                      # once, in the zygote, before any guest code
//
// Callers: policy/belljar_policy in the zygote, and after freeze() the guest's own bytecode in the
// worker. One interpreter and one kernel thread; a guest's threads are fibers, and state that
// belongs to a fiber is exchanged when they switch (fibers.cc). The rest of the state is per
// process because what it guards (the interpreter's own types) is per process, too.
//
// The rule of this folder: no decision may run code that a guest can override. Types are compared
// by pointer, names are exact str, classes are searched through tp_mro and their dicts directly.
#ifndef BELLJAR_ENGINE_INSIDE_GUARDS_GUARDS_H_
#define BELLJAR_ENGINE_INSIDE_GUARDS_GUARDS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <algorithm>
#include <string_view>
#include <vector>

extern "C" PyObject* PyInit__belljar_guards();

namespace belljar::inside::guards {

// Marks on a type object. CPython reserves bits 15 and 16 of tp_flags for Stackless, which is not
// used here; subclasses do not inherit them.
inline constexpr unsigned long kGuestMade = 1UL << 15;
// On a guest-made class: none of its bases has private names, so `obj._x` needs no look-up.
inline constexpr unsigned long kPure = 1UL << 16;
// On any other class: reviewed, and a guest may derive from it.
inline constexpr unsigned long kSubclassable = 1UL << 16;
static_assert((Py_TPFLAGS_DEFAULT & (kGuestMade | kPure)) == 0);

struct State {
  bool frozen = false;
  PyFrameObject* asking = nullptr;  // the guest's frame for which getattr() or format() loads
  bool guest_began = false;         // a program runs, or has ended and left objects
  bool loading = false;             // during load(), see origin.cc
  // Weaker, for profiles with unhardened packages: their code may make classes after the freeze,
  // see classes.cc.
  bool lenient_classes = false;
  PyObject* guest_builtins = nullptr;  // dict; frames with these builtins are guest code
  PyObject* refused_names = nullptr;   // frozenset: never loaded, in any way
  PyObject* native_dunders = nullptr;  // frozenset: loaded like public names
  PyObject* class_dunders = nullptr;   // frozenset: allowed in a guest's class
  PyObject* made_dunders = nullptr;  // frozenset: added to classes by the compiler and the library
  PyObject* function_dunders = nullptr;   // frozenset: settable on a guest's function
  PyObject* exception_dunders = nullptr;  // frozenset: settable on any exception
  PyObject* module_dunders = nullptr;     // frozenset: names like `__doc__` that a program may bind
  PyObject* own_names = nullptr;          // callable: what vars() returns without an object
  PyObject* subclasses_of = nullptr;      // CPython's own type.__subclasses__
  PyObject* traceback_of = nullptr;       // callable: what programs see as e.__traceback__
  PyObject* tuple_names = nullptr;        // frozenset: the public `_x` names of named tuples
  PyObject* writable_types = nullptr;     // set: library classes with writable instances
  PyObject* open_packages = nullptr;      // frozenset of unhardened top-level packages
  PyObject* namespace_type = nullptr;     // types.SimpleNamespace
  PyObject* is_normalized = nullptr;      // unicodedata.is_normalized
  PyObject* modules = nullptr;            // dict: name -> Proxy
  PyObject* internal_modules = nullptr;   // frozenset: importable by C code, not by guests
  PyObject* absent_modules = nullptr;     // frozenset: omitted by this zygote (preload.py)
  PyObject* start_over = nullptr;         // callable: ends this process, which needs one of them
  PyObject* allowed_modules = nullptr;    // frozenset or NULL (all)
  PyObject* own_tops = nullptr;           // set: outermost names of the program's own files
  PyObject* import_own = nullptr;         // callable: imports one of those (library/own_modules.py)
  PyObject* library_scopes = nullptr;     // list: the globals of library text (proxy.cc)
  PyObject* hooks = nullptr;              // tuple: the names of the hooks
  PyObject* name_of_text = nullptr;       // str: the `__name__` of text with globals of its own
  PyObject* view_of = nullptr;            // callable: what programs see of a scope's dict
  PyObject* bootstrap_globals = nullptr;  // dict of importlib._bootstrap
  PyObject* formatter_parser = nullptr;   // _string.formatter_parser
  PyObject* field_name_split = nullptr;   // _string.formatter_field_name_split
};

extern State state;

// Precondition: `object` is a type.
inline PyTypeObject* AsType(PyObject* object) { return reinterpret_cast<PyTypeObject*>(object); }

// The argument at a position or with that name; borrowed, nullptr if there is none.
inline PyObject* Argument(PyObject* args, PyObject* kwargs, Py_ssize_t position, const char* name) {
  if (position < PyTuple_GET_SIZE(args)) return PyTuple_GET_ITEM(args, position);
  return kwargs == nullptr ? nullptr : PyDict_GetItemString(kwargs, name);
}

// For a PyMethodDef: a function with one of the other calling conventions.
template <typename Function>
PyCFunction AsPyCFunction(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

// Whether a list or tuple contains this very object.
inline bool Holds(PyObject* list_or_tuple, const void* object) {
  PyObject** items = PySequence_Fast_ITEMS(list_or_tuple);
  PyObject** end = items + PySequence_Fast_GET_SIZE(list_or_tuple);
  return std::find(items, end, object) != end;
}

// Whether this very object is a value of the dict.
inline bool HoldsValue(PyObject* dict, const void* object) {
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(dict, &position, &key, &value)) {
    if (value == object) return true;
  }
  return false;
}

// --- names.cc -----------------------------------------------------------------------------------

enum class NameKind { kPublic, kPrivate, kNativeDunder, kGuardedDunder, kRefused, kError };

// Classifies an attribute name that is only known at run time. kError: an exception is set (not an
// exact str, or spelled in a form that NFKC would change).
NameKind Classify(PyObject* name);
// The rule that would refuse such a name in source code.
const char* RuleOfRefused(PyObject* name);
// Sets AttributeError "[rule] ..." and returns nullptr.
PyObject* Refuse(const char* rule, PyObject* target, PyObject* name, const char* reason);
bool IsDunder(PyObject* exact_str);
// Empty for nullptr, for anything but an exact str, and for text that is not valid UTF-8.
std::string_view Text(PyObject* value);
// The module to which code with these globals belongs. They are never a program's own.
std::string_view ModuleOf(PyObject* globals);
// The first part of a module's name.
std::string_view TopOf(std::string_view module);
// Whether the module belongs to a package that is left unhardened.
bool IsOpenPackage(std::string_view module);

// --- classes.cc ---------------------------------------------------------------------------------

bool IsGuestClass(const PyTypeObject* type);
PyObject* TypeDict(PyTypeObject* type);                       // borrowed
PyTypeObject* FindInMro(PyTypeObject* type, PyObject* name);  // borrowed; nullptr: nowhere
// Names that a metaclass could use to control a class's order or patterns, or to see the classes
// that library code compares with its own (the sets of `abc`, the caches of `typing`).
bool IsForbiddenOnMetaclass(PyObject* exact_str);
bool InGuestFrame();  // the running frame is guest code
// Whether the running frame is guest code, or library code called by it.
bool RequestedByGuest();
// Likewise with unhardened packages: their frames do not prove that no guest made the request.
bool CalledByGuest();
bool IsGuestFunction(PyObject* object);

// Held while C code, ours or CPython's, loads attributes by names from the running frame.
class NameLoadScope {
 public:
  NameLoadScope() : outer_(state.asking) { state.asking = PyEval_GetFrame(); }
  ~NameLoadScope() { state.asking = outer_; }
  NameLoadScope(const NameLoadScope&) = delete;
  NameLoadScope& operator=(const NameLoadScope&) = delete;

 private:
  PyFrameObject* outer_;
};

// How many classes of the guest the running thread is creating; returns the old number.
int ExchangeClassesInCreation(int number);
bool InstallClassHooks();  // tp_new and tp_alloc of `type`
// Checks a `__match_args__`, and shortens it if only harmless names would be lost. New reference.
PyObject* CheckMatchArgs(PyObject* value);
bool IsOpenPackageType(PyTypeObject* type);

// --- origin.cc ---------------------------------------------------------------------------------

// Which frames count as the host's after the guest began: none, any frame of library code, or only
// frames of open packages that create classes themselves.
enum class Trust { kNone, kFrames, kClassMakers };

// Whether what is being created now is the host's own.
bool MadeByHost(Trust trust);
// Whether the class is made by a class statement of library code: `names` is the dict that its body
// filled. Preconditions: a tuple, a dict.
bool IsOfLibraryStatement(PyTypeObject* metatype, PyObject* bases, PyObject* names);
// During load(): a class was made, by the library or not.
void NoteLoaded(PyTypeObject* type, bool of_library);
bool InstallBuildClass();
extern PyMethodDef origin_methods[];  // load(), is_loading()

// --- attributes.cc ------------------------------------------------------------------------------

PyObject* GuardedGet(PyObject* target, PyObject* name);
// value == nullptr deletes.
int GuardedSet(PyObject* target, PyObject* name, PyObject* value);
bool MayWritePublic(PyObject* target);
bool ReadyAttributeTypes();

// --- hooks.cc -----------------------------------------------------------------------------------

extern PyMethodDef hook_methods[];
bool ReadyHooks();

// --- class_report.cc ----------------------------------------------------------------------------

extern PyMethodDef class_report_methods[];
bool ReadyClassReport();

// --- functions.cc -------------------------------------------------------------------------------

// Whether a partial may reveal to a guest that this is its function, or these are its arguments.
bool IsShownByPartial(PyObject* value);
// Whether a property may reveal to a guest that it calls this.
bool IsShownByProperty(PyObject* value);
bool InstallFunctionGuard();

// --- proxy, text, getters, format, groups, hardening, files, opened_files, real_modules, arrays,
// fibers

bool IsProxy(PyObject* object);
bool IsExported(PyObject* value);               // by a module of the profile
bool IsOwnModule(PyObject* object);             // a module that the program made
PyObject* NamespaceOfModule(PyObject* object);  // of such a one: a view, like globals()
extern PyMethodDef proxy_methods[];
bool ReadyProxyType(PyObject* module);
bool ReadyGetterTypes(PyObject* module);
bool InstallFormatGuards();
extern PyMethodDef text_methods[];
bool ReadyText(PyObject* module);
extern PyMethodDef group_methods[];
bool ReadyGroups();
extern PyMethodDef module_guard_methods[];
bool ReadyRealModules();
// Whether a guest's own instruction or getattr() loads the attribute, and not C code that it calls.
bool GuestLoads(PyObject* name);
extern PyMethodDef array_methods[];
extern PyMethodDef opened_file_methods[];
extern PyMethodDef fiber_methods[];
bool ReadyFibers();
bool ReadyHardeningTypes();
bool InstallHardening();
// Methods of a type (__eq__, __init__) hold their own pointers to the slots' functions.
void ReplaceWrapped(PyTypeObject* type, void* original, void* replacement);
bool InstallFileGuard();

}  // namespace belljar::inside::guards

#endif  // BELLJAR_ENGINE_INSIDE_GUARDS_GUARDS_H_
