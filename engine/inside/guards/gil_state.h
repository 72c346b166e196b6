// The thread state of this kernel thread as seen by PyGILState_Ensure() and PyGILState_Check().
//
// From 3.12 on, PyThreadState_Swap() sets it. Before, it stays the one that the kernel thread
// started with, and extension modules that call PyGILState_Ensure() in another would wait for the
// interpreter lock that their own thread holds.
#ifndef BELLJAR_ENGINE_INSIDE_GUARDS_GIL_STATE_H_
#define BELLJAR_ENGINE_INSIDE_GUARDS_GIL_STATE_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifdef __cplusplus
extern "C"
#endif
    void
    belljar_set_gil_state(PyThreadState* thread_state);

#endif  // BELLJAR_ENGINE_INSIDE_GUARDS_GIL_STATE_H_
