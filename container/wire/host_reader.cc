#include "container/wire/host_reader.h"

#include <cstdlib>
#include <utility>

#include "container/wire/request_text.h"
#include "engine/outside/function_calls.h"

namespace belljar {
namespace {

// No frame of this kind has a place here.
constexpr size_t kNone = static_cast<size_t>(-1);

Error Fault(const std::string& what) { return MakeError("read from the host", what); }

}  // namespace

size_t HostReader::Longest(FrameKind kind) const {
  switch (stage_) {
    case Stage::kWaiting: return kind == FrameKind::kRequest ? kMaxRequestText : kNone;
    case Stage::kContent: return kind == FrameKind::kContent ? kFramePiece : kNone;
    case Stage::kRunning:
      if (kind == FrameKind::kCancel) return 0;
      if (kind == FrameKind::kAnswer) return longest_answer_ > 0 ? longest_answer_ : kNone;
      [[fallthrough]];
    case Stage::kCancelled: return door_ ? LongestDoorFrame(kind).value_or(kNone) : kNone;
  }
  abort();
}

Result<void> HostReader::Take(std::string_view bytes) {
  frames_.Feed(bytes);
  while (const std::optional<FrameHeader> header = frames_.Header()) {
    const size_t longest = Longest(header->kind);
    if (longest == kNone) return Fault(FrameName(header->kind) + " has no place here");
    if (header->length > longest) return Fault(FrameName(header->kind) + " is too long");
    std::optional<Frame> frame = frames_.Next();
    if (!frame) return {};
    if (Result<void> taken = TakeFrame(std::move(*frame)); !taken) return taken;
  }
  if (frames_.faulty()) return Fault("no frame stands where one should");
  return {};
}

Result<void> HostReader::TakeFrame(Frame frame) {
  if (frame.kind == FrameKind::kCancel) {
    stage_ = Stage::kCancelled;
    return {};
  }
  if (LongestDoorFrame(frame.kind)) return door_(frame);
  if (frame.kind == FrameKind::kAnswer) {
    if (frame.payload.empty()) return Fault("answer of no bytes");
    return answers_(std::move(frame.payload));
  }
  if (frame.kind == FrameKind::kRequest) {
    Result<void> read = ReadRequestText(frame.payload, request_, door_bounds_, content_);
    if (!read) return read;
    if (answers_ && !request_.functions.empty()) {
      longest_answer_ = FunctionCalls::LongestAnswer(request_.limits);
    }
  } else if (frame.payload.empty() || !content_.Take(frame.payload)) {
    return Fault("content is not what was announced");
  }
  stage_ = content_.left() > 0 ? Stage::kContent : Stage::kRunning;
  return {};
}

}  // namespace belljar
