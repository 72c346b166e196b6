#include "server/events/http_post.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <charconv>
#include <optional>

#include "engine/core/text.h"
#include "server/events/libssl.h"
#include "server/events/tls_client.h"

namespace belljar::server::events {
namespace {

using boost::asio::ip::address;
using boost::asio::ip::tcp;
using Deadline = std::chrono::steady_clock::time_point;

constexpr std::string_view kPlainScheme = "http://", kTlsScheme = "https://";
constexpr char kForm[] =
    "write https://HOST[:PORT]/PATH, or http://HOST[:PORT]/PATH of a receiver on this machine";
// Of a response; the status is in its first line.
constexpr size_t kMaxHead = 16 << 10;
constexpr std::chrono::milliseconds kStopLook{100};

bool IsGraphic(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

core::Error Wrong(std::string detail) { return core::MakeError("", std::move(detail)); }

// "HTTP/1.1 204 …"; nullopt: it is something else.
std::optional<unsigned> StatusOf(std::string_view head) {
  if (head.size() < 12 || !head.starts_with("HTTP/1.") || head[8] != ' ') return std::nullopt;
  unsigned status = 0;
  const auto [end, error] = std::from_chars(head.data() + 9, head.data() + 12, status);
  if (error != std::errc() || end != head.data() + 12 || status < 100) return std::nullopt;
  return status;
}

core::Result<unsigned> ReceiveStatus(Connection& connection, const Wait& wait) {
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
    const core::Result<size_t> size = connection.Receive(buffer, wait);
    if (!size) return size.error();
    if (*size == 0) return core::SystemErrorOf(ECONNRESET, "read the response");
    head.append(buffer, *size);
  }
  return core::MakeError("read the response", "it is not one of HTTP/1.1");
}

}  // namespace

core::Result<HttpTarget> HttpTarget::Parse(std::string_view url,
                                           const std::vector<std::string>& allow_private) {
  HttpTarget target;
  target.is_tls = url.starts_with(kTlsScheme);
  const std::string_view scheme = target.is_tls ? kTlsScheme : kPlainScheme;
  if (!url.starts_with(scheme) || !IsGraphic(url) || url.find('#') != url.npos) return Wrong(kForm);
  if (target.is_tls) {
    if (const core::Result<const LibSsl*> library = OpenLibSsl(); !library) {
      return Wrong(library.error().detail);
    }
    target.port = 443;
  }
  const std::string_view rest = url.substr(scheme.size());
  const size_t end = std::min(rest.find_first_of("/?"), rest.size());
  const std::optional<egress::Authority> authority = egress::SplitAuthority(rest.substr(0, end));
  // A user name would be shown with the URL.
  if (!authority || rest.substr(0, end).find('@') != rest.npos) return Wrong(kForm);
  std::optional<egress::HostName> host = egress::HostName::Parse(authority->host);
  if (!host) return Wrong(kForm);
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
    return Wrong(target.host.text +
                 " is not an address of this machine: write https://, or name the private network "
                 "to which plain HTTP may go in allow_private");
  }
  return target;
}

bool HttpTarget::Permits(const address& where) const {
  if (is_tls) return true;
  const address plain = egress::Unmapped(where);
  return plain.is_loopback() ||
         std::any_of(allowed.begin(), allowed.end(),
                     [&](const egress::AddressBlock& block) { return block.Contains(plain); });
}

HttpPost::HttpPost(HttpTarget target)
    : target_(std::move(target)),
      io_(std::make_shared<boost::asio::io_context>(1)),
      resolver_(io_, egress::LookUpByHost) {}

HttpPost::~HttpPost() = default;

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

core::Result<std::unique_ptr<Connection>> HttpPost::ConnectTo(const address& where,
                                                              const Wait& wait) {
  if (target_.is_tls && !tls_) {
    core::Result<TlsClient> client = TlsClient::Create();
    if (!client) return client.error();
    tls_ = std::make_unique<TlsClient>(std::move(*client));
  }
  core::Result<core::UniqueFd> socket = Connect(tcp::endpoint(where, target_.port), wait);
  if (!socket) return socket.error();
  if (tls_) return tls_->Connect(std::move(*socket), target_.host, wait);
  return MakePlainConnection(std::move(*socket));
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
  const Wait wait{deadline, *stop_fd};
  core::Error failure = core::MakeError(
      "connect to " + target_.host.text,
      "it has no address of this machine; write https://, or name a private network in "
      "allow_private");
  for (const address& each : *addresses) {
    if (!target_.Permits(each)) continue;
    core::Result<std::unique_ptr<Connection>> connection = ConnectTo(each, wait);
    if (!connection) {
      failure = connection.error();
      if (failure.error_number == ECANCELED) return failure;
      continue;
    }
    if (core::Result<void> sent = (*connection)->Send(request, wait); !sent) {
      return sent.error();
    }
    return ReceiveStatus(**connection, wait);
  }
  return failure;
}

}  // namespace belljar::server::events
