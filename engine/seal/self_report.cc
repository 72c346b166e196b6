#include "engine/seal/self_report.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/core/fd.h"
#include "engine/seal/privileges.h"

namespace belljar::seal {
namespace {

// The shipped filters answer it with EPERM, and a kernel with EINVAL: a thread that does not share
// signal handlers.
bool IsCloneRefused() {
  return syscall(SYS_clone, CLONE_VM | CLONE_THREAD, 0, 0, 0, 0) < 0 && errno == EPERM;
}

}  // namespace

SealBeforeFilter LookBeforeFilter(bool root_of_one_user) {
  const bool no_privileges = HasNoPrivileges(root_of_one_user);
  return {no_privileges, IsCloneRefused()};
}

SelfReport ReportOnSeal(SealBeforeFilter before) {
  SelfReport report = before.no_privileges ? kNoPrivileges : 0;
  if (!before.clone_refused && IsCloneRefused()) report |= kFilterRefuses;
  if (LandlockRefusesRoot()) report |= kLandlockRefuses;
  return report;
}

bool LandlockRefusesRoot() {
  const core::UniqueFd root(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return !root && errno == EACCES;
}

}  // namespace belljar::seal
