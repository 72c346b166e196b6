// Runs of a sandbox whose zygote still loads its profile: it is stopped until the test lets it go
// on.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine/core/fd.h"
#include "engine/outside/sandbox.h"
#include "tests/support/support.h"

namespace belljar::outside::early_run_test {
namespace {

using std::chrono::milliseconds;

SandboxOptions WithPackages() {
  SandboxOptions options = tests::FullPython();
  options.policy = Policy::kOn;
  options.spares = 1;
  // Packages take their time to load. These are not installed, so the test stands in for that.
  options.profile.packages.push_back({"slow", {"slow"}});
  return options;
}

class EarlyRun : public testing::Test {
 protected:
  void Open(SandboxOptions options = WithPackages()) {
    sandbox_ = tests::Open(std::move(options));
    ASSERT_TRUE(sandbox_);
    ASSERT_TRUE(tests::Eventually([this] {
      const auto children = tests::Children();
      if (!children.empty()) zygote_ = children.front().pid;
      return zygote_ > 0 && kill(zygote_, SIGSTOP) == 0;
    }));
    ASSERT_EQ(sandbox_->counters().workers_spawned, 0u) << "it was not stopped in time";
  }
  ~EarlyRun() override { GoOn(); }

  void GoOn() {
    if (zygote_ > 0) kill(std::exchange(zygote_, -1), SIGCONT);
  }

  std::future<core::Result<host::Outcome>> Start(const char* source,
                                                 const run::RunOptions& options = {}) {
    return std::async(std::launch::async, [this, source, options] {
      return sandbox_->Run(tests::MakeRequest(source), options);
    });
  }

  std::unique_ptr<Sandbox> sandbox_;
  pid_t zygote_ = -1;
};

bool IsDone(std::future<core::Result<host::Outcome>>& run, milliseconds within) {
  return run.wait_for(within) == std::future_status::ready;
}

TEST_F(EarlyRun, DoesNotWaitForTheZygote) {
  Open();
  const auto outcome = sandbox_->Run(tests::MakeRequest("import math\nprint(math.pi)\n6 * 7"));
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kOk);
  EXPECT_EQ(outcome->result_json, "42");
  EXPECT_EQ(outcome->stdout_stream.text, "3.141592653589793\n");
  for (const host::LayerState& layer : outcome->isolation.layers) {
    EXPECT_TRUE(layer.held || layer.name == "cgroup") << layer.name << ": " << layer.detail;
  }
  EXPECT_EQ(sandbox_->counters().workers_spawned, 0u);
  GoOn();
  ASSERT_TRUE(tests::WaitForSpares(*sandbox_, 1));
  EXPECT_FALSE(sandbox_->RunsEarly(tests::MakeRequest("1")));
  EXPECT_TRUE(sandbox_->Run(tests::MakeRequest("1")));
  EXPECT_TRUE(tests::Eventually([&] {
    return sandbox_->counters().waiting == 1 && tests::Children().size() == 2;
  })) << "more than the zygote and its spare are left";
}

TEST_F(EarlyRun, IsStartedOverByTheZygoteIfItNeedsMore) {
  Open();
  std::string shown;
  run::OutputSink sink{.on_stdout = [&](std::string_view bytes) { shown += bytes; },
                       .on_stderr = {}};
  run::RunOptions options;
  options.sink = &sink;
  auto run = Start("print('once')\n__import__('statis' + 'tics').mean([1, 3])", options);
  EXPECT_FALSE(IsDone(run, milliseconds(500)));
  GoOn();
  const auto outcome = run.get();
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->result_json, "2");
  EXPECT_EQ(shown, "once\n");
}

TEST_F(EarlyRun, IsOneAtATime) {
  Open();
  const core::UniqueFd cancel(eventfd(0, EFD_CLOEXEC));
  run::RunOptions options;
  options.cancel_fd = cancel.get();
  auto first = Start("while True: pass", options);
  ASSERT_TRUE(tests::Eventually([&] { return !sandbox_->RunsEarly(tests::MakeRequest("2")); }));
  auto second = Start("2");
  EXPECT_FALSE(IsDone(first, milliseconds(100)));
  eventfd_write(cancel.get(), 1);
  EXPECT_EQ(first.get()->kill_cause, host::KillCause::kCancelled);
  EXPECT_FALSE(IsDone(second, milliseconds(100))) << "it waits for the zygote";
  GoOn();
  EXPECT_EQ(second.get()->result_json, "2");
}

TEST_F(EarlyRun, CanBeCancelled) {
  Open();
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const core::UniqueFd read_end(ends[0]), write_end(ends[1]);
  run::RunOptions options;
  options.cancel_fd = read_end.get();
  std::string shown;
  run::OutputSink sink{.on_stdout =
                           [&](std::string_view bytes) {
                             if (shown.empty()) (void)!write(write_end.get(), "x", 1);
                             shown += bytes;
                           },
                       .on_stderr = {}};
  options.sink = &sink;
  const auto outcome =
      sandbox_->Run(tests::MakeRequest("print('here')\nwhile True: pass"), options);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->kill_cause, host::KillCause::kCancelled);
  EXPECT_EQ(shown, "here\n");
}

TEST_F(EarlyRun, AThrowEndsItToo) {
  Open();
  run::OutputSink sink{.on_stdout = [](std::string_view) { throw std::runtime_error("full"); },
                       .on_stderr = {}};
  run::RunOptions options;
  options.sink = &sink;
  EXPECT_THROW((void)sandbox_->Run(tests::MakeRequest("print('here')"), options),
               std::runtime_error);
  EXPECT_TRUE(sandbox_->RunsEarly(tests::MakeRequest("1")));
}

TEST_F(EarlyRun, IsNotForWhatCouldBeNoticed) {
  Open();
  host::Request request = tests::MakeRequest("1");
  EXPECT_TRUE(sandbox_->RunsEarly(request));
  request.functions = {"ask"};
  EXPECT_FALSE(sandbox_->RunsEarly(request));
  request = tests::MakeRequest("1");
  request.mode = host::Request::Mode::kValidate;
  EXPECT_FALSE(sandbox_->RunsEarly(request));
}

TEST_F(EarlyRun, IsNotForProfilesThatAreLoadedAsFast) {
  SandboxOptions options = WithPackages();
  options.profile.packages.clear();
  Open(std::move(options));
  EXPECT_FALSE(sandbox_->RunsEarly(tests::MakeRequest("1")));
}

TEST_F(EarlyRun, IsTheCallersChoice) {
  SandboxOptions options = WithPackages();
  options.early_runs = false;
  Open(std::move(options));
  EXPECT_FALSE(sandbox_->RunsEarly(tests::MakeRequest("1")));
  run::RunOptions run;
  run.queue_timeout = milliseconds(200);
  const auto outcome = sandbox_->Run(tests::MakeRequest("1"), run);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().error_number, ETIMEDOUT);
}

}  // namespace
}  // namespace belljar::outside::early_run_test
