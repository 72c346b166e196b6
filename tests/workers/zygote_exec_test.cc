// Between clone and exec a zygote makes system calls only: a function of a library may need a lock
// that another thread of the host holds, which the child does not have.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/support/pool_support.h"

// What the child could print with, in place of the C library's: the text is lost.
extern "C" {
int LosesText(int, const char*, ...) __asm__("dprintf");
int LosesText(int, const char*, ...) { return 0; }
int LosesCheckedText(int, int, const char*, ...) __asm__("__dprintf_chk");
int LosesCheckedText(int, int, const char*, ...) { return 0; }
}

namespace belljar::workers::zygote_exec_test {
namespace {

TEST(ZygoteExec, ItsFailureIsToldWithoutStdio) {
  pool::SparePoolOptions options = tests::PoolOptions();
  options.zygote.installation.zygote = "/nowhere/belljar-zygote";
  const auto pool = tests::StartPool(std::move(options));
  ASSERT_TRUE(pool);
  const core::Result<Worker> worker = pool->Take(core::Clock::now() + std::chrono::minutes(2));
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().ToString(),
            "start zygote: exec /nowhere/belljar-zygote: No such file or directory");
}

}  // namespace
}  // namespace belljar::workers::zygote_exec_test
