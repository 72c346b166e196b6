// Sessions: cells, checkpoints, roll-back, branches.
#include "engine/outside/session.h"

#include <gtest/gtest.h>

#include <chrono>
#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/outside/probe.h"
#include "tests/support/support.h"

namespace belljar::outside {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!ProbeNamespaces()) BELLJAR_SKIP_OR_FAIL("needs user namespaces");
    SandboxOptions options;
    options.profile = tests::BasicProfile();
    options.spares = 1;
    sandbox_ = tests::Open(std::move(options));
    ASSERT_TRUE(sandbox_);
  }

  std::shared_ptr<Session> OpenSession(size_t checkpoints = 16) {
    SessionOptions options;
    options.limits = sandbox_->profile().default_limits;
    options.checkpoints = checkpoints;
    auto session = sandbox_->OpenSession(options);
    EXPECT_TRUE(session) << session.error().ToString();
    return session ? *session : nullptr;
  }

  host::Outcome Run(Session& session, std::string source, milliseconds timeout = seconds(20)) {
    auto outcome = sandbox_->RunCell(session, tests::MakeRequest(std::move(source), timeout));
    if (!outcome) {
      ADD_FAILURE() << outcome.error().ToString();
      return {};
    }
    return std::move(*outcome);
  }

  std::string Value(Session& session, std::string source) {
    const host::Outcome outcome = Run(session, std::move(source));
    if (outcome.error) return outcome.error->type + ": " + outcome.error->message;
    return outcome.result_json.value_or("none");
  }

  std::unique_ptr<Sandbox> sandbox_;
};

TEST_F(SessionTest, NamesStayFromCellToCell) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  EXPECT_EQ(Value(*session, "x = 40\nx"), "40");
  const host::Outcome second = Run(*session, "print('hi')\nx + 2");
  EXPECT_EQ(second.result_json, "42");
  EXPECT_EQ(second.stdout_stream.text, "hi\n");
  ASSERT_TRUE(second.session);
  EXPECT_EQ(second.session->id, session->id());
  EXPECT_EQ(second.session->id.size(), 32u);
  EXPECT_EQ(second.session->cell, 2u);
  EXPECT_EQ(second.session->checkpoint, "c1");
  EXPECT_FALSE(second.session->restored);
  EXPECT_EQ(second.session->note, "");
}

TEST_F(SessionTest, AStoppedCellCostsTheCellOnly) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  EXPECT_EQ(Value(*session, "x = 1\nx"), "1");
  const host::Outcome stopped = Run(*session, "x = 2\nwhile True: pass", milliseconds(300));
  EXPECT_EQ(stopped.status, host::Status::kTimeout);
  ASSERT_TRUE(stopped.session);
  EXPECT_TRUE(stopped.session->restored);
  EXPECT_EQ(Value(*session, "x"), "1");
  const host::Outcome full = Run(*session, "x = 3\ny = [0] * 10**9");
  EXPECT_EQ(full.status, host::Status::kMemoryLimit);
  EXPECT_EQ(Value(*session, "x"), "1") << full.session->note;
}

TEST_F(SessionTest, RollsBack) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  EXPECT_EQ(Value(*session, "x = [1]\nx"), "[1]");
  const auto here = session->Checkpoint("mine");
  ASSERT_TRUE(here) << here.error().ToString();
  EXPECT_EQ(Value(*session, "x.append(2)\nx"), "[1,2]");
  EXPECT_EQ(Value(*session, "x.append(3)\nx"), "[1,2,3]");
  const auto undone = session->Undo();
  ASSERT_TRUE(undone) << undone.error().ToString();
  EXPECT_EQ(Value(*session, "x"), "[1,2]");
  const auto back = session->RollBack(*here);
  ASSERT_TRUE(back) << back.error().ToString();
  EXPECT_EQ(Value(*session, "x"), "[1]");
  const auto unknown = session->RollBack("c99");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().ToString(),
            "find a checkpoint: No such file or directory (ENOENT): there is no \"c99\" in this "
            "session; held are c0, c2, c3, c4, c5, c1");
}

TEST_F(SessionTest, Branches) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  EXPECT_EQ(Value(*session, "import random\nx = [1]\nx"), "[1]");
  auto branches = session->Branch(8);
  ASSERT_TRUE(branches) << branches.error().ToString();
  std::set<std::string> drawn;
  for (size_t i = 0; i < branches->size(); ++i) {
    Session& branch = *(*branches)[i];
    EXPECT_EQ(Value(branch, "x.append(" + std::to_string(i) + ")\nx"),
              "[1," + std::to_string(i) + "]");
    drawn.insert(Value(branch, "random.random()"));
  }
  EXPECT_EQ(drawn.size(), 8u);
  EXPECT_EQ(Value(*session, "x"), "[1]");
}

TEST_F(SessionTest, ManyCells) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  EXPECT_EQ(Value(*session, "x = 0\nx"), "0");
  const auto start = core::Clock::now();
  for (int i = 1; i <= 200; ++i) EXPECT_EQ(Value(*session, "x += 1\nx"), std::to_string(i));
  printf("%.3f ms a cell\n", std::chrono::duration<double, std::milli>(core::Clock::now() - start).count() / 200);
  std::vector<double> times;
  for (int i = 1; i <= 200; ++i) {
    std::this_thread::sleep_for(milliseconds(3));
    const auto begin = core::Clock::now();
    Run(*session, "x += 1");
    times.push_back(std::chrono::duration<double, std::milli>(core::Clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  printf("p50 %.3f ms, min %.3f\n", times[100], times[0]);
  times.clear();
  for (int i = 1; i <= 200; ++i) {
    std::this_thread::sleep_for(milliseconds(3));
    const auto begin = core::Clock::now();
    ASSERT_TRUE(session->Undo());
    times.push_back(std::chrono::duration<double, std::milli>(core::Clock::now() - begin).count());
    Run(*session, "x += 1");
  }
  std::sort(times.begin(), times.end());
  printf("undo p50 %.3f ms, min %.3f\n", times[100], times[0]);
}

}  // namespace
}  // namespace belljar::outside
