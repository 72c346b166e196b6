// Faults on purpose: processes killed at every stage, resources exhausted, parts missing. Each
// caller gets an outcome or a clear error, the next run works, and nothing is left behind.
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "engine/installation/installation.h"
#include "engine/outside/probe.h"
#include "engine/pool/spare_pool.h"
#include "engine/seal/seccomp.h"
#include "tests/support/pool_support.h"
#include "tests/support/support.h"

namespace belljar::outside::faults_test {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kPrintAndSleep[] =
    "print('before', flush=True)\n" BELLJAR_UNTIL_KILLED "print('after')\n";

// How `runs` requests from `threads` clients ended.
struct Tally {
  std::atomic<int> ok = 0;
  std::atomic<int> killed = 0;
  std::atomic<int> errors = 0;
  std::mutex mutex;
  std::set<std::string> texts;  // of errors, and of outcomes that are neither

  void Add(const core::Result<host::Outcome>& outcome, const std::string& expected) {
    if (!outcome) {
      ++errors;
      const std::lock_guard lock(mutex);
      texts.insert(outcome.error().ToString());
    } else if (outcome->status == host::Status::kOk && outcome->stdout_stream.text == expected) {
      ++ok;
    } else if (outcome->status == host::Status::kKilled) {
      ++killed;
    } else {
      const std::lock_guard lock(mutex);
      texts.insert("unexpected: " + host::OutcomeToJson(*outcome));
    }
  }
  std::string Texts() const {
    std::string all;
    for (const std::string& text : texts) all += "\n  " + text;
    return all;
  }
};

void RunMany(Sandbox& sandbox, int threads, int runs, Tally& tally) {
  std::atomic<int> next = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < threads; ++i) {
    clients.emplace_back([&] {
      for (int n = next++; n < runs; n = next++) {
        const std::string number = std::to_string(n);
        tally.Add(sandbox.Run(tests::MakeRequest("print(" + number + ")")), number + "\n");
      }
    });
  }
  for (std::thread& client : clients) client.join();
}

void ExpectWorks(Sandbox& sandbox) {
  const auto outcome = sandbox.Run(tests::MakeRequest("print(6 * 7)"));
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kOk) << host::OutcomeToJson(*outcome, 1);
  EXPECT_EQ(outcome->stdout_stream.text, "42\n");
}

// A thread that does harm until it is stopped.
class Pest {
 public:
  explicit Pest(std::function<void()> harm)
      : thread_([this, harm = std::move(harm)] {
          while (!stop_) harm();
        }) {}
  ~Pest() { Stop(); }
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

std::string Describe(const std::vector<tests::ProcessEntry>& processes) {
  std::string text;
  for (const tests::ProcessEntry& p : processes) {
    text += std::to_string(p.pid) + " " + p.name + " " + p.state + "\n";
  }
  return text;
}

// Waits until the kernel has taken them down to what their parent must still reap.
void AwaitEnd(const std::vector<pid_t>& workers) {
  tests::Eventually([&] {
    const std::vector<tests::ProcessEntry> children = tests::Children();
    return std::none_of(children.begin(), children.end(), [&](const tests::ProcessEntry& child) {
      return child.state != 'Z' &&
             std::find(workers.begin(), workers.end(), child.pid) != workers.end();
    });
  });
}

void KillAndAwait(const std::vector<pid_t>& workers) {
  for (const pid_t worker : workers) kill(worker, SIGKILL);
  AwaitEnd(workers);
}

// --- killed at each stage -----------------------------------------------------------------------

TEST(ZygoteKilled, UnderLoadEachCallerGetsAnAnswerAndTheNextRunWorks) {
  auto sandbox = tests::Open(tests::FullPython());
  ASSERT_TRUE(sandbox);
  Tally tally;
  pid_t last = -1, served_by = -1;
  uint64_t served_from = 0;
  int kills = 0;
  // A sanitized zygote takes seconds to start.
  constexpr int kMaxKills = 8;
  {
    Pest killer([&] {
      std::this_thread::sleep_for(milliseconds(1));  // sleeps: between two looks
      const auto now = sandbox->counters();
      if (now.zygote_pid <= 0 || now.zygote_pid == last || kills == kMaxKills) return;
      if (std::exchange(served_by, now.zygote_pid) != now.zygote_pid) {
        served_from = now.workers_spawned;
      }
      // Each gets to serve: after zygotes that die with their first workers, the pool pauses.
      if (now.workers_spawned < served_from + 8) return;
      kill(last = now.zygote_pid, SIGKILL);
      ++kills;
    });
    RunMany(*sandbox, 8, 300, tally);
  }
  EXPECT_EQ(tally.ok + tally.errors + tally.killed, 300) << tally.Texts();
  EXPECT_EQ(tally.killed, 0) << "a worker does not need its zygote";
  EXPECT_GT(tally.ok, 200) << tally.Texts();
  EXPECT_GT(kills, 1);
  EXPECT_TRUE(tests::WaitForSpares(*sandbox, 2));
  ExpectWorks(*sandbox);
  EXPECT_GT(sandbox->counters().zygotes_started, 1u);
  sandbox.reset();
  // Also of a worker that was cloned and not yet reported.
  EXPECT_TRUE(tests::Eventually([] { return tests::Children().empty(); }))
      << Describe(tests::Children());
}

// Reaps orphans, which must all be dead or dying.
bool NothingIsLeft() {
  return tests::Eventually([] {
    while (waitpid(-1, nullptr, WNOHANG | __WALL) > 0) {
    }
    return tests::Children().empty();
  });
}

TEST(ZygoteKilled, AsItStartsNothingOfItIsLeft) {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  for (int wait_ms = 5; wait_ms < 150; wait_ms += 15) {
    auto sandbox = tests::Open(tests::FullPython());
    ASSERT_TRUE(sandbox);
    std::this_thread::sleep_for(milliseconds(wait_ms));  // sleeps: killed at many moments
    for (const tests::ProcessEntry& child : tests::Children()) kill(child.pid, SIGKILL);
    sandbox.reset();
    EXPECT_TRUE(NothingIsLeft()) << "after " << wait_ms << " ms: " << Describe(tests::Children());
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

// Before its first worker a zygote may have clones of its own, which are not the host's children.
TEST(ZygoteKilled, WhileACloneOfItsOwnIsAlive) {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  for (int round = 0; round < 5; ++round) {
    auto sandbox = tests::Open(tests::FullPython());
    ASSERT_TRUE(sandbox);
    const auto killed = [] {
      const std::vector<tests::ProcessEntry> children = tests::Children();
      for (const tests::ProcessEntry& process : tests::Processes()) {
        for (const tests::ProcessEntry& child : children) {
          if (process.parent == child.pid) return kill(child.pid, SIGKILL) == 0;
        }
      }
      return false;
    };
    while (!killed() && sandbox->counters().waiting == 0) {
    }
    sandbox.reset();
    EXPECT_TRUE(NothingIsLeft()) << Describe(tests::Children());
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

TEST(ZygoteKilled, WhileARunIsOnTheRunGoesOn) {
  const auto sandbox = tests::Open(tests::FullPython());
  ASSERT_TRUE(sandbox);
  ASSERT_TRUE(tests::WaitForSpares(*sandbox, 2));
  host::Request request = tests::MakeRequest("kill()\nprint('still here')");
  request.functions = {"kill"};
  run::RunOptions options;
  options.call = [&](std::string_view, std::string_view) {
    const pid_t zygote = sandbox->counters().zygote_pid;
    kill(zygote, SIGKILL);
    AwaitEnd({zygote});
    return std::string(R"({"value":null})");
  };
  const auto outcome = sandbox->Run(request, options);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->stdout_stream.text, "still here\n");
  ExpectWorks(*sandbox);
}

TEST(WorkerKilled, WhileItIsBeingSealed) {
  auto sandbox = tests::Open(tests::FullPython());
  ASSERT_TRUE(sandbox);
  ExpectWorks(*sandbox);
  Tally tally;
  std::set<pid_t> seen;
  std::vector<pid_t> victims;
  {
    // Whatever appears is killed at once, every other time.
    Pest killer([&] {
      for (const pid_t worker : tests::WorkersOf(*sandbox)) {
        if (seen.insert(worker).second && seen.size() % 2 == 0) {
          kill(worker, SIGKILL);
          victims.push_back(worker);
        }
      }
    });
    RunMany(*sandbox, 4, 100, tally);
  }
  // A victim may have been a spare, and takes a moment to die: the next run must not meet it.
  KillAndAwait(victims);
  EXPECT_EQ(tally.ok + tally.errors + tally.killed, 100) << tally.Texts();
  // How many depends on what else the machine does.
  EXPECT_GT(tally.ok, 0) << tally.Texts();
  EXPECT_TRUE(tests::WaitForSpares(*sandbox, 2));
  ExpectWorks(*sandbox);
  sandbox.reset();
  EXPECT_EQ(Describe(tests::Children()), "");
}

TEST(WorkerKilled, WhileItWaitsIsNobodysConcern) {
  const auto sandbox = tests::Open(tests::FullPython());
  ASSERT_TRUE(sandbox);
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(tests::WaitForSpares(*sandbox, 2));
    KillAndAwait(tests::WorkersOf(*sandbox));
    ExpectWorks(*sandbox);
  }
}

TEST(WorkerKilled, WhileItRunsIsAnOutcomeThatKeepsTheOutput) {
  const auto sandbox = tests::Open(tests::FullPython());
  ASSERT_TRUE(sandbox);
  ASSERT_TRUE(tests::WaitForSpares(*sandbox, 2));
  run::OutputSink sink;
  std::string seen;
  sink.on_stdout = [&](std::string_view text) {
    // The one that runs and those that wait.
    seen += text;
    KillAndAwait(tests::WorkersOf(*sandbox));
  };
  run::RunOptions options;
  options.sink = &sink;
  const auto outcome = sandbox->Run(tests::MakeRequest(kPrintAndSleep), options);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kKilled);
  EXPECT_EQ(outcome->stdout_stream.text, "before\n");
  ASSERT_TRUE(outcome->error);
  EXPECT_EQ(outcome->error->message, "killed by SIGKILL");
  EXPECT_EQ(outcome->kill_cause, host::KillCause::kSigkill);
  ExpectWorks(*sandbox);
}

TEST(WorkerKilled, AtAnyMomentUnderLoad) {
  auto sandbox = tests::Open(tests::FullPython());
  ASSERT_TRUE(sandbox);
  ASSERT_TRUE(tests::WaitForSpares(*sandbox, 2));
  Tally tally;
  std::mt19937 random(7);
  std::vector<pid_t> killed;
  {
    Pest killer([&] {
      const std::vector<pid_t> workers = tests::WorkersOf(*sandbox);
      if (!workers.empty()) {
        killed.push_back(workers[random() % workers.size()]);
        kill(killed.back(), SIGKILL);
      }
      std::this_thread::sleep_for(milliseconds(8));  // sleeps: it leaves some runs alone
    });
    RunMany(*sandbox, 4, 200, tally);
  }
  AwaitEnd(killed);  // or the next run may get one that is about to die
  EXPECT_EQ(tally.ok + tally.errors + tally.killed, 200) << tally.Texts();
  EXPECT_GT(tally.ok, 0) << tally.Texts();
  EXPECT_TRUE(tests::WaitForSpares(*sandbox, 2));
  ExpectWorks(*sandbox);
  sandbox.reset();
  EXPECT_EQ(Describe(tests::Children()), "");
}

TEST(WorkerStopped, IsStillEndedByTheWallClock) {
  const auto sandbox = tests::Open(tests::FullPython());
  ASSERT_TRUE(sandbox);
  ASSERT_TRUE(tests::WaitForSpares(*sandbox, 2));
  for (const pid_t worker : tests::WorkersOf(*sandbox)) kill(worker, SIGSTOP);
  const auto outcome = sandbox->Run(tests::MakeRequest("print(1)", milliseconds(300)));
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kTimeout);
}

// --- hostile workers ----------------------------------------------------------------------------

// What a guest that has its process to itself may send over the worker's socket.
TEST(HostileWorker, WhatItSendsEndsItAndNothingElse) {
  const auto sandbox = tests::Open(tests::FullPython());
  ASSERT_TRUE(sandbox);
  const std::string send =
      "import os, time\n"
      "def send(data):\n"
      "    for fd in range(3, 64):\n"
      "        try: os.write(fd, data)\n"
      "        except OSError: pass\n"
      "print('hostile', flush=True)\n";
  for (const char* data : {"b'x'", "b'x' * 100_000", "b'\\x4e\\x44\\x4a\\x42' + bytes(8)",
                           "b'\\xff' * 12", "bytes(12)"}) {
    const auto outcome = sandbox->Run(
        tests::MakeRequest(send + "send(" + data + ")\n" BELLJAR_UNTIL_KILLED, seconds(10)));
    ASSERT_TRUE(outcome) << outcome.error().ToString();
    EXPECT_EQ(outcome->status, host::Status::kKilled) << data;
    EXPECT_EQ(outcome->stdout_stream.text, "hostile\n") << data;
  }
  ExpectWorks(*sandbox);
}

TEST(HostileWorker, ClosingItsDescriptorsEndsIt) {
  const auto sandbox = tests::Open(tests::FullPython());
  ASSERT_TRUE(sandbox);
  const auto outcome = sandbox->Run(
      tests::MakeRequest("import os\nos.closerange(0, 64)\n" BELLJAR_UNTIL_KILLED, seconds(10)));
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kKilled);
  ExpectWorks(*sandbox);
}

// --- the host ends ------------------------------------------------------------------------------

// Starts `host` in a child whose orphans become ours, kills it when it writes a byte to its pipe,
// and returns what is left running a while after.
std::vector<tests::ProcessEntry> KillHost(const std::function<void(int ready)>& host) {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) abort();
  fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    close(ready[0]);
    host(ready[1]);
    _exit(1);
  }
  close(ready[1]);
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 1) << "the host has failed";
  close(ready[0]);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  std::vector<tests::ProcessEntry> left;
  tests::Eventually([&] {
    // Orphans are ours now: the dead ones we reap, the living ones should not be.
    while (waitpid(-1, nullptr, WNOHANG | __WALL) > 0) {
    }
    left = tests::Children();
    return left.empty();
  });
  prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
  return left;
}

TEST(HostKilled, WithRunsInFlightNothingOfOursIsLeft) {
  const auto left = KillHost([](int ready) {
    auto sandbox = tests::Open(tests::FullPython());
    if (!sandbox) return;
    run::OutputSink sink;
    std::atomic<int> running = 0;
    sink.on_stdout = [&](std::string_view) {
      if (++running == 4) (void)!write(ready, "1", 1);
    };
    run::RunOptions options;
    options.sink = &sink;
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back(
          [&] { (void)sandbox->Run(tests::MakeRequest(kPrintAndSleep), options).ok(); });
    }
    for (std::thread& client : clients) client.join();
  });
  EXPECT_EQ(Describe(left), "");
}

TEST(HostKilled, AsItStartsNothingOfOursIsLeft) {
  for (int wait_ms : {0, 5, 20, 60, 120}) {
    const auto left = KillHost([wait_ms](int ready) {
      auto sandbox = tests::Open(tests::FullPython());
      std::this_thread::sleep_for(milliseconds(wait_ms));  // sleeps: killed at many moments
      (void)!write(ready, "1", 1);
      pause();
    });
    EXPECT_EQ(Describe(left), "") << "killed after " << wait_ms << " ms";
  }
}

TEST(HostKilled, WhileItServesNothingOfOursIsLeft) {
  const auto left = KillHost([](int ready) {
    auto sandbox = tests::Open(tests::FullPython());
    if (!sandbox) return;
    Tally tally;
    std::thread load([&] { RunMany(*sandbox, 4, 1'000'000, tally); });
    (void)tests::Eventually([&] { return tally.ok >= 40; });
    (void)!write(ready, "1", 1);
    load.join();
  });
  EXPECT_EQ(Describe(left), "");
}

// --- the host closes ----------------------------------------------------------------------------

TEST(Closing, WaitingTakersGetAnError) {
  for (int round = 0; round < 20; ++round) {
    auto pool = tests::StartPool(tests::PoolOptions());
    ASSERT_TRUE(pool);
    std::vector<std::thread> takers;
    std::atomic<int> refused = 0, waiting = 0;
    for (int i = 0; i < 6; ++i) {
      takers.emplace_back([&, open = pool.get()] {
        ++waiting;
        const core::Result<workers::Worker> worker = open->Take(core::Clock::now() + seconds(30));
        if (worker || worker.error().ToString().find("closing") != std::string::npos) ++refused;
      });
    }
    while (waiting < 6) std::this_thread::yield();
    std::this_thread::sleep_for(milliseconds(2 + round));  // sleeps: closed at many moments
    pool.reset();
    for (std::thread& taker : takers) taker.join();
    EXPECT_EQ(refused, 6);
  }
  EXPECT_EQ(Describe(tests::Children()), "");
}

TEST(Closing, EndsAtEveryMoment) {
  for (int wait_ms : {0, 1, 10, 50, 100, 150, 300}) {
    const auto pool = tests::StartPool(tests::PoolOptions());
    ASSERT_TRUE(pool);
    std::this_thread::sleep_for(milliseconds(wait_ms));  // sleeps: closed at many moments
  }
  EXPECT_EQ(Describe(tests::Children()), "");
}

// --- the end of a worker, left for later --------------------------------------------------------

TEST(DeferredTasks, TheWorkerEndsWithThem) {
  const SandboxOptions full_python = tests::FullPython();
  auto sandbox = tests::Open(full_python);
  ASSERT_TRUE(sandbox);
  ASSERT_TRUE(tests::WaitForSpares(*sandbox, full_python.spares));
  const auto living = [] {
    std::set<pid_t> pids;
    for (const tests::ProcessEntry& child : tests::Children()) {
      if (child.state != 'Z') pids.insert(child.pid);
    }
    return pids;
  };
  const std::set<pid_t> before = living();
  const auto all_still_live = [&] {
    const std::set<pid_t> now = living();
    return std::includes(now.begin(), now.end(), before.begin(), before.end());
  };
  std::string order;
  {
    host::DeferredTasks deferred;
    deferred.Add([&] { order += "1"; });
    run::RunOptions options;
    options.deferred = &deferred;
    const auto outcome = sandbox->Run(tests::MakeRequest("print(6 * 7)"), options);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->stdout_stream.text, "42\n");
    deferred.Add([&] { order += "2"; });
    EXPECT_TRUE(all_still_live()) << "the worker that has run is one of them";
    EXPECT_EQ(order, "");
  }
  EXPECT_EQ(order, "12");
  EXPECT_TRUE(tests::Eventually([&] { return !all_still_live(); }));
  sandbox.reset();
  EXPECT_EQ(Describe(tests::Children()), "");
}

TEST(Pool, ADeadlineWithoutAWorkerIsATimeout) {
  const auto pool = tests::StartPool(tests::PoolOptions());
  ASSERT_TRUE(pool);
  const core::Result<workers::Worker> worker = pool->Take(core::Clock::now());
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().error_number, ETIMEDOUT);
}

// --- exhausted resources ------------------------------------------------------------------------

// As long as it lives this process, and whatever it starts, can open `free` descriptors more. The
// limit is one of numbers, not of a count: what was inherited may leave holes below it.
class FewDescriptors {
 public:
  explicit FewDescriptors(int free) {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few{0, before_.rlim_max};
    while (free > 0 || fcntl(static_cast<int>(few.rlim_cur), F_GETFD) != -1) {
      if (fcntl(static_cast<int>(few.rlim_cur), F_GETFD) == -1) --free;
      ++few.rlim_cur;
    }
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_;
};

// UBSan asks a pipe whether an object can be read: with no descriptor left for one it reports good
// objects.
#ifdef __SANITIZE_ADDRESS__
#define SKIP_WHERE_DESCRIPTORS_ARE_NEEDED() GTEST_SKIP() << "the sanitizer needs descriptors itself"
#else
#define SKIP_WHERE_DESCRIPTORS_ARE_NEEDED() (void)0
#endif

TEST(Exhausted, DescriptorsFromTheStartAreAClearErrorAndEndWithIt) {
  SKIP_WHERE_DESCRIPTORS_ARE_NEEDED();
  const SandboxOptions full_python = tests::FullPython();  // it reads files, too
  for (int free = 0; free <= 16; ++free) {
    SCOPED_TRACE("with " + std::to_string(free) + " free descriptors");
    std::unique_ptr<Sandbox> sandbox;
    {
      const FewDescriptors few(free);
      auto opened = Sandbox::Open(full_python);
      if (!opened) {
        EXPECT_NE(opened.error().ToString().find("EMFILE"), std::string::npos)
            << opened.error().ToString();
        continue;
      }
      sandbox = std::move(*opened);
      run::RunOptions options;
      options.queue_timeout = seconds(3);
      const auto outcome = sandbox->Run(tests::MakeRequest("print(6 * 7)"), options);
      EXPECT_TRUE(outcome || !outcome.error().ToString().empty());
    }
    // The keeper tries again by itself.
    std::string last;
    EXPECT_TRUE(tests::Eventually([&] {
      const auto outcome = sandbox->Run(tests::MakeRequest("pass"));
      if (!outcome) last = outcome.error().ToString();
      return outcome && outcome->success();
    })) << last;
    sandbox.reset();
    EXPECT_EQ(Describe(tests::Children()), "");
  }
  EXPECT_EQ(Describe(tests::Children()), "");
}

TEST(Exhausted, DescriptorsCostStandardIsolationNoLayer) {
  SKIP_WHERE_DESCRIPTORS_ARE_NEEDED();
  if (!ProbeNamespaces()) BELLJAR_SKIP_OR_FAIL("needs user namespaces");
  SandboxOptions standard = tests::FullPython();
  standard.isolation = IsolationMode::kStandard;
  for (int free = 0; free <= 8; ++free) {
    SCOPED_TRACE("with " + std::to_string(free) + " free descriptors");
    std::unique_ptr<Sandbox> sandbox;
    {
      const FewDescriptors few(free);
      auto opened = Sandbox::Open(standard);
      if (!opened) {
        EXPECT_NE(opened.error().ToString().find("EMFILE"), std::string::npos)
            << opened.error().ToString();
        continue;
      }
      sandbox = std::move(*opened);
    }
    // The keeper tries again by itself.
    std::vector<host::LayerState> layers;
    EXPECT_TRUE(tests::Eventually([&] {
      auto outcome = sandbox->Run(tests::MakeRequest("pass"));
      if (outcome) layers = std::move(outcome->isolation.layers);
      return !layers.empty();
    }));
    for (const host::LayerState& layer : layers) {
      EXPECT_TRUE(layer.held || layer.name != "namespaces") << layer.detail;
    }
  }
}

TEST(Exhausted, DescriptorsUnderLoadLoseNoCaller) {
  SKIP_WHERE_DESCRIPTORS_ARE_NEEDED();
  auto sandbox = tests::Open(tests::FullPython());
  ASSERT_TRUE(sandbox);
  ASSERT_TRUE(tests::WaitForSpares(*sandbox, 2));
  Tally tally;
  {
    const FewDescriptors few(7);
    RunMany(*sandbox, 8, 100, tally);
  }
  EXPECT_EQ(tally.ok + tally.errors + tally.killed, 100) << tally.Texts();
  EXPECT_TRUE(tests::Eventually([&] {
    const auto outcome = sandbox->Run(tests::MakeRequest("pass"));
    return outcome && outcome->success();
  })) << tally.Texts();
  sandbox.reset();
  EXPECT_EQ(Describe(tests::Children()), "") << tally.Texts();
}

// Becomes an ordinary user in a forked child of root.
bool BecomeOrdinary(uid_t uid) {
  // The kernel takes /proc/self from whoever changes its uid; dumpable gives it back.
  return setgroups(0, nullptr) == 0 && setresgid(uid, uid, uid) == 0 &&
         setresuid(uid, uid, uid) == 0 && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
}

// Whether that user may get at this build at all: it may stand below somebody's home.
bool BuildIsReadable(uid_t uid) {
  const std::string zygote = installation::Installation::Find()->zygote;
  return tests::InChild([&] {
           if (!BecomeOrdinary(uid)) return 1;
           return access(zygote.c_str(), X_OK) == 0 ? 0 : 1;
         }) == tests::Exited(0);
}

constexpr uid_t kSomebody = 54321;
#define REQUIRE_SOMEBODY()                                                         \
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("needs root, to become somebody else"); \
  if (!BuildIsReadable(kSomebody))                                                 \
    GTEST_SKIP() << "this build is in a folder others may not read";               \
  if (!ProbeNamespaces()) BELLJAR_SKIP_OR_FAIL("needs user namespaces")

TEST(OrdinaryUser, RunsInStrictMode) {
  REQUIRE_SOMEBODY();
  const tests::TemporaryFolder folder;
  const std::string said = folder.Write("said", "");
  chmod(folder.path().c_str(), 0777);
  chmod(said.c_str(), 0666);
  const tests::Death death = tests::InChild([&] {
    if (!BecomeOrdinary(kSomebody)) return 2;
    auto sandbox = Sandbox::Open(tests::FullPython());
    if (!sandbox) return 3;
    const auto outcome = (*sandbox)->Run(tests::MakeRequest("print(6 * 7)"));
    if (!outcome) folder.Write("said", outcome.error().ToString());
    if (!outcome) return 4;
    for (const host::LayerState& layer : outcome->isolation.layers) {
      if (!layer.held && layer.name != "cgroup") return 5;
    }
    return outcome->stdout_stream.text == "42\n" ? 0 : 6;
  });
  EXPECT_EQ(death, tests::Exited(0)) << *core::ReadFile(said, 4096);
}

TEST(Exhausted, ProcessesAreAClearErrorAndEndWithIt) {
  REQUIRE_SOMEBODY();
  // For a zygote and a worker beside the host's own threads, of which a sanitizer has one more.
  const rlim_t enough = tests::ThreadSanitized() ? 6 : 4;
  for (rlim_t max : {1, 2, 3, 4, 6}) {
    const tests::Death death = tests::InChild([max, enough] {
      if (!BecomeOrdinary(kSomebody + 1)) return 2;
      rlimit before;
      getrlimit(RLIMIT_NPROC, &before);
      const rlimit few{max, before.rlim_max};
      auto sandbox = Sandbox::Open(tests::FullPython());
      if (!sandbox) return 3;
      setrlimit(RLIMIT_NPROC, &few);
      run::RunOptions options;
      options.queue_timeout = seconds(3);
      const auto outcome = (*sandbox)->Run(tests::MakeRequest("print(1)"), options);
      if (!outcome && outcome.error().ToString().empty()) return 4;
      setrlimit(RLIMIT_NPROC, &before);
      // A zygote that is up keeps the limit it was born with; so many workers it may still have.
      const bool works = tests::Eventually([&] {
        const auto again = (*sandbox)->Run(tests::MakeRequest("print(1)"), options);
        return (again && again->success()) || max < enough;
      });
      return works ? 0 : 5;
    });
    EXPECT_EQ(death, tests::Exited(0)) << "with " << max << " processes";
  }
}

// A pool without its wake-up event would sleep through a closing, for up to a minute.
TEST(Exhausted, NoDescriptorToWakeTheKeeperByIsAnErrorOfOpening) {
  SKIP_WHERE_DESCRIPTORS_ARE_NEEDED();
  const SandboxOptions full_python = tests::FullPython();
  pool::SparePoolOptions options = tests::PoolOptions();
  {
    const FewDescriptors none(0);
    const auto pool = pool::SparePool::Start(std::move(options));
    ASSERT_FALSE(pool);
    EXPECT_EQ(pool.error().error_number, EMFILE) << pool.error().ToString();
    EXPECT_EQ(pool.error().operation, "start a pool of workers");
    const auto sandbox = Sandbox::Open(full_python);
    ASSERT_FALSE(sandbox);
    EXPECT_EQ(sandbox.error().error_number, EMFILE) << sandbox.error().ToString();
  }
  EXPECT_EQ(Describe(tests::Children()), "");
}

TEST(Exhausted, NoThreadForTheKeeperIsAnErrorOfOpening) {
  REQUIRE_SOMEBODY();
  const tests::TemporaryFolder folder;
  const std::string said = folder.Write("said", "");
  chmod(folder.path().c_str(), 0777);
  chmod(said.c_str(), 0666);
  const tests::Death death = tests::InChild([&] {
    if (!BecomeOrdinary(kSomebody + 2)) return 2;
    const SandboxOptions options = tests::FullPython();
    const rlimit only_us{1, 1};
    setrlimit(RLIMIT_NPROC, &only_us);
    const auto sandbox = Sandbox::Open(options);
    if (sandbox) return 3;
    folder.Write("said", sandbox.error().ToString());
    return sandbox.error().error_number == EAGAIN ? 0 : 4;
  });
  EXPECT_EQ(death, tests::Exited(0)) << *core::ReadFile(said, 4096);
}

TEST(Exhausted, NoRoomForTheCaptureIsAClearError) {
  if (tests::Sanitized()) GTEST_SKIP() << "shadow memory is address space too";
  const tests::Death death = tests::InChild([] {
    const core::Result<std::string> statm = core::ReadFile("/proc/self/statm", 4096);
    const rlim_t now = std::stoull(*statm) * 4096;
    rlimit before;
    getrlimit(RLIMIT_AS, &before);
    auto sandbox = Sandbox::Open(tests::FullPython());
    if (!sandbox) return 3;
    // Room for the keeper's stack and heap, but for no region of 42 MiB.
    const rlimit few{now + (100 << 20), before.rlim_max};
    setrlimit(RLIMIT_AS, &few);
    run::RunOptions options;
    options.queue_timeout = seconds(5);
    const auto outcome = (*sandbox)->Run(tests::MakeRequest("print(1)"), options);
    setrlimit(RLIMIT_AS, &before);
    if (outcome && !outcome->success()) return 4;
    const bool works = tests::Eventually([&] {
      const auto again = (*sandbox)->Run(tests::MakeRequest("print(1)"));
      return again && again->success();
    });
    return works ? 0 : 5;
  });
  EXPECT_EQ(death, tests::Exited(0));
}

TEST(Exhausted, AHostThatIgnoresItsChildrenStillGetsOutcomes) {
  const tests::Death death = tests::InChild([] {
    signal(SIGCHLD, SIG_IGN);
    auto sandbox = Sandbox::Open(tests::FullPython());
    if (!sandbox) return 3;
    for (int i = 0; i < 10; ++i) {
      const auto outcome = (*sandbox)->Run(tests::MakeRequest("print(6 * 7)"));
      if (!outcome) return 4;
      if (outcome->status != host::Status::kOk) return 5;
    }
    return 0;
  });
  EXPECT_EQ(death, tests::Exited(0));
}

// --- missing and broken parts -------------------------------------------------------------------

void ExpectNoWorker(pool::SparePoolOptions options, const std::vector<std::string>& parts) {
  const auto pool = tests::StartPool(std::move(options));
  ASSERT_TRUE(pool);
  // Longer than a test may take: nobody has to wait for it.
  const core::Result<workers::Worker> worker = pool->Take(core::Clock::now() + hours(1));
  ASSERT_FALSE(worker);
  const std::string text = worker.error().ToString();
  for (const std::string& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "\n  lacks: " << part;
  }
}

TEST(Missing, TheZygote) {
  pool::SparePoolOptions options = tests::PoolOptions();
  options.zygote.installation.zygote = "/nowhere/belljar-zygote";
  ExpectNoWorker(std::move(options), {"/nowhere/belljar-zygote", "No such file"});
}

TEST(Missing, TheZygoteIsAnotherProgram) {
  pool::SparePoolOptions options = tests::PoolOptions();
  options.zygote.installation.zygote = "/bin/true";
  ExpectNoWorker(std::move(options), {"start zygote"});
}

TEST(Missing, TheRunner) {
  pool::SparePoolOptions options = tests::PoolOptions();
  options.zygote.installation.runner = "/nowhere/runner";
  ExpectNoWorker(std::move(options), {"belljar_runner"});
}

TEST(Missing, APathOfTheProfile) {
  pool::SparePoolOptions options = tests::PoolOptions();
  options.zygote.plan.paths.push_back({"/nowhere/data"});
  ExpectNoWorker(std::move(options), {"/nowhere/data"});
}

TEST(Broken, TheProfilesJson) {
  pool::SparePoolOptions options = tests::PoolOptions();
  options.zygote.profile_document = "{\"name\": ";
  ExpectNoWorker(std::move(options), {"prepare the profile"});
}

TEST(Broken, AModuleOfTheProfileThatCannotBeImported) {
  pool::SparePoolOptions options = tests::PoolOptions();
  const std::string key = "\"modules\":{";
  std::string& document = options.zygote.profile_document;
  const size_t at = document.find(key);
  ASSERT_NE(at, std::string::npos) << document.substr(0, 400);
  document.insert(at + key.size(), R"("no_such_module": {"why": "test", "exports": ["x"]},)");
  ExpectNoWorker(std::move(options), {"no_such_module"});
}

TEST(Broken, AFilterThatForbidsEverythingEndsInAnErrorThatSaysSo) {
  pool::SparePoolOptions options = tests::PoolOptions();
  options.zygote.plan.filter = *seal::CompileFilter({{"exit_group"}}, {});
  ExpectNoWorker(std::move(options), {"seal"});
}

TEST(Broken, ALayerThatDoesNotHoldIsNamed) {
  pool::SparePoolOptions options = tests::PoolOptions();
  options.zygote.plan.without_seccomp = true;
  options.required_layers = {"seccomp"};
  ExpectNoWorker(std::move(options), {"seccomp"});
}

TEST(Broken, AnInstallationPathThatIsNotUtf8IsNoCrash) {
  const tests::TemporaryFolder folder;
  pool::SparePoolOptions options = tests::PoolOptions();
  const fs::path odd = folder.path() + "/caf\xe9";
  fs::copy(options.zygote.installation.runner, odd, fs::copy_options::recursive);
  options.zygote.installation.runner = odd;
  const auto pool = tests::StartPool(std::move(options));
  ASSERT_TRUE(pool);
  const core::Result<workers::Worker> worker = pool->Take(core::Clock::now() + seconds(20));
  EXPECT_TRUE(worker || !worker.error().ToString().empty());
}

// Runs only in a copy of this program that stands where nothing of the installation is.
TEST(Installation, DISABLED_IsNotFound) {
  const core::Result<installation::Installation> installation = installation::Installation::Find();
  ASSERT_FALSE(installation);
  const std::string text = installation.error().ToString();
  EXPECT_NE(text.find("belljar-zygote"), std::string::npos) << text;
  EXPECT_NE(text.find("belljar-test-"), std::string::npos) << "does not say where it looked";
}

TEST(Missing, TheInstallation) {
  const tests::TemporaryFolder folder;
  const std::string copy = folder.path() + "/program";
  fs::copy_file("/proc/self/exe", copy);
  const tests::Death death = tests::InChild([&] {
    execl(copy.c_str(), "program", "--gtest_also_run_disabled_tests",
          "--gtest_filter=Installation.DISABLED_IsNotFound", nullptr);
    return 2;
  });
  EXPECT_EQ(death, tests::Exited(0));
}

TEST(Requests, LimitsAboveTheProfilesAreErrorsThatNameThem) {
  const auto sandbox = tests::Open(tests::FullPython());
  ASSERT_TRUE(sandbox);
  host::Request request = tests::MakeRequest("pass");
  request.limits.memory = core::Bytes::Mebi(1 << 20);
  const auto outcome = sandbox->Run(request);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().ToString().find("memory"), std::string::npos);
  EXPECT_NE(outcome.error().ToString().find("basic"), std::string::npos);
}

// --- rotation, cancellation, streaming
// ------------------------------------------------------------

TEST(Rotation, UnderLoadLosesNothing) {
  SandboxOptions options = tests::FullPython();
  options.rotate_after_workers = 5;
  auto sandbox = tests::Open(std::move(options));
  ASSERT_TRUE(sandbox);
  Tally tally;
  int runs = 0;
  // Starting a zygote takes long under sanitizers and load.
  while (sandbox->counters().zygotes_started < 4 && runs < 10'000) {
    RunMany(*sandbox, 8, 100, tally);
    runs += 100;
  }
  EXPECT_EQ(tally.ok, runs) << tally.Texts();
  EXPECT_GE(sandbox->counters().zygotes_started, 4u);
  sandbox.reset();
  EXPECT_EQ(Describe(tests::Children()), "");
}

TEST(Cancel, EndsARunAndKeepsItsOutput) {
  const auto sandbox = tests::Open(tests::FullPython());
  ASSERT_TRUE(sandbox);
  const core::UniqueFd cancel(eventfd(0, EFD_CLOEXEC));
  run::RunOptions options;
  options.cancel_fd = cancel.get();
  run::OutputSink sink;
  sink.on_stdout = [&](std::string_view) { eventfd_write(cancel.get(), 1); };
  options.sink = &sink;
  const auto outcome = sandbox->Run(tests::MakeRequest(kPrintAndSleep), options);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kKilled);
  EXPECT_EQ(outcome->stdout_stream.text, "before\n");
  ASSERT_TRUE(outcome->error);
  EXPECT_EQ(outcome->error->type, "Cancelled");
}

TEST(Cancel, BeforeTheRunEndsItAtOnce) {
  const auto sandbox = tests::Open(tests::FullPython());
  ASSERT_TRUE(sandbox);
  const core::UniqueFd cancel(eventfd(1, EFD_CLOEXEC));
  run::RunOptions options;
  options.cancel_fd = cancel.get();
  const auto outcome = sandbox->Run(tests::MakeRequest("while True: pass"), options);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kKilled);
}

// That it comes while the program runs, Cancel above shows.
TEST(Streaming, IsInOrderAndComplete) {
  const auto sandbox = tests::Open(tests::FullPython());
  ASSERT_TRUE(sandbox);
  std::string out, err;
  run::OutputSink sink;
  sink.on_stdout = [&](std::string_view text) { out += text; };
  sink.on_stderr = [&](std::string_view text) { err += text; };
  run::RunOptions options;
  options.sink = &sink;
  const auto outcome = sandbox->Run(tests::MakeRequest("import sys, time\n"
                                                       "for i in range(200):\n"
                                                       "    print('out', i)\n"
                                                       "    print('err', i, file=sys.stderr)\n"
                                                       // sleeps: it comes in several parts
                                                       "    if i % 20 == 0: time.sleep(0.03)\n"),
                                    options);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  ASSERT_EQ(outcome->status, host::Status::kOk) << host::OutcomeToJson(*outcome, 1);
  std::string expected_out, expected_err;
  for (int i = 0; i < 200; ++i) {
    expected_out += "out " + std::to_string(i) + "\n";
    expected_err += "err " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(out, expected_out);
  EXPECT_EQ(err, expected_err);
  EXPECT_EQ(outcome->stdout_stream.text, expected_out);
  EXPECT_EQ(outcome->stderr_stream.text, expected_err);
}

TEST(Streaming, StopsAtTheLimitLikeTheOutcome) {
  const auto sandbox = tests::Open(tests::FullPython());
  ASSERT_TRUE(sandbox);
  std::string out;
  run::OutputSink sink;
  sink.on_stdout = [&](std::string_view text) { out += text; };
  run::RunOptions options;
  options.sink = &sink;
  host::Request request = tests::MakeRequest("for i in range(100): print('x' * 99)");
  request.limits.output = core::Bytes{1000};
  const auto outcome = sandbox->Run(request, options);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(out.size(), 1000u);
  EXPECT_EQ(outcome->stdout_stream.text, out);
  EXPECT_EQ(outcome->stdout_stream.dropped_bytes, 9000u);
}

// --- nothing is left behind
// -----------------------------------------------------------------------

struct Footprint {
  size_t descriptors = tests::OpenDescriptors();
  size_t regions = tests::MappingsNamed("belljar");
  size_t mounts = tests::Mounts();
  size_t children = tests::Children().size();
};

void ExpectNothingLeftAfter(int runs) {
  const Footprint outside;
  SandboxOptions options = tests::FullPython();
  auto sandbox = tests::Open(std::move(options));
  ASSERT_TRUE(sandbox);
  ExpectWorks(*sandbox);
  ASSERT_TRUE(tests::WaitForSpares(*sandbox, 2));
  Tally tally;
  RunMany(*sandbox, 4, runs, tally);
  EXPECT_EQ(tally.ok, runs) << tally.Texts();
  // With more clients than spares the pool may be left with a few workers more; each is a socket,
  // a pidfd and a region.
  size_t waiting = 0;
  EXPECT_TRUE(tests::Eventually([&] {
    waiting = sandbox->counters().waiting;
    std::this_thread::sleep_for(milliseconds(100));  // sleeps: whether it stays so
    return waiting >= 2 && waiting == sandbox->counters().waiting;
  }));
  EXPECT_LE(waiting, 2u + 4u);
  EXPECT_EQ(tests::WorkersOf(*sandbox).size(), waiting);
  EXPECT_EQ(tests::MappingsNamed("belljar"), outside.regions + waiting);
  EXPECT_EQ(tests::Children().size(), outside.children + waiting + 1)
      << Describe(tests::Children());
  EXPECT_LE(tests::OpenDescriptors(), outside.descriptors + 2 * waiting + 6);
  sandbox.reset();
  const Footprint after;
  EXPECT_EQ(after.descriptors, outside.descriptors);
  EXPECT_EQ(after.regions, outside.regions);
  EXPECT_EQ(after.mounts, outside.mounts);
  EXPECT_EQ(after.children, outside.children) << Describe(tests::Children());
}

TEST(LeavesNothingBehind, FiveHundredRuns) { ExpectNothingLeftAfter(500); }
TEST(LeavesNothingBehindSoak, TwentyThousandRuns) { ExpectNothingLeftAfter(20'000); }

}  // namespace
}  // namespace belljar::outside::faults_test
