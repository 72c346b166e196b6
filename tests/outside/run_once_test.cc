// A run in a sandbox of its own, whose zygote loads what the program names.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/outside/local_backend.h"
#include "engine/outside/sandbox.h"
#include "engine/outside/start_plan.h"
#include "tests/support/support.h"

namespace belljar::outside::run_once_test {
namespace {

using StringList = std::vector<std::string>;

SandboxOptions Restricted() {
  SandboxOptions options = tests::FullPython();
  options.policy = Policy::kOn;
  return options;
}

// The outcome of a zygote that has loaded all modules.
core::Result<host::Outcome> RunWithAll(SandboxOptions options, const host::Request& request) {
  options.single_run = true;
  return tests::Open(std::move(options))->Run(request);
}

// The outcome of a run that has loaded these modules, without another attempt.
core::Result<host::Outcome> RunWith(StringList named, SandboxOptions options,
                                    const host::Request& request) {
  options.installation = tests::Had(installation::GivenOrFound(options.installation));
  const workers::ZygoteKind kind{.single_run = true, .modules = std::move(named)};
  return tests::Had(LocalBackend::Start(options, kind))->Run(request, {});
}

bool StartsOver(const core::Result<host::Outcome>& outcome) {
  return !outcome && outcome.error().cause == core::Cause::kStartOver;
}

core::Result<host::Outcome> RunOnceShowing(tests::Shown& shown, std::string source) {
  run::RunOptions run;
  run.sink = &shown.sink;
  return RunOnce(Restricted(), tests::MakeRequest(std::move(source)), run);
}

TEST(RunOnce, AModuleThatIsNamedIsThere) {
  const auto outcome = RunWith({"statistics"}, Restricted(),
                               tests::MakeRequest("import statistics\nstatistics.mean([1, 3])"));
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kOk);
  EXPECT_EQ(outcome->result_json, "2");
}

struct Unnamed {
  const char* what;
  const char* source;
  Policy policy = Policy::kOn;
};
constexpr Unnamed kUnnamed[] = {
    {"__import__", "__import__('statis' + 'tics').mean([1, 3])"},
    {"a name that it catches nothing for",
     "try:\n    got = __import__('statis' + 'tics')\nexcept BaseException:\n    got = None\n"
     "got.mean([1, 3])"},
    {"other letters", "import \xef\xbd\x93tatistics as s\ns.mean([1, 3])"},
    {"text", "eval('__import__(\"statis\" + \"tics\").mean([1, 3])')"},
    {"all modules", "import sys\n'statistics' in sys.modules and 'csv' in sys.modules"},
    {"help", "help('statis' + 'tics')"},
    {"a codec", "b'\\x80'.decode('cp' + '1252')"},
    {"a codec in C", "b'\\x81\\x30'.decode('g' + 'bk', 'replace')"},
    {"an event loop", "async def main():\n    return 42\nawait main()"},
    {"no language policy", "__import__('statis' + 'tics').mean([1, 3])", Policy::kOff},
    {"an event loop of it", "async def main():\n    return 42\nawait main()", Policy::kOff},
    {"our own code", "__import__('belljar_policy.library.lz' + 'ma')", Policy::kOff},
};

TEST(RunOnce, AModuleThatIsNotNamedIsThereToo) {
  for (const Unnamed& each : kUnnamed) {
    SandboxOptions options = Restricted();
    options.policy = each.policy;
    const host::Request request = tests::MakeRequest(each.source);
    EXPECT_TRUE(StartsOver(RunWith(NamedModules(options.profile, each.source), options, request)))
        << each.what;
    const auto expected = RunWithAll(options, request);
    ASSERT_TRUE(expected) << each.what << ": " << expected.error().ToString();
    const auto outcome = RunOnce(options, request);
    ASSERT_TRUE(outcome) << each.what << ": " << outcome.error().ToString();
    EXPECT_EQ(outcome->status, expected->status) << each.what;
    EXPECT_EQ(outcome->result_json, expected->result_json) << each.what;
    EXPECT_EQ(outcome->stdout_stream.text, expected->stdout_stream.text) << each.what;
    EXPECT_EQ(outcome->error.has_value(), expected->error.has_value()) << each.what;
    if (!outcome->error || !expected->error) continue;
    EXPECT_EQ(outcome->error->message, expected->error->message) << each.what;
    EXPECT_EQ(outcome->error->hint, expected->error->hint) << each.what;
  }
}

TEST(RunOnce, WhatIsRefusedIsRefusedAtOnceWithTheSameFindings) {
  for (const char* source :
       {"import socket", "import statistic", "from math import sqr", "import numpy",
        "from json import sqrt", "(lambda: 0).__globals__", "import os\nos.fork()"}) {
    const SandboxOptions options = Restricted();
    const host::Request request = tests::MakeRequest(source);
    const auto expected = RunWithAll(options, request);
    const auto outcome = RunWith(NamedModules(options.profile, source), options, request);
    ASSERT_TRUE(expected) << source;
    ASSERT_TRUE(outcome) << source << ": " << outcome.error().ToString();
    EXPECT_EQ(outcome->status, host::Status::kRefused) << source;
    ASSERT_EQ(outcome->findings.size(), expected->findings.size()) << source;
    for (size_t i = 0; i < outcome->findings.size(); ++i) {
      EXPECT_EQ(outcome->findings[i].rule, expected->findings[i].rule) << source;
      EXPECT_EQ(outcome->findings[i].reason, expected->findings[i].reason) << source;
      EXPECT_EQ(outcome->findings[i].hint, expected->findings[i].hint) << source;
    }
  }
}

TEST(RunOnce, ItIsHeldAsOneWithAllModulesIs) {
  const SandboxOptions options = Restricted();
  const host::Request request = tests::MakeRequest("pass");
  const auto expected = RunWithAll(options, request);
  const auto outcome = RunWith({}, options, request);
  ASSERT_TRUE(expected && outcome);
  ASSERT_EQ(outcome->isolation.layers.size(), expected->isolation.layers.size());
  for (size_t i = 0; i < outcome->isolation.layers.size(); ++i) {
    EXPECT_EQ(outcome->isolation.layers[i].name, expected->isolation.layers[i].name);
    EXPECT_EQ(outcome->isolation.layers[i].held, expected->isolation.layers[i].held);
    EXPECT_EQ(outcome->isolation.layers[i].detail, expected->isolation.layers[i].detail);
  }
}

TEST(RunOnce, WhatWasShownIsNotShownAgain) {
  tests::Shown shown;
  const auto outcome = RunOnceShowing(shown,
                                      // sleeps: so that it is shown before the second line
                                      "import time\nprint('first')\ntime.sleep(0.3)\n"
                                      "print(__import__('statis' + 'tics').mean([1, 3]))");
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->stdout_stream.text, "first\n2\n");
  EXPECT_EQ(shown.out, "first\n2\n");
  EXPECT_EQ(shown.err, "");
}

TEST(RunOnce, OutputThatChangesIsShownWithANote) {
  tests::Shown shown;
  // sleeps: so that it is shown before the second line
  const auto outcome = RunOnceShowing(
      shown, "import time\nprint(f'at {time.time_ns()}')\ntime.sleep(" +
                 std::to_string(tests::Within(std::chrono::milliseconds(300)).count()) +
                 " / 1000)\nprint(__import__('statis' + 'tics').mean([1, 3]))");
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_TRUE(shown.out.ends_with(outcome->stdout_stream.text)) << shown.out;
  EXPECT_GT(shown.out.size(), outcome->stdout_stream.text.size()) << "nothing was shown before";
  EXPECT_NE(shown.err.find("was restarted"), std::string::npos) << shown.err;
}

TEST(RunOnce, AFunctionOfTheCallersIsCalledOnce) {
  host::Request request = tests::MakeRequest("tell()\n__import__('statis' + 'tics').mean([1, 3])");
  request.functions = {"tell"};
  int calls = 0;
  run::RunOptions run;
  run.call = [&](std::string_view, std::string_view) {
    ++calls;
    return std::string(R"({"value":null})");
  };
  const auto outcome = RunOnce(Restricted(), request, run);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->result_json, "2") << (outcome->error ? outcome->error->message : "");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace belljar::outside::run_once_test
