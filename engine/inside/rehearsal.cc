#include "engine/inside/rehearsal.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

#include "engine/core/fd.h"
#include "engine/core/socket.h"
#include "engine/inside/interpreter.h"

namespace belljar::inside {

core::Result<core::Process> Rehearse(const std::function<void()>& rehearse,
                                     std::chrono::milliseconds longest) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return core::SystemError("pipe");
  const core::UniqueFd done_read(ends[0]);
  core::UniqueFd done_write(ends[1]);
  int pidfd = -1;
  clone_args arguments{};
  arguments.flags = CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  arguments.exit_signal = SIGCHLD;
  const pid_t zygote = getpid();
  BeforeClone();
  const pid_t pid = core::CloneProcess(arguments);
  if (pid == 0) {
    // Not a child of the host: nothing else would end it when the zygote dies.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != zygote) _exit(1);
    rehearse();
    done_write.Reset();
    for (;;) pause();
  }
  const int error_number = errno;
  AfterCloneInZygote();
  if (pid < 0) return core::SystemErrorOf(error_number, "clone a rehearsal");
  core::Process clone(pid, core::UniqueFd(pidfd));
  done_write.Reset();
  // End of file means that the clone has finished or died.
  if (core::Result<void> done = core::WaitReadable(done_read.get(), core::Clock::now() + longest);
      !done) {
    return done.error();
  }
  return clone;
}

}  // namespace belljar::inside
