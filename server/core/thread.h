// StartThread: a thread, or an error where std::thread throws.
#ifndef BELLJAR_SERVER_CORE_THREAD_H_
#define BELLJAR_SERVER_CORE_THREAD_H_

#include <functional>
#include <string>
#include <thread>

#include "engine/core/result.h"

namespace belljar::server {

// `operation` is that of the error: the system has no more threads (EAGAIN, pthread_create(3)).
core::Result<std::thread> StartThread(std::string operation, std::function<void()> body);

// In this thread: if a reader is gone, write(2) fails with EPIPE instead of raising SIGPIPE.
void BlockSigpipe();

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_THREAD_H_
