// EgressLedger: what one side of the channel knows of the streams through a container's egress
// proxy, and the judge of what the other side says of them. No descriptor and no clock
// (EgressTraffic has those).
//
//   guest ──open {stream}──────────▶ host    the worker has connected to its proxy
//   both  ──data {stream, bytes}───▶ both    at most as much as the peer has granted
//   both  ──window {stream, count}─▶ both    grants so much more: it has gone on
//   both  ──close {stream, ways}───▶ both    of its ways: it sends no more, it takes no more
//
// Each side closes both of its ways, each once; a stream is over, and its number worth nothing any
// more, when both sides have. So whoever still holds a descriptor of it still counts it.
//
// To the host every frame is hostile. What it keeps at most: a window and a half of each stream,
// of no more streams than it has allowed. Not for several threads.
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

// Bytes that each side may send into a new stream; never more are on the way.
inline constexpr size_t kEgressWindow = 256 * 1024;
// The most that goes into one frame of data.
inline constexpr size_t kEgressPiece = 32 * 1024;

// What a host allows; a guest keeps to it.
struct EgressBounds {
  size_t at_a_time = 0;  // streams; 0: there is no egress proxy
  size_t in_all = 0;     // streams; of one more the host's record says that it was one too many
};

// The longest that a frame of an egress proxy's kind may be; nullopt: it is of no such kind.
std::optional<size_t> MaxEgressFrame(FrameKind kind);

// Bits of a close frame: what its sender will not do any more.
inline constexpr uint8_t kSendsNoMore = 1;
inline constexpr uint8_t kTakesNoMore = 2;
inline constexpr uint8_t kBothWays = kSendsNoMore | kTakesNoMore;

// One stream, as one side sees it. Only EgressLedger makes and changes one.
struct EgressStream {
  uint8_t closed = 0;       // bits of what we have closed
  uint8_t peer_closed = 0;  // … and the peer
  size_t may_send = kEgressWindow;
  size_t may_come = kEgressWindow;
  size_t ungranted = 0;  // has come and gone on, and the peer does not know yet
  std::string arrived;   // and has not gone on
  size_t passed = 0;     // bytes at the front of it that have

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

  // --- the peer's ---
  // The error is a fault: nothing the peer says is worth anything any more.
  core::Result<void> Take(const Frame& frame);
  // The host's: the streams that have been opened since the last call.
  std::vector<uint32_t> TakeOpened() { return std::exchange(opened_, {}); }

  // --- our own: each appends the frames that tell the peer ---
  // The guest's. Precondition: may_open.
  uint32_t Open(std::string& frames);
  bool may_open() const { return streams_.size() < bounds_.at_a_time && !has_opened_all(); }
  bool has_opened_all() const { return last_ > bounds_.in_all; }
  // Precondition: it sends, and `bytes` are 1 to the smaller of kEgressPiece and its may_send.
  void Send(uint32_t number, std::string_view bytes, std::string& frames);
  // So much of what was waiting has gone on. Grants as much, now or later.
  void Pass(uint32_t number, size_t count, std::string& frames);
  // What of `ways` is closed already stays so. What waits is dropped where we take no more.
  void Close(uint32_t number, uint8_t ways, std::string& frames);

  // Those that are not over.
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
  uint32_t last_ = 0;  // number that has been opened
  std::vector<uint32_t> opened_;
};

}  // namespace belljar::container::wire

#endif  // BELLJAR_CONTAINER_WIRE_EGRESS_LEDGER_H_
