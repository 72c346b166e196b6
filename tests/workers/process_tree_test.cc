// What a process and those that it has started use together.
#include "engine/workers/process_tree.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

namespace belljar::workers::process_tree_test {
namespace {

constexpr size_t kSize = size_t{16} << 20;

// Fills memory, says so and waits for its end.
[[noreturn]] void Fill(int flags, int ready) {
  void* const memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) _exit(1);
  std::memset(memory, 1, kSize);
  if (write(ready, "x", 1) != 1) _exit(1);
  for (;;) pause();
}

class ProcessTree : public ::testing::TestWithParam<int> {
 protected:
  // A child with two children, which fill memory.
  void Start(int flags) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    root_ = fork();
    if (root_ == 0) {
      setpgid(0, 0);
      for (int i = 0; i < 2; ++i) {
        if (fork() == 0) Fill(flags, ends[1]);
      }
      for (;;) pause();
    }
    setpgid(root_, root_);
    char byte = 0;
    for (int i = 0; i < 2; ++i) ASSERT_EQ(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
  }
  void TearDown() override {
    if (root_ <= 0) return;
    kill(-root_, SIGKILL);
    waitpid(root_, nullptr, 0);
  }
  pid_t root_ = -1;
};

TEST_P(ProcessTree, CountsTheMemoryOfAll) {
  Start(GetParam());
  const TreeUsage usage = UsageOfTree(root_);
  EXPECT_EQ(usage.processes, 3u);
  EXPECT_GE(usage.memory, 2 * kSize);
}

TEST_P(ProcessTree, CountsTheMemoryOfAllClosely) {
  Start(GetParam());
  EXPECT_GE(MemoryOfTree(root_), 2 * kSize);
}

// A process that is killed rests as soon as it has begun to give its memory back.
TEST_P(ProcessTree, RestsOnceAllAreStoppedOrEnd) {
  Start(GetParam());
  EXPECT_FALSE(AwaitRest(root_, core::Clock::now()));
  kill(root_, SIGSTOP);
  EXPECT_FALSE(AwaitRest(root_, core::Clock::now() + std::chrono::milliseconds(5)));
  kill(-root_, SIGKILL);
  EXPECT_TRUE(AwaitRest(root_, core::Clock::now() + std::chrono::seconds(60)));
}

TEST_P(ProcessTree, RestsOnceAllAreStopped) {
  Start(GetParam());
  kill(-root_, SIGSTOP);
  EXPECT_TRUE(AwaitRest(root_, core::Clock::now() + std::chrono::seconds(60)));
}

INSTANTIATE_TEST_SUITE_P(Memory, ProcessTree, ::testing::Values(MAP_PRIVATE, MAP_SHARED));

// As vfork(2) does. Its caller never goes on, for the child waits for its end.
pid_t Vfork() {
  return static_cast<pid_t>(
      syscall(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

// A process that fills memory and then starts another that only waits, sharing all of it.
pid_t StartSharing(pid_t (*start)(), int ready) {
  const pid_t root = fork();
  if (root != 0) return root;
  setpgid(0, 0);
  void* const memory =
      mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) _exit(1);
  std::memset(memory, 1, kSize);
  if (start() == 0 && write(ready, "x", 1) != 1) _exit(1);
  for (;;) pause();
}

class SharedMemory : public ::testing::TestWithParam<pid_t (*)()> {};

TEST_P(SharedMemory, CountsOnce) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t root = StartSharing(GetParam(), ends[1]);
  setpgid(root, root);
  close(ends[1]);
  char byte = 0;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  close(ends[0]);
  EXPECT_GE(UsageOfTree(root).memory, 2 * kSize);  // or there is nothing to count once
  EXPECT_GE(MemoryOfTree(root), kSize);
  EXPECT_LT(MemoryOfTree(root), 2 * kSize);
  kill(-root, SIGKILL);
  waitpid(root, nullptr, 0);
}

INSTANTIATE_TEST_SUITE_P(AfterFork, SharedMemory,
                         ::testing::Values(
                             +[] { return fork(); }, +[] { return Vfork(); }));

TEST(ProcessTreeOfNobody, UsesNothing) {
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  waitpid(gone, nullptr, 0);
  const TreeUsage usage = UsageOfTree(gone);
  EXPECT_EQ(usage.memory, 0u);
  EXPECT_EQ(usage.cpu_time.count(), 0);
}

}  // namespace
}  // namespace belljar::workers::process_tree_test
