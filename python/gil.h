// Releasing and taking the GIL in a thread that may still run when the interpreter exits.
//
// When a thread wants the GIL while the interpreter is being finalised, CPython up to 3.13 ends it
// with pthread_exit. That unwinds the C++ frames below, and where it meets a destructor the whole
// process ends with std::terminate. Such a thread is therefore suspended until the process ends, as
// CPython 3.14 does.
#ifndef BELLJAR_PYTHON_GIL_H_
#define BELLJAR_PYTHON_GIL_H_

#include <cxxabi.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <chrono>
#include <exception>

#include "python/objects.h"

namespace belljar::python {

// How often a thread that waits without the GIL checks for signals.
inline constexpr std::chrono::milliseconds kSignalInterval{50};

[[noreturn]] inline void StayUntilTheProcessEnds() {
  for (;;) pause();
}

// Calls `wait` without the GIL, and returns or throws what it does. Requires the GIL.
template <typename Wait>
auto WithoutGil(Wait wait) -> decltype(wait()) {
  // Not in an owner, whose destructor would end the process during that unwinding.
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
// and Python, so that no reference is released without the GIL if the thread is ended.
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

// Calls `step` with the GIL, in a thread that has released it with WithoutGil.
template <typename Step>
void WithGil(Step step) {
  try {
    const pybind11::gil_scoped_acquire gil;
    try {
      step();
    } catch (const abi::__forced_unwind&) {
      StayUntilTheProcessEnds();  // before the destructor of `gil`
    }
  } catch (const abi::__forced_unwind&) {
    StayUntilTheProcessEnds();
  }
}

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_GIL_H_
