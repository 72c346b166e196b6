#include "container/wire/line.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace belljar {
namespace {

Result<void> SetNonBlocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return SystemError("open a line");
  return {};
}

Result<void> WaitFor(int fd, short events, const Wait& wait) {
  // A cancellation first: a peer that never stops sending would outlive it.
  pollfd watched[] = {{wait.cancel_fd, POLLIN, 0}, {fd, events, 0}};
  return WaitForAny(watched, wait);
}

}  // namespace

Result<void> WaitForAny(std::span<pollfd> watched, const Wait& wait) {
  for (;;) {
    const bool asks = wait.interrupts != nullptr;
    // Here, where also one passes for whom there is always something.
    if (asks && wait.interrupts->Interrupted()) {
      return SystemErrorOf(ECANCELED, "wait for the other end", "interrupted");
    }
    const Deadline next = asks ? std::min(wait.deadline, wait.interrupts->next()) : wait.deadline;
    const int timeout = next == Deadline::max() ? -1 : PollTimeout(next);
    const int ready = poll(watched.data(), watched.size(), timeout);
    if (ready < 0 && errno != EINTR) return SystemError("poll a line");
    if (ready < 0 && asks) wait.interrupts->Hurry();
    if (ready > 0 && watched[0].revents == 0) return {};
    if (ready > 0) return SystemErrorOf(ECANCELED, "wait for the other end");
    if (ready == 0 && Clock::now() >= wait.deadline) {
      return SystemErrorOf(ETIMEDOUT, "wait for the other end");
    }
  }
}

Line::Line(UniqueFd in, UniqueFd out) : in_(std::move(in)), out_(std::move(out)) {}

Result<Line> Line::OfPipes(UniqueFd in, UniqueFd out) {
  for (const int fd : {in.get(), out.get()}) {
    if (Result<void> set = SetNonBlocking(fd); !set) return set.error();
  }
  return Line(std::move(in), std::move(out));
}

Result<Line> Line::OfSocket(UniqueFd socket) {
  UniqueFd second(fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
  if (!second) return SystemError("open a line");
  return OfPipes(std::move(socket), std::move(second));
}

Result<std::string> Line::Receive(const Wait& wait) const {
  for (;;) {
    if (Result<void> ready = WaitFor(in_.get(), POLLIN, wait); !ready) return ready.error();
    Result<std::optional<std::string>> got = ReceiveNow();
    if (!got) return got.error();
    if (*got) return std::move(**got);
  }
}

Result<std::optional<std::string>> Line::ReceiveNow() const {
  std::array<char, kFramePiece> piece;
  for (;;) {
    const ssize_t got = read(in_.get(), piece.data(), piece.size());
    if (got >= 0) return std::optional(std::string(piece.data(), static_cast<size_t>(got)));
    if (errno == ECONNRESET) return std::optional(std::string());
    if (errno == EAGAIN) return std::optional<std::string>();
    if (errno != EINTR) return SystemError("read from a line");
  }
}

Result<void> Line::Send(FrameKind kind, std::string_view payload, const Wait& wait) const {
  const std::string header = EncodeFrameHeader(kind, payload.size());
  iovec parts[] = {{const_cast<char*>(header.data()), header.size()},
                   {const_cast<char*>(payload.data()), payload.size()}};
  return SendAll(parts, wait);
}

Result<void> Line::SendFrames(std::string_view frames, const Wait& wait) const {
  iovec parts[] = {{const_cast<char*>(frames.data()), frames.size()}};
  return SendAll(parts, wait);
}

Result<void> Line::SendAll(std::span<iovec> parts, const Wait& wait) const {
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
      if (Result<void> ready = WaitFor(out_.get(), POLLOUT, wait); !ready) return ready;
      continue;
    }
    // A peer that has closed with something unread resets it.
    if (sent < 0) return SystemErrorOf(errno == ECONNRESET ? EPIPE : errno, "write to a line");
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

Result<size_t> Line::SendNow(std::string_view frames) const {
  size_t sent = 0;
  while (sent < frames.size()) {
    const ssize_t more = write(out_.get(), frames.data() + sent, frames.size() - sent);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0 && errno == EAGAIN) break;
    if (more < 0) return SystemError("write to a line");
    sent += static_cast<size_t>(more);
  }
  return sent;
}

Result<void> Line::SendContent(std::string_view content, const Wait& wait) const {
  while (!content.empty()) {
    const std::string_view piece = content.substr(0, kFramePiece);
    if (Result<void> sent = Send(FrameKind::kContent, piece, wait); !sent) return sent;
    content.remove_prefix(piece.size());
  }
  return {};
}

}  // namespace belljar
