#include "container/inside/host_reader.h"

#include <cstdlib>
#include <utility>

#include "container/wire/request_text.h"
#include "engine/run/function_calls.h"

namespace belljar::container::inside {
namespace {

// No frame of this kind is allowed here.
constexpr size_t kNone = static_cast<size_t>(-1);

core::Error Fault(const std::string& what) { return core::MakeError("read from the host", what); }

}  // namespace

size_t HostReader::MaxOrder(wire::FrameKind kind) const {
  if (kind == wire::FrameKind::kRequest) return wire::kMaxRequestText;
  if (kind == wire::FrameKind::kInquiry && is_session_) return wire::kMaxInquiryText;
  if (kind == wire::FrameKind::kSession && !is_session_) return wire::kMaxSessionText;
  return kNone;
}

size_t HostReader::MaxLength(wire::FrameKind kind) const {
  const size_t max_order = MaxOrder(kind);
  switch (stage_) {
    case Stage::kWaiting: return max_order;
    case Stage::kContent: return kind == wire::FrameKind::kContent ? wire::kFramePiece : kNone;
    case Stage::kRunning:
      if (is_session_ && max_order != kNone) return max_order;
      if (kind == wire::FrameKind::kCancel) return 0;
      if (kind == wire::FrameKind::kAnswer)
        return max_answer_length_ > 0 ? max_answer_length_ : kNone;
      return egress_ ? wire::MaxEgressFrame(kind).value_or(kNone) : kNone;
    case Stage::kCancelled:
      if (is_session_ && max_order != kNone) return max_order;
      return egress_ ? wire::MaxEgressFrame(kind).value_or(kNone) : kNone;
  }
  abort();
}

std::optional<HostReader::Order> HostReader::TakeOrder() {
  if (orders_.empty()) return std::nullopt;
  Order order = std::move(orders_.front());
  orders_.pop_front();
  return order;
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
  if (frame.kind != wire::FrameKind::kContent) {
    if (core::Result<void> read = ReadOrder(frame); !read) return read;
  } else if (frame.payload.empty() || !content_.Take(frame.payload)) {
    return Fault("content is not what was announced");
  }
  if (content_.left() > 0) {
    stage_ = Stage::kContent;
    return {};
  }
  stage_ = order_.kind == Order::Kind::kSession ? Stage::kWaiting : Stage::kRunning;
  orders_.push_back(std::exchange(order_, {}));
  return {};
}

core::Result<void> HostReader::ReadOrder(const wire::Frame& frame) {
  order_ = {};
  content_ = {};
  max_answer_length_ = 0;
  if (frame.kind == wire::FrameKind::kSession) {
    order_.kind = Order::Kind::kSession;
    core::Result<core::Limits> limits = wire::ReadSessionText(frame.payload);
    if (!limits) return limits.error();
    order_.limits = *limits;
    is_session_ = true;
    return {};
  }
  if (frame.kind == wire::FrameKind::kInquiry) {
    order_.kind = Order::Kind::kInquiry;
    return wire::ReadInquiryText(frame.payload, order_.inquiry, content_);
  }
  core::Result<void> read =
      wire::ReadRequestText(frame.payload, order_.request, order_.egress_bounds, content_);
  if (!read) return read;
  if (answers_ && !order_.request.functions.empty()) {
    max_answer_length_ = run::FunctionCalls::MaxAnswer(order_.request.limits);
  }
  return {};
}

}  // namespace belljar::container::inside
