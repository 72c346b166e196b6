// Files that C code opens by itself (lxml: parse(path), an external entity, document() of XSLT).
// CPython reports only its own open() to audit hooks. Here the imported functions of such a library
// report too, so that policy/belljar_policy/lookout.py refuses them in the same way.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "engine/inside/guards/guards.h"
#include "engine/inside/guards/imported_functions.h"

namespace belljar::inside::guards {
namespace {

// The caller may have released the interpreter's lock, and may have an exception set.
bool HooksAllow(const char* event, const char* path, int flags) {
  const int error = errno;
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject* name = PyUnicode_DecodeFSDefault(path);
  const bool allowed = name != nullptr && PySys_Audit(event, "OOi", name, Py_None, flags) == 0;
  Py_XDECREF(name);
  PyErr_Clear();  // the library makes its own of EACCES
  PyErr_Restore(type, value, traceback);
  PyGILState_Release(state);
  errno = allowed ? error : EACCES;
  return allowed;
}

// Its third argument is variadic, and passed in the same register.
int Open(const char* path, int flags, mode_t mode) {
  return HooksAllow("open", path, flags) ? ::open(path, flags | O_CLOEXEC, mode) : -1;
}

FILE* OpenStream(const char* path, const char* mode) {
  const bool reads = mode[0] == 'r' && mode[1] != '+' && (mode[1] == '\0' || mode[2] != '+');
  return HooksAllow("open", path, reads ? O_RDONLY : O_RDWR) ? ::fopen(path, mode) : nullptr;
}

int MakeFolder(const char* path, mode_t mode) {
  return HooksAllow("os.mkdir", path, static_cast<int>(mode)) ? ::mkdir(path, mode) : -1;
}

bool ReplaceOpening(const void* inside) {
  bool opens = false;
  for (const char* symbol : {"open", "open64"}) {
    opens |= ReplaceImportedFunction(inside, symbol, reinterpret_cast<void*>(Open));
  }
  for (const char* symbol : {"fopen", "fopen64"}) {
    opens |= ReplaceImportedFunction(inside, symbol, reinterpret_cast<void*>(OpenStream));
  }
  ReplaceImportedFunction(inside, "mkdir", reinterpret_cast<void*>(MakeFolder));
  return opens;
}

// map_library(path, initialiser, opens_files): maps an extension module and executes nothing of it;
// the import, in a worker that maps no code, finds it mapped. Zygote, before there are threads.
PyObject* MapLibrary(PyObject* /*module*/, PyObject* args) {
  const char* path = nullptr;
  const char* initialiser = nullptr;
  int opens_files = 0;
  if (!PyArg_ParseTuple(args, "ssp", &path, &initialiser, &opens_files)) return nullptr;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const void* inside = library == nullptr ? nullptr : dlsym(library, initialiser);
  if (inside == nullptr) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): glibc's is, and the zygote has one thread
    PyErr_Format(PyExc_ImportError, "map_library: %s", dlerror());
    return nullptr;
  }
  if (opens_files != 0 && !ReplaceOpening(inside)) {
    PyErr_Format(PyExc_RuntimeError, "%s opens files in a way this build does not know", path);
    return nullptr;
  }
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef opened_file_methods[] = {
    {"map_library", MapLibrary, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace belljar::inside::guards
