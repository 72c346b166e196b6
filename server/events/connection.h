// Connection: to an endpoint that events are sent to, plain or with TLS (tls_client.h).
#ifndef BELLJAR_SERVER_EVENTS_CONNECTION_H_
#define BELLJAR_SERVER_EVENTS_CONNECTION_H_

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <span>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"

namespace belljar::server::events {

// How long to wait, and what ends the wait early: ETIMEDOUT after `deadline`, ECANCELED once
// `stop_fd` is readable.
struct Wait {
  core::Deadline deadline;
  int stop_fd;

  // For `events` (poll(2)) of `fd`.
  core::Result<void> UntilReady(int fd, short events) const;
};

class Connection {
 public:
  virtual ~Connection() = default;
  virtual core::Result<void> Send(std::string_view bytes, const Wait& wait) = 0;
  // The number of bytes; 0: the peer has sent all.
  virtual core::Result<size_t> Receive(std::span<char> buffer, const Wait& wait) = 0;
};

// A socket that does not block.
core::Result<core::UniqueFd> Connect(const boost::asio::ip::tcp::endpoint& endpoint,
                                     const Wait& wait);

std::unique_ptr<Connection> MakePlainConnection(core::UniqueFd socket);

}  // namespace belljar::server::events

#endif  // BELLJAR_SERVER_EVENTS_CONNECTION_H_
