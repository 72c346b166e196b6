#include "container/wire/guest_reader.h"

#include <cstdlib>
#include <utility>

#include "container/wire/door_ledger.h"

namespace belljar {
namespace {

// No frame of this kind has a place here.
constexpr size_t kNone = static_cast<size_t>(-1);

Error Fault(const std::string& what) { return MakeError("read from a container", what); }

}  // namespace

void GuestReader::Expect(OutcomeBounds bounds, DoorFrames door, const FunctionCalls* calls) {
  bounds_ = std::move(bounds);
  door_ = std::move(door);
  calls_ = calls;
  expects_ = true;
  if (stage_ == Stage::kWaiting) stage_ = Stage::kRunning;
}

size_t GuestReader::Longest(FrameKind kind) const {
  if (kind == FrameKind::kFailure && stage_ < Stage::kContent) return kMaxGreeting;
  switch (stage_) {
    case Stage::kGreeting: return kind == FrameKind::kHello ? kMaxGreeting : kNone;
    case Stage::kPreparing: return kind == FrameKind::kReady ? 0 : kNone;
    case Stage::kRunning:
      if (kind == FrameKind::kOutcome) return MaxOutcomeText(bounds_);
      if (kind == FrameKind::kCall) {
        const bool may_call = calls_ && calls_->any() && !is_called_;
        return may_call ? sizeof(uint32_t) + FunctionCalls::LongestCall(bounds_.limits) : kNone;
      }
      if (const auto longest = LongestDoorFrame(kind)) return door_ ? *longest : kNone;
      return kind == FrameKind::kStandardOutput || kind == FrameKind::kStandardError ? kFramePiece
                                                                                     : kNone;
    case Stage::kContent: return kind == FrameKind::kContent ? kFramePiece : kNone;
    case Stage::kWaiting:
    case Stage::kEnded: return kNone;
  }
  abort();
}

Result<void> GuestReader::Take(std::string_view bytes) {
  frames_.Feed(bytes);
  while (const std::optional<FrameHeader> header = frames_.Header()) {
    const size_t longest = Longest(header->kind);
    if (longest == kNone) return Fault(FrameName(header->kind) + " has no place here");
    if (header->length > longest) return Fault(FrameName(header->kind) + " is too long");
    const std::optional<Frame> frame = frames_.Next();
    if (!frame) return {};
    if (Result<void> taken = TakeFrame(*frame); !taken) return taken;
  }
  if (frames_.faulty()) return Fault("no frame stands where one should");
  if (stage_ == Stage::kEnded && !frames_.empty()) return Fault("bytes after the end");
  return {};
}

Result<void> GuestReader::TakeFrame(const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::kHello: {
      Result<Hello> hello = ReadHello(frame.payload);
      if (!hello) return hello.error();
      if (Result<void> checked = CheckHello(*hello, expected_); !checked) return checked;
      stage_ = Stage::kPreparing;
      return {};
    }
    case FrameKind::kReady: stage_ = expects_ ? Stage::kRunning : Stage::kWaiting; return {};
    case FrameKind::kStandardOutput: return TakeOutput(frame, outcome_.stdout_stream.text);
    case FrameKind::kStandardError: return TakeOutput(frame, outcome_.stderr_stream.text);
    case FrameKind::kOutcome: return TakeOutcome(frame.payload);
    case FrameKind::kCall: return ReadCall(frame.payload);
    case FrameKind::kContent:
      if (frame.payload.empty() || !content_.Take(frame.payload)) {
        return Fault("content is not what was announced");
      }
      EndWhenComplete();
      return {};
    case FrameKind::kFailure:
      failure_ = ReadFailure(frame.payload);
      stage_ = Stage::kEnded;
      return {};
    case FrameKind::kDoorOpen:
    case FrameKind::kDoorData:
    case FrameKind::kDoorWindow:
    case FrameKind::kDoorClose: return door_(frame);
    default: return Fault(FrameName(frame.kind) + " has no place here");
  }
}

Result<void> GuestReader::TakeOutput(const Frame& frame, std::string& text) {
  if (frame.payload.empty()) return Fault(FrameName(frame.kind) + " of no bytes");
  if (frame.payload.size() > bounds_.limits.output.count - text.size()) {
    return Fault(FrameName(frame.kind) + " past its limit");
  }
  text += frame.payload;
  return {};
}

Result<void> GuestReader::TakeOutcome(std::string_view text) {
  // Apart, so that a refused one leaves nothing.
  Outcome read;
  read.limits = bounds_.limits;
  Content content;
  if (Result<void> done = ReadOutcomeText(text, bounds_, read, content); !done) return done;
  read.stdout_stream.text = std::move(outcome_.stdout_stream.text);
  read.stderr_stream.text = std::move(outcome_.stderr_stream.text);
  outcome_ = std::move(read);  // what the content is for lies behind pointers that move along
  content_ = std::move(content);
  stage_ = Stage::kContent;
  EndWhenComplete();
  return {};
}

Result<void> GuestReader::ReadCall(std::string_view payload) {
  if (payload.size() < sizeof(uint32_t)) return Fault("call of no function");
  const size_t name_size = NumberAt(payload, 0);
  payload.remove_prefix(sizeof(uint32_t));
  if (name_size > payload.size() || !calls_->MayBe(name_size, payload.size() - name_size)) {
    return Fault("call of another form");
  }
  const std::string_view name = payload.substr(0, name_size);
  if (!calls_->Has(name)) return Fault("call of a function that the request does not have");
  call_ = Call{std::string(name), std::string(payload.substr(name_size))};
  is_called_ = true;
  return {};
}

void GuestReader::EndWhenComplete() {
  if (content_.left() > 0) return;
  FinishOutcome(outcome_);
  stage_ = Stage::kEnded;
}

}  // namespace belljar
