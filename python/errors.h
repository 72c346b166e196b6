// What the module's functions throw; host_module.cc translates it into Python's exceptions.
#ifndef BELLJAR_PYTHON_ERRORS_H_
#define BELLJAR_PYTHON_ERRORS_H_

#include <utility>

#include "engine/core/result.h"

namespace belljar::python {

// belljar.BelljarError: Belljar or this machine failed.
struct HostFailure {
  core::Error error;
};

// belljar.SessionClosed.
struct ClosedFailure {
  core::Error error;
};

// belljar.SessionBusy.
struct BusyFailure {
  core::Error error;
};

// ValueError: the caller's mistake.
struct BadArgument {
  core::Error error;
};

template <typename T>
T OrHostFailure(core::Result<T> result) {
  if (!result) throw HostFailure{result.error()};
  return std::move(*result);
}

inline void OrHostFailure(const core::Result<void>& result) {
  if (!result) throw HostFailure{result.error()};
}

template <typename T>
T OrBadArgument(core::Result<T> result) {
  if (!result) throw BadArgument{result.error()};
  return std::move(*result);
}

inline void OrBadArgument(const core::Result<void>& result) {
  if (!result) throw BadArgument{result.error()};
}

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_ERRORS_H_
