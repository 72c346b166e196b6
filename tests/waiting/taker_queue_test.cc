// TakerQueue: order, cancellation, deadlines, the end of a pool; and no item is lost between them.
#include "engine/waiting/taker_queue.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/support.h"

namespace belljar::waiting::taker_queue_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

using Item = std::unique_ptr<int>;  // one that can only be moved, as a worker

// The part of a pool that holds the queue.
struct Pool {
  std::mutex mutex;
  TakerQueue<Item> takers;

  core::Result<Item> Take(const Wait& wait) {
    std::unique_lock lock(mutex);
    return takers.Take(lock, wait, "take an item", [] { return std::string("none in time"); });
  }
  std::future<core::Result<Item>> TakeBeside(const Wait& wait) {
    return std::async(std::launch::async, [this, wait] { return Take(wait); });
  }
  // False: nobody waits.
  bool Give(int value) {
    const std::lock_guard lock(mutex);
    if (takers.empty()) return false;
    takers.Give(std::make_unique<int>(value));
    return true;
  }
  bool Waiting(size_t count) {
    return tests::Eventually([&] {
      const std::lock_guard lock(mutex);
      return takers.size() == count;
    });
  }
};

core::Deadline Soon() { return core::Clock::now() + seconds(60); }

Event MakeEvent() { return std::move(*Event::Create("test")); }

TEST(TakerQueue, ServesInTheOrderInWhichTheyCame) {
  Pool pool;
  std::vector<std::future<core::Result<Item>>> takers;
  for (int i = 0; i < 8; ++i) {
    takers.push_back(pool.TakeBeside({Soon()}));
    ASSERT_TRUE(pool.Waiting(takers.size()));
  }
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(pool.Give(i));
  EXPECT_FALSE(pool.Give(8)) << "nobody waits any more";
  for (int i = 0; i < 8; ++i) {
    const core::Result<Item> item = takers[static_cast<size_t>(i)].get();
    ASSERT_TRUE(item) << item.error().ToString();
    EXPECT_EQ(**item, i);
  }
}

TEST(TakerQueue, OneThatIsCancelledLeavesItsPlaceToTheNext) {
  Pool pool;
  const Event cancel = MakeEvent();
  auto first = pool.TakeBeside({Soon(), cancel.fd()});
  ASSERT_TRUE(pool.Waiting(1));
  auto second = pool.TakeBeside({Soon()});
  ASSERT_TRUE(pool.Waiting(2));
  cancel.Raise();
  const core::Result<Item> cancelled = first.get();
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().error_number, ECANCELED);
  EXPECT_EQ(cancelled.error().operation, "take an item");
  ASSERT_TRUE(pool.Waiting(1));
  ASSERT_TRUE(pool.Give(7));
  const core::Result<Item> item = second.get();
  ASSERT_TRUE(item) << item.error().ToString();
  EXPECT_EQ(**item, 7);
}

TEST(TakerQueue, OneIsCancelledByAnInterruptionWithoutAnEvent) {
  Pool pool;
  std::atomic<bool> interrupted = false;
  const std::function<bool()> ask = [&] { return interrupted.load(); };
  InterruptCheck interrupts(ask);
  auto taker = pool.TakeBeside({Soon(), -1, &interrupts});
  ASSERT_TRUE(pool.Waiting(1));
  interrupted = true;
  const core::Result<Item> item = taker.get();
  ASSERT_FALSE(item);
  EXPECT_EQ(item.error().error_number, ECANCELED);
  EXPECT_TRUE(pool.Waiting(0));
}

TEST(TakerQueue, ADeadlineIsATimeoutThatSaysWhy) {
  Pool pool;
  const auto start = core::Clock::now();
  const core::Result<Item> item = pool.Take({start + milliseconds(100)});
  EXPECT_GE(core::Clock::now() - start, milliseconds(100));
  ASSERT_FALSE(item);
  EXPECT_EQ(item.error().error_number, ETIMEDOUT);
  EXPECT_EQ(item.error().detail, "none in time");
  EXPECT_FALSE(pool.Give(1)) << "it is in the queue still";
}

TEST(TakerQueue, AFailureReachesAllAndTheyAreWaitedFor) {
  Pool pool;
  std::vector<std::future<core::Result<Item>>> takers;
  for (size_t i = 1; i <= 8; ++i) {
    takers.push_back(pool.TakeBeside({Soon()}));
    ASSERT_TRUE(pool.Waiting(i));
  }
  {
    std::unique_lock lock(pool.mutex);
    pool.takers.FailAll(core::MakeError("take an item", "closing"));
    pool.takers.AwaitEmpty(lock);
  }
  for (auto& taker : takers) {
    const core::Result<Item> item = taker.get();
    ASSERT_FALSE(item);
    EXPECT_EQ(item.error().detail, "closing");
  }
}

TEST(TakerQueue, NoItemIsLostToOneWhoIsCancelledAsItIsGiven) {
  Pool pool;
  int given = 0, received = 0, cancelled = 0;
  for (int round = 0; round < 300; ++round) {
    const Event cancel = MakeEvent();
    auto taker = pool.TakeBeside({Soon(), cancel.fd()});
    ASSERT_TRUE(pool.Waiting(1));
    std::thread canceller([&] { cancel.Raise(); });
    if (round % 2 == 0) std::this_thread::yield();
    given += pool.Give(round);
    canceller.join();
    const core::Result<Item> item = taker.get();
    EXPECT_TRUE(!item || **item == round);
    ++(item ? received : cancelled);
  }
  EXPECT_EQ(received, given);
  EXPECT_EQ(received + cancelled, 300);
  EXPECT_GT(received, 0);
}

TEST(TakerQueue, OneWhoWaitsSleeps) {
  Pool pool;
  const Event cancel = MakeEvent();
  rusage before, after;
  getrusage(RUSAGE_THREAD, &before);
  EXPECT_FALSE(pool.Take({core::Clock::now() + seconds(1), cancel.fd()}));
  getrusage(RUSAGE_THREAD, &after);
  EXPECT_LT(after.ru_nvcsw - before.ru_nvcsw, 10) << "it wakes to look";
}

TEST(TakerQueue, WithoutADescriptorToWaitByItIsAnErrorAtOnce) {
  if (tests::Sanitized()) GTEST_SKIP() << "the sanitizer needs descriptors itself";
  const tests::Death death = tests::InChild([] {
    Pool pool;
    const rlimit none{0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
    const core::Result<Item> item = pool.Take({Soon()});
    if (item) return 1;
    return item.error().error_number == EMFILE && pool.takers.empty() ? 0 : 2;
  });
  EXPECT_EQ(death, tests::Exited(0));
}

}  // namespace
}  // namespace belljar::waiting::taker_queue_test
