// What goes over the channel to a container, and what its readers refuse: every byte from a
// container is hostile.
#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "container/backend/guest_reader.h"
#include "container/inside/host_reader.h"
#include "container/wire/frame.h"
#include "container/wire/outcome_text.h"
#include "container/wire/request_text.h"
#include "engine/core/wire.h"
#include "engine/host/digest.h"
#include "engine/host/outcome_fields.h"
#include "engine/run/function_calls.h"
#include "engine/run/report.h"
#include "engine/workspace/workspace.h"
#include "tests/container/frames.h"

namespace belljar::container::wire::wire_test {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using Stage = backend::GuestReader::Stage;

// --- frames -------------------------------------------------------------------------------------

TEST(Frame, BytesInAnyPiecesAreTheSameFrames) {
  const std::string bytes = tests::FrameBytes(FrameKind::kStandardOutput, "abc") +
                            tests::FrameBytes(FrameKind::kReady) +
                            tests::FrameBytes(FrameKind::kContent, std::string(70'000, 'x'));
  for (const size_t piece : {size_t{1}, size_t{5}, size_t{12}, size_t{4096}, bytes.size()}) {
    FrameDecoder frames;
    std::vector<Frame> found;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      frames.Feed(std::string_view(bytes).substr(at, piece));
      while (std::optional<Frame> frame = frames.Next()) found.push_back(std::move(*frame));
    }
    ASSERT_EQ(found.size(), 3u) << piece;
    EXPECT_EQ(found[0].payload, "abc");
    EXPECT_EQ(found[1].kind, FrameKind::kReady);
    EXPECT_EQ(found[2].payload.size(), 70'000u);
    EXPECT_TRUE(frames.empty());
  }
}

TEST(Frame, AnotherMagicIsSeenAtItsFirstByte) {
  for (const std::string_view bytes : {"HTTP/1.1", "B", "BLJG", "\n", "\xff"}) {
    FrameDecoder frames;
    frames.Feed(bytes);
    EXPECT_EQ(frames.faulty(), bytes != "B") << bytes;
    EXPECT_FALSE(frames.Next());
  }
}

TEST(Frame, KindsHaveTheirNames) {
  EXPECT_EQ(FrameName(FrameKind::kOutcome), "outcome");
  EXPECT_EQ(FrameName(static_cast<FrameKind>(77)), "kind 77");
}

// --- the host's request -------------------------------------------------------------------------

host::Request FullRequest() {
  host::Request request;
  request.source = std::string("print('\0')\n", 11);
  request.filename = "prögram.py";
  request.standard_input = "line\n\xff";
  request.allowed_imports = std::vector<std::string>{"math", "json"};
  request.allowed_domains = std::vector<std::string>{};
  request.files = {{"a/b.txt", "content"}, {"empty", ""}, {"c", std::string(200'000, 'c')}};
  request.inputs = {{"number", "7"}, {"text", "\"" + std::string(100'000, 't') + "\""}};
  request.functions = {"ask", std::string(host::kTakesVariables)};
  request.limits.timeout = milliseconds(1234);
  request.limits.processes = 7;
  request.wants_comments = true;
  request.exact_types = true;
  return request;
}

std::string RequestBytes(const host::Request& request) {
  core::Result<std::string> text = RequestToText(request);
  EXPECT_TRUE(text);
  std::string bytes = tests::FrameBytes(FrameKind::kRequest, *text);
  std::string content;
  for (const std::string_view part : RequestContent(request)) content += part;
  for (size_t at = 0; at < content.size(); at += kFramePiece) {
    bytes +=
        tests::FrameBytes(FrameKind::kContent, std::string_view(content).substr(at, kFramePiece));
  }
  return bytes;
}

TEST(HostReader, ARequestComesAsItWent) {
  const host::Request sent = FullRequest();
  const std::string bytes = RequestBytes(sent);
  for (const size_t piece : {size_t{1000}, bytes.size()}) {
    inside::HostReader reader;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      EXPECT_FALSE(reader.has_order());
      ASSERT_TRUE(reader.Take(std::string_view(bytes).substr(at, piece)));
    }
    ASSERT_TRUE(reader.has_order());
    const host::Request got = reader.TakeOrder()->request;
    EXPECT_EQ(got.source, sent.source);
    EXPECT_EQ(got.filename, sent.filename);
    EXPECT_EQ(got.standard_input, sent.standard_input);
    EXPECT_EQ(got.allowed_imports, sent.allowed_imports);
    EXPECT_EQ(got.allowed_domains, sent.allowed_domains);
    ASSERT_EQ(got.files.size(), 3u);
    EXPECT_EQ(got.files[0].path, "a/b.txt");
    EXPECT_EQ(got.files[0].content, "content");
    EXPECT_EQ(got.files[1].content, "");
    EXPECT_EQ(got.files[2].content, sent.files[2].content);
    ASSERT_EQ(got.inputs.size(), 2u);
    EXPECT_EQ(got.inputs[0].name, "number");
    EXPECT_EQ(got.inputs[0].json, "7");
    EXPECT_EQ(got.inputs[1].json, sent.inputs[1].json);
    EXPECT_EQ(got.functions, sent.functions);
    EXPECT_EQ(host::LimitsToJson(got.limits), host::LimitsToJson(sent.limits));
    EXPECT_TRUE(got.wants_analysis);
    EXPECT_TRUE(got.wants_comments);
    EXPECT_TRUE(got.exact_types);
    EXPECT_FALSE(reader.cancelled());
    ASSERT_TRUE(reader.Take(tests::FrameBytes(FrameKind::kCancel)));
    EXPECT_TRUE(reader.cancelled());
  }
}

TEST(HostReader, WhatWasNotGivenStaysSo) {
  host::Request sent;
  sent.mode = host::Request::Mode::kValidate;
  sent.standard_input = "";
  inside::HostReader reader;
  ASSERT_TRUE(reader.Take(RequestBytes(sent)));
  ASSERT_TRUE(reader.has_order());
  const host::Request got = reader.TakeOrder()->request;
  EXPECT_EQ(got.mode, host::Request::Mode::kValidate);
  EXPECT_EQ(got.standard_input, "");
  EXPECT_FALSE(got.allowed_imports);
  EXPECT_FALSE(got.allowed_domains);
}

TEST(HostReader, EveryFieldHasToBeThereInItsFormAndNoOther) {
  const json good = json::parse(*RequestToText(FullRequest()));
  const auto refuses = [](const json& form) {
    inside::HostReader reader;
    return !reader.Take(tests::FrameBytes(FrameKind::kRequest, form.dump()));
  };
  ASSERT_FALSE(refuses(good));
  for (const auto& [key, value] : good.items()) {
    json form = good;
    form.erase(key);
    EXPECT_TRUE(refuses(form)) << "without " << key;
    for (const json& wrong : {json(-1), json(1.5), json(json::array({json::array()}))}) {
      form[key] = wrong;
      EXPECT_TRUE(refuses(form)) << key << " " << wrong;
    }
  }
  for (const auto& [key, value] : good["limits"].items()) {
    json form = good;
    form["limits"].erase(key);
    EXPECT_TRUE(refuses(form)) << "limits without " << key;
    for (const json& wrong : {json(-1), json(2.0), json("1"), json(UINT64_MAX), json()}) {
      form["limits"][key] = wrong;
      EXPECT_TRUE(refuses(form)) << key << " " << wrong;
    }
  }
  for (const char* key : {"at_a_time", "in_all"}) {
    json form = good;
    form["door"].erase(key);
    EXPECT_TRUE(refuses(form)) << "an egress proxy without " << key;
    for (const json& wrong : {json(-1), json(2.0), json("1"), json(UINT32_MAX + 1ull), json()}) {
      form["door"][key] = wrong;
      EXPECT_TRUE(refuses(form)) << key << " " << wrong;
    }
  }
  json form = good;
  form["more"] = 1;
  EXPECT_TRUE(refuses(form)) << "an unknown field";
  form = good;
  form["functions"] = json();
  EXPECT_TRUE(refuses(form)) << "no list of functions";
  form["functions"] = {std::string(core::kMaxFunctionName + 1, 'f')};
  EXPECT_TRUE(refuses(form)) << "a function with a long name";
  form["functions"] = std::vector<std::string>(10'001, "f");
  EXPECT_TRUE(refuses(form)) << "too many functions";
  form = good;
  form["files"][0]["mode"] = 0644;
  EXPECT_TRUE(refuses(form)) << "an unknown field of a file";
  form = good;
  form["source_size"] = kMaxRequestContent.count + 1;
  EXPECT_TRUE(refuses(form)) << "more content than a guest takes";
  form = good;
  form["files"][0]["size"] = kMaxRequestContent.count;
  EXPECT_TRUE(refuses(form)) << "all of them more than a guest takes";
}

TEST(HostReader, FramesInTheWrongOrderAreRefused) {
  const std::string request = RequestBytes(FullRequest());
  for (const std::string& bytes : {
           tests::FrameBytes(FrameKind::kCancel),
           tests::FrameBytes(FrameKind::kContent, "x"),
           tests::FrameBytes(FrameKind::kEgressData, "x"),
           tests::FrameBytes(static_cast<FrameKind>(0)),
           EncodeFrameHeader(FrameKind::kRequest, kMaxRequestText + 1),
           request + request,
           request + tests::FrameBytes(FrameKind::kContent, "x"),
           request + tests::FrameBytes(FrameKind::kCancel, "x"),
           request + tests::FrameBytes(FrameKind::kCancel) + tests::FrameBytes(FrameKind::kCancel),
           request + "BLJX",
       }) {
    inside::HostReader reader;
    EXPECT_FALSE(reader.Take(bytes))
        << bytes.substr(bytes.size() - std::min<size_t>(20, bytes.size()));
  }
}

TEST(HostReader, AnswersComeWhileAProgramRunsThatMayCall) {
  host::Request asks = FullRequest();
  asks.limits.result = core::Bytes{4000};
  host::Request asks_nobody = asks;
  asks_nobody.functions.clear();
  const std::string answer = tests::FrameBytes(FrameKind::kAnswer, "{\"value\":1}");
  std::vector<std::string> got;
  const auto refuses = [&](const std::string& bytes, bool is_listening = true) {
    inside::HostReader reader;
    if (is_listening) {
      reader.TakeAnswersBy([&](std::string text) {
        got.push_back(std::move(text));
        return core::Result<void>();
      });
    }
    return !reader.Take(bytes);
  };
  EXPECT_FALSE(refuses(RequestBytes(asks) + answer + answer));
  EXPECT_EQ(got, std::vector<std::string>(2, "{\"value\":1}"));
  EXPECT_TRUE(refuses(answer));
  EXPECT_TRUE(refuses(RequestBytes(asks) + answer, false));
  EXPECT_TRUE(refuses(RequestBytes(asks_nobody) + answer));
  EXPECT_TRUE(refuses(RequestBytes(asks) + tests::FrameBytes(FrameKind::kAnswer)));
  EXPECT_TRUE(refuses(RequestBytes(asks) + tests::FrameBytes(FrameKind::kCancel) + answer));
  EXPECT_FALSE(refuses(RequestBytes(asks) + EncodeFrameHeader(FrameKind::kAnswer, 4000)));
  EXPECT_TRUE(refuses(RequestBytes(asks) + EncodeFrameHeader(FrameKind::kAnswer, 4001)));
  EXPECT_EQ(got.size(), 2u);
}

// What is refused in place of an answer fits where no answer does.
TEST(HostReader, ARefusalFitsWhateverTheLimit) {
  host::Request request;
  request.functions = {std::string(core::kMaxFunctionName, 'f')};
  request.limits.result = core::Bytes{1};
  const run::FunctionCall call = [](std::string_view, std::string_view) {
    return std::string(9, 'x');
  };
  const run::FunctionCalls calls(request, call);
  for (const char* arguments : {"{", R"({"args":[],"kwargs":{}})"}) {
    const std::string answer = calls.Answer(request.functions[0], arguments).value_or("");
    EXPECT_NE(answer.find("ValueError"), std::string::npos);
    EXPECT_LE(answer.size(), run::FunctionCalls::MaxAnswer(request.limits));
  }
}

TEST(HostReader, ARequestThatIsTooLargeIsRefusedBeforeItIsSent) {
  host::Request request;
  request.files = {{"a", std::string(kMaxRequestContent.count, 'a')}, {"b", "b"}};
  const core::Result<std::string> text = RequestToText(request);
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().ToString().find("512m"), std::string::npos) << text.error().ToString();
}

// --- the guest's greeting -----------------------------------------------------------------------

TEST(GuestReader, TheVersionsAreChecked) {
  backend::GuestReader reader(tests::ExpectedHello());
  ASSERT_TRUE(reader.Take(tests::HelloBytes()));
  EXPECT_EQ(reader.stage(), Stage::kPreparing);
  ASSERT_TRUE(reader.Take(tests::FrameBytes(FrameKind::kReady)));
  EXPECT_EQ(reader.stage(), Stage::kWaiting);
}

TEST(GuestReader, AnotherVersionIsAnErrorThatSaysWhatToDo) {
  struct Case {
    std::function<void(Hello&)> change;
    const char* text;
  };
  for (const Case& c : {Case{[](Hello& h) { h.protocol = 1; }, "protocol 1, not 6"},
                        Case{[](Hello& h) { h.belljar = "0.0.9"; }, "Belljar \"0.0.9\", not"},
                        Case{[](Hello& h) { h.python = "3.9.1"; }, "Python \"3.9.1\", not"},
                        Case{[](Hello& h) { h.profile = "network"; }, "profile \"network\", not"},
                        Case{[](Hello& h) { h.isolation = "strict"; }, "isolation \"strict\""},
                        Case{[](Hello& h) { h.policy = "off"; }, "policy \"off\""}}) {
    Hello hello = tests::ExpectedHello();
    c.change(hello);
    backend::GuestReader reader(tests::ExpectedHello());
    const core::Result<void> taken =
        reader.Take(tests::FrameBytes(FrameKind::kHello, HelloToText(hello)));
    ASSERT_FALSE(taken) << c.text;
    const std::string error = taken.error().ToString();
    EXPECT_NE(error.find(c.text), std::string::npos) << error;
    EXPECT_NE(error.find("belljar image build"), std::string::npos) << error;
  }
}

TEST(GuestReader, OfAnotherProtocolOnlyItsNumberIsRead) {
  backend::GuestReader reader(tests::ExpectedHello());
  const core::Result<void> taken =
      reader.Take(tests::FrameBytes(FrameKind::kHello, R"({"protocol": 9, "anything": [1]})"));
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().ToString().find("protocol 9"), std::string::npos);
}

TEST(GuestReader, AHelloIsStrict) {
  const json good = json::parse(HelloToText(tests::ExpectedHello()));
  const auto refuses = [](const std::string& text) {
    backend::GuestReader reader(tests::ExpectedHello());
    return !reader.Take(tests::FrameBytes(FrameKind::kHello, text));
  };
  ASSERT_FALSE(refuses(good.dump()));
  for (const auto& [key, value] : good.items()) {
    json form = good;
    form.erase(key);
    EXPECT_TRUE(refuses(form.dump())) << key;
    for (const json& wrong : {json(), json(-1), json(true), json("\x1b[2J"), json("")}) {
      form[key] = wrong;
      EXPECT_TRUE(refuses(form.dump())) << key << wrong;
    }
  }
  json form = good;
  form["more"] = 1;
  EXPECT_TRUE(refuses(form.dump()));
  const std::string doubled = good.dump();
  EXPECT_TRUE(refuses("{\"profile\":\"basic\"," + doubled.substr(1)));
  EXPECT_TRUE(refuses(""));
  EXPECT_TRUE(refuses("null"));
  EXPECT_TRUE(refuses("[[[[[]]]]]"));
  EXPECT_TRUE(refuses(doubled + "\n\xff"));
}

TEST(GuestReader, AFailureIsAnErrorWithoutControlCharacters) {
  for (const bool greeted : {false, true}) {
    backend::GuestReader reader(tests::ExpectedHello());
    if (greeted) {
      ASSERT_TRUE(reader.Take(tests::HelloBytes()));
    }
    const core::Error error = core::SystemErrorOf(EPERM, "clone a zygote", "no \x1b[31mnamespaces");
    ASSERT_TRUE(reader.Take(tests::FrameBytes(FrameKind::kFailure, FailureToText(error))));
    EXPECT_EQ(reader.stage(), Stage::kEnded);
    ASSERT_TRUE(reader.failure());
    EXPECT_EQ(reader.failure()->ToString(),
              "in the container: clone a zygote: Operation not permitted (EPERM): no "
              "\\x1b[31mnamespaces");
    EXPECT_FALSE(reader.Take(tests::FrameBytes(FrameKind::kReady)));
  }
}

TEST(GuestReader, AFailureThatCannotBeReadIsOneTooAndALongOneIsCut) {
  for (const std::string_view text :
       {"", "{}", "[1]", R"({"operation":"a","errno":-1,"detail":""})",
        R"({"operation":"a","errno":99999,"detail":""})",
        R"({"operation":"a","errno":1,"detail":"","x":0})"}) {
    backend::GuestReader reader(tests::ExpectedHello());
    ASSERT_TRUE(reader.Take(tests::FrameBytes(FrameKind::kFailure, text)));
    ASSERT_TRUE(reader.failure()) << text;
    EXPECT_NE(reader.failure()->operation, "in the container") << text;
  }
  const core::Error read = ReadFailure(
      FailureToText(core::MakeError(std::string(9000, '\x01'), std::string(9000, '\xff'))));
  EXPECT_LT(read.ToString().size(), 6000u);
  EXPECT_NE(read.ToString().find("\\x01"), std::string::npos);
}

// What a host does about an error goes by its number: ECANCELED is its own caller's selection.
TEST(GuestReader, TheNumberOfAFailureIsOnlyShown) {
  for (const int number : {ECANCELED, ETIMEDOUT, EPIPE}) {
    const core::Error read =
        ReadFailure(FailureToText(core::SystemErrorOf(number, "take a worker")));
    EXPECT_EQ(read.error_number, 0);
    EXPECT_NE(read.ToString().find("take a worker: "), std::string::npos) << read.ToString();
    EXPECT_NE(read.ToString().find(strerrorname_np(number)), std::string::npos) << read.ToString();
  }
}

// --- outcomes -----------------------------------------------------------------------------------

OutcomeBounds WideBounds() {
  return {.limits = {}, .has_workspace = true, .displays = core::Bytes{100}};
}

host::Outcome FullOutcome() {
  host::Outcome outcome;
  outcome.status = host::Status::kException;
  outcome.exit_code = -3;
  outcome.result_json = R"({"a":[1,2.5,1e300,"ü",null,true]})";
  outcome.result_repr = "{'a': …}";
  outcome.stdout_stream = {"out\xff\n", 7};
  outcome.stderr_stream = {"err", 0};
  outcome.variables = {"a", "b"};
  outcome.error = host::GuestError{"ValueError", "no", 1, 2, 3, 4, "Traceback", "hint"};
  outcome.findings = {{"BJ201", "import-not-allowed", 1, 2, 3, 4, "os", "leave it", "full"}};
  outcome.analysis = host::Analysis{{"math"}, 2, 1};
  outcome.comments = {{4, "# belljar: ignore"}};
  outcome.truncated = {"result_repr", "traceback"};
  outcome.usage = {std::chrono::microseconds(1500), std::chrono::microseconds(1000), 1 << 20};
  outcome.isolation.layers = {{"namespaces", false, "not here"}, {"seccomp", true, "2 filters"}};
  outcome.security_events = {{"seccomp", "denied", "socket", 3}};
  host::Artifact file;
  file.name = "out/a.csv";
  file.media_type = "text/csv";
  file.content = "a,b\n";
  file.size = 4;
  host::Artifact large = file;
  large.name = "large.bin";
  large.media_type = "application/octet-stream";
  large.content.reset();
  large.size = 1'000'000'000;
  large.note = "not taken along";
  host::Artifact empty = file;
  empty.name = "empty";
  empty.content = "";
  empty.size = 0;
  host::Artifact display = file;
  display.origin = host::Artifact::Origin::kDisplay;
  display.name = "figure-1.png";
  display.media_type = "image/png";
  display.content = std::string("\x89PNG\0", 5);
  display.size = 5;
  outcome.artifacts = {file, large, empty, display};
  outcome.artifacts_left_out = 2;
  outcome.artifacts_note = "left out: 2 symbolic links";
  return outcome;
}

std::string OutcomeBytes(const std::string& text, std::string_view content) {
  std::string bytes = tests::FrameBytes(FrameKind::kOutcome, text);
  if (!content.empty()) bytes += tests::FrameBytes(FrameKind::kContent, content);
  return bytes;
}

std::string ContentOf(const host::Outcome& outcome) {
  std::string content;
  for (const std::string_view part : OutcomeContent(outcome)) content += part;
  return content;
}

// A guest that has its request.
struct Running {
  explicit Running(OutcomeBounds bounds = WideBounds()) : reader(tests::ExpectedHello()) {
    EXPECT_TRUE(reader.Take(tests::HelloBytes() + tests::FrameBytes(FrameKind::kReady)));
    reader.Expect(bounds);
    EXPECT_EQ(reader.stage(), Stage::kRunning);
  }
  backend::GuestReader reader;
};

TEST(GuestReader, AnOutcomeComesAsItWent) {
  host::Outcome sent = FullOutcome();
  const std::string bytes = tests::FrameBytes(FrameKind::kStandardOutput, "out\xff") +
                            tests::FrameBytes(FrameKind::kStandardError, "err") +
                            tests::FrameBytes(FrameKind::kStandardOutput, "\n") +
                            OutcomeBytes(OutcomeToText(sent), ContentOf(sent));
  for (const size_t piece : {size_t{1}, size_t{100}, bytes.size()}) {
    Running running;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      EXPECT_NE(running.reader.stage(), Stage::kEnded);
      const core::Result<void> taken =
          running.reader.Take(std::string_view(bytes).substr(at, piece));
      ASSERT_TRUE(taken) << taken.error().ToString();
    }
    ASSERT_EQ(running.reader.stage(), Stage::kEnded);
    FinishOutcome(sent);
    EXPECT_EQ(host::OutcomeToJson(running.reader.outcome(), 1), host::OutcomeToJson(sent, 1));
    EXPECT_EQ(running.reader.outcome().stdout_stream.text, "out\xff\n");
    EXPECT_EQ(running.reader.outcome().artifacts[0].sha256, host::Sha256("a,b\n"));
    EXPECT_EQ(running.reader.outcome().artifacts[1].sha256, "");
    EXPECT_EQ(running.reader.outcome().analysis->imports, sent.analysis->imports);
    EXPECT_EQ(running.reader.outcome().comments.size(), 1u);
    EXPECT_EQ(running.reader.outcome().findings[0].profile, "full");
    EXPECT_EQ(running.reader.outcome().error->end_column, 4);
  }
}

TEST(GuestReader, EveryStatusComesThrough) {
  for (const host::Status status :
       {host::Status::kOk, host::Status::kException, host::Status::kRefused, host::Status::kTimeout,
        host::Status::kCpuLimit, host::Status::kMemoryLimit, host::Status::kKilled}) {
    host::Outcome sent;
    sent.status = status;
    Running running;
    ASSERT_TRUE(running.reader.Take(OutcomeBytes(OutcomeToText(sent), "")));
    ASSERT_EQ(running.reader.stage(), Stage::kEnded);
    EXPECT_EQ(running.reader.outcome().status, status);
  }
}

TEST(GuestReader, EveryKillCauseOfAGuestComesThrough) {
  for (const host::KillCause cause :
       {host::KillCause::kUnknown, host::KillCause::kCancelled, host::KillCause::kSystemCall,
        host::KillCause::kUnreadable, host::KillCause::kExit, host::KillCause::kSigkill,
        host::KillCause::kSignal}) {
    host::Outcome sent;
    host::SetKilled(sent, cause, "killed");
    if (cause == host::KillCause::kSignal) sent.kill_signal = SIGSEGV;
    Running running;
    ASSERT_TRUE(running.reader.Take(OutcomeBytes(OutcomeToText(sent), "")));
    EXPECT_EQ(running.reader.outcome().status, host::Status::kKilled);
    EXPECT_EQ(running.reader.outcome().kill_cause, cause) << host::NameOf(cause);
    EXPECT_EQ(running.reader.outcome().kill_signal, sent.kill_signal);
  }
}

// True: refused, and nothing of it in the outcome.
bool Refuses(const std::string& text, OutcomeBounds bounds = WideBounds()) {
  Running running(bounds);
  EXPECT_TRUE(running.reader.Take(tests::FrameBytes(FrameKind::kStandardOutput, "before")));
  const bool refused = !running.reader.Take(tests::FrameBytes(FrameKind::kOutcome, text));
  if (refused) {
    EXPECT_EQ(running.reader.outcome().artifacts.size(), 0u);
    EXPECT_FALSE(running.reader.outcome().error);
    EXPECT_EQ(running.reader.outcome().stdout_stream.text, "before");
  }
  return refused;
}

// Every object of `form`, by its path.
void EachObject(const json& form, const json::json_pointer& at,
                const std::function<void(const json::json_pointer&)>& visit) {
  if (form.is_object()) visit(at);
  if (!form.is_structured()) return;
  size_t index = 0;
  for (const auto& [key, value] : form.items()) {
    EachObject(value, form.is_array() ? at / index++ : at / key, visit);
  }
}

TEST(GuestReader, EveryFieldOfAnOutcomeHasToBeThereInItsFormAndNoOther) {
  const json good = json::parse(OutcomeToText(FullOutcome()));
  ASSERT_FALSE(Refuses(good.dump()));
  int spoiled = 0;
  EachObject(good, json::json_pointer(), [&](const json::json_pointer& at) {
    // What the guest's program made of its own is any JSON.
    if (at.to_string().starts_with("/report/result")) return;
    json form = good;
    form[at]["more"] = false;
    EXPECT_TRUE(Refuses(form.dump())) << at << " with more";
    for (const auto& [key, value] : good[at].items()) {
      if (at.to_string() == "/report" && key == "result") continue;
      const bool is_part = at.to_string() == "/report/truncated";
      form = good;
      form[at].erase(key);
      // A part that is not there was not cut.
      EXPECT_EQ(Refuses(form.dump()), !is_part) << at << " without " << key;
      for (const json& wrong :
           {json(-5), json(2.5), json(UINT64_MAX), json(json::array({1})), json({{"a", 1}})}) {
        if (value.is_number_integer() && wrong == json(-5) && at.to_string() == "/report") continue;
        form[at][key] = wrong;
        const bool is_position =
            value.is_number() && wrong == json(-5) && at.to_string().starts_with("/report/");
        if (is_position) continue;  // any int is one, as in a worker's report
        EXPECT_TRUE(Refuses(form.dump())) << at << " " << key << " " << wrong;
        ++spoiled;
      }
    }
  });
  EXPECT_GT(spoiled, 200);
}

TEST(GuestReader, TextsThatAreNoJsonAreRefused) {
  const std::string good = OutcomeToText(FullOutcome());
  EXPECT_TRUE(Refuses(""));
  EXPECT_TRUE(Refuses("{"));
  EXPECT_TRUE(Refuses("null"));
  EXPECT_TRUE(Refuses(good + good));
  EXPECT_TRUE(Refuses(good + std::string(1, '\0')));
  EXPECT_TRUE(Refuses("{\"stdout_dropped\":0," + good.substr(1))) << "a doubled key";
  std::string broken = good;
  broken.replace(broken.find("import-not"), 1, "\xc3");
  EXPECT_TRUE(Refuses(broken)) << "not UTF-8";
  json form = json::parse(good);
  form["report"]["result"] = 0;
  std::string number = form.dump();
  number.replace(number.find("\"result\":0"), 10, "\"result\":1e999");
  EXPECT_TRUE(Refuses(number)) << "a number that no double holds";
}

std::string Nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(GuestReader, NestingIsThatOfAReport) {
  const auto with_result = [](const std::string& result) {
    host::Outcome outcome;
    outcome.result_json = "0";
    std::string text = OutcomeToText(outcome);
    return text.replace(text.find("\"result\":0"), 10, "\"result\":" + result);
  };
  EXPECT_FALSE(Refuses(with_result(Nested(run::kMaxReportDepth - 1))));
  EXPECT_TRUE(Refuses(with_result(Nested(run::kMaxReportDepth))));
  EXPECT_TRUE(Refuses(with_result(Nested(1'000'000))));
  // More values than a result of its size can have.
  std::string many = "[";
  for (int i = 0; i < 1'000'000; ++i) many += "0,";
  EXPECT_TRUE(Refuses(with_result(many + "0]")));
}

TEST(GuestReader, AKillCauseBelongsToAKill) {
  host::Outcome killed;
  host::SetKilled(killed, host::KillCause::kSigkill, "killed by SIGKILL");
  json form = json::parse(OutcomeToText(killed));
  ASSERT_EQ(form["kill_cause"], "sigkill");
  EXPECT_FALSE(Refuses(form.dump())) << "the control";
  for (const json& cause : {json("container_ended"), json("SIGKILL"), json(""), json(5), json()}) {
    form["kill_cause"] = cause;
    EXPECT_TRUE(Refuses(form.dump())) << cause;
  }
  form.erase("kill_cause");
  EXPECT_TRUE(Refuses(form.dump()));
  form = json::parse(OutcomeToText({.status = host::Status::kOk}));
  form["kill_cause"] = "sigkill";
  EXPECT_TRUE(Refuses(form.dump())) << "of a run that was not killed";
}

TEST(GuestReader, OnlyASignalHasANumber) {
  host::Outcome killed;
  host::SetKilled(killed, host::KillCause::kSignal, "killed");
  killed.kill_signal = SIGSEGV;
  json form = json::parse(OutcomeToText(killed));
  EXPECT_FALSE(Refuses(form.dump())) << "the control";
  for (const json& number : {json(0), json(65), json(-11), json("SIGSEGV"), json()}) {
    form["kill_signal"] = number;
    EXPECT_TRUE(Refuses(form.dump())) << number;
  }
  form["kill_signal"] = SIGSEGV;
  form["kill_cause"] = "sigkill";
  EXPECT_TRUE(Refuses(form.dump())) << "of another cause";
  form = json::parse(OutcomeToText({.status = host::Status::kException, .kill_signal = SIGABRT}));
  EXPECT_FALSE(Refuses(form.dump())) << "of a program of another language";
  form = json::parse(OutcomeToText({.status = host::Status::kOk}));
  form["kill_signal"] = SIGABRT;
  EXPECT_TRUE(Refuses(form.dump())) << "of a run that went well";
}

TEST(GuestReader, ArtifactsAreHeldToTheProfile) {
  const json good = json::parse(OutcomeToText(FullOutcome()));
  const auto with = [&](size_t index, const char* key, const json& value) {
    json form = good;
    form["artifacts"][index][key] = value;
    return form.dump();
  };
  OutcomeBounds bounds = WideBounds();
  bounds.has_workspace = false;
  EXPECT_TRUE(Refuses(good.dump(), bounds)) << "files without a workspace";
  bounds = WideBounds();
  bounds.displays = core::Bytes{4};
  EXPECT_TRUE(Refuses(good.dump(), bounds)) << "displays larger than the profile's";
  EXPECT_TRUE(Refuses(with(0, "size", workspace::kMaxKept.count + 1)));
  EXPECT_TRUE(Refuses(with(0, "size", INT64_MAX)));
  EXPECT_TRUE(Refuses(with(3, "size", 101)));
  EXPECT_TRUE(Refuses(with(3, "taken_along", false)));
  EXPECT_TRUE(Refuses(with(0, "origin", "network")));
  for (const char* name :
       {"", "/etc/passwd", "..", "a/../b", "a//b", "./a", "a/", "a\nb", "\x1b"}) {
    EXPECT_TRUE(Refuses(with(0, "name", name))) << name;
  }
  EXPECT_TRUE(Refuses(with(0, "name", std::string(5000, 'a'))));
  EXPECT_FALSE(Refuses(with(0, "name", "dir/naïve \\x0a name.csv")));
  for (const char* name : {"", ".hidden", "a/b", "a b", "ü", ".."}) {
    EXPECT_TRUE(Refuses(with(3, "name", name))) << name;
  }
  for (const char* type : {"", "text/plain\r\nX: y", "text plain", "text/\x01"}) {
    EXPECT_TRUE(Refuses(with(0, "media_type", type))) << type;
  }
  json form = good;
  form["artifacts"].push_back(form["artifacts"][3]);
  EXPECT_TRUE(Refuses(form.dump())) << "two displays of one name";
  form = good;
  for (size_t i = 0; i < workspace::kMaxArtifactFiles; ++i)
    form["artifacts"].push_back(good["artifacts"][1]);
  EXPECT_TRUE(Refuses(form.dump())) << "too many files";
  form = good;
  for (int i = 0; i < 2; ++i) {
    form["artifacts"].push_back(good["artifacts"][0]);
    form["artifacts"].back()["size"] = workspace::kMaxKept.count / 2;
  }
  EXPECT_TRUE(Refuses(form.dump())) << "together larger than may be kept";
}

TEST(GuestReader, LayersAndEventsAreBoundedAndPlain) {
  const json good = json::parse(OutcomeToText(FullOutcome()));
  json form = good;
  form["layers"][0]["detail"] = "\x1b]0;title";
  EXPECT_TRUE(Refuses(form.dump()));
  form = good;
  form["layers"].push_back(good["layers"][0]);
  EXPECT_TRUE(Refuses(form.dump())) << "a layer twice";
  const char* const unknown_names[][3] = {{"layers", "name", "gvisor"},
                                          {"layers", "name", ""},
                                          {"security_events", "layer", "gvisor"},
                                          {"security_events", "action", "allowed"}};
  for (const auto& [list, key, name] : unknown_names) {
    form = good;
    form[list][0][key] = name;
    EXPECT_TRUE(Refuses(form.dump())) << list << " " << key << " " << name;
  }
  form = good;
  form["layers"][0]["name"] = "cgroup";
  form["security_events"][0]["action"] = "killed";
  EXPECT_FALSE(Refuses(form.dump()));
  form = good;
  form["artifacts_note"] = "left out: \x1b[2J";
  EXPECT_TRUE(Refuses(form.dump()));
  form = good;
  for (int i = 0; i < 3000; ++i) form["security_events"].push_back(good["security_events"][0]);
  EXPECT_TRUE(Refuses(form.dump()));
  form = good;
  form["layers"][0]["detail"] = std::string(5000, 'x');
  EXPECT_TRUE(Refuses(form.dump()));
}

TEST(GuestReader, ContentIsWhatWasAnnounced) {
  const host::Outcome sent = FullOutcome();
  const std::string text = OutcomeToText(sent);
  const std::string content = ContentOf(sent);
  {
    Running running;
    EXPECT_FALSE(running.reader.Take(OutcomeBytes(text, content + "x")));
  }
  {
    Running running;
    ASSERT_TRUE(running.reader.Take(OutcomeBytes(text, content.substr(1))));
    EXPECT_EQ(running.reader.stage(), Stage::kContent);
    EXPECT_FALSE(running.reader.Take(tests::FrameBytes(FrameKind::kContent)));
  }
  {
    Running running;
    ASSERT_TRUE(running.reader.Take(OutcomeBytes(text, "")));
    EXPECT_FALSE(running.reader.Take(tests::FrameBytes(FrameKind::kStandardOutput, "late")));
  }
  {
    Running running;
    ASSERT_TRUE(running.reader.Take(OutcomeBytes(text, "")));
    EXPECT_FALSE(running.reader.Take(tests::FrameBytes(FrameKind::kFailure, "{}")));
  }
}

TEST(GuestReader, OutputStopsAtItsLimit) {
  OutcomeBounds bounds = WideBounds();
  bounds.limits.output = core::Bytes{10};
  for (const FrameKind kind : {FrameKind::kStandardOutput, FrameKind::kStandardError}) {
    Running running(bounds);
    ASSERT_TRUE(running.reader.Take(tests::FrameBytes(kind, "12345")));
    ASSERT_TRUE(running.reader.Take(tests::FrameBytes(kind, "67890")));
    const core::Result<void> taken = running.reader.Take(tests::FrameBytes(kind, "x"));
    ASSERT_FALSE(taken);
    EXPECT_NE(taken.error().ToString().find("beyond its limit"), std::string::npos);
    EXPECT_EQ(running.reader.outcome().stdout_stream.text.size() +
                  running.reader.outcome().stderr_stream.text.size(),
              10u);
  }
}

TEST(GuestReader, FramesThatCouldComeWithoutEndAreRefused) {
  Running running;
  EXPECT_FALSE(running.reader.Take(tests::FrameBytes(FrameKind::kStandardOutput)));
  Running again;
  EXPECT_FALSE(again.reader.Take(tests::FrameBytes(FrameKind::kReady)));
}

TEST(GuestReader, NothingComesBeforeItsTimeOrAfterTheEnd) {
  const std::string ready = tests::HelloBytes() + tests::FrameBytes(FrameKind::kReady);
  const std::string outcome =
      tests::FrameBytes(FrameKind::kOutcome, OutcomeToText(host::Outcome()));
  for (const std::string& bytes :
       {tests::FrameBytes(FrameKind::kReady), outcome, tests::HelloBytes() + tests::HelloBytes(),
        tests::HelloBytes() + outcome, ready + tests::FrameBytes(FrameKind::kReady),
        ready + outcome, ready + tests::FrameBytes(FrameKind::kStandardOutput, "x"),
        ready + tests::HelloBytes(),
        tests::HelloBytes() + tests::FrameBytes(FrameKind::kReady, "x"),
        tests::FrameBytes(FrameKind::kRequest, "{}"), tests::FrameBytes(FrameKind::kEgressOpen),
        tests::FrameBytes(static_cast<FrameKind>(0xffffffff))}) {
    backend::GuestReader reader(tests::ExpectedHello());
    EXPECT_FALSE(reader.Take(bytes));
  }
  for (const std::string& after : {std::string("B"), outcome, tests::FrameBytes(FrameKind::kReady),
                                   tests::FrameBytes(FrameKind::kStandardOutput, "x")}) {
    Running together;
    EXPECT_FALSE(together.reader.Take(outcome + after));
    Running apart;
    ASSERT_TRUE(apart.reader.Take(outcome));
    EXPECT_FALSE(apart.reader.Take(after));
  }
}

// --- calls of functions -------------------------------------------------------------------------

// A guest whose program may call "ask".
struct Calling {
  Calling() : reader(tests::ExpectedHello()) { request.functions = {"ask", "askew"}; }
  backend::GuestReader& Started() {
    EXPECT_TRUE(reader.Take(tests::HelloBytes() + tests::FrameBytes(FrameKind::kReady)));
    OutcomeBounds bounds = WideBounds();
    bounds.limits = request.limits;
    reader.Expect(bounds, {}, &calls);
    return reader;
  }
  host::Request request;
  run::FunctionCall call = [](std::string_view, std::string_view) { return std::string("{}"); };
  run::FunctionCalls calls{request, call};
  backend::GuestReader reader;
};

TEST(GuestReader, ACallInAnyPiecesIsTheSameCall) {
  const std::string bytes = tests::FrameBytes(FrameKind::kStandardOutput, "a") +
                            tests::CallBytes("ask", R"({"args":[1],"kwargs":{}})") +
                            tests::FrameBytes(FrameKind::kStandardOutput, "b");
  for (const size_t piece : {size_t{1}, size_t{7}, bytes.size()}) {
    Calling calling;
    backend::GuestReader& reader = calling.Started();
    std::vector<backend::GuestReader::Call> calls;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      ASSERT_TRUE(reader.Take(std::string_view(bytes).substr(at, piece)));
      if (auto call = reader.TakeCall()) calls.push_back(std::move(*call));
    }
    ASSERT_EQ(calls.size(), 1u);
    EXPECT_EQ(calls[0].name, "ask");
    EXPECT_EQ(calls[0].arguments, R"({"args":[1],"kwargs":{}})");
    EXPECT_EQ(reader.outcome().stdout_stream.text, "ab");
    reader.Answered();
    EXPECT_TRUE(
        reader.Take(tests::CallBytes("askew", "[]") +
                    tests::FrameBytes(FrameKind::kOutcome, OutcomeToText(host::Outcome()))));
    EXPECT_EQ(reader.stage(), Stage::kEnded);
  }
}

TEST(GuestReader, ACallThatMayNotBeIsRefused) {
  const auto form = [](uint32_t name_size, std::string_view rest) {
    return tests::FrameBytes(FrameKind::kCall, tests::NumberBytes(name_size) + std::string(rest));
  };
  const size_t max = Calling().request.limits.result.count;
  const struct {
    const char* what;
    std::string bytes;
  } kCalls[] = {
      {"another name", tests::CallBytes("other", "{}")},
      {"the beginning of one", tests::CallBytes("as", "{}")},
      {"more than one", tests::CallBytes(std::string("ask\0", 4), "{}")},
      {"no name", tests::CallBytes("", "{}")},
      {"no arguments", tests::CallBytes("ask", "")},
      {"nothing", tests::FrameBytes(FrameKind::kCall)},
      {"half a number", tests::FrameBytes(FrameKind::kCall, "\x03")},
      {"a name longer than all", form(6, "ask{}")},
      {"a name of any length", form(UINT32_MAX, "ask{}")},
      {"a long name", tests::CallBytes(std::string(core::kMaxFunctionName + 1, 'a'), "{}")},
      {"long arguments", tests::CallBytes("ask", std::string(max + 1, ' '))},
      {"a second one", tests::CallBytes("ask", "{}") + tests::CallBytes("ask", "{}")},
      {"one after the outcome",
       tests::FrameBytes(FrameKind::kOutcome, OutcomeToText(FullOutcome())) +
           tests::CallBytes("ask", "{}")},
      {"one after all", tests::FrameBytes(FrameKind::kOutcome, OutcomeToText(host::Outcome())) +
                            tests::CallBytes("ask", "{}")},
      {"an answer", tests::FrameBytes(FrameKind::kAnswer, "{}")}};
  for (const auto& [what, bytes] : kCalls) {
    Calling calling;
    EXPECT_FALSE(calling.Started().Take(bytes)) << what;
  }
  // Also where the first has been taken to be made, and is not answered yet.
  Calling calling;
  backend::GuestReader& reader = calling.Started();
  ASSERT_TRUE(reader.Take(tests::CallBytes("ask", "{}")));
  ASSERT_TRUE(reader.TakeCall());
  EXPECT_FALSE(reader.TakeCall());
  EXPECT_FALSE(reader.Take(EncodeFrameHeader(FrameKind::kCall, 9)));
}

TEST(GuestReader, ACallIsRefusedByItsHeaderWhereNoneHasAPlace) {
  const std::string header = EncodeFrameHeader(FrameKind::kCall, 9);
  Calling fits;
  const size_t longest = 4 + core::kMaxFunctionName + fits.request.limits.result.count;
  EXPECT_TRUE(fits.Started().Take(EncodeFrameHeader(FrameKind::kCall, longest)));
  Calling over;
  EXPECT_FALSE(over.Started().Take(EncodeFrameHeader(FrameKind::kCall, longest + 1)));
  Calling without_functions;
  without_functions.request.functions.clear();
  EXPECT_FALSE(without_functions.Started().Take(header));
  Calling without_answers;
  without_answers.call = nullptr;
  EXPECT_FALSE(without_answers.Started().Take(header));
  Calling validation;
  validation.request.mode = host::Request::Mode::kValidate;
  EXPECT_FALSE(validation.Started().Take(header));
  Running without_any;
  EXPECT_FALSE(without_any.reader.Take(header));
  for (const std::string& before : {std::string(), tests::HelloBytes(),
                                    tests::HelloBytes() + tests::FrameBytes(FrameKind::kReady)}) {
    backend::GuestReader waiting(tests::ExpectedHello());
    ASSERT_TRUE(waiting.Take(before));
    EXPECT_FALSE(waiting.Take(header));
  }
}

TEST(GuestReader, ALengthIsRefusedBeforeItsBytesCome) {
  const struct {
    FrameKind kind;
    size_t longest;
  } kKinds[] = {{FrameKind::kStandardOutput, kFramePiece},
                {FrameKind::kOutcome, MaxOutcomeText(WideBounds())},
                {FrameKind::kFailure, kMaxGreeting}};
  for (const auto& [kind, longest] : kKinds) {
    Running fits;
    EXPECT_TRUE(fits.reader.Take(EncodeFrameHeader(kind, longest))) << FrameName(kind);
    Running over;
    EXPECT_FALSE(over.reader.Take(EncodeFrameHeader(kind, longest + 1))) << FrameName(kind);
    Running huge;
    EXPECT_FALSE(huge.reader.Take(EncodeFrameHeader(kind, 0xffffffff))) << FrameName(kind);
  }
}

TEST(GuestReader, AnyByteChangedIsAFaultOrAnOutcomeOfTheSameForm) {
  const host::Outcome sent = FullOutcome();
  const std::string good = OutcomeBytes(OutcomeToText(sent), ContentOf(sent));
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    bytes[random() % bytes.size()] = static_cast<char>(random());
    Running running;
    if (!running.reader.Take(bytes)) {
      ++refused;
      continue;
    }
    if (running.reader.stage() == Stage::kEnded) {
      EXPECT_TRUE(json::accept(host::OutcomeToJson(running.reader.outcome())));
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace belljar::container::wire::wire_test
