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
// signal handlers. A filter that allows programs to start others refuses other namespaces only.
bool IsCloneRefused(bool runs_programs) {
  const unsigned long flags = CLONE_VM | CLONE_THREAD | (runs_programs ? CLONE_NEWUSER : 0);
  return syscall(SYS_clone, flags, 0, 0, 0, 0) < 0 && errno == EPERM;
}

}  // namespace

SealBeforeFilter LookBeforeFilter(bool root_of_one_user, bool runs_programs) {
  const bool no_privileges = HasNoPrivileges(root_of_one_user);
  return {no_privileges, runs_programs, IsCloneRefused(runs_programs)};
}

SelfReport ReportOnSeal(SealBeforeFilter before) {
  SelfReport report = before.no_privileges ? kNoPrivileges : 0;
  if (!before.clone_refused && IsCloneRefused(before.runs_programs)) report |= kFilterRefuses;
  if (LandlockRefusesRoot()) report |= kLandlockRefuses;
  return report;
}

bool LandlockRefusesRoot() {
  const core::UniqueFd root(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return !root && errno == EACCES;
}

}  // namespace belljar::seal
