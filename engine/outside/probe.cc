#include "engine/outside/probe.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "engine/core/process.h"
#include "engine/seal/namespaces.h"

namespace belljar::outside {
namespace {

// Its exit code is 0, or what refused it.
[[noreturn]] void TryMounting(int maps_written) {
  char written;
  ssize_t got;
  do {
    got = read(maps_written, &written, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) _exit(EPIPE);
  _exit(seal::MayMount() ? 0 : errno);
}

// EPERM also of a filter around us that kills for it; ECHILD: killed by somebody else.
int RefusedBy(const core::ExitReport& exit) {
  if (exit.signal != 0) return exit.signal == SIGSYS ? EPERM : ECHILD;
  return exit.exit_code;
}

}  // namespace

core::Result<void> ProbeNamespaces() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return core::SystemError("pipe");
  const core::UniqueFd pipe_read(ends[0]);
  core::UniqueFd pipe_write(ends[1]);
  int pidfd = -1;
  clone_args arguments{};
  arguments.flags =
      CLONE_PIDFD | seal::ZygoteNamespaceFlags() | seal::WorkerNamespaceFlags(false, false);
  arguments.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  // No exit signal: it never execs, and a program around us that waits for its own sees nothing of
  // it.
  const pid_t pid = core::CloneProcess(arguments);
  if (pid < 0) {
    return core::SystemError(
        "clone into new namespaces",
        "see user.max_user_namespaces, kernel.unprivileged_userns_clone, AppArmor, "
        "and the seccomp profile of a container around us");
  }
  if (pid == 0) {
    close(pipe_write.Release());
    TryMounting(pipe_read.get());
  }
  core::Process child(pid, core::UniqueFd(pidfd));
  // Allowed to be made is not yet allowed to be used: AppArmor (Ubuntu 23.10) refuses only here.
  if (core::Result<void> written = seal::WriteIdMaps(pid); !written) return written;
  if (write(pipe_write.get(), "1", 1) != 1) return core::SystemError("probe namespaces");
  const core::ExitReport exit = child.Wait();
  // Of one that somebody else reaped nothing is known: a zygote that may not mount will say so.
  if (!exit.known || exit.exit_code == 0) return {};
  return core::SystemErrorOf(RefusedBy(exit), "mount in new namespaces",
                             "a container around us may forbid it, and gVisor always does");
}

}  // namespace belljar::outside
