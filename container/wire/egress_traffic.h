// EgressTraffic: moves the bytes of an egress proxy's streams between sockets of this side and
// frames. On the host a stream's socket leads to the proxy, in the guest to the worker.
//
//   traffic.Watch(true, watched);  poll(watched …);      what to wait for
//   traffic.Take(frame) …                                what has come over the channel
//   traffic.Move(watched, frames);                       both directions; then send `frames`
//
// Never blocks. Not thread-safe: Take may be called by another thread under a lock; the waiting
// thread must then call Move soon.
#ifndef BELLJAR_CONTAINER_WIRE_EGRESS_TRAFFIC_H_
#define BELLJAR_CONTAINER_WIRE_EGRESS_TRAFFIC_H_

#include <poll.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "container/wire/egress_ledger.h"
#include "engine/core/fd.h"

namespace belljar::container::wire {

class EgressTraffic {
 public:
  // Bytes of frames waiting to be sent above which the sockets are not read.
  static constexpr size_t kSendThreshold = 4 * kEgressPiece;

  EgressTraffic(EgressLedger::Side side, EgressBounds bounds) : ledger_(side, bounds) {}

  const EgressLedger& ledger() const { return ledger_; }
  // Validated by the ledger.
  core::Result<void> Take(const Frame& frame) { return ledger_.Take(frame); }

  // Guest only: opens a stream for an accepted connection. Precondition: may_open.
  void Open(core::UniqueFd socket, std::string& frames);
  // Host only: the streams that the guest has opened, each of which needs a socket. An empty one
  // ends it.
  std::vector<uint32_t> TakeOpened() { return ledger_.TakeOpened(); }
  void Give(uint32_t number, core::UniqueFd socket, std::string& frames);

  // Appends the descriptors to poll. `reads`: whether to read from the sockets.
  void Watch(bool reads, std::vector<pollfd>& watched);
  // `watched`: what the last Watch appended; empty: the state of the sockets is unknown. Appends to
  // `frames`.
  void Move(std::span<const pollfd> watched, std::string& frames);

 private:
  // A stream is in the ledger as long as its socket is held.
  const EgressStream& Stream(uint32_t number) const { return ledger_.streams().at(number); }
  void Write(uint32_t number, short revents, std::string& frames);
  void Read(uint32_t number, short revents, std::string& frames);
  void Close(uint32_t number, uint8_t ways, std::string& frames);

  EgressLedger ledger_;
  std::map<uint32_t, core::UniqueFd>
      sockets_;                    // of streams that we have not closed in both directions
  std::vector<uint32_t> watched_;  // the streams that Watch has appended, in order
  size_t turn_ = 0;                // which stream comes first
};

}  // namespace belljar::container::wire

#endif  // BELLJAR_CONTAINER_WIRE_EGRESS_TRAFFIC_H_
