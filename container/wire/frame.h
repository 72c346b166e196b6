// Frames: what goes over the channel between the host and the guest, the Belljar in a container.
//
//   guest ──hello────────────────▶ host    at once: which protocol, which Belljar, which profile
//   guest ──ready────────────────▶ host    a sealed worker waits
//   guest ◀──request, content …─── host    once
//   guest ──output …─────────────▶ host    while it runs; all of it, before the outcome
//   guest ──call ────────────────▶ host    while it runs, where the request has functions: one of
//                                          them is called, and the program waits
//   guest ◀──answer ────────────── host    what it answered; before it there is no other call
//   guest ◀──cancel─────────────── host    at most once
//   guest ──outcome, content …───▶ host    once, and nothing after it
//   guest ──failure──────────────▶ host    in place of any of the guest's: what its machine could
//                                          not do; nothing after it
//
// A frame is a header of twelve bytes (magic, kind, length: 32 bits each, little-endian) and as
// many bytes as its length says. Texts are JSON, and so is an answer; a call is the length of the
// function's name, its name, and its arguments as JSON. A request and an outcome say how many bytes
// of content follow, and whose they are; content frames carry exactly those, in that order, each at
// least one.
//
// To the host every byte is hostile, from the first: whoever broke out of the worker speaks here.
// A frame that the present stage has no place for, or one longer than that stage allows, is refused
// by its header, before anything is kept of it (GuestReader). No frame may be empty that could come
// without end. What the host keeps is bounded by the request's limits.
//
// The egress proxy of a profile with a network (egress_ledger.h): streams, while the request runs,
// where the host has allowed any with it. The guest's listener stays in the container, the proxy
// (engine/egress) on the host:
//
//   guest ──egress open {stream}──────────▶ host    the worker has connected to its door
//   both  ──egress data {stream, bytes}───▶ both    at most as much as the peer has granted
//   both  ──egress window {stream, count}─▶ both    grants more: so much has gone on
//   both  ──egress close {stream, ways}───▶ both    bits: 1, it sends no more; 2, it takes no more
//
// Numbers are 32 bits, little-endian; the ways one byte. Streams are numbered by the guest, from 1,
// each number once; the first that is out of turn is a fault. A stream begins with a window of
// 256 KiB in both directions, so one that nobody reads holds that much and delays no other; the
// frames of all streams share the channel, of 32 KiB each, and output, outcome and cancel go
// between them. It is over when both sides have closed both of its ways, as shutdown(2) does, and
// counts until then. What may be open at a time, and in all, comes with the request. To the proxy a
// stream is one end of a socket pair, taken for an accepted connection; what it allows, counts and
// records it does there, on the host, where no guest reaches it. An outcome ends every stream.
#ifndef BELLJAR_CONTAINER_WIRE_FRAME_H_
#define BELLJAR_CONTAINER_WIRE_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace belljar::container::wire {

inline constexpr uint32_t kContainerProtocol = 4;

enum class FrameKind : uint32_t {
  kHello = 1,
  kReady = 2,
  kRequest = 3,
  kContent = 4,
  kStandardOutput = 5,
  kStandardError = 6,
  kCancel = 7,
  kOutcome = 8,
  kFailure = 9,
  kCall = 10,
  kAnswer = 11,
  kEgressOpen = 16,
  kEgressData = 17,
  kEgressWindow = 18,
  kEgressClose = 19,
};
// "outcome"; of a number that is no kind "kind 77".
std::string FrameName(FrameKind kind);

inline constexpr size_t kFrameHeaderSize = 12;
// The most that goes into one frame of output or of content.
inline constexpr size_t kFramePiece = 64 * 1024;

struct FrameHeader {
  FrameKind kind = FrameKind::kHello;  // any number, in one that was received
  uint32_t length = 0;
};

struct Frame {
  FrameKind kind = FrameKind::kHello;
  std::string payload;
};

// Numbers as they stand in frames. Precondition of NumberAt: there are four bytes.
void AppendNumber(std::string& bytes, uint32_t number);
uint32_t NumberAt(std::string_view bytes, size_t at);

// Precondition: `length` fits.
std::string EncodeFrameHeader(FrameKind kind, size_t length);

// Bytes as they arrive, into frames. Keeps what has arrived and nothing for what is announced.
//
//   frames.Feed(bytes);
//   while (auto header = frames.Header()) {            the judge's chance to refuse it
//     std::optional<Frame> frame = frames.Next();
//     if (!frame) break;                               not all of it is here yet
//   }
class FrameDecoder {
 public:
  void Feed(std::string_view bytes) { buffer_ += bytes; }

  // Of the frame that has begun to arrive; nullopt: fewer bytes than a header, or no frame
  // (faulty).
  std::optional<FrameHeader> Header() const;
  // Taken out; nullopt: not all of it has arrived.
  std::optional<Frame> Next();
  // What stands there is no frame, and nothing after it can be read either.
  bool faulty() const;
  bool empty() const { return buffer_.size() == start_; }

 private:
  std::string_view Waiting() const { return std::string_view(buffer_).substr(start_); }

  std::string buffer_;
  size_t start_ = 0;  // what lies before it has been taken
};

}  // namespace belljar::container::wire

#endif  // BELLJAR_CONTAINER_WIRE_FRAME_H_
