// A sandbox for a single run: its zygote is its worker.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "engine/outside/probe.h"
#include "engine/profiles/profile_catalogue.h"
#include "tests/support/support.h"

namespace belljar::outside::single_run_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

SandboxOptions SingleRun() {
  SandboxOptions options = tests::FullPython();
  options.single_run = true;
  return options;
}

core::Deadline Soon() { return core::Clock::now() + seconds(60); }

TEST(SingleRun, OneProcessIsZygoteAndWorker) {
  const size_t before = tests::Children().size();
  const auto sandbox = tests::Open(SingleRun());
  ASSERT_TRUE(sandbox);
  ASSERT_TRUE(sandbox->WaitForSpare(Soon()));
  EXPECT_EQ(tests::Children().size(), before + 1);
  const Backend::Counters counters = sandbox->counters();
  EXPECT_EQ(counters.zygotes_started, 1u);
  EXPECT_EQ(counters.workers_spawned, 1u);
  EXPECT_EQ(counters.waiting, 1u);
  const auto outcome = sandbox->Run(tests::MakeRequest("print('hello')\n6 * 7"));
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kOk);
  EXPECT_EQ(outcome->stdout_stream.text, "hello\n");
  EXPECT_EQ(outcome->result_json, "42");
  EXPECT_TRUE(tests::Eventually([&] { return tests::Children().size() == before; }))
      << "it is not reaped";
}

TEST(SingleRun, ItIsHeldAsAClonedWorkerIs) {
  if (!ProbeNamespaces()) BELLJAR_SKIP_OR_FAIL("needs user namespaces");
  const char* const kLook =
      "import os\n"
      "denied = []\n"
      "for attempt in (os.fork, lambda: os.listdir('/etc'), lambda: open('/proc/self/status'),\n"
      "                lambda: open('/new', 'w'), lambda: os.kill(os.getpid() + 1, 0)):\n"
      "    try:\n"
      "        attempt()\n"
      "        denied.append('done')\n"
      "    except OSError as error:\n"
      "        denied.append(error.errno)\n"
      "print(os.getpid(), os.getuid(), denied)\n";
  std::vector<host::Outcome> outcomes;
  for (const bool single : {false, true}) {
    SandboxOptions options = tests::FullPython();
    options.single_run = single;
    options.spares = 1;
    const auto sandbox = tests::Open(std::move(options));
    ASSERT_TRUE(sandbox);
    auto outcome = sandbox->Run(tests::MakeRequest(kLook));
    ASSERT_TRUE(outcome) << outcome.error().ToString();
    EXPECT_EQ(outcome->status, host::Status::kOk)
        << (outcome->error ? outcome->error->message : "");
    outcomes.push_back(std::move(*outcome));
  }
  EXPECT_EQ(outcomes[0].stdout_stream.text, outcomes[1].stdout_stream.text);
  ASSERT_EQ(outcomes[0].isolation.layers.size(), outcomes[1].isolation.layers.size());
  for (size_t i = 0; i < outcomes[0].isolation.layers.size(); ++i) {
    EXPECT_EQ(outcomes[0].isolation.layers[i].name, outcomes[1].isolation.layers[i].name);
    EXPECT_EQ(outcomes[0].isolation.layers[i].held, outcomes[1].isolation.layers[i].held);
    EXPECT_EQ(outcomes[0].isolation.layers[i].detail, outcomes[1].isolation.layers[i].detail);
  }
}

TEST(SingleRun, WhatItTookToComeUpIsNotOnTheRunsCpuTime) {
  auto sandbox = tests::Open(SingleRun());
  ASSERT_TRUE(sandbox);
  const auto all = sandbox->Run(tests::MakeRequest("import time\ntime.process_time_ns()"));
  ASSERT_TRUE(all) << all.error().ToString();
  ASSERT_EQ(all->status, host::Status::kOk);
  const std::chrono::nanoseconds used(std::stoll(all->result_json.value_or("0")));
  EXPECT_GT(used, milliseconds(10)) << "nothing to tell apart";
  EXPECT_LT(all->usage.cpu_time, used / 2);
  sandbox = tests::Open(SingleRun());
  ASSERT_TRUE(sandbox);
  // sleeps: so that its use of the processor is looked at several times
  host::Request request = tests::MakeRequest("import time\ntime.sleep(1)");
  request.limits.cpu = std::chrono::ceil<milliseconds>(used / 2);
  const auto less = sandbox->Run(request);
  ASSERT_TRUE(less) << less.error().ToString();
  EXPECT_EQ(less->status, host::Status::kOk) << (less->error ? less->error->message : "");
}

TEST(SingleRun, EachLayerLeftOutIsReportedAsNotHeld) {
  for (const char* name : {"namespaces", "privileges", "rlimits", "landlock", "seccomp"}) {
    SandboxOptions options = SingleRun();
    options.without_layers = {name};
    const auto sandbox = tests::Open(std::move(options));
    ASSERT_TRUE(sandbox);
    const auto outcome = sandbox->Run(tests::MakeRequest("pass"));
    ASSERT_TRUE(outcome) << "without " << name << ": " << outcome.error().ToString();
    for (const host::LayerState& layer : outcome->isolation.layers) {
      if (layer.name == "cgroup") continue;
      EXPECT_EQ(layer.held, layer.name != name)
          << "without " << name << ": " << layer.name << ": " << layer.detail;
    }
  }
}

TEST(SingleRun, ASecondRunIsAnErrorAtOnceThatSaysWhy) {
  const auto sandbox = tests::Open(SingleRun());
  ASSERT_TRUE(sandbox);
  ASSERT_TRUE(sandbox->Run(tests::MakeRequest("pass")));
  run::RunOptions patient;
  patient.queue_timeout = std::chrono::hours(1);
  const auto second = sandbox->Run(tests::MakeRequest("pass"), patient);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().ToString().find("single run"), std::string::npos);
  const auto spare = sandbox->WaitForSpare(core::Clock::now() + std::chrono::hours(1));
  ASSERT_FALSE(spare);
  EXPECT_NE(spare.error().ToString().find("single run"), std::string::npos);
}

TEST(SingleRun, OneOfManyTakersGetsItAndTheOthersGetAnError) {
  const auto sandbox = tests::Open(SingleRun());
  ASSERT_TRUE(sandbox);
  std::atomic<int> ran{0}, refused{0};
  std::vector<std::thread> takers;
  for (int i = 0; i < 8; ++i) {
    takers.emplace_back([&] {
      run::RunOptions patient;
      patient.queue_timeout = std::chrono::hours(1);
      const auto outcome = sandbox->Run(tests::MakeRequest("pass"), patient);
      ++(outcome ? ran : refused);
    });
  }
  for (std::thread& taker : takers) taker.join();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(refused, 7);
}

TEST(SingleRun, KilledWhileItWaitsIsReportedAndNotReplaced) {
  const auto sandbox = tests::Open(SingleRun());
  ASSERT_TRUE(sandbox);
  ASSERT_TRUE(sandbox->WaitForSpare(Soon()));
  const std::vector<pid_t> workers = tests::WorkersOf(*sandbox);
  ASSERT_EQ(workers.size(), 1u);
  kill(workers[0], SIGKILL);
  // Until it has died; the pool reaps it.
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(workers[0]), &ended, WEXITED | WNOWAIT | __WALL), 0);
  const auto outcome = sandbox->Run(tests::MakeRequest("pass"));
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().ToString().find("single run"), std::string::npos)
      << outcome.error().ToString();
}

TEST(SingleRun, WhatCannotComeUpSaysWhy) {
  SandboxOptions options = SingleRun();
  options.profile.modules.push_back({"no_such_module", {}});
  options.profile.paths.push_back({"/nowhere/at/all"});
  const auto sandbox = tests::Open(std::move(options));
  ASSERT_TRUE(sandbox);
  const auto outcome = sandbox->Run(tests::MakeRequest("pass"));
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().ToString().find("/nowhere/at/all"), std::string::npos)
      << outcome.error().ToString();
}

TEST(SingleRun, AWorkspaceIsItsOwn) {
  if (!ProbeNamespaces()) BELLJAR_SKIP_OR_FAIL("needs user namespaces");
  SandboxOptions options = SingleRun();
  core::Result<core::Profile> profile = profiles::ProfileCatalogue::Open()->Choose("filesystem");
  ASSERT_TRUE(profile);
  options.profile = std::move(*profile);
  const auto sandbox = tests::Open(std::move(options));
  ASSERT_TRUE(sandbox);
  host::Request request = tests::MakeRequest("open('new', 'w').write(open('given').read() * 2)");
  request.limits.file_size = sandbox->profile().default_limits.file_size;
  request.files = {{"given", "x"}};
  const auto outcome = sandbox->Run(request);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  ASSERT_EQ(outcome->artifacts.size(), 1u);
  EXPECT_EQ(outcome->artifacts[0].content, "xx");
}

// Without namespaces: where there is no container there is no such workspace.
TEST(SingleRun, AWorkspaceThatNothingHasMountedIsRefused) {
  for (const bool in_container : {false, true}) {
    SandboxOptions options = SingleRun();
    options.without_layers = {"namespaces"};
    options.profile = *profiles::ProfileCatalogue::Open()->Choose("filesystem");
    options.has_workspace = in_container;
    const auto sandbox = Sandbox::Open(std::move(options));
    ASSERT_FALSE(sandbox);
    const char* const why = in_container ? "must mount a tmpfs" : "requires namespaces";
    EXPECT_NE(sandbox.error().ToString().find(why), std::string::npos)
        << sandbox.error().ToString();
  }
}

TEST(SingleRun, ClosingItEndsItAtEveryMoment) {
  const size_t before = tests::Children().size();
  for (const int wait : {0, 5, 40, 150}) {
    const auto sandbox = tests::Open(SingleRun());
    ASSERT_TRUE(sandbox);
    std::this_thread::sleep_for(milliseconds(wait));  // sleeps: closed at many moments
  }
  EXPECT_EQ(tests::Children().size(), before);
}

}  // namespace
}  // namespace belljar::outside::single_run_test
