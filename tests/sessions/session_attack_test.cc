// Attacks on sessions, by guests that have all of Python and raw system calls: only the kernel
// layers and the host hold them. The attacks of tests/jail, in the cells of a session, are in
// tests/jail/test_sessions.py.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <string>
#include <thread>

#include "tests/support/session_support.h"

namespace belljar::sessions::session_attack_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using tests::Describe;
using tests::EventsOf;
using tests::MembersOf;
using tests::NoteOf;

class SessionAttack : public tests::SessionsTest {
 protected:
  outside::SandboxOptions Options() override { return tests::AttackSandbox(BELLJAR_SOURCE_DIR); }

  static std::string Raw(const std::string& body) { return tests::kRawCalls + body; }
};

// --- clones
// -----------------------------------------------------------------------------------------

struct CloneAttack {
  const char* name;
  const char* body;
  const char* held;  // what it prints inside
  bool has_control = true;
  bool alone = false;  // the control runs in namespaces of its own
};
void PrintTo(const CloneAttack& attack, std::ostream* out) { *out << attack.name; }

class ACellThatForks : public SessionAttack, public testing::WithParamInterface<CloneAttack> {};

// In the first cell and in the second, which runs after a copy.
TEST_P(ACellThatForks, GetsNothing) {
  const CloneAttack& attack = GetParam();
  const std::string source =
      Raw(std::string("\ntry:\n") + attack.body + "\nexcept OSError as error:\n    held(error)\n");
  if (attack.has_control) {
    const std::string outside = tests::RunPlainly(source, attack.alone ? tests::kAlone : "");
    ASSERT_NE(outside.find("WON"), std::string::npos) << "this test proves nothing: " << outside;
  }
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  for (const char* cell : {"first", "second"}) {
    SCOPED_TRACE(cell);
    const host::Outcome outcome = Run(*session, source);
    EXPECT_EQ(outcome.status, host::Status::kOk) << host::OutcomeToJson(outcome, 1);
    EXPECT_EQ(outcome.stdout_stream.text, attack.held);
    ExpectNoUnexpectedProcesses(*session);
  }
  EXPECT_EQ(Value(*session, "6 * 7"), "42");
}

#define CHILD_OF(call_text)                   \
  "    child = " call_text                    \
  "\n"                                        \
  "    if child == 0:\n        os._exit(0)\n" \
  "    won(child)\n"

// SIGCHLD is 17, CLONE_PARENT 0x8000.
const CloneAttack kClones[] = {
    {"fork", CHILD_OF("os.fork()"), "held EPERM\n"},
    {"forkpty", "    child = os.forkpty()[0]\n    if child == 0:\n        os._exit(0)\n    won()\n",
     "held ENOENT\n", false},  // it needs /dev/ptmx first
    {"clone", CHILD_OF("call(NR['clone'], 17, 0, 0, 0, 0)"), "held EPERM\n"},
#ifdef SYS_vfork
    {"vfork", "    won(call(" BELLJAR_NUMBER(SYS_vfork) "))\n", "held EPERM\n",
     false},  // ruins its parent's stack
#endif
    {"clone3",
     "    arguments = (ctypes.c_uint64 * 11)()\n    arguments[4] = 17\n" CHILD_OF(
         "call(NR['clone3'], ctypes.addressof(arguments), 88)"),
     "held ENOSYS\n"},
    {"clone3_of_a_copy",
     "    arguments = (ctypes.c_uint64 * 11)()\n    arguments[0] = 0x8000\n" CHILD_OF(
         "call(NR['clone3'], ctypes.addressof(arguments), 88)"),
     "held ENOSYS\n"},
    {"a_user_namespace", CHILD_OF("call(NR['clone'], 0x10000000 | 17, 0, 0, 0, 0)"),
     "held EPERM\n"},
    {"a_pid_namespace", CHILD_OF("call(NR['clone'], 0x20000000 | 17, 0, 0, 0, 0)"), "held EPERM\n",
     true, true},
    {"a_sibling_in_a_user_namespace", CHILD_OF("call(NR['clone'], 0x10008000, 0, 0, 0, 0)"),
     "held EPERM\n"},
    {"a_sibling_with_a_signal", CHILD_OF("call(NR['clone'], 0x8000 | 17, 0, 0, 0, 0)"),
     "held EPERM\n"},
    {"a_sibling_that_continues_others", CHILD_OF("call(NR['clone'], 0x8000 | 18, 0, 0, 0, 0)"),
     "held EPERM\n"},
    {"a_sibling_with_our_files", CHILD_OF("call(NR['clone'], 0x8400, 0, 0, 0, 0)"), "held EPERM\n"},
    {"a_sibling_with_our_memory", "    won(call(NR['clone'], 0x8100, 0, 0, 0, 0))\n",
     "held EPERM\n", false},
    {"an_untraced_sibling", CHILD_OF("call(NR['clone'], 0x808000, 0, 0, 0, 0)"), "held EPERM\n"},
    {"a_sibling_in_a_cgroup_namespace", CHILD_OF("call(NR['clone'], 0x2008000, 0, 0, 0, 0)"),
     "held EPERM\n", true, true},
    {"a_sibling_with_a_pidfd",
     "    pidfd = ctypes.c_int()\n" CHILD_OF(
         "call(NR['clone'], 0x9000, 0, ctypes.addressof(pidfd), 0, 0)"),
     "held EPERM\n"},
};
INSTANTIATE_TEST_SUITE_P(Clones, ACellThatForks, testing::ValuesIn(kClones),
                         [](const auto& info) { return info.param.name; });

// CLONE_PARENT alone, which is how the host's copies are made, and for which there is room as long
// as threads are allowed.
constexpr char kCloneSelf[] = R"(
def clone_self():
    return call(NR['clone'], 0x8000, 0, 0, 0, 0)
)";

// What is still there of a cell's own clones is killed when the cell ends. The control: while it
// runs, they are there, and use CPU time.
TEST_F(SessionAttack, ClonesOfACellEndWithIt) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  const pid_t init = InitOf(*session);
  for (const char* cell : {"first", "second"}) {
    SCOPED_TRACE(cell);
    const size_t before = MembersOf(init).size();
    size_t during = 0;
    run::OutputSink sink;
    sink.on_stdout = [&](std::string_view text) {
      if (text.find("WON") != text.npos) during = std::max(during, MembersOf(init).size());
    };
    run::RunOptions options;
    options.sink = &sink;
    const auto outcome = sandbox_->RunCell(*session, Cell(Raw(kCloneSelf) + R"(
for i in range(5):
    if clone_self() == 0:
        while True: pass
won(5)
time.sleep(0.2)  # sleeps: they are to use some time before it ends
)"),
                                           options);
    ASSERT_TRUE(outcome) << outcome.error().ToString();
    EXPECT_EQ(outcome->status, host::Status::kOk) << host::OutcomeToJson(*outcome, 1);
    EXPECT_EQ(during, before + 5) << "this test proves nothing";
    EXPECT_NE(EventsOf(*outcome).find("rlimits killed processes that the cell had cloned"),
              std::string::npos)
        << EventsOf(*outcome);
    for (const host::SecurityEvent& event : outcome->security_events) {
      if (event.layer == "rlimits") {
        EXPECT_EQ(event.count, 5u);
      }
    }
    ExpectNoUnexpectedProcesses(*session);
  }
  EXPECT_EQ(Value(*session, "6 * 7"), "42");
}

// Also of one that dies itself.
TEST_F(SessionAttack, ClonesOfADyingCellEndWithIt) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  const char* endings[] = {"os._exit(3)", "call(NR['ptrace'], 0, 0, 0, 0)", BELLJAR_UNTIL_KILLED};
  for (const char* ending : endings) {
    SCOPED_TRACE(ending);
    const host::Outcome outcome = Run(*session, Raw(kCloneSelf) + R"(
for i in range(5):
    if clone_self() == 0:
        while True: pass
)" + ending,
                                      milliseconds(500));
    EXPECT_NE(outcome.status, host::Status::kOk);
    EXPECT_TRUE(outcome.session->restored);
    EXPECT_NE(EventsOf(outcome).find("processes that the cell had cloned"), std::string::npos)
        << EventsOf(outcome);
    ExpectNoUnexpectedProcesses(*session);
    EXPECT_EQ(Value(*session, "6 * 7"), "42");
  }
}

// Clones that clone again whenever there is room: each one that is killed makes room for the next.
TEST_F(SessionAttack, ClonesThatReplaceEachOtherEndWithTheCell) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  const host::Outcome outcome = Run(*session, Raw(kCloneSelf) + R"(
def replace():
    while True:
        try: clone_self()
        except OSError: pass
main = os.getpid()
for i in range(8):
    try: clone_self()
    except OSError: pass
    if os.getpid() != main: replace()
time.sleep(0.3)  # sleeps: long enough for many to replace each other
won()
)");
  EXPECT_EQ(outcome.stdout_stream.text, "WON\n") << host::OutcomeToJson(outcome, 1);
  ExpectNoUnexpectedProcesses(*session);
  std::this_thread::sleep_for(milliseconds(100));  // sleeps: one that was missed would multiply
  ExpectNoUnexpectedProcesses(*session);
  EXPECT_EQ(Value(*session, "6 * 7"), "42");
}

// There are no more than threads could be; the rest is refused, and what the host needs stays free.
TEST_F(SessionAttack, ACellCannotFillTheTableOfProcesses) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  const host::Outcome outcome = Run(*session, Raw(kCloneSelf) + R"(
made = 0
try:
    while made < 4000:
        if clone_self() == 0:
            while True: signal.pause()
        made += 1
    won(made)
except OSError as error:
    held(error)
made
)");
  EXPECT_EQ(outcome.stdout_stream.text, "held EAGAIN\n") << host::OutcomeToJson(outcome, 1);
  ASSERT_TRUE(outcome.result_json);
  EXPECT_LT(std::stoi(*outcome.result_json), 200);
  EXPECT_GT(std::stoi(*outcome.result_json), 1);
  ExpectNoUnexpectedProcesses(*session);
  EXPECT_TRUE(session->Branch(3));
  EXPECT_EQ(Value(*session, "6 * 7"), "42");
}

// --- between cells
// ----------------------------------------------------------------------------------

uint64_t TicksOf(pid_t init) {
  uint64_t ticks = tests::CpuTicks(init);
  for (const pid_t each : MembersOf(init)) ticks += tests::CpuTicks(each);
  return ticks;
}

TEST_F(SessionAttack, WhatACellLeavesRunningUsesNoTimeBetweenCells) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  const pid_t init = InitOf(*session);
  const host::Outcome left = Run(*session, Raw(kCloneSelf) + R"(
import threading
def spin():
    while True: pass
for i in range(2): threading.Thread(target=spin, daemon=True).start()
for i in range(2):
    if clone_self() == 0: spin()
time.sleep(0.05)  # sleeps: they are to be on the processor when it ends
)");
  EXPECT_EQ(left.status, host::Status::kOk) << host::OutcomeToJson(left, 1);
  AwaitIdle(*session);
  const uint64_t before = TicksOf(init);
  std::this_thread::sleep_for(milliseconds(300));  // sleeps: they would use some of it
  EXPECT_LE(TicksOf(init), before);
  // The control: while the next cell runs, the threads do. It waits for time that they use, however
  // long that takes on a busy machine; if they stood still, it would meet its time limit.
  const host::Outcome control = Run(*session, R"(
begun = time.process_time()
while time.process_time() < begun + 0.2: pass
)");
  EXPECT_EQ(control.status, host::Status::kOk) << host::OutcomeToJson(control, 1);
  EXPECT_GT(TicksOf(init), before + 10);
  // With threads, it cannot be copied. Whoever asks is told.
  EXPECT_EQ(
      NoteOf(control),
      "there is no checkpoint of the state before this cell: create a checkpoint: 2 threads of "
      "earlier cells still run");
  EXPECT_FALSE(session->Checkpoint());
  EXPECT_FALSE(session->Branch(1));
  // A cell that is killed then costs more than itself.
  const host::Outcome killed = Run(*session, "os._exit(1)");
  EXPECT_TRUE(killed.session->restored);
  EXPECT_NE(NoteOf(killed).find("the session goes on from checkpoint c0, after cell 0"),
            std::string::npos)
      << NoteOf(killed);
  EXPECT_EQ(Value(*session, "'spin' in globals()"), "false");
  ExpectNoUnexpectedProcesses(*session);
}

// SIGCONT is what the host's orders begin with: a handler of the guest's for it must not get more
// time than they take, and must not lose the state.
TEST_F(SessionAttack, AHandlerOfTheContinuingSignalIsHarmless) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  Run(*session,
      "import signal\nseen = []\nsignal.signal(signal.SIGCONT, lambda *a: seen.append(1))");
  for (int i = 0; i < 5; ++i) Run(*session, "x = " + std::to_string(i));
  EXPECT_EQ(Value(*session, "x"), "4");
  ASSERT_TRUE(session->Undo(2));
  EXPECT_EQ(Value(*session, "x"), "3");
  ExpectNoUnexpectedProcesses(*session);
}

// --- forged answers
// -----------------------------------------------------------------------------------

// The worker's own socket, and WorkerSignal as in core/wire.h.
constexpr char kForge[] = R"(
import os, signal, stat, struct, time
def sockets():
    found = []
    for fd in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode): found.append(fd)
        except OSError: pass
    return found
def word(kind, step=0, value=0):
    return struct.pack('<III', kind, step, value)
COPIED, AWAKE, DONE, SEALED, CALL = 0x424a4350, 0x424a4157, 0x424a444e, 0x424a4f4b, 0x424a434c
def send(data, which=0):
    os.write(sockets()[which], data)
)";

struct Forgery {
  const char* name;
  const char* code;  // run in the worker when it is told to copy itself
};
void PrintTo(const Forgery& forgery, std::ostream* out) { *out << forgery.name; }

class AForgedCopy : public SessionAttack, public testing::WithParamInterface<Forgery> {};

// The first cell lies in wait, in Python's own handlers around a fork. The session goes on from the
// checkpoint before it, and says so.
TEST_P(AForgedCopy, CostsTheForgerOnly) {
  const Forgery& forgery = GetParam();
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  const pid_t init = InitOf(*session);
  Run(*session, "x = 'kept'");
  AwaitIdle(*session);
  const std::string source =
      std::string(kForge) + "x = 'lost'\ndef forge():\n    " + forgery.code + "\n";
  const char* when = strncmp(forgery.name, "after", 5) == 0 ? "after_in_parent" : "before";
  const host::Outcome trap = Run(*session, source + "os.register_at_fork(" + when + "=forge)\n1");
  EXPECT_EQ(trap.result_json, "1") << host::OutcomeToJson(trap, 1);
  AwaitIdle(*session);
  const host::Outcome next = Run(*session, "x");
  EXPECT_EQ(next.result_json, "\"kept\"") << host::OutcomeToJson(next, 1);
  EXPECT_NE(NoteOf(next).find("the session goes on from checkpoint c1, after cell 1"),
            std::string::npos)
      << NoteOf(next);
  ExpectNoUnexpectedProcesses(*session);
  session->Close("over");
  ExpectNothingOf(init);
}

const Forgery kForgeries[] = {
    {"exits", "os._exit(7)"},
    {"after_the_clone_exits", "os._exit(7)"},
    {"kills_itself", "os.abort()"},
    {"closes_its_socket", "os.close(sockets()[0])"},
    {"closes_everything", "os.closerange(3, 64)"},
    {"sends_garbage", "send(b'x' * 5)"},
    {"sends_much", "send(b'x' * 100_000)"},
    {"sends_zeros", "send(bytes(12))"},
    {"sends_done", "send(word(DONE))"},
    {"sends_awake", "send(word(AWAKE))"},
    {"sends_sealed", "send(word(SEALED))"},
    {"sends_a_call", "send(word(CALL, 4, 4) + b'xxxxxxxx')"},
    {"says_it_is_copied_and_exits", "send(word(COPIED)); os._exit(0)"},
    {"speaks_for_its_copy", "send(word(COPIED)); send(word(COPIED), 1)"},
    {"speaks_for_its_copy_and_exits", "send(word(COPIED)); send(word(COPIED), 1); os._exit(0)"},
    {"says_it_was_refused_and_closes_everything",
     "send(word(COPIED, 0, 11)); os.closerange(3, 64)"},
};
INSTANTIATE_TEST_SUITE_P(Forgeries, AForgedCopy, testing::ValuesIn(kForgeries),
                         [](const auto& info) { return info.param.name; });

// The host takes the first of the two words and kills the clone; the second is in the way of the
// next cell's, which ends that. All of it is the forger's loss, and what was before it can be had
// again.
TEST_F(SessionAttack, AForgedRefusalCostsTheForgerOnly) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  Run(*session, "x = 'kept'");
  Run(*session,
      std::string(kForge) +
          "x = 'lost'\nos.register_at_fork(after_in_parent=lambda: send(word(COPIED, 0, 11)))");
  AwaitIdle(*session);
  EXPECT_EQ(MembersOf(InitOf(*session)).size(), 3u) << "its clone lives on";
  const host::Outcome next = Run(*session, "x");
  EXPECT_EQ(next.status, host::Status::kKilled) << host::OutcomeToJson(next, 1);
  EXPECT_TRUE(next.session->restored);
  const auto back = session->RollBack("c1");
  ASSERT_TRUE(back) << back.error().ToString();
  EXPECT_EQ(Value(*session, "x"), "\"kept\"");
  ExpectNoUnexpectedProcesses(*session);
}

// Told to copy itself after its cell, it seems to be refused; told again before the next one, it
// exits. That cell is still the caller's, and runs from the checkpoint that lives.
TEST_F(SessionAttack, AWorkerThatDiesAsTheNextCellBeginsIsReplaced) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  Run(*session, "x = 'kept'");
  Run(*session, std::string(kForge) + R"(
asked = []
def forge():
    asked.append(1)
    if len(asked) == 2: os._exit(7)
def refuse():
    if len(asked) == 1: send(word(COPIED, 0, 11))
os.register_at_fork(before=forge, after_in_parent=refuse)
x = 'lost'
)");
  AwaitIdle(*session);
  EXPECT_EQ(MembersOf(InitOf(*session)).size(), 3u) << "the worker has died before";
  const auto next = sandbox_->RunCell(*session, Cell("x"));
  ASSERT_TRUE(next) << next.error().ToString();
  EXPECT_EQ(next->result_json, "\"kept\"") << host::OutcomeToJson(*next, 1);
  EXPECT_NE(NoteOf(*next).find("the session goes on from checkpoint c1, after cell 1"),
            std::string::npos)
      << NoteOf(*next);
}

// A roll-back wakes the checkpoint itself, and makes another one of its state afterwards: if it
// refuses that, those before it live.
TEST_F(SessionAttack, AStateThatDiesAfterARollBackCostsNoOlderOne) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  Run(*session, "x = 'kept'");
  Run(*session, R"(
import os
armed = []
def forge():
    if armed: os._exit(7)
os.register_at_fork(before=forge, after_in_child=lambda: armed.append(1))
x = 'trap'
)");
  Run(*session, "y = 1");
  AwaitIdle(*session);
  (void)session->RollBack("c2").ok();
  AwaitIdle(*session);
  const auto next = sandbox_->RunCell(*session, Cell("x"));
  ASSERT_TRUE(next) << next.error().ToString();
  EXPECT_EQ(next->result_json, "\"kept\"") << host::OutcomeToJson(*next, 1);
  EXPECT_NE(NoteOf(*next).find("the session goes on from checkpoint c1, after cell 1"),
            std::string::npos)
      << NoteOf(*next);
}

// A copy that is woken runs Python's handler of a child.
class AForgedWaking : public SessionAttack, public testing::WithParamInterface<Forgery> {};

TEST_P(AForgedWaking, IsAnErrorAndTheSessionStays) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  const pid_t init = InitOf(*session);
  Run(*session, "x = 'kept'");
  Run(*session, std::string(kForge) + "def forge():\n    " + GetParam().code +
                    "\nos.register_at_fork(after_in_child=forge)\nx = 'trap'");
  Run(*session, "y = 1");
  AwaitIdle(*session);
  const auto rolled = session->RollBack("c2");
  ASSERT_FALSE(rolled);
  EXPECT_NE(rolled.error().ToString(), "");
  const auto branched = session->Branch(3);
  ASSERT_FALSE(branched);
  EXPECT_EQ(Value(*session, "x"), "\"trap\"");
  ExpectNoUnexpectedProcesses(*session);
  const auto back = session->RollBack("c1");
  ASSERT_TRUE(back) << back.error().ToString();
  EXPECT_EQ(Value(*session, "x"), "\"kept\"");
  session->Close("over");
  ExpectNothingOf(init);
}

const Forgery kWakings[] = {
    {"exits", "os._exit(7)"},
    {"closes_its_socket", "os.close(sockets()[0])"},
    {"sends_garbage", "send(b'x' * 5)"},
    {"sends_done", "send(word(DONE))"},
    {"sends_copied", "send(word(COPIED))"},
};
INSTANTIATE_TEST_SUITE_P(Forgeries, AForgedWaking, testing::ValuesIn(kWakings),
                         [](const auto& info) { return info.param.name; });

// What is sent while a cell runs ends that cell.
TEST_F(SessionAttack, ForgedWordsDuringACellEndTheCell) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  Run(*session, "x = 'kept'");
  for (const char* data : {"word(COPIED)", "word(AWAKE)", "word(SEALED)", "b'x' * 5", "bytes(12)",
                           "word(DONE)", "word(COPIED) * 3"}) {
    SCOPED_TRACE(data);
    const host::Outcome outcome = Run(
        *session, std::string(kForge) + "x = 'lost'\nsend(" + data + ")\n" BELLJAR_UNTIL_KILLED);
    EXPECT_EQ(outcome.status, host::Status::kKilled);
    EXPECT_TRUE(outcome.session->restored) << NoteOf(outcome);
    EXPECT_EQ(Value(*session, "x"), "\"kept\"");
    ExpectNoUnexpectedProcesses(*session);
  }
  const host::Outcome closed =
      Run(*session, "import os\nos.closerange(0, 64)\n" BELLJAR_UNTIL_KILLED);
  EXPECT_EQ(closed.status, host::Status::kKilled);
  EXPECT_EQ(Value(*session, "x"), "\"kept\"");
  ExpectNoUnexpectedProcesses(*session);
}

// A worker that does not answer is given up after kObeyTimeout (session_family.cc), 20 s. Nobody
// else waits for it, nor does who asks about its session.
TEST_F(SessionAttack, AWorkerThatDoesNotAnswerHoldsUpNobodyElse) {
  const auto session = OpenSession();
  const auto other = OpenSession();
  ASSERT_TRUE(session && other);
  Run(*session, "x = 'kept'");
  Run(*session,
      "import os, time\ndef hang():\n    while True: pass\n"
      "os.register_at_fork(before=hang)\nx = 'lost'");
  const auto begin = core::Clock::now();
  // It is still waited for; or this machine is so slow that others took as long.
  const auto nobody_waited = [&] {
    return session->info().is_busy || core::Clock::now() - begin < tests::Within(seconds(5));
  };
  for (int i = 0; i < 5; ++i) Run(*other, "1");
  EXPECT_TRUE(nobody_waited()) << "another session waits for it";
  EXPECT_TRUE(OpenSession());
  EXPECT_TRUE(nobody_waited()) << "a new session waits for it";
  session->Close("over");
  ExpectNothingOf(InitOf(*session));
}

// Takes as long as that, or the CPU limit.
class SessionAttackSoak : public SessionAttack {};
TEST_F(SessionAttackSoak, AWorkerThatDoesNotAnswerIsGivenUp) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  Run(*session, "x = 'kept'");
  Run(*session,
      "import os, time\ndef hang():\n    while True: pass\n"
      "os.register_at_fork(before=hang)\nx = 'lost'");
  EXPECT_EQ(Value(*session, "x"), "\"kept\"");
  ExpectNoUnexpectedProcesses(*session);
}

// --- memory
// -------------------------------------------------------------------------------------------

uint64_t MemoryOf(pid_t init) {
  uint64_t bytes = 0;
  for (const pid_t each : MembersOf(init)) bytes += workers::ProportionalMemory(each);
  return bytes;
}

constexpr uint64_t kMebi = 1 << 20;

TEST_F(SessionAttack, MemoryThroughCheckpointsIsBounded) {
  if (tests::Sanitized()) GTEST_SKIP() << "shadow memory is memory too";
  const auto fill = [&](core::Bytes total) {
    SessionOptions options = Limited();
    options.total_memory = total;
    const auto session = OpenSession(options);
    if (!session) return uint64_t{0};
    uint64_t max = 0;
    for (int i = 0; i < 12; ++i) {
      Run(*session, "import os\nx = bytearray(os.urandom(4096) * (20 * 256))");
      ExpectNoUnexpectedProcesses(*session);  // a checkpoint that was dropped takes a moment to end
      max = std::max(max, MemoryOf(InitOf(*session)));
    }
    EXPECT_EQ(Value(*session, "len(x)"), std::to_string(20 << 20));
    session->Close("over");
    ExpectNothingOf(InitOf(*session));
    return max;
  };
  const uint64_t unbounded = fill(core::Bytes::Mebi(4096));
  EXPECT_GT(unbounded, 200 * kMebi) << "this test proves nothing";
  EXPECT_LT(fill(core::Bytes::Mebi(100)), 110 * kMebi);
}

// "Of all its processes and its branches'" (session.h).
TEST_F(SessionAttack, MemoryThroughBranchesIsBounded) {
  SessionOptions options = Limited();
  options.total_memory = core::Bytes::Mebi(150);
  const auto session = OpenSession(options);
  ASSERT_TRUE(session);
  const auto branches = session->Branch(3);
  ASSERT_TRUE(branches) << branches.error().ToString();
  for (int i = 0; i < 6; ++i) {
    for (const auto& branch : *branches) {
      Run(*branch, "import os\nx = bytearray(os.urandom(4096) * (15 * 256))");
      AwaitIdle(*branch);
    }
  }
  // Each branch needs its worker and the checkpoint of its present state.
  // Each of the four has as much.
  // A checkpoint that was dropped takes a moment to end.
  const pid_t init = InitOf(*session);
  EXPECT_TRUE(tests::Eventually([&] { return MembersOf(init).size() < 18; }))
      << MembersOf(init).size() << " processes; without a bound there would be 22";
  const uint64_t memory = MemoryOf(init);
  EXPECT_GT(memory, uint64_t{3} * 15 * kMebi) << "this test proves nothing";
  EXPECT_LT(memory, (uint64_t{4} * 150 + 15) * kMebi);
}

// --- siblings
// -------------------------------------------------------------------------------------------

struct SiblingAttack {
  const char* name;
  const char* body;
  const char* held;
  const char* event;
  bool alone = true;
};
void PrintTo(const SiblingAttack& attack, std::ostream* out) { *out << attack.name; }

class Siblings : public SessionAttack, public testing::WithParamInterface<SiblingAttack> {};

// Its checkpoints and branches: not hurt, not read, whatever their pid is.
TEST_P(Siblings, AreOutOfReach) {
  const SiblingAttack& attack = GetParam();
  // Outside, there is one to be hurt: a child.
  const std::string body =
      std::string("\ntry:\n") + attack.body + "\nexcept OSError as error:\n    held(error)\n";
  const std::string control = tests::RunPlainly(
      tests::kRawCalls + std::string("\nVICTIM = os.fork()\nif VICTIM == 0: signal.pause()\n") +
          body + "\nif VICTIM > 0: os.kill(VICTIM, 9)\n",
      attack.alone ? tests::kAlone : "");
  ASSERT_NE(control.find("WON"), std::string::npos) << "this test proves nothing: " << control;
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  Run(*session, "x = 'kept'");
  const auto here = session->Checkpoint();
  ASSERT_TRUE(here);
  const auto branches = session->Branch(2);
  ASSERT_TRUE(branches) << branches.error().ToString();
  for (const auto& branch : *branches) AwaitIdle(*branch);
  const std::vector<pid_t> before = MembersOf(InitOf(*session));
  for (Session* const attacker : {session.get(), (*branches)[0].get()}) {
    // Every pid of its namespace is small.
    const host::Outcome outcome = Run(*attacker, Raw("\nVICTIM = 3\nx = 'lost'\n" + body));
    EXPECT_EQ(outcome.stdout_stream.text, attack.held) << host::OutcomeToJson(outcome, 1);
    EXPECT_NE(EventsOf(outcome).find(attack.event), std::string::npos) << EventsOf(outcome);
    AwaitIdle(*attacker);
  }
  for (const pid_t each : before) {
    // The attackers may have been killed themselves.
    if (tests::IsAlive(each)) continue;
    EXPECT_NE(std::string(attack.event).find("hostile"), std::string::npos) << each << " is dead";
  }
  ASSERT_TRUE(session->RollBack(*here));
  EXPECT_EQ(Value(*session, "x"), "\"kept\"");
  EXPECT_EQ(Value(*(*branches)[1], "x"), "\"kept\"");
}

const SiblingAttack kSiblingAttacks[] = {
    {"kill_all", "    os.kill(-1, 9)\n    won()\n", "held EPERM\n", "denied kill"},
    {"kill_each",
     "    done = 0\n    last = None\n    for pid in range(1, 400):\n        if pid == os.getpid(): "
     "continue\n        try:\n            os.kill(pid, 9)\n            done += 1\n"
     "        except OSError as error:\n            last = error\n"
     "    if done: won(done)\n    else: raise last\n",
     "held EPERM\n", "denied kill"},
    {"kill_init", "    os.kill(os.getppid(), 0)\n    won()\n", "held EPERM\n", "denied kill"},
    {"continue_others", "    os.kill(VICTIM, signal.SIGCONT)\n    won()\n", "held EPERM\n",
     "denied kill"},
    {"kill_own_group", "    os.killpg(0, 0)\n    won()\n", "held EPERM\n", "denied kill"},
    {"tgkill", "    call(NR['tgkill'], VICTIM, VICTIM, 9)\n    won()\n", "held EPERM\n",
     "denied tgkill"},
    {"open_a_process", "    won(os.pidfd_open(VICTIM))\n", "held EPERM\n", "denied pidfd_open"},
    {"trace", "    call(NR['ptrace'], 0x4206, VICTIM, 0, 0)\n    won()\n", "",
     "killed a system call on the hostile list"},
    {"read_memory",
     "    buffer = ctypes.create_string_buffer(8)\n"
     "    local = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 8)\n"
     "    won(call(NR['process_vm_readv'], VICTIM, ctypes.addressof(local), 1, "
     "ctypes.addressof(local), 1, 0))\n",
     "", "killed a system call on the hostile list"},
    {"write_memory",
     "    buffer = ctypes.create_string_buffer(8)\n"
     "    local = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 8)\n"
     "    won(call(NR['process_vm_writev'], VICTIM, ctypes.addressof(local), 1, "
     "ctypes.addressof(local), 1, 0))\n",
     "", "killed a system call on the hostile list"},
    {"read_proc", "    won(open(f'/proc/{VICTIM}/maps').readline())\n", "held ENOENT\n", ""},
    {"limit",
     "    limits = (ctypes.c_uint64 * 2)(3, 3)\n"
     "    call(NR['prlimit64'], VICTIM, 7, ctypes.addressof(limits), 0)\n    won()\n",
     "held EPERM\n", "denied prlimit64"},
    {"affinity_of_another", "    os.sched_setaffinity(VICTIM, {0})\n    won()\n", "held EPERM\n",
     "denied sched_setaffinity"},
};
INSTANTIATE_TEST_SUITE_P(Attacks, Siblings, testing::ValuesIn(kSiblingAttacks),
                         [](const auto& info) { return info.param.name; });

// What one session can see of processes: the number of its own.
TEST_F(SessionAttack, SessionsDoNotSeeEachOther) {
  const auto session = OpenSession();
  const auto other = OpenSession();
  ASSERT_TRUE(session && other);
  const std::string look = R"(
import os
found = []
for pid in range(1, 5000):
    try:
        os.sched_getaffinity(pid)
        found.append(pid)
    except OSError: pass
found
)";
  // The control: a session's own siblings are there to be seen.
  EXPECT_EQ(Value(*session, look), "[1,2,3]");
  ASSERT_TRUE(other->Branch(1));
  Run(*other, "1");
  EXPECT_EQ(Value(*session, look), "[1,2,3,4]");
  const std::string outside = tests::RunPlainly(look + "print('WON', len(found))");
  EXPECT_NE(outside.find("WON"), std::string::npos) << outside;
  const host::Outcome signalled = Run(*session, Raw(R"(
for pid in range(1, 5000):
    if pid == os.getpid(): continue
    try:
        os.kill(pid, 0)
        won(pid)
    except OSError: pass
)"));
  EXPECT_EQ(signalled.stdout_stream.text, "");
  EXPECT_EQ(Value(*other, "6 * 7"), "42");
}

// --- limits
// ---------------------------------------------------------------------------------------------

TEST_F(SessionAttack, LimitsCannotBeRaised) {
  const std::string raise = Raw(R"(
import resource
def attempt(what):
    try:
        what()
        won()
    except (OSError, ValueError) as error:
        print('held', type(error).__name__)
for name in 'AS', 'CPU', 'NPROC', 'FSIZE', 'NOFILE':
    number = getattr(resource, 'RLIMIT_' + name)
    soft, hard = resource.getrlimit(number)
    attempt(lambda: resource.setrlimit(number, (hard, hard)))
    attempt(lambda: resource.prlimit(0, number, (hard, hard)))
    attempt(lambda: resource.prlimit(os.getpid(), number, (hard, hard)))
    attempt(lambda: resource.setrlimit(number, (-1, -1)))
)");
  const std::string outside = tests::RunPlainly(raise);
  ASSERT_NE(outside.find("WON"), std::string::npos) << outside;
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  for (int cell = 1; cell <= 2; ++cell) {
    const host::Outcome outcome = Run(*session, raise);
    EXPECT_EQ(outcome.status, host::Status::kOk) << host::OutcomeToJson(outcome, 1);
    EXPECT_EQ(outcome.stdout_stream.text.find("WON"), std::string::npos)
        << outcome.stdout_stream.text;
  }
}

constexpr char kBurn[] = R"(
import time
def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until: pass
)";

TEST_F(SessionAttack, EachCellHasTheWholeCpuLimit) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  const auto burn = [&](const char* how_long) {
    host::Request request = Cell(std::string(kBurn) + "burn(" + how_long + ")");
    request.limits.cpu = seconds(1);
    auto outcome = sandbox_->RunCell(*session, request);
    EXPECT_TRUE(outcome) << outcome.error().ToString();
    return outcome ? outcome->status : host::Status::kKilled;
  };
  // Together more than one cell's limit, and more than RLIMIT_CPU has been raised for.
  for (int i = 0; i < 4; ++i) EXPECT_EQ(burn("0.7"), host::Status::kOk) << i;
  EXPECT_EQ(burn("3"), host::Status::kCpuLimit);
  EXPECT_EQ(burn("0.7"), host::Status::kOk);
  ASSERT_TRUE(session->Undo());
  EXPECT_EQ(burn("0.7"), host::Status::kOk);
  EXPECT_EQ(burn("3"), host::Status::kCpuLimit);
}

// SIGXCPU can be ignored, but not the host.
TEST_F(SessionAttack, TheCpuLimitHoldsWhateverIsIgnored) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  host::Request request = Cell(std::string(kBurn) + R"(
import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
burn(60)
)");
  request.limits.cpu = milliseconds(300);
  const auto outcome = sandbox_->RunCell(*session, request);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kCpuLimit);
  EXPECT_TRUE(outcome->session->restored);
}

TEST_F(SessionAttack, TheMemoryLimitStays) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  const std::string much = "x = bytearray(200 << 20)";  // of 128 MiB
  const std::string little = "y = len(bytearray(60 << 20))\ny";
  const auto expect_limited = [&](Session& limited, const char* where) {
    SCOPED_TRACE(where);
    EXPECT_EQ(Run(limited, much).status,
              tests::Sanitized() ? host::Status::kKilled : host::Status::kMemoryLimit);
    EXPECT_EQ(Value(limited, little), std::to_string(60 << 20));
  };
  expect_limited(*session, "first");
  expect_limited(*session, "second");
  ASSERT_TRUE(session->RollBack("c0"));
  expect_limited(*session, "rolled back");
  const auto branches = session->Branch(1);
  ASSERT_TRUE(branches);
  expect_limited(*(*branches)[0], "branch");
}

// --- files
// ----------------------------------------------------------------------------------------------

class SessionFilesAttack : public SessionAttack {
 protected:
  outside::SandboxOptions Options() override {
    outside::SandboxOptions options = tests::FullPython();
    options.profile = tests::ShippedProfile("filesystem");
    return options;
  }
};

constexpr char kReadA[] = "open('/workspace/a').read()";

// An open file of one branch is not the other's, which has a file of that name, too.
TEST_F(SessionFilesAttack, ADescriptorDoesNotReachAnotherBranch) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  EXPECT_EQ(Value(*session, "f = open('/workspace/a', 'w+')\nf.write('mine')\nf.flush()\n1"), "1");
  const auto branches = session->Branch(1);
  ASSERT_TRUE(branches) << branches.error().ToString();
  Session& branch = *(*branches)[0];
  Run(branch, "f.seek(0)\nf.write('bad!')\nf.flush()");
  EXPECT_EQ(Value(branch, kReadA), "\"bad!\"") << "this test proves nothing";
  EXPECT_EQ(Value(*session, kReadA), "\"mine\"");
  EXPECT_EQ(Value(branch, kReadA), "\"bad!\"");
  EXPECT_EQ(Value(*session, "f.seek(0)\nf.read()"), "\"mine\"");
}

TEST_F(SessionFilesAttack, ADescriptorKeptAcrossARollBackWritesToTheFileOfItsState) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  Run(*session, "import os\nf = open('/workspace/a', 'w+')\nf.write('one')\nf.flush()");
  const auto here = session->Checkpoint();
  ASSERT_TRUE(here);
  Run(*session, "f.write(' two')\nf.flush()\nos.rename('/workspace/a', '/workspace/b')");
  Run(*session, "os.unlink('/workspace/b')\nf.write(' three')\nf.flush()");
  ASSERT_TRUE(session->RollBack(*here));
  EXPECT_EQ(Value(*session, kReadA), "\"one\"");
  EXPECT_EQ(Value(*session, "f.write('!')\nf.flush()\nsorted(os.listdir('/workspace'))"),
            "[\"a\"]");
  const auto files = session->Files();
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 1u);
  EXPECT_LE((*files)[0].size, 4u);
}

// As docs/sessions.md says: /tmp is not of the state, and its branches share it.
TEST_F(SessionFilesAttack, TemporaryFilesAreNotOfTheState) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  const std::string look = "import os\nos.listdir('/tmp')";
  EXPECT_EQ(Value(*session, look), "[]");
  const auto here = session->Checkpoint();
  ASSERT_TRUE(here);
  const auto branches = session->Branch(1);
  ASSERT_TRUE(branches);
  Run(*session, "open('/tmp/secret', 'w').close()");
  EXPECT_EQ(Value(*session, look), "[\"secret\"]");
  EXPECT_EQ(Value(*(*branches)[0], look), "[\"secret\"]");
  ASSERT_TRUE(session->RollBack(*here));
  EXPECT_EQ(Value(*session, look), "[\"secret\"]");
}

// While the host copies and wakes processes of one branch, code of its guest may run (Python's own
// handlers of a fork), and the workspace may hold the files of another branch.
TEST_F(SessionFilesAttack, AnOrderDoesNotWriteToAnotherBranchsFiles) {
  const auto session = OpenSession();
  ASSERT_TRUE(session);
  Run(*session, "open('/workspace/a', 'w').write('mine')");
  const auto branches = session->Branch(1);
  ASSERT_TRUE(branches);
  Session& branch = *(*branches)[0];
  Run(branch, R"(
import os
def write():
    with open('/workspace/a', 'w') as file: file.write('bad!')
os.register_at_fork(before=write, after_in_parent=write, after_in_child=write)
)");
  AwaitIdle(branch);
  EXPECT_EQ(Value(*session, kReadA), "\"mine\"");  // now the files are those of `session`
  AwaitIdle(*session);
  ASSERT_TRUE(branch.Branch(1));
  EXPECT_EQ(Value(*session, kReadA), "\"mine\"");
  AwaitIdle(*session);
  ASSERT_TRUE(branch.Undo(0));
  EXPECT_EQ(Value(*session, kReadA), "\"mine\"");
}

TEST_F(SessionFilesAttack, NothingOfTheFilesIsLeftAfterClose) {
  const size_t mounts = tests::Mounts();
  const size_t descriptors = tests::OpenDescriptors();
  {
    const auto session = OpenSession();
    ASSERT_TRUE(session);
    Run(*session, "f = open('/workspace/a', 'w')\nf.write('x' * (1 << 20))\nf.flush()");
    ASSERT_TRUE(session->Branch(2));
    const pid_t init = InitOf(*session);
    session->Close("over");
    ExpectNothingOf(init);
  }
  EXPECT_EQ(tests::Mounts(), mounts);
  EXPECT_TRUE(tests::Eventually([&] { return tests::OpenDescriptors() <= descriptors + 3; }))
      << tests::OpenDescriptors() << " instead of " << descriptors;
}

// --- surviving
// ------------------------------------------------------------------------------------------

constexpr char kStubborn[] = R"(
import atexit, os, signal, threading, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
def live():
    while True:
        try: time.sleep(0.001)  # sleeps: it is stubborn, and leaves the processor to others
        except BaseException: pass
for i in range(3): threading.Thread(target=live, daemon=True).start()
atexit.register(live)
class Last:
    def __del__(self): live()
last = Last()
def nested(depth):
    try:
        if depth: nested(depth - 1)
        else: live()
    finally:
        live()
)";

TEST_F(SessionAttack, NothingSurvivesClose) {
  for (const char* last : {"", "nested(50)"}) {
    const auto session = OpenSession();
    ASSERT_TRUE(session);
    const pid_t init = InitOf(*session);
    const auto branches = session->Branch(2);
    ASSERT_TRUE(branches);
    std::atomic<bool> begun = false;
    run::OutputSink sink;
    sink.on_stdout = [&](std::string_view) { begun = true; };
    run::RunOptions options;
    options.sink = &sink;
    auto run = std::async(std::launch::async, [&] {
      return sandbox_->RunCell(
          *session,
          Cell(Raw(kCloneSelf) + kStubborn +
               "\nif clone_self() == 0: live()\nprint('up', flush=True)\n" + last),
          options);
    });
    ASSERT_TRUE(tests::Eventually([&] { return begun.load(); }));
    if (*last == 0) (void)run.wait_for(seconds(5));
    for (const auto& branch : *branches) branch->Close("over");
    session->Close("over");
    ExpectNothingOf(init);
    (void)run.get().ok();
    EXPECT_EQ(
        session->Run(Cell("1")).error().ToString().find("it is closed: over") != std::string::npos,
        true);
  }
}

// Starts a program with sessions in a child whose orphans become ours, and kills it.
TEST_F(SessionAttack, NothingSurvivesTheServer) {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  sandbox_.reset();
  for (const bool busy : {false, true}) {
    SCOPED_TRACE(busy ? "during a cell" : "between cells");
    int ready[2];
    ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
    fflush(nullptr);
    const pid_t server = fork();
    if (server == 0) {
      auto sandbox = tests::Open(Options());
      std::vector<std::shared_ptr<Session>> sessions;
      for (int i = 0; i < 3; ++i) {
        SessionOptions options;
        options.limits = sandbox->profile().default_limits;
        auto session = sandbox->OpenSession(options);
        if (!session) _exit(1);
        host::Request cell = tests::MakeRequest(kStubborn);
        cell.limits = options.limits;
        if (!sandbox->RunCell(**session, cell)) _exit(2);
        sessions.push_back(*session);
      }
      if (busy) {
        run::OutputSink sink;
        sink.on_stdout = [&](std::string_view) { (void)!write(ready[1], "1", 1); };
        run::RunOptions options;
        options.sink = &sink;
        host::Request cell = tests::MakeRequest("print('up', flush=True)\nlive()");
        cell.limits = sandbox->profile().default_limits;
        (void)sandbox->RunCell(*sessions[1], cell, options).ok();
      }
      (void)!write(ready[1], "1", 1);
      pause();
      _exit(1);
    }
    close(ready[1]);
    char byte;
    EXPECT_EQ(read(ready[0], &byte, 1), 1) << "the server has failed";
    close(ready[0]);
    EXPECT_GT(tests::Descendants().size(), 7u) << "this test proves nothing";
    kill(server, SIGKILL);
    EXPECT_TRUE(tests::Eventually([] {
      while (waitpid(-1, nullptr, WNOHANG | __WALL) > 0) {
      }
      return tests::Descendants().empty();
    })) << Describe(tests::Descendants());
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

// A branch is of its sandbox as much as the session that it comes from. In a child, which what is
// left of the sandbox would take down.
TEST_F(SessionAttack, BranchesEndWithTheirSandbox) {
  sandbox_.reset();
  const tests::Death death = tests::InChild([&] {
    alarm(20);
    auto sandbox = tests::Open(Options());
    SessionOptions options;
    options.limits = sandbox->profile().default_limits;
    const auto session = sandbox->OpenSession(options);
    if (!session) return 2;
    auto branches = (*session)->Branch(2);
    if (!branches) return 3;
    if (!tests::Eventually([&] { return !(*branches)[0]->info().is_busy; })) return 4;
    sandbox.reset();
    if ((*session)->closed() != "its sandbox was closed") return 5;
    for (const auto& branch : *branches) {
      if (branch->closed() != "its sandbox was closed") return 6;
    }
    branches->clear();
    return tests::Eventually([] { return tests::Children().empty(); }) ? 0 : 7;
  });
  EXPECT_EQ(death, tests::Exited(0));
}

}  // namespace
}  // namespace belljar::sessions::session_attack_test
