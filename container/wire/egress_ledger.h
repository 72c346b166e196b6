// EgressLedger: one side's state of the streams through a container's egress proxy, which also
// validates the peer's frames about them. Without descriptors and clock (EgressTraffic has those).
//
//   guest ──open {stream}──────────▶ host    the worker has connected to its proxy
//   both  ──data {stream, bytes}───▶ both    at most as much as the peer has granted
//   both  ──window {stream, count}─▶ both    grants that much more: it has been passed on
//   both  ──close {stream, ways}───▶ both    directions: it sends no more, it takes no more
//
// Each side closes each of its directions once. When both sides have closed both, the stream is
// over and its number invalid. So a stream counts as long as either side has a descriptor for it.
//
// To the host every frame is hostile. It stores at most one and a half windows per stream, for no
// more streams than it has allowed. Not thread-safe.
#ifndef BELLJAR_CONTAINER_WIRE_EGRESS_LEDGER_H_
#define BELLJAR_CONTAINER_WIRE_EGRESS_LEDGER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "container/wire/frame.h"
#include "engine/core/result.h"

namespace belljar::container::wire {

// Bytes that each side may send into a new stream; also the maximum in transit.
inline constexpr size_t kEgressWindow = 256 * 1024;
// Maximum size of a data frame.
inline constexpr size_t kEgressPiece = 32 * 1024;

// Set by the host; a guest keeps to it.
struct EgressBounds {
  size_t at_a_time = 0;  // concurrent streams; 0: there is no egress proxy
  size_t in_all = 0;     // in total; one more is recorded by the host as exceeding the maximum
};

// The maximum payload of an egress frame; nullopt: a frame of another kind.
std::optional<size_t> MaxEgressFrame(FrameKind kind);

// Bits of a close frame: what its sender will no longer do.
inline constexpr uint8_t kSendsNoMore = 1;
inline constexpr uint8_t kTakesNoMore = 2;
inline constexpr uint8_t kBothDirections = kSendsNoMore | kTakesNoMore;

// One stream, as seen by one side. Only EgressLedger creates and changes it.
struct EgressStream {
  uint8_t closed = 0;       // directions that we have closed
  uint8_t peer_closed = 0;  // directions that the peer has closed
  size_t may_send = kEgressWindow;
  size_t may_come = kEgressWindow;
  size_t ungranted = 0;  // passed on, but not yet granted again
  std::string arrived;   // received, and not all passed on yet
  size_t passed = 0;     // bytes at its front that have been passed on

  bool sends() const { return (closed & kSendsNoMore) == 0; }
  bool takes() const { return (closed & kTakesNoMore) == 0; }
  bool peer_sends() const { return (peer_closed & kSendsNoMore) == 0; }
  bool peer_takes() const { return (peer_closed & kTakesNoMore) == 0; }
  std::string_view Waiting() const { return std::string_view(arrived).substr(passed); }
};

class EgressLedger {
 public:
  enum class Side { kGuest, kHost };

  EgressLedger(Side side, EgressBounds bounds) : side_(side), bounds_(bounds) {}

  // --- frames from the peer --- An error is a fault: nothing more from the peer is valid.
  core::Result<void> Take(const Frame& frame);
  // Host only: the streams opened since the last call.
  std::vector<uint32_t> TakeOpened() { return std::exchange(opened_, {}); }

  // --- our own frames: each call appends frames for the peer --- Guest only. Precondition:
  // may_open.
  uint32_t Open(std::string& frames);
  bool may_open() const { return streams_.size() < bounds_.at_a_time && !has_opened_all(); }
  bool has_opened_all() const { return last_ > bounds_.in_all; }
  // Precondition: it sends, and the size of `bytes` is from 1 to the smaller of kEgressPiece and
  // may_send.
  void Send(uint32_t number, std::string_view bytes, std::string& frames);
  // `count` bytes of the received data have been passed on. Grants as much, now or later.
  void Pass(uint32_t number, size_t count, std::string& frames);
  // Directions in `ways` that are already closed stay closed. Received data is dropped if we accept
  // no more.
  void Close(uint32_t number, uint8_t ways, std::string& frames);

  // The streams that are not over.
  const std::map<uint32_t, EgressStream>& streams() const { return streams_; }

 private:
  using Place = std::map<uint32_t, EgressStream>::iterator;

  core::Result<void> TakeOpen(uint32_t number);
  core::Result<void> TakeData(EgressStream& stream, std::string_view bytes);
  core::Result<void> TakeWindow(EgressStream& stream, size_t count);
  core::Result<void> TakeClose(Place place, uint8_t ways);
  void RemoveIfOver(Place place);

  const Side side_;
  const EgressBounds bounds_;
  std::map<uint32_t, EgressStream> streams_;
  uint32_t last_ = 0;  // number of the last opened stream
  std::vector<uint32_t> opened_;
};

}  // namespace belljar::container::wire

#endif  // BELLJAR_CONTAINER_WIRE_EGRESS_LEDGER_H_
