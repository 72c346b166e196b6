#include "engine/seal/seccomp.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/seal/privileges.h"

namespace belljar::seal {
namespace {

struct ReleaseFilter {
  void operator()(void* filter) const { seccomp_release(filter); }
};
using Filter = std::unique_ptr<void, ReleaseFilter>;

core::Result<void> Check(int returned, const std::string& operation) {
  if (returned == 0) return {};
  return core::SystemErrorOf(-returned, operation);
}

core::Result<int> Resolve(const std::string& name) {
  const int number = seccomp_syscall_resolve_name(name.c_str());
  if (number == __NR_SCMP_ERROR) {
    return core::MakeError("compile seccomp filter",
                           "there is no system call named \"" + name + "\"");
  }
  return number;
}

// libseccomp knows the names of all architectures, and gives those of others negative numbers.
bool IsOfOtherArchitecture(int number) { return number < 0; }

core::Result<void> Allow(scmp_filter_ctx filter, const core::SyscallRule& rule) {
  core::Result<int> number = Resolve(rule.name);
  if (!number) return number.error();
  if (IsOfOtherArchitecture(*number)) return {};
  std::vector<scmp_arg_cmp> comparisons;
  for (const core::SyscallCondition& condition : rule.conditions) {
    scmp_arg_cmp comparison{};
    comparison.arg = condition.argument;
    comparison.op = condition.below ? SCMP_CMP_LT : SCMP_CMP_MASKED_EQ;
    comparison.datum_a = condition.below ? condition.value : condition.mask;
    comparison.datum_b = condition.below ? 0 : condition.value;
    comparisons.push_back(comparison);
  }
  return Check(
      seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, *number,
                             static_cast<unsigned>(comparisons.size()), comparisons.data()),
      "allow " + rule.name);
}

// glibc starts threads (pthread_create) and programs (posix_spawn) with all signals blocked, and a
// blocked SIGSYS kills: an ordinary program would die instead of getting an exception. So these
// calls fail without the signal, and are not recorded in the result. fork() blocks nothing and is
// recorded like other calls.
//
// libseccomp rejects a rule whose action is the filter's default.
core::Result<void> RefuseClone(scmp_filter_ctx filter, uint32_t default_action) {
  constexpr uint32_t kQuietly = SCMP_ACT_ERRNO(EPERM);
  core::Result<void> done =
      Check(seccomp_rule_add(filter, kQuietly, SCMP_SYS(clone3), 0), "refuse clone3");
  if (!done) return done;
  scmp_arg_cmp shares_memory{0, SCMP_CMP_MASKED_EQ, CLONE_VM, CLONE_VM};
  done = Check(seccomp_rule_add_array(filter, kQuietly, SCMP_SYS(clone), 1, &shares_memory),
               "refuse clone");
  if (!done || default_action == SCMP_ACT_TRAP) return done;
  scmp_arg_cmp forks{0, SCMP_CMP_MASKED_EQ, CLONE_VM, 0};
  return Check(seccomp_rule_add_array(filter, SCMP_ACT_TRAP, SCMP_SYS(clone), 1, &forks),
               "refuse clone");
}

// What the C libraries' pthread_create() passes: a thread of this process, in its namespaces.
constexpr uint32_t kThreadFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                                  CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |
                                  CLONE_CHILD_CLEARTID;

#if defined(__x86_64__)
constexpr uint32_t kNativeArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kNativeArch = AUDIT_ARCH_AARCH64;
#else
#error "an architecture that the filters do not know"
#endif

// Decides every clone and clone3; `filter`, from libseccomp, decides all other calls. By hand,
// because libseccomp does not combine an exact value with a mask of the same argument.
//
// clone3's flags are in memory, which a filter cannot read: that call "does not exist", as on
// kernels before 5.3, and libc uses clone. What is refused is refused as by RefuseClone.
void PrependClones(Clones clones, std::vector<sock_filter>& filter) {
  constexpr auto kLoad = static_cast<uint16_t>(BPF_LD | BPF_W | BPF_ABS);
  constexpr auto kEqual = static_cast<uint16_t>(BPF_JMP | BPF_JEQ | BPF_K);
  constexpr auto kAnyBit = static_cast<uint16_t>(BPF_JMP | BPF_JSET | BPF_K);
  constexpr auto kReturn = static_cast<uint16_t>(BPF_RET | BPF_K);
  // Flags that are not wanted stand for those that are: an instruction more, the same distances.
  const uint32_t threads = clones.threads ? kThreadFlags : kCopyFlags;
  const uint32_t copies = clones.copies ? kCopyFlags : kThreadFlags;
  const sock_filter own[] = {
      BPF_STMT(kLoad, offsetof(seccomp_data, arch)),
      BPF_JUMP(kEqual, kNativeArch, 0, 11),  // libseccomp's filter kills
      BPF_STMT(kLoad, offsetof(seccomp_data, nr)),
      BPF_JUMP(kEqual, SYS_clone3, 5, 0),
      BPF_JUMP(kEqual, SYS_clone, 0, 8),
      // The kernel uses the lower half; both architectures are little-endian.
      BPF_STMT(kLoad, offsetof(seccomp_data, args)),
      BPF_JUMP(kEqual, threads, 3, 0),
      BPF_JUMP(kEqual, copies, 2, 0),
      BPF_JUMP(kAnyBit, CLONE_VM, 2, 3),
      BPF_STMT(kReturn, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(kReturn, SECCOMP_RET_ALLOW),
      BPF_STMT(kReturn, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(kReturn, SECCOMP_RET_TRAP),
  };
  filter.insert(filter.begin(), std::begin(own), std::end(own));
}

bool AllowsAny(Clones clones) { return clones.threads || clones.copies; }

bool IsClone(std::string_view name) { return name == "clone" || name == "clone3"; }

core::Result<void> Refuse(scmp_filter_ctx filter, uint32_t action, const std::string& name) {
  core::Result<int> number = Resolve(name);
  if (!number) return number.error();
  if (IsOfOtherArchitecture(*number)) return {};
  return Check(seccomp_rule_add(filter, action, *number, 0), "refuse " + name);
}

// prlimit64 with new limits is refused; it also queries the current ones.
core::Result<void> RefuseLimits(scmp_filter_ctx filter) {
  core::Result<void> done = Refuse(filter, SCMP_ACT_TRAP, "setrlimit");
  if (!done) return done;
  scmp_arg_cmp changes{2, SCMP_CMP_NE, 0, 0};
  return Check(seccomp_rule_add_array(filter, SCMP_ACT_TRAP, SCMP_SYS(prlimit64), 1, &changes),
               "refuse prlimit64");
}

// For programs that start others. clone(2), except into other namespaces: a filter cannot read the
// flags of clone3, for which libc has clone.
core::Result<void> AllowProcesses(scmp_filter_ctx filter) {
  constexpr uint64_t kOtherNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                        CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
  scmp_arg_cmp stays{0, SCMP_CMP_MASKED_EQ, kOtherNamespaces, 0};
  core::Result<void> done = Check(
      seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, &stays), "allow clone");
  if (!done) return done;
  done =
      Check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0), "refuse clone3");
  if (!done) return done;
  // posix_spawn with POSIX_SPAWN_RESETIDS, as GNU make calls it: the effective id becomes the real
  // one, which it is. In a user namespace without mappings (EnterOwnUser) the kernel answers EINVAL
  // to that, so it is not asked.
  constexpr uint64_t kUnchanged = 0xffffffff;
  const scmp_arg_cmp to_own[] = {{0, SCMP_CMP_MASKED_EQ, kUnchanged, kUnchanged},
                                 {1, SCMP_CMP_MASKED_EQ, kUnchanged, kSandboxUid},
                                 {2, SCMP_CMP_MASKED_EQ, kUnchanged, kUnchanged}};
  for (const int call : {SCMP_SYS(setresuid), SCMP_SYS(setresgid)}) {
    done = Check(seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(0), call, 3, to_own),
                 "answer setresuid");
    if (!done) return done;
  }
  // Where the kernel has none, std::filesystem::copy_file of libstdc++ reads and writes. After
  // EPERM it fails.
  return Check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(sendfile), 0),
               "refuse sendfile");
}

// libseccomp asks the kernel which actions it supports. gVisor does not implement that query, but
// does kill whole processes.
void AssumeKillingProcesses() {
  constexpr unsigned kKillProcess = 3;  // seccomp_api_get(3): Linux 4.14
  if (seccomp_api_get() < kKillProcess) seccomp_api_set(kKillProcess);
}

core::Result<Filter> Open(uint32_t default_action) {
  AssumeKillingProcesses();
  Filter filter(seccomp_init(default_action));
  if (!filter) return core::MakeError("compile seccomp filter", "out of memory");
  // A call in another ABI (int 0x80, x32) would be checked by the wrong numbers.
  core::Result<void> done = Check(
      seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "bad arch");
  if (!done) return done.error();
  // A binary tree instead of a list: fewer instructions per call.
  done = Check(seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2), "optimise filter");
  if (!done) return done.error();
  return filter;
}

core::Result<std::vector<sock_filter>> Export(scmp_filter_ctx filter) {
  core::UniqueFd memory(memfd_create("belljar-filter", MFD_CLOEXEC));
  if (!memory) return core::SystemError("create memory file");
  if (core::Result<void> done = Check(seccomp_export_bpf(filter, memory.get()), "export filter");
      !done) {
    return done.error();
  }
  if (lseek(memory.get(), 0, SEEK_SET) != 0) return core::SystemError("rewind filter");
  core::Result<std::string> bytes = core::ReadAll(memory.get(), BPF_MAXINSNS * sizeof(sock_filter));
  if (!bytes) return bytes.error();
  std::vector<sock_filter> instructions(bytes->size() / sizeof(sock_filter));
  memcpy(instructions.data(), bytes->data(), instructions.size() * sizeof(sock_filter));
  return instructions;
}

}  // namespace

core::Result<std::vector<sock_filter>> CompileFilter(const std::vector<core::SyscallRule>& allowed,
                                                     const std::vector<std::string>& hostile,
                                                     Clones clones) {
  core::Result<Filter> filter = Open(clones.processes ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_TRAP);
  if (!filter) return filter.error();
  for (const core::SyscallRule& rule : allowed) {
    if (core::Result<void> done = Allow(filter->get(), rule); !done) return done.error();
  }
  const bool may_clone =
      std::any_of(allowed.begin(), allowed.end(),
                  [](const core::SyscallRule& rule) { return IsClone(rule.name); });
  if (clones.processes) {
    if (core::Result<void> done = AllowProcesses(filter->get()); !done) return done.error();
  } else if (!may_clone && !AllowsAny(clones)) {
    if (core::Result<void> done = RefuseClone(filter->get(), SCMP_ACT_TRAP); !done)
      return done.error();
  }
  for (const std::string& name : hostile) {
    if (core::Result<void> done = Refuse(filter->get(), SCMP_ACT_KILL_PROCESS, name); !done) {
      return done.error();
    }
  }
  core::Result<std::vector<sock_filter>> compiled = Export(filter->get());
  if (compiled && !may_clone && AllowsAny(clones)) PrependClones(clones, *compiled);
  return compiled;
}

core::Result<std::vector<sock_filter>> CompileRefusal(const std::vector<std::string>& refused,
                                                      const std::vector<std::string>& hostile,
                                                      Clones clones, bool fixes_limits) {
  core::Result<Filter> filter = Open(SCMP_ACT_ALLOW);
  if (!filter) return filter.error();
  if (fixes_limits) {
    if (core::Result<void> done = RefuseLimits(filter->get()); !done) return done.error();
  }
  for (const std::string& name : refused) {
    if (IsClone(name)) continue;
    const bool kills = std::find(hostile.begin(), hostile.end(), name) != hostile.end();
    const uint32_t action = kills ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_TRAP;
    if (core::Result<void> done = Refuse(filter->get(), action, name); !done) return done.error();
  }
  const bool refuses_clone = std::any_of(refused.begin(), refused.end(), IsClone);
  if (refuses_clone && !AllowsAny(clones)) {
    if (core::Result<void> done = RefuseClone(filter->get(), SCMP_ACT_ALLOW); !done)
      return done.error();
  }
  core::Result<std::vector<sock_filter>> compiled = Export(filter->get());
  if (compiled && refuses_clone && AllowsAny(clones)) PrependClones(clones, *compiled);
  return compiled;
}

bool InstallFilter(const std::vector<sock_filter>& filter) {
  sock_fprog program{static_cast<unsigned short>(filter.size()),
                     const_cast<sock_filter*>(filter.data())};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

std::string SyscallName(int number) {
  const std::unique_ptr<char, decltype(&free)> name(
      seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number), free);
  return name ? name.get() : "system call " + std::to_string(number);
}

}  // namespace belljar::seal
