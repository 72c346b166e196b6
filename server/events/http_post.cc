#include "server/events/http_post.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <charconv>
#include <optional>

#include "engine/core/fd.h"
#include "engine/core/socket.h"
#include "engine/core/text.h"

namespace belljar::server::events {
namespace {

using boost::asio::ip::address;
using boost::asio::ip::tcp;
using Deadline = std::chrono::steady_clock::time_point;

constexpr char kForm[] = "write http://HOST[:PORT]/PATH, of a proxy or collector on this machine";
// Of a response; the status is in its first line.
constexpr size_t kMaxHead = 16 << 10;
constexpr std::chrono::milliseconds kStopLook{100};

bool IsGraphic(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

core::Error Wrong(std::string detail) { return core::MakeError("", std::move(detail)); }

// Waits for `events` of the socket.
core::Result<void> Wait(int fd, short events, Deadline deadline, int stop_fd) {
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

core::Result<core::UniqueFd> Connect(const tcp::endpoint& endpoint, Deadline deadline,
                                     int stop_fd) {
  const std::string operation = "connect to " + endpoint.address().to_string();
  core::UniqueFd fd(
      socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return core::SystemError(operation);
  if (connect(fd.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0) return fd;
  if (errno != EINPROGRESS) return core::SystemError(operation);
  if (core::Result<void> done = Wait(fd.get(), POLLOUT, deadline, stop_fd); !done) {
    return core::SystemErrorOf(done.error().error_number, operation);
  }
  int failure = 0;
  socklen_t size = sizeof failure;
  if (getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failure, &size) != 0 || failure != 0) {
    return core::SystemErrorOf(failure != 0 ? failure : errno, operation);
  }
  return fd;
}

core::Result<void> SendAll(int fd, std::string_view bytes, Deadline deadline, int stop_fd) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return core::SystemError("send to the endpoint");
    if (core::Result<void> ready = Wait(fd, POLLOUT, deadline, stop_fd); !ready) return ready;
  }
  return {};
}

// "HTTP/1.1 204 …"; nullopt: it is something else.
std::optional<unsigned> StatusOf(std::string_view head) {
  if (head.size() < 12 || !head.starts_with("HTTP/1.") || head[8] != ' ') return std::nullopt;
  unsigned status = 0;
  const auto [end, error] = std::from_chars(head.data() + 9, head.data() + 12, status);
  if (error != std::errc() || end != head.data() + 12 || status < 100) return std::nullopt;
  return status;
}

core::Result<unsigned> ReceiveStatus(int fd, Deadline deadline, int stop_fd) {
  std::string head;
  for (;;) {
    // The responses before the last one (103 and the like) end in the same way.
    const size_t end = head.find("\r\n\r\n");
    if (end != std::string::npos) {
      const std::optional<unsigned> status = StatusOf(head);
      if (!status) break;
      if (*status >= 200) return *status;
      head.erase(0, end + 4);
      continue;
    }
    if (head.size() > kMaxHead) break;
    char buffer[4096];
    const ssize_t size = recv(fd, buffer, sizeof buffer, 0);
    if (size > 0) {
      head.append(buffer, static_cast<size_t>(size));
      continue;
    }
    if (size == 0) return core::SystemErrorOf(ECONNRESET, "read the response");
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return core::SystemError("read the response");
    if (core::Result<void> ready = Wait(fd, POLLIN, deadline, stop_fd); !ready) {
      return core::SystemErrorOf(ready.error().error_number, "read the response");
    }
  }
  return core::MakeError("read the response", "it is not one of HTTP/1.1");
}

}  // namespace

core::Result<HttpTarget> HttpTarget::Parse(std::string_view url,
                                           const std::vector<std::string>& allow_private) {
  if (url.starts_with("https://")) {
    return Wrong(
        "this server sends plain HTTP only, to this machine or a private network; write the "
        "http:// address of a proxy there that adds TLS");
  }
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme) || !IsGraphic(url) || url.find('#') != url.npos) {
    return Wrong(kForm);
  }
  const std::string_view rest = url.substr(kScheme.size());
  const size_t end = std::min(rest.find_first_of("/?"), rest.size());
  const std::optional<egress::Authority> authority = egress::SplitAuthority(rest.substr(0, end));
  // A user name would be shown with the URL.
  if (!authority || rest.substr(0, end).find('@') != rest.npos) return Wrong(kForm);
  std::optional<egress::HostName> host = egress::HostName::Parse(authority->host);
  if (!host) return Wrong(kForm);
  HttpTarget target;
  target.host = std::move(*host);
  target.authority = rest.substr(0, end);
  if (authority->port) {
    const std::optional<uint16_t> port = egress::ParsePort(*authority->port);
    if (!port) return Wrong(kForm);
    target.port = *port;
  }
  const std::string_view path = rest.substr(end);
  target.path = path.starts_with('/') ? std::string(path) : "/" + std::string(path);
  for (const std::string& block : allow_private) {
    core::Result<egress::AddressBlock> parsed = egress::AddressBlock::Parse(block);
    if (!parsed)
      return Wrong("allow_private " + core::Quoted(block) + ": " + parsed.error().detail);
    target.allowed.push_back(*parsed);
  }
  if (target.host.address && !target.Permits(*target.host.address)) {
    return Wrong("this server sends plain HTTP, and " + target.host.text +
                 " is not an address of this machine; a private network must be named in "
                 "allow_private");
  }
  return target;
}

bool HttpTarget::Permits(const address& where) const {
  const address plain = egress::Unmapped(where);
  return plain.is_loopback() ||
         std::any_of(allowed.begin(), allowed.end(),
                     [&](const egress::AddressBlock& block) { return block.Contains(plain); });
}

HttpPost::HttpPost(HttpTarget target)
    : target_(std::move(target)),
      io_(std::make_shared<boost::asio::io_context>(1)),
      resolver_(io_, egress::LookUpByHost) {}

core::Result<HttpPost::Addresses> HttpPost::Resolve(Deadline deadline, const Cancellation& stop) {
  if (target_.host.address) return Addresses{*target_.host.address};
  const std::string operation = "resolve " + target_.host.text;
  // The answer to an abandoned question may still come: it must find its place.
  auto answer = std::make_shared<std::optional<egress::Addresses>>();
  resolver_.Resolve(target_.host.text,
                    [answer](egress::Addresses found) { *answer = std::move(found); });
  while (!*answer) {
    const Deadline now = std::chrono::steady_clock::now();
    if (stop.cancelled()) return core::SystemErrorOf(ECANCELED, operation);
    if (now >= deadline) return core::SystemErrorOf(ETIMEDOUT, operation);
    io_->restart();
    const auto work = boost::asio::make_work_guard(*io_);
    io_->run_one_until(std::min(deadline, now + kStopLook));
  }
  if ((*answer)->found.empty()) return core::MakeError(operation, (*answer)->failure);
  return (*answer)->found;
}

core::Result<unsigned> HttpPost::Send(const HttpHeaders& headers, std::string_view body,
                                      Deadline deadline, const Cancellation& stop) {
  const core::Result<int> stop_fd = stop.fd();
  if (!stop_fd) return stop_fd.error();
  const core::Result<Addresses> addresses = Resolve(deadline, stop);
  if (!addresses) return addresses.error();
  std::string request = "POST " + target_.path + " HTTP/1.1\r\nHost: " + target_.authority +
                        "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
                        "\r\n";
  for (const auto& [name, value] : headers)
    request.append(name).append(": ").append(value).append("\r\n");
  request.append("\r\n").append(body);
  core::Error failure = core::MakeError(
      "connect to " + target_.host.text,
      "it has no address of this machine; a private network must be named in allow_private");
  for (const address& each : *addresses) {
    if (!target_.Permits(each)) continue;
    core::Result<core::UniqueFd> fd =
        Connect(tcp::endpoint(each, target_.port), deadline, *stop_fd);
    if (!fd) {
      failure = fd.error();
      if (failure.error_number == ECANCELED) return failure;
      continue;
    }
    if (core::Result<void> sent = SendAll(fd->get(), request, deadline, *stop_fd); !sent) {
      return sent.error();
    }
    return ReceiveStatus(fd->get(), deadline, *stop_fd);
  }
  return failure;
}

}  // namespace belljar::server::events
