// Layer 6, seccomp: an allow-list of system calls from profiles/*.toml, compiled by libseccomp.
//
//   allowed    runs
//   hostile    SECCOMP_RET_KILL_PROCESS: ptrace, bpf, mount, io_uring, …; also any foreign ABI
//   the rest   SECCOMP_RET_TRAP: the worker's SIGSYS handler records it and makes it return EPERM,
//              so that ordinary code gets an ordinary exception. Without the handler, the signal
//              kills.
//   clone      for a thread of this process, with exactly the flags of pthread_create(): runs, and
//              RLIMIT_NPROC bounds it. EPERM without the signal for others that share memory, since
//              libc calls them with signals blocked
//   clone3     ENOSYS, since a filter cannot read its flags: libc then uses clone
#ifndef BELLJAR_ENGINE_SEAL_SECCOMP_H_
#define BELLJAR_ENGINE_SEAL_SECCOMP_H_

#include <linux/filter.h>

#include <string>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"

namespace belljar::seal {

// Host. An unknown system call is an error that names it.
core::Result<std::vector<sock_filter>> CompileFilter(const std::vector<core::SyscallRule>& allowed,
                                                     const std::vector<std::string>& hostile);

// Allows everything except `refused`: the hostile ones kill, the others are trapped. A stacked
// filter can only restrict the ones below it (seccomp(2)).
core::Result<std::vector<sock_filter>> CompileRefusal(const std::vector<std::string>& refused,
                                                      const std::vector<std::string>& hostile);

// Zygote or worker. Needs no_new_privs. Async-signal-safe; false sets errno.
bool InstallFilter(const std::vector<sock_filter>& filter);

// "openat" for 257 on x86-64; "system call 9999" for one without a name.
std::string SyscallName(int number);

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_SECCOMP_H_
