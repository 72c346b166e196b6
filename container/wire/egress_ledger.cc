#include "container/wire/egress_ledger.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace belljar::container::wire {
namespace {

constexpr size_t kNumberSize = 4;
// Grants are sent per quarter of a window: the peer never has to wait, and not every data frame is
// answered by a window frame.
constexpr size_t kGrantThreshold = kEgressWindow / 4;

core::Error Fault(FrameKind kind, const std::string& what) {
  return core::MakeError("read from a container's egress proxy", FrameName(kind) + " " + what);
}

void AppendFrame(std::string& frames, FrameKind kind, uint32_t stream, std::string_view rest = {}) {
  frames += EncodeFrameHeader(kind, kNumberSize + rest.size());
  AppendNumber(frames, stream);
  frames += rest;
}

// Passed bytes are dropped if that is all of them, or enough to be worth moving the rest.
void DropPassed(EgressStream& stream) {
  if (stream.passed < stream.arrived.size() && stream.passed < kEgressWindow / 2) return;
  stream.arrived.erase(0, std::exchange(stream.passed, 0));
}

}  // namespace

std::optional<size_t> MaxEgressFrame(FrameKind kind) {
  switch (kind) {
    case FrameKind::kEgressOpen: return kNumberSize;
    case FrameKind::kEgressData: return kNumberSize + kEgressPiece;
    case FrameKind::kEgressWindow: return kNumberSize + kNumberSize;
    case FrameKind::kEgressClose: return kNumberSize + 1;
    default: return std::nullopt;
  }
}

// --- frames from the peer -----------------------------------------------------------------------

core::Result<void> EgressLedger::Take(const Frame& frame) {
  const FrameKind kind = frame.kind;
  const std::optional<size_t> max_length = MaxEgressFrame(kind);
  const bool is_whole = kind == FrameKind::kEgressData ? frame.payload.size() > kNumberSize
                                                       : frame.payload.size() == max_length;
  if (!max_length || !is_whole || frame.payload.size() > *max_length) {
    return Fault(kind, "with an invalid length");
  }
  const uint32_t number = NumberAt(frame.payload, 0);
  if (kind == FrameKind::kEgressOpen) return TakeOpen(number);
  const Place place = streams_.find(number);
  if (place == streams_.end()) return Fault(kind, "for an unknown stream");
  const std::string_view rest = std::string_view(frame.payload).substr(kNumberSize);
  if (kind == FrameKind::kEgressData) return TakeData(place->second, rest);
  if (kind == FrameKind::kEgressWindow) return TakeWindow(place->second, NumberAt(rest, 0));
  return TakeClose(place, static_cast<uint8_t>(rest[0]));
}

core::Result<void> EgressLedger::TakeOpen(uint32_t number) {
  if (side_ == Side::kGuest) return Fault(FrameKind::kEgressOpen, "may only be sent by the guest");
  if (number != last_ + 1) return Fault(FrameKind::kEgressOpen, "is out of order");
  if (!may_open()) return Fault(FrameKind::kEgressOpen, "with too many streams");
  last_ = number;
  streams_.emplace(number, EgressStream());
  opened_.push_back(number);
  return {};
}

core::Result<void> EgressLedger::TakeData(EgressStream& stream, std::string_view bytes) {
  if (!stream.peer_sends()) return Fault(FrameKind::kEgressData, "after it was closed");
  if (bytes.size() > stream.may_come) return Fault(FrameKind::kEgressData, "beyond its window");
  stream.may_come -= bytes.size();
  // Sent before the peer knew that we take no more: discarded, and never granted again.
  if (stream.takes()) stream.arrived += bytes;
  return {};
}

core::Result<void> EgressLedger::TakeWindow(EgressStream& stream, size_t count) {
  if (!stream.peer_takes()) return Fault(FrameKind::kEgressWindow, "after it was closed");
  if (count == 0) return Fault(FrameKind::kEgressWindow, "without data");
  if (count > kEgressWindow - stream.may_send) {
    return Fault(FrameKind::kEgressWindow, "for more than was sent");
  }
  stream.may_send += count;
  return {};
}

core::Result<void> EgressLedger::TakeClose(Place place, uint8_t ways) {
  EgressStream& stream = place->second;
  if (ways == 0 || (ways & ~kBothDirections) != 0)
    return Fault(FrameKind::kEgressClose, "without a direction");
  if ((stream.peer_closed & ways) != 0)
    return Fault(FrameKind::kEgressClose, "after it was closed");
  stream.peer_closed |= ways;
  RemoveIfOver(place);
  return {};
}

void EgressLedger::RemoveIfOver(Place place) {
  const EgressStream& stream = place->second;
  if (stream.closed == kBothDirections && stream.peer_closed == kBothDirections)
    streams_.erase(place);
}

// --- our own frames -----------------------------------------------------------------------------

uint32_t EgressLedger::Open(std::string& frames) {
  if (side_ != Side::kGuest || !may_open()) abort();
  streams_.emplace(++last_, EgressStream());
  AppendFrame(frames, FrameKind::kEgressOpen, last_);
  return last_;
}

void EgressLedger::Send(uint32_t number, std::string_view bytes, std::string& frames) {
  EgressStream& stream = streams_.at(number);
  if (!stream.sends() || bytes.empty() || bytes.size() > std::min(stream.may_send, kEgressPiece)) {
    abort();
  }
  stream.may_send -= bytes.size();
  AppendFrame(frames, FrameKind::kEgressData, number, bytes);
}

void EgressLedger::Pass(uint32_t number, size_t count, std::string& frames) {
  EgressStream& stream = streams_.at(number);
  if (count > stream.Waiting().size()) abort();
  stream.passed += count;
  DropPassed(stream);
  stream.ungranted += count;
  // A peer that sends no more needs no grants.
  if (stream.ungranted < kGrantThreshold || !stream.peer_sends()) return;
  const size_t granted = std::exchange(stream.ungranted, 0);
  stream.may_come += granted;
  std::string text;
  AppendNumber(text, static_cast<uint32_t>(granted));
  AppendFrame(frames, FrameKind::kEgressWindow, number, text);
}

void EgressLedger::Close(uint32_t number, uint8_t ways, std::string& frames) {
  const Place place = streams_.find(number);
  if (place == streams_.end()) abort();
  EgressStream& stream = place->second;
  ways &= static_cast<uint8_t>(~stream.closed);
  if (ways == 0) return;
  stream.closed |= ways;
  if (!stream.takes()) {
    stream.arrived = {};
    stream.passed = 0;
  }
  const char text = static_cast<char>(ways);
  AppendFrame(frames, FrameKind::kEgressClose, number, {&text, 1});
  RemoveIfOver(place);
}

}  // namespace belljar::container::wire
