// Where the machine has no more threads (RLIMIT_NPROC) each part of the server, and what it uses of
// the engine and of containers, gives an error that says what to do, and the process lives on.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "container/engines/output_pump.h"
#include "engine/core/socket.h"
#include "engine/egress/egress_proxy.h"
#include "server/calls/call_queue.h"
#include "server/jobs/sqlite_job_store.h"
#include "server/stdio/stdio_transport.h"
#include "server/tools/containers.h"
#include "tests/support/support.h"

namespace belljar::server::no_threads_test {
namespace {

// Whether `error` is that of a thread that could not be started.
bool IsClear(const core::Error& error) {
  return error.error_number == EAGAIN && error.ToString().find("ulimit -u") != std::string::npos;
}

class NoThreads : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("needs root, to become somebody else");
  }
  // A clear error with fewer threads than `enough`, and none with so many.
  static void Expect(unsigned enough, const std::function<core::Result<void>()>& attempt) {
    for (unsigned threads = 0; threads < enough; ++threads) {
      const tests::Death death = tests::WithThreads(threads, [&] {
        const core::Result<void> done = attempt();
        return done ? 1 : IsClear(done.error()) ? 0 : 2;
      });
      EXPECT_EQ(death, tests::Exited(0)) << "with " << threads;
    }
    const tests::Death control = tests::WithThreads(enough, [&] { return attempt() ? 0 : 1; });
    EXPECT_EQ(control, tests::Exited(0)) << "the control";
  }
};

TEST_F(NoThreads, OfTheQueueOfCalls) {
  Expect(3, []() -> core::Result<void> {
    const CallQueue queue({.running = 3, .waiting = 1});
    if (queue.start_error()) return *queue.start_error();
    return {};
  });
}

TEST_F(NoThreads, OfTheStoreOfJobs) {
  Expect(1, []() -> core::Result<void> {
    const tests::TemporaryFolder folder;
    const auto store = jobs::OpenSqliteJobStore({.path = folder.path() + "/jobs/jobs.db"});
    if (!store) return store.error();
    return {};
  });
}

class NoMessages final : public MessageHandler {
 public:
  void Handle(IncomingMessage, std::shared_ptr<Reply>) override {}
  bool End(const Caller&, const std::string&) override { return true; }
};

TEST_F(NoThreads, OfStdio) {
  Expect(1, []() -> core::Result<void> {
    const core::UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
    const core::UniqueFd stop(eventfd(1, EFD_CLOEXEC));
    NoMessages handler;
    stdio::StdioTransport transport(null.get(), null.get(), handler);
    const auto end = transport.Run(stop.get());
    if (!end) return end.error();
    return {};
  });
}

TEST_F(NoThreads, OfTheOutputOfContainers) {
  Expect(1, []() -> core::Result<void> {
    container::engines::OutputPump pump;
    auto pair = tests::Had(core::CreateSocketPair(SOCK_STREAM));
    const auto streams = pump.Add(std::move(pair.first));
    if (!streams) return streams.error();
    return {};
  });
}

TEST_F(NoThreads, OfTheEgressProxy) {
  Expect(1, []() -> core::Result<void> {
    const auto service = egress::EgressService::Start(tests::Had(egress::EgressRules::Make({})));
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    if (sigismember(&blocked, SIGTERM) != 0) return core::MakeError("block signals", "for good");
    if (!service) return service.error();
    return {};
  });
}

// They are started by the call that needs them instead.
TEST_F(NoThreads, ToStartContainersInAdvance) {
  const tests::Death death = tests::WithThreads(0, [] {
    tools::Containers containers({.enabled = true}, 1,
                                 [](const core::Profile&) { return outside::SandboxOptions(); });
    containers.WarmUp(tests::BasicProfile());
    return containers.state().message.find("ulimit -u") == std::string::npos;
  });
  EXPECT_EQ(death, tests::Exited(0));
}

}  // namespace
}  // namespace belljar::server::no_threads_test
