// BackgroundTasks: a task that does not end holds up no other.
#include "engine/waiting/background_tasks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "tests/support/support.h"

namespace belljar::waiting::background_tasks_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kTasks = 8;

// Each waits for all the others, so that they end early only if all run at once.
class Meeting {
 public:
  void Attend() {
    ++present_;
    if (tests::Eventually([&] { return present_ == kTasks; })) ++met_;
  }
  int met() const { return met_; }

 private:
  std::atomic<int> present_ = 0;
  std::atomic<int> met_ = 0;
};

TEST(BackgroundTasks, TasksAddedAtOnceRunAtOnce) {
  Meeting meeting;
  {
    auto tasks = BackgroundTasks::Start("test");
    ASSERT_TRUE(tasks) << tasks.error().ToString();
    std::this_thread::sleep_for(milliseconds(50));  // sleeps: its first thread may be idle, or not
    for (int i = 0; i < kTasks; ++i) (*tasks)->Add([&] { meeting.Attend(); });
  }
  EXPECT_EQ(meeting.met(), kTasks);
}

TEST(BackgroundTasks, TasksDueAtOnceRunAtOnce) {
  Meeting meeting;
  std::atomic<int> done = 0;
  auto tasks = BackgroundTasks::Start("test");
  ASSERT_TRUE(tasks) << tasks.error().ToString();
  const core::Deadline due = core::Clock::now() + milliseconds(50);
  for (int i = 0; i < kTasks; ++i) {
    (*tasks)->AddAt(due, [&] {
      meeting.Attend();
      ++done;
    });
  }
  ASSERT_TRUE(tests::Eventually([&] { return done == kTasks; }));
  EXPECT_EQ(meeting.met(), kTasks);
}

TEST(BackgroundTasks, WhatIsNotDueIsDropped) {
  std::atomic<int> ran = 0;
  {
    auto tasks = BackgroundTasks::Start("test");
    ASSERT_TRUE(tasks) << tasks.error().ToString();
    (*tasks)->AddAt(core::Clock::now() + seconds(3600), [&] { ran += 100; });
    (*tasks)->Add([&] { ++ran; });
  }
  EXPECT_EQ(ran, 1);
}

}  // namespace
}  // namespace belljar::waiting::background_tasks_test
