// numpy trusts addresses: an object's `__array_interface__` says where its memory is, how large it
// is and whether it is writable, and an unchecked resize leaves an array's views in freed memory.
// With either, a program could write anywhere, through ordinary documented calls. numpy has no hook
// for this, so we patch two places: the function by which it looks up such attributes, in its table
// of imported functions, and the method of its array.
#include "engine/inside/guards/guards.h"
#include "engine/inside/guards/imported_functions.h"

namespace belljar::inside::guards {
namespace {

using LookUp = int (*)(PyObject*, PyObject*, PyObject**);

PyTypeObject* array_type = nullptr;
PyTypeObject* scalar_type = nullptr;

bool SaysWhereMemoryIs(PyObject* name) {
  return PyUnicode_CheckExact(name) &&
         (PyUnicode_CompareWithASCIIString(name, "__array_interface__") == 0 ||
          PyUnicode_CompareWithASCIIString(name, "__array_struct__") == 0);
}

// Whether the library answers: its class has the attribute as a data descriptor, which takes
// precedence over an instance's dict, and the instance is not of a guest's class.
bool LibraryAnswers(PyObject* object, PyObject* name) {
  PyTypeObject* type = Py_TYPE(object);
  if (PyType_IsSubtype(type, array_type) || PyType_IsSubtype(type, scalar_type)) return true;
  if (IsGuestClass(type)) return false;
  PyTypeObject* owner = FindInMro(type, name);
  if (owner == nullptr || IsGuestClass(owner)) return false;
  PyObject* found = PyDict_GetItemWithError(TypeDict(owner), name);
  return found != nullptr && Py_TYPE(found)->tp_descr_set != nullptr;
}

// as_strided of numpy.lib makes its views through an object that says where their memory is. Its
// bounds are checked before (packages/numpy.py). A program may hold such an object, as the base of
// a view, but may not use it.
PyTypeObject* strided_view_type = nullptr;
PyObject* view_code = nullptr;

bool MakesView(PyObject* object) {
  if (Py_TYPE(object) != strided_view_type) return false;
  PyFrameObject* frame = PyEval_GetFrame();
  if (frame == nullptr) return false;
  PyCodeObject* code = PyFrame_GetCode(frame);
  const bool makes = reinterpret_cast<PyObject*>(code) == view_code;
  Py_DECREF(code);
  return makes;
}

// The function by which numpy looks up an attribute that may be missing. Python 3.13 made it public
// under another name, which numpy uses since.
#if PY_VERSION_HEX >= 0x030D0000
constexpr char kLookUpName[] = "PyObject_GetOptionalAttr";
constexpr LookUp kLookUp = PyObject_GetOptionalAttr;
#else
constexpr char kLookUpName[] = "_PyObject_LookupAttr";
constexpr LookUp kLookUp = _PyObject_LookupAttr;
#endif

// The replacement that numpy calls.
int LookUpForArrays(PyObject* object, PyObject* name, PyObject** result) {
  if (state.guest_began && SaysWhereMemoryIs(name) && !LibraryAnswers(object, name) &&
      !MakesView(object)) {
    *result = nullptr;
    return 0;
  }
  return kLookUp(object, name, result);
}

// --- ndarray.resize

// Compiled code (pandas's tables) resizes its own arrays unchecked. So the check is in the method
// that a guest gets, wherever it is called from.
PyObject* original_resize = nullptr;  // method descriptor
PyObject* checked_resize = nullptr;

PyObject* Resize(PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject* check = kwargs == nullptr ? nullptr : PyDict_GetItemString(kwargs, "refcheck");
  if (check != nullptr && check != Py_True) {
    PyErr_SetString(PyExc_PermissionError,
                    "[BJ502] resize() without its check of references would leave views in memory "
                    "that is freed; np.resize(a, shape) makes a new array");
    return nullptr;
  }
  auto* method = reinterpret_cast<PyMethodDescrObject*>(original_resize)->d_method;
  return reinterpret_cast<PyCFunctionWithKeywords>(reinterpret_cast<void*>(method->ml_meth))(
      self, args, kwargs);
}

PyMethodDef resize = {"resize", AsPyCFunction(Resize), METH_VARARGS | METH_KEYWORDS, nullptr};

PyObject* GetResize(PyObject* /*descriptor*/, PyObject* array, PyObject* type) {
  static PyObject* const own_name = PyUnicode_InternFromString("resize");
  const bool checked = state.guest_began && (array == nullptr || GuestLoads(own_name));
  PyObject* method = checked ? checked_resize : original_resize;
  return Py_TYPE(method)->tp_descr_get(method, array, type);
}

PyTypeObject resize_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "method_descriptor",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_descr_get = GetResize,
};

bool ReplaceResize() {
  PyObject* old = PyDict_GetItemString(TypeDict(array_type), "resize");
  constexpr int kFlags = METH_VARARGS | METH_KEYWORDS;
  if (old == nullptr || Py_TYPE(old) != &PyMethodDescr_Type ||
      reinterpret_cast<PyMethodDescrObject*>(old)->d_method->ml_flags != kFlags) {
    PyErr_SetString(PyExc_RuntimeError, "ndarray.resize is not what this build knows");
    return false;
  }
  original_resize = Py_NewRef(old);
  resize.ml_doc = reinterpret_cast<PyMethodDescrObject*>(old)->d_method->ml_doc;
  checked_resize = PyDescr_NewMethod(array_type, &resize);
  if (checked_resize == nullptr || PyType_Ready(&resize_type) < 0) return false;
  PyObject* made = PyObject_New(PyObject, &resize_type);
  const bool fine =
      made != nullptr && PyDict_SetItemString(TypeDict(array_type), "resize", made) == 0;
  Py_XDECREF(made);
  PyType_Modified(array_type);
  return fine;
}

// --- ndarray(shape, dtype, buffer)

newfunc original_array_new = nullptr;
PyObject* dtype_type = nullptr;

// A copy of `args` and `kwargs` with `dtype` in place of the given one.
PyObject* NewOfType(PyTypeObject* type, PyObject* args, PyObject* kwargs, PyObject* dtype) {
  PyObject* items = PySequence_List(args);
  PyObject* names = kwargs == nullptr ? PyDict_New() : PyDict_Copy(kwargs);
  bool fine = items != nullptr && names != nullptr;
  if (fine && PyList_GET_SIZE(items) > 1) {
    fine = PyList_SetItem(items, 1, Py_NewRef(dtype)) == 0;
  } else if (fine) {
    fine = PyDict_SetItemString(names, "dtype", dtype) == 0;
  }
  PyObject* tuple = fine ? PyList_AsTuple(items) : nullptr;
  PyObject* made = tuple == nullptr ? nullptr : original_array_new(type, tuple, names);
  Py_XDECREF(tuple);
  Py_XDECREF(items);
  Py_XDECREF(names);
  return made;
}

// An array of references over a buffer could turn any bytes into objects.
PyObject* ArrayNew(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* given = Argument(args, kwargs, 1, "dtype");
  PyObject* buffer = Argument(args, kwargs, 2, "buffer");
  if (!state.guest_began || given == nullptr || given == Py_None || buffer == nullptr ||
      buffer == Py_None) {
    return original_array_new(type, args, kwargs);
  }
  // Converted once: an object could name another type the second time.
  PyObject* dtype = PyObject_CallOneArg(dtype_type, given);
  if (dtype == nullptr) return nullptr;
  PyObject* flag = PyObject_GetAttrString(dtype, "hasobject");
  PyObject* made = nullptr;
  if (flag == Py_False) {
    made = NewOfType(type, args, kwargs, dtype);
  } else if (flag != nullptr) {
    PyErr_SetString(PyExc_PermissionError,
                    "[BJ502] an array of objects cannot be made over a buffer; np.array([...], "
                    "dtype=object) holds them");
  }
  Py_XDECREF(flag);
  Py_DECREF(dtype);
  return made;
}

// --- memoryview(array), and other users of the buffer protocol

getbufferproc original_buffer = nullptr;

// Also true if it cannot be determined.
bool HoldsObjects(PyObject* array) {
  PyObject* getter = PyDict_GetItemString(TypeDict(array_type), "dtype");
  PyObject* type = reinterpret_cast<PyObject*>(array_type);
  PyObject* dtype =
      getter == nullptr ? nullptr : Py_TYPE(getter)->tp_descr_get(getter, array, type);
  PyObject* flag = dtype == nullptr ? nullptr : PyObject_GetAttrString(dtype, "hasobject");
  if (flag == nullptr) PyErr_Clear();
  const bool holds = flag != Py_False;
  Py_XDECREF(dtype);
  Py_XDECREF(flag);
  return holds;
}

// References must not be written as bytes. Callers that ask for a format and for write access are
// compiled code (Cython) that then checks the item type; all others get read-only bytes.
int ArrayBuffer(PyObject* array, Py_buffer* view, int flags) {
  constexpr int kTyped = PyBUF_FORMAT | PyBUF_WRITABLE;
  const bool as_bytes = (flags & kTyped) != kTyped && state.guest_began && HoldsObjects(array);
  if (as_bytes && (flags & PyBUF_WRITABLE) != 0) {
    view->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, "[BJ502] the bytes of an array of objects are read-only");
    return -1;
  }
  const int result = original_buffer(array, view, flags);
  if (result == 0 && as_bytes) view->readonly = 1;
  return result;
}

bool ReplaceSlots(PyTypeObject* type, PyObject* subclasses_of) {
  if (type->tp_new == original_array_new) type->tp_new = ArrayNew;
  if (type->tp_as_buffer != nullptr && type->tp_as_buffer->bf_getbuffer == original_buffer) {
    type->tp_as_buffer->bf_getbuffer = ArrayBuffer;
  }
  // Since 3.12 the slot is also a method, __buffer__ (PEP 688), and classes derived from ndarray
  // take their slot from it.
  ReplaceWrapped(type, reinterpret_cast<void*>(original_buffer),
                 reinterpret_cast<void*>(ArrayBuffer));
  PyObject* below = PyObject_CallOneArg(subclasses_of, reinterpret_cast<PyObject*>(type));
  if (below == nullptr) return false;
  bool fine = true;
  for (Py_ssize_t i = 0; fine && i < PyList_GET_SIZE(below); ++i) {
    fine = ReplaceSlots(reinterpret_cast<PyTypeObject*>(PyList_GET_ITEM(below, i)), subclasses_of);
  }
  Py_DECREF(below);
  return fine;
}

bool ReplaceSlotsOfArrays() {
  original_array_new = array_type->tp_new;
  original_buffer = array_type->tp_as_buffer->bf_getbuffer;
  PyObject* subclasses_of = PyDict_GetItemString(TypeDict(&PyType_Type), "__subclasses__");
  return subclasses_of != nullptr && ReplaceSlots(array_type, subclasses_of);
}

// guard_arrays(numpy.ndarray, numpy.generic, numpy.dtype): zygote, before the freeze.
PyObject* GuardArrays(PyObject* /*module*/, PyObject* args) {
  PyObject* arrays = nullptr;
  PyObject* scalars = nullptr;
  PyObject* dtypes = nullptr;
  if (!PyArg_ParseTuple(args, "O!O!O!", &PyType_Type, &arrays, &PyType_Type, &scalars, &PyType_Type,
                        &dtypes)) {
    return nullptr;
  }
  dtype_type = Py_NewRef(dtypes);
  array_type = reinterpret_cast<PyTypeObject*>(Py_NewRef(arrays));
  scalar_type = reinterpret_cast<PyTypeObject*>(Py_NewRef(scalars));
  LookUp replacement = LookUpForArrays;
  // A static type: part of numpy's own data, and therefore inside its library.
  if (!ReplaceImportedFunction(array_type, kLookUpName, reinterpret_cast<void*>(replacement))) {
    PyErr_SetString(PyExc_RuntimeError,
                    "numpy looks attributes up in a way this build does not know");
    return nullptr;
  }
  if (!ReplaceResize() || !ReplaceSlotsOfArrays()) return nullptr;
  Py_RETURN_NONE;
}

// trust_views(class, code): accept objects of that class while that code runs.
PyObject* TrustViews(PyObject* /*module*/, PyObject* args) {
  PyObject* type = nullptr;
  PyObject* code = nullptr;
  if (!PyArg_ParseTuple(args, "O!O!", &PyType_Type, &type, &PyCode_Type, &code)) return nullptr;
  if (state.frozen) {
    PyErr_SetString(PyExc_RuntimeError, "the guards are frozen");
    return nullptr;
  }
  strided_view_type = reinterpret_cast<PyTypeObject*>(Py_NewRef(type));
  view_code = Py_NewRef(code);
  Py_RETURN_NONE;
}

// replace_attribute(class, name, value): for a C class, which takes no attributes. Does nothing if
// the class itself does not have it.
PyObject* ReplaceAttribute(PyObject* /*module*/, PyObject* args) {
  PyObject* type = nullptr;
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  if (!PyArg_ParseTuple(args, "O!UO", &PyType_Type, &type, &name, &value)) return nullptr;
  if (state.frozen) {
    PyErr_SetString(PyExc_RuntimeError, "the guards are frozen");
    return nullptr;
  }
  PyObject* names = TypeDict(reinterpret_cast<PyTypeObject*>(type));
  if (PyDict_Contains(names, name) == 1) {
    if (PyDict_SetItem(names, name, value) < 0) return nullptr;
    PyType_Modified(reinterpret_cast<PyTypeObject*>(type));
  }
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef array_methods[] = {
    {"trust_views", TrustViews, METH_VARARGS, nullptr},
    {"replace_attribute", ReplaceAttribute, METH_VARARGS, nullptr},
    {"guard_arrays", GuardArrays, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace belljar::inside::guards
