#include "engine/inside/denials.h"

#include <errno.h>
#include <signal.h>
#include <ucontext.h>

#include "engine/inside/capture.h"

namespace belljar {
namespace {

// SYS_SECCOMP of <asm-generic/siginfo.h>, which glibc hides.
constexpr int kFromSeccomp = 1;

void SetReturnValue(ucontext_t* context, long value) {
#if defined(__x86_64__)
  context->uc_mcontext.gregs[REG_RAX] = value;
#elif defined(__aarch64__)
  context->uc_mcontext.regs[0] = static_cast<unsigned long>(value);
#else
#error "belljar knows x86-64 and aarch64"
#endif
}

void HandleDenial(int, siginfo_t* info, void* context) {
  if (info->si_code != kFromSeccomp) return;
  RecordDeniedSyscall(static_cast<uint32_t>(info->si_syscall));
  SetReturnValue(static_cast<ucontext_t*>(context), -EPERM);
}

}  // namespace

Result<void> InstallDenialHandler() {
  struct sigaction action {};
  action.sa_sigaction = HandleDenial;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART;
  if (sigaction(SIGSYS, &action, nullptr) != 0) return SystemError("install SIGSYS handler");
  return {};
}

}  // namespace belljar
