// Layer 6, seccomp: an allow-list of system calls from profiles/*.toml, compiled by libseccomp.
//
//   allowed    runs
//   hostile    SECCOMP_RET_KILL_PROCESS: ptrace, bpf, mount, io_uring, …; also any foreign ABI
//   the rest   SECCOMP_RET_TRAP: the worker's SIGSYS handler records it and makes it return EPERM,
//              so that ordinary code gets an ordinary exception. Without the handler, the signal
//              kills.
//   clone3, clone(CLONE_VM)   EPERM without the signal, since libc calls them with signals blocked
//
// With Clones::threads, without the language policy, and Clones::copies, for a session:
//   clone      for a thread of this process, with exactly the flags of pthread_create(), or for a
//              copy of it, with exactly kCopyFlags: runs, and RLIMIT_NPROC bounds it. Any other
//              clone as above
//   clone3     ENOSYS, since a filter cannot read its flags: libc then uses clone
#ifndef BELLJAR_ENGINE_SEAL_SECCOMP_H_
#define BELLJAR_ENGINE_SEAL_SECCOMP_H_

#include <linux/filter.h>
#include <sched.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"

namespace belljar::seal {

//
// With Clones::processes, for programs of other languages:
//   clone      in the caller's namespaces: runs, and RLIMIT_NPROC bounds it
//   clone3     ENOSYS, as above
//   the rest   EPERM without a signal or a record: a handler does not survive execve
struct Clones {
  bool threads = false;
  bool copies = false;
  bool processes = false;  // the only one then
};

// clone(2) by a session's worker (session_init.h): a process with a copy of its memory, whose
// parent is also the session's init.
inline constexpr uint32_t kCopyFlags = CLONE_PARENT;

// Host. An unknown system call is an error that names it. Calls that exist only on other
// architectures are skipped: aarch64 lacks open, fork and others, whose newer forms are also
// listed. `clones` has no effect if `allowed` names clone or clone3, as for a zygote.
core::Result<std::vector<sock_filter>> CompileFilter(const std::vector<core::SyscallRule>& allowed,
                                                     const std::vector<std::string>& hostile,
                                                     Clones clones = {});

// Allows everything except `refused`: the hostile ones kill, the others are trapped. A stacked
// filter can only restrict the ones below it (seccomp(2)). `fixes_limits`: also refuses to change
// resource limits, so that only others can raise them.
core::Result<std::vector<sock_filter>> CompileRefusal(const std::vector<std::string>& refused,
                                                      const std::vector<std::string>& hostile,
                                                      Clones clones = {},
                                                      bool fixes_limits = false);

// Zygote or worker. Needs no_new_privs. Async-signal-safe; false sets errno.
bool InstallFilter(const std::vector<sock_filter>& filter);

// "openat" for 257 on x86-64; "system call 9999" for one without a name.
std::string SyscallName(int number);

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_SECCOMP_H_
