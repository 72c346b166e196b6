// HttpServer: messages over Streamable HTTP at /mcp, and what operators look at: /healthz, /readyz,
// /metrics. One thread runs the io_context; every member is called on it, or while nobody runs it.
// The handler answers from any thread, also after the connection or the server is gone.
//
//   Result<std::unique_ptr<HttpServer>> server =
//       HttpServer::Listen(io, config, tokens, handler, monitoring);
//   if (!server) return server.error();
//   io.run();
//
// What a client's end of sending means: a server cannot tell a client that has closed its side of
// the connection from one that is gone. It is taken as gone: peer_gone of the message that is being
// answered is cancelled at once, and requests that came behind it are dropped. An answer that comes
// nevertheless is still sent.
#ifndef BELLJAR_SERVER_HTTP_HTTP_SERVER_H_
#define BELLJAR_SERVER_HTTP_HTTP_SERVER_H_

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "server/core/config.h"
#include "server/core/exchange.h"

namespace belljar::server::http {

// One request, once its answer is sent or its client is gone. Views are valid during the call only.
struct HttpAccess {
  std::string_view peer;    // the client's address
  std::string_view caller;  // the name of its token; "local" where none is asked for; may be empty
  std::string_view method;  // "POST"; "other" for one that HTTP does not know
  std::string_view path;    // one of ours, or "other"
  unsigned status = 0;      // 0: the client was gone before there was one
  bool streamed = false;
  bool delivered = false;                // all of it was handed to the system in time
  uint64_t received = 0;                 // bytes of the body
  uint64_t sent = 0;                     // bytes, headers included
  std::chrono::microseconds duration{};  // from the end of its headers
};

// What the server is asked for beside messages. Each is called on the IO thread and must not block;
// an empty one is left out.
struct HttpMonitoring {
  std::function<std::string()> metrics;  // in Prometheus' text format
  std::function<bool()> ready;           // empty: always
  std::function<void(const HttpAccess&)> access;
};

class HttpServer {
 public:
  // Fails on what would be unsafe (another address than loopback without a token), and where the
  // address cannot be had. `io` and `handler` outlive the server.
  static core::Result<std::unique_ptr<HttpServer>> Listen(boost::asio::io_context& io,
                                                          const HttpConfig& config,
                                                          const std::vector<TokenConfig>& tokens,
                                                          MessageHandler& handler,
                                                          HttpMonitoring monitoring = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  // Drops every connection; what it was waiting for is cancelled.
  ~HttpServer();

  // The one that was asked for, or the one that was found for 0.
  uint16_t port() const;
  // Takes no more connections and closes the idle ones; the others end with the answer they wait
  // for. Once connections() is 0 nothing of this server keeps io.run() from returning.
  void StopAccepting();
  size_t connections() const;

 private:
  class Listener;
  explicit HttpServer(std::shared_ptr<Listener> listener);
  std::shared_ptr<Listener> listener_;
};

}  // namespace belljar::server::http

#endif  // BELLJAR_SERVER_HTTP_HTTP_SERVER_H_
