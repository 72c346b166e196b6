#include "server/serve_http.h"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <string>
#include <utility>

#include "server/http/http_server.h"

namespace belljar::server {
namespace {

using Clock = std::chrono::steady_clock;

// Clients can connect without a token, so the descriptors that calls need are reserved: per call
// the worker's socket, pipes and capture, and two events. A container's channels to the guest and
// to the engine need no more. Sessions may need many, of which few servers have all: they get at
// most half of what is left.
size_t ConnectionsWithinLimit(const ServerConfig& config, size_t running) {
  constexpr size_t kOfServer = 64, kOfWorker = 16, kOfWaiting = 2, kOfCheckpoint = 3, kMin = 16;
  const ExecutionConfig& execution = config.execution;
  const size_t containers = config.container.enabled ? config.container.max_containers : 0;
  const size_t workers = running + (execution.spares + containers) *
                                       (execution.profiles.size() + execution.combinations);
  const size_t kept = kOfServer + kOfWorker * workers + kOfWaiting * execution.waiting;
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return config.http->max_connections;
  const size_t left = std::max<size_t>(limit.rlim_cur, kept + kMin) - kept;
  const SessionsConfig& sessions = config.sessions;
  const size_t of_sessions =
      sessions.enabled ? sessions.total * (kOfWorker + kOfCheckpoint * sessions.checkpoints) : 0;
  return std::min(config.http->max_connections, left - std::min(of_sessions, left / 2));
}

std::string Url(const HttpConfig& http, uint16_t port) {
  const bool is_ipv6 = http.address.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + http.address + "]" : http.address;
  return "http://" + host + ":" + std::to_string(port) + "/mcp";
}

// Graceful shutdown, from the signal to the end of the event loop.
class HttpShutdown {
 public:
  HttpShutdown(boost::asio::io_context& io, Server& server, http::HttpServer& http,
               std::chrono::milliseconds drain_timeout)
      : io_(io), timer_(io), server_(server), http_(http), drain_timeout_(drain_timeout) {}

  void Begin() {
    if (std::exchange(has_begun_, true)) return;
    deadline_ = Clock::now() + drain_timeout_;
    server_.LogStopping("signal");
    http_.Drain();
    server_.StopJobs();
    server_.queue().Drain(Clock::now());
    Look();
  }

 private:
  void Look() {
    const CallQueue::Counters counters = server_.queue().counters();
    const bool has_calls = counters.running + counters.waiting > 0;
    if (!has_calls) {
      // Until here, load balancers could check whether it is ready. A client that only connects
      // would keep it from ending.
      http_.StopAccepting();
      // Their last events have been sent; a stream is a connection that would never end by itself.
      server_.events().EndStreams();
    }
    const bool quiet = !has_calls && http_.connections() == 0;
    const Clock::time_point now = Clock::now();
    if (now >= deadline_ && !cancelled_) {
      cancelled_ = true;
      server_.CancelAll();
    }
    if (quiet || now >= deadline_ + kShutdownGrace) {
      server_.log().Stopped(!cancelled_);
      return io_.stop();
    }
    timer_.expires_after(std::chrono::milliseconds(20));
    timer_.async_wait([this](const boost::system::error_code&) { Look(); });
  }

  boost::asio::io_context& io_;
  boost::asio::steady_timer timer_;
  Server& server_;
  http::HttpServer& http_;
  const std::chrono::milliseconds drain_timeout_;
  Clock::time_point deadline_;
  bool has_begun_ = false;
  bool cancelled_ = false;
};

// Reads the tokens again whenever it is asked to.
class Reloading {
 public:
  Reloading(boost::asio::io_context& io, Server& server, http::HttpServer& http,
            HttpShutdown& shutdown, const TokenReload& reload)
      : signal_(io),
        pause_(io),
        server_(server),
        http_(http),
        shutdown_(shutdown),
        reload_(reload) {
    if (reload.fd < 0) return;
    signal_.assign(dup(reload.fd));
    Wait();
  }

 private:
  void Wait() {
    signal_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                       [this](const boost::system::error_code& error) {
                         if (!error) OnSignal();
                       });
  }

  void OnSignal() {
    uint64_t count = 0;
    // Before reading the files: a signal that comes meanwhile is for what is changed meanwhile.
    (void)!read(signal_.native_handle(), &count, sizeof count);
    if (terminal_ && HasHungUp()) return shutdown_.Begin();
    if (core::Result<void> reloaded = Reload(); !reloaded) {
      server_.log().ReloadFailed(reloaded.error().ToString());
    }
    // However often it is asked, the server mostly serves.
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([this](const boost::system::error_code& error) {
      if (!error) Wait();
    });
  }

  // SIGHUP is also what a process gets whose terminal is closed.
  static bool HasHungUp() {
    pollfd terminal{STDERR_FILENO, 0, 0};
    return poll(&terminal, 1, 0) == 1 && (terminal.revents & POLLHUP) != 0;
  }

  // Either all of it is done or nothing.
  core::Result<void> Reload() {
    core::Result<TokenReload::Loaded> loaded = reload_.load();
    if (!loaded) return loaded.error();
    if (core::Result<void> replaced = http_.ReplaceTokens(loaded->tokens); !replaced) {
      return replaced;
    }
    for (const std::string& warning : loaded->warnings) {
      server_.log().Write(operations::LogLevel::kWarning, "weak", {{"warning", warning}});
    }
    server_.ReplaceTokens(std::move(loaded->tokens));
    return {};
  }

  boost::asio::posix::stream_descriptor signal_;
  boost::asio::steady_timer pause_;
  Server& server_;
  http::HttpServer& http_;
  HttpShutdown& shutdown_;
  const TokenReload& reload_;
  const bool terminal_ = isatty(STDERR_FILENO) != 0;
};

http::HttpMonitoring Monitor(Server& server) {
  http::HttpMonitoring monitoring;
  monitoring.metrics = [&server] { return server.metrics().Text(); };
  monitoring.ready = [&server] { return server.IsReady(); };
  monitoring.access = [&server](const http::HttpAccess& access) {
    if (access.status == 0) return;
    server.metrics().HttpAnswered(static_cast<int>(access.status));
    if (access.status != 401) return;
    server.AuthenticationFailed(access.peer);
  };
  return monitoring;
}

}  // namespace

core::Result<void> ServeHttp(boost::asio::io_context& io, Server& server,
                             const ServerConfig& config, int stop_fd, const TokenReload& reload) {
  HttpConfig http_config = *config.http;
  http_config.max_connections = ConnectionsWithinLimit(config, Running(config));
  core::Result<std::unique_ptr<http::HttpServer>> listening = http::HttpServer::Listen(
      io, http_config, config.tokens, server.service(), Monitor(server), server.web());
  if (!listening) return listening.error();
  http::HttpServer& http = **listening;
  server.ReadMetricsFrom([&http] { return http.connections(); });
  server.LogStart(Url(*config.http, http.port()));

  HttpShutdown shutdown(io, server, http, config.drain_timeout);
  Reloading reloading(io, server, http, shutdown, reload);
  boost::asio::posix::stream_descriptor stop(io, dup(stop_fd));
  stop.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                  [&](const boost::system::error_code& error) {
                    if (!error) shutdown.Begin();
                  });
  io.run();
  return {};
}

}  // namespace belljar::server
