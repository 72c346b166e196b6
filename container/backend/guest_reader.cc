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
                         const run::FunctionCalls* calls) {
  bounds_ = std::move(bounds);
  egress_ = std::move(egress);
  calls_ = calls;
  call_.reset();
  is_called_ = false;
  outcome_ = {};
  has_outcome_ = false;
  expects_ = true;
  if (stage_ == Stage::kWaiting) stage_ = Stage::kRunning;
}

void GuestReader::ExpectSession() {
  is_session_ = true;
  stage_ = Stage::kSettling;
}

void GuestReader::ExpectReply(wire::ReplyBounds bounds) {
  reply_bounds_ = bounds;
  reply_ = {};
  has_reply_ = false;
  stage_ = Stage::kReplying;
}

size_t GuestReader::MaxLength(wire::FrameKind kind) const {
  const bool may_fail =
      stage_ < Stage::kContent || stage_ == Stage::kReplying || stage_ == Stage::kSettling;
  if (kind == wire::FrameKind::kFailure && may_fail) return wire::kMaxGreeting;
  switch (stage_) {
    case Stage::kGreeting: return kind == wire::FrameKind::kHello ? wire::kMaxGreeting : kNone;
    case Stage::kPreparing: return kind == wire::FrameKind::kReady ? 0 : kNone;
    case Stage::kRunning:
      if (kind == wire::FrameKind::kOutcome) return wire::MaxOutcomeText(bounds_);
      if (kind == wire::FrameKind::kCall) {
        const bool may_call = calls_ && calls_->any() && !is_called_;
        return may_call ? sizeof(uint32_t) + run::FunctionCalls::MaxCall(bounds_.limits) : kNone;
      }
      if (const auto max_length = wire::MaxEgressFrame(kind)) return egress_ ? *max_length : kNone;
      return kind == wire::FrameKind::kStandardOutput || kind == wire::FrameKind::kStandardError
                 ? wire::kFramePiece
                 : kNone;
    case Stage::kContent:
    case Stage::kReplyContent: return kind == wire::FrameKind::kContent ? wire::kFramePiece : kNone;
    case Stage::kReplying: return kind == wire::FrameKind::kReply ? wire::kMaxReplyText : kNone;
    case Stage::kSettling:
      return kind == wire::FrameKind::kReady || kind == wire::FrameKind::kEnd ? 0 : kNone;
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
    case wire::FrameKind::kReady:
      stage_ = expects_ && !is_session_ ? Stage::kRunning : Stage::kWaiting;
      return {};
    case wire::FrameKind::kEnd: stage_ = Stage::kEnded; return {};
    case wire::FrameKind::kReply: return TakeReply(frame.payload);
    case wire::FrameKind::kStandardOutput: return TakeOutput(frame, outcome_.stdout_stream.text);
    case wire::FrameKind::kStandardError: return TakeOutput(frame, outcome_.stderr_stream.text);
    case wire::FrameKind::kOutcome: return TakeOutcome(frame.payload);
    case wire::FrameKind::kCall: return ReadCall(frame.payload);
    case wire::FrameKind::kContent:
      if (frame.payload.empty() || !content_.Take(frame.payload)) {
        return Fault("content is not what was announced");
      }
      return EndWhenComplete();
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
  return EndWhenComplete();
}

core::Result<void> GuestReader::TakeReply(std::string_view text) {
  content_ = {};
  core::Result<void> read = wire::ReadReplyText(text, reply_bounds_, reply_, content_);
  if (!read) return read;
  stage_ = Stage::kReplyContent;
  return EndWhenComplete();
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

core::Result<void> GuestReader::EndWhenComplete() {
  if (content_.left() > 0) return {};
  if (stage_ == Stage::kReplyContent) {
    if (core::Result<void> done = wire::FinishReply(reply_bounds_, reply_); !done) return done;
    has_reply_ = true;
  } else {
    wire::FinishOutcome(outcome_);
    has_outcome_ = true;
  }
  stage_ = is_session_ ? Stage::kSettling : Stage::kEnded;
  return {};
}

}  // namespace belljar::container::backend
