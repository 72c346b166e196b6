#include "engine/core/thread.h"

#include <cerrno>

namespace belljar::core {

BlockedSignals::BlockedSignals() {
  sigset_t blocked;
  sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&blocked, fault);
  pthread_sigmask(SIG_BLOCK, &blocked, &before_);
}

BlockedSignals::~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

std::string ProcessAdvice(int error_number) {
  if (error_number != EAGAIN) return "";
  return "raise the limit of processes and threads: ulimit -u of a user, TasksMax of a systemd "
         "service, the pids limit of a container";
}

Error NoThread(int error_number, std::string operation) {
  const std::string advice = ProcessAdvice(error_number);
  return SystemErrorOf(error_number, std::move(operation),
                       "no thread could be started" + (advice.empty() ? "" : "; " + advice));
}

}  // namespace belljar::core
