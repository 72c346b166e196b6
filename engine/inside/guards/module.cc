// The module `_belljar_guards`: configure() takes the tables, freeze() activates the policy.
#include <iterator>

#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {

State state;

namespace {

struct TableSlot {
  const char* key;
  PyObject** slot;
};

PyObject* Configure(PyObject* /*module*/, PyObject* settings) {
  const TableSlot table[] = {
      {"guest_builtins", &state.guest_builtins},
      {"refused_names", &state.refused_names},
      {"native_dunders", &state.native_dunders},
      {"class_dunders", &state.class_dunders},
      {"made_dunders", &state.made_dunders},
      {"function_dunders", &state.function_dunders},
      {"exception_dunders", &state.exception_dunders},
      {"module_dunders", &state.module_dunders},
      {"own_names", &state.own_names},
      {"traceback_of", &state.traceback_of},
      {"tuple_names", &state.tuple_names},
      {"writable_types", &state.writable_types},
      {"open_packages", &state.open_packages},
      {"namespace_type", &state.namespace_type},
      {"is_normalized", &state.is_normalized},
      {"modules", &state.modules},
      {"internal_modules", &state.internal_modules},
      {"absent_modules", &state.absent_modules},
      {"start_over", &state.start_over},
      {"own_tops", &state.own_tops},
      {"import_own", &state.import_own},
      {"library_scopes", &state.library_scopes},
      {"hooks", &state.hooks},
      {"name_of_text", &state.name_of_text},
      {"view_of", &state.view_of},
      {"bootstrap_globals", &state.bootstrap_globals},
      {"formatter_parser", &state.formatter_parser},
      {"field_name_split", &state.field_name_split},
  };
  if (state.frozen) {
    PyErr_SetString(PyExc_RuntimeError, "the guards are frozen");
    return nullptr;
  }
  if (!PyDict_CheckExact(settings) ||
      PyDict_GET_SIZE(settings) != static_cast<Py_ssize_t>(std::size(table)) + 2) {
    PyErr_SetString(PyExc_ValueError, "configure() needs every setting, and no other");
    return nullptr;
  }
  for (const TableSlot& entry : table) {
    PyObject* value = PyDict_GetItemString(settings, entry.key);
    if (value == nullptr) {
      PyErr_Format(PyExc_ValueError, "configure() misses '%s'", entry.key);
      return nullptr;
    }
    Py_XSETREF(*entry.slot, Py_NewRef(value));
  }
  PyObject* lenient = PyDict_GetItemString(settings, "lenient_classes");
  PyObject* subclassable = PyDict_GetItemString(settings, "subclassable");
  if (lenient == nullptr || subclassable == nullptr || !PyList_CheckExact(subclassable)) {
    PyErr_SetString(PyExc_ValueError, "configure() misses 'lenient_classes' or 'subclassable'");
    return nullptr;
  }
  state.lenient_classes = lenient == Py_True;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(subclassable); ++i) {
    PyObject* type = PyList_GET_ITEM(subclassable, i);
    if (!PyType_Check(type)) {
      PyErr_Format(PyExc_ValueError, "'subclassable' holds %R, which is not a class", type);
      return nullptr;
    }
    reinterpret_cast<PyTypeObject*>(type)->tp_flags |= kSubclassable;
  }
  Py_RETURN_NONE;
}

PyObject* Freeze(PyObject* /*module*/, PyObject* /*unused*/) {
  if (state.frozen || state.guest_builtins == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "freeze() comes once, after configure()");
    return nullptr;
  }
  if (!InstallClassHooks() || !InstallFormatGuards() || !InstallHardening()) return nullptr;
  state.frozen = true;
  Py_RETURN_NONE;
}

PyObject* BeginGuest(PyObject* /*module*/, PyObject* /*unused*/) {
  state.guest_began = true;
  Py_RETURN_NONE;
}

PyObject* ForgetGuest(PyObject* /*module*/, PyObject* /*unused*/) {
  state.guest_began = false;
  Py_RETURN_NONE;
}

PyObject* AllowModules(PyObject* /*module*/, PyObject* names) {
  if (names != Py_None && !PyFrozenSet_CheckExact(names)) {
    PyErr_SetString(PyExc_TypeError, "allow_modules() takes a frozenset or None");
    return nullptr;
  }
  Py_XSETREF(state.allowed_modules, names == Py_None ? nullptr : Py_NewRef(names));
  Py_RETURN_NONE;
}

PyMethodDef module_methods[] = {
    {"configure", Configure, METH_O, nullptr},
    {"freeze", Freeze, METH_NOARGS, nullptr},
    {"begin_guest", BeginGuest, METH_NOARGS, nullptr},
    {"forget_guest", ForgetGuest, METH_NOARGS, nullptr},
    {"allow_modules", AllowModules, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_belljar_guards",
    .m_doc = "The native half of Belljar's language policy.",
    .m_size = -1,
    .m_methods = module_methods,
};

}  // namespace
}  // namespace belljar::inside::guards

PyObject* PyInit__belljar_guards() {
  using namespace belljar::inside::guards;  // NOLINT(google-build-using-namespace)
  PyObject* module = PyModule_Create(&definition);
  if (module == nullptr) return nullptr;
  if (PyModule_AddFunctions(module, hook_methods) < 0 ||
      PyModule_AddFunctions(module, proxy_methods) < 0 ||
      PyModule_AddFunctions(module, origin_methods) < 0 ||
      PyModule_AddFunctions(module, group_methods) < 0 ||
      PyModule_AddFunctions(module, text_methods) < 0 || !ReadyText(module) ||
      PyModule_AddFunctions(module, module_guard_methods) < 0 ||
      PyModule_AddFunctions(module, class_report_methods) < 0 || !ReadyClassReport() ||
      PyModule_AddFunctions(module, array_methods) < 0 ||
      PyModule_AddFunctions(module, opened_file_methods) < 0 ||
      PyModule_AddFunctions(module, fiber_methods) < 0 || !ReadyFibers() || !ReadyRealModules() ||
      !ReadyAttributeTypes() || !ReadyHooks() || !ReadyProxyType(module) ||
      !ReadyGetterTypes(module) || !ReadyGroups() || !ReadyHardeningTypes()) {
    Py_DECREF(module);
    return nullptr;
  }
  return module;
}
