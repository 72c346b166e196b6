// Runs in containers, without containers: the real backend, the real belljar-guest, and an engine
// that starts it as a child of the test (child_engine.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
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
#include "engine/core/afterwards.h"
#include "tests/container/child_engine.h"
#include "tests/engine/support.h"

namespace belljar {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kInstance[] = "backend-test";
constexpr char kForever[] = "while True: pass";

Deadline Soon() { return Clock::now() + seconds(60); }

UniqueFd MakeEvent() { return UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }
void Raise(const UniqueFd& event) { EXPECT_EQ(eventfd_write(event.get(), 1), 0); }

class ContainerRuns : public ::testing::Test {
 protected:
  void Open(size_t spares = 1, size_t most = 4) {
    ContainerChoice choice{.engine = engine_, .facts = {}, .runtime = "child", .image = {}};
    choice.image.id = "sha256:0123";
    ContainerBackendOptions options;
    options.report = {.engine = "Child Engine", .runtime = "child", .image_digest = "sha256:0123"};
    options.pool.engine = engine_;
    options.pool.terms = GuestTerms::Of(profile_, "standard", "full");
    options.pool.spec = PlanContainer(choice, profile_, options.pool.terms, std::nullopt);
    options.pool.instance = kInstance;
    options.pool.spares = spares;
    options.pool.most = most;
    backend_ = std::make_unique<ContainerBackend>(std::move(options));
  }

  Result<Outcome> Run(const std::string& source, const RunOptions& options = {}) {
    return backend_->Run(MakeRequest(source), options);
  }
  // On a thread of its own.
  std::future<Result<Outcome>> RunBeside(const std::string& source,
                                         const RunOptions& options = {}) {
    return std::async(std::launch::async, [this, source, options] { return Run(source, options); });
  }
  // Its "begun" is there: the program runs.
  struct Begun {
    std::atomic<bool> begun = false;
    OutputSink sink{.on_stdout = [this](std::string_view) { begun = true; }, .on_stderr = {}};
    RunOptions Options() const {
      RunOptions options;
      options.sink = &sink;
      return options;
    }
  };

  bool Waiting(size_t count) {
    return Eventually([&] { return backend_->counters().waiting == count; }, seconds(60));
  }
  // Not by its pid: that of one that is gone is -1, and kill takes that for everybody.
  void KillTheOne() { EXPECT_TRUE(engine_->Kill(engine_->ids().at(0))); }

  const Profile profile_ = BasicProfile();
  const std::shared_ptr<ChildEngine> engine_ = std::make_shared<ChildEngine>();
  std::unique_ptr<ContainerBackend> backend_;
};

bool HasThreads(pid_t pid) {
  std::error_code error;
  const std::filesystem::path threads = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(threads, error)) {
    if (thread.path().filename() != std::to_string(pid)) return true;
    const Result<std::string> stat = ReadFile(thread.path().string() + "/stat", 4096);
    if (stat && stat->find(") Z ") == stat->npos) return true;
  }
  return false;
}

const char kSleep[] = "print('begun', flush=True)\nimport time\ntime.sleep(100)";

// --- runs -----------------------------------------------------------------------------------

TEST_F(ContainerRuns, AWaitingContainerIsUsedOnce) {
  Open();
  ASSERT_TRUE(backend_->WaitForSpare(Soon()));
  const std::vector<std::string> first = engine_->ids();
  const Result<Outcome> outcome = Run("print('hello')\n6 * 7");
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, Status::kOk);
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
  ASSERT_TRUE(Eventually([&] { return engine_->starts() == 2 && engine_->ids().size() == 1; }));
  EXPECT_NE(engine_->ids(), first);
  EXPECT_TRUE(Waiting(1));
  EXPECT_EQ(backend_->counters().workers_spawned, 2u);
}

TEST_F(ContainerRuns, WithoutSparesEachRunStartsItsOwn) {
  Open(0);
  for (size_t run = 1; run <= 2; ++run) {
    const Result<Outcome> outcome = Run("1 + 1");
    ASSERT_TRUE(outcome) << outcome.error().ToString();
    EXPECT_EQ(outcome->result_json, "2");
    EXPECT_FALSE(outcome->container->warm);
    EXPECT_GT(outcome->container->started_in, milliseconds(1));
    EXPECT_EQ(engine_->starts(), run);
  }
  EXPECT_TRUE(Eventually([&] { return engine_->ids().empty(); }));
}

TEST_F(ContainerRuns, ACallThatMayNotBeCostsNoContainer) {
  Open(0);
  Request request = MakeRequest("1 + 1");
  request.allowed_domains = {"example.org"};  // of a profile without a network
  const Result<Outcome> outcome = backend_->Run(request, {});
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().ToString().find("no network to narrow"), std::string::npos);
  EXPECT_EQ(engine_->starts(), 0u);
}

TEST_F(ContainerRuns, FunctionsAreCalledOnTheThreadOfTheRun) {
  Open();
  Request request = MakeRequest("[ask(n) for n in range(3)]");
  request.functions = {"ask"};
  std::vector<std::string> calls;
  RunOptions options;
  options.call = [&, here = std::this_thread::get_id()](std::string_view name,
                                                        std::string_view arguments) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    calls.push_back(std::string(name) + std::string(arguments));
    return std::string(R"({"value":42})");
  };
  const Result<Outcome> outcome = backend_->Run(request, options);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->result_json, "[42,42,42]");
  EXPECT_THAT(calls, ElementsAre(R"(ask{"args":[0],"kwargs":{}})", R"(ask{"args":[1],"kwargs":{}})",
                                 R"(ask{"args":[2],"kwargs":{}})"));
}

TEST_F(ContainerRuns, NoMoreThanTheMostAtATime) {
  Open(1, 2);
  std::vector<std::future<Result<Outcome>>> runs;
  for (int i = 0; i < 6; ++i) runs.push_back(RunBeside("'x' * 3"));
  for (auto& run : runs) {
    const Result<Outcome> outcome = run.get();
    ASSERT_TRUE(outcome) << outcome.error().ToString();
    EXPECT_EQ(outcome->result_json, R"("xxx")");
  }
  EXPECT_EQ(engine_->most(), 2u);
  EXPECT_GE(engine_->starts(), 6u);
}

TEST_F(ContainerRuns, WhoFindsAllInUseIsToldSo) {
  Open(0, 1);
  Begun begun;
  const UniqueFd cancel = MakeEvent();
  RunOptions first = begun.Options();
  first.cancel_fd = cancel.get();
  auto run = RunBeside(kSleep, first);
  ASSERT_TRUE(Eventually([&] { return begun.begun.load(); }, seconds(60)));
  RunOptions second;
  second.queue_timeout = milliseconds(50);
  const Result<Outcome> none = Run("1", second);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().error_number, ETIMEDOUT);
  EXPECT_THAT(none.error().ToString(), HasSubstr("all 1 that there may be are in use"));
  Raise(cancel);
  EXPECT_EQ(run.get()->status, Status::kKilled);
}

TEST_F(ContainerRuns, OneThatIsLeftToAfterwardsIsRemovedThen) {
  Open(0);
  {
    Afterwards afterwards;
    RunOptions options;
    options.afterwards = &afterwards;
    ASSERT_TRUE(Run("1", options));
    EXPECT_THAT(engine_->ids(), SizeIs(1));
  }
  EXPECT_TRUE(Eventually([&] { return engine_->ids().empty(); }));
}

// --- cancelling -----------------------------------------------------------------------------

TEST_F(ContainerRuns, CancelledWhileItsContainerComesUp) {
  Open(0);
  engine_->SetDelay(seconds(2));
  const UniqueFd cancel = MakeEvent();
  RunOptions options;
  options.cancel_fd = cancel.get();
  auto run = RunBeside("1", options);
  Raise(cancel);
  const Result<Outcome> outcome = run.get();
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, Status::kKilled);
  EXPECT_EQ(outcome->error->type, "Cancelled");
  EXPECT_FALSE(outcome->container);
  EXPECT_EQ(engine_->starts(), 0u);
}

TEST_F(ContainerRuns, CancelledWhileItRuns) {
  Open();
  Begun begun;
  const UniqueFd cancel = MakeEvent();
  RunOptions options = begun.Options();
  options.cancel_fd = cancel.get();
  auto run = RunBeside(kSleep, options);
  ASSERT_TRUE(Eventually([&] { return begun.begun.load(); }, seconds(60)));
  Raise(cancel);
  const Result<Outcome> outcome = run.get();
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->error->type, "Cancelled");
  EXPECT_EQ(outcome->stdout_stream.text, "begun\n");
  EXPECT_TRUE(outcome->container);
}

TEST_F(ContainerRuns, ATimeoutIsOne) {
  Open();
  const Result<Outcome> outcome = backend_->Run(MakeRequest(kForever, milliseconds(300)), {});
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, Status::kTimeout);
}

TEST_F(ContainerRuns, ANoteOfASignalEndsTheWaitForAContainer) {
  Open(0);
  engine_->SetDelay(seconds(2));
  RunOptions options;
  options.interrupted = [] { return true; };
  const auto start = Clock::now();
  const Result<Outcome> outcome = Run("1", options);
  EXPECT_LT(Clock::now() - start, seconds(1));
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->error->type, "Cancelled");
  EXPECT_EQ(engine_->starts(), 0u);
}

TEST_F(ContainerRuns, ANoteOfASignalEndsARun) {
  Open();
  Begun begun;
  RunOptions options = begun.Options();
  options.interrupted = [&] { return begun.begun.load(); };
  const Result<Outcome> outcome = Run(kSleep, options);
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
  ASSERT_TRUE(Eventually([&] { return !HasThreads(pid); }));
  const Result<Outcome> outcome = Run("1 + 1");
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->result_json, "2");
}

TEST_F(ContainerRuns, OneThatDiedWhileItWaitedIsReplaced) {
  Open();
  ASSERT_TRUE(backend_->WaitForSpare(Soon()));
  const std::vector<std::string> first = engine_->ids();
  KillTheOne();
  EXPECT_TRUE(Eventually([&] {
    return backend_->counters().waiting == 1 && engine_->ids().size() == 1 &&
           engine_->ids() != first;
  }));
}

TEST_F(ContainerRuns, OneThatEndsInTheMiddleSaysHow) {
  Open();
  Begun begun;
  auto run = RunBeside(kSleep, begun.Options());
  ASSERT_TRUE(Eventually([&] { return begun.begun.load(); }, seconds(60)));
  // That of the run, and the spare if it is there by now.
  for (const std::string& id : engine_->ids()) EXPECT_TRUE(engine_->Kill(id));
  const Result<Outcome> outcome = run.get();
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, Status::kKilled);
  EXPECT_EQ(outcome->error->message,
            "the container ended in the middle of the run, with exit code 137");
  EXPECT_EQ(outcome->stdout_stream.text, "begun\n");
}

TEST_F(ContainerRuns, OneThatTheKernelEndsForItsMemoryIsAMemoryLimit) {
  Open(0);
  engine_->SetOutOfMemory();
  Begun begun;
  auto run = RunBeside(kSleep, begun.Options());
  ASSERT_TRUE(Eventually([&] { return begun.begun.load(); }, seconds(60)));
  KillTheOne();
  const Result<Outcome> outcome = run.get();
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, Status::kMemoryLimit);
  EXPECT_THAT(outcome->error->message,
              HasSubstr(MemoryOfContainer(profile_).ToString() + " of memory"));
}

// --- engines that fail ------------------------------------------------------------------------

TEST_F(ContainerRuns, AnEngineThatStopsEndsWhatRunsAndIsBackWhenItIs) {
  Open();
  Begun begun;
  auto run = RunBeside(kSleep, begun.Options());
  ASSERT_TRUE(Eventually([&] { return begun.begun.load(); }, seconds(60)));
  engine_->Stop();
  const Result<Outcome> outcome = run.get();
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, Status::kKilled);
  EXPECT_THAT(outcome->error->hint, HasSubstr("the engine has stopped"));

  const Result<Outcome> none = Run("1");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().ToString(), HasSubstr("the engine has stopped; start it"));
  const Result<void> no_spare = backend_->WaitForSpare(Soon());
  ASSERT_FALSE(no_spare);
  EXPECT_THAT(no_spare.error().ToString(), HasSubstr("start it"));

  engine_->StartAgain();
  EXPECT_TRUE(Eventually([&] { return Run("1").ok(); }, seconds(60)));
  // What could not be removed then is removed now.
  EXPECT_TRUE(Eventually([&] { return engine_->ids().size() == 1; }, seconds(60)));
}

TEST_F(ContainerRuns, WithoutSparesItIsBackToo) {
  Open(0);
  engine_->Stop();
  EXPECT_FALSE(Run("1"));
  engine_->StartAgain();
  EXPECT_TRUE(Eventually([&] { return Run("1").ok(); }, seconds(60)));
}

TEST_F(ContainerRuns, AGuestThatDoesNotComeUpSaysWhy) {
  engine_->SetProgram({"/bin/sh", "-c", "echo there is no such profile >&2"});
  Open(0);
  const Result<Outcome> outcome = Run("1");
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().ToString(), HasSubstr("it ended before it was ready"));
  EXPECT_THAT(outcome.error().ToString(), HasSubstr("there is no such profile"));
  EXPECT_EQ(engine_->starts(), 2u);
  EXPECT_TRUE(Eventually([&] { return engine_->ids().empty(); }));
  engine_->SetProgram({});
  EXPECT_TRUE(Eventually([&] { return Run("1").ok(); }, seconds(60)));
}

TEST_F(ContainerRuns, WhatIsNoGuestIsRefused) {
  engine_->SetProgram({"/bin/cat", "/dev/zero"});
  Open(0);
  const Result<Outcome> outcome = Run("1");
  ASSERT_FALSE(outcome);
  EXPECT_TRUE(Eventually([&] { return engine_->ids().empty(); }));
}

TEST_F(ContainerRuns, AGuestOfAnotherProfileIsRefused) {
  engine_->SetProgram({engine_->GuestProgram(), "--profile", "filesystem"});
  Open(0);
  const Result<Outcome> outcome = Run("1");
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().ToString(), HasSubstr(R"(profile "filesystem", not "basic")"));
}

// --- the end ----------------------------------------------------------------------------------

TEST_F(ContainerRuns, ClosingRemovesThemAll) {
  Open(2);
  ASSERT_TRUE(Waiting(2));
  EXPECT_THAT(engine_->ids(), SizeIs(2));
  backend_.reset();
  EXPECT_THAT(engine_->ids(), IsEmpty());
  EXPECT_THAT(Children(), IsEmpty());
}

TEST_F(ContainerRuns, ClosingWhileOneComesUpRemovesItToo) {
  // It says nothing, and stays.
  engine_->SetProgram({"/bin/sleep", "1000"});
  Open(1);
  ASSERT_TRUE(Eventually([&] { return engine_->starts() == 1; }));
  backend_.reset();
  EXPECT_THAT(engine_->ids(), IsEmpty());
}

TEST_F(ContainerRuns, ClosingTellsThoseWhoWait) {
  engine_->SetProgram({"/bin/sleep", "1000"});
  Open(0);
  Result<void> told;
  std::atomic<bool> waits = false;
  std::thread waiter([&, backend = backend_.get()] {
    waits = true;
    told = backend->WaitForSpare(Soon());
  });
  ASSERT_TRUE(Eventually([&] { return waits.load(); }));
  std::this_thread::sleep_for(milliseconds(200));
  backend_.reset();
  waiter.join();
  EXPECT_FALSE(told);
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
  const size_t descriptors = OpenDescriptors();
  const size_t threads = Threads();
  Open(2);
  for (int run = 0; run < 50; ++run) {
    const Result<Outcome> outcome = Run("1");
    ASSERT_TRUE(outcome) << outcome.error().ToString();
  }
  backend_.reset();
  EXPECT_EQ(OpenDescriptors(), descriptors);
  EXPECT_EQ(Threads(), threads);
  EXPECT_THAT(engine_->ids(), IsEmpty());
  EXPECT_THAT(Children(), IsEmpty());
}

// --- owners -----------------------------------------------------------------------------------

TEST_F(ContainerRuns, TheyAreLabelledWithTheirOwner) {
  Open();
  ASSERT_TRUE(backend_->WaitForSpare(Soon()));
  const ContainerSpec spec = engine_->last_spec();
  EXPECT_EQ(spec.labels.at(kInstanceLabel), kInstance);
  EXPECT_EQ(StateOfOwner(spec.labels.at(kOwnerLabel)), OwnerState::kLiving);
  const Result<size_t> removed = RemoveOrphans(*engine_, kInstance);
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
    const Result<std::string> owner = OwnerOfThisProcess();
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
  ChildEngine engine;
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
  const Result<size_t> removed = RemoveOrphans(engine, kInstance);
  ASSERT_TRUE(removed) << removed.error().ToString();
  EXPECT_EQ(*removed, gone.size());
  EXPECT_THAT(engine.ids(), ::testing::UnorderedElementsAreArray(left));
}

TEST(ContainerOwner, AnInstanceIsOfAUserAndAnInstallation) {
  Installation one;
  one.zygote = "/usr/libexec/belljar/belljar-zygote";
  Installation other = one;
  other.zygote = "/opt/belljar/belljar-zygote";
  EXPECT_EQ(UsualInstance(one), UsualInstance(one));
  EXPECT_NE(UsualInstance(one), UsualInstance(other));
}

// --- plans ------------------------------------------------------------------------------------

TEST(ContainerPlan, MemoryIsMoreThanTheLargestRunMayUse) {
  Profile profile = BasicProfile();
  const Bytes basic = MemoryOfContainer(profile);
  EXPECT_GT(basic, profile.maximum_limits.memory);
  profile.workspace = WorkspaceRule{.size = Bytes::Mebi(64), .inodes = 100};
  // Two folders, and what is carried in and out of them.
  EXPECT_GE(MemoryOfContainer(profile).count, basic.count + 3 * Bytes::Mebi(64).count);
  profile.packages.push_back({});
  EXPECT_GE(MemoryOfContainer(profile).count, basic.count + Bytes::Mebi(512).count);
}

TEST(ContainerPlan, SaysWhatTheGuestHasToBe) {
  Profile profile = BasicProfile();
  profile.workspace = WorkspaceRule{.size = Bytes::Mebi(64), .inodes = 100};
  ContainerChoice choice;
  choice.runtime = "runsc";
  choice.image.id = "sha256:0123";
  const GuestTerms terms = GuestTerms::Of(profile, "standard", "restricted");
  const ContainerSpec spec = PlanContainer(choice, profile, terms, std::nullopt);
  EXPECT_EQ(spec.image, "sha256:0123");
  EXPECT_EQ(spec.runtime, "runsc");
  EXPECT_THAT(spec.command, ElementsAre("/opt/belljar/belljar-guest", "--profile", "basic",
                                        "--isolation", "standard", "--language", "restricted"));
  ASSERT_THAT(spec.folders, SizeIs(2));
  EXPECT_EQ(spec.folders[1].path, "/workspace");
  EXPECT_EQ(spec.folders[1].size, Bytes::Mebi(64));
  EXPECT_FALSE(spec.folders[1].executable);
  EXPECT_EQ(spec.memory, MemoryOfContainer(profile));
  EXPECT_GE(spec.pids, 64u);
  const ContainerSpec less = PlanContainer(choice, profile, terms, Bytes::Mebi(300));
  EXPECT_EQ(less.memory, Bytes::Mebi(300));
}

}  // namespace
}  // namespace belljar
