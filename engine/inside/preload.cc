// belljar-preload.so: turns an interpreter's own program into the zygote.
//
// If Belljar is installed into a Python environment, it must embed that environment's interpreter.
// Its libpython may be linked into its program, without a library that could be loaded elsewhere.
// So the host executes that program with this library preloaded:
//
//   execve(".../bin/python3.11", {"belljar-zygote", ".../belljar-zygote.so"}, LD_PRELOAD=this)
//     ld.so        loads the program, its libraries and this
//     _start       calls __libc_start_main: the one below, since ours is found first
//     libc         calls RunInPlaceOfPython instead of the program's main
//     zygote.so    is loaded privately, and does everything that the program belljar-zygote does
//
// No Python code has run until then. This is a separate library in plain C, so that the
// interpreter's own extension modules see nothing else, and so that it can be loaded into any
// Python and report which one it was. The kernel does not treat the exec as privileged (AT_SECURE),
// for which ld.so would not preload: the capabilities that the host passes on are ambient, and the
// exec gains none (cap_bprm_creds_from_file, security/commoncap.c of Linux 6.12).
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "engine/inside/control_socket.h"

namespace {

using Main = int (*)(int, char**, char**);
using StartMain = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

// "3.11", but not "3.1" in "3.11.2".
bool IsOurPython(const char* version) {
  const size_t size = strlen(BELLJAR_PYTHON_MINOR);
  return strncmp(version, BELLJAR_PYTHON_MINOR, size) == 0 && version[size] == '.';
}

bool CheckPython() {
  const auto version = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "Py_GetVersion"));
  if (version == nullptr) {
    fprintf(stderr, "the interpreter of this installation is not a CPython program");
    return false;
  }
  if (IsOurPython(version())) return true;
  fprintf(stderr,
          "this installation of Belljar is for CPython " BELLJAR_PYTHON_MINOR
          ", and its interpreter is %.*s; install Belljar into an environment of that version",
          static_cast<int>(strcspn(version(), " ")), version());
  return false;
}

int RunInPlaceOfPython(int count, char** arguments, char**) {
  if (!belljar::inside::HasControlSocket()) return 2;
  unsetenv("LD_PRELOAD");
  close(belljar::core::kZygotePreloadFd);
  prctl(PR_SET_NAME, "belljar-zygote");
  if (count != 2 || !CheckPython()) return 1;
  void* const zygote = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  void* const run = zygote == nullptr ? nullptr : dlsym(zygote, "belljar_zygote_main");
  if (run == nullptr) {
    fprintf(stderr, "load the zygote: %s", dlerror());
    return 1;
  }
  return reinterpret_cast<int (*)()>(run)();
}

}  // namespace

// The other arguments, which programs linked before glibc 2.34 pass in addition to main, are passed
// on.
extern "C" [[gnu::visibility("default")]] int __libc_start_main(Main, int count, char** arguments,
                                                                void (*init)(), void (*fini)(),
                                                                void (*unload)(), void* stack) {
  const auto start = reinterpret_cast<StartMain>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(RunInPlaceOfPython, count, arguments, init, fini, unload, stack);
}
