// A server on loopback with a handler that the test writes, and a client that sends bytes as the
// test spells them.
#ifndef BELLJAR_TESTS_SERVER_HTTP_CLIENT_H_
#define BELLJAR_TESTS_SERVER_HTTP_CLIENT_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/core/fd.h"
#include "server/core/exchange.h"
#include "server/http/http_server.h"
#include "tests/support/support.h"

namespace belljar::tests {

using std::chrono::milliseconds;

// Echoes, unless the test says otherwise.
class FakeHandler : public server::MessageHandler {
 public:
  std::function<void(server::IncomingMessage, std::shared_ptr<server::Reply>)> on_message =
      [](server::IncomingMessage message, std::shared_ptr<server::Reply> reply) {
        reply->Finish({server::Answer::Kind::kResult, message.text, std::nullopt, ""});
      };
  std::atomic<int> messages = 0;

  void Handle(server::IncomingMessage message, std::shared_ptr<server::Reply> reply) override {
    ++messages;
    on_message(std::move(message), std::move(reply));
  }
  bool End(const server::Caller&, const std::string& conversation) override {
    return conversation == "alive";
  }
};

// What on_message keeps for the test to answer later, from the test's own thread.
struct Pending {
  server::IncomingMessage message;
  std::shared_ptr<server::Reply> reply;
};

class PendingMessages {
 public:
  void KeepAll(FakeHandler& handler) {
    handler.on_message = [this](server::IncomingMessage message,
                                std::shared_ptr<server::Reply> reply) {
      std::lock_guard lock(mutex_);
      kept_.push_back({std::move(message), std::move(reply)});
      came_.notify_all();
    };
  }
  // Blocks; the oldest.
  Pending Next() {
    std::unique_lock lock(mutex_);
    if (!came_.wait_for(lock, std::chrono::seconds(20), [this] { return !kept_.empty(); })) {
      ADD_FAILURE() << "no message came";
      std::abort();
    }
    Pending pending = std::move(kept_.front());
    kept_.erase(kept_.begin());
    return pending;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<Pending> kept_;
};

class TestServer {
 public:
  explicit TestServer(FakeHandler& handler, server::HttpConfig config = {},
                      std::vector<server::TokenConfig> tokens = {},
                      server::http::HttpMonitoring monitoring = {},
                      const std::vector<server::WebHandler*>& web = {}) {
    config.port = 0;
    auto server =
        server::http::HttpServer::Listen(io_, config, tokens, handler, std::move(monitoring), web);
    if (!server) {
      ADD_FAILURE() << server.error().ToString();
      std::abort();
    }
    server_ = std::move(*server);
    port_ = server_->port();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~TestServer() {
    if (server_) Destroy();
    io_.stop();
    thread_.join();
  }
  uint16_t port() const { return port_; }
  // On the IO thread, as the server wants it.
  template <typename Body>
  auto Do(Body body) {
    std::packaged_task<decltype(body(*server_))()> task([&] { return body(*server_); });
    auto done = task.get_future();
    boost::asio::post(io_, [&] { task(); });
    return done.get();
  }
  size_t connections() {
    return Do([](server::http::HttpServer& server) { return server.connections(); });
  }
  size_t body_bytes() {
    return Do([](server::http::HttpServer& server) { return server.body_bytes(); });
  }
  void StopAccepting() {
    Do([](server::http::HttpServer& server) { server.StopAccepting(); });
  }
  void Destroy() {
    Do([this](server::http::HttpServer&) { server_.reset(); });
  }

 private:
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  std::unique_ptr<server::http::HttpServer> server_;
  uint16_t port_ = 0;
  std::thread thread_;
};

// One answer as it was read. Header names are in lower case.
struct RawAnswer {
  int status = 0;  // 0: the connection ended before there was one
  std::map<std::string, std::string> headers;
  std::string body;
  std::string Header(const std::string& name) const {
    auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

class RawClient {
 public:
  explicit RawClient(uint16_t port, int receive_buffer = 0, bool v6 = false)
      : fd_(socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_buffer > 0) {
      setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    sockaddr_in v4_address{};
    v4_address.sin_family = AF_INET;
    v4_address.sin_port = htons(port);
    v4_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr_in6 v6_address{};
    v6_address.sin6_family = AF_INET6;
    v6_address.sin6_port = htons(port);
    v6_address.sin6_addr = in6addr_loopback;
    const auto* address = v6 ? reinterpret_cast<const sockaddr*>(&v6_address)
                             : reinterpret_cast<const sockaddr*>(&v4_address);
    connected_ = connect(fd_.get(), address, v6 ? sizeof v6_address : sizeof v4_address) == 0;
  }

  bool connected() const { return connected_; }

  // False: the server has closed.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t sent = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // Reads exactly one answer, 100 Continue included.
  RawAnswer Receive(bool to_head = false) {
    RawAnswer answer;
    size_t end;
    while ((end = input_.find("\r\n\r\n")) == std::string::npos) {
      if (!More()) return answer;
    }
    ParseHead(input_.substr(0, end + 2), answer);
    input_.erase(0, end + 4);
    if (to_head || answer.status == 100 || answer.status == 204) return answer;
    if (answer.Header("transfer-encoding") == "chunked") {
      while (auto chunk = NextChunk()) answer.body += *chunk;
    } else if (!answer.Header("content-length").empty()) {
      const size_t length = std::stoul(answer.Header("content-length"));
      while (input_.size() < length && More()) continue;
      answer.body = input_.substr(0, length);
      input_.erase(0, length);
    } else {
      while (More()) continue;
      answer.body = std::exchange(input_, "");
    }
    return answer;
  }
  // For streams: the head, then chunk by chunk; nullopt: that was the last.
  RawAnswer ReceiveHead() { return Receive(true); }
  std::optional<std::string> NextChunk() {
    size_t end;
    while ((end = input_.find("\r\n")) == std::string::npos) {
      if (!More()) return std::nullopt;
    }
    const size_t size = std::stoul(input_.substr(0, end), nullptr, 16);
    while (input_.size() < end + 2 + size + 2) {
      if (!More()) return std::nullopt;
    }
    std::string chunk = input_.substr(end + 2, size);
    input_.erase(0, end + 2 + size + 2);
    if (size == 0) return std::nullopt;
    return chunk;
  }

  void ShutdownWrite() { shutdown(fd_.get(), SHUT_WR); }
  // Closes with a reset, not with a FIN.
  void Reset() {
    const linger now{1, 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    fd_.Reset();
  }
  void Close() { fd_.Reset(); }
  // True: nothing more came, and the server has closed, in time.
  bool IsClosed(milliseconds within = std::chrono::seconds(20)) {
    return input_.empty() && Poll(within) && !More();
  }
  // True: nothing came for so long.
  bool IsSilent(milliseconds for_so_long) { return input_.empty() && !Poll(for_so_long); }

 private:
  bool Poll(milliseconds within) {
    pollfd entry{fd_.get(), POLLIN, 0};
    return poll(&entry, 1, static_cast<int>(within.count())) == 1;
  }
  bool More() {
    char buffer[65536];
    if (!Poll(std::chrono::seconds(20))) {
      ADD_FAILURE() << "the server says nothing; so far: " << input_.substr(0, 1000);
      return false;
    }
    ssize_t size = recv(fd_.get(), buffer, sizeof buffer, 0);
    if (size <= 0) return false;
    input_.append(buffer, static_cast<size_t>(size));
    return true;
  }
  static void ParseHead(const std::string& head, RawAnswer& answer) {
    answer.status = std::stoi(head.substr(9, 3));
    size_t at = head.find("\r\n") + 2;
    while (at < head.size()) {
      const size_t end = head.find("\r\n", at);
      const std::string line = head.substr(at, end - at);
      std::string name = line.substr(0, line.find(':'));
      for (char& c : name) c = static_cast<char>(std::tolower(c));
      EXPECT_EQ(answer.headers.count(name), 0u) << "twice: " << line;
      answer.headers[name] = line.substr(line.find(':') + 2);
      at = end + 2;
    }
  }

  core::UniqueFd fd_;
  bool connected_ = false;
  std::string input_;
};

// "POST /mcp" as clients send it. `headers`: whole lines.
inline std::string Post(std::string_view body, std::string_view headers = "") {
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
         "Accept: application/json, text/event-stream\r\n" +
         std::string(headers) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

inline std::string Get(std::string_view path, std::string_view headers = "") {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(headers) +
         "\r\n";
}

// One request on a connection of its own.
inline RawAnswer Ask(const TestServer& server, std::string_view request) {
  RawClient client(server.port());
  client.Send(request);
  return client.Receive(request.starts_with("HEAD "));
}

inline server::TokenConfig MakeToken(std::string name, char letter) {
  server::TokenConfig token;
  token.secret = std::string(40, letter);
  token.caller.name = std::move(name);
  return token;
}

// Each refusal is an error that JSON-RPC clients can read.
inline void ExpectError(const RawAnswer& answer, int status) {
  EXPECT_EQ(answer.status, status);
  EXPECT_EQ(answer.Header("content-type"), "application/json");
  const auto body = nlohmann::json::parse(answer.body, nullptr, false);
  ASSERT_TRUE(body.is_object()) << answer.body;
  EXPECT_EQ(body["jsonrpc"], "2.0");
  EXPECT_TRUE(body["id"].is_null());
  EXPECT_EQ(body["error"]["code"], -32000);
  EXPECT_FALSE(body["error"]["message"].get<std::string>().empty());
}

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_SERVER_HTTP_CLIENT_H_
