// What goes over the line to a container, and what its readers refuse: every byte from a container
// is hostile.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "container/wire/frame.h"
#include "container/wire/guest_reader.h"
#include "container/wire/host_reader.h"
#include "container/wire/outcome_text.h"
#include "container/wire/request_text.h"
#include "engine/core/digest.h"
#include "engine/core/wire.h"
#include "engine/outside/function_calls.h"
#include "engine/outside/report.h"
#include "engine/outside/workspace.h"
#include "tests/container/frames.h"

namespace belljar {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using Stage = GuestReader::Stage;

// --- frames -------------------------------------------------------------------------------------

TEST(Frame, BytesInAnyPiecesAreTheSameFrames) {
  const std::string bytes = FrameBytes(FrameKind::kStandardOutput, "abc") +
                            FrameBytes(FrameKind::kReady) +
                            FrameBytes(FrameKind::kContent, std::string(70'000, 'x'));
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

Request FullRequest() {
  Request request;
  request.source = std::string("print('\0')\n", 11);
  request.filename = "prögram.py";
  request.standard_input = "line\n\xff";
  request.allowed_imports = std::vector<std::string>{"math", "json"};
  request.allowed_domains = std::vector<std::string>{};
  request.files = {{"a/b.txt", "content"}, {"empty", ""}, {"c", std::string(200'000, 'c')}};
  request.inputs = {{"number", "7"}, {"text", "\"" + std::string(100'000, 't') + "\""}};
  request.functions = {"ask", std::string(kTakesVariables)};
  request.limits.timeout = milliseconds(1234);
  request.limits.processes = 7;
  request.wants_comments = true;
  request.exact_types = true;
  return request;
}

std::string RequestBytes(const Request& request) {
  Result<std::string> text = RequestToText(request);
  EXPECT_TRUE(text);
  std::string bytes = FrameBytes(FrameKind::kRequest, *text);
  std::string content;
  for (const std::string_view part : RequestContent(request)) content += part;
  for (size_t at = 0; at < content.size(); at += kFramePiece) {
    bytes += FrameBytes(FrameKind::kContent, std::string_view(content).substr(at, kFramePiece));
  }
  return bytes;
}

TEST(HostReader, ARequestComesAsItWent) {
  const Request sent = FullRequest();
  const std::string bytes = RequestBytes(sent);
  for (const size_t piece : {size_t{1000}, bytes.size()}) {
    HostReader reader;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      EXPECT_FALSE(reader.has_request());
      ASSERT_TRUE(reader.Take(std::string_view(bytes).substr(at, piece)));
    }
    ASSERT_TRUE(reader.has_request());
    const Request got = reader.TakeRequest();
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
    EXPECT_EQ(LimitsToJson(got.limits), LimitsToJson(sent.limits));
    EXPECT_TRUE(got.wants_analysis);
    EXPECT_TRUE(got.wants_comments);
    EXPECT_TRUE(got.exact_types);
    EXPECT_FALSE(reader.cancelled());
    ASSERT_TRUE(reader.Take(FrameBytes(FrameKind::kCancel)));
    EXPECT_TRUE(reader.cancelled());
  }
}

TEST(HostReader, WhatWasNotGivenStaysSo) {
  Request sent;
  sent.mode = Request::Mode::kValidate;
  sent.standard_input = "";
  HostReader reader;
  ASSERT_TRUE(reader.Take(RequestBytes(sent)));
  ASSERT_TRUE(reader.has_request());
  const Request got = reader.TakeRequest();
  EXPECT_EQ(got.mode, Request::Mode::kValidate);
  EXPECT_EQ(got.standard_input, "");
  EXPECT_FALSE(got.allowed_imports);
  EXPECT_FALSE(got.allowed_domains);
}

TEST(HostReader, EveryFieldHasToBeThereInItsFormAndNoOther) {
  const json good = json::parse(*RequestToText(FullRequest()));
  const auto refuses = [](const json& form) {
    HostReader reader;
    return !reader.Take(FrameBytes(FrameKind::kRequest, form.dump()));
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
    EXPECT_TRUE(refuses(form)) << "a door without " << key;
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
  form["functions"] = {std::string(kMaxFunctionName + 1, 'f')};
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
           FrameBytes(FrameKind::kCancel),
           FrameBytes(FrameKind::kContent, "x"),
           FrameBytes(FrameKind::kDoorData, "x"),
           FrameBytes(static_cast<FrameKind>(0)),
           EncodeFrameHeader(FrameKind::kRequest, kMaxRequestText + 1),
           request + request,
           request + FrameBytes(FrameKind::kContent, "x"),
           request + FrameBytes(FrameKind::kCancel, "x"),
           request + FrameBytes(FrameKind::kCancel) + FrameBytes(FrameKind::kCancel),
           request + "BLJX",
       }) {
    HostReader reader;
    EXPECT_FALSE(reader.Take(bytes))
        << bytes.substr(bytes.size() - std::min<size_t>(20, bytes.size()));
  }
}

TEST(HostReader, AnswersComeWhileAProgramRunsThatMayCall) {
  Request asks = FullRequest();
  asks.limits.result = Bytes{4000};
  Request asks_nobody = asks;
  asks_nobody.functions.clear();
  const std::string answer = FrameBytes(FrameKind::kAnswer, "{\"value\":1}");
  std::vector<std::string> got;
  const auto refuses = [&](const std::string& bytes, bool is_listening = true) {
    HostReader reader;
    if (is_listening) {
      reader.TakeAnswersBy([&](std::string text) {
        got.push_back(std::move(text));
        return Result<void>();
      });
    }
    return !reader.Take(bytes);
  };
  EXPECT_FALSE(refuses(RequestBytes(asks) + answer + answer));
  EXPECT_EQ(got, std::vector<std::string>(2, "{\"value\":1}"));
  EXPECT_TRUE(refuses(answer));
  EXPECT_TRUE(refuses(RequestBytes(asks) + answer, false));
  EXPECT_TRUE(refuses(RequestBytes(asks_nobody) + answer));
  EXPECT_TRUE(refuses(RequestBytes(asks) + FrameBytes(FrameKind::kAnswer)));
  EXPECT_TRUE(refuses(RequestBytes(asks) + FrameBytes(FrameKind::kCancel) + answer));
  EXPECT_FALSE(refuses(RequestBytes(asks) + EncodeFrameHeader(FrameKind::kAnswer, 4000)));
  EXPECT_TRUE(refuses(RequestBytes(asks) + EncodeFrameHeader(FrameKind::kAnswer, 4001)));
  EXPECT_EQ(got.size(), 2u);
}

// What is refused in place of an answer fits where no answer does.
TEST(HostReader, ARefusalFitsWhateverTheLimit) {
  Request request;
  request.functions = {std::string(kMaxFunctionName, 'f')};
  request.limits.result = Bytes{1};
  const FunctionCall call = [](std::string_view, std::string_view) { return std::string(9, 'x'); };
  const FunctionCalls calls(request, call);
  for (const char* arguments : {"{", "1"}) {
    const std::string answer = calls.Answer(request.functions[0], arguments);
    EXPECT_NE(answer.find("ValueError"), std::string::npos);
    EXPECT_LE(answer.size(), FunctionCalls::LongestAnswer(request.limits));
  }
}

TEST(HostReader, ARequestThatIsTooLargeIsToldBeforeItIsSent) {
  Request request;
  request.files = {{"a", std::string(kMaxRequestContent.count, 'a')}, {"b", "b"}};
  const Result<std::string> text = RequestToText(request);
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().ToString().find("512m"), std::string::npos) << text.error().ToString();
}

// --- the guest's greeting -----------------------------------------------------------------------

TEST(GuestReader, TheVersionsAreChecked) {
  GuestReader reader(ExpectedHello());
  ASSERT_TRUE(reader.Take(HelloBytes()));
  EXPECT_EQ(reader.stage(), Stage::kPreparing);
  ASSERT_TRUE(reader.Take(FrameBytes(FrameKind::kReady)));
  EXPECT_EQ(reader.stage(), Stage::kWaiting);
}

TEST(GuestReader, AnotherVersionIsAnErrorThatSaysWhatToDo) {
  struct Case {
    std::function<void(Hello&)> change;
    const char* text;
  };
  for (const Case& c : {Case{[](Hello& h) { h.protocol = 1; }, "protocol 1, not 4"},
                        Case{[](Hello& h) { h.belljar = "0.0.9"; }, "Belljar \"0.0.9\", not"},
                        Case{[](Hello& h) { h.python = "3.9.1"; }, "Python \"3.9.1\", not"},
                        Case{[](Hello& h) { h.profile = "network"; }, "profile \"network\", not"},
                        Case{[](Hello& h) { h.isolation = "strict"; }, "isolation \"strict\""},
                        Case{[](Hello& h) { h.language = "full"; }, "language \"full\""}}) {
    Hello hello = ExpectedHello();
    c.change(hello);
    GuestReader reader(ExpectedHello());
    const Result<void> taken = reader.Take(FrameBytes(FrameKind::kHello, HelloToText(hello)));
    ASSERT_FALSE(taken) << c.text;
    const std::string error = taken.error().ToString();
    EXPECT_NE(error.find(c.text), std::string::npos) << error;
    EXPECT_NE(error.find("belljar image build"), std::string::npos) << error;
  }
}

TEST(GuestReader, OfAnotherProtocolOnlyItsNumberIsRead) {
  GuestReader reader(ExpectedHello());
  const Result<void> taken =
      reader.Take(FrameBytes(FrameKind::kHello, R"({"protocol": 9, "anything": [1]})"));
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().ToString().find("protocol 9"), std::string::npos);
}

TEST(GuestReader, AHelloIsStrict) {
  const json good = json::parse(HelloToText(ExpectedHello()));
  const auto refuses = [](const std::string& text) {
    GuestReader reader(ExpectedHello());
    return !reader.Take(FrameBytes(FrameKind::kHello, text));
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
    GuestReader reader(ExpectedHello());
    if (greeted) {
      ASSERT_TRUE(reader.Take(HelloBytes()));
    }
    const Error error = SystemErrorOf(EPERM, "clone a zygote", "no \x1b[31mnamespaces");
    ASSERT_TRUE(reader.Take(FrameBytes(FrameKind::kFailure, FailureToText(error))));
    EXPECT_EQ(reader.stage(), Stage::kEnded);
    ASSERT_TRUE(reader.failure());
    EXPECT_EQ(reader.failure()->ToString(),
              "in the container: clone a zygote: Operation not permitted (EPERM): no "
              "\\x1b[31mnamespaces");
    EXPECT_FALSE(reader.Take(FrameBytes(FrameKind::kReady)));
  }
}

TEST(GuestReader, AFailureThatCannotBeReadIsOneTooAndALongOneIsCut) {
  for (const std::string_view text :
       {"", "{}", "[1]", R"({"operation":"a","errno":-1,"detail":""})",
        R"({"operation":"a","errno":99999,"detail":""})",
        R"({"operation":"a","errno":1,"detail":"","x":0})"}) {
    GuestReader reader(ExpectedHello());
    ASSERT_TRUE(reader.Take(FrameBytes(FrameKind::kFailure, text)));
    ASSERT_TRUE(reader.failure()) << text;
    EXPECT_NE(reader.failure()->operation, "in the container") << text;
  }
  const Error read =
      ReadFailure(FailureToText(MakeError(std::string(9000, '\x01'), std::string(9000, '\xff'))));
  EXPECT_LT(read.ToString().size(), 6000u);
  EXPECT_NE(read.ToString().find("\\x01"), std::string::npos);
}

// What a host does about an error goes by its number: ECANCELED is its own caller's wish.
TEST(GuestReader, TheNumberOfAFailureIsOnlyShown) {
  for (const int number : {ECANCELED, ETIMEDOUT, EPIPE}) {
    const Error read = ReadFailure(FailureToText(SystemErrorOf(number, "take a worker")));
    EXPECT_EQ(read.error_number, 0);
    EXPECT_NE(read.ToString().find("take a worker: "), std::string::npos) << read.ToString();
    EXPECT_NE(read.ToString().find(strerrorname_np(number)), std::string::npos) << read.ToString();
  }
}

// --- outcomes -----------------------------------------------------------------------------------

OutcomeBounds WideBounds() { return {.limits = {}, .has_workspace = true, .displays = Bytes{100}}; }

Outcome FullOutcome() {
  Outcome outcome;
  outcome.status = Status::kException;
  outcome.exit_code = -3;
  outcome.result_json = R"({"a":[1,2.5,1e300,"ü",null,true]})";
  outcome.result_repr = "{'a': …}";
  outcome.stdout_stream = {"out\xff\n", 7};
  outcome.stderr_stream = {"err", 0};
  outcome.variables = {"a", "b"};
  outcome.error = GuestError{"ValueError", "no", 1, 2, 3, 4, "Traceback", "hint"};
  outcome.findings = {{"BJ201", "import-not-allowed", 1, 2, 3, 4, "os", "leave it", "full"}};
  outcome.analysis = Analysis{{"math"}, 2, 1};
  outcome.comments = {{4, "# belljar: ignore"}};
  outcome.truncated = {"result_repr", "traceback"};
  outcome.usage = {std::chrono::microseconds(1500), std::chrono::microseconds(1000), 1 << 20};
  outcome.isolation.layers = {{"namespaces", false, "not here"}, {"seccomp", true, "2 filters"}};
  outcome.security_events = {{"seccomp", "denied", "socket", 3}};
  Artifact file;
  file.name = "out/a.csv";
  file.media_type = "text/csv";
  file.content = "a,b\n";
  file.size = 4;
  Artifact large = file;
  large.name = "large.bin";
  large.media_type = "application/octet-stream";
  large.content.reset();
  large.size = 1'000'000'000;
  large.note = "not taken along";
  Artifact empty = file;
  empty.name = "empty";
  empty.content = "";
  empty.size = 0;
  Artifact display = file;
  display.origin = Artifact::Origin::kDisplay;
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
  std::string bytes = FrameBytes(FrameKind::kOutcome, text);
  if (!content.empty()) bytes += FrameBytes(FrameKind::kContent, content);
  return bytes;
}

std::string ContentOf(const Outcome& outcome) {
  std::string content;
  for (const std::string_view part : OutcomeContent(outcome)) content += part;
  return content;
}

// A guest that has its request.
struct Running {
  explicit Running(OutcomeBounds bounds = WideBounds()) : reader(ExpectedHello()) {
    EXPECT_TRUE(reader.Take(HelloBytes() + FrameBytes(FrameKind::kReady)));
    reader.Expect(bounds);
    EXPECT_EQ(reader.stage(), Stage::kRunning);
  }
  GuestReader reader;
};

TEST(GuestReader, AnOutcomeComesAsItWent) {
  Outcome sent = FullOutcome();
  const std::string bytes = FrameBytes(FrameKind::kStandardOutput, "out\xff") +
                            FrameBytes(FrameKind::kStandardError, "err") +
                            FrameBytes(FrameKind::kStandardOutput, "\n") +
                            OutcomeBytes(OutcomeToText(sent), ContentOf(sent));
  for (const size_t piece : {size_t{1}, size_t{100}, bytes.size()}) {
    Running running;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      EXPECT_NE(running.reader.stage(), Stage::kEnded);
      const Result<void> taken = running.reader.Take(std::string_view(bytes).substr(at, piece));
      ASSERT_TRUE(taken) << taken.error().ToString();
    }
    ASSERT_EQ(running.reader.stage(), Stage::kEnded);
    FinishOutcome(sent);
    EXPECT_EQ(OutcomeToJson(running.reader.outcome(), 1), OutcomeToJson(sent, 1));
    EXPECT_EQ(running.reader.outcome().stdout_stream.text, "out\xff\n");
    EXPECT_EQ(running.reader.outcome().artifacts[0].sha256, Sha256("a,b\n"));
    EXPECT_EQ(running.reader.outcome().artifacts[1].sha256, "");
    EXPECT_EQ(running.reader.outcome().analysis->imports, sent.analysis->imports);
    EXPECT_EQ(running.reader.outcome().comments.size(), 1u);
    EXPECT_EQ(running.reader.outcome().findings[0].profile, "full");
    EXPECT_EQ(running.reader.outcome().error->end_column, 4);
  }
}

TEST(GuestReader, EveryStatusComesThrough) {
  for (const Status status : {Status::kOk, Status::kException, Status::kRefused, Status::kTimeout,
                              Status::kCpuLimit, Status::kMemoryLimit, Status::kKilled}) {
    Outcome sent;
    sent.status = status;
    Running running;
    ASSERT_TRUE(running.reader.Take(OutcomeBytes(OutcomeToText(sent), "")));
    ASSERT_EQ(running.reader.stage(), Stage::kEnded);
    EXPECT_EQ(running.reader.outcome().status, status);
  }
}

// True: refused, and nothing of it in the outcome.
bool Refuses(const std::string& text, OutcomeBounds bounds = WideBounds()) {
  Running running(bounds);
  EXPECT_TRUE(running.reader.Take(FrameBytes(FrameKind::kStandardOutput, "before")));
  const bool refused = !running.reader.Take(FrameBytes(FrameKind::kOutcome, text));
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
    Outcome outcome;
    outcome.result_json = "0";
    std::string text = OutcomeToText(outcome);
    return text.replace(text.find("\"result\":0"), 10, "\"result\":" + result);
  };
  EXPECT_FALSE(Refuses(with_result(Nested(kMaxReportDepth - 1))));
  EXPECT_TRUE(Refuses(with_result(Nested(kMaxReportDepth))));
  EXPECT_TRUE(Refuses(with_result(Nested(1'000'000))));
  // More values than a result of its size can have.
  std::string many = "[";
  for (int i = 0; i < 1'000'000; ++i) many += "0,";
  EXPECT_TRUE(Refuses(with_result(many + "0]")));
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
  bounds.displays = Bytes{4};
  EXPECT_TRUE(Refuses(good.dump(), bounds)) << "displays larger than the profile's";
  EXPECT_TRUE(Refuses(with(0, "size", kMostKept.count + 1)));
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
  for (size_t i = 0; i < kMostArtifacts; ++i) form["artifacts"].push_back(good["artifacts"][1]);
  EXPECT_TRUE(Refuses(form.dump())) << "too many files";
  form = good;
  for (int i = 0; i < 2; ++i) {
    form["artifacts"].push_back(good["artifacts"][0]);
    form["artifacts"].back()["size"] = kMostKept.count / 2;
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
  const char* const kNames[][3] = {{"layers", "name", "gvisor"},
                                   {"layers", "name", ""},
                                   {"security_events", "layer", "gvisor"},
                                   {"security_events", "action", "allowed"}};
  for (const auto& [list, key, name] : kNames) {
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
  const Outcome sent = FullOutcome();
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
    EXPECT_FALSE(running.reader.Take(FrameBytes(FrameKind::kContent)));
  }
  {
    Running running;
    ASSERT_TRUE(running.reader.Take(OutcomeBytes(text, "")));
    EXPECT_FALSE(running.reader.Take(FrameBytes(FrameKind::kStandardOutput, "late")));
  }
  {
    Running running;
    ASSERT_TRUE(running.reader.Take(OutcomeBytes(text, "")));
    EXPECT_FALSE(running.reader.Take(FrameBytes(FrameKind::kFailure, "{}")));
  }
}

TEST(GuestReader, OutputStopsAtItsLimit) {
  OutcomeBounds bounds = WideBounds();
  bounds.limits.output = Bytes{10};
  for (const FrameKind kind : {FrameKind::kStandardOutput, FrameKind::kStandardError}) {
    Running running(bounds);
    ASSERT_TRUE(running.reader.Take(FrameBytes(kind, "12345")));
    ASSERT_TRUE(running.reader.Take(FrameBytes(kind, "67890")));
    const Result<void> taken = running.reader.Take(FrameBytes(kind, "x"));
    ASSERT_FALSE(taken);
    EXPECT_NE(taken.error().ToString().find("past its limit"), std::string::npos);
    EXPECT_EQ(running.reader.outcome().stdout_stream.text.size() +
                  running.reader.outcome().stderr_stream.text.size(),
              10u);
  }
}

TEST(GuestReader, FramesThatCouldComeWithoutEndAreRefused) {
  Running running;
  EXPECT_FALSE(running.reader.Take(FrameBytes(FrameKind::kStandardOutput)));
  Running again;
  EXPECT_FALSE(again.reader.Take(FrameBytes(FrameKind::kReady)));
}

TEST(GuestReader, NothingComesBeforeItsTimeOrAfterTheEnd) {
  const std::string ready = HelloBytes() + FrameBytes(FrameKind::kReady);
  const std::string outcome = FrameBytes(FrameKind::kOutcome, OutcomeToText(Outcome()));
  for (const std::string& bytes :
       {FrameBytes(FrameKind::kReady), outcome, HelloBytes() + HelloBytes(), HelloBytes() + outcome,
        ready + FrameBytes(FrameKind::kReady), ready + outcome,
        ready + FrameBytes(FrameKind::kStandardOutput, "x"), ready + HelloBytes(),
        HelloBytes() + FrameBytes(FrameKind::kReady, "x"), FrameBytes(FrameKind::kRequest, "{}"),
        FrameBytes(FrameKind::kDoorOpen), FrameBytes(static_cast<FrameKind>(0xffffffff))}) {
    GuestReader reader(ExpectedHello());
    EXPECT_FALSE(reader.Take(bytes));
  }
  for (const std::string& after : {std::string("B"), outcome, FrameBytes(FrameKind::kReady),
                                   FrameBytes(FrameKind::kStandardOutput, "x")}) {
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
  Calling() : reader(ExpectedHello()) { request.functions = {"ask", "askew"}; }
  GuestReader& Started() {
    EXPECT_TRUE(reader.Take(HelloBytes() + FrameBytes(FrameKind::kReady)));
    OutcomeBounds bounds = WideBounds();
    bounds.limits = request.limits;
    reader.Expect(bounds, {}, &calls);
    return reader;
  }
  Request request;
  FunctionCall call = [](std::string_view, std::string_view) { return std::string("{}"); };
  FunctionCalls calls{request, call};
  GuestReader reader;
};

TEST(GuestReader, ACallInAnyPiecesIsTheSameCall) {
  const std::string bytes = FrameBytes(FrameKind::kStandardOutput, "a") +
                            CallBytes("ask", R"({"args":[1],"kwargs":{}})") +
                            FrameBytes(FrameKind::kStandardOutput, "b");
  for (const size_t piece : {size_t{1}, size_t{7}, bytes.size()}) {
    Calling calling;
    GuestReader& reader = calling.Started();
    std::vector<GuestReader::Call> calls;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      ASSERT_TRUE(reader.Take(std::string_view(bytes).substr(at, piece)));
      if (auto call = reader.TakeCall()) calls.push_back(std::move(*call));
    }
    ASSERT_EQ(calls.size(), 1u);
    EXPECT_EQ(calls[0].name, "ask");
    EXPECT_EQ(calls[0].arguments, R"({"args":[1],"kwargs":{}})");
    EXPECT_EQ(reader.outcome().stdout_stream.text, "ab");
    reader.Answered();
    EXPECT_TRUE(reader.Take(CallBytes("askew", "[]") +
                            FrameBytes(FrameKind::kOutcome, OutcomeToText(Outcome()))));
    EXPECT_EQ(reader.stage(), Stage::kEnded);
  }
}

TEST(GuestReader, ACallThatMayNotBeIsRefused) {
  const auto form = [](uint32_t name_size, std::string_view rest) {
    return FrameBytes(FrameKind::kCall, NumberBytes(name_size) + std::string(rest));
  };
  const size_t most = Calling().request.limits.result.count;
  const struct {
    const char* what;
    std::string bytes;
  } kCalls[] = {
      {"another name", CallBytes("other", "{}")},
      {"the beginning of one", CallBytes("as", "{}")},
      {"more than one", CallBytes(std::string("ask\0", 4), "{}")},
      {"no name", CallBytes("", "{}")},
      {"no arguments", CallBytes("ask", "")},
      {"nothing", FrameBytes(FrameKind::kCall)},
      {"half a number", FrameBytes(FrameKind::kCall, "\x03")},
      {"a name longer than all", form(6, "ask{}")},
      {"a name of any length", form(UINT32_MAX, "ask{}")},
      {"a long name", CallBytes(std::string(kMaxFunctionName + 1, 'a'), "{}")},
      {"long arguments", CallBytes("ask", std::string(most + 1, ' '))},
      {"a second one", CallBytes("ask", "{}") + CallBytes("ask", "{}")},
      {"one after the outcome",
       FrameBytes(FrameKind::kOutcome, OutcomeToText(FullOutcome())) + CallBytes("ask", "{}")},
      {"one after all",
       FrameBytes(FrameKind::kOutcome, OutcomeToText(Outcome())) + CallBytes("ask", "{}")},
      {"an answer", FrameBytes(FrameKind::kAnswer, "{}")}};
  for (const auto& [what, bytes] : kCalls) {
    Calling calling;
    EXPECT_FALSE(calling.Started().Take(bytes)) << what;
  }
  // Also where the first has been taken to be made, and is not answered yet.
  Calling calling;
  GuestReader& reader = calling.Started();
  ASSERT_TRUE(reader.Take(CallBytes("ask", "{}")));
  ASSERT_TRUE(reader.TakeCall());
  EXPECT_FALSE(reader.TakeCall());
  EXPECT_FALSE(reader.Take(EncodeFrameHeader(FrameKind::kCall, 9)));
}

TEST(GuestReader, ACallIsRefusedByItsHeaderWhereNoneHasAPlace) {
  const std::string header = EncodeFrameHeader(FrameKind::kCall, 9);
  Calling fits;
  const size_t longest = 4 + kMaxFunctionName + fits.request.limits.result.count;
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
  validation.request.mode = Request::Mode::kValidate;
  EXPECT_FALSE(validation.Started().Take(header));
  Running without_any;
  EXPECT_FALSE(without_any.reader.Take(header));
  for (const std::string& before :
       {std::string(), HelloBytes(), HelloBytes() + FrameBytes(FrameKind::kReady)}) {
    GuestReader waiting(ExpectedHello());
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
  const Outcome sent = FullOutcome();
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
      EXPECT_TRUE(json::accept(OutcomeToJson(running.reader.outcome())));
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace belljar
