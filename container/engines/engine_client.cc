#include "container/engines/engine_client.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace belljar::container::engines {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using std::chrono::milliseconds;

constexpr size_t kUploadPiece = 256 << 10;
constexpr uint32_t kMaxHead = 64 << 10;

std::string HowToReach(int error_number) {
  switch (error_number) {
    case ENOENT:
      return "there is no such socket: install and start Docker or Podman, or give the path of "
             "its socket";
    case EACCES:
    case EPERM:
      return "this user may not use it: join the group that owns the socket (which amounts to root "
             "on this machine), or use rootless Podman or runsc";
    case ECONNREFUSED: return "nothing listens there: the engine has stopped; start it";
    case ENOTSOCK: return "that is not a socket";
    case EAGAIN:
    case ETIMEDOUT: return "the engine accepts no connections: it hangs, or is overloaded";
    default: return {};
  }
}

core::Error CannotReach(const std::string& socket, int error_number) {
  return core::SystemErrorOf(error_number, "connect to the container engine at " + socket,
                             HowToReach(error_number));
}

// By hand, since Asio opens sockets without close-on-exec. Connecting to a Unix socket is never in
// progress: it succeeds, is refused, or the queue is currently full.
core::Result<core::UniqueFd> Connect(const std::string& path, core::Deadline deadline) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return CannotReach(path, ENAMETOOLONG);
  }
  memcpy(address.sun_path, path.data(), path.size());
  core::UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return core::SystemError("socket");
  while (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN || core::Clock::now() >= deadline) return CannotReach(path, errno);
    std::this_thread::sleep_for(milliseconds(5));
  }
  return fd;
}

std::string Seconds(milliseconds time) {
  const auto tenths = time.count() / 100;
  return std::to_string(tenths / 10) + (tenths % 10 ? "." + std::to_string(tenths % 10) : "") +
         " s";
}

// One connection. Each step is asynchronous only to have a deadline.
class Exchange {
 public:
  Exchange(const EngineCall& call, const std::string& socket) : call_(call), socket_(socket) {}

  // Asio throws if no descriptor is left for the reactor that each of these has.
  static core::Result<std::unique_ptr<Exchange>> Open(const EngineCall& call,
                                                      const std::string& socket) {
    try {
      auto exchange = std::make_unique<Exchange>(call, socket);
      if (core::Result<void> reached = exchange->Reach(); !reached) return reached.error();
      return exchange;
    } catch (const boost::system::system_error& error) {
      return core::SystemErrorOf(error.code().value(), call.operation);
    }
  }

  core::Result<void> Reach() {
    core::Result<core::UniqueFd> fd = Connect(socket_, core::Clock::now() + *call_.timeout);
    if (!fd) return fd.error();
    boost::system::error_code error;
    stream_.socket().assign(asio::local::stream_protocol(), fd->get(), error);
    if (error) return core::SystemErrorOf(error.value(), call_.operation);
    (void)fd->Release();
    GiveTime();
    return {};
  }

  void GiveTime() { stream_.expires_after(*call_.timeout); }

  template <typename Body>
  http::request<Body> Request() const {
    http::request<Body> request(http::string_to_verb(call_.method), call_.target, 11);
    request.set(http::field::host, "localhost");
    request.set(http::field::user_agent, "belljar");
    return request;
  }

  template <typename Request>
  core::Result<void> Send(Request& request) {
    return Finish(Await([&](auto done) { http::async_write(stream_, request, done); }));
  }

  template <typename Serializer>
  core::Result<void> SendHead(Serializer& serializer) {
    return Finish(Await([&](auto done) { http::async_write_header(stream_, serializer, done); }));
  }

  core::Result<void> SendBytes(std::string_view bytes) {
    return Finish(Await([&](auto done) {
      asio::async_write(stream_, asio::buffer(bytes.data(), bytes.size()), done);
    }));
  }

  core::Result<unsigned> ReadHead() {
    parser_.header_limit(kMaxHead);
    parser_.body_limit(call_.max_answer);
    auto error =
        Await([&](auto done) { http::async_read_header(stream_, buffer_, parser_, done); });
    if (error) return Explain(error);
    return parser_.get().result_int();
  }

  core::Result<EngineAnswer> ReadAnswer() {
    if (!parser_.is_header_done()) {
      if (core::Result<unsigned> head = ReadHead(); !head) return head.error();
    }
    auto error = Await([&](auto done) { http::async_read(stream_, buffer_, parser_, done); });
    if (error) return Explain(error);
    return EngineAnswer{parser_.get().result_int(), std::move(parser_.get().body())};
  }

  // For a connection that has become a raw stream.
  core::Result<core::UniqueFd> TakeSocket() {
    if (buffer_.size() > 0) {
      return core::MakeError(call_.operation,
                             "the engine sent bytes before anything could have run");
    }
    boost::system::error_code error;
    core::UniqueFd fd(stream_.socket().release(error));
    if (error) return core::SystemErrorOf(error.value(), call_.operation);
    return fd;
  }

 private:
  using Stream = beast::basic_stream<asio::local::stream_protocol>;

  template <typename Start>
  boost::system::error_code Await(Start start) {
    boost::system::error_code result;
    start([&result](boost::system::error_code error, size_t) { result = error; });
    io_.restart();
    io_.run();
    return result;
  }

  core::Result<void> Finish(boost::system::error_code error) const {
    if (error) return Explain(error);
    return {};
  }

  core::Error Explain(boost::system::error_code error) const {
    if (error == beast::error::timeout) {
      return core::SystemErrorOf(ETIMEDOUT, call_.operation,
                                 "the container engine has not answered within " +
                                     Seconds(*call_.timeout) + ": it hangs, or is overloaded");
    }
    if (error == http::error::body_limit || error == http::error::header_limit) {
      return core::SystemErrorOf(EMSGSIZE, call_.operation,
                                 "the container engine's answer is longer than " +
                                     std::to_string(call_.max_answer) + " bytes");
    }
    if (error == http::error::end_of_stream || error == http::error::partial_message ||
        error == asio::error::eof || error == asio::error::connection_reset ||
        error == asio::error::broken_pipe) {
      return core::SystemErrorOf(ECONNRESET, call_.operation,
                                 "the container engine closed the connection: it was stopped, or "
                                 "restarted; start it and try again");
    }
    return core::MakeError(call_.operation, "the service at " + socket_ +
                                                " does not speak the Docker Engine API (" +
                                                error.message() + ")");
  }

  const EngineCall& call_;
  const std::string& socket_;
  asio::io_context io_{1};
  Stream stream_{io_};
  beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
};

}  // namespace

core::Result<EngineAnswer> EngineClient::Call(const EngineCall& call) const {
  core::Result<std::unique_ptr<Exchange>> open = Exchange::Open(call, socket_);
  if (!open) return open.error();
  Exchange& exchange = **open;
  auto request = exchange.Request<http::string_body>();
  if (!call.body.empty()) request.set(http::field::content_type, "application/json");
  request.body() = call.body;
  request.keep_alive(false);
  request.prepare_payload();
  if (core::Result<void> sent = exchange.Send(request); !sent) return sent.error();
  return exchange.ReadAnswer();
}

core::Result<EngineAnswer> EngineClient::Upload(
    const EngineCall& call, int file, uint64_t size,
    const std::function<void(uint64_t sent)>& progress) const {
  core::Result<std::unique_ptr<Exchange>> open = Exchange::Open(call, socket_);
  if (!open) return open.error();
  Exchange& exchange = **open;
  auto request = exchange.Request<http::empty_body>();
  request.set(http::field::content_type, "application/x-tar");
  request.keep_alive(false);
  request.content_length(size);
  http::request_serializer<http::empty_body> serializer(request);
  if (core::Result<void> sent = exchange.SendHead(serializer); !sent) return sent.error();
  std::vector<char> piece(kUploadPiece);
  for (uint64_t sent = 0; sent < size;) {
    const ssize_t got = pread(file, piece.data(), std::min<uint64_t>(piece.size(), size - sent),
                              static_cast<off_t>(sent));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return core::SystemError(call.operation, "reading the image");
    if (got == 0)
      return core::MakeError(call.operation, "the image's file was truncated while it was read");
    exchange.GiveTime();
    // The engine has answered early and closed: its answer is more useful than EPIPE.
    if (!exchange.SendBytes({piece.data(), static_cast<size_t>(got)})) break;
    sent += static_cast<uint64_t>(got);
    if (progress) progress(sent);
  }
  exchange.GiveTime();
  return exchange.ReadAnswer();
}

core::Result<core::UniqueFd> EngineClient::Upgrade(const EngineCall& call,
                                                   EngineAnswer& refusal) const {
  core::Result<std::unique_ptr<Exchange>> open = Exchange::Open(call, socket_);
  if (!open) return open.error();
  Exchange& exchange = **open;
  auto request = exchange.Request<http::empty_body>();
  request.set(http::field::connection, "Upgrade");
  request.set(http::field::upgrade, "tcp");
  request.content_length(0);
  if (core::Result<void> sent = exchange.Send(request); !sent) return sent.error();
  core::Result<unsigned> status = exchange.ReadHead();
  if (!status) return status.error();
  // Engines that do not know the header answer 200, which means the same.
  if (*status == 101 || *status == 200) return exchange.TakeSocket();
  core::Result<EngineAnswer> answer = exchange.ReadAnswer();
  if (!answer) return answer.error();
  refusal = std::move(*answer);
  return core::UniqueFd();
}

}  // namespace belljar::container::engines
