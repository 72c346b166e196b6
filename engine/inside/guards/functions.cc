// Functions of the library and of the policy: what they may be given, and what exposes them.
//
// Stores: library code sets attributes on objects that its caller passes (typing.final,
// types.coroutine, a property's setter with any `self`). What it sets on a function of the library,
// later code of the library or of the policy reads. So once a program runs, a function that is not
// the program's is written to only while it is being made; see MayStore.
//
// Loads: a property and a partial reveal the functions that they call. In a property that is a
// method without its class's check of `self`; in a partial it may be a function that is not
// reachable otherwise.
#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {
namespace {

setattrofunc original_function_store = nullptr;  // of functions
setattrofunc original_cache_store = nullptr;     // of functools._lru_cache_wrapper
PyObject* functools_names = nullptr;             // the dict of the module

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// The name of a function, and what else its `def` statement says.
bool IsDescription(PyObject* name) {
  return IsOneOf(Text(name), {"__name__", "__qualname__", "__doc__", "__defaults__",
                              "__annotations__", "__type_params__", "__annotate__"});
}

// Whether only the running code has the function: a shared one is also in a namespace.
bool IsUnshared(PyFunctionObject* function) {
  // A local variable, and the operand of the store; since 3.14 that one holds no reference.
  constexpr Py_ssize_t kReferences = PY_VERSION_HEX >= 0x030E0000 ? 1 : 2;
  return !InGuestFrame() && Py_REFCNT(function) <= kReferences;
}

// namedtuple(), NamedTuple and dataclass() describe functions that other code has made for them:
// from text, whose globals are not those of a module, or by the decorator recursive_repr(), which
// is of `reprlib` since 3.13.
bool IsDescribed(PyFunctionObject* function, std::string_view module, PyObject* name) {
  if (!IsDescription(name)) return false;
  const std::string_view own = ModuleOf(function->func_globals);
  if (module == "dataclasses") {
    const auto* code = reinterpret_cast<PyCodeObject*>(function->func_code);
    const std::string_view full_name = Text(code->co_qualname);
    return (own == module && full_name.starts_with("_recursive_repr.")) ||
           (own == "reprlib" && full_name.starts_with("recursive_repr."));
  }
  return IsOneOf(module, {"collections", "typing"}) && own.starts_with("namedtuple_");
}

// A package that is left open writes to its own functions, to those that the library has made for
// it and that say so (contextlib.contextmanager), and to ours in their place (those of
// matplotlib.pyplot, when the backend changes).
bool IsOfOpenPackage(PyFunctionObject* function, PyObject* globals) {
  const std::string_view module = ModuleOf(globals);
  const std::string_view top = TopOf(module);
  return IsOpenPackage(module) &&
         (top == TopOf(ModuleOf(function->func_globals)) ||
          top == TopOf(Text(function->func_module)) || HoldsValue(globals, function));
}

struct FunctionWrite {
  PyFunctionObject* function;
  PyObject* name;
  bool open;  // the function's package is left open
};

enum class Answer { kYes, kNo, kFurtherDown };

// `innermost`: the frame is the one that stores.
Answer Ask(const FunctionWrite& store, PyFrameObject* frame, bool innermost) {
  PyObject* builtins = PyFrame_GetBuiltins(frame);
  PyObject* globals = PyFrame_GetGlobals(frame);
  PyCodeObject* code = PyFrame_GetCode(frame);
  Answer answer = Answer::kFurtherDown;
  if (builtins == state.guest_builtins) {
    answer = Answer::kNo;
  } else if (const std::string_view module = ModuleOf(globals);
             Holds(code->co_consts, store.function->func_code) ||
             (globals == store.function->func_globals && Text(code->co_name) == "<module>") ||
             (state.loading && module == "belljar_policy.modules") ||
             (innermost && IsDescribed(store.function, module, store.name)) ||
             (innermost && IsOfOpenPackage(store.function, globals)) ||
             (store.open && globals == state.bootstrap_globals)) {
    answer = Answer::kYes;
  }
  Py_XDECREF(builtins);
  Py_XDECREF(globals);
  Py_DECREF(code);
  return answer;
}

// Whether the running code may store to a function that is not the program's. Nobody else has it,
// or one of these runs, with no frame of the program nearer:
//   - the code that contains the function's: a decorator dresses the function that it has just
//     made;
//   - its module, for the first time: a class decorator describes the methods of the class;
//   - the loader of a module that the program imports (ModuleTable.load);
//   - namedtuple() and dataclass(), see above;
//   - for a package that is left open, its own code or an import.
bool MayStore(PyFunctionObject* function, PyObject* name) {
  if (IsUnshared(function)) return true;
  const bool open = IsOpenPackage(ModuleOf(function->func_globals));
  const FunctionWrite store = {function, name, open};
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  Answer answer = Answer::kFurtherDown;
  for (bool innermost = true; frame != nullptr; innermost = false) {
    answer = Ask(store, frame, innermost);
    PyFrameObject* back = answer == Answer::kFurtherDown ? PyFrame_GetBack(frame) : nullptr;
    Py_DECREF(frame);
    frame = back;
  }
  return answer == Answer::kYes;
}

// total_ordering() sets the names of its functions again each time.
bool IsAsBefore(PyFunctionObject* function, PyObject* name, PyObject* value) {
  return value != nullptr && PyUnicode_CheckExact(value) && Text(name) == "__name__" &&
         PyUnicode_Compare(function->func_name, value) == 0;
}

int RefuseFunctionStore(PyObject* target, PyObject* name) {
  Refuse("BJ305", target, name, "may not be set: the program did not create it");
  return -1;
}

// tp_setattro of functions.
int FunctionStore(PyObject* target, PyObject* name, PyObject* value) {
  if (state.guest_began && !IsGuestFunction(target)) {
    auto* function = reinterpret_cast<PyFunctionObject*>(target);
    if (IsAsBefore(function, name, value)) return 0;
    if (!MayStore(function, name)) return RefuseFunctionStore(target, name);
  }
  return original_function_store(target, name, value);
}

// Likewise for what lru_cache() returns, which functools describes, and for open packages.
int CacheStore(PyObject* target, PyObject* name, PyObject* value) {
  if (state.guest_began) {
    PyFrameObject* frame = PyEval_GetFrame();
    PyObject* globals = frame == nullptr ? nullptr : PyFrame_GetGlobals(frame);
    const bool dresses =
        globals != nullptr && (globals == functools_names || IsOpenPackage(ModuleOf(globals)));
    Py_XDECREF(globals);
    if (!dresses) return RefuseFunctionStore(target, name);
  }
  return original_cache_store(target, name, value);
}

void ReplaceFunctionStore(PyTypeObject* type, setattrofunc* original, setattrofunc replacement) {
  *original = type->tp_setattro;
  type->tp_setattro = replacement;
  PyType_Modified(type);
}

// Not a private function of the library, nor one of the policy that no module exports.
bool IsShownFunction(PyObject* value) {
  if (IsGuestFunction(value)) return true;
  if (PyMethod_Check(value)) value = PyMethod_GET_FUNCTION(value);
  if (!PyFunction_Check(value)) return true;
  const auto* function = reinterpret_cast<PyFunctionObject*>(value);
  if (Text(function->func_name).starts_with('_') && !IsDunder(function->func_name)) return false;
  return !ModuleOf(function->func_globals).starts_with("belljar_policy") || IsExported(value);
}

}  // namespace

bool IsShownByPartial(PyObject* value) {
  if (PyDict_Check(value)) {
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(value, &position, &key, &item)) {
      if (!IsShownFunction(item)) return false;
    }
  } else if (PyTuple_Check(value)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i) {
      if (!IsShownFunction(PyTuple_GET_ITEM(value, i))) return false;
    }
  }
  return IsShownFunction(value);
}

bool IsShownByProperty(PyObject* value) {
  return value == Py_None || PyType_Check(value) || PyCFunction_Check(value) ||
         IsGuestFunction(value) || IsGuestClass(Py_TYPE(value));
}

bool InstallFunctionGuard() {
  PyObject* functools = PyImport_ImportModule("functools");
  if (functools == nullptr) return false;
  functools_names = Py_NewRef(PyModule_GetDict(functools));
  PyObject* cache = PyObject_GetAttrString(functools, "_lru_cache_wrapper");
  Py_DECREF(functools);
  if (cache == nullptr) return false;
  ReplaceFunctionStore(&PyFunction_Type, &original_function_store, FunctionStore);
  ReplaceFunctionStore(AsType(cache), &original_cache_store, CacheStore);
  Py_DECREF(cache);  // the module keeps it alive
  return true;
}

}  // namespace belljar::inside::guards
