// A call that may take minutes, in a thread of its own: this one checks for signals, and cancels it
// if a handler raises an exception.
#ifndef BELLJAR_PYTHON_CANCELLABLE_H_
#define BELLJAR_PYTHON_CANCELLABLE_H_

#include <pybind11/pybind11.h>

#include <functional>
#include <future>
#include <utility>

#include "engine/core/result.h"
#include "engine/core/thread.h"
#include "python/engine.h"
#include "python/gil.h"

namespace belljar::python {

// `work` is given a descriptor that is readable once it has been cancelled.
template <typename T>
core::Result<T> Cancellable(const char* operation, const Canceller& cancellation,
                            std::function<core::Result<T>(int cancel_fd)> work) {
  std::packaged_task<core::Result<T>()> task([&] { return work(cancellation.fd()); });
  std::future<core::Result<T>> done = task.get_future();
  core::Thread thread;
  core::Result<void> started = thread.Start(operation, std::move(task));
  if (!started) return started.error();
  while (WithoutGil([&] { return done.wait_for(kSignalInterval); }) != std::future_status::ready) {
    if (PyErr_CheckSignals() == 0) continue;
    cancellation.Cancel();
    WithoutGil([&] { done.wait(); });
    throw pybind11::error_already_set();
  }
  return done.get();
}

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_CANCELLABLE_H_
