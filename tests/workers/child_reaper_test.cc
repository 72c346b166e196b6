// engine/workers/child_reaper.h: children that the process around us does not see; and descriptors
// that a child of fork lets go of.
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/process.h"
#include "engine/workers/child_reaper.h"
#include "tests/support/support.h"

namespace belljar::workers::child_reaper_test {
namespace {

using Child = std::function<void()>;

// As a zygote is cloned: with the exit signal that an exec would give it anyway.
core::Process Begin(const std::shared_ptr<ChildReaper>& reaper, const Child& child) {
  int pidfd = -1;
  clone_args arguments{};
  arguments.flags = CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  arguments.exit_signal = SIGCHLD;
  const pid_t pid = reaper->Clone(arguments, child);
  EXPECT_GT(pid, 0) << strerror(errno);
  return core::Process(pid, core::UniqueFd(pidfd), reaper);
}

// One that has started, and waits until it is killed, as by its parent's death: the seal sets that
// for a worker.
core::Process BeginWaiting(const std::shared_ptr<ChildReaper>& reaper) {
  const core::UniqueFd ready(eventfd(0, EFD_CLOEXEC));
  core::Process child = Begin(reaper, [&] {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    eventfd_write(ready.get(), 1);
    for (;;) pause();
  });
  eventfd_t count = 0;
  eventfd_read(ready.get(), &count);
  return child;
}

TEST(ChildReaper, ItsChildrenAreNobodyElses) {
  auto reaper = ChildReaper::Start();
  ASSERT_TRUE(reaper) << reaper.error().ToString();
  core::Process sleeping = Begin(*reaper, [] {
    pause();
    _exit(1);
  });
  EXPECT_EQ(sleeping.parent_pid(), (*reaper)->pid());
  // Neither it nor the parent, running or ended.
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  sleeping.Stop();
  EXPECT_EQ(waitpid(-1, nullptr, 0), -1);
  EXPECT_EQ(errno, ECHILD);
  const core::ExitReport report = sleeping.Wait();
  EXPECT_TRUE(report.known);
  EXPECT_EQ(report.signal, SIGKILL);
}

TEST(ChildReaper, ReportsHowAChildEnded) {
  auto reaper = ChildReaper::Start();
  ASSERT_TRUE(reaper) << reaper.error().ToString();
  core::Process child = Begin(*reaper, [] { _exit(7); });
  const core::ExitReport report = child.Wait();
  EXPECT_TRUE(report.known);
  EXPECT_EQ(report.exit_code, 7);
  EXPECT_GT(report.max_rss_bytes, 0u);
}

TEST(ChildReaper, ReapsWhereChildrenAreIgnored) {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  struct sigaction before {};
  sigaction(SIGCHLD, &ignored, &before);
  auto reaper = ChildReaper::Start();
  ASSERT_TRUE(reaper) << reaper.error().ToString();
  core::Process child = Begin(*reaper, [] { _exit(8); });
  EXPECT_EQ(child.Wait().exit_code, 8);
  sigaction(SIGCHLD, &before, nullptr);
}

TEST(ChildReaper, RaisesNoSignal) {
  static std::atomic<int> seen = 0;
  struct sigaction counting {};
  counting.sa_handler = [](int) { ++seen; };
  struct sigaction before {};
  sigaction(SIGCHLD, &counting, &before);
  {
    auto reaper = ChildReaper::Start();
    ASSERT_TRUE(reaper) << reaper.error().ToString();
    Begin(*reaper, [] { _exit(0); }).Wait();
  }
  EXPECT_EQ(seen, 0);
  sigaction(SIGCHLD, &before, nullptr);
}

TEST(ChildReaper, ServesSeveralThreads) {
  auto reaper = ChildReaper::Start();
  ASSERT_TRUE(reaper) << reaper.error().ToString();
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int number = 0; number < 8; ++number) {
    threads.emplace_back([&, number] {
      for (int again = 0; again < 20; ++again) {
        if (Begin(*reaper, [number] { _exit(number); }).Wait().exit_code == number) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 160);
}

TEST(ChildReaper, EndsWithTheThreadThatStartedItAndItsChildrenToo) {
  std::shared_ptr<ChildReaper> reaper;
  std::optional<core::Process> child;
  std::thread([&] {
    reaper = *ChildReaper::Start();
    child = BeginWaiting(reaper);
  }).join();
  pollfd ended{child->ended_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, 10'000), 1);
  EXPECT_FALSE(reaper->IsAlive());
  // Its end is another's to know; nothing hangs, and nothing is hit.
  EXPECT_FALSE(child->Wait().known);
}

TEST(ChildReaper, OneThatIsKilledIsMissed) {
  auto reaper = ChildReaper::Start();
  ASSERT_TRUE(reaper) << reaper.error().ToString();
  EXPECT_TRUE((*reaper)->IsAlive());
  kill((*reaper)->pid(), SIGKILL);
  clone_args arguments{};
  EXPECT_EQ((*reaper)->Clone(arguments, [] { _exit(0); }), -1);
  EXPECT_EQ(errno, ECHILD);
  EXPECT_FALSE((*reaper)->IsAlive());
}

int StatusOf(const Child& child) {
  const pid_t pid = fork();
  if (pid == 0) {
    child();
    _exit(99);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(InheritedDescriptors, AChildClosesWhatIsOwned) {
  core::UniqueFd owned(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = owned.get();
  const int other = open("/dev/null", O_RDONLY | O_CLOEXEC);
  core::UniqueFd given(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int away = given.Release();
  EXPECT_EQ(StatusOf([&] {
              core::CloseInheritedDescriptors();
              const bool good = fcntl(number, F_GETFD) < 0 && fcntl(other, F_GETFD) >= 0 &&
                                fcntl(away, F_GETFD) >= 0;
              _exit(good ? 5 : 6);
            }),
            5);
  EXPECT_GE(fcntl(number, F_GETFD), 0);
  close(other);
  close(away);
}

bool HasEnded(int pidfd) {
  pollfd ended{pidfd, POLLIN, 0};
  return poll(&ended, 1, static_cast<int>(std::chrono::milliseconds(tests::Hang()).count())) == 1;
}

// It looks once a second, and says nothing if it sees nothing.
void LetItLook() { usleep(1'200'000); }  // sleeps: a look has no event

// In a child of fork, which may give up what it likes: 5 if the parent and its child end of it.
int StatusAfter(const Child& give_up) {
  return StatusOf([&] {
    auto reaper = ChildReaper::Start();
    if (!reaper) _exit(6);
    core::Process child = BeginWaiting(*reaper);
    LetItLook();
    if (!(*reaper)->IsAlive()) _exit(7);
    give_up();
    if (!HasEnded(child.ended_fd())) _exit(8);
    _exit((*reaper)->IsAlive() ? 9 : 5);
  });
}

TEST(ChildReaper, EndsWhenTheProgramCanGainNoMorePrivileges) {
  EXPECT_EQ(StatusAfter([] { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }), 5);
}

TEST(ChildReaper, EndsWhenTheProgramIsRootNoMore) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("takes root");
  EXPECT_EQ(StatusAfter([] {
              if (setresuid(1000, 1000, 1000) != 0) _exit(10);
            }),
            5);
}

TEST(ChildReaper, EndsWithAProgramThatMayNotSignalIt) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("takes root");
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const core::UniqueFd out(ends[0]), in(ends[1]);
  EXPECT_EQ(StatusOf([&] {
              auto reaper = ChildReaper::Start();
              if (!reaper || setresuid(1000, 1000, 1000) != 0) _exit(6);
              if (kill((*reaper)->pid(), 0) == 0 || errno != EPERM) _exit(7);
              const pid_t pid = (*reaper)->pid();
              if (write(in.get(), &pid, sizeof pid) != sizeof pid) _exit(8);
              _exit(5);
            }),
            5);
  pid_t pid = -1;
  ASSERT_EQ(read(out.get(), &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  const core::UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (pidfd) {
    EXPECT_TRUE(HasEnded(pidfd.get()));
  }
}

TEST(ChildReaper, WhatMayNotBeSignalledIsKilledAllTheSame) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("takes root");
  EXPECT_EQ(StatusOf([] {
              auto reaper = ChildReaper::Start();
              if (!reaper) _exit(6);
              core::Process child = BeginWaiting(*reaper);
              if (setresuid(1000, 1000, 1000) != 0) _exit(7);
              child.Destroy();  // returns
              _exit(5);
            }),
            5);
}

// Makes a change that a thread can take back by itself, or takes it back.
using Change = std::function<void(bool make)>;

// In a child of fork, whose /proc/PID/status is that of the calling thread: 5 if a parent that was
// started before the change, and one that was started during it, both clone, reap and live, during
// the change and after it.
int StatusThrough(const Change& change) {
  return StatusOf([&] {
    const auto before = ChildReaper::Start();
    if (!before) _exit(6);
    change(true);
    const auto during = ChildReaper::Start();
    if (!during) _exit(7);
    const auto both_work = [&] {
      for (const auto& reaper : {*before, *during}) {
        int pidfd = -1;
        clone_args arguments{};
        arguments.flags = CLONE_PIDFD;
        arguments.pidfd = reinterpret_cast<uint64_t>(&pidfd);
        arguments.exit_signal = SIGCHLD;
        const pid_t pid = reaper->Clone(arguments, [] { _exit(4); });
        if (pid <= 0) return false;  // errno is ECHILD where the parent has ended
        if (core::Process(pid, core::UniqueFd(pidfd), reaper).Wait().exit_code != 4) return false;
      }
      return true;
    };
    if (!both_work()) _exit(8);
    LetItLook();
    if (!(*before)->IsAlive() || !(*during)->IsAlive()) _exit(9);
    change(false);
    if (!both_work()) _exit(10);
    LetItLook();
    _exit((*before)->IsAlive() && (*during)->IsAlive() ? 5 : 11);
  });
}

// As workspace/workspace.cc does around each program's files. A parent that was started during it
// ended on its first order, seen as "clone a zygote: ECHILD".
TEST(ChildReaper, AThreadsFileSystemIdentityIsNoRightGivenUp) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("takes root");
  EXPECT_EQ(StatusThrough([](bool make) {
              setfsgid(make ? 65534 : 0);
              setfsuid(make ? 65534 : 0);
            }),
            5);
}

void SetCapabilities(bool effective) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (syscall(SYS_capget, &header, data) != 0) _exit(20);
  for (auto& half : data) half.effective = effective ? half.permitted : 0;
  if (syscall(SYS_capset, &header, data) != 0) _exit(21);
}

TEST(ChildReaper, ACapabilityThatCanBeRaisedAgainIsNotGivenUp) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("takes root");
  EXPECT_EQ(StatusThrough([](bool make) { SetCapabilities(!make); }), 5);
}

TEST(ChildReaper, EndsWhenACapabilityIsGivenUpForGood) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("takes root");
  EXPECT_EQ(StatusAfter([] {
              __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
              __user_cap_data_struct data[2]{};
              if (syscall(SYS_capget, &header, data) != 0) _exit(20);
              constexpr uint32_t kKept = ~(1u << CAP_SYS_ADMIN);
              data[0].effective &= kKept;
              data[0].permitted &= kKept;
              if (syscall(SYS_capset, &header, data) != 0) _exit(21);
            }),
            5);
}

TEST(ChildReaper, EndsWhenTheProgramsUserChangesAndItsSavedOneDoesNot) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("takes root");
  EXPECT_EQ(StatusAfter([] {
              if (setresuid(1000, 1000, 0) != 0) _exit(20);
            }),
            5);
}

// The list of groups precedes most rights in /proc/PID/status, and may be of any length.
TEST(ChildReaper, SeesTheRightsOfAProgramInManyGroups) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("takes root");
  EXPECT_EQ(
      StatusOf([] {
        std::vector<gid_t> groups(20'000);
        for (size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<gid_t>(100'000 + i);
        if (setgroups(groups.size(), groups.data()) != 0) _exit(6);
        const auto reaper = ChildReaper::Start();
        if (!reaper) _exit(7);
        LetItLook();
        if (!(*reaper)->IsAlive()) _exit(8);
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        const core::UniqueFd ended(static_cast<int>(syscall(SYS_pidfd_open, (*reaper)->pid(), 0)));
        _exit(!ended || HasEnded(ended.get()) ? 5 : 9);
      }),
      5);
}

TEST(ChildReaper, OneThatIsEndedIsNotAlive) {
  auto reaper = ChildReaper::Start();
  ASSERT_TRUE(reaper) << reaper.error().ToString();
  ASSERT_TRUE((*reaper)->IsAlive());
  (*reaper)->End();
  EXPECT_FALSE((*reaper)->IsAlive());
  clone_args arguments{};
  EXPECT_EQ((*reaper)->Clone(arguments, [] { _exit(0); }), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(ChildReaper, AChildThatEndsWithItSaysSo) {
  auto reaper = ChildReaper::Start();
  ASSERT_TRUE(reaper) << reaper.error().ToString();
  core::Process child = BeginWaiting(*reaper);
  kill((*reaper)->pid(), SIGKILL);
  const core::ExitReport report = child.Wait();
  EXPECT_FALSE(report.known);
  EXPECT_TRUE(report.reaper_ended);
}

TEST(ChildReaper, AChildThatIsKilledByItselfSaysNothingOfTheParent) {
  auto reaper = ChildReaper::Start();
  ASSERT_TRUE(reaper) << reaper.error().ToString();
  core::Process child = Begin(*reaper, [] {
    kill(getpid(), SIGKILL);
    _exit(1);
  });
  const core::ExitReport report = child.Wait();
  EXPECT_EQ(report.signal, SIGKILL);
  EXPECT_FALSE(report.reaper_ended);
}

TEST(InheritedDescriptors, ANewOwnersFileIsNotClosedByTheOldOne) {
  core::UniqueFd owned(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(StatusOf([&] {
              core::CloseInheritedDescriptors();
              const core::UniqueFd next(open("/dev/null", O_RDONLY | O_CLOEXEC));
              const bool same = next.get() == owned.get();
              owned.Reset();
              _exit(same && fcntl(next.get(), F_GETFD) >= 0 ? 5 : 6);
            }),
            5);
}

TEST(InheritedDescriptors, AnOwnerThatIsLeftClosesNoOthersFile) {
  core::UniqueFd owned(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(StatusOf([&] {
              core::CloseInheritedDescriptors();
              const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
              const bool same = next == owned.get();
              owned.Reset();
              _exit(same && fcntl(next, F_GETFD) >= 0 ? 5 : 6);
            }),
            5);
}

TEST(InheritedDescriptors, WhatIsMovedIsStillOwned) {
  core::UniqueFd first(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = first.get();
  core::UniqueFd second(std::move(first));
  core::UniqueFd third;
  third = std::move(second);
  EXPECT_EQ(StatusOf([&] {
              core::CloseInheritedDescriptors();
              _exit(fcntl(number, F_GETFD) < 0 ? 5 : 6);
            }),
            5);
  third.Reset();
  EXPECT_LT(fcntl(number, F_GETFD), 0);
}

}  // namespace
}  // namespace belljar::workers::child_reaper_test
