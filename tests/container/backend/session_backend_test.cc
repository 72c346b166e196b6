// Sessions in containers, without containers: the real backend, the real belljar-guest, and an
// engine that starts it as a child of the test (child_engine.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include "container/backend/container_backend.h"
#include "container/backend/container_plan.h"
#include "engine/outside/sandbox.h"
#include "tests/container/child_engine.h"
#include "tests/support/support.h"

namespace belljar::container::backend::session_backend_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kNoCheckpoints[] =
    "under child a session cannot be copied, so it has no checkpoints and no branches; open it "
    "without a container, if this machine's own isolation is enough";
constexpr char kEnded[] =
    "the session has ended with this cell: under child a session cannot be copied, so there is no "
    "checkpoint to go on from";

class ContainerSessions : public ::testing::Test {
 protected:
  void SetUp() override { signal(SIGPIPE, SIG_IGN); }

  void Open(const std::string& profile_name = "basic", const std::string& policy = "on",
            size_t max = 4) {
    outside::SandboxOptions sandbox;
    sandbox.profile = tests::ShippedProfile(profile_name);
    ContainerChoice choice{.engine = engine_, .facts = {}, .runtime = "child", .image = {}};
    choice.image.id = "sha256:0123";
    ContainerBackendOptions options;
    options.report = {.engine = "Child Engine", .runtime = "child", .image_digest = "sha256:0123"};
    options.pool.engine = engine_;
    options.pool.terms = GuestTerms::Of(sandbox.profile, "standard", policy);
    options.pool.spec = PlanContainer(choice, sandbox.profile, options.pool.terms, std::nullopt);
    options.pool.instance = "session-backend-test";
    options.pool.spares = 0;
    options.pool.max_containers = max;
    sandbox_ = outside::Sandbox::Over(std::move(sandbox),
                                      tests::Had(ContainerBackend::Start(std::move(options))));
  }

  std::shared_ptr<sessions::Session> OpenSession() {
    sessions::SessionOptions options;
    options.limits = sandbox_->profile().default_limits;
    return tests::Had(sandbox_->OpenSession(options));
  }

  host::Request Cell(const std::string& source) const {
    host::Request request;
    request.source = source;
    request.limits = sandbox_->profile().default_limits;
    request.limits.timeout = seconds(30);
    request.limits.cpu = seconds(30);
    return request;
  }

  host::Outcome Run(sessions::Session& session, const host::Request& request,
                    const run::RunOptions& options = {}) {
    return tests::Had(sandbox_->RunCell(session, request, options));
  }
  host::Outcome Run(sessions::Session& session, const std::string& source) {
    return Run(session, Cell(source));
  }

  bool NoContainers() {
    return tests::Eventually([&] { return engine_->ids().empty(); });
  }

  const std::shared_ptr<tests::ChildEngine> engine_ = std::make_shared<tests::ChildEngine>();
  std::unique_ptr<outside::Sandbox> sandbox_;
};

TEST_F(ContainerSessions, NamesStayAndTheFirstCellSaysWhatAKillCosts) {
  Open();
  const auto session = OpenSession();
  const host::Outcome first = Run(*session, "import math\nx = 41\nprint('one')");
  EXPECT_EQ(first.status, host::Status::kOk);
  EXPECT_EQ(first.stdout_stream.text, "one\n");
  ASSERT_TRUE(first.session);
  EXPECT_EQ(first.session->id, session->id());
  EXPECT_EQ(first.session->cell, 1u);
  EXPECT_EQ(first.session->checkpoint, "");
  EXPECT_EQ(first.session->note,
            "this session has no checkpoints, and a cell that is killed ends it: under child a "
            "session cannot be copied");
  ASSERT_TRUE(first.container);
  EXPECT_EQ(first.container->runtime, "child");

  const host::Outcome second = Run(*session, "math.floor(x + 1.5)");
  EXPECT_EQ(second.result_json, "42");
  EXPECT_EQ(second.stdout_stream.text, "");
  EXPECT_EQ(second.session->cell, 2u);
  EXPECT_EQ(second.session->note, "");
  EXPECT_EQ(Run(*session, "_").result_json, "42");
  EXPECT_EQ(session->info().cells, 3u);
  EXPECT_EQ(engine_->starts(), 1u);
}

TEST_F(ContainerSessions, ErrorsAndRefusalsCostNothing) {
  Open();
  const auto session = OpenSession();
  EXPECT_EQ(Run(*session, "x = 1").status, host::Status::kOk);
  EXPECT_EQ(Run(*session, "1 / 0").error->type, "ZeroDivisionError");
  EXPECT_EQ(Run(*session, "import ctypes").status, host::Status::kRefused);
  EXPECT_EQ(Run(*session, "exit(3)").exit_code, 3);
  EXPECT_EQ(Run(*session, "x").result_json, "1");
}

TEST_F(ContainerSessions, ACellOutOfTimeEndsTheSession) {
  Open();
  const auto session = OpenSession();
  (void)Run(*session, "x = 1");
  host::Request forever = Cell("print('so far', flush=True)\nwhile True: pass");
  forever.limits.timeout = milliseconds(300);
  const host::Outcome outcome = Run(*session, forever);
  EXPECT_EQ(outcome.status, host::Status::kTimeout);
  EXPECT_EQ(outcome.stdout_stream.text, "so far\n");
  ASSERT_TRUE(outcome.session);
  EXPECT_FALSE(outcome.session->restored);
  EXPECT_EQ(outcome.session->note, kEnded);
  EXPECT_THAT(session->closed(), HasSubstr("cell 2 ended it (timeout), and under child a session"));
  const core::Result<host::Outcome> later = sandbox_->RunCell(*session, Cell("x"));
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().error_number, ENOENT);
  EXPECT_THAT(later.error().ToString(), HasSubstr("it is closed: cell 2 ended it (timeout)"));
  EXPECT_TRUE(NoContainers());
}

TEST_F(ContainerSessions, ACellOutOfMemoryOrCpuTimeIsStoppedAtItsOwn) {
  Open();
  for (const bool memory : {true, false}) {
    const auto session = OpenSession();
    (void)Run(*session, "x = 1");
    host::Request request = Cell(memory ? "x = bytearray(4 << 30)" : "while True: pass");
    if (!memory) request.limits.cpu = milliseconds(300);
    const host::Outcome outcome = Run(*session, request);
    EXPECT_EQ(outcome.status, !memory              ? host::Status::kCpuLimit
                              : tests::Sanitized() ? host::Status::kKilled
                                                   : host::Status::kMemoryLimit);
    EXPECT_EQ(outcome.session->note == kEnded, !session->closed().empty());
  }
}

// Each cell has its own, though the process has used more before.
TEST_F(ContainerSessions, CpuTimeIsCountedAnew) {
  Open();
  const auto session = OpenSession();
  host::Request busy = Cell(
      "import time\nend = time.process_time() + 0.3\n"
      "while time.process_time() < end: pass");
  busy.limits.cpu = milliseconds(500);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Run(*session, busy).status, host::Status::kOk) << i;
}

TEST_F(ContainerSessions, OutputIsBoundedAndStreamed) {
  Open();
  const auto session = OpenSession();
  for (int i = 0; i < 2; ++i) {
    std::string seen;
    const run::OutputSink sink{.on_stdout = [&](std::string_view text) { seen += text; },
                               .on_stderr = {}};
    run::RunOptions options;
    options.sink = &sink;
    host::Request request = Cell("print('x' * 100000)");
    request.limits.output = core::Bytes::Kibi(4);
    const host::Outcome outcome = Run(*session, request, options);
    EXPECT_EQ(outcome.status, host::Status::kOk);
    EXPECT_LE(outcome.stdout_stream.text.size(), 4096u);
    EXPECT_GT(outcome.stdout_stream.dropped_bytes, 90000u);
    EXPECT_EQ(seen, outcome.stdout_stream.text);
  }
}

TEST_F(ContainerSessions, AnInterruptIsAKeyboardInterruptAndTheSessionStays) {
  Open();
  const auto session = OpenSession();
  (void)Run(*session, "x = 5");
  EXPECT_FALSE(session->Interrupt());
  std::atomic<bool> begun = false;
  const run::OutputSink sink{.on_stdout = [&](std::string_view) { begun = true; }, .on_stderr = {}};
  run::RunOptions options;
  options.sink = &sink;
  auto running = std::async(std::launch::async, [&] {
    return Run(*session, Cell("x = 6\nprint('begun', flush=True)\nwhile True: pass"), options);
  });
  ASSERT_TRUE(tests::Eventually([&] { return begun.load(); }));
  EXPECT_TRUE(session->Interrupt());
  const host::Outcome outcome = running.get();
  EXPECT_EQ(outcome.status, host::Status::kException);
  EXPECT_EQ(outcome.error->type, "KeyboardInterrupt");
  EXPECT_EQ(Run(*session, "x").result_json, "6");
}

TEST_F(ContainerSessions, ACancelledCellThatGoesOnIsKilledAfterItsGrace) {
  Open();
  const auto session = OpenSession();
  std::atomic<bool> begun = false;
  const run::OutputSink sink{.on_stdout = [&](std::string_view) { begun = true; }, .on_stderr = {}};
  const core::UniqueFd cancel(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  run::RunOptions options;
  options.sink = &sink;
  options.cancel_fd = cancel.get();
  // C code, which runs no handler.
  const host::Request stubborn = Cell("print('begun', flush=True)\nsum(range(10**13))");
  auto running = std::async(std::launch::async, [&] { return Run(*session, stubborn, options); });
  ASSERT_TRUE(tests::Eventually([&] { return begun.load(); }));
  eventfd_write(cancel.get(), 1);
  const host::Outcome outcome = running.get();
  EXPECT_EQ(outcome.status, host::Status::kKilled);
  EXPECT_EQ(outcome.kill_cause, host::KillCause::kCancelled);
  EXPECT_EQ(outcome.session->note, kEnded);
}

TEST_F(ContainerSessions, FunctionsOfTheCallerWorkAndTheirTimeIsNotTheCells) {
  Open();
  const auto session = OpenSession();
  run::RunOptions options;
  const milliseconds limit = std::min<milliseconds>(tests::Within(seconds(1)), seconds(10));
  options.call = [&](std::string_view, std::string_view) {
    std::this_thread::sleep_for(limit);  // sleeps: two calls take twice the cell's time
    return std::string(R"({"value": 20})");
  };
  host::Request request = Cell("ask() + ask()");
  request.functions = {"ask"};
  request.limits.timeout = limit;
  EXPECT_EQ(Run(*session, request, options).result_json, "40");
  // Its caller has not given it here.
  const host::Outcome without = Run(*session, "ask()");
  EXPECT_EQ(without.error->type, "RuntimeError");
  // One that is cancelled while it runs.
  options.call = [](std::string_view, std::string_view) { return std::string(); };
  EXPECT_EQ(Run(*session, request, options).error->type, "KeyboardInterrupt");
  EXPECT_EQ(Run(*session, "1 + 1").result_json, "2");
}

TEST_F(ContainerSessions, QuestionsAreAnswered) {
  Open();
  const auto session = OpenSession();
  (void)Run(*session, "number = 42\nname = 'x'");
  const std::string variables = tests::Had(session->Ask({}));
  EXPECT_THAT(variables, HasSubstr("\"number\""));
  const std::string completed =
      tests::Had(session->Ask({run::Question::Kind::kComplete, "numb", 4}));
  EXPECT_THAT(completed, HasSubstr("number"));
  EXPECT_TRUE(session->Ask({run::Question::Kind::kInspect, "number", 3}));
  EXPECT_EQ(Run(*session, "number").result_json, "42");
}

TEST_F(ContainerSessions, FilesStayAndCanBeReachedBetweenCells) {
  Open("filesystem");
  const auto session = OpenSession();
  host::Request request = Cell("open('made.txt', 'w').write(open('given.txt').read() * 2)");
  request.files = {{"given.txt", "ab"}};
  const host::Outcome made = Run(*session, request);
  ASSERT_EQ(made.status, host::Status::kOk) << made.error->message;
  ASSERT_THAT(made.artifacts, SizeIs(1));
  EXPECT_EQ(made.artifacts[0].name, "made.txt");
  EXPECT_EQ(made.artifacts[0].content, "abab");
  // What has not changed is not in the next outcome.
  EXPECT_THAT(Run(*session, "open('made.txt').read()").artifacts, IsEmpty());

  std::vector<std::string> paths;
  for (const sessions::SessionFile& file : tests::Had(session->Files())) paths.push_back(file.path);
  EXPECT_THAT(paths, ElementsAre("given.txt", "made.txt"));
  EXPECT_EQ(tests::Had(session->ReadFile("made.txt")), "abab");
  const core::Result<std::string> missing = session->ReadFile("missing.txt");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().error_number, ENOENT);
  EXPECT_EQ(missing.error().detail, "the session has no such file");
  ASSERT_TRUE(session->WriteFiles({{"sub/new.txt", "fresh"}, {"made.txt", "again"}}));
  EXPECT_EQ(Run(*session, "open('sub/new.txt').read() + open('made.txt').read()").result_json,
            "\"freshagain\"");
  ASSERT_TRUE(session->RemoveFile("given.txt"));
  EXPECT_FALSE(session->RemoveFile("../outside"));
  EXPECT_EQ(Run(*session, "open('given.txt')").error->type, "FileNotFoundError");
}

TEST_F(ContainerSessions, WhatItCannotIsOneSentence) {
  Open();
  const auto session = OpenSession();
  const auto other = OpenSession();
  std::vector<std::string> said;
  const auto note = [&](const auto& result) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().error_number, 0);
    said.push_back(result.error().detail);
  };
  note(session->Checkpoint("kept"));
  note(session->RollBack("c1"));
  note(session->Undo());
  note(session->Branch(2));
  note(session->Compare(*other));
  note(session->Compare("c1"));
  EXPECT_THAT(said, testing::Each(kNoCheckpoints));
  EXPECT_THAT(said, SizeIs(6));
  EXPECT_THAT(session->Checkpoints(), IsEmpty());
  EXPECT_FALSE(session->Files());  // of a profile without a workspace
}

TEST_F(ContainerSessions, ClosingRemovesTheContainerAlsoDuringACell) {
  Open();
  const auto idle = OpenSession();
  const auto busy = OpenSession();
  EXPECT_THAT(engine_->ids(), SizeIs(2));
  std::atomic<bool> begun = false;
  const run::OutputSink sink{.on_stdout = [&](std::string_view) { begun = true; }, .on_stderr = {}};
  run::RunOptions options;
  options.sink = &sink;
  auto running = std::async(std::launch::async, [&] {
    return sandbox_->RunCell(*busy, Cell("print(1, flush=True)\nwhile True: pass"), options);
  });
  ASSERT_TRUE(tests::Eventually([&] { return begun.load(); }));
  idle->Close("no longer needed");
  busy->Close("enough");
  const core::Result<host::Outcome> outcome = running.get();
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().ToString(), HasSubstr("it is closed: enough"));
  EXPECT_TRUE(NoContainers());
  EXPECT_FALSE(idle->Interrupt());
}

TEST_F(ContainerSessions, TheSandboxClosesItsSessions) {
  Open();
  const auto session = OpenSession();
  sandbox_.reset();
  EXPECT_EQ(session->closed(), "its sandbox was closed");
  EXPECT_THAT(engine_->ids(), IsEmpty());
}

TEST_F(ContainerSessions, AContainerThatIsKilledEndsItsSessionAlone) {
  Open();
  const auto session = OpenSession();
  const auto other = OpenSession();
  (void)Run(*session, "x = 1");
  (void)Run(*other, "x = 2");
  ASSERT_TRUE(engine_->Kill(engine_->ids().at(0)));
  ASSERT_TRUE(engine_->Wait(engine_->ids().at(0), seconds(10)));
  int alive = 0;
  for (const auto& each : {session, other}) {
    const core::Result<host::Outcome> outcome = sandbox_->RunCell(*each, Cell("x"));
    alive += outcome && outcome->status == host::Status::kOk ? 1 : 0;
    EXPECT_EQ(each->closed().empty(), outcome.ok());
    if (outcome) continue;
    EXPECT_THAT(each->closed(), HasSubstr("its container has ended"));
  }
  EXPECT_EQ(alive, 1);
}

TEST_F(ContainerSessions, NothingOfOneSessionIsInAnother) {
  Open();
  const auto session = OpenSession();
  (void)Run(*session, "secret = 1");
  session->Close("over");
  const auto next = OpenSession();
  EXPECT_EQ(Run(*next, "secret").error->type, "NameError");
  EXPECT_EQ(engine_->starts(), 2u);
}

TEST_F(ContainerSessions, RunsGoOnBesideThem) {
  Open("basic", "on", 2);
  const auto session = OpenSession();
  (void)Run(*session, "x = 1");
  EXPECT_EQ(tests::Had(sandbox_->Run(Cell("6 * 7"))).result_json, "42");
  EXPECT_EQ(Run(*session, "x").result_json, "1");
}

TEST_F(ContainerSessions, OneThatIsTooManyWaitsAsLongAsItMay) {
  Open("basic", "on", 1);
  const auto session = OpenSession();
  run::RunOptions run;
  run.queue_timeout = milliseconds(300);
  sessions::SessionOptions options;
  options.limits = sandbox_->profile().default_limits;
  const auto second = sandbox_->OpenSession(options, run);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().error_number, ETIMEDOUT);
  EXPECT_THAT(second.error().ToString(), HasSubstr("all 1 allowed containers are in use"));
}

TEST_F(ContainerSessions, AProcessThatEndsItselfIsTheEnd) {
  Open("basic", "off");
  const auto session = OpenSession();
  (void)Run(*session, "x = 1");
  const host::Outcome outcome = Run(*session, "import os\nos._exit(7)");
  EXPECT_EQ(outcome.status, host::Status::kKilled);
  EXPECT_EQ(outcome.kill_cause, host::KillCause::kExit);
  EXPECT_EQ(outcome.session->note, kEnded);
  EXPECT_TRUE(NoContainers());
}

}  // namespace
}  // namespace belljar::container::backend::session_backend_test
