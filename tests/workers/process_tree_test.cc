// What a process and those that it has started use together.
#include "engine/workers/process_tree.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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

INSTANTIATE_TEST_SUITE_P(Memory, ProcessTree, ::testing::Values(MAP_PRIVATE, MAP_SHARED));

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
