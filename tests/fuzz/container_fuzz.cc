// container_fuzz: what a container sends, from its hello on; and what a host sends it.
//
// An input is frames, ended by a byte 0xFF each: a letter for the kind, and the payload. So a
// corpus stays readable, and the fuzzer finds kinds instead of lengths; "*" is bytes without a
// header. A frame of an egress proxy has a character for its stream, '1' for the first, and then
// data as it is, a window's count in decimals, or a digit for the ways that are closed. A call is a
// digit for the length of the function's name, and then its name and arguments.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "container/backend/guest_reader.h"
#include "container/inside/host_reader.h"
#include "container/wire/egress_ledger.h"
#include "container/wire/outcome_text.h"
#include "container/wire/request_text.h"
#include "container/wire/session_text.h"
#include "engine/core/text.h"
#include "engine/run/function_calls.h"
#include "tests/fuzz/invariant.h"

namespace belljar::tests {
namespace {

using Json = nlohmann::json;
using Stage = container::backend::GuestReader::Stage;

constexpr struct {
  char letter;
  container::wire::FrameKind kind;
} kKinds[] = {{'h', container::wire::FrameKind::kHello},
              {'y', container::wire::FrameKind::kReady},
              {'r', container::wire::FrameKind::kRequest},
              {'c', container::wire::FrameKind::kContent},
              {'o', container::wire::FrameKind::kStandardOutput},
              {'e', container::wire::FrameKind::kStandardError},
              {'x', container::wire::FrameKind::kCancel},
              {'O', container::wire::FrameKind::kOutcome},
              {'f', container::wire::FrameKind::kFailure},
              {'C', container::wire::FrameKind::kCall},
              {'a', container::wire::FrameKind::kAnswer},
              {'s', container::wire::FrameKind::kSession},
              {'q', container::wire::FrameKind::kInquiry},
              {'R', container::wire::FrameKind::kReply},
              {'E', container::wire::FrameKind::kEnd},
              {'n', container::wire::FrameKind::kEgressOpen},
              {'d', container::wire::FrameKind::kEgressData},
              {'w', container::wire::FrameKind::kEgressWindow},
              {'z', container::wire::FrameKind::kEgressClose}};

std::string EgressPayload(container::wire::FrameKind kind, std::string_view text) {
  if (text.empty()) return {};
  std::string payload;
  container::wire::AppendNumber(payload, static_cast<uint32_t>(text[0] - '0'));
  const std::string rest(text.substr(1));
  if (kind == container::wire::FrameKind::kEgressWindow) {
    container::wire::AppendNumber(payload,
                                  static_cast<uint32_t>(strtoul(rest.c_str(), nullptr, 10)));
  } else if (kind == container::wire::FrameKind::kEgressClose && !rest.empty()) {
    payload += static_cast<char>(rest[0] - '0');
  } else {
    payload += rest;
  }
  return payload;
}

std::string CallPayload(std::string_view text) {
  if (text.empty()) return {};
  std::string payload;
  container::wire::AppendNumber(payload, static_cast<uint32_t>(text[0] - '0'));
  return payload + std::string(text.substr(1));
}

std::string Frames(std::string_view input) {
  std::string bytes;
  for (const std::string& piece : Cut(input)) {
    std::string payload = piece.substr(std::min<size_t>(1, piece.size()));
    const auto* kind = std::ranges::find(kKinds, piece.empty() ? '*' : piece[0],
                                         [](const auto& entry) { return entry.letter; });
    if (kind != std::end(kKinds) && container::wire::MaxEgressFrame(kind->kind)) {
      payload = EgressPayload(kind->kind, payload);
    }
    if (kind != std::end(kKinds) && kind->kind == container::wire::FrameKind::kCall)
      payload = CallPayload(payload);
    if (kind != std::end(kKinds))
      bytes += container::wire::EncodeFrameHeader(kind->kind, payload.size());
    bytes += payload;
  }
  return bytes;
}

container::wire::OutcomeBounds Bounds() {
  container::wire::OutcomeBounds bounds{
      .limits = {}, .has_workspace = true, .displays = core::Bytes{64}};
  bounds.limits.output = core::Bytes{64};
  return bounds;
}

// As in the corpus; a fuzz build embeds no Python, and has no version of one.
container::wire::Hello Expected() {
  return {container::wire::kContainerProtocol, "0.1.0", "3.11.2", "basic", "standard", "on"};
}

void JudgeArtifacts(const host::Outcome& outcome) {
  uint64_t displays = 0;
  for (const host::Artifact& artifact : outcome.artifacts) {
    Require(!artifact.content || artifact.content->size() == artifact.size, "of another size");
    if (artifact.origin == host::Artifact::Origin::kDisplay) displays += artifact.size;
    const std::string& name = artifact.name;
    Require(!name.empty() && name[0] != '/' && core::Printable(name) == name, "a name", name);
    Require(name != ".." && name.find("../") == name.npos && !name.ends_with("/.."),
            "a name that leads out", name);
  }
  Require(displays <= 64, "more is displayed than the profile allows");
}

// Written and read again, it is the same.
void JudgeOutcome(const host::Outcome& outcome) {
  const std::string shown = host::OutcomeToJson(outcome);
  Require(Json::accept(shown), "not valid JSON", shown);
  JudgeArtifacts(outcome);
  host::Outcome again;
  again.limits = outcome.limits;
  again.stdout_stream.text = outcome.stdout_stream.text;
  again.stderr_stream.text = outcome.stderr_stream.text;
  container::wire::Content content;
  const std::string text = container::wire::OutcomeToText(outcome);
  Require(container::wire::ReadOutcomeText(text, Bounds(), again, content).ok(), "not read again",
          text);
  for (const std::string_view part : container::wire::OutcomeContent(outcome)) {
    Require(content.Take(part), "content is not what was announced", text);
  }
  container::wire::FinishOutcome(again);
  Require(host::OutcomeToJson(again) == shown, "another outcome", text);
}

// An egress proxy that passes on what comes, answers as much as it may, and closes with the guest.
// It never keeps more than two windows of a stream.
class EgressProxy {
 public:
  core::Result<void> Take(const container::wire::Frame& frame) {
    if (core::Result<void> taken = ledger_.Take(frame); !taken) return taken;
    std::string answer;
    for (const uint32_t number : ledger_.TakeOpened()) Answer(number, "opened", answer);
    std::vector<uint32_t> numbers;
    for (const auto& [number, stream] : ledger_.streams()) numbers.push_back(number);
    Require(numbers.size() <= kBounds.at_a_time, "more streams than there may be");
    for (const uint32_t number : numbers) Serve(number, answer);
    Judge(answer);
    return {};
  }
  const std::string& passed() const { return passed_; }

 private:
  static constexpr container::wire::EgressBounds kBounds{.at_a_time = 2, .in_all = 4};

  void Answer(uint32_t number, std::string_view bytes, std::string& answer) {
    const container::wire::EgressStream& stream = ledger_.streams().at(number);
    if (!stream.sends() || !stream.peer_takes()) return;
    bytes = bytes.substr(0, std::min(stream.may_send, container::wire::kEgressPiece));
    if (!bytes.empty()) ledger_.Send(number, bytes, answer);
  }
  void Serve(uint32_t number, std::string& answer) {
    const container::wire::EgressStream& stream = ledger_.streams().at(number);
    Require(stream.may_send <= container::wire::kEgressWindow &&
                stream.may_come <= container::wire::kEgressWindow,
            "a window's size");
    Require(stream.arrived.size() <= 2 * container::wire::kEgressWindow,
            "more is kept than is granted");
    const std::string waiting(stream.Waiting());
    passed_ += waiting;
    ledger_.Pass(number, waiting.size(), answer);
    Answer(number, waiting, answer);
    if (!stream.peer_takes()) ledger_.Close(number, container::wire::kSendsNoMore, answer);
    const auto left = ledger_.streams().find(number);
    if (left != ledger_.streams().end() && !left->second.peer_sends()) {
      ledger_.Close(number, container::wire::kTakesNoMore, answer);
    }
  }
  // What an honest guest would have to understand.
  static void Judge(const std::string& answer) {
    container::wire::FrameDecoder decoder;
    decoder.Feed(answer);
    while (std::optional<container::wire::Frame> frame = decoder.Next()) {
      const std::optional<size_t> longest = container::wire::MaxEgressFrame(frame->kind);
      Require(longest && frame->payload.size() <= *longest, "an answer that is too long");
    }
    Require(decoder.empty(), "half an answer");
  }

  container::wire::EgressLedger ledger_{container::wire::EgressLedger::Side::kHost, kBounds};
  std::string passed_;
};

// The functions that may be called, and what they were called with.
class Functions {
 public:
  Functions() {
    request_.functions = {"f", "ask"};
    request_.limits.result = kMaxLength;
  }
  const run::FunctionCalls& calls() const { return calls_; }
  void Make(container::backend::GuestReader& reader) {
    const std::optional<container::backend::GuestReader::Call> call = reader.TakeCall();
    if (!call) return;
    Require(call->name == "f" || call->name == "ask", "a function that is not there", call->name);
    Require(call->arguments.size() <= kMaxLength.count, "longer than the limit", call->arguments);
    const std::string answer = calls_.Answer(call->name, call->arguments).value_or("");
    Require(answer.size() <= run::FunctionCalls::MaxAnswer(request_.limits), "a long answer",
            answer);
    made_ += call->name + "(" + call->arguments + ")" + answer;
  }
  const std::string& made() const { return made_; }

 private:
  static constexpr core::Bytes kMaxLength{200};

  host::Request request_;
  run::FunctionCall call_ = [](std::string_view, std::string_view arguments) {
    Require(Json::accept(arguments), "not valid JSON", arguments);
    return "{\"value\":" + std::string(arguments) + "}";
  };
  const run::FunctionCalls calls_{request_, call_};
  std::string made_;
};

// How far a guest has come that is read: nowhere; it has its request, and runs; it has opened a
// session, and has a cell, or a question.
enum class Begun { kNothing, kRun, kCell, kQuestion };

container::wire::ReplyBounds QuestionBounds() {
  return {container::wire::Inquiry::Kind::kVariables, core::Bytes{200}};
}

// What came of it, as text. Where it is read in pieces and whole, its calls get no answer: only
// what comes after one is known to.
std::string ReadGuest(std::string_view bytes, size_t piece, Begun begun) {
  container::backend::GuestReader reader(Expected());
  EgressProxy egress;
  Functions functions;
  if (begun != Begun::kNothing) {
    const std::string ready =
        container::wire::EncodeFrameHeader(container::wire::FrameKind::kReady, 0);
    const std::string hello = container::wire::HelloToText(Expected());
    Require(reader
                .Take(container::wire::EncodeFrameHeader(container::wire::FrameKind::kHello,
                                                         hello.size()) +
                      hello + ready)
                .ok(),
            "its own greeting");
    if (begun != Begun::kRun) {
      reader.ExpectSession();
      Require(reader.Take(ready).ok(), "its own session");
    }
    if (begun == Begun::kQuestion) reader.ExpectReply(QuestionBounds());
  }
  if (begun == Begun::kRun || begun == Begun::kCell) {
    reader.Expect(
        Bounds(), [&egress](const container::wire::Frame& frame) { return egress.Take(frame); },
        &functions.calls());
  }
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const bool taken = reader.Take(bytes.substr(at, piece)).ok();
    functions.Make(reader);
    if (piece == 1) reader.Answered();
    const host::Outcome& outcome = reader.outcome();
    Require(outcome.stdout_stream.text.size() <= 64 && outcome.stderr_stream.text.size() <= 64,
            "more output than the limit");
    if (!taken) return "fault";
  }
  if (reader.has_reply()) {
    const container::wire::Reply& reply = reader.reply();
    Require(reply.content.size() <= QuestionBounds().content.count, "a long reply");
    Require(reply.error || Json::accept(reply.content), "not valid JSON", reply.content);
    if (!reply.error) return reply.content;
    const std::string error = reply.error->ToString();
    Require(core::Printable(error) == error, "an error with control characters", error);
    return error;
  }
  const bool has_settled = reader.stage() == Stage::kWaiting && reader.has_outcome();
  if (reader.stage() != Stage::kEnded && !has_settled) {
    return "more " + egress.passed() + functions.made();
  }
  Require(!reader.Take("B").ok(), "bytes after the end");
  // A session can end without an outcome.
  if (reader.failure() && !reader.has_outcome()) {
    const std::string error = reader.failure()->ToString();
    Require(core::Printable(error) == error, "a failure with control characters", error);
    return error;
  }
  if (!reader.has_outcome()) return "ended";
  JudgeOutcome(reader.outcome());
  return host::OutcomeToJson(reader.outcome()) + egress.passed() + functions.made();
}

std::string ReadHost(std::string_view bytes, size_t piece) {
  container::inside::HostReader reader;
  container::wire::EgressLedger ledger(container::wire::EgressLedger::Side::kGuest,
                                       {.at_a_time = 2, .in_all = 4});
  std::string opened;
  ledger.Open(opened);
  reader.TakeEgressBy(
      [&ledger](const container::wire::Frame& frame) { return ledger.Take(frame); });
  std::string answers;
  reader.TakeAnswersBy([&answers](const std::string& answer) {
    answers += answer;
    return core::Result<void>();
  });
  for (size_t at = 0; at < bytes.size(); at += piece) {
    if (!reader.Take(bytes.substr(at, piece))) return "fault";
  }
  using Kind = container::inside::HostReader::Order::Kind;
  std::string shown = answers + (reader.cancelled() ? " cancelled" : "");
  while (std::optional<container::inside::HostReader::Order> order = reader.TakeOrder()) {
    if (order->kind == Kind::kSession) {
      shown += container::wire::SessionToText(order->limits);
      continue;
    }
    const bool asks = order->kind == Kind::kInquiry;
    const core::Result<std::string> text =
        asks ? container::wire::InquiryToText(order->inquiry)
             : container::wire::RequestToText(order->request, order->egress_bounds);
    Require(text.ok(), "an order that was read cannot be written");
    shown += *text;
    for (const std::string_view part : asks ? container::wire::InquiryContent(order->inquiry)
                                            : container::wire::RequestContent(order->request)) {
      shown += part;
    }
  }
  return shown;
}

void Try(std::string_view input) {
  const std::string bytes = Frames(input);
  const size_t whole = bytes.size() + 1;
  for (const Begun begun : {Begun::kNothing, Begun::kRun, Begun::kCell, Begun::kQuestion}) {
    Require(ReadGuest(bytes, 7, begun) == ReadGuest(bytes, whole, begun),
            "another reading of a guest in other pieces");
  }
  (void)ReadGuest(bytes, 1, Begun::kRun);
  (void)ReadGuest(bytes, 1, Begun::kCell);
  Require(ReadHost(bytes, 7) == ReadHost(bytes, whole), "another reading of a host");
}

}  // namespace
}  // namespace belljar::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  belljar::tests::Try({reinterpret_cast<const char*>(data), size});
  return 0;
}
