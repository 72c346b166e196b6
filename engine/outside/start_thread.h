// StartThread: like std::thread, but a failure (RLIMIT_NPROC, no memory for a stack) is an error,
// not an exception.
#ifndef BELLJAR_ENGINE_OUTSIDE_START_THREAD_H_
#define BELLJAR_ENGINE_OUTSIDE_START_THREAD_H_

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/core/result.h"

namespace belljar::outside {

template <typename Work>
core::Result<std::thread> StartThread(std::string operation, Work&& work) {
  try {
    return std::thread(std::forward<Work>(work));
  } catch (const std::system_error& error) {
    return core::SystemErrorOf(error.code().value(), std::move(operation),
                               "no thread could be started");
  }
}

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_START_THREAD_H_
