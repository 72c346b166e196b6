#include "container/inside/init.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "container/inside/guest.h"

namespace belljar::container::inside {
namespace {

constexpr int kPassedOn[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

// As shells report it.
int ExitCodeOf(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Ends with the child; other processes that end are only reaped.
void ReapAll(pid_t child) {
  int status = 0;
  for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (ended == child) _exit(ExitCodeOf(status));
  }
}

[[noreturn]] void Attend(pid_t child, const sigset_t& signals) {
  // The channel belongs to the child: the other side must see its end when the child has ended.
  close(STDIN_FILENO);
  close(STDOUT_FILENO);
  for (;;) {
    const int signal = sigwaitinfo(&signals, nullptr);
    if (signal == SIGCHLD) {
      ReapAll(child);
    } else if (signal > 0) {
      kill(child, SIGTERM);
    }
  }
}

}  // namespace

bool BecomeInitIfFirst() {
  if (getpid() != 1) return false;
  // Blocked before there is a child, so that none of its signals is missed.
  sigset_t signals, before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  for (const int signal : kPassedOn) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, &before);
  const pid_t child = fork();
  if (child < 0) {
    perror("belljar-guest: fork");
    _exit(kGuestFailed);
  }
  if (child > 0) Attend(child, signals);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return true;
}

}  // namespace belljar::container::inside
