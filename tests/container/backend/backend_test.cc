// Runs in containers, without containers: the real backend, the real belljar-guest, and an engine
// that starts it as a child of the test (child_engine.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "container/backend/container_backend.h"
#include "container/backend/container_owner.h"
#include "container/backend/container_plan.h"
#include "container/backend/container_sandbox.h"
#include "engine/host/deferred_tasks.h"
#include "tests/container/child_engine.h"
#include "tests/support/support.h"

namespace belljar::container::backend::backend_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kInstance[] = "backend-test";
constexpr char kForever[] = "while True: pass";

core::Deadline Soon() { return core::Clock::now() + seconds(60); }

core::UniqueFd MakeEvent() { return core::UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }
void Raise(const core::UniqueFd& event) { EXPECT_EQ(eventfd_write(event.get(), 1), 0); }

class ContainerRuns : public ::testing::Test {
 protected:
  void Open(size_t spares = 1, size_t max = 4) {
    ContainerChoice choice{.engine = engine_, .facts = {}, .runtime = "child", .image = {}};
    choice.image.id = "sha256:0123";
    ContainerBackendOptions options;
    options.report = {.engine = "Child Engine", .runtime = "child", .image_digest = "sha256:0123"};
    options.pool.engine = engine_;
    options.pool.terms = GuestTerms::Of(profile_, "standard", "off");
    options.pool.spec = PlanContainer(choice, profile_, options.pool.terms, std::nullopt);
    options.pool.instance = kInstance;
    options.pool.spares = spares;
    options.pool.max_containers = max;
    auto started = ContainerBackend::Start(std::move(options));
    ASSERT_TRUE(started) << started.error().ToString();
    backend_ = std::move(*started);
  }

  core::Result<host::Outcome> Run(const std::string& source, const run::RunOptions& options = {}) {
    return backend_->Run(tests::MakeRequest(source), options);
  }
  // On a thread of its own.
  std::future<core::Result<host::Outcome>> RunBeside(const std::string& source,
                                                     const run::RunOptions& options = {}) {
    return std::async(std::launch::async, [this, source, options] { return Run(source, options); });
  }
  // Its "begun" is there: the program runs.
  struct Begun {
    std::atomic<bool> begun = false;
    run::OutputSink sink{.on_stdout = [this](std::string_view) { begun = true; }, .on_stderr = {}};
    run::RunOptions Options() const {
      run::RunOptions options;
      options.sink = &sink;
      return options;
    }
  };

  bool Waiting(size_t count) {
    return tests::Eventually([&] { return backend_->counters().waiting == count; });
  }
  // Not by its pid: that of one that is gone is -1, and kill takes that for everybody.
  void KillTheOne() { EXPECT_TRUE(engine_->Kill(engine_->ids().at(0))); }

  const core::Profile profile_ = tests::BasicProfile();
  const std::shared_ptr<tests::ChildEngine> engine_ = std::make_shared<tests::ChildEngine>();
  std::unique_ptr<ContainerBackend> backend_;
};

bool HasThreads(pid_t pid) {
  std::error_code error;
  const std::filesystem::path threads = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(threads, error)) {
    if (thread.path().filename() != std::to_string(pid)) return true;
    const core::Result<std::string> stat = core::ReadFile(thread.path().string() + "/stat", 4096);
    if (stat && stat->find(") Z ") == stat->npos) return true;
  }
  return false;
}

const char kSleep[] = "print('begun', flush=True)\n" BELLJAR_UNTIL_KILLED;

// --- runs -----------------------------------------------------------------------------------

TEST_F(ContainerRuns, AWaitingContainerIsUsedOnce) {
  Open();
  ASSERT_TRUE(backend_->WaitForSpare(Soon()));
  const std::vector<std::string> first = engine_->ids();
  const core::Result<host::Outcome> outcome = Run("print('hello')\n6 * 7");
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kOk);
  EXPECT_EQ(outcome->stdout_stream.text, "hello\n");
  EXPECT_EQ(outcome->result_json, "42");
  EXPECT_EQ(outcome->isolation.mode, "standard");
  ASSERT_TRUE(outcome->container);
  EXPECT_EQ(outcome->container->engine, "Child Engine");
  EXPECT_EQ(outcome->container->runtime, "child");
  EXPECT_EQ(outcome->container->image_digest, "sha256:0123");
  EXPECT_TRUE(outcome->container->warm);
  EXPECT_GT(outcome->container->started_in.count(), 0);
  // It is gone, and another one is there.
  ASSERT_TRUE(
      tests::Eventually([&] { return engine_->starts() == 2 && engine_->ids().size() == 1; }));
  EXPECT_NE(engine_->ids(), first);
  EXPECT_TRUE(Waiting(1));
  EXPECT_EQ(backend_->counters().workers_spawned, 2u);
}

TEST_F(ContainerRuns, WithoutSparesEachRunStartsItsOwn) {
  Open(0);
  for (size_t run = 1; run <= 2; ++run) {
    const core::Result<host::Outcome> outcome = Run("1 + 1");
    ASSERT_TRUE(outcome) << outcome.error().ToString();
    EXPECT_EQ(outcome->result_json, "2");
    EXPECT_FALSE(outcome->container->warm);
    EXPECT_GT(outcome->container->started_in, milliseconds(1));
    EXPECT_EQ(engine_->starts(), run);
  }
  EXPECT_TRUE(tests::Eventually([&] { return engine_->ids().empty(); }));
}

TEST_F(ContainerRuns, ACallThatMayNotBeCostsNoContainer) {
  Open(0);
  host::Request request = tests::MakeRequest("1 + 1");
  request.allowed_domains = {"example.org"};  // of a profile without a network
  const core::Result<host::Outcome> outcome = backend_->Run(request, {});
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().ToString().find("no network to restrict"), std::string::npos);
  EXPECT_EQ(engine_->starts(), 0u);
}

TEST_F(ContainerRuns, FunctionsAreCalledOnTheThreadOfTheRun) {
  Open();
  host::Request request = tests::MakeRequest("[ask(n) for n in range(3)]");
  request.functions = {"ask"};
  std::vector<std::string> calls;
  run::RunOptions options;
  options.call = [&, here = std::this_thread::get_id()](std::string_view name,
                                                        std::string_view arguments) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    calls.push_back(std::string(name) + std::string(arguments));
    return std::string(R"({"value":42})");
  };
  const core::Result<host::Outcome> outcome = backend_->Run(request, options);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->result_json, "[42,42,42]");
  EXPECT_THAT(calls, ElementsAre(R"(ask{"args":[0],"kwargs":{}})", R"(ask{"args":[1],"kwargs":{}})",
                                 R"(ask{"args":[2],"kwargs":{}})"));
}

TEST_F(ContainerRuns, NoMoreThanTheMostAtATime) {
  Open(1, 2);
  std::vector<std::future<core::Result<host::Outcome>>> runs;
  for (int i = 0; i < 6; ++i) runs.push_back(RunBeside("'x' * 3"));
  for (auto& run : runs) {
    const core::Result<host::Outcome> outcome = run.get();
    ASSERT_TRUE(outcome) << outcome.error().ToString();
    EXPECT_EQ(outcome->result_json, R"("xxx")");
  }
  EXPECT_EQ(engine_->peak(), 2u);
  EXPECT_GE(engine_->starts(), 6u);
}

TEST_F(ContainerRuns, AllInUseIsAnError) {
  Open(0, 1);
  Begun begun;
  const core::UniqueFd cancel = MakeEvent();
  run::RunOptions first = begun.Options();
  first.cancel_fd = cancel.get();
  auto run = RunBeside(kSleep, first);
  ASSERT_TRUE(tests::Eventually([&] { return begun.begun.load(); }));
  run::RunOptions second;
  second.queue_timeout = milliseconds(50);
  const core::Result<host::Outcome> none = Run("1", second);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().error_number, ETIMEDOUT);
  EXPECT_THAT(none.error().ToString(), HasSubstr("all 1 allowed containers are in use"));
  Raise(cancel);
  EXPECT_EQ(run.get()->status, host::Status::kKilled);
}

TEST_F(ContainerRuns, OneThatIsLeftToAfterwardsIsRemovedThen) {
  Open(0);
  {
    host::DeferredTasks deferred;
    run::RunOptions options;
    options.deferred = &deferred;
    ASSERT_TRUE(Run("1", options));
    EXPECT_THAT(engine_->ids(), SizeIs(1));
  }
  EXPECT_TRUE(tests::Eventually([&] { return engine_->ids().empty(); }));
}

// --- cancelling -----------------------------------------------------------------------------

TEST_F(ContainerRuns, CancelledWhileItsContainerComesUp) {
  Open(0);
  engine_->Hold();
  const core::UniqueFd cancel = MakeEvent();
  run::RunOptions options;
  options.cancel_fd = cancel.get();
  auto run = RunBeside("1", options);
  Raise(cancel);
  const core::Result<host::Outcome> outcome = run.get();
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kKilled);
  EXPECT_EQ(outcome->error->type, "Cancelled");
  EXPECT_FALSE(outcome->container);
  EXPECT_EQ(engine_->starts(), 0u);
  engine_->LetGo();
}

TEST_F(ContainerRuns, CancelledWhileItRuns) {
  Open();
  Begun begun;
  const core::UniqueFd cancel = MakeEvent();
  run::RunOptions options = begun.Options();
  options.cancel_fd = cancel.get();
  auto run = RunBeside(kSleep, options);
  ASSERT_TRUE(tests::Eventually([&] { return begun.begun.load(); }));
  Raise(cancel);
  const core::Result<host::Outcome> outcome = run.get();
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->error->type, "Cancelled");
  EXPECT_EQ(outcome->stdout_stream.text, "begun\n");
  EXPECT_TRUE(outcome->container);
}

TEST_F(ContainerRuns, ATimeoutIsOne) {
  Open();
  const core::Result<host::Outcome> outcome =
      backend_->Run(tests::MakeRequest(kForever, milliseconds(300)), {});
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kTimeout);
}

TEST_F(ContainerRuns, ANoteOfASignalEndsTheWaitForAContainer) {
  Open(0);
  engine_->Hold();
  run::RunOptions options;
  options.interrupted = [] { return true; };
  const core::Result<host::Outcome> outcome = Run("1", options);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->error->type, "Cancelled");
  EXPECT_EQ(engine_->starts(), 0u);
  engine_->LetGo();
}

TEST_F(ContainerRuns, ANoteOfASignalEndsARun) {
  Open();
  Begun begun;
  run::RunOptions options = begun.Options();
  options.interrupted = [&] { return begun.begun.load(); };
  const core::Result<host::Outcome> outcome = Run(kSleep, options);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->error->type, "Cancelled");
  EXPECT_EQ(outcome->stdout_stream.text, "begun\n");
}

// --- what ends before its time ----------------------------------------------------------------

TEST_F(ContainerRuns, OneThatDiedWhileItWaitedIsNobodysConcern) {
  Open();
  ASSERT_TRUE(backend_->WaitForSpare(Soon()));
  const pid_t pid = engine_->pid_of(engine_->ids().at(0));
  ASSERT_GT(pid, 0);
  KillTheOne();
  // Its last thread takes the line with it, which may be later than its first is seen to have
  // ended.
  ASSERT_TRUE(tests::Eventually([&] { return !HasThreads(pid); }));
  const core::Result<host::Outcome> outcome = Run("1 + 1");
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->result_json, "2");
}

TEST_F(ContainerRuns, OneThatDiedWhileItWaitedIsReplaced) {
  Open();
  ASSERT_TRUE(backend_->WaitForSpare(Soon()));
  const std::vector<std::string> first = engine_->ids();
  KillTheOne();
  EXPECT_TRUE(tests::Eventually([&] {
    return backend_->counters().waiting == 1 && engine_->ids().size() == 1 &&
           engine_->ids() != first;
  }));
}

TEST_F(ContainerRuns, OneThatEndsInTheMiddleSaysHow) {
  Open();
  Begun begun;
  auto run = RunBeside(kSleep, begun.Options());
  ASSERT_TRUE(tests::Eventually([&] { return begun.begun.load(); }));
  // That of the run, and the spare if it is there by now.
  for (const std::string& id : engine_->ids()) EXPECT_TRUE(engine_->Kill(id));
  const core::Result<host::Outcome> outcome = run.get();
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kKilled);
  EXPECT_EQ(outcome->error->message,
            "the container ended in the middle of the run, with exit code 137");
  EXPECT_THAT(outcome->error->hint,
              HasSubstr("at its memory limit, " + MemoryOfContainer(profile_).ToString()));
  EXPECT_EQ(outcome->stdout_stream.text, "begun\n");
}

TEST_F(ContainerRuns, OneThatTheKernelEndsForItsMemoryIsAMemoryLimit) {
  Open(0);
  engine_->SetOutOfMemory();
  Begun begun;
  auto run = RunBeside(kSleep, begun.Options());
  ASSERT_TRUE(tests::Eventually([&] { return begun.begun.load(); }));
  KillTheOne();
  const core::Result<host::Outcome> outcome = run.get();
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kMemoryLimit);
  EXPECT_THAT(outcome->error->message,
              HasSubstr(MemoryOfContainer(profile_).ToString() + " of memory"));
}

// --- engines that fail ------------------------------------------------------------------------

TEST_F(ContainerRuns, AnEngineThatStopsEndsWhatRunsAndIsBackWhenItIs) {
  Open();
  Begun begun;
  auto run = RunBeside(kSleep, begun.Options());
  ASSERT_TRUE(tests::Eventually([&] { return begun.begun.load(); }));
  engine_->Stop();
  const core::Result<host::Outcome> outcome = run.get();
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kKilled);
  EXPECT_THAT(outcome->error->hint, HasSubstr("the engine has stopped"));

  const core::Result<host::Outcome> none = Run("1");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().ToString(), HasSubstr("the engine has stopped; start it"));
  const core::Result<void> no_spare = backend_->WaitForSpare(Soon());
  ASSERT_FALSE(no_spare);
  EXPECT_THAT(no_spare.error().ToString(), HasSubstr("start it"));

  engine_->StartAgain();
  EXPECT_TRUE(tests::Eventually([&] { return Run("1").ok(); }));
  // What could not be removed then is removed now.
  EXPECT_TRUE(tests::Eventually([&] { return engine_->ids().size() == 1; }));
}

TEST_F(ContainerRuns, WithoutSparesItIsBackToo) {
  Open(0);
  engine_->Stop();
  EXPECT_FALSE(Run("1"));
  engine_->StartAgain();
  EXPECT_TRUE(tests::Eventually([&] { return Run("1").ok(); }));
}

TEST_F(ContainerRuns, AGuestThatDoesNotComeUpSaysWhy) {
  engine_->SetProgram({"/bin/sh", "-c", "echo there is no such profile >&2"});
  Open(0);
  const core::Result<host::Outcome> outcome = Run("1");
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().ToString(), HasSubstr("it ended before it was ready"));
  EXPECT_THAT(outcome.error().ToString(), HasSubstr("there is no such profile"));
  EXPECT_EQ(engine_->starts(), 2u);
  EXPECT_TRUE(tests::Eventually([&] { return engine_->ids().empty(); }));
  engine_->SetProgram({});
  EXPECT_TRUE(tests::Eventually([&] { return Run("1").ok(); }));
}

TEST_F(ContainerRuns, WhatIsNoGuestIsRefused) {
  engine_->SetProgram({"/bin/cat", "/dev/zero"});
  Open(0);
  const core::Result<host::Outcome> outcome = Run("1");
  ASSERT_FALSE(outcome);
  EXPECT_TRUE(tests::Eventually([&] { return engine_->ids().empty(); }));
}

TEST_F(ContainerRuns, AGuestOfAnotherProfileIsRefused) {
  engine_->SetProgram({engine_->GuestProgram(), "--profile", "filesystem"});
  Open(0);
  const core::Result<host::Outcome> outcome = Run("1");
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().ToString(), HasSubstr(R"(profile "filesystem", not "basic")"));
}

// --- exhausted resources ----------------------------------------------------------------------

// In a child that has what `limit` leaves it: 0 where opening failed with `error_number`, 1 where
// it worked.
int OpenUnder(int resource, rlim_t limit, int error_number,
              const std::shared_ptr<tests::ChildEngine>& engine) {
  alarm(60);  // a constructor that waits for threads which do not end
  ContainerChoice choice{.engine = engine, .facts = {}, .runtime = "child", .image = {}};
  choice.image.id = "sha256:0123";
  const outside::SandboxOptions sandbox = tests::FullPython();
  const ContainerOptions options{.spares = 0, .max_containers = 4, .instance = kInstance};
  rlimit limited;
  getrlimit(static_cast<__rlimit_resource>(resource), &limited);
  limited.rlim_cur = limit;
  setrlimit(static_cast<__rlimit_resource>(resource), &limited);
  const auto opened = OpenContainerSandbox(sandbox, options, choice);
  if (opened) return 1;
  return opened.error().error_number == error_number ? 0 : 2;
}

TEST_F(ContainerRuns, NoDescriptorToWakeTheKeeperByIsAnErrorOfOpening) {
  if (tests::Sanitized()) GTEST_SKIP() << "the sanitizer needs descriptors itself";
  EXPECT_EQ(tests::InChild([&] { return OpenUnder(RLIMIT_NOFILE, 0, EMFILE, engine_); }),
            tests::Exited(0));
}

TEST_F(ContainerRuns, NoThreadForTheKeeperOrTheCrewIsAnErrorOfOpening) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("needs root, to become somebody else");
  if (tests::ThreadSanitized()) GTEST_SKIP() << "the sanitizer has threads of its own";
  constexpr uid_t kNobodyElse = 54331;
  // This process, a crew of four, the keeper.
  for (rlim_t processes = 1; processes <= 6; ++processes) {
    const tests::Death death = tests::InChild([&] {
      if (setresuid(kNobodyElse, kNobodyElse, kNobodyElse) != 0) return 3;
      return OpenUnder(RLIMIT_NPROC, processes, EAGAIN, engine_);
    });
    EXPECT_EQ(death, tests::Exited(processes < 6 ? 0 : 1)) << "with " << processes << " processes";
  }
}

// --- the end ----------------------------------------------------------------------------------

TEST_F(ContainerRuns, ClosingRemovesThemAll) {
  Open(2);
  ASSERT_TRUE(Waiting(2));
  EXPECT_THAT(engine_->ids(), SizeIs(2));
  backend_.reset();
  EXPECT_THAT(engine_->ids(), IsEmpty());
  EXPECT_THAT(tests::Children(), IsEmpty());
}

TEST_F(ContainerRuns, ClosingWhileOneComesUpRemovesItToo) {
  // It says nothing, and stays.
  engine_->SetProgram({"/bin/sleep", "1000"});
  Open(1);
  ASSERT_TRUE(tests::Eventually([&] { return engine_->starts() == 1; }));
  backend_.reset();
  EXPECT_THAT(engine_->ids(), IsEmpty());
}

TEST_F(ContainerRuns, ClosingTellsThoseWhoWait) {
  engine_->SetProgram({"/bin/sleep", "1000"});
  Open(0);
  core::Result<void> waited;
  std::atomic<bool> waits = false;
  std::thread waiter([&, backend = backend_.get()] {
    waits = true;
    waited = backend->WaitForSpare(Soon());
  });
  ASSERT_TRUE(tests::Eventually([&] { return waits.load(); }));
  std::this_thread::sleep_for(milliseconds(200));  // sleeps: it waits, or is about to
  backend_.reset();
  waiter.join();
  EXPECT_FALSE(waited);
}

size_t Threads() {
  const auto tasks = std::filesystem::directory_iterator("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST_F(ContainerRuns, FiftyOfThemLeaveNothing) {
  // What a first one makes and keeps is not counted.
  Open();
  ASSERT_TRUE(Run("1"));
  backend_.reset();
  const size_t descriptors = tests::OpenDescriptors();
  const size_t threads = Threads();
  Open(2);
  for (int run = 0; run < 50; ++run) {
    const core::Result<host::Outcome> outcome = Run("1");
    ASSERT_TRUE(outcome) << outcome.error().ToString();
  }
  backend_.reset();
  EXPECT_EQ(tests::OpenDescriptors(), descriptors);
  EXPECT_EQ(Threads(), threads);
  EXPECT_THAT(engine_->ids(), IsEmpty());
  EXPECT_THAT(tests::Children(), IsEmpty());
}

// --- owners -----------------------------------------------------------------------------------

TEST_F(ContainerRuns, TheyAreLabelledWithTheirOwner) {
  Open();
  ASSERT_TRUE(backend_->WaitForSpare(Soon()));
  const engines::ContainerSpec spec = engine_->last_spec();
  EXPECT_EQ(spec.labels.at(kInstanceLabel), kInstance);
  EXPECT_EQ(StateOfOwner(spec.labels.at(kOwnerLabel)), OwnerState::kLiving);
  const core::Result<size_t> removed = RemoveOrphans(*engine_, kInstance);
  ASSERT_TRUE(removed);
  EXPECT_EQ(*removed, 0u);
  EXPECT_THAT(engine_->ids(), SizeIs(1));
}

std::string ReplacePart(const std::string& owner, int part, const std::string& with) {
  size_t start = 0;
  for (int i = 0; i < part; ++i) start = owner.find('/', start) + 1;
  const size_t end = std::min(owner.find('/', start), owner.size());
  return owner.substr(0, start) + with + owner.substr(end);
}

TEST(ContainerOwner, OneThatHasEndedIsDead) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const core::Result<std::string> owner = OwnerOfThisProcess();
    if (!owner) _exit(1);
    (void)!write(pipe_ends[1], owner->data(), owner->size());
    for (;;) pause();
  }
  close(pipe_ends[1]);  // of a child that ends without a word the end is read
  char text[200];
  const ssize_t size = read(pipe_ends[0], text, sizeof text);
  ASSERT_GT(size, 0);
  const std::string owner(text, static_cast<size_t>(size));
  EXPECT_EQ(StateOfOwner(owner), OwnerState::kLiving);
  kill(child, SIGKILL);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(StateOfOwner(owner), OwnerState::kDead);  // not reaped yet
  waitpid(child, nullptr, 0);
  EXPECT_EQ(StateOfOwner(owner), OwnerState::kDead);
  close(pipe_ends[0]);
}

TEST(ContainerOwner, AnotherOneOfTheSamePidIsNotTheOwner) {
  const std::string own = *OwnerOfThisProcess();
  EXPECT_EQ(StateOfOwner(own), OwnerState::kLiving);
  EXPECT_EQ(StateOfOwner(ReplacePart(own, 3, "1")), OwnerState::kDead);
  EXPECT_EQ(StateOfOwner(ReplacePart(own, 0, "another-boot")), OwnerState::kUnknown);
  EXPECT_EQ(StateOfOwner(ReplacePart(own, 1, "1")), OwnerState::kUnknown);
  for (const char* const none : {"", "x", "/", "///", "a/b/c/d", "1/2/../3"}) {
    EXPECT_EQ(StateOfOwner(none), OwnerState::kUnknown) << none;
  }
}

TEST(ContainerOwner, OrphansAreThoseOfDeadOwners) {
  tests::ChildEngine engine;
  const std::string own = *OwnerOfThisProcess();
  const std::string elsewhere = ReplacePart(own, 1, "1");
  const auto labels = [](const std::string& owner, const std::string& created,
                         const std::string& instance = kInstance) {
    return std::map<std::string, std::string>{
        {kInstanceLabel, instance}, {kOwnerLabel, owner}, {kCreatedLabel, created}};
  };
  const std::string now = OwnerLabels(kInstance)->at(kCreatedLabel);
  const std::string dead = ReplacePart(own, 3, "1");
  const std::vector<std::string> gone = {
      engine.AddLeftOver(labels(dead, now), true), engine.AddLeftOver(labels(dead, now), false),
      engine.AddLeftOver(labels(ReplacePart(own, 0, "another-boot"), "1000"), false),
      engine.AddLeftOver(labels(elsewhere, "1000"), false)};
  const std::vector<std::string> left = {
      engine.AddLeftOver(labels(own, "1000"), true),
      engine.AddLeftOver(labels(own, "1000"), false),
      engine.AddLeftOver(labels(elsewhere, "1000"), true),
      engine.AddLeftOver(labels(ReplacePart(own, 0, "another-boot"), "1000"), true),
      engine.AddLeftOver(labels(elsewhere, now), false),
      engine.AddLeftOver(labels(elsewhere, "soon"), false),
      engine.AddLeftOver(labels(dead, now, "another"), false)};
  const core::Result<size_t> removed = RemoveOrphans(engine, kInstance);
  ASSERT_TRUE(removed) << removed.error().ToString();
  EXPECT_EQ(*removed, gone.size());
  EXPECT_THAT(engine.ids(), ::testing::UnorderedElementsAreArray(left));
}

TEST(ContainerOwner, AnInstanceIsOfAUserAndAnInstallation) {
  installation::Installation one;
  one.zygote = "/usr/libexec/belljar/belljar-zygote";
  installation::Installation other = one;
  other.zygote = "/opt/belljar/belljar-zygote";
  EXPECT_EQ(DefaultInstance(one), DefaultInstance(one));
  EXPECT_NE(DefaultInstance(one), DefaultInstance(other));
}

// --- plans ------------------------------------------------------------------------------------

TEST(ContainerPlan, MemoryIsMoreThanTheLargestRunMayUse) {
  core::Profile profile = tests::BasicProfile();
  const core::Bytes basic = MemoryOfContainer(profile);
  EXPECT_GT(basic, profile.maximum_limits.memory);
  profile.workspace = core::WorkspaceRule{.size = core::Bytes::Mebi(64), .inodes = 100};
  // Two folders, and what is carried in and out of them.
  EXPECT_GE(MemoryOfContainer(profile).count, basic.count + 3 * core::Bytes::Mebi(64).count);
  profile.packages.push_back({});
  EXPECT_GE(MemoryOfContainer(profile).count, basic.count + core::Bytes::Mebi(512).count);
}

TEST(ContainerPlan, SaysWhatTheGuestHasToBe) {
  core::Profile profile = tests::BasicProfile();
  profile.workspace = core::WorkspaceRule{.size = core::Bytes::Mebi(64), .inodes = 100};
  ContainerChoice choice;
  choice.runtime = "runsc";
  choice.image.id = "sha256:0123";
  const GuestTerms terms = GuestTerms::Of(profile, "standard", "on");
  const engines::ContainerSpec spec = PlanContainer(choice, profile, terms, std::nullopt);
  EXPECT_EQ(spec.image, "sha256:0123");
  EXPECT_EQ(spec.runtime, "runsc");
  EXPECT_THAT(spec.command, ElementsAre("/opt/belljar/belljar-guest", "--profile", "basic",
                                        "--isolation", "standard", "--policy", "on"));
  ASSERT_THAT(spec.folders, SizeIs(2));
  EXPECT_EQ(spec.folders[1].path, "/workspace");
  EXPECT_EQ(spec.folders[1].size, core::Bytes::Mebi(64));
  EXPECT_EQ(spec.memory, MemoryOfContainer(profile));
  EXPECT_GE(spec.pids, 64u);
  const engines::ContainerSpec less = PlanContainer(choice, profile, terms, core::Bytes::Mebi(300));
  EXPECT_EQ(less.memory, core::Bytes::Mebi(300));
}

}  // namespace
}  // namespace belljar::container::backend::backend_test
