#include "server/http/service.h"

#include <algorithm>
#include <utility>

#include "server/http/connection.h"

namespace belljar::server::http {
namespace {

using std::chrono::milliseconds;

// Number of excess connections per sweep that are answered with 503 instead of just being closed.
constexpr size_t kMaxRejections = 64;

// Number of bodies of maximum size that may be buffered at a time.
constexpr size_t kMaxConcurrentBodies = 16;
constexpr size_t kMaxUnsentTotal = 512 << 20;

// Timeouts may be up to one eighth late: one timer for all connections is cheaper than one per step
// of each request.
milliseconds SweepInterval(const HttpConfig& config) {
  const milliseconds shortest = std::min(
      {config.header_timeout, config.body_timeout, config.write_timeout, config.idle_timeout});
  return std::clamp(shortest / 8, milliseconds(5), milliseconds(1000));
}

}  // namespace

HttpService::HttpService(boost::asio::io_context& io, HttpConfig http, HostRules host_rules,
                         Tokens callers, MessageHandler& messages, Router routes,
                         HttpMonitoring monitors)
    : config(std::move(http)),
      hosts(std::move(host_rules)),
      tokens(std::move(callers)),
      handler(messages),
      router(std::move(routes)),
      monitoring(std::move(monitors)),
      replies(std::make_shared<ReplyQueue>(io)),
      sweep_timer_(io),
      sweep_interval_(SweepInterval(config)) {}

void HttpService::Add(boost::asio::ip::tcp::socket socket, std::string peer) {
  const bool full = connections_.size() >= config.max_connections;
  if (full && ++turned_away_ > kMaxRejections) return;
  auto connection =
      std::make_shared<Connection>(shared_from_this(), std::move(socket), std::move(peer));
  connections_.insert(connection);
  ScheduleSweep();
  if (full) {
    connection->Reject();
  } else {
    connection->Start();
  }
}

void HttpService::Drain() {
  draining_ = true;
  const std::vector<std::shared_ptr<Connection>> all(connections_.begin(), connections_.end());
  for (const auto& connection : all) connection->CloseIfKept();
}

void HttpService::CloseIdle() {
  const std::vector<std::shared_ptr<Connection>> all(connections_.begin(), connections_.end());
  for (const auto& connection : all) connection->CloseIfIdle();
}

void HttpService::Close() {
  draining_ = true;
  replies->Close();
  sweep_timer_.cancel();
  const std::vector<std::shared_ptr<Connection>> all(connections_.begin(), connections_.end());
  for (const auto& connection : all) connection->Close();
}

bool HttpService::ReserveBodyBytes(size_t bytes) {
  if (bodies_ + bytes > kMaxConcurrentBodies * config.max_body.count) return false;
  bodies_ += bytes;
  return true;
}

void HttpService::HoldUnsent(size_t bytes, const Connection& sender) {
  unsent_ += bytes;
  while (unsent_ > kMaxUnsentTotal) {
    std::shared_ptr<Connection> slowest;
    for (const auto& each : connections_) {
      if (each.get() == &sender || !each->is_writing()) continue;
      if (!slowest || each->write_deadline() < slowest->write_deadline()) slowest = each;
    }
    if (!slowest) return;
    slowest->Close();
  }
}

void HttpService::ScheduleSweep() {
  if (sweep_is_scheduled_ || connections_.empty()) return;
  sweep_is_scheduled_ = true;
  sweep_timer_.expires_after(sweep_interval_);
  sweep_timer_.async_wait([self = shared_from_this()](boost::system::error_code error) {
    self->sweep_is_scheduled_ = false;
    if (!error) self->Sweep();
  });
}

void HttpService::Sweep() {
  turned_away_ = 0;
  const auto now = std::chrono::steady_clock::now();
  const std::vector<std::shared_ptr<Connection>> all(connections_.begin(), connections_.end());
  for (const auto& connection : all) connection->CheckDeadline(now);
  ScheduleSweep();
}

}  // namespace belljar::server::http
