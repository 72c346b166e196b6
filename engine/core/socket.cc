#include "engine/core/socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>

namespace belljar::core {

Result<std::pair<UniqueFd, UniqueFd>> CreateSocketPair(int type) {
  int ends[2];
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) return SystemError("socketpair");
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

int PollTimeout(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX));
}

namespace {

Result<void> WaitFor(int fd, short events, Deadline deadline) {
  for (;;) {
    pollfd waiting{fd, events, 0};
    const int ready = poll(&waiting, 1, PollTimeout(deadline));
    if (ready > 0) return {};
    if (ready == 0) return SystemErrorOf(ETIMEDOUT, "wait for peer");
    if (errno != EINTR) return SystemError("poll");
  }
}

ssize_t Receive(int fd, msghdr& message, int flags) {
  for (;;) {
    const ssize_t got = recvmsg(fd, &message, flags | MSG_CMSG_CLOEXEC);
    if (got >= 0 || errno != EINTR) return got;
  }
}

}  // namespace

Result<void> WaitReadable(int fd, Deadline deadline) { return WaitFor(fd, POLLIN, deadline); }

Result<void> SendMessage(int fd, std::string_view bytes, std::span<const int> descriptors) {
  if (descriptors.size() > kMaxDescriptors) abort();
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
  if (!descriptors.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent;
  do {
    sent = sendmsg(fd, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return SystemError("send message");
  return {};
}

Result<Message> ReceiveMessage(int fd, size_t limit) {
  Message result;
  result.bytes.resize(limit);
  iovec part{result.bytes.data(), limit};
  // Includes the sender's credentials after NoteSenders.
  alignas(
      cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int)) + CMSG_SPACE(sizeof(ucred))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = Receive(fd, message, 0);
  if (got < 0) return SystemError("receive message");
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int descriptor;
      memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof descriptor);
      result.descriptors.emplace_back(descriptor);
    }
  }
  // Without credentials, there was room for more descriptors.
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 ||
      result.descriptors.size() > kMaxDescriptors) {
    return SystemErrorOf(EMSGSIZE, "receive message");
  }
  result.bytes.resize(static_cast<size_t>(got));
  return result;
}

Result<void> SendAll(int fd, std::span<const std::string_view> parts, Deadline deadline) {
  std::vector<iovec> left;
  for (std::string_view part : parts) {
    if (!part.empty()) left.push_back({const_cast<char*>(part.data()), part.size()});
  }
  size_t first = 0;
  while (first < left.size()) {
    msghdr message{};
    message.msg_iov = &left[first];
    message.msg_iovlen = std::min<size_t>(left.size() - first, IOV_MAX);
    ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (Result<void> ready = WaitFor(fd, POLLOUT, deadline); !ready) return ready;
      continue;
    }
    if (sent < 0) return SystemError("send");
    while (first < left.size() && static_cast<size_t>(sent) >= left[first].iov_len) {
      sent -= static_cast<ssize_t>(left[first++].iov_len);
    }
    if (first < left.size()) {
      left[first].iov_base = static_cast<char*>(left[first].iov_base) + sent;
      left[first].iov_len -= static_cast<size_t>(sent);
    }
  }
  return {};
}

Result<void> NoteSenders(int fd) {
  const int on = 1;
  if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0)
    return SystemError("setsockopt");
  return {};
}

Result<pid_t> SenderOfNext(int fd) {
  char byte;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = Receive(fd, message, MSG_PEEK);
  if (got < 0) return SystemError("receive message");
  if (got == 0) return SystemErrorOf(ECONNRESET, "receive message", "the peer has closed");
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_CREDENTIALS) {
    return MakeError("receive message", "its sender is unknown");
  }
  ucred sender;
  memcpy(&sender, CMSG_DATA(header), sizeof sender);
  return sender.pid;
}

Result<void> ReceiveExactly(int fd, void* buffer, size_t size) {
  char* to = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t got = recv(fd, to, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("receive");
    if (got == 0) return SystemErrorOf(ECONNRESET, "receive", "the peer has closed");
    to += got;
    size -= static_cast<size_t>(got);
  }
  return {};
}

}  // namespace belljar::core
