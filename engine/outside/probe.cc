#include "engine/outside/probe.h"

#include <linux/sched.h>
#include <signal.h>
#include <unistd.h>

#include "engine/core/process.h"
#include "engine/seal/namespaces.h"

namespace belljar {

Result<void> ProbeNamespaces() {
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
    for (;;) pause();
  }
  const Process child(pid, UniqueFd(pidfd));
  // Allowed to be made is not yet allowed to be used: AppArmor (Ubuntu 23.10) refuses only here.
  return WriteIdMaps(pid);
}

}  // namespace belljar
