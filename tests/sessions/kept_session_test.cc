// Sessions of this machine without checkpoints: where it has no namespaces, and in a sandbox for a
// single run. What they share with those in containers is in
// container/backend/session_backend_test.cc.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "engine/outside/sandbox.h"
#include "tests/support/support.h"

namespace belljar::sessions::kept_session_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class KeptSessions : public ::testing::Test {
 protected:
  void Open(const std::function<void(outside::SandboxOptions&)>& change = {}) {
    outside::SandboxOptions options;
    options.profile = tests::BasicProfile();
    options.isolation = outside::IsolationMode::kStandard;
    options.without_layers = {"namespaces"};
    options.spares = 1;
    if (change) change(options);
    sandbox_ = tests::Open(std::move(options));
  }

  std::shared_ptr<Session> OpenSession() {
    SessionOptions options;
    options.limits = sandbox_->profile().default_limits;
    return tests::Had(sandbox_->OpenSession(options));
  }

  host::Outcome Run(Session& session, const std::string& source,
                    milliseconds timeout = seconds(30)) {
    host::Request request = tests::MakeRequest(source);
    request.limits = sandbox_->profile().default_limits;
    request.limits.timeout = timeout;
    return tests::Had(sandbox_->RunCell(session, request));
  }

  std::unique_ptr<outside::Sandbox> sandbox_;
};

TEST_F(KeptSessions, NamesStayWithoutNamespacesAndAKillIsTheEnd) {
  Open();
  const auto session = OpenSession();
  const host::Outcome first = Run(*session, "x = 41");
  EXPECT_EQ(first.status, host::Status::kOk);
  EXPECT_EQ(first.session->note,
            "this session has no checkpoints, and a cell that is killed ends it: without "
            "namespaces a session cannot be copied");
  EXPECT_EQ(Run(*session, "x + 1").result_json, "42");
  EXPECT_EQ(session->processes().size(), 1u);
  // Only root sees that of a process that cannot be traced and is in no user namespace of ours.
  if (geteuid() == 0) {
    EXPECT_GT(session->info().memory_bytes, 1u << 20);
  }
  const host::Outcome stopped = Run(*session, "while True: pass", milliseconds(200));
  EXPECT_EQ(stopped.status, host::Status::kTimeout);
  EXPECT_EQ(stopped.session->note,
            "the session has ended with this cell: without namespaces a session cannot be copied, "
            "so there is no checkpoint to go on from");
  EXPECT_TRUE(session->closed().starts_with("cell 3 ended it (timeout)")) << session->closed();
  EXPECT_TRUE(session->processes().empty());
}

// Every cell has the seal of a run.
TEST_F(KeptSessions, TheSealIsThatOfARun) {
  Open();
  host::Request request = tests::MakeRequest("1");
  request.limits = sandbox_->profile().default_limits;
  const host::Outcome run = tests::Had(sandbox_->Run(request));
  const auto session = OpenSession();
  for (int i = 0; i < 2; ++i) {
    const host::Outcome cell = Run(*session, "1");
    EXPECT_EQ(cell.isolation, run.isolation);
  }
}

TEST_F(KeptSessions, CheckpointsAreRefusedWithTheReason) {
  Open();
  const auto session = OpenSession();
  const core::Result<std::string> checkpoint = session->Checkpoint();
  ASSERT_FALSE(checkpoint);
  EXPECT_EQ(checkpoint.error().detail,
            "without namespaces a session cannot be copied, so it has no checkpoints and no "
            "branches; \"belljar doctor\" shows what this machine lacks");
}

TEST_F(KeptSessions, ASandboxForASingleRunCanHaveOneInstead) {
  Open([](outside::SandboxOptions& options) {
    options.without_layers.clear();
    options.single_run = true;
  });
  const auto session = OpenSession();
  EXPECT_EQ(Run(*session, "x = 1\nx").result_json, "1");
  EXPECT_EQ(Run(*session, "x + 1").result_json, "2");
  SessionOptions options;
  options.limits = sandbox_->profile().default_limits;
  EXPECT_FALSE(sandbox_->OpenSession(options));
}

TEST_F(KeptSessions, LimitsOfTheSessionAreThoseOfItsProcess) {
  Open();
  SessionOptions options;
  options.limits = sandbox_->profile().default_limits;
  options.limits.memory = core::Bytes::Mebi(64);
  const auto session = tests::Had(sandbox_->OpenSession(options));
  EXPECT_EQ(Run(*session, "len(bytearray(16 << 20))").status, host::Status::kOk);
  const host::Outcome outcome = Run(*session, "x = bytearray(100 << 20)");
  EXPECT_EQ(outcome.status,
            tests::Sanitized() ? host::Status::kKilled : host::Status::kMemoryLimit);
}

TEST_F(KeptSessions, OneThatWaitsDoesNotRun) {
  Open([](outside::SandboxOptions& options) { options.policy = outside::Policy::kOff; });
  const auto session = OpenSession();
  (void)Run(*session,
            "import threading, time\ncount = 0\n"
            "def work():\n    global count\n    while True: count += 1\n"
            "threading.Thread(target=work, daemon=True).start()");
  const std::string before = *Run(*session, "count").result_json;
  std::this_thread::sleep_for(milliseconds(300));  // sleeps: it would count on
  const auto counted = [](const std::string& text) { return std::stod(text); };
  const std::string after = *Run(*session, "count").result_json;
  EXPECT_LT(counted(after) - counted(before), 3e6);
}

TEST_F(KeptSessions, CallersWaitForTheirTurn) {
  Open();
  const auto session = OpenSession();
  host::Request request = tests::MakeRequest("ask()");
  request.limits = sandbox_->profile().default_limits;
  request.functions = {"ask"};
  std::promise<void> asked, answer;
  run::RunOptions asking;
  asking.call = [&](std::string_view, std::string_view) {
    asked.set_value();
    answer.get_future().wait();
    return std::string(R"({"value":2})");
  };
  auto running = std::async(std::launch::async, [&, first = request] {
    return tests::Had(sandbox_->RunCell(*session, first, asking));
  });
  asked.get_future().wait();
  request = tests::MakeRequest("1");
  request.limits = sandbox_->profile().default_limits;
  const auto busy = sandbox_->RunCell(*session, request, {}, {.waits = false});
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().error_number, EBUSY);
  auto waiting = std::async(std::launch::async,
                            [&] { return tests::Had(sandbox_->RunCell(*session, request)); });
  EXPECT_NE(waiting.wait_for(milliseconds(100)), std::future_status::ready);
  answer.set_value();
  EXPECT_EQ(running.get().result_json, "2");
  EXPECT_EQ(waiting.get().result_json, "1");
}

TEST_F(KeptSessions, TheSandboxClosesThem) {
  Open();
  const auto session = OpenSession();
  sandbox_.reset();
  EXPECT_EQ(session->closed(), "its sandbox was closed");
}

TEST(OpenedSessions, TheEndWaitsForTheLastUse) {
  const auto opened = std::make_shared<OpenedSessions>();
  std::optional<OpenedSessions::Use> use = opened->BeginUse();
  ASSERT_TRUE(use);
  std::atomic<bool> has_ended = false;
  std::thread ends([&] {
    opened->CloseAll();
    has_ended = true;
  });
  while (opened->BeginUse()) std::this_thread::yield();
  EXPECT_FALSE(has_ended);
  use.reset();
  ends.join();
  EXPECT_FALSE(opened->BeginUse());
}

}  // namespace
}  // namespace belljar::sessions::kept_session_test
