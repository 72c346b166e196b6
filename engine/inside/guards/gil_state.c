// In C, because CPython's internal headers are not C++.
#define PY_SSIZE_T_CLEAN
#define Py_BUILD_CORE 1
#include <Python.h>
#if PY_VERSION_HEX < 0x030C0000
#include <internal/pycore_runtime.h>
#endif
#undef Py_BUILD_CORE
#include "engine/inside/guards/gil_state.h"

void belljar_set_gil_state(PyThreadState* thread_state) {
#if PY_VERSION_HEX < 0x030C0000
  // Setting an existing key cannot fail: its memory was allocated with the first value.
  (void)PyThread_tss_set(&_PyRuntime.gilstate.autoTSSkey, thread_state);
#else
  (void)thread_state;
#endif
}
