#include "server/http/http_server.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <optional>
#include <utility>

#include "engine/core/fd.h"
#include "server/http/service.h"

namespace belljar::server::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// Delay when out of descriptors or memory; the connection stays in the listen backlog.
constexpr std::chrono::milliseconds kAcceptPause{100};
// Connections accepted before other work is processed.
constexpr int kMaxAcceptsPerRound = 64;

std::optional<asio::ip::address> ParseAddress(std::string text) {
  if (text == "localhost") text = "127.0.0.1";
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
  }
  boost::system::error_code error;
  asio::ip::address address = asio::ip::make_address(text, error);
  if (error) return std::nullopt;
  return address;
}

std::string Spelled(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  const std::string port = std::to_string(endpoint.port());
  return endpoint.address().is_v6() ? "[" + address + "]:" + port : address + ":" + port;
}

// All sockets are close-on-exec: programs that the server starts must not inherit a client's
// connection. Asio's calls of socket and accept do not set the flag.
core::Result<core::UniqueFd> OpenListeningSocket(const tcp::endpoint& endpoint) {
  const std::string operation = "listen on " + Spelled(endpoint);
  core::UniqueFd fd(
      socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return core::SystemError(operation);
  const int on = 1;
  if (setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) {
    return core::SystemError(operation);
  }
  if (bind(fd.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) {
    return core::SystemError(
        operation, errno == EADDRINUSE
                       ? "the address is in use: choose another port, or 0 for any free one"
                       : "");
  }
  if (listen(fd.get(), SOMAXCONN) != 0) return core::SystemError(operation);
  return fd;
}

}  // namespace

class HttpServer::Listener : public std::enable_shared_from_this<HttpServer::Listener> {
 public:
  Listener(asio::io_context& io, std::shared_ptr<HttpService> service)
      : io_(io), service_(std::move(service)), acceptor_(io), pause_(io) {}

  core::Result<void> Open(const tcp::endpoint& endpoint) {
    core::Result<core::UniqueFd> fd = OpenListeningSocket(endpoint);
    if (!fd) return fd.error();
    boost::system::error_code error;
    acceptor_.assign(endpoint.protocol(), fd->get(), error);
    if (error) return core::SystemErrorOf(error.value(), "watch " + Spelled(endpoint));
    (void)fd->Release();
    port_ = acceptor_.local_endpoint(error).port();
    if (error) return core::SystemErrorOf(error.value(), "read the port of " + Spelled(endpoint));
    Wait();
    return {};
  }

  void Stop() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
  }

  uint16_t port() const { return port_; }
  HttpService& service() const { return *service_; }

 private:
  void Wait() {
    acceptor_.async_wait(tcp::acceptor::wait_read,
                         [self = shared_from_this()](boost::system::error_code error) {
                           if (!error) self->AcceptSome();
                         });
  }

  void AcceptSome() {
    for (int i = 0; i < kMaxAcceptsPerRound; ++i) {
      // Closed by a callback of the previous connection, or since the event.
      if (!acceptor_.is_open()) return;
      tcp::endpoint peer;
      auto length = static_cast<socklen_t>(peer.capacity());
      core::UniqueFd fd(
          accept4(acceptor_.native_handle(), peer.data(), &length, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!fd) {
        if (errno == EAGAIN || errno == EWOULDBLOCK) break;
        if (core::IsExhaustion(errno)) return Pause();
        continue;  // affects only this connection: it was reset while it waited
      }
      peer.resize(length);
      Take(std::move(fd), peer);
    }
    Wait();
  }

  void Take(core::UniqueFd fd, const tcp::endpoint& peer) {
    const int on = 1;
    (void)setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    tcp::socket socket(io_);
    boost::system::error_code error;
    socket.assign(peer.protocol(), fd.get(), error);
    if (error) return;
    (void)fd.Release();
    service_->Add(std::move(socket), peer.address().to_string());
  }

  void Pause() {
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([self = shared_from_this()](boost::system::error_code error) {
      if (!error && self->acceptor_.is_open()) self->AcceptSome();
    });
  }

  asio::io_context& io_;
  const std::shared_ptr<HttpService> service_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  uint16_t port_ = 0;
};

core::Result<std::unique_ptr<HttpServer>> HttpServer::Listen(
    asio::io_context& io, const HttpConfig& config, const std::vector<TokenConfig>& tokens,
    MessageHandler& handler, HttpMonitoring monitoring, const std::vector<WebHandler*>& web) {
  const std::string operation = "listen on " + config.address;
  std::optional<asio::ip::address> address = ParseAddress(config.address);
  if (!address) {
    return core::MakeError(
        operation, "not an IP address; use an address of this machine, such as 127.0.0.1 or ::1");
  }
  if (tokens.empty() && !address->is_loopback()) {
    return core::MakeError(
        operation, "belljar refuses to listen on " + config.address +
                       " without a token: others could run code here. Create one with openssl rand "
                       "-hex 32 and configure it, or listen on 127.0.0.1");
  }
  core::Result<Tokens> callers = Tokens::Make(tokens);
  if (!callers) return callers.error();
  auto service = std::make_shared<HttpService>(
      io, config, HostRules(address->to_string(), config.allowed_hosts, config.allowed_origins),
      std::move(*callers), handler, Router(web), std::move(monitoring));
  auto listener = std::make_shared<Listener>(io, std::move(service));
  core::Result<void> opened = listener->Open(tcp::endpoint(*address, config.port));
  if (!opened) return opened.error();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(listener)));
}

HttpServer::HttpServer(std::shared_ptr<Listener> listener) : listener_(std::move(listener)) {}

HttpServer::~HttpServer() {
  listener_->Stop();
  listener_->service().Close();
}

uint16_t HttpServer::port() const { return listener_->port(); }

core::Result<void> HttpServer::ReplaceTokens(const std::vector<TokenConfig>& configs) {
  core::Result<Tokens> tokens = Tokens::Make(configs);
  if (!tokens) return tokens.error();
  Tokens& current = listener_->service().tokens;
  if (tokens->empty() != current.empty()) {
    return core::MakeError("replace the tokens",
                           current.empty() ? "this server was started without any"
                                           : "there would be none, and everyone a caller");
  }
  tokens->ContinueRates(current);
  current = std::move(*tokens);
  return {};
}

void HttpServer::Drain() { listener_->service().Drain(); }

void HttpServer::StopAccepting() {
  listener_->Stop();
  Drain();
  listener_->service().CloseIdle();
}

size_t HttpServer::connections() const { return listener_->service().connections(); }

size_t HttpServer::body_bytes() const { return listener_->service().body_bytes(); }

}  // namespace belljar::server::http
