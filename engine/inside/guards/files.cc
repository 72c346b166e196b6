// Files are opened by path: replaces __init__ of the FileIO type at the freeze.
//
// All file access ends there: open(), io.FileIO, what pathlib, zipfile and others open, and
// __init__ called again on the `raw` of a file that a guest has. A number in place of a path would
// be a descriptor, such as the worker's own socket. An opener could return one too.
#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {
namespace {

initproc original_file_init = nullptr;

// A key of a guest's str subclass could equal "file" here, but not in the original function.
bool HasPlainKeys(PyObject* kwargs) {
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (kwargs != nullptr && PyDict_Next(kwargs, &position, &key, &value)) {
    if (!PyUnicode_CheckExact(key)) return false;
  }
  return true;
}

// Signature (Argument Clinic): FileIO(file, mode='r', closefd=True, opener=None).
int FileInit(PyObject* self, PyObject* args, PyObject* kwargs) {
  if (!state.guest_began) return original_file_init(self, args, kwargs);
  const char* fault = nullptr;
  if (!HasPlainKeys(kwargs)) {
    fault = "[BJ306] keywords must be plain str";
  } else if (PyObject* file = Argument(args, kwargs, 0, "file");
             file != nullptr && PyIndex_Check(file)) {
    // An object with __index__ is taken for a descriptor before __fspath__ is tried.
    fault = "[BJ502] files are opened by their path, not by a descriptor";
  } else if (PyObject* opener = Argument(args, kwargs, 3, "opener");
             opener != nullptr && opener != Py_None) {
    fault = "[BJ502] files are opened by their path, not by an opener";
  }
  if (fault != nullptr) {
    PyErr_SetString(PyExc_TypeError, fault);
    return -1;
  }
  return original_file_init(self, args, kwargs);
}

}  // namespace

bool InstallFileGuard() {
  PyObject* io = PyImport_ImportModule("_io");
  if (io == nullptr) return false;
  PyObject* type = PyObject_GetAttrString(io, "FileIO");
  Py_DECREF(io);
  if (type == nullptr) return false;
  Py_DECREF(type);  // the module keeps it alive
  auto* file = reinterpret_cast<PyTypeObject*>(type);
  original_file_init = file->tp_init;
  file->tp_init = FileInit;
  ReplaceWrapped(file, reinterpret_cast<void*>(original_file_init),
                 reinterpret_cast<void*>(FileInit));
  return true;
}

}  // namespace belljar::inside::guards
