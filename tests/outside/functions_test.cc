// Inputs, functions of the caller's, and interruptions: what a run takes from a program around it.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/session_support.h"
#include "tests/support/support.h"

namespace belljar::outside::functions_test {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

SandboxOptions Restricted() {
  SandboxOptions options;
  options.profile = tests::BasicProfile();
  options.spares = 1;
  return options;
}

// One sandbox with the policy and one without for all tests of a suite: none is left with state.
class FunctionsTest : public testing::TestWithParam<Policy> {
 protected:
  static void SetUpTestSuite() {
    restricted_ = tests::Open(Restricted()).release();
    SandboxOptions full = tests::FullPython();
    full.spares = 1;
    full_ = tests::Open(std::move(full)).release();
  }
  static void TearDownTestSuite() {
    delete restricted_;
    delete full_;
  }
  Sandbox& sandbox() { return GetParam() == Policy::kOff ? *full_ : *restricted_; }

  // With the function "ask", whose calls are kept; it answers `answer_`.
  host::Outcome Run(const std::string& source, milliseconds timeout = seconds(60)) {
    host::Request request = tests::MakeRequest(source, timeout);
    request.functions = {"ask"};
    request.inputs = inputs_;
    request.exact_types = exact_;
    run::RunOptions options;
    options.call = [this](std::string_view name, std::string_view arguments) {
      EXPECT_EQ(name, "ask");
      calls_.emplace_back(arguments);
      return answer_;
    };
    core::Result<host::Outcome> outcome = sandbox().Run(request, options);
    EXPECT_TRUE(outcome) << outcome.error().ToString();
    return outcome ? *outcome : host::Outcome();
  }
  std::string Result_(const std::string& source) {
    const host::Outcome outcome = Run(source);
    EXPECT_EQ(outcome.status, host::Status::kOk) << (outcome.error ? outcome.error->traceback : "");
    return outcome.result_json.value_or("(none)");
  }

  std::string answer_ = R"({"value":42})";
  std::vector<std::string> calls_;
  std::vector<host::InputVariable> inputs_;
  bool exact_ = true;

  static Sandbox* restricted_;
  static Sandbox* full_;
};
Sandbox* FunctionsTest::restricted_ = nullptr;
Sandbox* FunctionsTest::full_ = nullptr;

INSTANTIATE_TEST_SUITE_P(Policies, FunctionsTest, testing::Values(Policy::kOn, Policy::kOff),
                         [](const auto& info) {
                           return info.param == Policy::kOff ? "Off" : "On";
                         });

TEST_P(FunctionsTest, InputsAreVariablesOfTheProgram) {
  inputs_ = {{"number", "7"},
             {"names", R"(["a",{"b":null}])"},
             {"pair", R"({"$type":"tuple","items":[1,true]})"},
             {"some", R"({"$type":"frozenset","items":[1]})"},
             {"big", R"({"$type":"int","hex":"-0xffffffffffffffffffff"})"},
             {"data", R"({"$type":"bytes","base64":"AP8="})"},
             {"odd", R"({"$type":"dict","items":[[1,"x"]]})"},
             {"none", R"({"$type":"float","value":"nan"})"}};
  EXPECT_EQ(Result_("number += 1\n"
                    "[number, names[1]['b'], pair == (1, True), some == frozenset({1}),\n"
                    " big == -(2**80 - 1), data == b'\\x00\\xff', odd == {1: 'x'}, none != none]"),
            "[8,null,true,true,true,true,true,true]");
}

TEST_P(FunctionsTest, TheResultDistinguishesTuplesIfRequested) {
  const std::string source = "((1, 2), frozenset({3}), {4})";
  EXPECT_EQ(json::parse(Result_(source)),
            json::parse(R"({"$type":"tuple","items":[{"$type":"tuple","items":[1,2]},
                {"$type":"frozenset","items":[3]},{"$type":"set","items":[4]}]})"));
  exact_ = false;
  EXPECT_EQ(json::parse(Result_(source)),
            json::parse(R"([[1,2],{"$type":"set","items":[3]},{"$type":"set","items":[4]}])"));
}

// One that has been taken over need not wait for its answer, while no clock is looked at: this one
// goes on to use some time.
TEST(FunctionsOfAHost, NothingOfTheProgramRunsMeanwhile) {
  const std::unique_ptr<Sandbox> sandbox = tests::Open(tests::FullPython());
  host::Request request = tests::MakeRequest(R"(
import os, stat, struct, time
def is_socket(number):
    try:
        return stat.S_ISSOCK(os.fstat(number).st_mode)
    except OSError:
        return False
line = next(filter(is_socket, range(3, 65536)))
os.write(line, struct.pack("<III", 0x424a434c, 3, 23) + b'ask{"args":[],"kwargs":{}}')
begun = time.process_time()
while time.process_time() < begun + 0.2: pass
)",
                                             seconds(60));
  request.functions = {"ask"};
  const auto used = [&] {
    uint64_t ticks = 0;
    for (const pid_t each : tests::WorkersOf(*sandbox)) ticks += tests::CpuTicks(each);
    return ticks;
  };
  run::RunOptions options;
  int calls = 0;
  uint64_t before = 0, after = 0;
  options.call = [&](std::string_view, std::string_view) {
    ++calls;
    EXPECT_TRUE(tests::WaitForSpares(*sandbox, 2));
    before = used();
    std::this_thread::sleep_for(milliseconds(500));  // sleeps: it would use some of it
    after = used();
    return std::string(R"({"value":null})");
  };
  const core::Result<host::Outcome> outcome = sandbox->Run(request, options);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  ASSERT_EQ(outcome->status, host::Status::kOk)
      << (outcome->error ? outcome->error->traceback : "");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(after, before);
  EXPECT_GE(outcome->usage.cpu_time, milliseconds(200)) << "this test proves nothing";
}

TEST_P(FunctionsTest, AProgramCallsAndGetsTheAnswer) {
  EXPECT_EQ(Result_("[ask('x', (1, 2), key={'a': b'b'}) for _ in range(3)]"), "[42,42,42]");
  ASSERT_EQ(calls_.size(), 3u);
  EXPECT_EQ(json::parse(calls_[0]), json::parse(R"({"args":["x",{"$type":"tuple","items":[1,2]}],
      "kwargs":{"key":{"a":{"$type":"bytes","base64":"Yg=="}}}})"));
}

TEST_P(FunctionsTest, LeftValuesAreHandedOverIfRequested) {
  host::Request request =
      tests::MakeRequest("import math\ngiven += 1\npair = (1, 2)\n1 / 0", seconds(60));
  request.functions = {"ask", std::string(host::kTakesVariables)};
  request.inputs = {{"given", "1"}};
  std::vector<std::string> received;
  run::RunOptions options;
  options.call = [&](std::string_view name, std::string_view arguments) {
    EXPECT_EQ(name, host::kTakesVariables);
    received.emplace_back(arguments);
    return std::string(R"({"value":null})");
  };
  const core::Result<host::Outcome> outcome = sandbox().Run(request, options);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kException);
  const std::vector<std::string> wanted = {
      R"({"args":["given",2],"kwargs":{}})", R"({"args":["math"],"kwargs":{}})",
      R"({"args":["pair",{"$type":"tuple","items":[1,2]}],"kwargs":{}})",
      R"({"args":[],"kwargs":{}})"};
  EXPECT_EQ(received, wanted);
}

TEST_P(FunctionsTest, NoInputHasTheNameOfWhatTakesVariables) {
  host::Request request = tests::MakeRequest("1", seconds(60));
  request.inputs = {{std::string(host::kTakesVariables), "1"}};
  EXPECT_FALSE(sandbox().Run(request));
}

TEST_P(FunctionsTest, AFailureThereIsAnExceptionHere) {
  const char* const kTry =
      "try:\n    ask()\nexcept Exception as error:\n    result = [type(error).__name__, "
      "str(error)]\n";
  const std::string source =
      GetParam() == Policy::kOff
          ? kTry
          : "try:\n    ask()\nexcept LookupError as error:\n    result = ['KeyError', str(error)]\n"
            "except Exception as error:\n    result = ['RuntimeError', str(error)]\n";
  answer_ = R"({"error":{"type":"KeyError","message":"no such"}})";
  EXPECT_EQ(Result_(source), R"(["KeyError","'no such'"])");
  // A kind that is not built in, or takes more than a message, or is no mere exception.
  for (const char* type : {"MyError", "UnicodeDecodeError", "ExceptionGroup", "SystemExit",
                           "KeyboardInterrupt", "StopIteration", "print"}) {
    answer_ = json{{"error", {{"type", type}, {"message", "why"}}}}.dump();
    EXPECT_EQ(Result_(source), json({"RuntimeError", std::string(type) + ": why"}).dump());
  }
}

TEST_P(FunctionsTest, ArgumentsThatAreNotPlainDataAreAnError) {
  const host::Outcome outcome = Run("ask(object())");
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->type, "TypeError");
  EXPECT_NE(outcome.error->message.find("ask(): arguments are plain data only"), std::string::npos);
  EXPECT_EQ(outcome.error->line, 1);
  const host::Outcome large = Run("ask('x' * 3_000_000)");
  ASSERT_TRUE(large.error);
  EXPECT_EQ(large.error->type, "ValueError");
  EXPECT_TRUE(calls_.empty());
}

TEST_P(FunctionsTest, WhatWasPrintedBeforeACallComesBeforeIt) {
  host::Request request = tests::MakeRequest("print('before')\nask()\nprint('after')");
  request.functions = {"ask"};
  std::string seen;
  run::OutputSink sink;
  sink.on_stdout = [&](std::string_view text) { seen += text; };
  run::RunOptions options;
  options.sink = &sink;
  options.call = [&](std::string_view, std::string_view) {
    seen += "(call)";
    return std::string(R"({"value":null})");
  };
  ASSERT_TRUE(sandbox().Run(request, options));
  EXPECT_EQ(seen, "before\n(call)after\n");
}

TEST_P(FunctionsTest, TheClockGoesOnInACall) {
  const milliseconds limit = tests::Within(milliseconds(300));
  host::Request request = tests::MakeRequest("print('before')\nask()\nprint('after')", limit);
  request.functions = {"ask"};
  run::RunOptions options;
  options.call = [&](std::string_view, std::string_view) {
    std::this_thread::sleep_for(2 * limit);  // sleeps: the limit passes meanwhile
    return std::string(R"({"value":null})");
  };
  const auto outcome = sandbox().Run(request, options);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->status, host::Status::kTimeout);
  EXPECT_EQ(outcome->stdout_stream.text, "before\n");
}

// As a function that was interrupted leaves it, having cancelled the run.
TEST_P(FunctionsTest, WithoutAnAnswerTheProgramWaitsForItsEnd) {
  host::Request request = tests::MakeRequest(
      "print('before')\ntry:\n    ask()\nfinally:\n    print('after')", seconds(60));
  request.functions = {"ask"};
  const core::UniqueFd cancel(eventfd(0, EFD_CLOEXEC));
  run::RunOptions options;
  options.cancel_fd = cancel.get();
  std::thread late;
  options.call = [&](std::string_view, std::string_view) {
    late = std::thread([&] {
      std::this_thread::sleep_for(milliseconds(200));  // sleeps: it would go on meanwhile
      eventfd_write(cancel.get(), 1);
    });
    return std::string();
  };
  const auto outcome = sandbox().Run(request, options);
  late.join();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->status, host::Status::kKilled);
  EXPECT_EQ(outcome->error->type, "Cancelled");
  EXPECT_EQ(outcome->stdout_stream.text, "before\n");
}

TEST_P(FunctionsTest, NamesThatNoProgramCanSayAreRefused) {
  run::RunOptions options;
  options.call = [](std::string_view, std::string_view) { return std::string("{\"value\":1}"); };
  for (const char* name : {"", "_x", "__builtins__", "@x", "a b", "1a", "a.b", "\xc3\xa4"}) {
    host::Request request = tests::MakeRequest("1");
    request.functions = {name};
    EXPECT_FALSE(sandbox().Run(request, options)) << name;
    request.functions = {};
    request.inputs = {{name, "1"}};
    EXPECT_FALSE(sandbox().Run(request, options)) << name;
  }
  host::Request twice = tests::MakeRequest("1");
  twice.functions = {"a"};
  twice.inputs = {{"a", "1"}};
  EXPECT_FALSE(sandbox().Run(twice, options));
  host::Request broken = tests::MakeRequest("1");
  broken.inputs = {{"a", "1}, \"b\": {"}};
  EXPECT_FALSE(sandbox().Run(broken, options));
  host::Request unanswered = tests::MakeRequest("1");
  unanswered.functions = {"a"};
  EXPECT_FALSE(sandbox().Run(unanswered));
}

TEST_P(FunctionsTest, ANoteOfASignalEndsTheRun) {
  std::atomic<bool> noted = false;
  run::RunOptions options;
  options.interrupted = [&] { return noted.load(); };
  run::OutputSink sink;
  sink.on_stdout = [&](std::string_view) { noted = true; };
  options.sink = &sink;
  const auto outcome = sandbox().Run(
      tests::MakeRequest("print('begun', flush=True)\nwhile True:\n    pass", seconds(60)),
      options);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->status, host::Status::kKilled);
  EXPECT_EQ(outcome->error->type, "Cancelled");
}

// The worker's socket, as a guest that has all of Python finds it; in front of each attack below.
constexpr char kFindLine[] = R"(
import os, socket, stat, struct
for number in range(256):
    try:
        mode = os.fstat(number).st_mode
    except OSError:
        continue
    if stat.S_ISSOCK(mode):
        line = number
        break
def call(name, arguments, name_size=None, arguments_size=None):
    name, arguments = name.encode(), arguments.encode()
    header = struct.pack('<III', 0x424a434c, len(name) if name_size is None else name_size,
                         len(arguments) if arguments_size is None else arguments_size)
    return header + name + arguments
EMPTY = '{"args":[],"kwargs":{}}'
)";

class HostileLineTest : public FunctionsTest {
 protected:
  host::Outcome Attack(const std::string& source, milliseconds timeout = seconds(60)) {
    return Run(kFindLine + source, timeout);
  }
};
INSTANTIATE_TEST_SUITE_P(Policies, HostileLineTest, testing::Values(Policy::kOff),
                         [](const auto&) { return "Full"; });

// The control: what the attacks below do wrong is all that is wrong with them.
TEST_P(HostileLineTest, AWorkerMaySpeakForItself) {
  const host::Outcome outcome = Attack(
      "os.write(line, call('ask', EMPTY))\n"
      "size = struct.unpack('<I', os.read(line, 4))[0]\n"
      "print(os.read(line, size).decode())");
  EXPECT_EQ(outcome.status, host::Status::kOk);
  EXPECT_EQ(outcome.stdout_stream.text, "{\"value\":42}\n");
  EXPECT_EQ(calls_.size(), 1u);
}

TEST_P(HostileLineTest, NonsenseEndsTheRun) {
  for (const char* attack :
       {"os.write(line, call('other', EMPTY))", "os.write(line, call('ask', EMPTY, 2**32 - 1))",
        "os.write(line, call('ask', EMPTY, None, 2**32 - 1))", "os.write(line, b'x' * 12)",
        "os.close(line)"}) {
    const host::Outcome outcome = Attack(std::string(attack) + "\n" BELLJAR_UNTIL_KILLED);
    EXPECT_EQ(outcome.status, host::Status::kKilled) << attack;
  }
  EXPECT_TRUE(calls_.empty());
}

// A host in Python spreads both: "abc" would be three arguments.
TEST_P(HostileLineTest, WhatIsNoCallIsNotMade) {
  for (const char* arguments :
       {R"({})", R"(["a"])", R"("abc")", R"({"args":"abc","kwargs":{}})",
        R"({"args":[],"kwargs":"abc"})", R"({"args":[],"kwargs":[["a",1]]})",
        R"({"args":{"$type":"set","items":[1]},"kwargs":{}})", R"({"args":[]})",
        R"({"args":[],"kwargs":{},"more":1})", R"({"args":[],"kwargs":{"$type":"set","items":[]}})",
        R"({"args":[],"kwargs":{"$type":"dict","items":"ab"}})",
        R"({"args":[],"kwargs":{"$type":"dict","items":[[1,2]]}})",
        R"({"args":[],"kwargs":{"$type":"dict","items":["ab"]}})"}) {
    const host::Outcome outcome = Attack(std::string("os.write(line, call('ask', '") + arguments +
                                         "'))\n"
                                         "size = struct.unpack('<I', os.read(line, 4))[0]\n"
                                         "print(os.read(line, size).decode())");
    EXPECT_EQ(outcome.status, host::Status::kOk) << arguments;
    EXPECT_EQ(outcome.stdout_stream.text,
              R"({"error":{"message":"ask(): its arguments are not plain data",)"
              R"("type":"ValueError"}})"
              "\n")
        << arguments;
  }
  EXPECT_TRUE(calls_.empty());
}

TEST_P(HostileLineTest, HalfAWordEndsWithTheClock) {
  const host::Outcome outcome =
      Attack("os.write(line, call('ask', EMPTY)[:-1])\n" BELLJAR_UNTIL_KILLED, milliseconds(500));
  EXPECT_EQ(outcome.status, host::Status::kTimeout);
  EXPECT_TRUE(calls_.empty());
}

TEST_P(HostileLineTest, AnAnswerThatIsNotTakenEndsWithTheClock) {
  answer_ = "\"" + std::string(1'000'000, 'x') + "\"";
  const host::Outcome outcome =
      Attack("os.write(line, call('ask', EMPTY))\n" BELLJAR_UNTIL_KILLED, seconds(1));
  EXPECT_EQ(outcome.status, host::Status::kTimeout);
}

// Calls as fast as it can, and never an answer read: once what is on its way to it fills the line,
// nothing more of it is heard.
TEST_P(HostileLineTest, AFloodOfCallsIsOneAtATime) {
  answer_ = "\"" + std::string(100'000, 'x') + "\"";
  const host::Outcome outcome =
      Attack("word = call('ask', EMPTY) * 1000\nwhile True:\n    os.write(line, word)", seconds(1));
  EXPECT_EQ(outcome.status, host::Status::kTimeout);
  EXPECT_GT(calls_.size(), 0u);
  EXPECT_LT(calls_.size(), 100u);
}

}  // namespace
}  // namespace belljar::outside::functions_test
