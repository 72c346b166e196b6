// Both ends of an egress proxy, for tests: a client of it, and hosts on loopback, each a server
// with a thread for every connection.
#ifndef BELLJAR_TESTS_EGRESS_EGRESS_HOSTS_H_
#define BELLJAR_TESTS_EGRESS_EGRESS_HOSTS_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/core/fd.h"

namespace belljar::tests {

inline constexpr int kTimeout = 20;  // seconds; nothing here waits for it but a failure

inline core::UniqueFd Listen(uint16_t& port) {
  core::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  EXPECT_EQ(listen(fd.get(), 64), 0);
  EXPECT_EQ(getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  port = ntohs(address.sin_port);
  return fd;
}

class Peer {
 public:
  explicit Peer(core::UniqueFd fd) : fd_(std::move(fd)) {
    const timeval timeout{kTimeout, 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  }

  // False: the other side does not take it.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // So many bytes, or fewer where it ends before.
  std::string Receive(size_t size) {
    std::string bytes(size, '\0');
    size_t got = 0;
    while (got < size) {
      const ssize_t more = recv(fd_.get(), bytes.data() + got, size - got, 0);
      if (more <= 0) break;
      got += static_cast<size_t>(more);
    }
    bytes.resize(got);
    return bytes;
  }

  // To the end of the connection.
  std::string ReceiveAll() {
    std::string all;
    for (;;) {
      const std::string some = Receive(1);
      if (some.empty()) return all;
      all += some;
    }
  }

  std::string ReceiveHead() {
    std::string head;
    while (!head.ends_with("\r\n\r\n")) {
      const std::string some = Receive(1);
      if (some.empty()) break;
      head += some;
    }
    return head;
  }

  void EndSending() { shutdown(fd_.get(), SHUT_WR); }

 private:
  core::UniqueFd fd_;
};

// A server on a port of its own, with a thread for each connection.
class Host {
 public:
  explicit Host(std::function<void(Peer&)> serve)
      : serve_(std::move(serve)), listener_(Listen(port_)), thread_([this] { Accept(); }) {}

  ~Host() {
    shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
    for (std::thread& each : connections_) each.join();
  }

  uint16_t port() const { return port_; }
  std::string authority(const std::string& name) const {
    return name + ":" + std::to_string(port_);
  }
  int accepted() const { return accepted_; }

 private:
  void Accept() {
    for (;;) {
      core::UniqueFd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!fd) return;
      ++accepted_;
      connections_.emplace_back([this, raw = fd.Release()] {
        Peer peer{core::UniqueFd(raw)};
        serve_(peer);
      });
    }
  }

  const std::function<void(Peer&)> serve_;
  uint16_t port_ = 0;
  std::atomic<int> accepted_ = 0;
  core::UniqueFd listener_;
  std::vector<std::thread> connections_;
  std::thread thread_;
};

inline void Echo(Peer& peer) {
  for (;;) {
    const std::string some = peer.Receive(1);
    if (some.empty() || !peer.Send(some)) return;
  }
}

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_EGRESS_EGRESS_HOSTS_H_
