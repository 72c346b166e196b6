#include "server/core/thread.h"

#include <signal.h>

#include <system_error>
#include <utility>

namespace belljar::server {

core::Result<std::thread> StartThread(std::string operation, std::function<void()> body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& error) {
    return core::SystemErrorOf(error.code().value(), std::move(operation),
                               "no thread could be started");
  }
}

void BlockSigpipe() {
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
}

}  // namespace belljar::server
