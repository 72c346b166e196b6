#include "engine/core/thread.h"

namespace belljar::core {

BlockedSignals::BlockedSignals() {
  sigset_t blocked;
  sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&blocked, fault);
  pthread_sigmask(SIG_BLOCK, &blocked, &before_);
}

BlockedSignals::~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

Error NoThread(int error_number, std::string operation) {
  return SystemErrorOf(error_number, std::move(operation),
                       "no thread could be started; raise the limit of processes (ulimit -u) or, "
                       "in a container, of pids");
}

}  // namespace belljar::core
