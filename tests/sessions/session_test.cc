// Sessions: cells, checkpoints, roll-back, branches.
#include "engine/sessions/session.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <latch>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/outside/probe.h"
#include "tests/support/support.h"

namespace belljar::sessions::session_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

size_t Descendants() {
  const std::vector<tests::ProcessEntry> all = tests::Processes();
  std::set<pid_t> ours{getpid()};
  for (bool found = true; found;) {
    found = false;
    for (const tests::ProcessEntry& each : all) {
      if (ours.contains(each.parent)) found |= ours.insert(each.pid).second;
    }
  }
  return ours.size() - 1;
}

class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!outside::ProbeNamespaces()) BELLJAR_SKIP_OR_FAIL("needs user namespaces");
    outside::SandboxOptions options;
    options.profile = tests::BasicProfile();
    options.spares = 1;
    sandbox_ = tests::Open(std::move(options));
    ASSERT_TRUE(sandbox_);
  }

  std::shared_ptr<Session> OpenSession(SessionOptions options = {}) {
    options.limits = sandbox_->profile().default_limits;
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

  std::unique_ptr<outside::Sandbox> sandbox_;
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
  EXPECT_EQ(full.status, tests::Sanitized() ? host::Status::kKilled : host::Status::kMemoryLimit);
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
            "session; held are c0, c3, c2, c4, c1, c5");
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

TEST_F(SessionTest, AnInterruptedCellKeepsTheSession) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  EXPECT_EQ(Value(*session, "x = 1\nx"), "1");
  std::thread interrupter(
      [&] { EXPECT_TRUE(tests::Eventually([&] { return session->Interrupt(); })); });
  const host::Outcome interrupted = Run(*session, "x = 2\nwhile True: pass");
  interrupter.join();
  EXPECT_EQ(interrupted.status, host::Status::kException);
  ASSERT_TRUE(interrupted.error);
  EXPECT_EQ(interrupted.error->type, "KeyboardInterrupt");
  EXPECT_FALSE(interrupted.session->restored);
  EXPECT_EQ(Value(*session, "x"), "2");
}

TEST_F(SessionTest, ACellThatIgnoresTheInterruptIsKilled) {
  outside::SandboxOptions options = tests::FullPython();
  options.spares = 1;
  sandbox_ = tests::Open(std::move(options));
  ASSERT_TRUE(sandbox_);
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  EXPECT_EQ(Value(*session, "x = 1\nx"), "1");
  std::promise<void> ignores;
  run::OutputSink sink;
  sink.on_stdout = [&](std::string_view) { ignores.set_value(); };
  run::RunOptions showing;
  showing.sink = &sink;
  std::thread interrupter([&] {
    ignores.get_future().wait();
    EXPECT_TRUE(session->Interrupt());
  });
  const host::Outcome killed = tests::Had(sandbox_->RunCell(
      *session,
      tests::MakeRequest("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nx = 2\n"
                         "print('ignores', flush=True)\nwhile True: pass"),
      showing));
  interrupter.join();
  EXPECT_EQ(killed.status, host::Status::kKilled);
  EXPECT_EQ(killed.kill_cause, host::KillCause::kCancelled);
  EXPECT_TRUE(killed.session->restored);
  EXPECT_EQ(Value(*session, "x"), "1");
}

TEST_F(SessionTest, AnswersQuestions) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  Run(*session, "import math\nnumbers = [1, 2]");
  const auto completed = session->Ask({run::Question::Kind::kComplete, "math.sq", std::nullopt});
  ASSERT_TRUE(completed) << completed.error().ToString();
  EXPECT_NE(completed->find("\"sqrt\""), std::string::npos) << *completed;
  const auto variables = session->Ask({});
  ASSERT_TRUE(variables) << variables.error().ToString();
  EXPECT_NE(variables->find("numbers"), std::string::npos) << *variables;
  EXPECT_EQ(Run(*session, "1").session->cell, 2u);
}

TEST_F(SessionTest, Compares) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  Run(*session, "a, b, c = 1, [2], 'gone'");
  const auto branches = session->Branch(1);
  ASSERT_TRUE(branches) << branches.error().ToString();
  Run(*(*branches)[0], "b.append(3)\nd = None\ndel c");
  const auto difference = session->Compare(*(*branches)[0]);
  ASSERT_TRUE(difference) << difference.error().ToString();
  std::string changes;
  for (const VariableChange& each : difference->variables) {
    changes += each.name + " " + std::to_string(static_cast<int>(each.kind)) + " " +
               each.repr_before + " " + each.repr_after + "\n";
  }
  EXPECT_EQ(changes, "b 1 [2] [2, 3]\nc 2 'gone' \nd 0  None\n");
}

TEST_F(SessionTest, ARestingOneGoesOn) {
  const auto session = OpenSession({.rest_after = milliseconds(50)});
  ASSERT_TRUE(session);
  EXPECT_EQ(Value(*session, "x = [1]\nx"), "[1]");
  // Its init, and a checkpoint before and after the cell.
  ASSERT_TRUE(tests::Eventually([&] { return session->processes().size() == 3; }))
      << session->processes().size();
  const host::Outcome next = Run(*session, "x.append(2)\nx");
  EXPECT_EQ(next.result_json, "[1,2]");
  EXPECT_EQ(next.session->note, "");
  EXPECT_EQ(next.session->checkpoint, "c1");
  ASSERT_TRUE(tests::Eventually([&] { return session->processes().size() == 4; }));
  ASSERT_TRUE(session->Undo());
  EXPECT_EQ(Value(*session, "x"), "[1]");
  ASSERT_TRUE(tests::Eventually([&] { return session->processes().size() == 5; }));
  ASSERT_TRUE(session->Branch(2));
  EXPECT_EQ(Value(*session, "x"), "[1]");
}

TEST_F(SessionTest, NoCheckpointWhileThreadsRun) {
  outside::SandboxOptions options = tests::FullPython();
  options.spares = 1;
  sandbox_ = tests::Open(std::move(options));
  ASSERT_TRUE(sandbox_);
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  EXPECT_EQ(Run(*session, "x = 1").status, host::Status::kOk);
  const host::Outcome started = Run(*session,
                                    "import threading\nstop = threading.Event()\n"
                                    "thread = threading.Thread(target=stop.wait)\nthread.start()");
  EXPECT_EQ(started.status, host::Status::kOk) << started.error->message;
  const host::Outcome next = Run(*session, "x += 1\nx");
  EXPECT_EQ(next.result_json, "2");
  EXPECT_EQ(
      next.session->note,
      "there is no checkpoint of the state before this cell: create a checkpoint: a thread of "
      "an earlier cell still runs");
  EXPECT_FALSE(session->Branch(1));
  const host::Outcome killed = Run(*session, "while True: pass", milliseconds(200));
  EXPECT_TRUE(killed.session->restored);
  EXPECT_NE(killed.session->note.find("the session goes on from checkpoint c1, after cell 1"),
            std::string::npos)
      << killed.session->note;
  EXPECT_EQ(Value(*session, "x"), "1");
}

TEST_F(SessionTest, ACellThatWaitsForItsCallerUsesNoTime) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  const milliseconds limit = tests::Within(milliseconds(500));
  host::Request request = tests::MakeRequest("ask()", limit);
  request.functions = {"ask"};
  run::RunOptions options;
  options.call = [&](std::string_view, std::string_view) {
    std::this_thread::sleep_for(2 * limit);  // sleeps: the limit would pass meanwhile
    return std::string(R"({"value": 7})");
  };
  const auto outcome = sandbox_->RunCell(*session, request, options);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->result_json, "7");
  EXPECT_LT(outcome->usage.wall_time, limit);
}

TEST_F(SessionTest, ACellThatIsInterruptedInACallGoesOn) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  host::Request request = tests::MakeRequest("x = 1\nask()");
  request.functions = {"ask"};
  run::RunOptions options;
  options.call = [](std::string_view, std::string_view) { return std::string(); };
  const auto outcome = sandbox_->RunCell(*session, request, options);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  ASSERT_TRUE(outcome->error);
  EXPECT_EQ(outcome->error->type, "KeyboardInterrupt");
  EXPECT_EQ(Value(*session, "x"), "1");
}

TEST_F(SessionTest, ClosedOnesSaySo) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  session->Close("you asked for it");
  const auto outcome = session->Run(tests::MakeRequest("1"));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().ToString(),
            "use a session: No such file or directory (ENOENT): it is "
            "closed: you asked for it");
  const auto other = OpenSession();
  sandbox_.reset();
  EXPECT_EQ(other->closed(), "its sandbox was closed");
}

TEST_F(SessionTest, NothingIsLeft) {
  // From here on there is a spare for the next session.
  ASSERT_TRUE(OpenSession());
  ASSERT_TRUE(tests::WaitForSpares(*sandbox_, 1));
  // The zygote, a worker, and a session's two.
  ASSERT_TRUE(tests::Eventually([] { return Descendants() == 4; })) << Descendants();
  // Those of the session that has just been closed go a little later.
  size_t open = 0;
  ASSERT_TRUE(tests::Eventually([&] {
    open = tests::OpenDescriptors();
    std::this_thread::sleep_for(milliseconds(500));  // sleeps: whether it stays so
    return open == tests::OpenDescriptors();
  }));
  {
    const auto session = OpenSession();
    ASSERT_TRUE(session);
    Run(*session, "x = 1");
    const auto branches = session->Branch(4);
    ASSERT_TRUE(branches) << branches.error().ToString();
    for (const auto& branch : *branches) Run(*branch, "x += 1");
    ASSERT_TRUE(session->Undo());
  }
  EXPECT_TRUE(tests::Eventually([] { return Descendants() == 4; })) << Descendants();
  EXPECT_TRUE(tests::Eventually([&] { return tests::OpenDescriptors() == open; }))
      << tests::OpenDescriptors() << " instead of " << open;
}

class SessionFilesTest : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    if (!sandbox_) return;
    outside::SandboxOptions options;
    options.profile = tests::ShippedProfile("filesystem");
    options.spares = 1;
    sandbox_ = tests::Open(std::move(options));
    ASSERT_TRUE(sandbox_);
  }

  static constexpr char kRead[] = "open('a.txt').read()";
  static std::string Write(const std::string& text) {
    return "with open('a.txt', 'w') as f: f.write('" + text + "')";
  }
};

TEST_F(SessionFilesTest, FilesBelongToTheState) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  const host::Outcome first = Run(*session, Write("one"));
  ASSERT_EQ(first.status, host::Status::kOk) << (first.error ? first.error->message : "");
  ASSERT_EQ(first.artifacts.size(), 1u);
  EXPECT_EQ(first.artifacts[0].name, "a.txt");
  EXPECT_EQ(first.artifacts[0].content, "one");
  const host::Outcome second = Run(*session, "with open('b.txt', 'w') as f: f.write('b')");
  ASSERT_EQ(second.artifacts.size(), 1u);
  EXPECT_EQ(second.artifacts[0].name, "b.txt");
  EXPECT_EQ(second.session->note, "");
  Run(*session, Write("two"));
  EXPECT_EQ(Value(*session, kRead), "\"two\"");
  ASSERT_TRUE(session->Undo(2));
  EXPECT_EQ(Value(*session, kRead), "\"one\"");
  const host::Outcome stopped =
      Run(*session, Write("three") + "\nwhile True: pass", milliseconds(300));
  EXPECT_TRUE(stopped.session->restored);
  EXPECT_EQ(Value(*session, kRead), "\"one\"");
}

TEST_F(SessionFilesTest, BranchesHaveTheirOwn) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  Run(*session, Write("one"));
  const auto branches = session->Branch(2);
  ASSERT_TRUE(branches) << branches.error().ToString();
  Run(*(*branches)[0], Write("left"));
  Run(*(*branches)[1], Write("right"));
  EXPECT_EQ(Value(*session, kRead), "\"one\"");
  EXPECT_EQ(Value(*(*branches)[0], kRead), "\"left\"");
  EXPECT_EQ(Value(*(*branches)[1], kRead), "\"right\"");
  const auto difference = session->Compare(*(*branches)[0]);
  ASSERT_TRUE(difference) << difference.error().ToString();
  EXPECT_EQ(difference->files.changed, std::vector<std::string>{"a.txt"});
}

TEST_F(SessionFilesTest, TheCallerReadsAndWritesThem) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->WriteFiles({{"a.txt", "mine"}, {"data/b.txt", "b"}}));
  EXPECT_EQ(Value(*session, kRead), "\"mine\"");
  Run(*session, Write("theirs"));
  const auto read = session->ReadFile("a.txt");
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(*read, "theirs");
  const auto removed = session->RemoveFile("a.txt");
  ASSERT_TRUE(removed) << removed.error().ToString();
  EXPECT_EQ(Run(*session, kRead).error->type, "FileNotFoundError");
  ASSERT_TRUE(session->Undo(3));
  EXPECT_EQ(Value(*session, kRead), "\"mine\"");
  const auto files = session->Files();
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ((*files)[1].path, "data/b.txt");
  EXPECT_EQ(session->ReadFile("none").error().ToString(),
            "read file \"none\": No such file or directory (ENOENT): the session has no such file");
}

TEST_F(SessionFilesTest, AnOpenFileGoesOn) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  EXPECT_EQ(Value(*session, "f = open('a.txt', 'w')\nf.write('one')\nf.flush()\n1"), "1");
  EXPECT_EQ(Value(*session, "f.write(' two')\nf.flush()\n1"), "1");
  ASSERT_TRUE(session->Undo());
  EXPECT_EQ(Value(*session, "f.write(' three')\nf.flush()\nopen('a.txt').read()"), "\"one three\"");
}

// Sessions are dropped and closed on threads that know nothing of the end of their sandbox.
// Under ThreadSanitizer.
TEST_F(SessionTest, SessionsMayGoWhileTheirSandboxEnds) {
  constexpr int kRounds = 5;
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) SetUp();
    ASSERT_TRUE(sandbox_);
    std::vector<std::shared_ptr<Session>> dropped, closed;
    for (int i = 0; i < 8; ++i) {
      const auto session = OpenSession();
      ASSERT_TRUE(session);
      // Until nobody else keeps it.
      ASSERT_TRUE(tests::Eventually([&] { return !session->info().is_busy; }));
      (i % 2 == 0 ? dropped : closed).push_back(session);
    }
    std::latch both(2);
    std::thread other([&] {
      both.arrive_and_wait();
      for (size_t i = 0; i < dropped.size(); ++i) {
        dropped[i].reset();
        closed[i]->Close("it is not needed any more");
      }
    });
    both.arrive_and_wait();
    sandbox_.reset();
    other.join();
  }
  EXPECT_TRUE(tests::Eventually([] { return Descendants() == 0; })) << Descendants();
}

}  // namespace
}  // namespace belljar::sessions::session_test
