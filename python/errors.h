// What the module's functions throw; host_module.cc makes Python's exceptions of them.
#ifndef BELLJAR_PYTHON_ERRORS_H_
#define BELLJAR_PYTHON_ERRORS_H_

#include <utility>

#include "engine/core/result.h"

namespace belljar::python {

// belljar.BelljarError: our failure, or this machine's.
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

// ValueError: the caller's.
struct BadArgument {
  core::Error error;
};

template <typename T>
T OrHostFailure(core::Result<T> result) {
  if (!result) throw HostFailure{result.error()};
  return std::move(*result);
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
