// The seal, one layer at a time in a forked child: what it allows, what it denies, and the death
// that it deals.
#include "engine/seal/seal.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "engine/core/flat.h"
#include "engine/installation/installation.h"
#include "engine/outside/probe.h"
#include "engine/profiles/loader.h"
#include "engine/seal/landlock.h"
#include "engine/seal/namespaces.h"
#include "engine/seal/privileges.h"
#include "engine/seal/rlimits.h"
#include "engine/seal/seccomp.h"
#include "tests/support/support.h"

namespace belljar::seal::seal_test {
namespace {

// Exit codes of children: what went as it should, what did not, and what could not even be set up.
constexpr int kAsExpected = 0;
constexpr int kNotAsExpected = 1;
constexpr int kNoSetup = 2;

// --- seccomp: compiling -----------------------------------------------------------------------

TEST(SeccompCompile, AnUnknownAllowedCallIsNamed) {
  const auto filter = CompileFilter({{"read"}, {"opennat"}}, {});
  ASSERT_FALSE(filter);
  EXPECT_NE(filter.error().ToString().find("\"opennat\""), std::string::npos);
}

TEST(SeccompCompile, AnUnknownHostileCallIsNamed) {
  const auto filter = CompileFilter({{"read"}}, {"ptracee"});
  ASSERT_FALSE(filter);
  EXPECT_NE(filter.error().ToString().find("\"ptracee\""), std::string::npos);
}

TEST(SeccompCompile, TheShippedListsCompileToAFilterTheKernelTakes) {
  const core::Profile profile = tests::BasicProfile();
  const auto filter = CompileFilter(profile.allowed_syscalls, profile.hostile_syscalls);
  ASSERT_TRUE(filter) << filter.error().ToString();
  EXPECT_GT(filter->size(), 50u);
  EXPECT_LT(filter->size(), size_t{BPF_MAXINSNS});
}

// The lists name the calls of all architectures, such as open, which aarch64 lacks. This one is of
// neither that Belljar supports.
TEST(SeccompCompile, CallsOfOtherArchitecturesAreLeftOut) {
  const char* other = "s390_pci_mmio_read";
  const auto words = [](const core::Result<std::vector<sock_filter>>& filter) {
    std::string bytes;
    if (filter)
      bytes.assign(reinterpret_cast<const char*>(filter->data()),
                   filter->size() * sizeof(sock_filter));
    return bytes;
  };
  const std::string plain = words(CompileFilter({{"getpid"}}, {"ptrace"}));
  EXPECT_FALSE(plain.empty());
  EXPECT_EQ(words(CompileFilter({{"getpid"}, {other}}, {"ptrace", other})), plain);
  const std::string refusal = words(CompileRefusal({"getpid"}, {}));
  EXPECT_FALSE(refusal.empty());
  EXPECT_EQ(words(CompileRefusal({"getpid", other}, {other})), refusal);
  EXPECT_FALSE(CompileFilter({{"no_such_call"}}, {}));
}

TEST(SeccompCompile, CallsHaveNames) {
  EXPECT_EQ(SyscallName(SYS_ptrace), "ptrace");
  EXPECT_EQ(SyscallName(123'456), "system call 123456");
  EXPECT_FALSE(SyscallName(-1).empty());
}

// --- seccomp: in a child ----------------------------------------------------------------------

// Runs `body` under a filter. A child that could not be sealed says so.
tests::Death UnderFilter(const std::vector<sock_filter>& filter, const std::function<int()>& body) {
  return tests::InChild([&] {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !InstallFilter(filter)) return kNoSetup;
    return body();
  });
}

std::vector<sock_filter> Compile(std::vector<core::SyscallRule> allowed,
                                 const std::vector<std::string>& hostile = {}) {
  for (const char* name : {"exit_group", "exit", "rt_sigreturn"}) allowed.push_back({name});
  // AddressSanitizer calls it before whatever does not return, _exit for one.
  if (tests::Sanitized()) allowed.push_back({"sigaltstack"});
  core::Result<std::vector<sock_filter>> filter = CompileFilter(allowed, hostile);
  if (!filter) {
    ADD_FAILURE() << filter.error().ToString();
    return {};
  }
  return std::move(*filter);
}

TEST(Seccomp, ProgramsStartOthersButNotInOtherNamespaces) {
  std::vector<core::SyscallRule> allowed;
  for (const char* name : {"exit_group", "exit", "rt_sigreturn", "sigaltstack", "wait4"})
    allowed.push_back({name});
  const auto filter = CompileFilter(allowed, {"ptrace"}, {.processes = true});
  ASSERT_TRUE(filter) << filter.error().ToString();
  const auto clone_fails_by = [](long flags) {
    const long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) _exit(0);
    return pid < 0 ? errno : 0;
  };
  EXPECT_EQ(UnderFilter(*filter,
                        [&] {
                          const bool holds = clone_fails_by(0) == 0 &&
                                             clone_fails_by(CLONE_NEWUSER) == EPERM &&
                                             clone_fails_by(CLONE_NEWNS) == EPERM &&
                                             clone_fails_by(CLONE_NEWPID | CLONE_NEWNET) == EPERM;
                          return holds ? kAsExpected : kNotAsExpected;
                        }),
            tests::Exited(kAsExpected));
  // A filter cannot read the flags of clone3. What is denied fails without a signal.
  EXPECT_EQ(UnderFilter(*filter,
                        [] {
                          const bool none = syscall(SYS_clone3, nullptr, 0) < 0 && errno == ENOSYS;
                          const bool denied = syscall(SYS_getuid) < 0 && errno == EPERM;
                          return none && denied ? kAsExpected : kNotAsExpected;
                        }),
            tests::Exited(kAsExpected));
  EXPECT_EQ(UnderFilter(*filter, [] { return syscall(SYS_ptrace, 0, 0, 0, 0) == 0 ? 0 : 1; }),
            tests::KilledBy(SIGSYS));
}

TEST(Seccomp, AllowedRunsDeniedTrapsHostileKills) {
  const auto filter = Compile({{"getpid"}}, {"ptrace"});
  EXPECT_EQ(
      UnderFilter(filter, [] { return syscall(SYS_getpid) > 0 ? kAsExpected : kNotAsExpected; }),
      tests::Exited(kAsExpected));
  // Without the worker's handler the trap's signal kills, and so does the hostile call.
  EXPECT_EQ(UnderFilter(filter, [] { return syscall(SYS_getuid) == 0 ? 0 : 1; }),
            tests::KilledBy(SIGSYS));
  EXPECT_EQ(UnderFilter(filter, [] { return static_cast<int>(ptrace(PTRACE_TRACEME, 0, 0, 0)); }),
            tests::KilledBy(SIGSYS));
}

volatile sig_atomic_t g_trapped = 0;

// Takes SIGSYS as the worker does, but leaves the return value alone.
void CatchTraps() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_trapped = g_trapped + 1; };
  sigaction(SIGSYS, &action, nullptr);
}

TEST(Seccomp, ATrapCanBeHandledAHostileCallCannot) {
  const auto filter = Compile({{"getpid"}}, {"ptrace"});
  EXPECT_EQ(UnderFilter(filter,
                        [] {
                          CatchTraps();  // too late: rt_sigaction is not on the list
                          return kNotAsExpected;
                        }),
            tests::KilledBy(SIGSYS));
  const auto caught = [&](auto call) {
    return tests::InChild([&] {
      CatchTraps();
      if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !InstallFilter(filter)) return kNoSetup;
      call();
      return g_trapped == 1 ? kAsExpected : kNotAsExpected;
    });
  };
  EXPECT_EQ(caught([] { syscall(SYS_getuid); }), tests::Exited(kAsExpected));
  EXPECT_EQ(caught([] { ptrace(PTRACE_TRACEME, 0, 0, 0); }), tests::KilledBy(SIGSYS));
}

TEST(Seccomp, ConditionsOnArguments) {
  const auto filter =
      Compile({{"mprotect", {{2, 4, 0}}}, {"rt_sigaction", {{0, ~0ull, 31, true}}}});
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  const auto protect = [&](int flags) {
    return UnderFilter(filter, [&] { return mprotect(page, 4096, flags) == 0 ? 0 : 1; });
  };
  EXPECT_EQ(protect(PROT_READ), tests::Exited(0));
  EXPECT_EQ(protect(PROT_READ | PROT_EXEC), tests::KilledBy(SIGSYS)) << "memory became code";
  const auto handle = [&](unsigned long number) {
    return UnderFilter(filter, [&] {
      return syscall(SYS_rt_sigaction, number, nullptr, nullptr, 8) == 0 ? 0 : 1;
    });
  };
  EXPECT_EQ(handle(SIGUSR1), tests::Exited(0));
  EXPECT_EQ(handle(SIGSYS), tests::KilledBy(SIGSYS));
  EXPECT_EQ(handle((1ul << 32) + SIGSYS), tests::KilledBy(SIGSYS))
      << "the kernel looks at 32 bits only";
  munmap(page, 4096);
}

// Stacked filters: the second can only take away.
TEST(Seccomp, ARefusalTakesAwayFromWhatAnEarlierFilterAllows) {
  const auto first = Compile({{"getpid"}, {"getuid"}, {"seccomp"}});
  const auto second = *CompileRefusal({"getuid", "seccomp"}, {"seccomp"});
  const auto under_both = [&](const std::function<int()>& body) {
    return UnderFilter(first, [&] { return InstallFilter(second) ? body() : kNoSetup; });
  };
  EXPECT_EQ(under_both([] { return syscall(SYS_getpid) > 0 ? 0 : 1; }), tests::Exited(0));
  EXPECT_EQ(under_both([] { return static_cast<int>(syscall(SYS_getuid)); }),
            tests::KilledBy(SIGSYS));
  EXPECT_EQ(under_both([&] { return InstallFilter(second) ? 1 : 0; }), tests::KilledBy(SIGSYS));
  EXPECT_EQ(under_both([] { return static_cast<int>(syscall(SYS_getppid)); }),
            tests::KilledBy(SIGSYS));
  EXPECT_FALSE(CompileRefusal({"getuidd"}, {}));
}

TEST(Seccomp, WhateverIsInNoListIsDenied) {
  const auto filter = Compile({{"getpid"}});
  EXPECT_EQ(UnderFilter(filter, [] { return static_cast<int>(syscall(9999)); }),
            tests::KilledBy(SIGSYS));
}

#ifdef __x86_64__
TEST(Seccomp, AForeignAbiKills) {
  const auto filter = Compile({{"getpid"}});
  // x32's getpid: the same table with bit 30 set, judged by another list.
  EXPECT_EQ(UnderFilter(filter, [] { return syscall(0x40000000 + SYS_getpid) > 0 ? 0 : 1; }),
            tests::KilledBy(SIGSYS));
  // The 32-bit table: number 20 is getpid there, and writev here.
  EXPECT_EQ(UnderFilter(filter,
                        [] {
                          long returned;
                          asm volatile("int $0x80" : "=a"(returned) : "a"(20) : "memory");
                          return returned > 0 ? 0 : 1;
                        }),
            tests::KilledBy(SIGSYS));
}
#endif

// The shipped lists as zygote and worker stack them: the long one with what spawning needs, then a
// short one that takes spawning away.
struct Filters {
  std::vector<sock_filter> zygote;
  std::vector<sock_filter> worker;
};
Filters ShippedFilters(const core::Profile& profile = tests::BasicProfile(), Clones clones = {}) {
  const auto is_spawning = [&](const std::string& name) {
    const auto& spawning = profile.spawning_syscalls;
    return std::find(spawning.begin(), spawning.end(), name) != spawning.end();
  };
  std::vector<core::SyscallRule> allowed = profile.allowed_syscalls;
  for (const std::string& name : profile.spawning_syscalls) allowed.push_back({name});
  std::vector<std::string> hostile = profile.hostile_syscalls;
  std::erase_if(hostile, is_spawning);
  auto zygote = CompileFilter(allowed, hostile);
  auto worker = CompileRefusal(profile.spawning_syscalls, profile.hostile_syscalls, clones);
  if (!zygote || !worker) {
    ADD_FAILURE() << (zygote ? worker : zygote).error().ToString();
    return {};
  }
  return {std::move(*zygote), std::move(*worker)};
}

// Against real calls; each death is named.
class ShippedFilter : public ::testing::Test {
 protected:
  explicit ShippedFilter(Filters filters = ShippedFilters()) : filters_(std::move(filters)) {}

  // SIGSYS by default kills either way; with a handler, only what is hostile still does.
  tests::Death Caught(const std::function<void()>& call) {
    return tests::InChild([&] {
      CatchTraps();
      if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return kNoSetup;
      if (!InstallFilter(filters_.zygote) || !InstallFilter(filters_.worker)) return kNoSetup;
      call();
      return g_trapped > 0 ? kNotAsExpected : kAsExpected;
    });
  }
  const Filters filters_;
};

TEST_F(ShippedFilter, OrdinaryCallsRun) {
  EXPECT_EQ(Caught([] {
              char byte;
              const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
              (void)!read(fd, &byte, 1);
              close(fd);
              (void)getpid();
              timespec moment{0, 1000};
              nanosleep(&moment, nullptr);  // sleeps: it may
              void* page =
                  mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              munmap(page, 4096);
            }),
            tests::Exited(kAsExpected));
}

TEST_F(ShippedFilter, WhatReachesOutIsDenied) {
  const std::pair<const char*, std::function<void()>> kCalls[] = {
      {"socket", [] { (void)socket(AF_INET, SOCK_STREAM, 0); }},
      {"socketpair",
       [] {
         int ends[2];
         (void)socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
       }},
#ifdef SYS_fork  // newer architectures only have clone
      {"fork",
       [] {
         if (syscall(SYS_fork) == 0) _exit(kNotAsExpected);
       }},
#endif
      {"clone",
       [] {
         if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) _exit(kNotAsExpected);
       }},
      {"execve", [] { execl("/bin/true", "true", nullptr); }},
      {"kill", [] { kill(getppid(), 0); }},
      {"tgkill", [] { (void)syscall(SYS_tgkill, getpid(), getpid(), 0); }},
      {"setuid", [] { (void)!setuid(0); }},
      {"prctl", [] { prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); }},
      {"memfd_create", [] { (void)memfd_create("x", 0); }},
      {"mmap exec",
       [] {
         (void)mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
       }},
      {"unlink", [] { unlink("/nowhere"); }},
      {"mkdir", [] { mkdir("/nowhere/x", 0700); }},
      {"chmod", [] { chmod("/nowhere", 0); }},
      {"TIOCSTI", [] { (void)syscall(SYS_ioctl, 0, 0x5412, "x"); }},
      {"F_SETOWN", [] { (void)fcntl(0, F_SETOWN, 1); }},
      {"prlimit of another", [] { (void)syscall(SYS_prlimit64, 1, RLIMIT_AS, nullptr, nullptr); }},
      {"pidfd_open", [] { (void)syscall(SYS_pidfd_open, 1, 0); }},
      {"shmget", [] { (void)syscall(SYS_shmget, 1, 4096, 0600); }},
      {"inotify_init1", [] { (void)syscall(SYS_inotify_init1, 0); }},
  };
  for (const auto& [name, call] : kCalls)
    EXPECT_EQ(Caught(call), tests::Exited(kNotAsExpected)) << name;
}

// In a profile with files and sockets: calls that hand a page of the page cache to one of them.
TEST(WidestFilter, NoPageOfAFileGoesToASocketOrAPipe) {
  const core::Result<installation::Installation> installation = installation::Installation::Find();
  ASSERT_TRUE(installation) << installation.error().ToString();
  const core::Result<core::Profile> profile =
      profiles::CombineProfiles({"filesystem", "network"}, installation->profiles);
  ASSERT_TRUE(profile) << profile.error().ToString();
  const Filters filters = ShippedFilters(*profile);
  int pipe_ends[2], other_ends[2], sockets[2];
  ASSERT_EQ(pipe(pipe_ends) | pipe(other_ends) | socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  const core::UniqueFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const core::UniqueFd copy(memfd_create("copy", MFD_CLOEXEC));
  char byte = 'x';
  ASSERT_EQ(write(other_ends[1], &byte, 1), 1);
  iovec bytes{&byte, 1};
  const struct {
    const char* name;
    std::function<ssize_t()> call;
  } kCalls[] = {
      {"sendfile", [&] { return sendfile(sockets[0], file.get(), nullptr, 1); }},
      {"sendfile to a file", [&] { return sendfile(copy.get(), file.get(), nullptr, 1); }},
      {"splice", [&] { return splice(file.get(), nullptr, pipe_ends[1], nullptr, 1, 0); }},
      {"tee", [&] { return tee(other_ends[0], pipe_ends[1], 1, 0); }},
      {"vmsplice", [&] { return vmsplice(pipe_ends[1], &bytes, 1, 0); }},
  };
  for (const auto& each : kCalls) {
    EXPECT_EQ(each.call(), 1) << "no control: " << each.name;
    EXPECT_EQ(tests::InChild([&] {
                CatchTraps();
                if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !InstallFilter(filters.zygote) ||
                    !InstallFilter(filters.worker)) {
                  return kNoSetup;
                }
                (void)each.call();
                return g_trapped == 1 ? kNotAsExpected : kAsExpected;
              }),
              tests::Exited(kNotAsExpected))
        << each.name;
  }
  for (const int fd :
       {pipe_ends[0], pipe_ends[1], other_ends[0], other_ends[1], sockets[0], sockets[1]}) {
    close(fd);
  }
}

// libc starts threads with all signals blocked, and a blocked SIGSYS would kill.
TEST_F(ShippedFilter, ThreadsAreRefusedWithoutASignal) {
  EXPECT_EQ(Caught([] {
              if (syscall(SYS_clone3, nullptr, 0) != -1 || errno != EPERM) _exit(10);
              if (syscall(SYS_clone, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND, 0, 0, 0, 0) != -1 ||
                  errno != EPERM) {
                _exit(11);
              }
            }),
            tests::Exited(kAsExpected));
}

// The filters without the language policy, with which programs may start threads.
core::Profile WithThreads() {
  core::Profile profile = tests::BasicProfile();
  profile.allowed_syscalls.insert(profile.allowed_syscalls.end(), profile.thread_syscalls.begin(),
                                  profile.thread_syscalls.end());
#ifdef __SANITIZE_ADDRESS__
  // AddressSanitizer's own calls, about the shadow of a thread's stack.
  profile.allowed_syscalls.insert(profile.allowed_syscalls.end(),
                                  {{.name = "madvise"}, {.name = "sigaltstack"}});
#endif
  return profile;
}
class FilterWithThreads : public ShippedFilter {
 protected:
  FilterWithThreads() : ShippedFilter(ShippedFilters(WithThreads(), Clones{.threads = true})) {}
};

// What pthread_create() passes.
constexpr unsigned long kThreadFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
                                       CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
                                       CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

TEST_F(FilterWithThreads, LibcStartsThreads) {
  EXPECT_EQ(Caught([] {
              // libc asks for clone3 first, which "does not exist".
              if (syscall(SYS_clone3, nullptr, 0) != -1 || errno != ENOSYS) _exit(10);
              pthread_t thread;
              int value = 0;
              if (pthread_create(
                      &thread, nullptr,
                      [](void* to) -> void* {
                        *static_cast<int*>(to) = 7;
                        return nullptr;
                      },
                      &value) != 0) {
                _exit(11);
              }
              if (pthread_join(thread, nullptr) != 0 || value != 7) _exit(12);
            }),
            tests::Exited(kAsExpected));
}

// libc starts threads and programs with all signals blocked, and a blocked SIGSYS would kill.
TEST_F(FilterWithThreads, OtherClonesThatShareMemoryAreRefusedWithoutASignal) {
  EXPECT_EQ(Caught([] {
              for (int bit = 0; bit < 32; ++bit) {
                // One flag more or less: a process, a namespace, a traced thread, …
                const unsigned long flags = kThreadFlags ^ (1UL << bit);
                if ((flags & CLONE_VM) == 0) continue;
                if (syscall(SYS_clone, flags, 0, 0, 0, 0) != -1 || errno != EPERM) _exit(20 + bit);
              }
              if (syscall(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0) != -1 ||
                  errno != EPERM) {
                _exit(11);
              }
            }),
            tests::Exited(kAsExpected));
}

TEST_F(FilterWithThreads, OtherProcessesAreRefused) {
  for (const auto& call : std::initializer_list<std::function<void()>>{
           [] { (void)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); },
           [] { (void)syscall(SYS_clone, kThreadFlags & ~CLONE_VM, 0, 0, 0, 0); },
#ifdef SYS_fork
           [] { (void)syscall(SYS_fork); },
#endif
           [] { execl("/bin/true", "true", nullptr); },
       }) {
    EXPECT_EQ(Caught(call), tests::Exited(kNotAsExpected));
  }
  EXPECT_EQ(Caught([] { (void)unshare(CLONE_NEWUSER); }), tests::KilledBy(SIGSYS));
}

// SIGSYS keeps its handler.
TEST_F(FilterWithThreads, OnlyLibcsOwnSignalsGetHandlersMore) {
  for (const auto& [number, expected] : {std::pair{32, kAsExpected},
                                         {33, kAsExpected},
                                         {31, kNotAsExpected},
                                         {34, kNotAsExpected}}) {
    const int signal = number;
    EXPECT_EQ(Caught([signal] { (void)syscall(SYS_rt_sigaction, signal, nullptr, nullptr, 8); }),
              tests::Exited(expected))
        << signal;
  }
}

TEST_F(ShippedFilter, WhatOnlyAnAttackMakesKills) {
  size_t tried = 0;
  for (const std::string& name : tests::BasicProfile().hostile_syscalls) {
    tests::Death death;
    const int number = [&] {
      for (int n = 0; n < 600; ++n) {
        if (SyscallName(n) == name) return n;
      }
      return -1;
    }();
    if (number < 0) continue;  // not of this architecture
    ++tried;
    death = Caught([&] { (void)syscall(number, 0, 0, 0, 0, 0, 0); });
    EXPECT_EQ(death, tests::KilledBy(SIGSYS)) << name;
  }
  EXPECT_GT(tried, 20u);
}

// --- landlock ---------------------------------------------------------------------------------

// Linux 6.1 has ABI 2: there, a result must not claim what only newer kernels refuse.
TEST(Landlock, CoverageIsThatOfTheKernel) {
  EXPECT_EQ(LandlockCoverage(1), "files");
  EXPECT_EQ(LandlockCoverage(2), "files");
  EXPECT_EQ(LandlockCoverage(4), "files, truncation, TCP");
  EXPECT_EQ(LandlockCoverage(6),
            "files, truncation, TCP, device ioctls, abstract sockets, signals");
  EXPECT_EQ(LandlockCoverage(6, true),
            "files, truncation, device ioctls, abstract sockets, signals");
}

#define REQUIRE_LANDLOCK(abi) \
  if (LandlockAbi() < (abi)) BELLJAR_SKIP_OR_FAIL("needs Landlock ABI " #abi)

// Runs `body` in a child that may read below `paths` only.
tests::Death UnderLandlock(const std::vector<core::PathRule>& paths,
                           const std::function<int()>& body, bool any_tcp = false) {
  return tests::InChild([&] {
    const core::Result<std::vector<ReadableTree>> readable = OpenReadableTrees(paths);
    if (!readable) return kNoSetup;
    const core::UniqueFd ruleset =
        CreateLandlockRuleset({.readable = *readable, .any_tcp = any_tcp}, LandlockAbi());
    if (!ruleset || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return kNoSetup;
    if (!RestrictByLandlock(ruleset.get())) return kNoSetup;
    return body();
  });
}
bool Opens(const std::string& path, int flags) {
  return static_cast<bool>(core::UniqueFd(open(path.c_str(), flags | O_CLOEXEC, 0600)));
}

TEST(Landlock, ReadsWhatWasNamedAndNothingElse) {
  REQUIRE_LANDLOCK(1);
  const tests::TemporaryFolder allowed, other;
  const std::string inside = allowed.Write("inside", "x"), outside = other.Write("outside", "x");
  EXPECT_EQ(UnderLandlock({{allowed.path()}},
                          [&] {
                            if (!Opens(inside, O_RDONLY)) return 10;
                            if (!Opens(allowed.path(), O_RDONLY | O_DIRECTORY)) return 11;
                            if (Opens(outside, O_RDONLY)) return 12;
                            if (Opens("/etc/passwd", O_RDONLY)) return 13;
                            if (Opens("/", O_RDONLY | O_DIRECTORY)) return 14;
                            return kAsExpected;
                          }),
            tests::Exited(kAsExpected));
}

TEST(Landlock, NothingCanBeWrittenNotEvenBelowANamedPath) {
  REQUIRE_LANDLOCK(1);
  const tests::TemporaryFolder folder;
  const std::string file = folder.Write("file", "x");
  EXPECT_EQ(UnderLandlock({{folder.path()}},
                          [&] {
                            if (Opens(file, O_WRONLY)) return 10;
                            if (Opens(folder.path() + "/new", O_WRONLY | O_CREAT)) return 11;
                            if (unlink(file.c_str()) == 0) return 12;
                            if (mkdir((folder.path() + "/d").c_str(), 0700) == 0) return 13;
                            if (symlink("/", (folder.path() + "/s").c_str()) == 0) return 14;
                            if (LandlockAbi() >= 3 && truncate(file.c_str(), 0) == 0) return 15;
                            return kAsExpected;
                          }),
            tests::Exited(kAsExpected));
  EXPECT_EQ(*core::ReadFile(file, 10), "x");
}

TEST(Landlock, OfDevicesOnlyNullIsWritten) {
  REQUIRE_LANDLOCK(1);
  EXPECT_EQ(
      UnderLandlock({{.path = "/dev/null", .device = true}, {.path = "/dev/zero", .device = true}},
                    [] {
                      if (!Opens("/dev/null", O_RDWR)) return 10;
                      if (!Opens("/dev/zero", O_RDONLY)) return 11;
                      if (Opens("/dev/zero", O_WRONLY)) return 12;
                      if (Opens("/dev/full", O_RDONLY)) return 13;
                      return kAsExpected;
                    }),
      tests::Exited(kAsExpected));
}

TEST(Landlock, ASingleFileMayBeNamed) {
  REQUIRE_LANDLOCK(1);
  const tests::TemporaryFolder folder;
  const std::string file = folder.Write("file", "x"), other = folder.Write("other", "x");
  EXPECT_EQ(UnderLandlock({{file}},
                          [&] {
                            if (!Opens(file, O_RDONLY)) return 10;
                            if (Opens(other, O_RDONLY)) return 11;
                            return kAsExpected;
                          }),
            tests::Exited(kAsExpected));
}

TEST(Landlock, TcpIsRefused) {
  REQUIRE_LANDLOCK(4);
  const core::UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener.get(), 4), 0);
  ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const auto connects = [&] {
    const core::UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  };
  EXPECT_TRUE(connects()) << "the control: without Landlock it connects";
  EXPECT_EQ(UnderLandlock({}, [&] { return connects() ? kNotAsExpected : kAsExpected; }),
            tests::Exited(kAsExpected));
  const auto leaves_tcp_alone = [&] {
    if (!connects()) return 10;
    if (Opens("/etc/passwd", O_RDONLY)) return 11;
    return kAsExpected;
  };
  EXPECT_EQ(UnderLandlock({}, leaves_tcp_alone, true), tests::Exited(kAsExpected));
}

TEST(Landlock, AbstractSocketsAndSignalsOfOthersAreRefused) {
  REQUIRE_LANDLOCK(6);
  const core::UniqueFd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "belljar-test-" + std::to_string(getpid());
  memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener.get(), 4), 0);
  const auto reaches = [&] {
    const core::UniqueFd client(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return connect(client.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0;
  };
  EXPECT_TRUE(reaches()) << "the control";
  EXPECT_EQ(UnderLandlock({},
                          [&] {
                            if (reaches()) return 10;
                            if (kill(getppid(), 0) == 0) return 11;
                            return kAsExpected;
                          }),
            tests::Exited(kAsExpected));
}

TEST(Landlock, AMissingPathIsAnErrorThatNamesItUnlessOptional) {
  REQUIRE_LANDLOCK(1);
  const auto required = OpenReadableTrees({{"/nowhere/at/all"}});
  ASSERT_FALSE(required);
  EXPECT_NE(required.error().ToString().find("/nowhere/at/all"), std::string::npos);
  EXPECT_TRUE(OpenReadableTrees({{"/nowhere/at/all", true}}));
}

TEST(Landlock, TheWorkersSelfTestSeesIt) {
  REQUIRE_LANDLOCK(1);
  EXPECT_FALSE(LandlockRefusesRoot());
  EXPECT_EQ(UnderLandlock({}, [] { return LandlockRefusesRoot() ? kAsExpected : kNotAsExpected; }),
            tests::Exited(kAsExpected));
}

// --- rlimits ----------------------------------------------------------------------------------

core::Limits SmallLimits() {
  core::Limits limits;
  limits.memory = core::Bytes::Mebi(64);
  limits.cpu = std::chrono::seconds(1);
  return limits;
}

tests::Death UnderRlimits(const core::Limits& limits, const std::function<int()>& body) {
  return tests::InChild([&] {
    const core::Result<std::string> statm = core::ReadFile("/proc/self/statm", 4096);
    if (!statm || !ApplyRlimits(limits, std::stoull(*statm) * 4096)) return kNoSetup;
    return body();
  });
}

TEST(Rlimits, AddressSpaceEndsAtTheLimit) {
  const auto take = [](size_t megabytes) {
    return mmap(nullptr, megabytes << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                0) != MAP_FAILED;
  };
  EXPECT_EQ(UnderRlimits(SmallLimits(),
                         [&] {
                           if (!take(32)) return 10;
                           if (take(64)) return 11;
                           return kAsExpected;
                         }),
            tests::Exited(kAsExpected));
}

TEST(Rlimits, CpuTimeEndsInAKillAlsoForOneThatIgnoresTheWarning) {
  EXPECT_EQ(UnderRlimits(SmallLimits(),
                         []() -> int {
                           signal(SIGXCPU, SIG_IGN);
                           for (volatile const int* spin = new int(0); *spin == 0;) {
                           }
                           return 0;
                         }),
            tests::KilledBy(SIGKILL));
}

TEST(Rlimits, NoFilesAreWrittenNoneBeyondTheCountOpened) {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  EXPECT_EQ(
      UnderRlimits(SmallLimits(),
                   [&] {
                     signal(SIGXFSZ, SIG_IGN);
                     core::UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
                     if (write(file.get(), "x", 1) != -1 || errno != EFBIG) return 10;
                     int opened = 0;
                     while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) ++opened;
                     return opened < 16 ? kAsExpected : 11;
                   }),
      tests::Exited(kAsExpected));
}

TEST(Rlimits, NeitherCoresNorHigherLimits) {
  EXPECT_EQ(UnderRlimits(SmallLimits(),
                         [] {
                           rlimit core;
                           getrlimit(RLIMIT_CORE, &core);
                           if (core.rlim_max != 0) return 10;
                           // As anybody but root.
                           if (getuid() == 0 && setresuid(kSandboxUid, kSandboxUid, kSandboxUid))
                             return 11;
                           const rlimit more{RLIM_INFINITY, RLIM_INFINITY};
                           if (setrlimit(RLIMIT_AS, &more) == 0) return 12;
                           if (setrlimit(RLIMIT_NOFILE, &more) == 0) return 13;
                           return kAsExpected;
                         }),
            tests::Exited(kAsExpected));
}

TEST(Rlimits, AWorkerMayLowerThemAgain) {
  EXPECT_EQ(UnderRlimits(SmallLimits(),
                         [] {
                           core::Limits lower = SmallLimits();
                           lower.memory = core::Bytes::Mebi(16);
                           return ApplyRlimits(lower, 0) ? kAsExpected : kNotAsExpected;
                         }),
            tests::Exited(kAsExpected));
}

// --- privileges -------------------------------------------------------------------------------

TEST(Privileges, RootBecomesNobodyForGood) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("needs root");
  EXPECT_EQ(tests::InChild([] {
              if (!DropIdentity(false)) return kNoSetup;
              if (getuid() != kSandboxUid || geteuid() != kSandboxUid) return 10;
              if (getgid() != kSandboxUid || getgroups(0, nullptr) != 0) return 11;
              if (setresuid(0, 0, 0) == 0) return 12;
              if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return 13;
              if (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0) return 14;
              if (Opens("/etc/shadow", O_RDONLY)) return 15;
              return kAsExpected;
            }),
            tests::Exited(kAsExpected));
}

TEST(Privileges, CapabilitiesStayUntilTheWorkerDropsThem) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("needs root");
  EXPECT_EQ(tests::InChild([] {
              if (!DropPrivileges()) return kNoSetup;
              // Still uid 0, but it can no longer do what root does.
              if (unshare(CLONE_NEWNS) == 0) return 10;
              if (chroot("/") == 0) return 11;
              return kAsExpected;
            }),
            tests::Exited(kAsExpected));
}

// --- namespaces and the private root ----------------------------------------------------------

// Runs `body` where a zygote stands after exec: cloned into the namespaces, ids mapped.
tests::Death InNamespaces(const std::function<int()>& body) {
  int go[2];
  if (pipe2(go, O_CLOEXEC) != 0) abort();
  clone_args arguments{};
  arguments.flags = ZygoteNamespaceFlags();
  arguments.exit_signal = SIGCHLD;
  fflush(nullptr);
  const auto pid = static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof arguments));
  if (pid == 0) {
    close(go[1]);
    char byte;
    _exit(read(go[0], &byte, 1) == 1 ? body() : kNoSetup);
  }
  close(go[0]);
  const core::Result<void> mapped = WriteIdMaps(pid);
  EXPECT_TRUE(mapped) << mapped.error().ToString();
  if (mapped) (void)!write(go[1], "1", 1);
  close(go[1]);
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? tests::Exited(WEXITSTATUS(status)) : tests::KilledBy(WTERMSIG(status));
}

class PrivateRoot : public ::testing::Test {
 protected:
  void SetUp() override {
    const core::Result<void> probed = outside::ProbeNamespaces();
    if (!probed) BELLJAR_SKIP_OR_FAIL(probed.error().ToString());
  }
};

TEST_F(PrivateRoot, HoldsTheNamedTreesReadOnlyAndNothingElse) {
  const size_t mounts = tests::Mounts();
  EXPECT_EQ(InNamespaces([] {
              if (!EnterPrivateRoot({{"/usr/share"}, {"/nowhere", true}}, {})) return kNoSetup;
              if (!Opens("/usr/share", O_RDONLY | O_DIRECTORY)) return 10;
              for (const char* gone :
                   {"/etc/passwd", "/proc", "/dev", "/root", "/home", "/tmp", "/usr/bin", "/sys"}) {
                if (access(gone, F_OK) == 0) return 11;
              }
              if (Opens("/new", O_WRONLY | O_CREAT)) return 12;
              if (mkdir("/usr/new", 0700) == 0) return 13;
              if (Opens("/usr/share/new", O_WRONLY | O_CREAT)) return 14;
              if (access("/../etc", F_OK) == 0) return 15;
              if (getuid() != kSandboxUid || getgid() != kSandboxUid) return 16;
              char name[64];
              gethostname(name, sizeof name);
              if (std::string(name) != "belljar") return 17;
              return kAsExpected;
            }),
            tests::Exited(kAsExpected));
  EXPECT_EQ(tests::Mounts(), mounts) << "a mount reached the host";
}

TEST_F(PrivateRoot, AMissingPathIsAnErrorThatNamesIt) {
  EXPECT_EQ(InNamespaces([] {
              const core::Result<void> entered = EnterPrivateRoot({{"/nowhere/at/all"}}, {});
              if (entered) return 10;
              return entered.error().ToString().find("/nowhere/at/all") != std::string::npos ? 0
                                                                                             : 11;
            }),
            tests::Exited(kAsExpected));
}

TEST_F(PrivateRoot, ASingleFileMayBeShown) {
  const tests::TemporaryFolder folder;
  const std::string file = folder.Write("file", "content");
  EXPECT_EQ(InNamespaces([&] {
              if (!EnterPrivateRoot({{"/usr/share"}, {file}}, {})) return kNoSetup;
              const core::Result<std::string> read = core::ReadFile(file, 100);
              if (!read || *read != "content") return 10;
              if (Opens(file, O_WRONLY)) return 11;
              return kAsExpected;
            }),
            tests::Exited(kAsExpected));
}

TEST_F(PrivateRoot, AFileOfATreeThatIsShownMayBeNamedToo) {
  const tests::TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms{0755});
  const std::string file = folder.Write("file", "content");
  EXPECT_EQ(InNamespaces([&] {
              if (!EnterPrivateRoot({{folder.path()}, {file}}, {})) return kNoSetup;
              const core::Result<std::string> read = core::ReadFile(file, 100);
              if (!read || *read != "content") return 10;
              return kAsExpected;
            }),
            tests::Exited(kAsExpected));
}

TEST_F(PrivateRoot, HasTheNamesOfItsOwnHost) {
  EXPECT_EQ(InNamespaces([] {
              if (!EnterPrivateRoot({{"/usr/share"}}, {}, {}, FilesForPrograms())) return kNoSetup;
              const core::Result<std::string> hosts = core::ReadFile("/etc/hosts", 1000);
              if (!hosts || *hosts != "127.0.0.1 localhost belljar\n::1 localhost\n") return 10;
              if (Opens("/etc/hosts", O_WRONLY)) return 11;
              if (access("/etc/passwd", F_OK) == 0) return 12;
              return kAsExpected;
            }),
            tests::Exited(kAsExpected));
}

TEST_F(PrivateRoot, AShownTreeKeepsItsOwnFiles) {
  const tests::TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms{0755});
  const std::string file = folder.Write("file", "content");
  EXPECT_EQ(InNamespaces([&] {
              const std::string other = folder.path() + "/other";
              if (!EnterPrivateRoot({{folder.path()}}, {}, {}, {{file, "own"}, {other, "own"}}))
                return kNoSetup;
              const core::Result<std::string> read = core::ReadFile(file, 100);
              if (!read || *read != "content") return 10;
              return access(other.c_str(), F_OK) == 0 ? 11 : kAsExpected;
            }),
            tests::Exited(kAsExpected));
}

TEST_F(PrivateRoot, TheNetworkIsEmpty) {
  EXPECT_EQ(InNamespaces([] {
              const core::UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
              sockaddr_in address{};
              address.sin_family = AF_INET;
              address.sin_port = htons(9);
              address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
              if (connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0)
                return 10;
              return errno == ENETUNREACH ? kAsExpected : 11;
            }),
            tests::Exited(kAsExpected));
}

TEST_F(PrivateRoot, TheLoopbackOfANamespaceOfItsOwnIsAllThatAWorkerReaches) {
  EXPECT_EQ(InNamespaces([] {
              const auto connects = [](in_addr_t address) {
                const core::UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
                sockaddr_in to{};
                to.sin_family = AF_INET;
                to.sin_port = htons(9);
                to.sin_addr.s_addr = htonl(address);
                return connect(client.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0
                           ? 0
                           : errno;
              };
              if (connects(INADDR_LOOPBACK) != ENETUNREACH) return 10;
              if (!OpenLoopback()) return 11;
              if (connects(INADDR_LOOPBACK) != ECONNREFUSED) return 12;
              if (connects(0xc0000201) != ENETUNREACH) return 13;  // 192.0.2.1
              return kAsExpected;
            }),
            tests::Exited(kAsExpected));
}

// --- the whole --------------------------------------------------------------------------------

SealPlan FullPlan() {
  const core::Profile profile = tests::BasicProfile();
  SealPlan plan;
  plan.paths = {{"{stdlib}"}, {"/usr/share/zoneinfo", true}};
  plan.ceiling = profile.maximum_limits;
  Filters filters = ShippedFilters();
  plan.zygote_filter = std::move(filters.zygote);
  plan.filter = std::move(filters.worker);
  return plan;
}

TEST_F(PrivateRoot, ZygoteAndWorkerSealHoldEveryLayer) {
  REQUIRE_LANDLOCK(1);
  const SealPlan plan = FullPlan();
  EXPECT_EQ(InNamespaces([&] {
              CatchTraps();
              const core::Result<PreparedSeal> prepared = SealZygote(plan, "/usr/share");
              if (!prepared) return kNoSetup;
              const core::UniqueFd kept(open("/usr/share", O_PATH | O_CLOEXEC));
              const core::UniqueFd other(open("/usr/share", O_PATH | O_CLOEXEC));
              WorkerResources none;
              SelfReport word = 0;
              const SealFailure failure = SealWorker(plan, *prepared, kept.get(), none, word);
              if (failure.step != SealStep::kNone) return 100 + static_cast<int>(failure.step);
              if (fcntl(kept.get(), F_GETFD) < 0) return 10;
              if (fcntl(other.get(), F_GETFD) >= 0) return 11;
              if (word != (kLandlockRefuses | kNoPrivileges | kFilterRefuses)) return 12;
              if (g_trapped != 0) return 13;
              (void)socket(AF_INET, SOCK_STREAM, 0);
              if (g_trapped != 1) return 14;
              return kAsExpected;
            }),
            tests::Exited(kAsExpected));
}

// RLIMIT_NPROC counts by user and namespace: with a namespace of its own a worker has the whole
// number to itself, and cannot use up that of another.
TEST_F(PrivateRoot, AWorkerMayHaveAUserNamespaceOfItsOwn) {
  SealPlan plan = FullPlan();
  plan.without_seccomp = plan.without_landlock = true;
  plan.own_user = true;
  plan.ceiling.processes = 2;
  EXPECT_EQ(InNamespaces([&] {
              const core::Result<PreparedSeal> prepared = SealZygote(plan, "/usr/share");
              if (!prepared) return kNoSetup;
              // Three other processes of the same user, which the limit does not see.
              for (int i = 0; i < 3; ++i) {
                if (fork() == 0) {
                  alarm(10);  // whatever becomes of this test
                  pause();
                  _exit(0);
                }
              }
              WorkerResources none;
              SelfReport word = 0;
              const SealFailure failure = SealWorker(plan, *prepared, -1, none, word);
              if (failure.step != SealStep::kNone) return 100 + static_cast<int>(failure.step);
              if ((word & kNoPrivileges) == 0) return 10;
              if (getuid() != kSandboxUid || getgid() != kSandboxUid) return 11;
              if (unshare(CLONE_NEWNET) == 0) return 12;
              if (prctl(PR_CAPBSET_READ, 21, 0, 0, 0) != 0) return 13;  // CAP_SYS_ADMIN
              const pid_t second = fork();
              if (second == 0) {
                alarm(10);
                pause();
                _exit(0);
              }
              if (second < 0) return 14;
              if (fork() >= 0 || errno != EAGAIN) return 15;
              kill(second, SIGKILL);
              return kAsExpected;
            }),
            tests::Exited(kAsExpected));
}

// A library with packages in it, a folder of packages of which one is chosen, and files of each.
class Packages {
 public:
  Packages() {
    for (const char* name : {"library/site-packages/ours", "library/json", "packages/chosen",
                             "packages/other", "library/site-packages/other"}) {
      std::filesystem::create_directories(Path(name));
      std::ofstream(Path(std::string(name) + "/file")) << "x";
    }
    // The sealed are another user.
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  }
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  SealPlan Plan() const {
    SealPlan plan;
    plan.without_seccomp = plan.without_rlimits = plan.without_privileges = true;
    plan.paths = {{"{stdlib}"},
                  {.path = Path("packages"), .only = {"chosen"}},
                  {.path = Path("library/site-packages"), .only = {"ours"}},
                  // The same once more, as another set of packages may name it.
                  {.path = Path("packages"), .only = {"chosen"}}};
    return plan;
  }
  bool Reads(const std::string& name) const { return Opens(Path(name + "/file"), O_RDONLY); }

  // In the process that is sealed.
  int Check(const SealPlan& plan) const {
    const core::Result<PreparedSeal> prepared = SealZygote(plan, Path("library"));
    if (!prepared) return kNoSetup;
    WorkerResources none;
    SelfReport word = 0;
    if (SealWorker(plan, *prepared, -1, none, word).step != SealStep::kNone) return kNoSetup;
    if (!Reads("library/json")) return 10;
    if (!Reads("packages/chosen")) return 11;
    if (!Reads("library/site-packages/ours")) return 12;
    if (Reads("packages/other")) return 13;
    if (Reads("library/site-packages/other")) return 14;
    if (Opens(Path("library/site-packages/new"), O_WRONLY | O_CREAT)) return 15;
    return kAsExpected;
  }

 private:
  tests::TemporaryFolder folder_;
};

TEST_F(PrivateRoot, ShowsTheDevicesThatAreNamedAndNoOthers) {
  REQUIRE_LANDLOCK(1);
  SealPlan plan;
  plan.without_seccomp = plan.without_rlimits = plan.without_privileges = true;
  plan.paths = {{"{stdlib}"}, {.path = "/dev/null", .device = true}};
  for (const bool landlock : {true, false}) {
    plan.without_landlock = !landlock;
    EXPECT_EQ(InNamespaces([&] {
                const core::Result<PreparedSeal> prepared = SealZygote(plan, "/usr/share");
                if (!prepared) return kNoSetup;
                WorkerResources none;
                SelfReport word = 0;
                if (SealWorker(plan, *prepared, -1, none, word).step != SealStep::kNone)
                  return kNoSetup;
                const core::UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
                if (!null || write(null.get(), "x", 1) != 1) return 10;
                if (Opens("/dev/zero", O_RDONLY)) return 11;
                if (Opens("/dev/new", O_WRONLY | O_CREAT)) return 12;
                return kAsExpected;
              }),
              tests::Exited(kAsExpected))
        << landlock;
  }
}

// A file at the path of a device must not be shown as one.
TEST_F(PrivateRoot, ShowsNoFileAsADevice) {
  const tests::TemporaryFolder folder;
  SealPlan plan;
  plan.without_landlock = plan.without_seccomp = plan.without_rlimits = plan.without_privileges =
      true;
  plan.paths = {{.path = folder.Write("null", "x"), .device = true}};
  EXPECT_EQ(InNamespaces([&] { return SealZygote(plan, "/usr/share") ? 10 : kAsExpected; }),
            tests::Exited(kAsExpected));
}

TEST_F(PrivateRoot, OfPackagesOnlyTheChosenAreShown) {
  REQUIRE_LANDLOCK(1);
  const Packages packages;
  for (const bool landlock : {true, false}) {
    SealPlan plan = packages.Plan();
    plan.without_landlock = !landlock;
    EXPECT_EQ(InNamespaces([&] { return packages.Check(plan); }), tests::Exited(kAsExpected))
        << landlock;
  }
}

TEST(Landlock, OfPackagesOnlyTheChosenAreAllowed) {
  REQUIRE_LANDLOCK(1);
  const Packages packages;
  SealPlan plan = packages.Plan();
  plan.without_namespaces = true;
  plan.without_privileges = false;  // without no_new_privs, Landlock is for root only
  EXPECT_EQ(tests::InChild([&] { return packages.Check(plan); }), tests::Exited(kAsExpected));
}

TEST(SealPlan, SurvivesTheWayToTheZygote) {
  SealPlan plan = FullPlan();
  plan.without_landlock = true;
  plan.paths.push_back({.path = "/packages", .only = {"numpy", "six.py"}});
  plan.paths.push_back({.path = "/dev/null", .device = true});
  plan.paths.push_back({"/tmp/caf\xc3\xa9", true});
  const core::Result<SealPlan> read = core::FromFlat<SealPlan>("plan", core::ToFlat(plan));
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(core::ToFlat(*read), core::ToFlat(plan));
  EXPECT_TRUE(read->without_landlock);
  EXPECT_EQ(read->paths.back().path, plan.paths.back().path);
  EXPECT_TRUE(read->paths.back().optional);
  ASSERT_EQ(read->zygote_filter.size(), plan.zygote_filter.size());
  ASSERT_EQ(read->filter.size(), plan.filter.size());
  EXPECT_EQ(
      memcmp(read->filter.data(), plan.filter.data(), plan.filter.size() * sizeof(sock_filter)), 0);
}

// Whatever is lost of it, no plan is read in which a layer is missing.
TEST(SealPlan, OneThatIsNotWholeIsAnError) {
  const std::string whole = core::ToFlat(FullPlan());
  ASSERT_TRUE(core::FromFlat<SealPlan>("plan", whole));
  for (size_t size = 0; size < whole.size(); size += size < 500 ? 1 : 97) {
    EXPECT_FALSE(core::FromFlat<SealPlan>("plan", whole.substr(0, size))) << size;
  }
  EXPECT_FALSE(core::FromFlat<SealPlan>("plan", whole + '\0'));
  std::string no_bool = whole;
  no_bool[0] = 2;
  EXPECT_FALSE(core::FromFlat<SealPlan>("plan", no_bool));
}

TEST(SealStep, EachHasAName) {
  for (uint32_t step = 0; step <= static_cast<uint32_t>(SealStep::kCapture); ++step) {
    EXPECT_STRNE(SealStepName(static_cast<SealStep>(step)), "unknown") << step;
  }
  EXPECT_STREQ(SealStepName(static_cast<SealStep>(9999)), "unknown");
}

}  // namespace
}  // namespace belljar::seal::seal_test
