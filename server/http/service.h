// HttpService: what all connections of one server share, and the register of them. One thread.
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
#include <vector>

#include "server/core/config.h"
#include "server/core/exchange.h"
#include "server/http/host_check.h"
#include "server/http/http_server.h"
#include "server/http/reply_queue.h"
#include "server/http/tokens.h"

namespace belljar::server::http {

class Connection;

class HttpService : public std::enable_shared_from_this<HttpService> {
 public:
  HttpService(boost::asio::io_context& io, HttpConfig config, HostRules hosts, Tokens tokens,
              MessageHandler& handler, HttpMonitoring monitoring);

  // Serves a client, or turns it away where there are too many.
  void Add(boost::asio::ip::tcp::socket socket, std::string peer);
  void Remove(const std::shared_ptr<Connection>& connection) { connections_.erase(connection); }
  size_t connections() const { return connections_.size(); }

  // The connections that are idle close; each other one after the answer it waits for.
  void Drain();
  bool draining() const { return draining_; }
  // Every connection closes, and nothing calls handler or monitoring any more.
  void Close();

  // What clients make the server hold, of all connections together: the bodies that are on their
  // way in, and what is on its way out. False: there is no room for that much more of bodies.
  bool HoldOfBodies(size_t bytes);
  void ReleaseOfBodies(size_t bytes) { bodies_ -= bytes; }
  // Where this is too much, the connections go whose clients have been taking longest; never
  // `sender`, so that whoever reads gets even the longest answer.
  void HoldUnsent(size_t bytes, const Connection& sender);
  void ReleaseUnsent(size_t bytes) { unsent_ -= bytes; }

  const HttpConfig config;
  const HostRules hosts;
  Tokens tokens;
  MessageHandler& handler;
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
  size_t bodies_ = 0;       // bytes, of those that are not small
  size_t unsent_ = 0;       // bytes
  std::unordered_set<std::shared_ptr<Connection>> connections_;
};

}  // namespace belljar::server::http

#endif  // BELLJAR_SERVER_HTTP_SERVICE_H_
