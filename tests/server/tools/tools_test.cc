// The three tools as their callers meet them: what comes back for every way in which code can end.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "engine/core/text.h"
#include "server/tools/failures.h"
#include "server/tools/output_forwarder.h"
#include "tests/server/tools_support.h"
#include "tests/support/support.h"

namespace belljar::server::tools::tools_test {
namespace {

using nlohmann::json;

// --- execute_code ------------------------------------------------------------------------------

TEST(ExecuteCode, LimitsReachTheRun) {
  const tests::Answered answer = tests::Execute(
      {{"code", "1"}, {"timeout", 2.5}, {"memory_limit", "64m"}, {"detail", "full"}});
  EXPECT_EQ(answer.object["limits"]["timeout"], 2.5);
  EXPECT_EQ(answer.object["limits"]["cpu"], 2.5) << "as belljar run --timeout";
  EXPECT_EQ(answer.object["limits"]["memory_bytes"], 64 << 20);
  EXPECT_EQ(tests::Execute({{"code", "1"}, {"memory_limit", 33554432}, {"detail", "full"}})
                .object["limits"]["memory_bytes"],
            32 << 20);
}

TEST(ExecuteCode, EveryWayToEnd) {
  const struct {
    const char* code;
    const char* status;
    const char* type;
  } kCases[] = {
      {"print('before')\n1 / 0", "exception", "ZeroDivisionError"},
      {"print('before'", "exception", "SyntaxError"},
      {"import glob", "refused", "PolicyError"},
      {"print('before', flush=True)\nwhile True: pass", "", ""},
      // Under AddressSanitizer the interpreter has no allocator left that could report it.
      {"print('before')\nx = 'x' * (1 << 30)", tests::Sanitized() ? "killed" : "memory_limit", ""},
      {"import sys\nprint('before')\nsys.exit(3)", "exception", "SystemExit"},
  };
  for (const auto& each : kCases) {
    const tests::Answered answer = tests::Execute({{"code", each.code}, {"timeout", 0.4}});
    EXPECT_TRUE(answer.is_error) << each.code;
    EXPECT_EQ(answer.object["success"], false);
    const std::string status = answer.object["status"];
    if (*each.status) {
      EXPECT_EQ(status, each.status) << each.code;
    } else {
      EXPECT_TRUE(status == "timeout" || status == "cpu_limit") << status;
    }
    if (*each.type) {
      EXPECT_EQ(answer.object["error"]["type"], each.type);
    }
    if (status != "refused" && answer.object["error"]["type"] != "SyntaxError") {
      EXPECT_EQ(answer.object["stdout"], "before\n") << each.code;
    }
  }
  const tests::Answered slept = tests::Execute({{"code", BELLJAR_UNTIL_KILLED}, {"timeout", 0.2}});
  EXPECT_EQ(slept.object["status"], "timeout");
  const tests::Answered ended = tests::Execute({{"code", "import sys\nsys.exit()"}});
  EXPECT_FALSE(ended.is_error);
  EXPECT_EQ(ended.object["exit_code"], 0);
}

TEST(ExecuteCode, OutputThatIsNotWantedIsNotReturned) {
  std::string streamed;
  ToolCall call;
  call.arguments = {{"code", "print('x' * 3_000_000)\n7"}, {"capture_output", false}};
  call.on_output = [&](std::string_view text) { streamed += text; };
  const tests::Answered answer = tests::Shared().CallWith("execute_code", call);
  EXPECT_EQ(answer.object["stdout"], "");
  EXPECT_EQ(answer.object["result"], 7);
  EXPECT_EQ(streamed, "");
  EXPECT_GT(answer.object["cut"]["stdout"]["dropped_bytes"], 0) << "output limit still applies";
}

TEST(ExecuteCode, ImportsAreNarrowed) {
  const json math_only = json::array({"math"});
  EXPECT_FALSE(tests::Execute({{"code", "import math"}, {"allowed_imports", math_only}}).is_error);
  tests::Answered answer =
      tests::Execute({{"code", "import json"}, {"allowed_imports", math_only}});
  EXPECT_EQ(answer.object["status"], "refused");
  EXPECT_HOLDS(answer.object["error"]["message"].get<std::string>(), "BJ205");
  answer = tests::Execute({{"code", "import math"}, {"allowed_imports", json::array()}});
  EXPECT_EQ(answer.object["status"], "refused");
  answer = tests::Execute({{"code", "1"}, {"allowed_imports", {"maths", "zzzz"}}});
  EXPECT_HOLDS(answer.message, "profile basic has no module \"maths\"; did you mean \"math\"?");
  EXPECT_HOLDS(answer.message, "profile basic has no module \"zzzz\"; get_sandbox_info lists");
  // A package that is no module itself.
  answer = tests::Execute(
      {{"code", "import xml.etree.ElementTree"}, {"allowed_imports", json::array({"xml.etree"})}});
  EXPECT_FALSE(answer.is_error);
}

// For a program, on this machine.
std::string Seconds(std::chrono::milliseconds time) {
  return std::to_string(tests::Within(time).count()) + " / 1000";
}

TEST(ExecuteCode, OutputIsStreamedInOrder) {
  std::string streamed;
  size_t pieces = 0;
  ToolCall call;
  // sleeps: what is printed is passed on in between
  call.arguments = {{"code",
                     "import time\nfor i in range(5):\n    print(i, 'h\\u00e9llo')\n"
                     "    time.sleep(" +
                         Seconds(std::chrono::milliseconds(60)) + ")\n"}};
  call.on_output = [&](std::string_view text) {
    streamed += text;
    ++pieces;
  };
  const tests::Answered answer = tests::Shared().CallWith("execute_code", call);
  EXPECT_EQ(streamed, answer.object["stdout"]);
  EXPECT_GE(pieces, 3u) << "while it ran";
}

// Clients take a notification that arrives with its call's answer for a stray one.
TEST(ExecuteCode, WhatIsLeftAtTheEndComesWithTheAnswerOnly) {
  constexpr int kCalls = 20;
  int whole = 0;
  for (int i = 0; i < kCalls; ++i) {
    std::string streamed;
    ToolCall call;
    call.arguments = {{"code", "print('short')"}};
    call.on_output = [&](std::string_view text) { streamed += text; };
    EXPECT_EQ(tests::Shared().CallWith("execute_code", call).object["stdout"], "short\n");
    if (streamed == "short\n") ++whole;
  }
  // On a machine that stalls a short call may be long enough to be followed.
  EXPECT_LT(whole, kCalls);
}

TEST(OutputForwarder, NeverSplitsACharacter) {
  std::string received;
  bool all_whole = true;
  const std::function<void(std::string_view)> receiver = [&](std::string_view text) {
    all_whole = all_whole && core::CompletePrefix(text) == text.size();
    received += text;
  };
  OutputForwarder forwarder(receiver);
  const std::string text = "a\u00e9\u20ac\U0001F600z";
  for (const char byte : text) {
    forwarder.sink().on_stdout(std::string_view(&byte, 1));
    forwarder.sink().on_stderr("");
  }
  EXPECT_EQ(received, text);
  EXPECT_TRUE(all_whole);
  forwarder.sink().on_stdout("\xe2\x82");
  forwarder.sink().on_stderr("E");
  EXPECT_EQ(received, text + "E") << "what is unfinished waits, and keeps nothing else waiting";
  forwarder.sink().on_stdout("\xac");
  EXPECT_EQ(received, text + "E\u20ac");
}

TEST(ExecuteCode, CancelledBeforeAndDuringTheRun) {
  const auto cancellation = std::make_shared<Cancellation>();
  ToolCall call;
  call.arguments = {{"code", "print('on', flush=True)\nwhile True: pass"}};
  call.cancellation = cancellation;
  call.on_output = [&](std::string_view) { cancellation->Cancel(); };
  tests::Answered answer = tests::Shared().CallWith("execute_code", call);
  EXPECT_TRUE(answer.is_error);
  EXPECT_EQ(answer.object["status"], "killed");
  EXPECT_EQ(answer.object["error"]["type"], "Cancelled");
  EXPECT_EQ(answer.object["stdout"], "on\n");

  call.on_output = nullptr;
  (void)tests::Shared().books().Take();
  answer = tests::Shared().CallWith("execute_code", call);
  EXPECT_EQ(answer.object["error"]["message"], "cancelled before it was run");
  EXPECT_EQ(answer.object["execution_id"], "");
  const auto entries = tests::Shared().books().Take();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].status, host::Status::kKilled);
}

// Children of this process, among all threads.
std::set<pid_t> Children() {
  std::set<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string stat;
    if (!std::getline(file, stat) || stat.rfind(')') == std::string::npos) continue;
    std::istringstream rest(stat.substr(stat.rfind(')') + 2));
    char state = 0;
    pid_t parent = 0;
    if (rest >> state >> parent && parent == getpid()) children.insert(std::stoi(stat));
  }
  return children;
}

TEST(ExecuteCode, AProfileThatStartsSlowlyIsWaitedForAndTheCallerTold) {
  ExecutionConfig config;
  config.profiles = {"basic", "filesystem"};
  tests::Tools tools(config);
  (void)tools.Call("execute_code", {{"code", "1"}});
  ASSERT_TRUE(tests::Eventually(
      [&] { return tools.sandboxes().counters().at(0).counters.waiting == config.spares; }));
  // Stops whatever starts next for some seconds: the profile's zygote.
  const std::set<pid_t> before = Children();
  std::thread slows([&before] {
    pid_t started = 0;
    for (int looks = 0; looks < 10'000 && started == 0; ++looks) {
      for (const pid_t child : Children()) {
        if (!before.contains(child)) started = child;
      }
    }
    ASSERT_NE(started, 0);
    kill(started, SIGSTOP);
    std::this_thread::sleep_for(std::chrono::seconds(5));  // sleeps: longer than the timeout
    kill(started, SIGCONT);
  });
  std::vector<std::string> statuses;
  std::string streamed;
  ToolCall call;
  // sleeps: what is printed is passed on in between
  call.arguments = {{"code", "print('on')\nimport time\ntime.sleep(" +
                                 Seconds(std::chrono::milliseconds(100)) + ")\n6 * 7"},
                    {"profile", "filesystem"},
                    {"timeout", 3}};
  call.on_status = [&](std::string_view status) { statuses.emplace_back(status); };
  call.on_output = [&](std::string_view text) { streamed += text; };
  tests::Answered answer = tools.CallWith("execute_code", call);
  slows.join();
  EXPECT_EQ(answer.object["result"], 42) << "it does not count against the timeout";
  ASSERT_GE(statuses.size(), 1u);
  EXPECT_LE(statuses.size(), tests::Sanitized() ? 30u : 3u);
  EXPECT_EQ(statuses[0], "starting profile filesystem");
  EXPECT_EQ(streamed, "on\n");
  // Once it has started nobody is told.
  statuses.clear();
  answer = tools.CallWith("execute_code", call);
  EXPECT_TRUE(statuses.empty());
}

TEST(Failures, SayWhatToDoAndNotWhatTheMachineCallsIt) {
  const core::Error errors[] = {
      core::SystemErrorOf(ETIMEDOUT, "take a worker", "none became free in time"),
      core::SystemErrorOf(EMFILE, "create an event to cancel a call"),
      core::MakeError("seal a worker", "it died while it was being sealed"),
      core::SystemErrorOf(EPIPE, "clone a worker", "the zygote has ended"),
  };
  for (const core::Error& error : errors) {
    for (const ToolResult& result : {SandboxFailed("execute_code", "data-science", error),
                                     SandboxFailed("validate_code", "basic", error)}) {
      EXPECT_TRUE(result.is_error);
      EXPECT_TRUE(result.structured.empty());
      EXPECT_TRUE(result.text.find("all again") != std::string::npos) << result.text;
      for (const char* internal : {"worker", "zygote", "ETIMEDOUT", "EMFILE", "seal", "clone"}) {
        EXPECT_EQ(result.text.find(internal), std::string::npos) << result.text;
      }
    }
  }
  EXPECT_HOLDS(SandboxFailed("execute_code", "data-science", errors[0]).text,
               "profile data-science was not ready in time");
  const ToolResult late = ContainerFailed(
      "execute_code", core::SystemErrorOf(ETIMEDOUT, "take a container", "none in time"));
  EXPECT_EQ(late.text.find("ETIMEDOUT"), std::string::npos) << late.text;
}

TEST(ExecuteCode, AContainerIsRefusedWithWhatToDo) {
  const tests::Answered answer = tests::Execute(
      {{"code", "import numpy as np\ndata = np.array([1, 2, 3, 4, 5])\nresult = np.mean(data)"},
       {"use_container", true},
       {"memory_limit", "256m"},
       {"timeout", 30}});
  EXPECT_TRUE(answer.is_error);
  EXPECT_HOLDS(answer.message, "containers are not enabled on this server");
  EXPECT_HOLDS(answer.message, "Call again without use_container");
  EXPECT_HOLDS(answer.message, "SANDBOX_ENABLE_CONTAINER_MODE=true");
  EXPECT_HOLDS(answer.message, "5 kernel layers");
}

// Docker that has stopped, or was never there: whoever asks for a container is told, and nobody
// else notices.
TEST(ExecuteCode, WithoutAnEngineOnlyContainersFail) {
  ContainerConfig container;
  container.enabled = true;
  container.engine = "docker";
  container.socket = "/nonexistent/docker.sock";
  tests::Tools tools(ExecutionConfig{}, container);
  for (int i = 0; i < 2; ++i) {
    const tests::Answered answer =
        tools.Call("execute_code", {{"code", "6 * 7"}, {"use_container", true}});
    EXPECT_TRUE(answer.is_error);
    EXPECT_HOLDS(answer.message, "/nonexistent/docker.sock");
    EXPECT_HOLDS(answer.message, "a call without use_container");
    const tests::Answered local = tools.Call("execute_code", {{"code", "6 * 7"}});
    EXPECT_EQ(local.object["result"], 42);
    EXPECT_FALSE(local.object.contains("container"));
  }
  ASSERT_EQ(tools.books().Take().size(), 4u) << "what failed is in the books as well";
  const json mode = tools.Call("get_sandbox_info", {{"detail", "full"}}).object["container_mode"];
  EXPECT_EQ(mode["enabled"], true);
  EXPECT_EQ(mode["available"], false);
  EXPECT_HOLDS(mode["message"].get<std::string>(), "/nonexistent/docker.sock");
}

// Without an engine an installation fails; what may be asked for is judged before.
TEST(ExecuteCode, AllowedPackagesAreReported) {
  char folder[] = "/tmp/belljar-tools-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  ContainerConfig container;
  container.enabled = true;
  container.engine = "docker";
  container.socket = "/nonexistent/docker.sock";
  PackagesConfig packages;
  packages.enabled = true;
  packages.index = "https://index.example.org/simple";
  packages.allowed = {"requests", "google-*"};
  packages.folder = folder;
  tests::Tools tools(ExecutionConfig{}, container, packages);

  const json info = tools.Call("get_sandbox_info", {{"detail", "full"}}).object;
  EXPECT_EQ(info["packages"],
            json({{"enabled", true}, {"allowed", json::array({"requests", "google-*"})}}));
  EXPECT_HOLDS(info["language_notes"].dump(), "Packages passed to execute_code");
  const ToolDescription& description = tools.Get("execute_code").description();
  EXPECT_FALSE(description.read_only) << "what was installed stays for the next call";
  EXPECT_FALSE(description.destructive);
  EXPECT_TRUE(description.open_world);

  const auto message = [&](const char* package, bool use_container, json imports) {
    const tests::Answered answer =
        tools.Call("execute_code", {{"code", "1"},
                                    {"packages", json::array({package})},
                                    {"use_container", use_container},
                                    {"allowed_imports", std::move(imports)}});
    EXPECT_TRUE(answer.is_error);
    return answer.message;
  };
  EXPECT_HOLDS(message("requests", false, json()), "set use_container to true");
  EXPECT_HOLDS(message("flask", true, json()), "\"flask\" is not allowed");
  // A module that comes with a package is none that the profile has to have.
  EXPECT_HOLDS(message("requests", true, json::array({"math", "requests"})),
               "the packages could not be installed");
  std::filesystem::remove_all(folder);
}

// Packages have nobody to ask for them where no container may be asked for.
TEST(ExecuteCode, PackagesWithoutContainersAreNone) {
  PackagesConfig packages;
  packages.enabled = true;
  packages.allowed = {"*"};
  tests::Tools tools(ExecutionConfig{}, {}, packages);
  EXPECT_EQ(tools.Call("get_sandbox_info", {{"detail", "full"}}).object["packages"]["enabled"],
            false);
  const ToolDescription& description = tools.Get("execute_code").description();
  EXPECT_TRUE(description.read_only);
  EXPECT_FALSE(description.open_world);
  EXPECT_FALSE(description.input_schema["properties"].contains("packages"));
}

TEST(ExecuteCode, TheBooksAreKept) {
  (void)tests::Shared().books().Take();
  Caller caller;
  caller.name = "team-b";
  (void)tests::Execute({{"code", "1 / 0"}}, caller);
  (void)tests::Validate({{"code", "import glob"}}, caller);
  (void)tests::Info();
  (void)tests::Execute({{"code", 1}});
  const auto entries = tests::Shared().books().Take();
  ASSERT_EQ(entries.size(), 2u) << "only calls that used a worker";
  EXPECT_EQ(entries[0].tool, "execute_code");
  EXPECT_EQ(entries[0].caller, "team-b");
  EXPECT_EQ(entries[0].profile, "basic");
  EXPECT_EQ(entries[0].code, "1 / 0");
  EXPECT_EQ(entries[0].status, host::Status::kException);
  EXPECT_EQ(entries[1].tool, "validate_code");
  EXPECT_EQ(entries[1].status, host::Status::kRefused);
}

TEST(ExecuteCode, EightThreadsGetEachTheirOwnAnswer) {
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([thread, &right] {
      for (int i = 0; i < 25; ++i) {
        const int number = thread * 1000 + i;
        ToolCall call;
        call.arguments = {
            {"code", "print(" + std::to_string(number) + ")\n" + std::to_string(number) + " * 2"}};
        const core::Result<ToolResult> result = tests::Shared().Get("execute_code").Call(call);
        if (!result) continue;
        const json object = json::parse(result->structured, nullptr, false);
        if (object["result"] == number * 2 && object["stdout"] == std::to_string(number) + "\n") {
          ++right;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 200);
}

// --- validate_code -----------------------------------------------------------------------------

TEST(ValidateCode, RefusedCodeIsNoErrorOfTheCall) {
  const tests::Answered answer = tests::Validate({{"code", "x = 1\nimport glob\nopen('1')\n"}});
  EXPECT_FALSE(answer.is_error);
  const json& validation = answer.object["validation"];
  EXPECT_EQ(validation["valid"], false);
  EXPECT_EQ(validation["errors"][0], "Line 2: Import 'glob' is not allowed");
  EXPECT_EQ(validation["errors"][1], "Line 3: 'open' is not available");
  EXPECT_EQ(answer.object["findings"].size(), 2u);
  EXPECT_EQ(answer.object["findings"][0]["rule"], "BJ201");
  EXPECT_EQ(answer.object["analysis"]["imports"], json::array({"glob"}));
  EXPECT_EQ(answer.object["recommendations"].size(), 1u) << "the findings have the hints";
  EXPECT_TRUE(answer.text.starts_with("not valid:\nline 2: BJ201 ")) << answer.text;
  const tests::Answered full =
      tests::Validate({{"code", "x = 1\nimport glob\nopen('1')\n"}, {"detail", "full"}});
  EXPECT_EQ(full.object["recommendations"].size(), 3u);
  EXPECT_EQ(full.object["findings"][0]["name"], "import-not-allowed");
}

TEST(ValidateCode, ValidCodeHasItsAnalysis) {
  const tests::Answered answer =
      tests::Validate({{"code", "import math, json\r\nprint('h\u00e9')\r\n"}});
  EXPECT_EQ(answer.object["validation"],
            (json{{"valid", true}, {"errors", json::array()}, {"message", "Code is valid"}}));
  const json& analysis = answer.object["analysis"];
  EXPECT_EQ(analysis["line_count"], 2);
  EXPECT_EQ(analysis["character_count"], 32);
  EXPECT_EQ(analysis["estimated_complexity"], "low");
  EXPECT_EQ(analysis["imports"], json::array({"json", "math"}));
  EXPECT_TRUE(answer.text.starts_with("valid: ")) << answer.text;
  EXPECT_EQ(tests::Validate({{"code", ""}}).object["analysis"]["line_count"], 0);
}

TEST(ValidateCode, ComplexityGrowsWithTheCode) {
  const auto complexity = [](const std::string& code) {
    return tests::Validate({{"code", code}}).object["analysis"]["estimated_complexity"];
  };
  std::string branches = "x = 1\n";
  for (int i = 0; i < 6; ++i) branches += "if x: pass\n";
  EXPECT_EQ(complexity(branches), "medium");
  for (int i = 0; i < 40; ++i) branches += "if x: pass\n";
  EXPECT_EQ(complexity(branches), "high");
  EXPECT_EQ(complexity(std::string(400, '\n')), "high");
}

TEST(ValidateCode, ASyntaxErrorHasItsLine) {
  const tests::Answered answer = tests::Validate({{"code", "x = 1\ny = = 2\n"}});
  EXPECT_FALSE(answer.is_error);
  EXPECT_EQ(answer.object["validation"]["valid"], false);
  EXPECT_EQ(answer.object["validation"]["errors"][0], "Line 2: invalid syntax");
  EXPECT_EQ(answer.object["validation"]["message"], "Code has a syntax error");
  EXPECT_EQ(answer.object["analysis"]["imports"], json::array());
  EXPECT_FALSE(answer.object["analysis"].contains("branches"));
}

TEST(ValidateCode, WhatCouldNotBeJudgedIsNotValid) {
  const auto cancellation = std::make_shared<Cancellation>();
  cancellation->Cancel();
  ToolCall call;
  call.arguments = {{"code", "1"}};
  call.cancellation = cancellation;
  const tests::Answered answer = tests::Shared().CallWith("validate_code", call);
  EXPECT_EQ(answer.object["validation"]["valid"], false);
  EXPECT_HOLDS(answer.object["validation"]["message"].get<std::string>(), "could not be checked");
  EXPECT_EQ(answer.object["validation"]["errors"].size(), 1u);
}

// --- get_sandbox_info --------------------------------------------------------------------------

TEST(SandboxInfo, ReportsWhatMayBeUsed) {
  const json info = tests::Info({{"detail", "full"}}).object;
  EXPECT_EQ(info["success"], true);
  EXPECT_EQ(info["default_profile"], "basic");
  const json& basic = info["security_profiles"]["basic"];
  EXPECT_EQ(basic["enabled"], true);
  EXPECT_EQ(basic["modules"].size(), basic["names"].size());
  const json& names = basic["names"]["math"];
  EXPECT_NE(std::find(names.begin(), names.end(), "sqrt"), names.end());
  for (const char* key : {"data_science", "network", "filesystem"}) {
    const json& profile = info["security_profiles"][key];
    EXPECT_EQ(profile["enabled"], false) << key << ": nobody has enabled it";
    EXPECT_EQ(profile["available"], profile["missing"].empty()) << key;
    EXPECT_FALSE(profile["modules"].empty()) << key;
    EXPECT_HOLDS(profile["how_to_enable"].get<std::string>(), "SANDBOX_ENABLE_");
  }
  EXPECT_EQ(info["resource_limits"]["timeout"], 30);
  EXPECT_EQ(info["resource_limits"]["max_output_size"], 1048576);
  EXPECT_EQ(info["resource_limits"]["memory_limit"], "256m");
  EXPECT_EQ(info["resource_limits"]["max"]["timeout"], 300);
  EXPECT_EQ(info["container_mode"]["available"], false);
  EXPECT_EQ(info["container_mode"]["enabled"], false);
  EXPECT_HOLDS(info["container_mode"]["message"].get<std::string>(),
               "SANDBOX_ENABLE_CONTAINER_MODE=true");
  EXPECT_EQ(info["packages"], json({{"enabled", false}, {"allowed", json::array()}}));
  EXPECT_EQ(info["isolation"]["layers"].size(), 6u);
  EXPECT_EQ(info["version"]["python"].get<std::string>().substr(0, 2), "3.");
}

TEST(SandboxInfo, LeanlyEachThingOnce) {
  const tests::Answered lean = tests::Info();
  EXPECT_TRUE(lean.text.starts_with("Belljar ")) << lean.text;
  for (const char* part :
       {"Default profile: basic.", "\n- basic: ", " Modules: the standard library except bdb, ",
        "\n- data-science: not enabled; ",
        "Limits: timeout 30 s (at most 300), memory_limit 256m (at most 4g), output 1m",
        "Containers (use_container): not enabled.", "Isolation: strict, language policy on, "}) {
    EXPECT_HOLDS(lean.text, part);
  }
  const json& profiles = lean.object["security_profiles"];
  EXPECT_EQ(profiles["basic"]["enabled"], true);
  EXPECT_GT(profiles["basic"]["modules"].size(), 50u);
  EXPECT_FALSE(profiles["basic"].contains("names"));
  EXPECT_EQ(profiles["network"]["enabled"], false);
  EXPECT_HOLDS(profiles["network"]["how_to_enable"].get<std::string>(),
               "SANDBOX_ENABLE_NETWORK=true");
  const json full = tests::Info({{"detail", "full"}}).object;
  EXPECT_EQ(lean.object["resource_limits"], full["resource_limits"]);
  EXPECT_EQ(lean.object["isolation"]["mode"], full["isolation"]["mode"]);
  EXPECT_EQ(lean.object["isolation"]["layers"].get<size_t>() +
                lean.object["isolation"].value("missing", json::array()).size(),
            full["isolation"]["layers"].size());
}

TEST(SandboxInfo, DetailsOfAProfileAndOfAModule) {
  tests::Answered answer = tests::Info({{"profile", "basic"}});
  EXPECT_HOLDS(answer.text, "basic:\nenabled: true");
  EXPECT_TRUE(answer.object["security_profiles"]["basic"].contains("limits"));
  answer = tests::Info({{"module", "textwrap"}});
  EXPECT_HOLDS(answer.text, "textwrap (profile basic): TextWrapper, dedent, ");
  EXPECT_EQ(answer.object["module"]["names"][1], "dedent");
  EXPECT_HOLDS(tests::Info({{"module", "texwrap"}}).message, "did you mean \"textwrap\"?");
  EXPECT_HOLDS(tests::Info({{"profile", "filesystem"}}).message, "is not enabled on this server");
  EXPECT_HOLDS(tests::Info({{"profile", "basic"}, {"module", "math"}}).message, "send one");
  EXPECT_HOLDS(tests::Info({{"detail", "some"}}).message, "send \"lean\" or \"full\"");
  EXPECT_HOLDS(tests::Info({{"modul", "math"}}).message, "did you mean \"module\"?");
  // For a caller who may use nothing there is nothing.
  const Caller nobody = tests::CallerOf({});
  EXPECT_TRUE(tests::Info({{"module", "math"}}, nobody).is_error);
  EXPECT_TRUE(tests::Info({{"profile", "basic"}}, nobody).is_error);
  const tests::Answered lean = tests::Info({}, nobody);
  EXPECT_TRUE(lean.object["default_profile"].is_null());
  EXPECT_FALSE(lean.object["security_profiles"]["basic"].contains("modules"));
}

TEST(SandboxInfo, NeedsNoWorker) {
  EXPECT_FALSE(tests::Shared().Get("get_sandbox_info").uses_worker());
}

}  // namespace
}  // namespace belljar::server::tools::tools_test
