#include "container/inside/host_reader.h"

#include <cstdlib>
#include <utility>

#include "container/wire/request_text.h"
#include "engine/outside/function_calls.h"

namespace belljar::container::inside {
namespace {

// No frame of this kind is allowed here.
constexpr size_t kNone = static_cast<size_t>(-1);

core::Error Fault(const std::string& what) { return core::MakeError("read from the host", what); }

}  // namespace

size_t HostReader::MaxLength(wire::FrameKind kind) const {
  switch (stage_) {
    case Stage::kWaiting: return kind == wire::FrameKind::kRequest ? wire::kMaxRequestText : kNone;
    case Stage::kContent: return kind == wire::FrameKind::kContent ? wire::kFramePiece : kNone;
    case Stage::kRunning:
      if (kind == wire::FrameKind::kCancel) return 0;
      if (kind == wire::FrameKind::kAnswer)
        return max_answer_length_ > 0 ? max_answer_length_ : kNone;
      [[fallthrough]];
    case Stage::kCancelled: return egress_ ? wire::MaxEgressFrame(kind).value_or(kNone) : kNone;
  }
  abort();
}

core::Result<void> HostReader::Take(std::string_view bytes) {
  frames_.Feed(bytes);
  while (const std::optional<wire::FrameHeader> header = frames_.Header()) {
    const size_t max_length = MaxLength(header->kind);
    if (max_length == kNone) return Fault(wire::FrameName(header->kind) + " is not allowed here");
    if (header->length > max_length) return Fault(wire::FrameName(header->kind) + " is too long");
    std::optional<wire::Frame> frame = frames_.Next();
    if (!frame) return {};
    if (core::Result<void> taken = TakeFrame(std::move(*frame)); !taken) return taken;
  }
  if (frames_.faulty()) return Fault("a frame header was expected");
  return {};
}

core::Result<void> HostReader::TakeFrame(wire::Frame frame) {
  if (frame.kind == wire::FrameKind::kCancel) {
    stage_ = Stage::kCancelled;
    return {};
  }
  if (wire::MaxEgressFrame(frame.kind)) return egress_(frame);
  if (frame.kind == wire::FrameKind::kAnswer) {
    if (frame.payload.empty()) return Fault("answer without data");
    return answers_(std::move(frame.payload));
  }
  if (frame.kind == wire::FrameKind::kRequest) {
    core::Result<void> read =
        wire::ReadRequestText(frame.payload, request_, egress_bounds_, content_);
    if (!read) return read;
    if (answers_ && !request_.functions.empty()) {
      max_answer_length_ = outside::FunctionCalls::MaxAnswer(request_.limits);
    }
  } else if (frame.payload.empty() || !content_.Take(frame.payload)) {
    return Fault("content is not what was announced");
  }
  stage_ = content_.left() > 0 ? Stage::kContent : Stage::kRunning;
  return {};
}

}  // namespace belljar::container::inside
