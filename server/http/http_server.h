// HttpServer: messages over Streamable HTTP at /mcp, the routes of web handlers, and monitoring at
// /healthz, /readyz and /metrics. One thread runs the io_context; all members are called on that
// thread, or while no thread runs it. The handler may answer from any thread, even after the
// connection or the server is gone.
//
//   Result<std::unique_ptr<HttpServer>> server =
//       HttpServer::Listen(io, config, tokens, handler, monitoring);
//   if (!server) return server.error();
//   io.run();
//
// A server cannot distinguish a client that has shut down its sending side from one that is gone.
// Both are treated as gone: peer_gone of the pending message is cancelled at once and pipelined
// requests are dropped. If an answer still arrives, it is sent.
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
#include "server/core/web.h"

namespace belljar::server::http {

// One finished request: its answer was sent, or its client is gone. The views are valid only during
// the call.
struct HttpAccess {
  std::string_view peer;    // the client's address
  std::string_view caller;  // the token's name; "local" if no token is required; may be empty
  std::string_view method;  // "POST"; "other" for unknown methods
  std::string_view path;    // a known path or pattern, or "other"
  unsigned status = 0;      // 0: the client disconnected before a status was sent
  bool streamed = false;
  bool delivered = false;                // the whole response was written in time
  uint64_t received = 0;                 // bytes of the body
  uint64_t sent = 0;                     // bytes, headers included
  std::chrono::microseconds duration{};  // from the end of its headers
};

// Monitoring callbacks. Called on the IO thread; must not block. Empty ones are skipped.
struct HttpMonitoring {
  std::function<std::string()> metrics;  // in the Prometheus text format
  std::function<bool()> ready;           // empty: always ready
  std::function<void(const HttpAccess&)> access;
};

class HttpServer {
 public:
  // Fails if the configuration is unsafe (a non-loopback address without a token) or the address is
  // unavailable. `io`, `handler` and `web` must outlive the server.
  static core::Result<std::unique_ptr<HttpServer>> Listen(boost::asio::io_context& io,
                                                          const HttpConfig& config,
                                                          const std::vector<TokenConfig>& tokens,
                                                          MessageHandler& handler,
                                                          HttpMonitoring monitoring = {},
                                                          const std::vector<WebHandler*>& web = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  // Drops all connections and cancels their pending requests.
  ~HttpServer();

  // The configured port, or the one chosen for 0.
  uint16_t port() const;
  // The tokens that count from now on; requests that have been accepted go on as they are. An
  // error: nothing has changed. Whether a token is required at all cannot change.
  core::Result<void> ReplaceTokens(const std::vector<TokenConfig>& tokens);
  // From now on it is not ready (/readyz), idle connections are closed, and the others close after
  // their answer, including those that have not sent a request yet. New ones are still accepted:
  // clients get an answer, such as 503 for a call, rather than a refused connection.
  void Drain();
  // The end of that: does what Drain does, and also accepts no new connections and closes idle
  // ones. Once connections() is 0, this server no longer keeps io.run() from returning.
  void StopAccepting();
  size_t connections() const;
  // Held for request bodies that are still being received.
  size_t body_bytes() const;

 private:
  class Listener;
  explicit HttpServer(std::shared_ptr<Listener> listener);
  std::shared_ptr<Listener> listener_;
};

}  // namespace belljar::server::http

#endif  // BELLJAR_SERVER_HTTP_HTTP_SERVER_H_
