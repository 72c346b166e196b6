// engine/core/parent.h: children that the process around us does not see; and descriptors that a
// child of fork lets go of.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/parent.h"
#include "engine/core/process.h"

namespace belljar {
namespace {

using Child = std::function<void()>;

// As a zygote is cloned: with the exit signal that an exec would give it anyway.
Process Begin(const std::shared_ptr<Parent>& parent, const Child& child) {
  int pidfd = -1;
  clone_args arguments{};
  arguments.flags = CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  arguments.exit_signal = SIGCHLD;
  const pid_t pid = parent->Clone(arguments, child);
  EXPECT_GT(pid, 0) << strerror(errno);
  return Process(pid, UniqueFd(pidfd), parent);
}

TEST(Parent, ItsChildrenAreNobodyElses) {
  auto parent = Parent::Start();
  ASSERT_TRUE(parent) << parent.error().ToString();
  Process sleeping = Begin(*parent, [] {
    pause();
    _exit(1);
  });
  EXPECT_EQ(sleeping.parent_pid(), (*parent)->pid());
  // Neither it nor the parent, running or ended.
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  sleeping.Stop();
  EXPECT_EQ(waitpid(-1, nullptr, 0), -1);
  EXPECT_EQ(errno, ECHILD);
  const ExitReport report = sleeping.Wait();
  EXPECT_TRUE(report.known);
  EXPECT_EQ(report.signal, SIGKILL);
}

TEST(Parent, TellsHowAChildEnded) {
  auto parent = Parent::Start();
  ASSERT_TRUE(parent) << parent.error().ToString();
  Process child = Begin(*parent, [] { _exit(7); });
  const ExitReport report = child.Wait();
  EXPECT_TRUE(report.known);
  EXPECT_EQ(report.exit_code, 7);
  EXPECT_GT(report.max_rss_bytes, 0u);
}

TEST(Parent, ReapsWhereChildrenAreIgnored) {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  struct sigaction before {};
  sigaction(SIGCHLD, &ignored, &before);
  auto parent = Parent::Start();
  ASSERT_TRUE(parent) << parent.error().ToString();
  Process child = Begin(*parent, [] { _exit(8); });
  EXPECT_EQ(child.Wait().exit_code, 8);
  sigaction(SIGCHLD, &before, nullptr);
}

TEST(Parent, RaisesNoSignal) {
  static std::atomic<int> seen = 0;
  struct sigaction counting {};
  counting.sa_handler = [](int) { ++seen; };
  struct sigaction before {};
  sigaction(SIGCHLD, &counting, &before);
  {
    auto parent = Parent::Start();
    ASSERT_TRUE(parent) << parent.error().ToString();
    Begin(*parent, [] { _exit(0); }).Wait();
  }
  EXPECT_EQ(seen, 0);
  sigaction(SIGCHLD, &before, nullptr);
}

TEST(Parent, ServesSeveralThreads) {
  auto parent = Parent::Start();
  ASSERT_TRUE(parent) << parent.error().ToString();
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int number = 0; number < 8; ++number) {
    threads.emplace_back([&, number] {
      for (int again = 0; again < 20; ++again) {
        if (Begin(*parent, [number] { _exit(number); }).Wait().exit_code == number) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 160);
}

TEST(Parent, EndsWithTheThreadThatStartedItAndItsChildrenToo) {
  const UniqueFd ready(eventfd(0, EFD_CLOEXEC));
  std::shared_ptr<Parent> parent;
  std::optional<Process> child;
  std::thread([&] {
    parent = *Parent::Start();
    child = Begin(parent, [&] {
      // As the seal does it for a worker.
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      eventfd_write(ready.get(), 1);
      for (;;) pause();
    });
    eventfd_t count = 0;
    eventfd_read(ready.get(), &count);
  }).join();
  pollfd ended{child->ended_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, 10'000), 1);
  EXPECT_FALSE(parent->IsAlive());
  // Its end is another's to know; nothing hangs, and nothing is hit.
  EXPECT_FALSE(child->Wait().known);
}

TEST(Parent, OneThatIsKilledIsMissed) {
  auto parent = Parent::Start();
  ASSERT_TRUE(parent) << parent.error().ToString();
  EXPECT_TRUE((*parent)->IsAlive());
  kill((*parent)->pid(), SIGKILL);
  clone_args arguments{};
  EXPECT_EQ((*parent)->Clone(arguments, [] { _exit(0); }), -1);
  EXPECT_EQ(errno, ECHILD);
  EXPECT_FALSE((*parent)->IsAlive());
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
  UniqueFd owned(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = owned.get();
  const int other = open("/dev/null", O_RDONLY | O_CLOEXEC);
  UniqueFd given(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int away = given.Release();
  EXPECT_EQ(StatusOf([&] {
              CloseInheritedDescriptors();
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
  return poll(&ended, 1, 10'000) == 1;
}

// In a child of fork, which may give up what it likes: 5 if the parent and its child end of it.
int StatusAfter(const Child& give_up) {
  return StatusOf([&] {
    auto parent = Parent::Start();
    if (!parent) _exit(6);
    const UniqueFd ready(eventfd(0, EFD_CLOEXEC));
    Process child = Begin(*parent, [&] {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      eventfd_write(ready.get(), 1);
      for (;;) pause();
    });
    eventfd_t count = 0;
    eventfd_read(ready.get(), &count);
    // It has looked, and seen nothing.
    usleep(1'200'000);
    if (!(*parent)->IsAlive()) _exit(7);
    give_up();
    if (!HasEnded(child.ended_fd())) _exit(8);
    _exit((*parent)->IsAlive() ? 9 : 5);
  });
}

TEST(Parent, EndsWhenTheProgramCanGainNoMorePrivileges) {
  EXPECT_EQ(StatusAfter([] { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }), 5);
}

TEST(Parent, EndsWhenTheProgramIsRootNoMore) {
  if (geteuid() != 0) GTEST_SKIP() << "takes root";
  EXPECT_EQ(StatusAfter([] {
              if (setresuid(1000, 1000, 1000) != 0) _exit(10);
            }),
            5);
}

TEST(Parent, EndsWithAProgramThatMayNotSignalIt) {
  if (geteuid() != 0) GTEST_SKIP() << "takes root";
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd out(ends[0]), in(ends[1]);
  EXPECT_EQ(StatusOf([&] {
              auto parent = Parent::Start();
              if (!parent || setresuid(1000, 1000, 1000) != 0) _exit(6);
              if (kill((*parent)->pid(), 0) == 0 || errno != EPERM) _exit(7);
              const pid_t pid = (*parent)->pid();
              if (write(in.get(), &pid, sizeof pid) != sizeof pid) _exit(8);
              _exit(5);
            }),
            5);
  pid_t pid = -1;
  ASSERT_EQ(read(out.get(), &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (pidfd) {
    EXPECT_TRUE(HasEnded(pidfd.get()));
  }
}

TEST(Parent, WhatMayNotBeSignalledIsKilledAllTheSame) {
  if (geteuid() != 0) GTEST_SKIP() << "takes root";
  EXPECT_EQ(StatusOf([] {
              auto parent = Parent::Start();
              if (!parent) _exit(6);
              const UniqueFd ready(eventfd(0, EFD_CLOEXEC));
              Process child = Begin(*parent, [&] {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                eventfd_write(ready.get(), 1);
                for (;;) pause();
              });
              eventfd_t count = 0;
              eventfd_read(ready.get(), &count);
              if (setresuid(1000, 1000, 1000) != 0) _exit(7);
              child.Destroy();  // returns
              _exit(5);
            }),
            5);
}

TEST(InheritedDescriptors, ANewOwnersFileIsNotClosedByTheOldOne) {
  UniqueFd owned(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(StatusOf([&] {
              CloseInheritedDescriptors();
              const UniqueFd next(open("/dev/null", O_RDONLY | O_CLOEXEC));
              const bool same = next.get() == owned.get();
              owned.Reset();
              _exit(same && fcntl(next.get(), F_GETFD) >= 0 ? 5 : 6);
            }),
            5);
}

TEST(InheritedDescriptors, AnOwnerThatIsLeftClosesNoOthersFile) {
  UniqueFd owned(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(StatusOf([&] {
              CloseInheritedDescriptors();
              const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
              const bool same = next == owned.get();
              owned.Reset();
              _exit(same && fcntl(next, F_GETFD) >= 0 ? 5 : 6);
            }),
            5);
}

TEST(InheritedDescriptors, WhatIsMovedIsStillOwned) {
  UniqueFd first(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = first.get();
  UniqueFd second(std::move(first));
  UniqueFd third;
  third = std::move(second);
  EXPECT_EQ(StatusOf([&] {
              CloseInheritedDescriptors();
              _exit(fcntl(number, F_GETFD) < 0 ? 5 : 6);
            }),
            5);
  third.Reset();
  EXPECT_LT(fcntl(number, F_GETFD), 0);
}

}  // namespace
}  // namespace belljar
