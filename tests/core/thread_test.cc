// Thread: where the machine has no more, and what signals are for it.
#include "engine/core/thread.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>
#include <utility>

#include "tests/support/support.h"

namespace belljar::core::thread_test {
namespace {

bool IsBlocked(int signal) {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 1;
}

TEST(Thread, RunsAndIsJoined) {
  bool has_run = false;
  {
    Thread thread;
    EXPECT_FALSE(thread);
    ASSERT_TRUE(thread.Start("work", [&] { has_run = true; }));
    EXPECT_TRUE(thread);
    const Thread other = std::move(thread);
    EXPECT_FALSE(thread);  // NOLINT(bugprone-use-after-move): what is left is none
    thread.Join();
  }
  EXPECT_TRUE(has_run);
}

TEST(Thread, SignalsAreBlockedInItAndNotInItsStarter) {
  bool term = false, pipe = false, fault = true;
  Thread thread;
  ASSERT_TRUE(thread.Start("work", [&] {
    term = IsBlocked(SIGTERM);
    pipe = IsBlocked(SIGPIPE);
    fault = IsBlocked(SIGSEGV);
  }));
  thread.Join();
  EXPECT_TRUE(term);
  EXPECT_TRUE(pipe);
  EXPECT_FALSE(fault) << "handlers of crashes work in it";
  EXPECT_FALSE(IsBlocked(SIGTERM));
}

TEST(Thread, WithoutAnotherItIsAnErrorThatSaysWhatToDo) {
  const tests::Death death = tests::WithThreads(0, [] {
    Thread thread;
    const Result<void> started = thread.Start("work", [] {});
    if (started || thread || started.error().error_number != EAGAIN) return 1;
    const std::string text = started.error().ToString();
    if (text.find("work: ") != 0 || text.find("ulimit -u") == text.npos) return 2;
    return IsBlocked(SIGTERM) ? 3 : 0;
  });
  EXPECT_EQ(death, tests::Exited(0));
  const tests::Death control = tests::WithThreads(1, [] {
    Thread thread;
    return thread.Start("work", [] {}) ? 0 : 1;
  });
  EXPECT_EQ(control, tests::Exited(0));
}

}  // namespace
}  // namespace belljar::core::thread_test
