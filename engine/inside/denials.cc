#include "engine/inside/denials.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <cstdint>

#include "engine/inside/capture.h"

namespace belljar::inside {
namespace {

// SYS_SECCOMP of <asm-generic/siginfo.h>, which glibc hides.
constexpr int kFromSeccomp = 1;

#if defined(__x86_64__)
void SetReturnValue(ucontext_t* context, long value) {
  context->uc_mcontext.gregs[REG_RAX] = value;
}
uint64_t SecondArgument(const ucontext_t* context) {
  return static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RSI]);
}
uint64_t ThirdArgument(const ucontext_t* context) {
  return static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RDX]);
}
#elif defined(__aarch64__)
void SetReturnValue(ucontext_t* context, long value) {
  context->uc_mcontext.regs[0] = static_cast<unsigned long>(value);
}
uint64_t SecondArgument(const ucontext_t* context) { return context->uc_mcontext.regs[1]; }
uint64_t ThirdArgument(const ucontext_t* context) { return context->uc_mcontext.regs[2]; }
#else
#error "belljar supports x86-64 and aarch64"
#endif

// Answers F_GETLK. The kernel's answer would reveal other workers, which have the library's files
// open too. Nobody else has a worker's own files open, and a process never conflicts with its own
// locks, so the answer is always "unlocked". SQLite asks when it finds a journal, and for its
// shared memory.
bool AnswerLockQuestion(const siginfo_t* info, const ucontext_t* context) {
  if (info->si_syscall != SYS_fcntl || SecondArgument(context) != F_GETLK) return false;
  if (auto* lock = reinterpret_cast<struct flock*>(ThirdArgument(context))) lock->l_type = F_UNLCK;
  return true;
}

void HandleDenial(int, siginfo_t* info, void* context) {
  if (info->si_code != kFromSeccomp) return;
  auto* state = static_cast<ucontext_t*>(context);
  if (AnswerLockQuestion(info, state)) {
    SetReturnValue(state, 0);
    return;
  }
  RecordDeniedSyscall(static_cast<uint32_t>(info->si_syscall));
  SetReturnValue(state, -EPERM);
}

}  // namespace

core::Result<void> InstallDenialHandler() {
  struct sigaction action {};
  action.sa_sigaction = HandleDenial;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART;
  if (sigaction(SIGSYS, &action, nullptr) != 0) return core::SystemError("install SIGSYS handler");
  return {};
}

}  // namespace belljar::inside
