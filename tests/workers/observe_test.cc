// What is reported as isolation was seen on the process, from outside.
#include "engine/workers/observe.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <map>
#include <string>

#include "engine/core/fd.h"
#include "engine/core/process.h"
#include "engine/outside/probe.h"
#include "engine/seal/landlock.h"
#include "tests/support/support.h"

namespace belljar::workers::observe_test {
namespace {

std::map<std::string, host::LayerState> ByName(const std::vector<host::LayerState>& layers) {
  std::map<std::string, host::LayerState> by_name;
  for (const host::LayerState& layer : layers) by_name[layer.name] = layer;
  return by_name;
}

// As the pool looks at a worker.
core::Result<std::vector<host::LayerState>> Look(pid_t pid, seal::SelfReport word) {
  const core::Result<core::UniqueFd> status = OpenStatus(pid);
  if (!status) return status.error();
  const core::Result<OwnSeal> own = OwnSeal::Read();
  if (!own) return own.error();
  return ObserveSeal(*own, pid, status->get(), word);
}

core::Process SleepingChild() {
  const pid_t pid = fork();
  if (pid == 0) {
    for (;;) pause();
  }
  return core::Process(pid, core::UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))));
}

TEST(Observe, APlainChildIsHeldByNothing) {
  const core::Process child = SleepingChild();
  const auto layers = Look(child.pid(), 0);
  ASSERT_TRUE(layers) << layers.error().ToString();
  const char* const kOrder[] = {"namespaces", "privileges", "rlimits", "landlock", "seccomp"};
  ASSERT_EQ(layers->size(), std::size(kOrder));
  for (size_t i = 0; i < layers->size(); ++i) {
    EXPECT_EQ((*layers)[i].name, kOrder[i]);
    EXPECT_FALSE((*layers)[i].held) << (*layers)[i].name;
    EXPECT_FALSE((*layers)[i].detail.empty());
  }
}

TEST(Observe, OneStepOfALayerIsNotTheLayer) {
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    for (;;) pause();
  }
  const core::Process child(pid, core::UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))));
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("an ordinary user has no privileges to begin with");
  const auto layers = Look(child.pid(), 0);
  ASSERT_TRUE(layers);
  EXPECT_FALSE(ByName(*layers)["privileges"].held);
  EXPECT_NE(ByName(*layers)["privileges"].detail.find("uid"), std::string::npos);
}

TEST(Observe, OnlyAChildIsLookedAt) {
  EXPECT_FALSE(Look(getpid(), seal::kLandlockRefuses));
  EXPECT_FALSE(Look(1, seal::kLandlockRefuses));
  EXPECT_FALSE(Look(0, seal::kLandlockRefuses));
  EXPECT_FALSE(Look(-1, seal::kLandlockRefuses));
}

// What gVisor of 2022 shows of a process, and lines that it has not got.
std::map<std::string, host::LayerState> LookAt(const std::string& more, seal::SelfReport word) {
  const std::string text = "Name:\tx\nPPid:\t" + std::to_string(getpid()) +
                           "\nUid:\t65534\t65534\t65534\t65534\nCapInh:\t0000000000000000\n"
                           "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n" +
                           more;
  const core::Process child = SleepingChild();
  const core::Result<core::UniqueFd> status = core::CreateMemoryFile("status", text);
  const core::Result<OwnSeal> own = OwnSeal::Read();
  const auto layers = ObserveSeal(*own, child.pid(), status->get(), word);
  EXPECT_TRUE(layers) << layers.error().ToString();
  return layers ? ByName(*layers) : std::map<std::string, host::LayerState>();
}

TEST(Observe, WhatIsNotShownIsTheWorkersWordAndSaysSo) {
  auto none = LookAt("Seccomp:\t2\n", 0);
  EXPECT_FALSE(none["privileges"].held);
  EXPECT_FALSE(none["seccomp"].held);
  EXPECT_FALSE(LookAt("", seal::kNoPrivileges | seal::kFilterRefuses)["seccomp"].held)
      << "no mode is shown";
  auto said = LookAt("Seccomp:\t2\n", seal::kNoPrivileges | seal::kFilterRefuses);
  EXPECT_TRUE(said["privileges"].held);
  EXPECT_NE(said["privileges"].detail.find("reported by the worker: no_new_privs"),
            std::string::npos);
  EXPECT_TRUE(said["seccomp"].held);
  EXPECT_NE(said["seccomp"].detail.find("reported by the worker"), std::string::npos);
  EXPECT_FALSE(said["landlock"].held);
  EXPECT_FALSE(said["rlimits"].held) << "nobody's word counts for limits";
}

TEST(Observe, WhatIsShownIsNotTheWorkersToSay) {
  constexpr seal::SelfReport kAll =
      seal::kLandlockRefuses | seal::kNoPrivileges | seal::kFilterRefuses;
  EXPECT_FALSE(LookAt("NoNewPrivs:\t0\n", kAll)["privileges"].held);
  EXPECT_FALSE(LookAt("NoNewPrivs:\t1\nCapAmb:\t0000000000000001\n", kAll)["privileges"].held);
  EXPECT_FALSE(LookAt("Seccomp:\t0\n", kAll)["seccomp"].held);
  EXPECT_FALSE(LookAt("Seccomp:\t2\nSeccomp_filters:\t0\n", kAll)["seccomp"].held);
  EXPECT_FALSE(LookAt("", kAll)["namespaces"].held);
}

TEST(Observe, ADeadChildIsNotHeld) {
  const core::Process child = SleepingChild();
  child.Kill();
  ASSERT_TRUE(tests::Eventually([&] {
    for (const tests::ProcessEntry& entry : tests::Children()) {
      if (entry.pid == child.pid()) return entry.state == 'Z';
    }
    return false;
  }));
  const auto layers = Look(child.pid(), 0);
  if (!layers) return;
  for (const host::LayerState& layer : *layers) {
    EXPECT_FALSE(layer.held && layer.name != "privileges") << layer.name;
  }
}

TEST(Observe, ThePeakOfMemoryIsReadUntilTheProcessIsGone) {
  core::Process child = SleepingChild();
  const core::Result<core::UniqueFd> status = OpenStatus(child.pid());
  ASSERT_TRUE(status);
  EXPECT_GT(MaxRss(status->get()), 100'000u);
  child.Destroy();
  EXPECT_EQ(MaxRss(status->get()), 0u);
  EXPECT_EQ(MaxRss(-1), 0u);
}

TEST(Observe, WhichSignalsAChildBlocks) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGRTMAX);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  core::Process child = SleepingChild();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  const core::Result<core::UniqueFd> status = OpenStatus(child.pid());
  const core::Process other = SleepingChild();
  const core::Result<core::UniqueFd> others = OpenStatus(other.pid());
  ASSERT_TRUE(status && others);
  EXPECT_TRUE(BlocksSignal(status->get(), SIGRTMAX));
  EXPECT_FALSE(BlocksSignal(status->get(), SIGRTMAX - 1));
  EXPECT_FALSE(BlocksSignal(others->get(), SIGRTMAX));
  child.Destroy();
  EXPECT_FALSE(BlocksSignal(status->get(), SIGRTMAX));
  EXPECT_FALSE(BlocksSignal(-1, SIGRTMAX));
}

TEST(Observe, AChildIsInNoLeafThatItWasNotPutIn) {
  const core::Process child = SleepingChild();
  EXPECT_FALSE(IsInCgroup(child.pid(), "belljar-1-1"));
  EXPECT_FALSE(IsInCgroup(-1, "belljar-1-1"));
}

TEST(Observe, ASealedWorkerIsHeldByEveryLayer) {
  if (!outside::ProbeNamespaces()) BELLJAR_SKIP_OR_FAIL("needs user namespaces");
  if (seal::LandlockAbi() == 0) BELLJAR_SKIP_OR_FAIL("needs Landlock");
  const auto sandbox = tests::Open(tests::FullPython());
  ASSERT_TRUE(sandbox);
  const auto outcome = sandbox->Run(tests::MakeRequest("pass"));
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->isolation.mode, "strict");
  ASSERT_EQ(outcome->isolation.layers.size(), 6u);
  for (const host::LayerState& layer : outcome->isolation.layers) {
    // Where the machine has no cgroup to give, it is reported and not required.
    if (layer.name == "cgroup") continue;
    EXPECT_TRUE(layer.held) << layer.name << ": " << layer.detail;
    if (layer.name != "landlock") continue;
    EXPECT_EQ(layer.detail, seal::LandlockCoverage(seal::LandlockAbi()));
  }
}

TEST(Observe, EachLayerLeftOutIsReportedAsNotHeld) {
  for (const char* name : {"namespaces", "privileges", "rlimits", "landlock", "seccomp"}) {
    outside::SandboxOptions options = tests::FullPython();
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

TEST(Observe, AnUnknownLayerCannotBeLeftOut) {
  outside::SandboxOptions options = tests::FullPython();
  options.without_layers = {"moat"};
  const auto sandbox = outside::Sandbox::Open(std::move(options));
  ASSERT_FALSE(sandbox);
  EXPECT_NE(sandbox.error().ToString().find("moat"), std::string::npos);
}

TEST(Observe, StandardModeSaysSo) {
  outside::SandboxOptions options = tests::FullPython();
  options.isolation = outside::IsolationMode::kStandard;
  const auto sandbox = tests::Open(std::move(options));
  ASSERT_TRUE(sandbox);
  const auto outcome = sandbox->Run(tests::MakeRequest("pass"));
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->isolation.mode, "standard");
  EXPECT_EQ(outcome->isolation.policy, "off");
  auto layers = ByName(outcome->isolation.layers);
  for (const char* name : {"privileges", "rlimits", "seccomp"})
    EXPECT_TRUE(layers[name].held) << name;
}

}  // namespace
}  // namespace belljar::workers::observe_test
