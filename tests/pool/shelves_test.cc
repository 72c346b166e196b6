// Shelves: what callers get, without a zygote or a keeper.
#include "engine/pool/shelves.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "tests/support/support.h"

namespace belljar::pool::shelves_test {
namespace {

using workers::WorkerUse;

waiting::Event Wake() {
  core::Result<waiting::Event> wake = waiting::Event::Create("test");
  EXPECT_TRUE(wake);
  return std::move(*wake);
}

bool IsRaised(const waiting::Event& event) {
  pollfd raised{event.fd(), POLLIN, 0};
  return poll(&raised, 1, 0) == 1;
}

core::Deadline Soon() { return core::Clock::now() + tests::Hang(); }

// Of no process: it counts as one that has ended, so only who waits already gets it.
workers::Worker Marked(bool may_start_over) {
  workers::Worker worker;
  worker.may_start_over = may_start_over;
  return worker;
}

TEST(Shelves, WhoWaitsGetsWhatIsDeliveredAndWakesTheKeeper) {
  Shelves shelves(0, false, Wake());
  std::thread keeper([&] {
    EXPECT_TRUE(tests::Eventually([&] { return shelves.Missing(WorkerUse::kRun, 0) == 1; }));
    EXPECT_TRUE(IsRaised(shelves.wake()));
    shelves.Deliver(WorkerUse::kRun, Marked(true));
  });
  core::Result<workers::Worker> worker = shelves.Take(Soon(), {}, WorkerUse::kRun);
  keeper.join();
  ASSERT_TRUE(worker);
  EXPECT_TRUE(worker->may_start_over);
}

TEST(Shelves, OneThatHasEndedIsNotGivenToACallerButRetired) {
  Shelves shelves(1, false, Wake());
  shelves.Deliver(WorkerUse::kRun, Marked(false));
  EXPECT_EQ(shelves.counters().waiting, 1u);
  const auto worker = shelves.Take(core::Clock::now(), {}, WorkerUse::kRun);
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().error_number, ETIMEDOUT);
  EXPECT_EQ(shelves.TakeRetired().size(), 1u);
}

TEST(Shelves, WhatIsMissingAreSparesAndTakersWithoutThoseOnTheirWay) {
  Shelves shelves(4, false, Wake());
  EXPECT_EQ(shelves.Missing(WorkerUse::kRun, 0), 4u);
  EXPECT_EQ(shelves.Missing(WorkerUse::kRun, 3), 1u);
  EXPECT_EQ(shelves.Missing(WorkerUse::kRun, 5), 0u);
  shelves.Deliver(WorkerUse::kRun, Marked(false));
  EXPECT_EQ(shelves.Missing(WorkerUse::kRun, 0), 3u);
}

TEST(Shelves, ThatOfSessionsIsEmptyUntilTheFirstIsOpened) {
  Shelves shelves(4, false, Wake());
  EXPECT_EQ(shelves.Missing(WorkerUse::kSession, 0), 0u);
  EXPECT_FALSE(shelves.Take(core::Clock::now(), {}, WorkerUse::kSession));
  EXPECT_EQ(shelves.Missing(WorkerUse::kSession, 0), 1u);
  EXPECT_EQ(shelves.Missing(WorkerUse::kRun, 0), 4u);
}

TEST(Shelves, AFailureIsToldAtOnceUntilTheNextAttempt) {
  Shelves shelves(1, false, Wake());
  shelves.GiveUp(core::MakeError("start a zygote", "no memory"), Soon());
  const auto worker = shelves.Take(Soon(), {}, WorkerUse::kRun);
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().operation, "start a zygote");
  EXPECT_FALSE(shelves.WaitForSpare(Soon()));
  shelves.GiveUp(core::MakeError("start a zygote", "no memory"), core::Clock::now());
  const auto later = shelves.Take(core::Clock::now(), {}, WorkerUse::kRun);
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().error_number, ETIMEDOUT) << "the next attempt is due: callers wait";
}

TEST(Shelves, ADeliveryEndsTheFailure) {
  Shelves shelves(1, false, Wake());
  shelves.GiveUp(core::MakeError("start a zygote", "no memory"), Soon());
  EXPECT_FALSE(shelves.has_delivered());
  shelves.Deliver(WorkerUse::kRun, Marked(false));
  EXPECT_TRUE(shelves.has_delivered());
  EXPECT_TRUE(shelves.WaitForSpare(Soon()));
}

TEST(Shelves, OfASingleRunHaveOneWorkerInAll) {
  Shelves shelves(1, true, Wake());
  shelves.Deliver(WorkerUse::kRun, Marked(false));
  EXPECT_TRUE(shelves.WaitForSpare(Soon()));
  for (int i = 0; i < 2; ++i) {
    const auto worker = shelves.Take(Soon(), {}, WorkerUse::kRun);
    ASSERT_FALSE(worker);
    EXPECT_EQ(worker.error().error_number, 0) << worker.error().ToString();
  }
  EXPECT_FALSE(shelves.WaitForSpare(Soon()));
}

TEST(Shelves, ThatCloseFailWhoWaitsAndWhoComesLater) {
  Shelves shelves(0, false, Wake());
  std::thread closer([&] {
    EXPECT_TRUE(tests::Eventually([&] { return shelves.Missing(WorkerUse::kRun, 0) == 1; }));
    shelves.Close();
  });
  EXPECT_FALSE(shelves.Take(Soon(), {}, WorkerUse::kRun));
  closer.join();
  shelves.AwaitEmpty();
  EXPECT_TRUE(shelves.is_closing());
  EXPECT_FALSE(shelves.Take(Soon(), {}, WorkerUse::kRun));
}

}  // namespace
}  // namespace belljar::pool::shelves_test
