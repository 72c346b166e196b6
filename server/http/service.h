// HttpService: state shared by all connections of one server, and their registry. Single-threaded.
#ifndef BELLJAR_SERVER_HTTP_SERVICE_H_
#define BELLJAR_SERVER_HTTP_SERVICE_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_set>

#include "server/core/config.h"
#include "server/core/exchange.h"
#include "server/http/host_check.h"
#include "server/http/http_server.h"
#include "server/http/reply_queue.h"
#include "server/http/router.h"
#include "server/http/tokens.h"

namespace belljar::server::http {

class Connection;

class HttpService : public std::enable_shared_from_this<HttpService> {
 public:
  HttpService(boost::asio::io_context& io, HttpConfig config, HostRules hosts, Tokens tokens,
              MessageHandler& handler, Router router, HttpMonitoring monitoring);

  // Serves a client, or rejects it if there are too many connections.
  void Add(boost::asio::ip::tcp::socket socket, std::string peer);
  void Remove(const std::shared_ptr<Connection>& connection) { connections_.erase(connection); }
  size_t connections() const { return connections_.size(); }

  // Closes idle connections now, and the others after their answer. A new connection, whose request
  // may be on its way, gets an answer.
  void Drain();
  void CloseIdle();
  bool draining() const { return draining_; }
  // Closes all connections; handler and monitoring are not called any more.
  void Close();

  // Accounting of buffered bytes over all connections: request bodies being received and unsent
  // output. Returns false if the limit for bodies would be exceeded.
  bool ReserveBodyBytes(size_t bytes);
  void ReleaseBodyBytes(size_t bytes) { bodies_ -= bytes; }
  size_t body_bytes() const { return bodies_; }
  // If the limit is exceeded, closes the connections whose writes have been pending longest, but
  // never `sender`: a client that reads gets even the longest answer.
  void HoldUnsent(size_t bytes, const Connection& sender);
  void ReleaseUnsent(size_t bytes) { unsent_ -= bytes; }

  const HttpConfig config;
  const HostRules hosts;
  Tokens tokens;
  MessageHandler& handler;
  const Router router;
  const HttpMonitoring monitoring;
  const std::shared_ptr<ReplyQueue> replies;

 private:
  void ScheduleSweep();
  void Sweep();

  boost::asio::steady_timer sweep_timer_;
  std::chrono::milliseconds sweep_interval_;
  bool sweep_is_scheduled_ = false;
  bool draining_ = false;
  size_t turned_away_ = 0;  // since the last sweep
  size_t bodies_ = 0;       // bytes, except for small bodies
  size_t unsent_ = 0;       // bytes
  std::unordered_set<std::shared_ptr<Connection>> connections_;
};

}  // namespace belljar::server::http

#endif  // BELLJAR_SERVER_HTTP_SERVICE_H_
