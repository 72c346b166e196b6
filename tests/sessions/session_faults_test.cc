// Faults on purpose, of sessions: the worker, the checkpoints, the init, the zygote and the
// machine's resources fail at each step. Each caller gets an outcome, or an error that is true; a
// cell works where a checkpoint lives; and nothing is left behind.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "tests/support/session_support.h"

namespace belljar::sessions::session_faults_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using tests::Describe;
using tests::MembersOf;
using tests::NoteOf;

class SessionFaults : public tests::SessionsTest {
 protected:
  void SetUp() override {
    SessionsTest::SetUp();
    if (!sandbox_) return;
    // From here on, what one session needs is there: the zygote, the thread for later.
    ASSERT_TRUE(OpenSession());
    ASSERT_TRUE(tests::Eventually([] { return tests::Descendants().size() == kZygote; }))
        << Describe(tests::Descendants());
    AwaitQuiet();
    descriptors_ = tests::OpenDescriptors();
    mounts_ = tests::Mounts();
    regions_ = tests::MappingsNamed("belljar");
  }

  void TearDown() override {
    if (!sandbox_ || IsSkipped()) return;
    EXPECT_TRUE(tests::Eventually([] { return tests::Descendants().size() == kZygote; }))
        << Describe(tests::Descendants());
    EXPECT_TRUE(tests::Eventually([&] { return tests::OpenDescriptors() == descriptors_; }))
        << tests::OpenDescriptors() << " instead of " << descriptors_;
    EXPECT_EQ(tests::Mounts(), mounts_);
    EXPECT_TRUE(tests::Eventually([&] { return tests::MappingsNamed("belljar") == regions_; }));
  }

  // Until nothing has been closed for a while: its last descriptors go after its processes.
  static void AwaitQuiet() {
    size_t before = 0;
    int same = 0;
    (void)tests::Eventually([&] {
      const size_t now = tests::OpenDescriptors() + tests::Descendants().size();
      same = std::exchange(before, now) == now ? same + 1 : 0;
      std::this_thread::sleep_for(milliseconds(50));  // sleeps: whether it stays so
      return same == 4;
    });
  }

  // A checkpoint is a process that was cloned after the worker, unless there was a roll-back: then
  // the last one is the worker.
  std::vector<pid_t> Members(const Session& session) const {
    std::vector<pid_t> members = MembersOf(InitOf(session));
    std::sort(members.begin(), members.end());
    return members;
  }
  pid_t FirstWorker(const Session& session) const { return Members(session).front(); }
  std::vector<pid_t> CheckpointsOf(const Session& session) const {
    std::vector<pid_t> members = Members(session);
    members.erase(members.begin());
    return members;
  }

  static void KillAndAwait(const std::vector<pid_t>& victims) {
    for (const pid_t each : victims) {
      ASSERT_GT(each, 1);
      kill(each, SIGKILL);
    }
    for (const pid_t each : victims) {
      EXPECT_TRUE(tests::Eventually([&] { return !tests::IsAlive(each); })) << each;
    }
  }
  static void KillAndAwait(pid_t victim) { KillAndAwait(std::vector<pid_t>{victim}); }

  // x is 1 after the first cell, checkpoint c1, and 2 after the second, c2.
  std::shared_ptr<Session> OpenWithTwoCells(size_t checkpoints = 16) {
    auto session = OpenSession(checkpoints);
    if (!session) return session;
    EXPECT_EQ(Value(*session, "x = 1\nx"), "1");
    AwaitIdle(*session);
    EXPECT_EQ(Value(*session, "x = 2\nx"), "2");
    AwaitIdle(*session);
    EXPECT_EQ(CheckpointsOf(*session).size(), std::min<size_t>(checkpoints, 3));
    return session;
  }

  // All that is left where there are no spares and no sessions.
  static constexpr size_t kZygote = 1;

  static std::string Seen(const core::Result<host::Outcome>& outcome) {
    if (!outcome) return outcome.error().ToString();
    return host::OutcomeToJson(*outcome);
  }

  // While a cell runs that has printed.
  core::Result<host::Outcome> RunAnd(Session& session, const std::string& source,
                                     const std::function<void()>& act) {
    run::OutputSink sink;
    bool done = false;
    sink.on_stdout = [&](std::string_view) {
      if (!std::exchange(done, true)) act();
    };
    run::RunOptions options;
    options.sink = &sink;
    return sandbox_->RunCell(session, Cell("print('begun', flush=True)\n" + source), options);
  }

 private:
  size_t descriptors_ = 0;
  size_t mounts_ = 0;
  size_t regions_ = 0;
};

constexpr char kSleep[] = "x = 'lost'\n" BELLJAR_UNTIL_KILLED;

// --- the worker
// -----------------------------------------------------------------------------------------

TEST_F(SessionFaults, WorkerKilledBetweenCells) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  KillAndAwait(FirstWorker(*session));
  const host::Outcome next = Run(*session, "x");
  EXPECT_EQ(next.result_json, "2") << host::OutcomeToJson(next, 1);
  EXPECT_EQ(NoteOf(next), "") << "nothing was lost";
  EXPECT_FALSE(next.session->restored);
}

TEST_F(SessionFaults, WorkerKilledDuringACell) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  const auto killed = RunAnd(*session, kSleep, [&] { KillAndAwait(FirstWorker(*session)); });
  ASSERT_TRUE(killed) << killed.error().ToString();
  EXPECT_EQ(killed->status, host::Status::kKilled);
  EXPECT_EQ(killed->kill_cause, host::KillCause::kSigkill);
  EXPECT_EQ(killed->stdout_stream.text, "begun\n");
  EXPECT_TRUE(killed->session->restored);
  EXPECT_EQ(killed->session->checkpoint, "c2");
  EXPECT_EQ(Value(*session, "x"), "2");
}

TEST_F(SessionFaults, WorkerKilledBeforeEachOtherCall) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  KillAndAwait(FirstWorker(*session));
  const auto checkpoint = session->Checkpoint();
  ASSERT_TRUE(checkpoint) << checkpoint.error().ToString();
  EXPECT_EQ(*checkpoint, "c2");
  const auto branches = session->Branch(2);
  ASSERT_TRUE(branches) << branches.error().ToString();
  EXPECT_EQ(Value(*(*branches)[1], "x"), "2");
  const auto variables = session->Ask({});
  ASSERT_TRUE(variables) << variables.error().ToString();
  EXPECT_EQ(Value(*session, "x"), "2");
  const auto compared = session->Compare(*(*branches)[1]);
  EXPECT_TRUE(compared) << compared.error().ToString();
  ASSERT_TRUE(session->RollBack("c1"));
  EXPECT_EQ(Value(*session, "x"), "1");
}

// Checkpoint, branch and roll-back need no worker; what they return must be true all the same.
TEST_F(SessionFaults, WorkerKilledThenRolledBack) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  KillAndAwait(FirstWorker(*session));
  ASSERT_TRUE(session->RollBack("c1"));
  EXPECT_EQ(Value(*session, "x"), "1");
}

TEST_F(SessionFaults, WorkerStoppedByAnOperatorIsEndedByTheClock) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  run::OutputSink sink;
  sink.on_stdout = [&](std::string_view) { kill(FirstWorker(*session), SIGSTOP); };
  run::RunOptions options;
  options.sink = &sink;
  const auto outcome = sandbox_->RunCell(
      *session, Cell("print('begun', flush=True)\nwhile True: pass", milliseconds(400)), options);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kTimeout);
  EXPECT_TRUE(outcome->session->restored);
  EXPECT_EQ(Value(*session, "x"), "2");
}

TEST_F(SessionFaults, WorkerContinuedByAnOperatorIsNoHarm) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  for (const pid_t each : Members(*session)) kill(each, SIGCONT);
  EXPECT_EQ(Value(*session, "x += 1\nx"), "3");
  ASSERT_TRUE(session->Undo());
  EXPECT_EQ(Value(*session, "x"), "2");
}

// --- checkpoints
// ----------------------------------------------------------------------------------------

TEST_F(SessionFaults, NewestCheckpointKilledBetweenCells) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  KillAndAwait(CheckpointsOf(*session).back());
  EXPECT_EQ(Value(*session, "x += 1\nx"), "3") << "the worker needs none";
  ASSERT_TRUE(session->RollBack("c1"));
  EXPECT_EQ(Value(*session, "x"), "1");
}

// The state before a cell was in a checkpoint that is dead: the worker is still in that state, so
// that there can be another one.
TEST_F(SessionFaults, NewestCheckpointKilledIsMadeAnewBeforeTheNextCell) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  KillAndAwait(CheckpointsOf(*session).back());
  const host::Outcome killed =
      Run(*session, "import sys\nx = 'lost'\nwhile True: pass", milliseconds(300));
  EXPECT_EQ(killed.status, host::Status::kTimeout);
  EXPECT_TRUE(killed.session->restored);
  EXPECT_EQ(Value(*session, "x"), "2") << NoteOf(killed);
}

TEST_F(SessionFaults, NewestCheckpointKilledDuringACellThatIsThenKilled) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  const pid_t newest = CheckpointsOf(*session).back();
  const auto killed = RunAnd(*session, kSleep, [&] {
    KillAndAwait({newest, FirstWorker(*session)});
  });
  ASSERT_TRUE(killed) << killed.error().ToString();
  EXPECT_EQ(killed->status, host::Status::kKilled);
  EXPECT_TRUE(killed->session->restored);
  // It costs more than the cell, and that is said.
  EXPECT_NE(NoteOf(*killed).find("the session goes on from checkpoint c1, after cell 1"),
            std::string::npos)
      << NoteOf(*killed);
  EXPECT_EQ(Value(*session, "x"), "1");
}

TEST_F(SessionFaults, RollBackToADeadCheckpointIsAnErrorAndChangesNothing) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  KillAndAwait(CheckpointsOf(*session)[1]);  // c1
  const auto rolled = session->RollBack("c1");
  ASSERT_FALSE(rolled);
  EXPECT_NE(rolled.error().ToString(), "");
  EXPECT_EQ(Value(*session, "x"), "2");
  const auto branched = session->Branch(2, {.checkpoint = "c1"});
  EXPECT_FALSE(branched);
  ASSERT_TRUE(session->RollBack("c0"));
  EXPECT_EQ(Value(*session, "'x' in globals()"), "false");
}

TEST_F(SessionFaults, AllCheckpointsKilledTheWorkerGoesOn) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  KillAndAwait(CheckpointsOf(*session));
  EXPECT_EQ(Value(*session, "x += 1\nx"), "3");
  AwaitIdle(*session);
  // From here on there are checkpoints again.
  EXPECT_EQ(Value(*session, "x += 1\nx"), "4");
  ASSERT_TRUE(session->Undo());
  EXPECT_EQ(Value(*session, "x"), "3");
}

// A checkpoint that is dead is none: the caller must not be told that there is one.
TEST_F(SessionFaults, CheckpointIsOfAProcessThatLives) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  KillAndAwait(CheckpointsOf(*session).back());
  const auto checkpoint = session->Checkpoint("mine");
  if (!checkpoint) return;  // an error is true, too
  Run(*session, "x = 99");
  const auto rolled = session->RollBack(*checkpoint);
  EXPECT_TRUE(rolled) << "it said that " << *checkpoint
                      << " was there: " << rolled.error().ToString();
  EXPECT_EQ(Value(*session, "x"), "2");
}

TEST_F(SessionFaults, BranchFromADeadCheckpointWhoseStateTheWorkerHas) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  KillAndAwait(CheckpointsOf(*session).back());
  const auto branches = session->Branch(2);
  if (!branches) {
    EXPECT_NE(branches.error().ToString(), "");
    EXPECT_EQ(Value(*session, "x"), "2");
    return;
  }
  EXPECT_EQ(Value(*(*branches)[1], "x"), "2");
}

TEST_F(SessionFaults, AllOfASessionKilledIsSaid) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  KillAndAwait(Members(*session));
  for (int i = 0; i < 2; ++i) {
    const auto outcome = sandbox_->RunCell(*session, Cell("x"));
    ASSERT_FALSE(outcome);
    EXPECT_NE(
        outcome.error().ToString().find("it is lost, since all its processes have been killed"),
        std::string::npos)
        << outcome.error().ToString();
  }
  EXPECT_FALSE(session->Checkpoint()) << "there is no process of this state";
  EXPECT_FALSE(session->Branch(1));
  EXPECT_FALSE(session->Ask({}));
  EXPECT_FALSE(session->RollBack("c1"));
  EXPECT_FALSE(session->Undo());
}

TEST_F(SessionFaults, AllOfASessionKilledDuringACellIsSaid) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  const auto killed = RunAnd(*session, kSleep, [&] { KillAndAwait(Members(*session)); });
  ASSERT_TRUE(killed) << killed.error().ToString();
  EXPECT_EQ(killed->status, host::Status::kKilled);
  EXPECT_FALSE(killed->session->restored);
  const auto next = sandbox_->RunCell(*session, Cell("x"));
  ASSERT_FALSE(next);
  EXPECT_NE(next.error().ToString().find("it is lost, since all its processes have been killed"),
            std::string::npos)
      << next.error().ToString();
}

// Older ones may be gone between the newest and one with a label.
TEST_F(SessionFaults, AnOldCheckpointIsFoundBeyondThoseThatWereDropped) {
  const auto session = OpenSession(2);
  ASSERT_TRUE(session);
  Run(*session, "x = 1");
  ASSERT_TRUE(session->Checkpoint("keep me"));  // c1
  for (int i = 2; i <= 5; ++i) {
    Run(*session, "x = " + std::to_string(i));
    AwaitIdle(*session);
  }
  std::string held;
  for (const CheckpointInfo& each : session->Checkpoints()) held += each.id + " ";
  ASSERT_EQ(held, "c1 c5 ");
  const pid_t newest = Members(*session).back();
  const auto killed = RunAnd(*session, kSleep, [&] {
    KillAndAwait({newest, FirstWorker(*session)});
  });
  ASSERT_TRUE(killed) << killed.error().ToString();
  EXPECT_TRUE(killed->session->restored) << session->closed();
  EXPECT_NE(NoteOf(*killed).find("the session goes on from checkpoint c1, after cell 1"),
            std::string::npos)
      << NoteOf(*killed);
  const auto next = sandbox_->RunCell(*session, Cell("x"));
  ASSERT_TRUE(next) << next.error().ToString();
  EXPECT_EQ(next->result_json, "1");
}

// --- the init
// -------------------------------------------------------------------------------------------

TEST_F(SessionFaults, InitKilledBetweenCells) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  const auto branches = session->Branch(1);
  ASSERT_TRUE(branches);
  KillAndAwait(InitOf(*session));
  for (Session* const each : {session.get(), (*branches)[0].get()}) {
    const auto outcome = sandbox_->RunCell(*each, Cell("x"));
    ASSERT_FALSE(outcome);
    EXPECT_NE(outcome.error().ToString().find("lost"), std::string::npos)
        << outcome.error().ToString();
    EXPECT_FALSE(each->Checkpoint()) << "there is no process of this state";
    EXPECT_FALSE(each->Branch(1));
    EXPECT_FALSE(each->Ask({}));
    EXPECT_FALSE(each->RollBack("c1"));
  }
  const auto other = OpenSession();
  ASSERT_TRUE(other);
  EXPECT_EQ(Value(*other, "6 * 7"), "42");
}

TEST_F(SessionFaults, InitKilledDuringACell) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  const auto outcome = RunAnd(*session, kSleep, [&] { KillAndAwait(InitOf(*session)); });
  // The guest cannot do that, so that it is no outcome of the guest's.
  EXPECT_FALSE(outcome) << Seen(outcome);
  const auto next = sandbox_->RunCell(*session, Cell("x"));
  ASSERT_FALSE(next);
  EXPECT_NE(next.error().ToString().find("lost"), std::string::npos) << next.error().ToString();
}

// The host must not wait for one that is stopped until kObeyTimeout, 20 s.
TEST_F(SessionFaults, CloseWithAStoppedInit) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  kill(InitOf(*session), SIGSTOP);
  const auto begin = core::Clock::now();
  session->Close("over");
  EXPECT_LT(core::Clock::now() - begin, tests::Within(seconds(5)));
  ExpectNothingOf(InitOf(*session));
}

// --- the zygote
// -----------------------------------------------------------------------------------------

TEST_F(SessionFaults, ZygoteKilledIsNobodysConcern) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  const pid_t zygote = sandbox_->counters().zygote_pid;
  const auto outcome =
      // sleeps: it goes on for a while after that
      RunAnd(*session, "x = 3\nimport time\ntime.sleep(0.2)\nx", [&] { KillAndAwait(zygote); });
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->result_json, "3");
  ASSERT_TRUE(session->Undo());
  EXPECT_EQ(Value(*session, "x"), "2");
  const auto branches = session->Branch(2);
  ASSERT_TRUE(branches) << branches.error().ToString();
  EXPECT_EQ(Value(*(*branches)[1], "x"), "2");
  const auto other = OpenSession();
  ASSERT_TRUE(other);
  EXPECT_NE(sandbox_->counters().zygote_pid, zygote);
}

TEST_F(SessionFaults, ZygoteKilledWhileASessionIsOpened) {
  for (int wait_us = 0; wait_us < 12'000; wait_us += 2'000) {
    std::thread killer([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(wait_us));  // sleeps: at many moments
      const pid_t zygote = sandbox_->counters().zygote_pid;
      if (zygote > 0) kill(zygote, SIGKILL);
    });
    const auto session = sandbox_->OpenSession(Limited());
    killer.join();
    if (!session) {
      EXPECT_NE(session.error().ToString(), "");
      continue;
    }
    EXPECT_EQ(Value(**session, "6 * 7"), "42");
  }
  // For what TearDown counts.
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  EXPECT_EQ(Value(*session, "6 * 7"), "42");
}

// --- at any moment
// --------------------------------------------------------------------------------------

// One process of the session after the other, whatever it is at.
TEST_F(SessionFaults, AnyProcessKilledAtAnyMoment) {
  std::mt19937 random(11);
  int good = 0, bad = 0;
  for (int round = 0; round < 6; ++round) {
    auto session = OpenSession(4);
    ASSERT_TRUE(session);
    const pid_t init = InitOf(*session);
    std::atomic<bool> stop = false;
    std::set<pid_t> killed;
    std::thread killer([&] {
      while (!stop) {
        // sleeps: killed at many moments
        std::this_thread::sleep_for(std::chrono::microseconds(3'000 + random() % 9'000));
        const std::vector<pid_t> members = MembersOf(init);
        if (members.size() <= 1) continue;
        const pid_t victim = members[random() % members.size()];
        if (kill(victim, SIGKILL) == 0) killed.insert(victim);
      }
    });
    const core::Deadline enough = core::Clock::now() + seconds(8);
    for (int i = 0; i < 60 && core::Clock::now() < enough; ++i) {
      const auto outcome = sandbox_->RunCell(*session, Cell("x = 1\nx"));
      good += outcome && outcome->result_json == "1";
      bad += !outcome;
      if (i % 5 == 0) (void)session->Undo().ok();
      if (i % 7 == 0) (void)session->Checkpoint().ok();
      if (i % 9 == 0) {
        auto branches = session->Branch(2);
        if (branches) (void)sandbox_->RunCell(*(*branches)[1], Cell("x")).ok();
      }
      if (!session->closed().empty()) break;
    }
    stop = true;
    killer.join();
    EXPECT_TRUE(tests::Eventually([&] {
      return std::none_of(killed.begin(), killed.end(),
                          [](pid_t each) { return tests::IsAlive(each); });
    }));
    if (session->closed().empty()) {
      AwaitIdle(*session);
      const auto last = sandbox_->RunCell(*session, Cell("6 * 7"));
      EXPECT_TRUE(!last || last->result_json == "42") << Seen(last);
      AwaitIdle(*session);
    }
    session->Close("over");
    session.reset();
    ExpectNothingOf(init);
  }
  // Not in each round: the first to be killed may be the init.
  EXPECT_GT(good, 0) << bad;
}

// Closed while something is done.
TEST_F(SessionFaults, ClosedAtAnyMoment) {
  for (int wait_us = 0; wait_us < 12'000; wait_us += 1'000) {
    auto session = OpenSession(4);
    ASSERT_TRUE(session);
    const pid_t init = InitOf(*session);
    std::thread closer([&, session] {
      std::this_thread::sleep_for(std::chrono::microseconds(wait_us));  // sleeps: at many moments
      session->Close("over");
    });
    for (int i = 0; i < 100 && session->closed().empty(); ++i) {
      const auto outcome = sandbox_->RunCell(*session, Cell("x = 1\nx"));
      if (!outcome) {
        EXPECT_NE(outcome.error().ToString().find("it is closed: over"), std::string::npos)
            << outcome.error().ToString();
      }
      (void)session->Branch(1).ok();
      (void)session->Undo().ok();
    }
    closer.join();
    ExpectNothingOf(init);
  }
}

// --- exhausted resources
// ----------------------------------------------------------------------------------

class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(next);
    const rlimit few{static_cast<rlim_t>(next) + more, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
  }
  // Not one, whatever is closed meanwhile: the lowest are in use. poll() still takes as many.
  FewDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{6, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(SessionFaults, NoDescriptorsIsAClearErrorAndLosesNothing) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  for (rlim_t more = 0; more <= 8; ++more) {
    SCOPED_TRACE(more);
    std::string seen;
    {
      const FewDescriptors few(more);
      const auto branches = session->Branch(2);
      if (!branches) {
        seen = branches.error().ToString();
      }
      const auto rolled = session->RollBack("c2");
      if (!rolled) seen += rolled.error().ToString();
      const auto outcome = sandbox_->RunCell(*session, Cell("x"));
      if (outcome) {
        EXPECT_TRUE(outcome->result_json == "2" || outcome->session->note != "") << Seen(outcome);
      } else {
        EXPECT_NE(outcome.error().ToString(), "");
      }
      AwaitIdle(*session);
    }
    ASSERT_EQ(session->closed(), "") << seen;
    EXPECT_EQ(Value(*session, "x"), "2") << seen;
    ExpectNoUnexpectedProcesses(*session);
  }
}

// A roll-back that cannot be done now can be done later.
TEST_F(SessionFaults, NoDescriptorsForARollBackCostsNoCheckpoint) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  for (rlim_t more = 0; more <= 3; ++more) {
    SCOPED_TRACE(more);
    std::string error;
    {
      const FewDescriptors few(more);
      const auto rolled = session->RollBack("c1");
      AwaitIdle(*session);
      if (!rolled) error = rolled.error().ToString();
    }
    const auto after = sandbox_->RunCell(*session, Cell("x"));
    ASSERT_TRUE(after) << after.error().ToString();
    EXPECT_EQ(after->result_json, error.empty() ? "1" : "2") << error << Seen(after);
    const auto rolled = session->RollBack("c1");
    ASSERT_TRUE(rolled) << rolled.error().ToString() << "; before: " << error << Seen(after);
    const auto first = sandbox_->RunCell(*session, Cell("x"));
    ASSERT_TRUE(first) << first.error().ToString();
    EXPECT_EQ(first->result_json, "1") << Seen(first);
    const auto forward = session->RollBack("c2");
    ASSERT_TRUE(forward) << forward.error().ToString() << "; before: " << Seen(first);
  }
}

// When a copy is there and cannot be taken in, nothing is wrong with what was copied.
TEST_F(SessionFaults, NoDescriptorsInTheMiddleOfACopyCostsNoCheckpoint) {
  const auto session = OpenWithTwoCells();
  ASSERT_TRUE(session);
  for (int wait_us = 0; wait_us < 1'500; wait_us += 25) {
    SCOPED_TRACE(wait_us);
    ASSERT_TRUE(session->RollBack("c1"));
    std::thread holder([&] { (void)session->Checkpoint("").ok(); });
    std::this_thread::sleep_for(std::chrono::microseconds(wait_us));  // sleeps: at many moments
    {
      const FewDescriptors few(0);
      holder.join();
    }
    const auto forward = session->RollBack("c2");
    ASSERT_TRUE(forward) << forward.error().ToString();
    const auto back = session->RollBack("c1");
    ASSERT_TRUE(back) << back.error().ToString();
    EXPECT_EQ(Value(*session, "x"), "1");
    ExpectNoUnexpectedProcesses(*session);
  }
}

TEST_F(SessionFaults, NoDescriptorsAsACellIsStoppedCostsNoSession) {
  {
    const auto session = OpenWithTwoCells();
    ASSERT_TRUE(session);
    std::optional<FewDescriptors> few;
    run::OutputSink sink;
    sink.on_stdout = [&](std::string_view) {
      if (!few) few.emplace();
    };
    run::RunOptions options;
    options.sink = &sink;
    const auto stopped = sandbox_->RunCell(
        *session,
        Cell("print('begun', flush=True)\nx = 'lost'\nwhile True: pass", milliseconds(300)),
        options);
    AwaitIdle(*session);
    few.reset();
    ASSERT_TRUE(stopped) << stopped.error().ToString();
    EXPECT_EQ(stopped->status, host::Status::kTimeout);
    EXPECT_EQ(session->closed(), "");
    const auto next = sandbox_->RunCell(*session, Cell("x"));
    ASSERT_TRUE(next) << next.error().ToString();
    EXPECT_EQ(next->result_json, "2") << Seen(next);
  }
}

}  // namespace
}  // namespace belljar::sessions::session_faults_test
