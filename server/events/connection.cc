#include "server/events/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

namespace belljar::server::events {
namespace {

class PlainConnection : public Connection {
 public:
  explicit PlainConnection(core::UniqueFd socket) : socket_(std::move(socket)) {}

  core::Result<void> Send(std::string_view bytes, const Wait& wait) override {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent >= 0) {
        bytes.remove_prefix(static_cast<size_t>(sent));
        continue;
      }
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return core::SystemError("send to the endpoint");
      if (core::Result<void> ready = wait.UntilReady(socket_.get(), POLLOUT); !ready) return ready;
    }
    return {};
  }

  core::Result<size_t> Receive(std::span<char> buffer, const Wait& wait) override {
    for (;;) {
      const ssize_t size = recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (size >= 0) return static_cast<size_t>(size);
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return core::SystemError("read the response");
      if (core::Result<void> ready = wait.UntilReady(socket_.get(), POLLIN); !ready) {
        return core::SystemErrorOf(ready.error().error_number, "read the response");
      }
    }
  }

 private:
  core::UniqueFd socket_;
};

}  // namespace

core::Result<void> Wait::UntilReady(int fd, short events) const {
  for (;;) {
    pollfd entries[2] = {{fd, events, 0}, {stop_fd, POLLIN, 0}};
    const int ready = poll(entries, 2, core::PollTimeout(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return core::SystemError("wait for the endpoint");
    if (ready == 0) return core::SystemErrorOf(ETIMEDOUT, "wait for the endpoint");
    if (entries[1].revents != 0) return core::SystemErrorOf(ECANCELED, "wait for the endpoint");
    return {};
  }
}

core::Result<core::UniqueFd> Connect(const boost::asio::ip::tcp::endpoint& endpoint,
                                     const Wait& wait) {
  const std::string operation = "connect to " + endpoint.address().to_string();
  core::UniqueFd fd(
      socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return core::SystemError(operation);
  if (connect(fd.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0) return fd;
  if (errno != EINPROGRESS) return core::SystemError(operation);
  if (core::Result<void> done = wait.UntilReady(fd.get(), POLLOUT); !done) {
    return core::SystemErrorOf(done.error().error_number, operation);
  }
  int failure = 0;
  socklen_t size = sizeof failure;
  if (getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failure, &size) != 0 || failure != 0) {
    return core::SystemErrorOf(failure != 0 ? failure : errno, operation);
  }
  return fd;
}

std::unique_ptr<Connection> MakePlainConnection(core::UniqueFd socket) {
  return std::make_unique<PlainConnection>(std::move(socket));
}

}  // namespace belljar::server::events
