// In C, because CPython's internal headers are not C++.
#define PY_SSIZE_T_CLEAN
#define Py_BUILD_CORE 1
#include <Python.h>
#if PY_VERSION_HEX >= 0x030E0000
#include <internal/pycore_interpframe.h>
#else
#include <internal/pycore_frame.h>
#endif
#undef Py_BUILD_CORE
#include "engine/inside/interpreter_frames.h"

const void* belljar_innermost_frame(const PyThreadState* thread_state) {
#if PY_VERSION_HEX >= 0x030D0000
  return thread_state->current_frame;
#else
  return thread_state->cframe->current_frame;
#endif
}

const void* belljar_calling_frame(const void* frame) {
  return ((const struct _PyInterpreterFrame*)frame)->previous;
}

PyCodeObject* belljar_code_of_frame(const void* frame, int* line) {
  struct _PyInterpreterFrame* of = (struct _PyInterpreterFrame*)frame;
#if PY_VERSION_HEX >= 0x030E0000
  if (of->owner >= FRAME_OWNED_BY_INTERPRETER) return NULL;
#elif PY_VERSION_HEX >= 0x030C0000
  if (of->owner == FRAME_OWNED_BY_CSTACK) return NULL;
#endif
#if PY_VERSION_HEX >= 0x030D0000
  PyCodeObject* code = _PyFrame_GetCode(of);
#else
  PyCodeObject* code = of->f_code;
#endif
  *line = PyCode_Addr2Line(code, _PyInterpreterFrame_LASTI(of) * (int)sizeof(_Py_CODEUNIT));
  return code;
}
