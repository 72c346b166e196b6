// Frames: the protocol of the channel between the host and the guest, the Belljar in a container.
//
//   guest ──hello────────────────▶ host    at once: protocol, version of Belljar, profile
//   guest ──ready────────────────▶ host    a sealed worker is ready
//   guest ◀──request, content …─── host    once
//   guest ──output …─────────────▶ host    during the run; all of it before the outcome
//   guest ──call ────────────────▶ host    during the run, if the request has functions: calls one
//                                          of them; the program waits
//   guest ◀──answer ────────────── host    its answer; no other call before it
//   guest ◀──cancel─────────────── host    at most once
//   guest ──outcome, content …───▶ host    once, and nothing after it
//   guest ──failure──────────────▶ host    instead of any of the guest's frames: a failure of its
//                                          machine; nothing after it
//
// In place of the request the host can open a session, a persistent Python (session_text.h).
// Requests are then its cells, one after the other, each with its output, calls, cancel and outcome
// as above:
//
//   guest ◀──session ───────────── host    once
//   guest ──ready────────────────▶ host    it is open
//   guest ◀──request, content …─── host    a cell; or
//   guest ◀──inquiry, content …─── host    a question about names, or something about files
//   guest ──outcome, content …───▶ host    after a cell; or
//   guest ──reply, content …─────▶ host    after an inquiry
//   guest ──ready────────────────▶ host    then: the next may come; or
//   guest ──end──────────────────▶ host    the session has ended with it; nothing after it
//
// A cancel or an answer that crosses an outcome comes before the next request, and is void.
//
// A frame is a header of twelve bytes (magic, kind, length: 32 bits each, little-endian) and the
// payload of that length. Texts are JSON, and so is an answer; a call is the length of the
// function's name, its name, and its arguments as JSON. A request and an outcome announce how many
// bytes of content follow, and what they belong to; content frames carry exactly those, in that
// order, at least one byte each.
//
// To the host every byte is hostile, from the first: an attacker that broke out of the worker can
// send anything. A frame that is not allowed in the current stage, or is too long for it, is
// refused by its header, before anything is stored (GuestReader). Frames that may be repeated
// without limit must not be empty. What the host stores is bounded by the request's limits.
//
// The egress proxy of a profile with network access (egress_ledger.h) uses streams while the
// request runs, if the host has allowed any with it. The guest's listener stays in the container,
// the proxy (engine/egress) on the host:
//
//   guest ──egress open {stream}──────────▶ host    the worker has connected to its proxy
//   both  ──egress data {stream, bytes}───▶ both    at most as much as the peer has granted
//   both  ──egress window {stream, count}─▶ both    grants more: so much has been passed on
//   both  ──egress close {stream, ways}───▶ both    bits: 1, it sends no more; 2, it takes no more
//
// Numbers are 32 bits, little-endian; the ways one byte. Streams are numbered by the guest, from 1,
// each number once; the first number out of order is a fault. A stream begins with a window of 256
// KiB in both directions, so one that nobody reads holds that much and delays no other. The frames
// of all streams share the channel, with at most 32 KiB each, interleaved with output, outcome and
// cancel. A stream is over when both sides have closed both directions, as shutdown(2) does, and
// counts until then. The maximum of concurrent streams, and of all streams, comes with the request.
// To the proxy a stream is one end of a socket pair, treated as an accepted connection; checks,
// limits and records are all on the host, where no guest can reach them. An outcome ends every
// stream.
#ifndef BELLJAR_CONTAINER_WIRE_FRAME_H_
#define BELLJAR_CONTAINER_WIRE_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace belljar::container::wire {

inline constexpr uint32_t kContainerProtocol = 6;

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
  kSession = 12,
  kInquiry = 13,
  kReply = 14,
  kEnd = 15,
  kEgressOpen = 16,
  kEgressData = 17,
  kEgressWindow = 18,
  kEgressClose = 19,
};
// "outcome"; for an unknown kind "kind 77".
std::string FrameName(FrameKind kind);

inline constexpr size_t kFrameHeaderSize = 12;
// Maximum payload of an output or content frame.
inline constexpr size_t kFramePiece = 64 * 1024;

struct FrameHeader {
  FrameKind kind = FrameKind::kHello;  // can be any number in a received frame
  uint32_t length = 0;
};

struct Frame {
  FrameKind kind = FrameKind::kHello;
  std::string payload;
};

// Numbers in frames. Precondition of NumberAt: there are four bytes.
void AppendNumber(std::string& bytes, uint32_t number);
uint32_t NumberAt(std::string_view bytes, size_t at);

// Precondition: `length` fits.
std::string EncodeFrameHeader(FrameKind kind, size_t length);

// Decodes frames from received bytes. Stores what has arrived, and reserves nothing for what is
// announced.
//
//   frames.Feed(bytes);
//   while (auto header = frames.Header()) {            may be refused here
//     std::optional<Frame> frame = frames.Next();
//     if (!frame) break;                               incomplete
//   }
class FrameDecoder {
 public:
  void Feed(std::string_view bytes) { buffer_ += bytes; }

  // The header of the frame that has begun to arrive; nullopt: less than a header has arrived, or
  // it is not a frame (faulty).
  std::optional<FrameHeader> Header() const;
  // Removes and returns it; nullopt: incomplete.
  std::optional<Frame> Next();
  // The data is not a frame; nothing after it can be read.
  bool faulty() const;
  bool empty() const { return buffer_.size() == start_; }

 private:
  std::string_view Waiting() const { return std::string_view(buffer_).substr(start_); }

  std::string buffer_;
  size_t start_ = 0;  // everything before it has been consumed
};

}  // namespace belljar::container::wire

#endif  // BELLJAR_CONTAINER_WIRE_FRAME_H_
