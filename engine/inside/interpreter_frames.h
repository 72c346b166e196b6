// The frames of an interpreter as they lie in memory: without creating objects, which
// PyThreadState_GetFrame() does. For a signal handler (places.cc), whatever the thread was in the
// middle of.
#ifndef BELLJAR_ENGINE_INSIDE_INTERPRETER_FRAMES_H_
#define BELLJAR_ENGINE_INSIDE_INTERPRETER_FRAMES_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

// The innermost one; NULL: none.
const void* belljar_innermost_frame(const PyThreadState* thread_state);
// The one that called it; NULL: none.
const void* belljar_calling_frame(const void* frame);
// Borrowed; NULL: the frame is one that the interpreter has made between C and Python. `line`:
// where the code is, from 1.
PyCodeObject* belljar_code_of_frame(const void* frame, int* line);

#ifdef __cplusplus
}
#endif

#endif  // BELLJAR_ENGINE_INSIDE_INTERPRETER_FRAMES_H_
