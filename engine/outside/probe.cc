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

// The exit code is 0, or the errno.
[[noreturn]] void TryMounting(int maps_written) {
  char written;
  ssize_t got;
  do {
    got = read(maps_written, &written, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) _exit(EPIPE);
  _exit(seal::MayMount() ? 0 : errno);
}

// EPERM also for an outer filter that kills for this; ECHILD: killed by another process.
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
  // No exit signal: it never execs, and a surrounding program that waits for its own children must
  // not see it.
  const pid_t pid = core::CloneProcess(arguments);
  if (pid < 0) {
    return core::SystemError("clone into new namespaces",
                             "see user.max_user_namespaces, kernel.unprivileged_userns_clone, "
                             "AppArmor, and the seccomp profile of a surrounding container");
  }
  if (pid == 0) {
    close(pipe_write.Release());
    TryMounting(pipe_read.get());
  }
  core::Process child(pid, core::UniqueFd(pidfd));
  // Creating namespaces does not imply being allowed to use them: AppArmor (Ubuntu 23.10) refuses
  // only at this point.
  if (core::Result<void> written = seal::WriteIdMaps(pid); !written) return written;
  if (write(pipe_write.get(), "1", 1) != 1) return core::SystemError("probe namespaces");
  const core::ExitReport exit = child.Wait();
  // If another reaper took the child, nothing is known; a zygote that may not mount will report it.
  if (!exit.known || exit.exit_code == 0) return {};
  return core::SystemErrorOf(RefusedBy(exit), "mount in new namespaces",
                             "a surrounding container may forbid it, and gVisor always does");
}

}  // namespace belljar::outside
