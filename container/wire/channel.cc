#include "container/wire/channel.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace belljar::container::wire {
namespace {

core::Result<void> SetNonBlocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
    return core::SystemError("open a channel");
  return {};
}

core::Result<void> WaitFor(int fd, short events, const waiting::Wait& wait) {
  // The cancellation comes first: otherwise a peer that never stops sending could delay it forever.
  pollfd watched[] = {{wait.cancel_fd, POLLIN, 0}, {fd, events, 0}};
  return waiting::WaitForAny(watched, wait);
}

}  // namespace

Channel::Channel(core::UniqueFd in, core::UniqueFd out)
    : in_(std::move(in)), out_(std::move(out)) {}

core::Result<Channel> Channel::OfPipes(core::UniqueFd in, core::UniqueFd out) {
  for (const int fd : {in.get(), out.get()}) {
    if (core::Result<void> set = SetNonBlocking(fd); !set) return set.error();
  }
  return Channel(std::move(in), std::move(out));
}

core::Result<Channel> Channel::OfSocket(core::UniqueFd socket) {
  core::UniqueFd second(fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
  if (!second) return core::SystemError("open a channel");
  return OfPipes(std::move(socket), std::move(second));
}

core::Result<std::string> Channel::Receive(const waiting::Wait& wait) const {
  for (;;) {
    if (core::Result<void> ready = WaitFor(in_.get(), POLLIN, wait); !ready) return ready.error();
    core::Result<std::optional<std::string>> got = ReceiveNow();
    if (!got) return got.error();
    if (*got) return std::move(**got);
  }
}

core::Result<std::optional<std::string>> Channel::ReceiveNow() const {
  std::array<char, kFramePiece> piece;
  for (;;) {
    const ssize_t got = read(in_.get(), piece.data(), piece.size());
    if (got >= 0) return std::optional(std::string(piece.data(), static_cast<size_t>(got)));
    if (errno == ECONNRESET) return std::optional(std::string());
    if (errno == EAGAIN) return std::optional<std::string>();
    if (errno != EINTR) return core::SystemError("read from a channel");
  }
}

core::Result<void> Channel::Send(FrameKind kind, std::string_view payload,
                                 const waiting::Wait& wait) const {
  const std::string header = EncodeFrameHeader(kind, payload.size());
  iovec parts[] = {{const_cast<char*>(header.data()), header.size()},
                   {const_cast<char*>(payload.data()), payload.size()}};
  return SendAll(parts, wait);
}

core::Result<void> Channel::SendFrames(std::string_view frames, const waiting::Wait& wait) const {
  iovec parts[] = {{const_cast<char*>(frames.data()), frames.size()}};
  return SendAll(parts, wait);
}

core::Result<void> Channel::SendAll(std::span<iovec> parts, const waiting::Wait& wait) const {
  const std::lock_guard lock(*sending_);
  const auto left = [&] {
    size_t sum = 0;
    for (const iovec& part : parts) sum += part.iov_len;
    return sum;
  };
  while (left() > 0) {
    const ssize_t sent = writev(out_.get(), parts.data(), static_cast<int>(parts.size()));
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      if (core::Result<void> ready = WaitFor(out_.get(), POLLOUT, wait); !ready) return ready;
      continue;
    }
    // Closing with unread data resets the connection.
    if (sent < 0)
      return core::SystemErrorOf(errno == ECONNRESET ? EPIPE : errno, "write to a channel");
    auto taken = static_cast<size_t>(sent);
    for (iovec& part : parts) {
      const size_t gone = std::min(taken, part.iov_len);
      part.iov_base = static_cast<char*>(part.iov_base) + gone;
      part.iov_len -= gone;
      taken -= gone;
    }
  }
  return {};
}

core::Result<size_t> Channel::SendNow(std::string_view frames) const {
  size_t sent = 0;
  while (sent < frames.size()) {
    const ssize_t more = write(out_.get(), frames.data() + sent, frames.size() - sent);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0 && errno == EAGAIN) break;
    if (more < 0) return core::SystemError("write to a channel");
    sent += static_cast<size_t>(more);
  }
  return sent;
}

core::Result<void> Channel::SendContent(std::string_view content, const waiting::Wait& wait) const {
  while (!content.empty()) {
    const std::string_view piece = content.substr(0, kFramePiece);
    if (core::Result<void> sent = Send(FrameKind::kContent, piece, wait); !sent) return sent;
    content.remove_prefix(piece.size());
  }
  return {};
}

}  // namespace belljar::container::wire
