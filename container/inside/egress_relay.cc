#include "container/inside/egress_relay.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

namespace belljar::container::inside {
namespace {

// A host that reads nothing for this long is gone.
constexpr std::chrono::seconds kSendTimeout{20};
// For example if out of descriptors; the connection waits in the kernel's queue.
constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr int kBacklog = 64;

// Indexes into the watched descriptors.
constexpr size_t kListener = 1;
constexpr size_t kOfTraffic = 2;

core::Error NoEgress(const char* what) {
  return core::SystemError(std::string("open the egress proxy of a container: ") + what);
}

}  // namespace

core::Result<void> EgressRelay::Listen(uint16_t port) {
  core::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return NoEgress("socket");
  // An earlier run may not have released the port yet.
  const int on = 1;
  (void)setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return NoEgress("bind to the loopback address");
  }
  if (listen(fd.get(), kBacklog) != 0) return NoEgress("listen");
  listener_ = std::move(fd);
  return {};
}

core::Result<void> EgressRelay::Start(core::UniqueFd listener) {
  if (listener) listener_ = std::move(listener);
  if (bounds_.at_a_time == 0 || !listener_) {
    return core::MakeError("open the egress proxy of a container", "the host has allowed none");
  }
  // A connection that has been reset again must not block accept.
  const int flags = fcntl(listener_.get(), F_GETFL);
  if (flags < 0 || fcntl(listener_.get(), F_SETFL, flags | O_NONBLOCK) != 0)
    return NoEgress("fcntl");
  core::UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return NoEgress("eventfd");
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
  traffic_.emplace(wire::EgressLedger::Side::kGuest, bounds_);
  return thread_.Start("open the egress proxy of a container", [this] { Run(); });
}

void EgressRelay::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (wake_) eventfd_write(wake_.get(), 1);
  }
  thread_.Join();
}

void EgressRelay::Hold() {
  const std::lock_guard sending(sending_);
  const std::lock_guard lock(mutex_);
  held_ = true;
}

void EgressRelay::GoOn() {
  const std::lock_guard lock(mutex_);
  held_ = false;
  if (wake_) eventfd_write(wake_.get(), 1);
}

core::Result<void> EgressRelay::Take(const wire::Frame& frame) {
  const std::lock_guard lock(mutex_);
  if (!traffic_)
    return core::MakeError("read from the host", wire::FrameName(frame.kind) + " before a run");
  core::Result<void> taken = traffic_->Take(frame);
  // Not after Stop: nobody would handle it.
  if (taken && !stopped_) eventfd_write(wake_.get(), 1);
  return taken;
}

void EgressRelay::Run() {
  for (;;) {
    Await();
    const std::lock_guard sending(sending_);
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) break;
      eventfd_t ignored;
      (void)eventfd_read(wake_.get(), &ignored);
      if (held_) continue;
    }
    const std::string frames = MoveAll();
    if (frames.empty()) continue;
    // Without a host there is nothing to relay; the listener thread notices it too.
    if (!channel_.SendFrames(frames, {core::Clock::now() + kSendTimeout})) break;
  }
  listener_.Reset();
}

void EgressRelay::Await() {
  {
    const std::lock_guard lock(mutex_);
    const bool accepts = !held_ && !pauses_ && traffic_->ledger().may_open();
    watched_ = {{wake_.get(), POLLIN, 0}, {accepts ? listener_.get() : -1, POLLIN, 0}};
    if (!held_) traffic_->Watch(true, watched_);
  }
  // The result does not matter: everything is checked again.
  (void)poll(watched_.data(), watched_.size(),
             pauses_ ? static_cast<int>(kAcceptPause.count()) : -1);
}

std::string EgressRelay::MoveAll() {
  std::string frames;
  const std::lock_guard lock(mutex_);
  traffic_->Move(std::span(watched_).subspan(kOfTraffic), frames);
  if (pauses_ || watched_[kListener].revents != 0) AcceptAll(frames);
  return frames;
}

void EgressRelay::AcceptAll(std::string& frames) {
  pauses_ = false;
  while (traffic_->ledger().may_open()) {
    core::UniqueFd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) {
      // Pause after any other error: a persistent one would hold this lock forever and block the
      // end of the run.
      pauses_ = errno != EAGAIN && errno != EWOULDBLOCK;
      return;
    }
    const int on = 1;
    (void)setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    traffic_->Open(std::move(fd), frames);
  }
  // The host's record shows that this one exceeded the maximum; further ones are refused.
  if (traffic_->ledger().has_opened_all()) listener_.Reset();
}

}  // namespace belljar::container::inside
