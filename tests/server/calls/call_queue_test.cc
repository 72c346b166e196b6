#include "server/calls/call_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>

namespace belljar::server::call_queue_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using Reason = CallQueue::Refusal::Reason;

// Calls that wait until it is opened.
struct Gate {
  std::promise<void> promise;
  std::shared_future<void> opened = promise.get_future().share();
  void Open() { promise.set_value(); }
};

void AwaitRunning(const CallQueue& queue, size_t running) {
  while (queue.counters().running != running) std::this_thread::yield();
}

TEST(CallQueue, RunsSoManyKeepsSoManyAndRefusesTheRest) {
  CallQueue queue({.running = 2, .waiting = 3});
  Gate gate;
  std::atomic<int> done = 0;
  const auto call = [&, opened = gate.opened] {
    opened.wait();
    ++done;
  };
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(queue.Submit("a", 0, call));
  const auto refusal = queue.Submit("a", 0, call);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, Reason::kFull);
  EXPECT_GE(refusal->retry_after, seconds(1));
  AwaitRunning(queue, 2);
  EXPECT_EQ(queue.counters().waiting, 3u);
  EXPECT_EQ(queue.counters().refused, 1u);
  gate.Open();
  EXPECT_TRUE(queue.Drain(steady_clock::now() + seconds(20)));
  EXPECT_EQ(done, 5);
}

TEST(CallQueue, StartsInOrder) {
  CallQueue queue({.running = 1, .waiting = 100});
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) {
    ASSERT_FALSE(queue.Submit("a", 0, [&order, i] { order.push_back(i); }));
  }
  ASSERT_TRUE(queue.Drain(steady_clock::now() + seconds(20)));
  ASSERT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(CallQueue, ACallerFillsItsOwnShareOnly) {
  CallQueue queue({.running = 1, .waiting = 10});
  Gate gate;
  const auto call = [opened = gate.opened] { opened.wait(); };
  EXPECT_FALSE(queue.Submit("a", 2, call));
  EXPECT_FALSE(queue.Submit("a", 2, call));
  const auto refusal = queue.Submit("a", 2, call);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, Reason::kCallerFull);
  EXPECT_FALSE(queue.Submit("b", 2, call));
  gate.Open();
  while (queue.counters().running + queue.counters().waiting > 0) std::this_thread::yield();
  EXPECT_FALSE(queue.Submit("a", 2, [] {}));
}

TEST(CallQueue, DrainRefusesAndWaits) {
  CallQueue queue({.running = 1, .waiting = 10});
  Gate gate;
  ASSERT_FALSE(queue.Submit("a", 0, [opened = gate.opened] { opened.wait(); }));
  EXPECT_FALSE(queue.Drain(steady_clock::now() + milliseconds(20)));
  const auto refusal = queue.Submit("a", 0, [] {});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, Reason::kClosing);
  gate.Open();
  EXPECT_TRUE(queue.Drain(steady_clock::now() + seconds(20)));
}

TEST(CallQueue, TheHintFollowsHowLongCallsTake) {
  const auto hint_of_full = [](CallQueue& queue) {
    Gate gate;
    for (int i = 0; i < 61; ++i) {
      (void)queue.Submit("a", 0, [opened = gate.opened] { opened.wait(); });
    }
    const auto refusal = queue.Submit("a", 0, [] {});
    gate.Open();
    return refusal ? refusal->retry_after : seconds(0);
  };
  CallQueue unused({.running = 1, .waiting = 60});
  EXPECT_EQ(hint_of_full(unused), seconds(1));
  CallQueue queue({.running = 1, .waiting = 60});
  for (int i = 0; i < 15; ++i) {
    // sleeps: the time that the hint is made from
    ASSERT_FALSE(queue.Submit("a", 0, [] { std::this_thread::sleep_for(milliseconds(100)); }));
  }
  while (queue.counters().waiting > 0) std::this_thread::yield();
  // Some sixty calls of some 0.1 s, one at a time.
  EXPECT_GE(hint_of_full(queue), seconds(3));
}

TEST(CallQueue, ACallIsGoneBeforeItCountsAsOver) {
  CallQueue queue({.running = 1, .waiting = 1});
  std::atomic<size_t> running = 0;
  // What a call holds may ask the queue as it goes.
  std::shared_ptr<int> held(new int(7), [&](const int* each) {
    running = queue.counters().running;
    delete each;
  });
  ASSERT_FALSE(queue.Submit("a", 0, [held = std::move(held)] {}));
  ASSERT_TRUE(queue.Drain(steady_clock::now() + seconds(20)));
  EXPECT_EQ(running, 1u);
}

TEST(CallQueue, StopDropsWhatWaitsAndWaitsForWhatRuns) {
  CallQueue queue({.running = 1, .waiting = 10});
  Gate gate;
  bool has_ended = false;
  ASSERT_FALSE(queue.Submit("a", 0, [&, opened = gate.opened] {
    opened.wait();
    has_ended = true;
  }));
  AwaitRunning(queue, 1);
  // What a dropped call held is gone before the one that runs has ended, and may use the queue.
  auto held = std::shared_ptr<void>(nullptr, [&](void*) {
    EXPECT_EQ(queue.Submit("a", 0, [] {})->reason, Reason::kClosing);
    gate.Open();
  });
  ASSERT_FALSE(queue.Submit("a", 0, [held] { ADD_FAILURE() << "it was not dropped"; }));
  held.reset();
  queue.Stop();
  EXPECT_TRUE(has_ended);
  EXPECT_EQ(queue.counters().running, 0u);
  EXPECT_EQ(queue.Submit("a", 0, [] {})->reason, Reason::kClosing);
  EXPECT_TRUE(queue.Drain(steady_clock::now()));
  queue.Stop();
}

TEST(CallQueue, FewerRunAtATimeAndLaterMoreAgain) {
  CallQueue queue({.running = 3, .waiting = 10});
  EXPECT_EQ(queue.threads(), 3u);
  Gate gate;
  std::atomic<int> done = 0;
  const auto call = [&, opened = gate.opened] {
    opened.wait();
    ++done;
  };
  queue.SetOptions({.running = 1, .waiting = 10});
  for (int i = 0; i < 5; ++i) ASSERT_FALSE(queue.Submit("a", 0, call));
  AwaitRunning(queue, 1);
  std::this_thread::sleep_for(milliseconds(50));  // sleeps: others would begin
  EXPECT_EQ(queue.counters().running, 1u);
  EXPECT_EQ(queue.counters().waiting, 4u);
  queue.SetOptions({.running = 3, .waiting = 10});
  AwaitRunning(queue, 3);
  // What runs goes on, and what waits is not refused any more.
  queue.SetOptions({.running = 1, .waiting = 0});
  EXPECT_EQ(queue.Submit("a", 0, call)->reason, Reason::kFull);
  EXPECT_EQ(queue.counters().running, 3u);
  gate.Open();
  EXPECT_TRUE(queue.Drain(steady_clock::now() + seconds(20)));
  EXPECT_EQ(done, 5);
}

}  // namespace
}  // namespace belljar::server::call_queue_test
