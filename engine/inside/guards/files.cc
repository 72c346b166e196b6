// Files are opened by their path: FileIO's __init__, replaced in the type at the freeze.
//
// Every way to a file ends there: open(), io.FileIO, what pathlib, zipfile and their kin open, and
// __init__ called anew on the `raw` below a file that a guest has. A number for a path would be a
// descriptor: the worker's own socket is one. An opener gives one, too.
#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {
namespace {

initproc original_file_init = nullptr;

// A key of a class of the guest's may be equal to "file" now and not when the original asks.
bool HasPlainKeys(PyObject* kwargs) {
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (kwargs != nullptr && PyDict_Next(kwargs, &position, &key, &value)) {
    if (!PyUnicode_CheckExact(key)) return false;
  }
  return true;
}

// By the clinic's signature: FileIO(file, mode='r', closefd=True, opener=None).
int FileInit(PyObject* self, PyObject* args, PyObject* kwargs) {
  if (!state.guest_began) return original_file_init(self, args, kwargs);
  const char* fault = nullptr;
  if (!HasPlainKeys(kwargs)) {
    fault = "[BJ306] keywords must be plain str";
  } else if (PyObject* file = Argument(args, kwargs, 0, "file");
             file != nullptr && PyIndex_Check(file)) {
    // What has __index__ is taken for a descriptor before it is asked for __fspath__.
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
  Py_DECREF(type);  // the module keeps it
  auto* file = reinterpret_cast<PyTypeObject*>(type);
  original_file_init = file->tp_init;
  file->tp_init = FileInit;
  ReplaceWrapped(file, reinterpret_cast<void*>(original_file_init),
                 reinterpret_cast<void*>(FileInit));
  return true;
}

}  // namespace belljar::inside::guards
