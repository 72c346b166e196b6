#include "container/backend/guest_reader.h"

#include <cstdlib>
#include <utility>

#include "container/wire/egress_ledger.h"

namespace belljar::container::backend {
namespace {

// No frame of this kind is allowed here.
constexpr size_t kNone = static_cast<size_t>(-1);

core::Error Fault(const std::string& what) {
  return core::MakeError("read from a container", what);
}

}  // namespace

void GuestReader::Expect(wire::OutcomeBounds bounds, EgressFrames egress,
                         const outside::FunctionCalls* calls) {
  bounds_ = std::move(bounds);
  egress_ = std::move(egress);
  calls_ = calls;
  expects_ = true;
  if (stage_ == Stage::kWaiting) stage_ = Stage::kRunning;
}

size_t GuestReader::MaxLength(wire::FrameKind kind) const {
  if (kind == wire::FrameKind::kFailure && stage_ < Stage::kContent) return wire::kMaxGreeting;
  switch (stage_) {
    case Stage::kGreeting: return kind == wire::FrameKind::kHello ? wire::kMaxGreeting : kNone;
    case Stage::kPreparing: return kind == wire::FrameKind::kReady ? 0 : kNone;
    case Stage::kRunning:
      if (kind == wire::FrameKind::kOutcome) return wire::MaxOutcomeText(bounds_);
      if (kind == wire::FrameKind::kCall) {
        const bool may_call = calls_ && calls_->any() && !is_called_;
        return may_call ? sizeof(uint32_t) + outside::FunctionCalls::MaxCall(bounds_.limits)
                        : kNone;
      }
      if (const auto max_length = wire::MaxEgressFrame(kind)) return egress_ ? *max_length : kNone;
      return kind == wire::FrameKind::kStandardOutput || kind == wire::FrameKind::kStandardError
                 ? wire::kFramePiece
                 : kNone;
    case Stage::kContent: return kind == wire::FrameKind::kContent ? wire::kFramePiece : kNone;
    case Stage::kWaiting:
    case Stage::kEnded: return kNone;
  }
  abort();
}

core::Result<void> GuestReader::Take(std::string_view bytes) {
  frames_.Feed(bytes);
  while (const std::optional<wire::FrameHeader> header = frames_.Header()) {
    const size_t max_length = MaxLength(header->kind);
    if (max_length == kNone) return Fault(wire::FrameName(header->kind) + " is not allowed here");
    if (header->length > max_length) return Fault(wire::FrameName(header->kind) + " is too long");
    const std::optional<wire::Frame> frame = frames_.Next();
    if (!frame) return {};
    if (core::Result<void> taken = TakeFrame(*frame); !taken) return taken;
  }
  if (frames_.faulty()) return Fault("a frame header was expected");
  if (stage_ == Stage::kEnded && !frames_.empty()) return Fault("bytes after the end");
  return {};
}

core::Result<void> GuestReader::TakeFrame(const wire::Frame& frame) {
  switch (frame.kind) {
    case wire::FrameKind::kHello: {
      core::Result<wire::Hello> hello = wire::ReadHello(frame.payload);
      if (!hello) return hello.error();
      if (core::Result<void> checked = wire::CheckHello(*hello, expected_); !checked)
        return checked;
      stage_ = Stage::kPreparing;
      return {};
    }
    case wire::FrameKind::kReady: stage_ = expects_ ? Stage::kRunning : Stage::kWaiting; return {};
    case wire::FrameKind::kStandardOutput: return TakeOutput(frame, outcome_.stdout_stream.text);
    case wire::FrameKind::kStandardError: return TakeOutput(frame, outcome_.stderr_stream.text);
    case wire::FrameKind::kOutcome: return TakeOutcome(frame.payload);
    case wire::FrameKind::kCall: return ReadCall(frame.payload);
    case wire::FrameKind::kContent:
      if (frame.payload.empty() || !content_.Take(frame.payload)) {
        return Fault("content is not what was announced");
      }
      EndWhenComplete();
      return {};
    case wire::FrameKind::kFailure:
      failure_ = wire::ReadFailure(frame.payload);
      stage_ = Stage::kEnded;
      return {};
    case wire::FrameKind::kEgressOpen:
    case wire::FrameKind::kEgressData:
    case wire::FrameKind::kEgressWindow:
    case wire::FrameKind::kEgressClose: return egress_(frame);
    default: return Fault(wire::FrameName(frame.kind) + " is not allowed here");
  }
}

core::Result<void> GuestReader::TakeOutput(const wire::Frame& frame, std::string& text) {
  if (frame.payload.empty()) return Fault(wire::FrameName(frame.kind) + " without data");
  if (frame.payload.size() > bounds_.limits.output.count - text.size()) {
    return Fault(wire::FrameName(frame.kind) + " beyond its limit");
  }
  text += frame.payload;
  return {};
}

core::Result<void> GuestReader::TakeOutcome(std::string_view text) {
  // Parsed separately, so that a refused outcome leaves nothing.
  host::Outcome read;
  read.limits = bounds_.limits;
  wire::Content content;
  if (core::Result<void> done = wire::ReadOutcomeText(text, bounds_, read, content); !done)
    return done;
  read.stdout_stream.text = std::move(outcome_.stdout_stream.text);
  read.stderr_stream.text = std::move(outcome_.stderr_stream.text);
  outcome_ =
      std::move(read);  // the pointers to the content's destinations stay valid after the move
  content_ = std::move(content);
  stage_ = Stage::kContent;
  EndWhenComplete();
  return {};
}

core::Result<void> GuestReader::ReadCall(std::string_view payload) {
  if (payload.size() < sizeof(uint32_t)) return Fault("a call without a function name");
  const size_t name_size = wire::NumberAt(payload, 0);
  payload.remove_prefix(sizeof(uint32_t));
  if (name_size > payload.size() || !calls_->MayBe(name_size, payload.size() - name_size)) {
    return Fault("a malformed call");
  }
  const std::string_view name = payload.substr(0, name_size);
  if (!calls_->Has(name)) return Fault("a call of a function that the request does not offer");
  call_ = Call{std::string(name), std::string(payload.substr(name_size))};
  is_called_ = true;
  return {};
}

void GuestReader::EndWhenComplete() {
  if (content_.left() > 0) return;
  wire::FinishOutcome(outcome_);
  stage_ = Stage::kEnded;
}

}  // namespace belljar::container::backend
