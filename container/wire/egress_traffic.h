// EgressTraffic: the bytes of an egress proxy's streams, between sockets of this side and frames.
// On the host a stream's socket leads to the proxy, in the guest to the worker.
//
//   traffic.Watch(true, watched);  poll(watched …);      what to wait for
//   traffic.Take(frame) …                                what has come over the channel
//   traffic.Move(watched, frames);                       both ways; then send `frames`
//
// Never waits. Not for several threads: Take may be another one's under a lock, and then Move has
// to be called soon, by whoever waits.
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
  // Bytes of frames that wait to be sent: with more of them nothing is read from the sockets.
  static constexpr size_t kEnoughToSend = 4 * kEgressPiece;

  EgressTraffic(EgressLedger::Side side, EgressBounds bounds) : ledger_(side, bounds) {}

  const EgressLedger& ledger() const { return ledger_; }
  // What the ledger says of it.
  core::Result<void> Take(const Frame& frame) { return ledger_.Take(frame); }

  // The guest's: a stream for an accepted connection. Precondition: may_open.
  void Open(core::UniqueFd socket, std::string& frames);
  // The host's: those that the guest has opened, each to be given a socket. An empty one ends it.
  std::vector<uint32_t> TakeOpened() { return ledger_.TakeOpened(); }
  void Give(uint32_t number, core::UniqueFd socket, std::string& frames);

  // Appends what to wait for. `reads`: what the sockets have may come.
  void Watch(bool reads, std::vector<pollfd>& watched);
  // `watched`: what the last Watch has appended; empty: nothing is known of the sockets. Appends to
  // `frames`.
  void Move(std::span<const pollfd> watched, std::string& frames);

 private:
  // While its socket is held it is in the ledger.
  const EgressStream& Stream(uint32_t number) const { return ledger_.streams().at(number); }
  void Write(uint32_t number, short revents, std::string& frames);
  void Read(uint32_t number, short revents, std::string& frames);
  void Close(uint32_t number, uint8_t ways, std::string& frames);

  EgressLedger ledger_;
  std::map<uint32_t, core::UniqueFd> sockets_;  // of streams of which we have not closed both ways
  std::vector<uint32_t> watched_;               // the streams that Watch has appended, in order
  size_t turn_ = 0;                             // who is first
};

}  // namespace belljar::container::wire

#endif  // BELLJAR_CONTAINER_WIRE_EGRESS_TRAFFIC_H_
