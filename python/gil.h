// Letting go of the GIL, and taking it, in a thread that the interpreter's end may overtake.
//
// CPython up to 3.13 ends a thread that wants the GIL while the interpreter is torn down by
// pthread_exit, which unwinds the frames of C++ below it: through a destructor that ends the whole
// process with std::terminate. Such a thread is kept where it is instead, until the process ends,
// as CPython 3.14 does it itself.
#ifndef BELLJAR_PYTHON_GIL_H_
#define BELLJAR_PYTHON_GIL_H_

#include <cxxabi.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "python/objects.h"

namespace belljar::python {

[[noreturn]] inline void StayUntilTheProcessEnds() {
  for (;;) pause();
}

// Calls `wait` without the GIL, and returns or throws what it does. Precondition: the GIL is held.
template <typename Wait>
auto WithoutGil(Wait wait) -> decltype(wait()) {
  // No owner: the destructor of one is where the unwinding would end the process.
  PyThreadState* const thread = PyEval_SaveThread();
  const auto take_back = [thread] {
    try {
      PyEval_RestoreThread(thread);
    } catch (const abi::__forced_unwind&) {
      StayUntilTheProcessEnds();
    }
  };
  try {
    if constexpr (std::is_void_v<decltype(wait())>) {
      wait();
      take_back();
    } else {
      auto result = wait();
      take_back();
      return result;
    }
  } catch (const std::exception&) {
    take_back();
    throw;
  }
}

// Calls `callable`, and returns or throws what it does. Nothing with a destructor is between this
// and Python: where the interpreter's end takes the thread, nobody's references are given up
// without the GIL.
template <typename... Arguments>
pybind11::object CallPython(const pybind11::handle& callable, const Arguments&... arguments) {
  PyObject* answer = nullptr;
  try {
    answer = PyObject_CallFunctionObjArgs(callable.ptr(), arguments.ptr()..., nullptr);
  } catch (const abi::__forced_unwind&) {
    StayUntilTheProcessEnds();
  }
  return Owned(answer);
}

// Calls `step` with the GIL, from a thread that has let go of it by WithoutGil.
template <typename Step>
void WithGil(Step step) {
  try {
    const pybind11::gil_scoped_acquire gil;
    try {
      step();
    } catch (const abi::__forced_unwind&) {
      StayUntilTheProcessEnds();  // before the destructor of what holds the GIL
    }
  } catch (const abi::__forced_unwind&) {
    StayUntilTheProcessEnds();
  }
}

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_GIL_H_
