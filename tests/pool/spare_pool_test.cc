// SparePool: rotation by time and by count, zygotes that fail to start or hang at it, and those who
// wait for a worker meanwhile.
#include "engine/pool/spare_pool.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/pool_support.h"
#include "tests/support/support.h"

namespace belljar::pool::spare_pool_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

core::Deadline Soon() { return core::Clock::now() + tests::Hang(); }

// Enough for the real zygote, too, and no test waits for it longer.
milliseconds StartTimeout() {
  return std::min<milliseconds>(tests::Within(seconds(6)), seconds(30));
}

bool Lives(const workers::Worker& worker) {
  pollfd ended{worker.process.ended_fd(), POLLIN, 0};
  return poll(&ended, 1, 0) == 0;
}

// Wake-ups of the keeper. A rotation causes about ten; polling without a timeout causes tens of
// thousands a second.
constexpr uint64_t kManyWakeUps = 300;

// --- rotation -----------------------------------------------------------------------------------

TEST(SpareRotation, ByTimeHappensAndTheKeeperSleepsWhileTheNewZygoteStarts) {
  SparePoolOptions options = tests::PoolOptions();
  tests::ScriptedZygote zygote(options);
  options.rotate_after = milliseconds(400);
  const auto pool = tests::StartPool(std::move(options));
  ASSERT_TRUE(pool);
  const auto start = core::Clock::now();
  ASSERT_TRUE(pool->WaitForSpare(Soon()));
  const pid_t first = pool->counters().zygote_pid;
  zygote.Slow(true);
  const uint64_t before = pool->keeper_wakeups();
  ASSERT_TRUE(tests::Eventually([&] { return pool->counters().zygotes_started >= 2; }));
  EXPECT_LT(pool->keeper_wakeups() - before, kManyWakeUps);
  EXPECT_GE(core::Clock::now() - start, milliseconds(400)) << "it came too early";
  EXPECT_NE(pool->counters().zygote_pid, first);
  EXPECT_TRUE(pool->Take(Soon()));
}

TEST(SpareRotation, ByTimeThatFailsIsTriedAgainAndTheKeeperSleepsInBetween) {
  SparePoolOptions options = tests::PoolOptions();
  tests::ScriptedZygote zygote(options);
  options.rotate_after = milliseconds(200);
  const auto pool = tests::StartPool(std::move(options));
  ASSERT_TRUE(pool);
  ASSERT_TRUE(pool->WaitForSpare(Soon()));
  zygote.Fail(true);
  const size_t starts = zygote.starts();
  const uint64_t before = pool->keeper_wakeups();
  ASSERT_TRUE(tests::Eventually([&] { return zygote.starts() >= starts + 5; }));
  EXPECT_LT(pool->keeper_wakeups() - before, kManyWakeUps);
  zygote.Fail(false);
  const uint64_t started = pool->counters().zygotes_started;
  EXPECT_TRUE(tests::Eventually([&] { return pool->counters().zygotes_started > started; }));
}

TEST(SpareRotation, ByTimeServesThoseWhoWaitAndLeavesWhoRunsAlone) {
  SparePoolOptions options = tests::PoolOptions();
  options.rotate_after = milliseconds(200);
  options.spares = 1;
  const auto pool = tests::StartPool(std::move(options));
  ASSERT_TRUE(pool);
  core::Result<workers::Worker> in_flight = pool->Take(Soon());
  ASSERT_TRUE(in_flight) << in_flight.error().ToString();
  std::atomic<int> failed = 0, served = 0;
  std::vector<std::thread> takers;
  for (int i = 0; i < 4; ++i) {
    takers.emplace_back([&] {
      const core::Deadline end = Soon();
      while (pool->counters().zygotes_started < 4 && core::Clock::now() < end) {
        core::Result<workers::Worker> worker = pool->Take(Soon());
        ++(worker ? served : failed);
        if (worker) pool->Retire(std::move(*worker));
      }
    });
  }
  for (std::thread& taker : takers) taker.join();
  EXPECT_GE(pool->counters().zygotes_started, 4u);
  EXPECT_EQ(failed, 0);
  EXPECT_GT(served, 4);
  EXPECT_TRUE(Lives(*in_flight)) << "a worker does not need its zygote";
}

TEST(SpareRotation, ByCountHappens) {
  SparePoolOptions options = tests::PoolOptions();
  options.rotate_after_workers = 3;
  const auto pool = tests::StartPool(std::move(options));
  ASSERT_TRUE(pool);
  const uint64_t before = pool->keeper_wakeups();
  int taken = 0;
  while (pool->counters().zygotes_started < 3 && taken < 1000) {
    core::Result<workers::Worker> worker = pool->Take(Soon());
    ASSERT_TRUE(worker) << worker.error().ToString();
    pool->Retire(std::move(*worker));
    ++taken;
  }
  EXPECT_GE(pool->counters().zygotes_started, 3u);
  EXPECT_LT(pool->keeper_wakeups() - before, kManyWakeUps + 20 * static_cast<uint64_t>(taken));
}

// --- zygotes that do not start ------------------------------------------------------------------

TEST(ZygoteStart, ThatFailsLeavesTheOldZygoteServing) {
  SparePoolOptions options = tests::PoolOptions();
  tests::ScriptedZygote zygote(options);
  options.rotate_after = milliseconds(100);
  options.spares = 1;
  const auto pool = tests::StartPool(std::move(options));
  ASSERT_TRUE(pool);
  ASSERT_TRUE(pool->WaitForSpare(Soon()));
  zygote.Fail(true);
  const size_t starts = zygote.starts();
  int taken = 0;
  std::vector<std::string> errors;
  const core::Deadline end = Soon();
  // Two at a time, so that there is always one to be cloned.
  while ((zygote.starts() < starts + 6 || taken < 20) && core::Clock::now() < end) {
    for (int i = 0; i < 2; ++i) {
      core::Result<workers::Worker> worker = pool->Take(core::Clock::now() + seconds(20));
      if (!worker) errors.push_back(worker.error().ToString());
      if (worker) pool->Retire(std::move(*worker));
      ++taken;
    }
  }
  EXPECT_TRUE(errors.empty()) << errors.size() << " of " << taken << ": " << errors.front();
  EXPECT_GE(zygote.starts(), starts + 6);
}

TEST(ZygoteStart, ThatHangsIsKilledAndAnErrorThatSaysSo) {
  SparePoolOptions options = tests::PoolOptions();
  tests::ScriptedZygote zygote(options);
  zygote.Hang(true);
  options.zygote_start_timeout = StartTimeout();
  auto pool = tests::StartPool(std::move(options));
  ASSERT_TRUE(pool);
  const core::Result<workers::Worker> worker = pool->Take(Soon());
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().operation, "start zygote");
  EXPECT_EQ(worker.error().error_number, 0) << "waiting longer does not help";
  EXPECT_NE(worker.error().detail.find("not ready after"), std::string::npos)
      << worker.error().ToString();
  EXPECT_NE(worker.error().detail.find("nanosleep (system call "), std::string::npos)
      << worker.error().ToString();
  EXPECT_EQ(pool->zygote_starts_failed(), 1u);
  zygote.Hang(false);
  EXPECT_TRUE(tests::Eventually([&] { return pool->Take(Soon()).ok(); }));
  pool.reset();
  EXPECT_TRUE(tests::Children().empty());
}

TEST(ZygoteStart, ThatHangsInARotationLeavesTheOldZygoteServingAndIsTriedAgain) {
  SparePoolOptions options = tests::PoolOptions();
  tests::ScriptedZygote zygote(options);
  options.rotate_after = milliseconds(100);
  options.spares = 1;
  options.zygote_start_timeout = StartTimeout();
  const auto pool = tests::StartPool(std::move(options));
  ASSERT_TRUE(pool);
  ASSERT_TRUE(pool->WaitForSpare(Soon()));
  zygote.Hang(true);
  const uint64_t before = pool->keeper_wakeups();
  const core::Deadline end = Soon();
  uint64_t taken = 0;
  while (pool->zygote_starts_failed() == 0 && core::Clock::now() < end) {
    core::Result<workers::Worker> worker = pool->Take(core::Clock::now() + seconds(20));
    ASSERT_TRUE(worker) << worker.error().ToString();
    pool->Retire(std::move(*worker));
    ++taken;
    std::this_thread::sleep_for(milliseconds(20));  // sleeps: a taker now and then
  }
  EXPECT_GE(pool->zygote_starts_failed(), 1u);
  EXPECT_LT(pool->keeper_wakeups() - before, kManyWakeUps + 20 * taken);
  zygote.Hang(false);
  const uint64_t started = pool->counters().zygotes_started;
  EXPECT_TRUE(tests::Eventually([&] { return pool->counters().zygotes_started > started; }));
}

// --- takers -------------------------------------------------------------------------------------

TEST(Takers, WhoWaitsSleepsUntilItIsCancelled) {
  SparePoolOptions options = tests::PoolOptions();
  tests::ScriptedZygote zygote(options);
  zygote.Hang(true);
  const auto pool = tests::StartPool(std::move(options));
  ASSERT_TRUE(pool);
  const core::UniqueFd cancel(eventfd(0, EFD_CLOEXEC));
  run::RunOptions run;
  run.cancel_fd = cancel.get();
  long switches = 0;
  core::Result<void> taken;
  std::thread taker([&] {
    rusage before, after;
    getrusage(RUSAGE_THREAD, &before);
    const core::Result<workers::Worker> worker = pool->Take(Soon(), run);
    getrusage(RUSAGE_THREAD, &after);
    switches = after.ru_nvcsw - before.ru_nvcsw;
    if (!worker) taken = worker.error();
  });
  std::this_thread::sleep_for(seconds(1));  // sleeps: it would wake meanwhile
  eventfd_write(cancel.get(), 1);
  taker.join();
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().error_number, ECANCELED);
  EXPECT_LT(switches, 10) << "it wakes to look";
}

TEST(Takers, AnInterruptionEndsTheWait) {
  SparePoolOptions options = tests::PoolOptions();
  tests::ScriptedZygote zygote(options);
  zygote.Hang(true);
  const auto pool = tests::StartPool(std::move(options));
  ASSERT_TRUE(pool);
  int requested = 0;
  run::RunOptions run;
  run.interrupted = [&] { return ++requested == 3; };
  const core::Result<workers::Worker> worker = pool->Take(Soon(), run);
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().error_number, ECANCELED);
  EXPECT_EQ(requested, 3);
}

// --- limits of the machine ----------------------------------------------------------------------

TEST(SparePool, WhereTheKernelRefusesAProcessTheErrorSaysWhatToRaise) {
  SparePoolOptions options = tests::PoolOptions();
  options.spares = 1;
  const auto pool = tests::StartPool(std::move(options));
  ASSERT_TRUE(pool);
  ASSERT_TRUE(pool->WaitForSpare(Soon()));
  const rlimit only_itself{1, 1};
  const pid_t zygote = pool->counters().zygote_pid;
  ASSERT_EQ(prlimit(zygote, RLIMIT_NPROC, &only_itself, nullptr), 0);
  ASSERT_TRUE(pool->Take(Soon()));  // positive control: it was cloned before
  // One more may have been requested before the limit.
  core::Result<workers::Worker> worker = pool->Take(Soon());
  for (int more = 0; worker && more < 3; ++more) worker = pool->Take(Soon());
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().error_number, EAGAIN) << worker.error().ToString();
  EXPECT_NE(worker.error().ToString().find("ulimit -u"), std::string::npos)
      << worker.error().ToString();
}

}  // namespace
}  // namespace belljar::pool::spare_pool_test
