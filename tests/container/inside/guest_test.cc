// belljar-guest without a container: the same request through it and through a sandbox of this
// process has the same outcome, and it ends when it should.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "container/backend/guest_connection.h"
#include "container/inside/guest.h"
#include "container/inside/init.h"
#include "container/inside/memory_events.h"
#include "container/wire/request_text.h"
#include "engine/core/process.h"
#include "engine/core/socket.h"
#include "engine/installation/installation.h"
#include "engine/profiles/loader.h"
#include "engine/profiles/profile_catalogue.h"
#include "tests/container/frames.h"
#include "tests/container/spawned_guest.h"
#include "tests/support/support.h"

namespace belljar::container::inside::guest_test {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

core::Profile ChosenProfile(const std::string& name) {
  core::Result<core::Profile> profile = profiles::ProfileCatalogue::Open()->Choose(name);
  EXPECT_TRUE(profile);
  return std::move(*profile);
}

std::vector<std::string> Arguments(const std::string& profile, outside::Policy policy) {
  return {"--profile", profile, "--policy", policy == outside::Policy::kOff ? "off" : "on"};
}

backend::GuestTerms Terms(const core::Profile& profile, outside::Policy policy) {
  return backend::GuestTerms::Of(profile, "standard",
                                 policy == outside::Policy::kOff ? "off" : "on");
}

core::Deadline Soon() { return core::Clock::now() + seconds(60); }

// What is the same whoever runs it.
json Comparable(const host::Outcome& outcome) {
  json object = json::parse(host::OutcomeToJson(outcome));
  for (const char* own : {"execution_id", "execution_time", "usage"}) object.erase(own);
  for (json& layer : object["isolation"]["layers"]) layer.erase("detail");
  if (tests::Sanitized()) {
    // How often AddressSanitizer gives memory back, which seccomp denies, varies.
    std::erase_if(object["security_events"].get_ref<json::array_t&>(),
                  [](const json& event) { return event["detail"] == "madvise"; });
  }
  object["comments"] = outcome.comments.size();
  if (outcome.analysis) object["imports"] = outcome.analysis->imports;
  for (const host::Artifact& artifact : outcome.artifacts)
    object["content"].push_back(artifact.sha256);
  return object;
}

class Guest : public testing::Test {
 protected:
  void SetUp() override { signal(SIGPIPE, SIG_IGN); }

  // Both ways; the guest's outcome.
  host::Outcome ExpectSame(const std::string& name,
                           const std::function<void(host::Request&)>& change,
                           const std::string& profile_name = "basic",
                           outside::Policy policy = outside::Policy::kOn,
                           tests::SpawnedGuest::Over over = tests::SpawnedGuest::Over::kSocket) {
    SCOPED_TRACE(name);
    const core::Profile profile = ChosenProfile(profile_name);
    host::Request request;
    request.limits = profile.default_limits;
    request.limits.timeout = std::min<milliseconds>(seconds(60), profile.maximum_limits.timeout);
    change(request);

    // Both come up at the same time.
    tests::SpawnedGuest guest(Arguments(profile_name, policy), over);
    outside::SandboxOptions options;
    options.profile = profile;
    options.other_profiles =
        profiles::ModulesByProfile(profiles::ProfileCatalogue::Open()->profiles(), profile.name);
    options.isolation = outside::IsolationMode::kStandard;
    options.policy = policy;
    options.spares = 1;
    const auto sandbox = tests::Open(std::move(options));
    run::RunOptions run;
    run.call = call_;
    core::Result<host::Outcome> local = sandbox->Run(request, run);
    EXPECT_TRUE(local);

    backend::GuestConnection connection(guest.TakeChannel(), Terms(profile, policy));
    const core::Result<void> ready = connection.AwaitReady({Soon()});
    EXPECT_TRUE(ready) << ready.error().ToString();
    if (!ready || !local) return {};
    std::string streamed;
    const run::OutputSink sink{[&](std::string_view text) { streamed += text; }, {}};
    run.sink = &sink;
    const core::Result<host::Outcome> outcome = connection.Run(request, run);
    EXPECT_TRUE(outcome) << outcome.error().ToString();
    if (!outcome) return {};
    EXPECT_EQ(connection.end(), backend::GuestConnection::End::kOutcome);
    EXPECT_EQ(streamed, outcome->stdout_stream.text);
    EXPECT_EQ(guest.AwaitDeath(), tests::Exited(kGuestDone));
    // Sandbox::Run adds the threads of a program without the policy, for every backend.
    local->limits.processes = request.limits.processes;
    // Not EXPECT_EQ, whose own difference of large texts takes gigabytes.
    EXPECT_TRUE(Comparable(*outcome) == Comparable(*local))
        << json::diff(Comparable(*local), Comparable(*outcome)).dump(1).substr(0, 5000);
    EXPECT_GT(outcome->usage.max_rss_bytes, 0u);
    return *outcome;
  }

  host::Outcome ExpectSame(const std::string& source, const std::string& profile = "basic",
                           outside::Policy policy = outside::Policy::kOn) {
    return ExpectSame(
        source, [&](host::Request& request) { request.source = source; }, profile, policy);
  }

  run::FunctionCall call_;  // of the request's functions
};

TEST_F(Guest, AResult) {
  const host::Outcome outcome =
      ExpectSame("x = [1, 2.5, 'ü', None, {'a': (1,)}]\nprint('hello')\nx");
  EXPECT_EQ(outcome.status, host::Status::kOk);
  EXPECT_EQ(outcome.stdout_stream.text, "hello\n");
}

TEST_F(Guest, OverPipes) {
  ExpectSame(
      "pipes", [](host::Request& request) { request.source = "print('p')\n6 * 7"; }, "basic",
      outside::Policy::kOn, tests::SpawnedGuest::Over::kPipes);
}

TEST_F(Guest, AnException) {
  const host::Outcome outcome = ExpectSame("def f(n):\n    return 1 / n\nf(0)\n");
  EXPECT_EQ(outcome.status, host::Status::kException);
  EXPECT_EQ(outcome.error->type, "ZeroDivisionError");
}

TEST_F(Guest, AnExitCode) { EXPECT_EQ(ExpectSame("raise SystemExit(7)").exit_code, 7); }

TEST_F(Guest, ARefusal) {
  const host::Outcome outcome = ExpectSame("import os\nimport math\nos.system('id')");
  EXPECT_EQ(outcome.status, host::Status::kRefused);
  EXPECT_FALSE(outcome.findings.empty());
}

TEST_F(Guest, AValidation) {
  const host::Outcome outcome = ExpectSame("validation", [](host::Request& request) {
    request.mode = host::Request::Mode::kValidate;
    request.source = "import os\nimport json  # belljar: ignore\n";
    request.wants_comments = true;
  });
  EXPECT_TRUE(outcome.analysis);
  EXPECT_EQ(outcome.comments.size(), 1u);
}

TEST_F(Guest, InputsAndExactTypes) {
  const host::Outcome outcome = ExpectSame("inputs", [](host::Request& request) {
    request.source = "(number + 1, names)";
    request.inputs = {{"number", "7"}, {"names", R"({"$type":"tuple","items":["a"]})"}};
    request.exact_types = true;
  });
  EXPECT_EQ(outcome.result_json,
            R"({"$type":"tuple","items":[8,{"$type":"tuple","items":["a"]}]})");
}

// --- functions of the caller's ------------------------------------------------------------------

TEST_F(Guest, FunctionsAreCalled) {
  std::vector<std::string> calls;
  call_ = [&](std::string_view name, std::string_view arguments) {
    calls.push_back(std::string(name) + std::string(arguments));
    if (name == "fail") {
      return std::string(R"({"error":{"type":"KeyError","message":"no such"}})");
    }
    return R"({"value":)" + json(std::string(arguments)).dump() + "}";
  };
  const auto change = [](host::Request& request) {
    request.source =
        "said = [ask(n, (n,), x=b'b') for n in range(3)]\n"
        "try:\n    fail()\nexcept LookupError as error:\n    said.append(str(error))\n"
        "said.append(len(ask('x' * 500_000)))\nsaid";
    request.functions = {"ask", "fail"};
  };
  for (const outside::Policy policy : {outside::Policy::kOn, outside::Policy::kOff}) {
    calls.clear();
    const host::Outcome outcome = ExpectSame("functions", change, "basic", policy);
    EXPECT_EQ(outcome.status, host::Status::kOk);
    ASSERT_EQ(calls.size(), 10u);
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(calls[i], calls[i + 5]);
    EXPECT_EQ(calls[3].substr(0, 4), "fail");
  }
}

TEST_F(Guest, WhatAProgramLeavesIsHandedOver) {
  std::vector<std::string> received;
  call_ = [&](std::string_view name, std::string_view arguments) {
    EXPECT_EQ(name, host::kTakesVariables);
    received.emplace_back(arguments);
    return std::string(R"({"value":null})");
  };
  ExpectSame("variables", [](host::Request& request) {
    request.source = "import math\npair = (1, 2)";
    request.functions = {std::string(host::kTakesVariables)};
  });
  ASSERT_EQ(received.size(), 6u);
  EXPECT_EQ(received[0], R"({"args":["math"],"kwargs":{}})");
  EXPECT_EQ(received[5], R"({"args":[],"kwargs":{}})");
}

TEST_F(Guest, TheClockStandsStillWhileAPersonThinks) {
  const auto limit = std::min<std::chrono::milliseconds>(tests::Within(seconds(1)), seconds(10));
  call_ = [=](std::string_view name, std::string_view) {
    EXPECT_EQ(name, host::kAsksInput);
    std::this_thread::sleep_for(limit + seconds(1));  // sleeps: longer than the run may take
    return std::string(R"({"value":"Ada\n"})");
  };
  const host::Outcome outcome = ExpectSame("input", [=](host::Request& request) {
    request.source = "input()";
    request.functions = {std::string(host::kAsksInput)};
    request.limits.timeout = limit;
  });
  EXPECT_EQ(outcome.status, host::Status::kOk);
  EXPECT_EQ(outcome.result_json, "\"Ada\"");
}

TEST_F(Guest, AnAnswerThatIsTooLargeIsTheProgramsError) {
  call_ = [](std::string_view, std::string_view) { return "\"" + std::string(5000, 'x') + "\""; };
  const host::Outcome outcome = ExpectSame("large answer", [](host::Request& request) {
    request.source = "ask()";
    request.functions = {"ask"};
    request.limits.result = core::Bytes{1000};
  });
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->type, "ValueError");
}

// Each with a function that takes longer than the run may, and with much to tell afterwards: more
// than the channel holds, and nobody reads it until the function is done.
TEST_F(Guest, TheClockGoesOnInACall) {
  const auto limit = std::min<std::chrono::milliseconds>(tests::Within(seconds(2)), seconds(10));
  call_ = [=](std::string_view, std::string_view) {
    std::this_thread::sleep_for(limit + seconds(1));  // sleeps: longer than the run may take
    return std::string(R"({"value":null})");
  };
  const host::Outcome outcome = ExpectSame(
      "clock",
      [=](host::Request& request) {
        request.source =
            "open('much', 'wb').write(bytes(1_000_000))\nprint('before')\nask()\nprint('after')";
        request.functions = {"ask"};
        request.limits.timeout = limit;
      },
      "filesystem");
  EXPECT_EQ(outcome.status, host::Status::kTimeout);
  EXPECT_EQ(outcome.stdout_stream.text, "before\n");
  ASSERT_EQ(outcome.artifacts.size(), 1u);
  EXPECT_EQ(outcome.artifacts[0].size, 1'000'000u);
}

TEST_F(Guest, FewerModules) {
  const host::Outcome outcome = ExpectSame("imports", [](host::Request& request) {
    request.source = "import json";
    request.allowed_imports = std::vector<std::string>{"math"};
  });
  EXPECT_EQ(outcome.status, host::Status::kRefused);
}

TEST_F(Guest, StandardInput) {
  const host::Outcome outcome = ExpectSame("stdin", [](host::Request& request) {
    request.source = "import sys\n[input(), input()]";
    request.standard_input = "ü\nsecond\n";
  });
  EXPECT_EQ(outcome.result_json, R"(["ü","second"])");
}

TEST_F(Guest, ATimeout) {
  const host::Outcome outcome = ExpectSame("timeout", [](host::Request& request) {
    request.source = "print('before')\nwhile True: pass";
    request.limits.timeout = seconds(2);
  });
  EXPECT_EQ(outcome.status, host::Status::kTimeout);
  EXPECT_EQ(outcome.stdout_stream.text, "before\n");
}

TEST_F(Guest, ACpuLimit) {
  const host::Outcome outcome = ExpectSame("cpu", [](host::Request& request) {
    request.source = "while True: pass";
    request.limits.cpu = milliseconds(300);
  });
  EXPECT_EQ(outcome.status, host::Status::kCpuLimit);
}

TEST_F(Guest, AMemoryLimit) {
  // Under AddressSanitizer the interpreter has no allocator left that could report it.
  EXPECT_EQ(ExpectSame("x = bytearray(10**9)").status,
            tests::Sanitized() ? host::Status::kKilled : host::Status::kMemoryLimit);
}

TEST_F(Guest, OutputPastItsLimit) {
  const host::Outcome outcome = ExpectSame("output", [](host::Request& request) {
    request.source = "import sys\nfor i in range(30):\n    print('x' * 100_000)\n";
    request.limits.output = core::Bytes{1'000'003};
  });
  EXPECT_EQ(outcome.stdout_stream.text.size(), 1'000'003u);
  EXPECT_EQ(outcome.stdout_stream.dropped_bytes, 30u * 100'001 - 1'000'003);
}

TEST_F(Guest, AResultPastItsLimit) {
  const host::Outcome outcome = ExpectSame("result", [](host::Request& request) {
    request.source = "list(range(100_000))";
    request.limits.result = core::Bytes{1000};
  });
  EXPECT_FALSE(outcome.result_json);
  EXPECT_FALSE(outcome.truncated.empty());
}

TEST_F(Guest, ALargeResult) {
  const host::Outcome outcome = ExpectSame("[[i, str(i)] for i in range(50_000)]");
  EXPECT_TRUE(outcome.result_json);
}

TEST_F(Guest, ADeniedCallAndADeath) {
  const host::Outcome denied =
      ExpectSame("import os\ntry:\n    os.fork()\nexcept PermissionError as e:\n    print(e)\n",
                 "basic", outside::Policy::kOff);
  EXPECT_FALSE(denied.security_events.empty());
  const host::Outcome killed = ExpectSame("import os\nos._exit(3)", "basic", outside::Policy::kOff);
  EXPECT_EQ(killed.status, host::Status::kKilled);
}

TEST_F(Guest, FilesInAndOut) {
  const host::Outcome outcome = ExpectSame(
      "files",
      [](host::Request& request) {
        request.source =
            "text = open('in/a.txt').read()\n"
            "open('copy.txt', 'w').write(text * 2)\n"
            "open('data.bin', 'wb').write(bytes(range(256)) * 2000)\n"
            "open('empty', 'w').close()\n"
            "len(text)\n";
        request.files = {{"in/a.txt", "hello\n"}, {"unused.bin", std::string(300'000, '\xff')}};
      },
      "filesystem");
  EXPECT_EQ(outcome.status, host::Status::kOk);
  ASSERT_EQ(outcome.artifacts.size(), 3u);
  EXPECT_EQ(outcome.artifacts[0].name, "copy.txt");
  EXPECT_EQ(outcome.artifacts[0].content, "hello\nhello\n");
  EXPECT_EQ(outcome.artifacts[1].size, 512'000u);
}

TEST_F(Guest, APlot) {
  if (tests::Sanitized()) GTEST_SKIP() << "shadow memory is address space too";
  const core::Profile profile = ChosenProfile("data-science");
  if (!installation::Installation::Find()->Missing(profile).empty()) {
    BELLJAR_SKIP_OR_FAIL("the packages of data-science are not installed");
  }
  const host::Outcome outcome = ExpectSame(
      "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()\n", "data-science");
  EXPECT_EQ(outcome.status, host::Status::kOk);
  ASSERT_EQ(outcome.artifacts.size(), 1u);
  EXPECT_EQ(outcome.artifacts[0].origin, host::Artifact::Origin::kDisplay);
}

// --- its life -----------------------------------------------------------------------------------

TEST_F(Guest, ACancellationEndsTheRun) {
  tests::SpawnedGuest guest(Arguments("basic", outside::Policy::kOn));
  backend::GuestConnection connection(guest.TakeChannel(),
                                      Terms(tests::BasicProfile(), outside::Policy::kOn));
  ASSERT_TRUE(connection.AwaitReady({Soon()}));
  const core::UniqueFd cancel(eventfd(0, EFD_CLOEXEC));
  const run::OutputSink sink{[&](std::string_view) { eventfd_write(cancel.get(), 1); }, {}};
  run::RunOptions run;
  run.sink = &sink;
  run.cancel_fd = cancel.get();
  const core::Result<host::Outcome> outcome =
      connection.Run(tests::MakeRequest("print('before')\nwhile True: pass"), run);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection.end(), backend::GuestConnection::End::kOutcome)
      << "the guest did not say it";
  EXPECT_EQ(outcome->status, host::Status::kKilled);
  EXPECT_EQ(outcome->error->type, "Cancelled");
  EXPECT_EQ(outcome->stdout_stream.text, "before\n");
  EXPECT_EQ(guest.AwaitDeath(), tests::Exited(kGuestDone));
}

TEST_F(Guest, ACancellationEndsACall) {
  tests::SpawnedGuest guest(Arguments("basic", outside::Policy::kOn));
  backend::GuestConnection connection(guest.TakeChannel(),
                                      Terms(tests::BasicProfile(), outside::Policy::kOn));
  ASSERT_TRUE(connection.AwaitReady({Soon()}));
  const core::UniqueFd cancel(eventfd(0, EFD_CLOEXEC));
  host::Request request =
      tests::MakeRequest("print('before')\ntry:\n    ask()\nfinally:\n    print('after')");
  request.functions = {"ask"};
  run::RunOptions run;
  run.cancel_fd = cancel.get();
  run.call = [&](std::string_view, std::string_view) {
    eventfd_write(cancel.get(), 1);
    return std::string();
  };
  const core::Result<host::Outcome> outcome = connection.Run(request, run);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection.end(), backend::GuestConnection::End::kOutcome)
      << "the guest did not say it";
  EXPECT_EQ(outcome->error->type, "Cancelled");
  EXPECT_EQ(outcome->stdout_stream.text, "before\n");
  EXPECT_EQ(guest.AwaitDeath(), tests::Exited(kGuestDone));
}

// All that is below a process, itself included.
std::vector<pid_t> Family(pid_t root) {
  std::vector<pid_t> family = {root};
  const std::vector<tests::ProcessEntry> processes = tests::Processes();
  for (size_t i = 0; i < family.size(); ++i) {
    for (const tests::ProcessEntry& process : processes) {
      if (process.parent == family[i]) family.push_back(process.pid);
    }
  }
  return family;
}

bool AllGone(const std::vector<pid_t>& pids) {
  return tests::Eventually(
      [&] { return std::ranges::none_of(pids, [](pid_t pid) { return kill(pid, 0) == 0; }); });
}

TEST_F(Guest, ItEndsWithItsHostWhateverItDoes) {
  for (const bool running : {false, true}) {
    tests::SpawnedGuest guest(Arguments("basic", outside::Policy::kOn));
    std::vector<pid_t> family;
    {
      backend::GuestConnection connection(guest.TakeChannel(),
                                          Terms(tests::BasicProfile(), outside::Policy::kOn));
      ASSERT_TRUE(connection.AwaitReady({Soon()}));
      family = Family(guest.pid());
      EXPECT_EQ(family.size(), 2u) << "guest, worker";
      if (running) {
        host::Request request = tests::MakeRequest("print('x', flush=True)\nwhile True: pass");
        request.limits.timeout = seconds(20);
        const core::UniqueFd cancel(eventfd(0, EFD_CLOEXEC));
        const run::OutputSink sink{[&](std::string_view) {
                                     kill(guest.pid(), SIGSTOP);
                                     eventfd_write(cancel.get(), 1);
                                   },
                                   {}};
        run::RunOptions run;
        run.sink = &sink;
        run.cancel_fd = cancel.get();
        ASSERT_TRUE(connection.Run(request, run));
        EXPECT_EQ(connection.end(), backend::GuestConnection::End::kCancelled);
        kill(guest.pid(), SIGCONT);
      }
    }
    EXPECT_EQ(guest.AwaitDeath(), tests::Exited(kGuestDone));
    EXPECT_TRUE(AllGone(family));
  }
}

TEST_F(Guest, ItEndsWithItsHostInTheMiddleOfACall) {
  tests::SpawnedGuest guest(Arguments("basic", outside::Policy::kOn));
  backend::GuestReader reader(tests::ExpectedHello());
  host::Request request = tests::MakeRequest("ask()");
  request.functions = {"ask"};
  const run::FunctionCall call = [](std::string_view, std::string_view) {
    return std::string("{}");
  };
  const run::FunctionCalls calls(request, call);
  reader.Expect({.limits = request.limits, .has_workspace = false, .displays = core::Bytes{0}}, {},
                &calls);
  ASSERT_TRUE(
      guest.channel().Send(wire::FrameKind::kRequest, *wire::RequestToText(request), {Soon()}));
  ASSERT_TRUE(guest.channel().SendContent(request.source, {Soon()}));
  while (!reader.TakeCall()) {
    const core::Result<std::string> bytes = guest.channel().Receive({Soon()});
    ASSERT_TRUE(bytes && !bytes->empty());
    ASSERT_TRUE(reader.Take(*bytes));
  }
  const std::vector<pid_t> family = Family(guest.pid());
  EXPECT_GE(family.size(), 2u);
  guest.Hang();
  EXPECT_EQ(guest.AwaitDeath(), tests::Exited(kGuestDone));
  EXPECT_TRUE(AllGone(family));
}

TEST_F(Guest, AnAnswerToNoCallIsAFailure) {
  tests::SpawnedGuest guest(Arguments("basic", outside::Policy::kOn));
  backend::GuestReader reader(tests::ExpectedHello());
  host::Request request = tests::MakeRequest("while True: pass");
  request.functions = {"ask"};
  reader.Expect({.limits = request.limits, .has_workspace = false, .displays = core::Bytes{0}});
  ASSERT_TRUE(
      guest.channel().Send(wire::FrameKind::kRequest, *wire::RequestToText(request), {Soon()}));
  ASSERT_TRUE(guest.channel().SendContent(request.source, {Soon()}));
  ASSERT_TRUE(guest.channel().Send(wire::FrameKind::kAnswer, "{}", {Soon()}));
  while (reader.stage() != backend::GuestReader::Stage::kEnded) {
    const core::Result<std::string> bytes = guest.channel().Receive({Soon()});
    ASSERT_TRUE(bytes && !bytes->empty());
    ASSERT_TRUE(reader.Take(*bytes));
  }
  // One that it ended at once, whether an outcome or a failure says so.
  if (reader.failure()) {
    EXPECT_NE(reader.failure()->ToString().find("an answer without a call"), std::string::npos);
  } else {
    EXPECT_EQ(reader.outcome().status, host::Status::kKilled);
  }
}

TEST_F(Guest, ItEndsWithItsHostBeforeItIsReady) {
  tests::SpawnedGuest guest(Arguments("basic", outside::Policy::kOn));
  guest.Hang();
  EXPECT_EQ(guest.AwaitDeath(), tests::Exited(kGuestDone));
}

TEST_F(Guest, KilledItLeavesNothingAndTheHostIsNotified) {
  tests::SpawnedGuest guest(Arguments("basic", outside::Policy::kOn));
  backend::GuestConnection connection(guest.TakeChannel(),
                                      Terms(tests::BasicProfile(), outside::Policy::kOn));
  ASSERT_TRUE(connection.AwaitReady({Soon()}));
  const std::vector<pid_t> family = Family(guest.pid());
  const run::OutputSink sink{[&](std::string_view) { kill(guest.pid(), SIGKILL); }, {}};
  run::RunOptions run;
  run.sink = &sink;
  const core::Result<host::Outcome> outcome =
      connection.Run(tests::MakeRequest("print('before')\nwhile True: pass"), run);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection.end(), backend::GuestConnection::End::kClosed);
  EXPECT_EQ(outcome->status, host::Status::kKilled);
  EXPECT_EQ(outcome->stdout_stream.text, "before\n");
  EXPECT_EQ(guest.AwaitDeath(), tests::KilledBy(SIGKILL));
  EXPECT_TRUE(AllGone(family));
}

TEST_F(Guest, WhatIsNoRequestIsAFailure) {
  tests::SpawnedGuest guest(Arguments("basic", outside::Policy::kOn));
  backend::GuestReader reader(tests::ExpectedHello());
  ASSERT_TRUE(guest.channel().Send(wire::FrameKind::kRequest, R"({"mode": "run"})", {Soon()}));
  while (reader.stage() != backend::GuestReader::Stage::kEnded) {
    const core::Result<std::string> bytes = guest.channel().Receive({Soon()});
    ASSERT_TRUE(bytes && !bytes->empty());
    // One that failed before it was ready says so in place of it.
    ASSERT_TRUE(reader.Take(*bytes));
  }
  ASSERT_TRUE(reader.failure());
  EXPECT_NE(reader.failure()->ToString().find("read a request"), std::string::npos)
      << reader.failure()->ToString();
  EXPECT_EQ(guest.AwaitDeath(), tests::Exited(kGuestFailed));
}

TEST_F(Guest, WhatItsMachineCannotIsAFailureWithAReason) {
  tests::SpawnedGuest guest({"--profile", "nonesuch"});
  backend::GuestTerms terms;
  terms.profile = "nonesuch";
  backend::GuestConnection connection(guest.TakeChannel(), terms);
  const core::Result<void> ready = connection.AwaitReady({Soon()});
  ASSERT_FALSE(ready);
  const std::string error = ready.error().ToString();
  EXPECT_NE(error.find("in the container: "), std::string::npos);
  EXPECT_NE(error.find("nonesuch"), std::string::npos) << error;
  EXPECT_EQ(guest.AwaitDeath(), tests::Exited(kGuestFailed));
}

TEST_F(Guest, LimitsPastTheProfilesAreAFailure) {
  tests::SpawnedGuest guest(Arguments("basic", outside::Policy::kOn));
  backend::GuestConnection connection(guest.TakeChannel(),
                                      Terms(tests::BasicProfile(), outside::Policy::kOn));
  ASSERT_TRUE(connection.AwaitReady({Soon()}));
  host::Request request = tests::MakeRequest("1");
  request.limits.memory = core::Bytes{tests::BasicProfile().maximum_limits.memory.count + 1};
  const core::Result<host::Outcome> outcome = connection.Run(request, {});
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().ToString().find("exceeds the maximum"), std::string::npos);
}

TEST_F(Guest, InstalledBesideTheZygoteItFindsItsParts) {
  namespace fs = std::filesystem;
  const tests::TemporaryFolder prefix;
  const fs::path libexec = fs::path(prefix.path()) / "libexec/belljar";
  fs::create_directories(libexec);
  fs::create_directories(prefix.path() + "/share");
  const fs::path built = fs::path(tests::GuestProgram()).parent_path();
  fs::copy_file(built / "belljar-guest", libexec / "belljar-guest");
  fs::create_symlink(built / "belljar-zygote", libexec / "belljar-zygote");
  fs::create_symlink(built / "share/belljar", prefix.path() + "/share/belljar");
  tests::SpawnedGuest guest(Arguments("basic", outside::Policy::kOn),
                            tests::SpawnedGuest::Over::kSocket, {}, libexec / "belljar-guest");
  backend::GuestConnection connection(guest.TakeChannel(),
                                      Terms(tests::BasicProfile(), outside::Policy::kOn));
  const core::Result<void> ready = connection.AwaitReady({Soon()});
  EXPECT_TRUE(ready) << ready.error().ToString();
}

TEST_F(Guest, ItsArgumentsAreChecked) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--profile"},
                                                    {"--policy", "some"},
                                                    {"--isolation", "none"},
                                                    {"--help", "me"},
                                                    {"--profile", ""}}) {
    tests::SpawnedGuest guest(arguments);
    EXPECT_EQ(guest.AwaitDeath(), tests::Exited(kGuestMisused));
  }
}

// --- PID 1 --------------------------------------------------------------------------------------

// Runs `child` behind BecomeInitIfFirst, as PID 1 of a namespace; the pid of that, or -1.
pid_t StartInit(const std::function<int()>& child) {
  fflush(nullptr);
  const pid_t between = fork();
  if (between != 0) return between;
  if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) _exit(99);
  const pid_t init = fork();
  if (init == 0) {
    BecomeInitIfFirst();
    _exit(child());
  }
  int status = 0;
  waitpid(init, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
}

tests::Death Await(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? tests::Exited(WEXITSTATUS(status)) : tests::KilledBy(WTERMSIG(status));
}

TEST(Init, EndsAsItsChildEnds) {
  const tests::Death death =
      Await(StartInit([] { return getpid() != 1 && getppid() == 1 ? 42 : 1; }));
  if (death == tests::Exited(99)) BELLJAR_SKIP_OR_FAIL("no PID namespaces here");
  EXPECT_EQ(death, tests::Exited(42));
  EXPECT_EQ(Await(StartInit([] { return raise(SIGKILL); })), tests::Exited(128 + SIGKILL));
}

TEST(MemoryEvents, AreReadOfBothVersions) {
  EXPECT_TRUE(CountsOomKills("low 0\nhigh 0\nmax 3\noom 2\noom_kill 1\n"));
  EXPECT_TRUE(CountsOomKills("oom_kill_disable 0\nunder_oom 0\noom_kill 12"));
  EXPECT_FALSE(CountsOomKills("low 0\nhigh 0\nmax 3\noom 2\noom_kill 0\n"));
  EXPECT_FALSE(CountsOomKills("oom_kill_disable 1\nunder_oom 1\n"));
  EXPECT_FALSE(CountsOomKills("oom_group_kill 5\n"));
  EXPECT_FALSE(CountsOomKills(""));
}

TEST(MemoryEvents, OnlyAKillIsExplained) {
  host::Outcome outcome;
  outcome.status = host::Status::kException;
  ExplainOomKill(outcome);
  EXPECT_EQ(outcome.status, host::Status::kException);
  host::SetKilled(outcome, host::KillCause::kSignal,
                  "killed by SIGKILL");  // the words decide nothing
  ExplainOomKill(outcome);
  EXPECT_EQ(outcome.status, host::Status::kKilled);
}

TEST(Init, ReapsOrphans) {
  // The grandchild tells by a pipe that it has a new parent, and ends; the child then looks whether
  // anything of that pid is left: a zombie would be.
  const tests::Death death = Await(StartInit([] {
    int ends[2];
    if (pipe(ends) != 0) return 1;
    const pid_t middle = fork();
    if (middle == 0) {
      if (const pid_t orphan = fork(); orphan != 0) _exit(0);
      while (getppid() != 1) usleep(1000);  // sleeps: nothing tells of a new parent
      const pid_t self = getpid();
      (void)!write(ends[1], &self, sizeof self);
      _exit(0);
    }
    waitpid(middle, nullptr, 0);
    pid_t orphan = 0;
    if (read(ends[0], &orphan, sizeof orphan) != sizeof orphan) return 2;
    const auto is_gone = [&] { return kill(orphan, 0) != 0 && errno == ESRCH; };
    return tests::Eventually(is_gone) ? 42 : 3;
  }));
  if (death == tests::Exited(99)) BELLJAR_SKIP_OR_FAIL("no PID namespaces here");
  EXPECT_EQ(death, tests::Exited(42));
}

TEST(Init, PassesSignalsOn) {
  if (Await(StartInit([] { return 42; })) == tests::Exited(99)) {
    BELLJAR_SKIP_OR_FAIL("no PID namespaces here");
  }
  const auto only_child_of = [](pid_t parent) {
    for (const tests::ProcessEntry& process : tests::Processes()) {
      if (process.parent == parent) return process.pid;
    }
    return -1;
  };
  for (const int signal : {SIGTERM, SIGINT}) {
    const pid_t between = StartInit([] {
      for (;;) pause();
      return 0;
    });
    pid_t init = -1;
    const bool found = tests::Eventually([&] {
      init = only_child_of(between);
      return init > 0 && only_child_of(init) > 0;
    });
    // Without a child there is nobody to pass it on to, and what is there would stay for ever.
    kill(init > 0 ? init : between, found ? signal : SIGKILL);
    EXPECT_TRUE(found);
    EXPECT_EQ(Await(between), tests::Exited(128 + SIGTERM)) << signal;
  }
}

TEST_F(Guest, AsTheFirstProcessItServesTheSame) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("mounting /proc takes root");
  tests::SpawnedGuest guest({"--profile", "basic"}, tests::SpawnedGuest::Over::kSocket,
                            {"unshare", "--pid", "--fork", "--mount-proc", "--kill-child"});
  backend::GuestConnection connection(guest.TakeChannel(),
                                      Terms(tests::BasicProfile(), outside::Policy::kOn));
  const core::Result<void> ready = connection.AwaitReady({Soon()});
  ASSERT_TRUE(ready) << ready.error().ToString();
  const core::Result<host::Outcome> outcome = connection.Run(tests::MakeRequest("6 * 7"), {});
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->result_json, "42");
  EXPECT_EQ(guest.AwaitDeath(), tests::Exited(kGuestDone));
}

}  // namespace
}  // namespace belljar::container::inside::guest_test
