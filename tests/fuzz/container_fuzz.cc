// container_fuzz: what a container sends, from its hello on; and what a host sends it.
//
// An input is frames, ended by a byte 0xFF each: a letter for the kind, and the payload. So a
// corpus stays readable, and the fuzzer finds kinds instead of lengths; "*" is bytes without a
// header.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "container/wire/guest_reader.h"
#include "container/wire/host_reader.h"
#include "container/wire/outcome_text.h"
#include "container/wire/request_text.h"
#include "engine/core/text.h"
#include "tests/fuzz/invariant.h"

namespace belljar {
namespace {

using Json = nlohmann::json;
using Stage = GuestReader::Stage;

constexpr struct {
  char letter;
  FrameKind kind;
} kKinds[] = {{'h', FrameKind::kHello},          {'y', FrameKind::kReady},
              {'r', FrameKind::kRequest},        {'c', FrameKind::kContent},
              {'o', FrameKind::kStandardOutput}, {'e', FrameKind::kStandardError},
              {'x', FrameKind::kCancel},         {'O', FrameKind::kOutcome},
              {'f', FrameKind::kFailure},        {'d', FrameKind::kDoorData}};

std::string Frames(std::string_view input) {
  std::string bytes;
  for (const std::string& piece : Cut(input)) {
    const std::string_view payload =
        std::string_view(piece).substr(std::min<size_t>(1, piece.size()));
    const auto* kind = std::ranges::find(kKinds, piece.empty() ? '*' : piece[0],
                                         [](const auto& entry) { return entry.letter; });
    if (kind != std::end(kKinds)) bytes += EncodeFrameHeader(kind->kind, payload.size());
    bytes += payload;
  }
  return bytes;
}

OutcomeBounds Bounds() {
  OutcomeBounds bounds{.limits = {}, .has_workspace = true, .displays = Bytes{64}};
  bounds.limits.output = Bytes{64};
  return bounds;
}

// As in the corpus; a fuzz build embeds no Python, and has no version of one.
Hello Expected() {
  return {kContainerProtocol, "0.1.0", "3.11.2", "basic", "standard", "restricted"};
}

void JudgeArtifacts(const Outcome& outcome) {
  uint64_t displays = 0;
  for (const Artifact& artifact : outcome.artifacts) {
    Require(!artifact.content || artifact.content->size() == artifact.size, "of another size");
    if (artifact.origin == Artifact::Origin::kDisplay) displays += artifact.size;
    const std::string& name = artifact.name;
    Require(!name.empty() && name[0] != '/' && Printable(name) == name, "a name", name);
    Require(name != ".." && name.find("../") == name.npos && !name.ends_with("/.."),
            "a name that leads out", name);
  }
  Require(displays <= 64, "more is displayed than the profile allows");
}

// Written and read again, it is the same.
void JudgeOutcome(const Outcome& outcome) {
  const std::string shown = OutcomeToJson(outcome);
  Require(Json::accept(shown), "not valid JSON", shown);
  JudgeArtifacts(outcome);
  Outcome again;
  again.limits = outcome.limits;
  again.stdout_stream.text = outcome.stdout_stream.text;
  again.stderr_stream.text = outcome.stderr_stream.text;
  Content content;
  const std::string text = OutcomeToText(outcome);
  Require(ReadOutcomeText(text, Bounds(), again, content).ok(), "not read again", text);
  for (const std::string_view part : OutcomeContent(outcome)) {
    Require(content.Take(part), "content is not what was announced", text);
  }
  FinishOutcome(again);
  Require(OutcomeToJson(again) == shown, "another outcome", text);
}

// What came of it, as text. `running`: of a guest that has greeted and has its request.
std::string ReadGuest(std::string_view bytes, size_t piece, bool running) {
  GuestReader reader(Expected());
  if (running) {
    const std::string hello = HelloToText(Expected());
    Require(reader
                .Take(EncodeFrameHeader(FrameKind::kHello, hello.size()) + hello +
                      EncodeFrameHeader(FrameKind::kReady, 0))
                .ok(),
            "its own greeting");
    reader.Expect(Bounds());
  }
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const bool taken = reader.Take(bytes.substr(at, piece)).ok();
    const Outcome& outcome = reader.outcome();
    Require(outcome.stdout_stream.text.size() <= 64 && outcome.stderr_stream.text.size() <= 64,
            "more output than the limit");
    if (!taken) return "fault";
  }
  if (reader.stage() != Stage::kEnded) return "more";
  Require(!reader.Take("B").ok(), "bytes after the end");
  if (reader.failure()) {
    const std::string error = reader.failure()->ToString();
    Require(Printable(error) == error, "a failure with control characters", error);
    return error;
  }
  JudgeOutcome(reader.outcome());
  return OutcomeToJson(reader.outcome());
}

std::string ReadHost(std::string_view bytes, size_t piece) {
  HostReader reader;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    if (!reader.Take(bytes.substr(at, piece))) return "fault";
  }
  if (!reader.has_request()) return "more";
  const bool cancelled = reader.cancelled();
  const Request request = reader.TakeRequest();
  const Result<std::string> text = RequestToText(request);
  Require(text.ok(), "a request that was read cannot be written");
  std::string shown = *text + (cancelled ? " cancelled" : "");
  for (const std::string_view part : RequestContent(request)) shown += part;
  return shown;
}

void Try(std::string_view input) {
  const std::string bytes = Frames(input);
  const size_t whole = bytes.size() + 1;
  for (const bool running : {false, true}) {
    Require(ReadGuest(bytes, 7, running) == ReadGuest(bytes, whole, running),
            "another reading of a guest in other pieces");
  }
  Require(ReadHost(bytes, 7) == ReadHost(bytes, whole), "another reading of a host");
}

}  // namespace
}  // namespace belljar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  belljar::Try({reinterpret_cast<const char*>(data), size});
  return 0;
}
