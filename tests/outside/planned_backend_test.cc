// PlannedBackend: which zygote runs a program.
#include "engine/outside/planned_backend.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/sessions/session.h"
#include "tests/support/support.h"

namespace belljar::outside::planned_backend_test {
namespace {

// Prints its name, and needs another module if it is told so.
class FakeBackend : public Backend {
 public:
  explicit FakeBackend(std::string name) : name_(std::move(name)) {}

  core::Result<host::Outcome> Run(const host::Request&, const run::RunOptions& options) override {
    ++runs;
    if (options.sink) options.sink->on_stdout("once\n");
    if (starts_over)
      return core::WithCause(core::Cause::kStartOver,
                             core::MakeError("run", "it needs another one"));
    if (fails) return core::MakeError("start a zygote", "it was killed");
    host::Outcome outcome;
    outcome.stdout_stream.text = name_;
    return outcome;
  }
  core::Result<std::shared_ptr<sessions::Session>> OpenSession(const sessions::SessionOptions&,
                                                               const run::RunOptions&) override {
    return core::MakeError("open a session", name_);
  }
  core::Result<void> WaitForSpare(core::Deadline) override {
    return core::MakeError("wait", name_);
  }
  Counters counters() const override { return ready; }

  Counters ready{.zygotes_started = 1, .workers_spawned = 4, .waiting = 4, .zygote_pid = 17};
  bool starts_over = false, fails = false;
  int runs = 0;

 private:
  const std::string name_;
};

core::Profile Packages() {
  core::Profile profile;
  profile.packages.push_back({"set", {"numpy", "numpy.linalg", "scipy", "mpl_toolkits.mplot3d"}});
  profile.light_packages = {"numpy"};
  return profile;
}

class Light : public testing::Test {
 protected:
  void Begin(core::Profile profile = Packages()) {
    auto complete = std::make_unique<FakeBackend>("complete");
    complete_ = complete.get();
    backend_ = std::make_unique<PlannedBackend>(
        std::move(complete), profile, PlannedBackend::Offers{.light = true},
        [this](WorkerSource source, std::string_view) { return Start(source); });
  }

  core::Result<std::unique_ptr<Backend>> Start(WorkerSource source) {
    EXPECT_EQ(source, WorkerSource::kLightSpare);
    ++starts_;
    if (!can_start_) return core::MakeError("start", "no thread");
    auto light = std::make_unique<FakeBackend>("light");
    light_ = light.get();
    light_->ready = light_ready_;
    return std::unique_ptr<Backend>(std::move(light));
  }

  // The name of the one that ran it.
  std::string RanBy(const host::Request& request) {
    const auto outcome = backend_->Run(request, {});
    return outcome ? outcome->stdout_stream.text : outcome.error().ToString();
  }
  std::string RanBy(const char* source) { return RanBy(tests::MakeRequest(source)); }

  std::unique_ptr<PlannedBackend> backend_;
  FakeBackend* complete_ = nullptr;
  FakeBackend* light_ = nullptr;
  Backend::Counters light_ready_{
      .zygotes_started = 1, .workers_spawned = 2, .waiting = 2, .zygote_pid = 18};
  bool can_start_ = true;
  int starts_ = 0;
};

TEST_F(Light, RunsWhatNamesNoOtherPackage) {
  Begin();
  EXPECT_EQ(RanBy("import numpy as np\nnp.arange(3)"), "light");
  EXPECT_EQ(RanBy("1 + 1"), "light");
  EXPECT_EQ(RanBy("import numpy.linalg, math"), "light");
  EXPECT_EQ(RanBy("import scipyish"), "light");
  for (const char* source : {"import scipy", "from scipy.stats import norm", "import numpy, scipy",
                             "x = 'scipy'", "from mpl_toolkits import mplot3d"}) {
    EXPECT_EQ(RanBy(source), "complete") << source;
  }
  EXPECT_EQ(starts_, 1);
}

TEST_F(Light, IsNotForWhatCannotStartOver) {
  core::Profile profile = Packages();
  profile.egress.emplace();
  Begin(std::move(profile));
  EXPECT_EQ(RanBy("1"), "complete");
  Begin();
  host::Request request = tests::MakeRequest("1");
  request.mode = host::Request::Mode::kValidate;
  EXPECT_EQ(RanBy(request), "complete");
  request = tests::MakeRequest("f()");
  request.functions = {"f"};
  EXPECT_EQ(RanBy(request), "complete");
  EXPECT_EQ(backend_->OpenSession({}, {}).error().detail, "complete");
  EXPECT_EQ(backend_->WaitForSpare({}).error().detail, "complete");
  EXPECT_EQ(starts_, 0);
}

TEST_F(Light, StartsOnceTheCompleteOneIsReady) {
  Begin();
  complete_->ready.workers_spawned = 0;
  EXPECT_EQ(RanBy("1"), "complete");
  EXPECT_EQ(starts_, 0);
  complete_->ready.workers_spawned = 1;
  light_ready_.workers_spawned = 0;
  EXPECT_EQ(RanBy("1"), "complete") << "nobody waits for it";
  EXPECT_EQ(starts_, 1);
  light_->ready.workers_spawned = 1;
  EXPECT_EQ(RanBy("1"), "light");
  EXPECT_EQ(starts_, 1);
}

TEST_F(Light, IsNotNeeded) {
  can_start_ = false;
  Begin();
  EXPECT_EQ(RanBy("1"), "complete");
  EXPECT_EQ(RanBy("1"), "complete");
  EXPECT_EQ(starts_, 1);
  EXPECT_EQ(backend_->counters().light_zygote_pid, -1);
}

TEST_F(Light, TheCompleteOneRunsWhatNeedsMore) {
  Begin();
  EXPECT_EQ(RanBy("1"), "light");
  light_->starts_over = true;
  tests::Shown shown;
  run::RunOptions options;
  options.sink = &shown.sink;
  const auto outcome = backend_->Run(tests::MakeRequest("1"), options);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->stdout_stream.text, "complete");
  EXPECT_EQ(shown.out, "once\n") << "what has been shown is not shown again";
  EXPECT_EQ(light_->runs, 2);
  EXPECT_EQ(complete_->runs, 1);
}

TEST_F(Light, TheCompleteOneRunsWhatItFails) {
  Begin();
  EXPECT_EQ(RanBy("1"), "light");
  light_->fails = true;
  EXPECT_EQ(RanBy("1"), "complete");
  complete_->fails = true;
  EXPECT_EQ(RanBy("1"), "start a zygote: it was killed");
}

TEST_F(Light, CountersAreOfBoth) {
  Begin();
  light_ready_.workers_spawned = 0;
  RanBy("1");
  EXPECT_EQ(backend_->counters().waiting, 4u) << "the other one runs nothing yet";
  light_->ready.workers_spawned = 2;
  const Backend::Counters counters = backend_->counters();
  EXPECT_EQ(counters.zygotes_started, 2u);
  EXPECT_EQ(counters.workers_spawned, 6u);
  EXPECT_EQ(counters.waiting, 2u) << "ready, whichever program comes next";
  EXPECT_EQ(counters.zygote_pid, 17);
  EXPECT_EQ(counters.light_zygote_pid, 18);
}

}  // namespace
}  // namespace belljar::outside::planned_backend_test
