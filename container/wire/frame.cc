#include "container/wire/frame.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace belljar::container::wire {
namespace {

constexpr uint32_t kMagic = 0x464a4c42;  // "BLJF" in byte order
// Consumed frames are dropped from the buffer once they reach this many bytes.
constexpr size_t kDropAt = 1024 * 1024;

}  // namespace

void AppendNumber(std::string& bytes, uint32_t number) {
  for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift);
}

uint32_t NumberAt(std::string_view bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) {
    number |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return number;
}

std::string FrameName(FrameKind kind) {
  switch (kind) {
    case FrameKind::kHello: return "hello";
    case FrameKind::kReady: return "ready";
    case FrameKind::kRequest: return "request";
    case FrameKind::kContent: return "content";
    case FrameKind::kStandardOutput: return "standard output";
    case FrameKind::kStandardError: return "standard error";
    case FrameKind::kCancel: return "cancel";
    case FrameKind::kOutcome: return "outcome";
    case FrameKind::kFailure: return "failure";
    case FrameKind::kCall: return "call";
    case FrameKind::kAnswer: return "answer";
    case FrameKind::kSession: return "session";
    case FrameKind::kInquiry: return "inquiry";
    case FrameKind::kReply: return "reply";
    case FrameKind::kEnd: return "end";
    case FrameKind::kEgressOpen: return "egress open";
    case FrameKind::kEgressData: return "egress data";
    case FrameKind::kEgressWindow: return "egress window";
    case FrameKind::kEgressClose: return "egress close";
  }
  return "kind " + std::to_string(static_cast<uint32_t>(kind));
}

std::string EncodeFrameHeader(FrameKind kind, size_t length) {
  if (length > std::numeric_limits<uint32_t>::max()) abort();
  std::string header;
  AppendNumber(header, kMagic);
  AppendNumber(header, static_cast<uint32_t>(kind));
  AppendNumber(header, static_cast<uint32_t>(length));
  return header;
}

bool FrameDecoder::faulty() const {
  const std::string_view waiting = Waiting();
  std::string magic;
  AppendNumber(magic, kMagic);
  const size_t seen = std::min(waiting.size(), magic.size());
  return waiting.substr(0, seen) != magic.substr(0, seen);
}

std::optional<FrameHeader> FrameDecoder::Header() const {
  const std::string_view waiting = Waiting();
  if (waiting.size() < kFrameHeaderSize || faulty()) return std::nullopt;
  return FrameHeader{static_cast<FrameKind>(NumberAt(waiting, 4)), NumberAt(waiting, 8)};
}

std::optional<Frame> FrameDecoder::Next() {
  const std::optional<FrameHeader> header = Header();
  if (!header || Waiting().size() - kFrameHeaderSize < header->length) return std::nullopt;
  Frame frame{header->kind, std::string(Waiting().substr(kFrameHeaderSize, header->length))};
  start_ += kFrameHeaderSize + header->length;
  if (start_ == buffer_.size() || start_ >= kDropAt) {
    buffer_.erase(0, start_);
    start_ = 0;
  }
  return frame;
}

}  // namespace belljar::container::wire
