#include "container/wire/egress_traffic.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

namespace belljar::container::wire {
namespace {

bool Waits() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

short EventsOf(const EgressStream& stream, bool reads) {
  int events = 0;
  if (stream.takes() && !stream.Waiting().empty()) events |= POLLOUT;
  if (reads && stream.sends() && stream.peer_takes() && stream.may_send > 0) events |= POLLIN;
  return static_cast<short>(events);
}

}  // namespace

void EgressTraffic::Open(core::UniqueFd socket, std::string& frames) {
  sockets_.emplace(ledger_.Open(frames), std::move(socket));
}

void EgressTraffic::Give(uint32_t number, core::UniqueFd socket, std::string& frames) {
  if (!socket) return ledger_.Close(number, kBothDirections, frames);
  sockets_.emplace(number, std::move(socket));
}

void EgressTraffic::Watch(bool reads, std::vector<pollfd>& watched) {
  watched_.clear();
  for (const auto& [number, socket] : sockets_) {
    const EgressStream& stream = Stream(number);
    const short events = EventsOf(stream, reads);
    // poll reports a hangup even for events it was not asked for. While data is left that cannot be
    // passed on now, the socket is not polled; once it has been read to its end, a hangup is the
    // information we need.
    const bool is_watched = events != 0 || !stream.sends();
    watched.push_back({is_watched ? socket.get() : -1, events, 0});
    watched_.push_back(number);
  }
}

void EgressTraffic::Move(std::span<const pollfd> watched, std::string& frames) {
  // All of them, since frames from the peer need handling too.
  std::vector<std::pair<uint32_t, short>> turns;
  size_t at = 0;
  for (const auto& [number, socket] : sockets_) {
    while (at < watched_.size() && watched_[at] < number) ++at;
    const bool was_watched = at < watched_.size() && watched_[at] == number && at < watched.size();
    turns.emplace_back(number, was_watched ? watched[at].revents : short{0});
  }
  if (turns.empty()) return;
  // Rotated, so that no stream is always last and finds no room left to send.
  const size_t first = ++turn_ % turns.size();
  std::rotate(turns.begin(), turns.begin() + static_cast<std::ptrdiff_t>(first), turns.end());
  for (const auto& [number, revents] : turns) {
    Write(number, revents, frames);
    if (sockets_.contains(number)) Read(number, revents, frames);
  }
}

void EgressTraffic::Write(uint32_t number, short revents, std::string& frames) {
  const EgressStream& stream = Stream(number);
  const int socket = sockets_.at(number).get();
  if (!stream.takes()) return;
  while (!stream.Waiting().empty()) {
    const std::string_view waiting = stream.Waiting();
    const ssize_t sent = send(socket, waiting.data(), waiting.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && Waits()) return;
    if (sent < 0) return Close(number, kTakesNoMore, frames);
    ledger_.Pass(number, static_cast<size_t>(sent), frames);
  }
  if (!stream.peer_sends()) {
    (void)shutdown(socket, SHUT_WR);
    return Close(number, kTakesNoMore, frames);
  }
  // Nobody is left to write to, and there was nothing left to read.
  if (!stream.sends() && (revents & (POLLHUP | POLLERR)) != 0) Close(number, kTakesNoMore, frames);
}

void EgressTraffic::Read(uint32_t number, short revents, std::string& frames) {
  const EgressStream& stream = Stream(number);
  const int socket = sockets_.at(number).get();
  if (!stream.sends()) return;
  if (!stream.peer_takes()) {
    // On the host this notifies the proxy, which closes.
    (void)shutdown(socket, SHUT_RD);
    return Close(number, kSendsNoMore, frames);
  }
  const size_t room = std::min(stream.may_send, kEgressPiece);
  if (revents == 0 || room == 0 || frames.size() >= kSendThreshold) return;
  std::array<char, kEgressPiece> piece;
  const ssize_t got = recv(socket, piece.data(), room, MSG_DONTWAIT);
  if (got > 0) return ledger_.Send(number, {piece.data(), static_cast<size_t>(got)}, frames);
  if (got < 0 && Waits()) return;
  // If it has hung up, instead of only shutting down its own side, nothing can be written either.
  const bool is_gone = got < 0 || ((revents & POLLHUP) != 0 && stream.Waiting().empty());
  Close(number, is_gone ? kBothDirections : kSendsNoMore, frames);
}

void EgressTraffic::Close(uint32_t number, uint8_t ways, std::string& frames) {
  // If the peer has closed its directions too, this removes the stream from the ledger.
  const bool is_last = (Stream(number).closed | ways) == kBothDirections;
  ledger_.Close(number, ways, frames);
  if (is_last) sockets_.erase(number);
}

}  // namespace belljar::container::wire
