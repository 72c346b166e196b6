#include "engine/outside/probe.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "engine/core/process.h"
#include "engine/seal/namespaces.h"

namespace belljar {
namespace {

// Its exit code is 0, or what refused it.
[[noreturn]] void TryMounting(int maps_written) {
  char written;
  if (read(maps_written, &written, 1) != 1) _exit(EPIPE);
  _exit(MayMount() ? 0 : errno);
}

}  // namespace

Result<void> ProbeNamespaces() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return SystemError("pipe");
  const UniqueFd pipe_read(ends[0]);
  UniqueFd pipe_write(ends[1]);
  int pidfd = -1;
  clone_args arguments{};
  arguments.flags = CLONE_PIDFD | ZygoteNamespaceFlags() | WorkerNamespaceFlags(false, false);
  arguments.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  arguments.exit_signal = SIGCHLD;
  const pid_t pid = CloneProcess(arguments);
  if (pid < 0) {
    return SystemError("clone into new namespaces",
                       "see user.max_user_namespaces, kernel.unprivileged_userns_clone, AppArmor, "
                       "and the seccomp profile of a container around us");
  }
  if (pid == 0) {
    close(pipe_write.Release());
    TryMounting(pipe_read.get());
  }
  Process child(pid, UniqueFd(pidfd));
  // Allowed to be made is not yet allowed to be used: AppArmor (Ubuntu 23.10) refuses only here.
  if (Result<void> written = WriteIdMaps(pid); !written) return written;
  if (write(pipe_write.get(), "1", 1) != 1) return SystemError("probe namespaces");
  const ExitReport exit = child.Wait();
  if (exit.known && exit.exit_code != 0) {
    return SystemErrorOf(exit.exit_code < 0 ? ECHILD : exit.exit_code, "mount in new namespaces",
                         "a container around us may forbid it, and gVisor always does");
  }
  return {};
}

}  // namespace belljar
