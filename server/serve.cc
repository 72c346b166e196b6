#include "server/serve.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>
#include <utility>

#include "engine/host/version.h"
#include "engine/outside/machine.h"
#include "server/core/execution.h"
#include "server/core/resource_store.h"
#include "server/core/session_registry.h"
#include "server/events/event_service.h"
#include "server/http/http_server.h"
#include "server/instructions.h"
#include "server/mcp/service.h"
#include "server/operations/call_observers.h"
#include "server/operations/log.h"
#include "server/operations/metrics.h"
#include "server/stdio/stdio_transport.h"
#include "server/tools/opened_session.h"
#include "server/tools/output_schemas.h"
#include "server/tools/tools.h"

namespace belljar::server {
namespace {

using Clock = std::chrono::steady_clock;

// For cancelled calls to end and the last answers to be sent.
constexpr std::chrono::seconds kLastMoment{5};

// A call mostly waits for its worker, which needs a core: more concurrent calls would only make
// each one slower.
size_t RunningByDefault() { return std::max(4u, 2 * std::thread::hardware_concurrency()); }

size_t Running(const ServerConfig& config) {
  return config.execution.running ? config.execution.running : RunningByDefault();
}

// Connections and workers need descriptors, and the soft limit is often 1,024 while the hard limit
// is far higher. Workers have their own limit.
void RaiseDescriptorLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

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

// Returns the memory of large bodies and answers to the system at once. By default glibc raises its
// threshold after the first one and keeps the memory: a 10 MB server would stay at a gigabyte after
// one busy minute.
void ReturnLongTexts() {
  constexpr int kLong = 256 << 10;
  (void)mallopt(M_MMAP_THRESHOLD, kLong);
}

std::string Url(const HttpConfig& http, uint16_t port) {
  const bool is_ipv6 = http.address.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + http.address + "]" : http.address;
  return "http://" + host + ":" + std::to_string(port) + "/mcp";
}

// Every call would fail for these reasons, so they are logged at startup.
std::vector<std::string> WhyNothingRuns(const ExecutionConfig& execution) {
  std::vector<std::string> reasons;
  if (execution.isolation != "strict") return reasons;
  for (const outside::MachineCheck& check : outside::CheckKernel()) {
    if (check.found || check.need != outside::MachineCheck::Need::kStrict) continue;
    reasons.push_back("every call without a container will fail: strict isolation needs " +
                      check.name + " (" + check.detail + "). To provide it: " + check.how +
                      ". To run without it: --isolation standard");
  }
  return reasons;
}

operations::EventFigures FiguresOf(const events::EventService& events) {
  const events::EventService::Figures figures = events.figures();
  operations::EventFigures shown{figures.published, figures.streams, {}};
  for (const events::Webhooks::Counters& each : figures.webhooks) {
    shown.receivers.push_back({each.webhook, each.delivered, each.failed, each.dropped});
  }
  if (figures.spans) {
    shown.receivers.push_back({"", figures.spans->exported, 0, figures.spans->dropped});
  }
  return shown;
}

std::vector<CallObserver*> Observers(std::vector<CallObserver*> all) {
  std::erase(all, nullptr);
  return all;
}

// Everything except the transport. Members are destroyed in reverse order: the queue first, so that
// no call is left that uses the others.
class Server {
 public:
  Server(const ServerConfig& config, std::unique_ptr<operations::Log> log,
         std::unique_ptr<events::EventService> events, const outside::ProfileCatalogue& catalogue,
         std::unique_ptr<tools::Sandboxes> sandboxes)
      : config_(config),
        log_(std::move(log)),
        metrics_({host::kBelljarVersion, host::kPythonVersion}),
        events_(std::move(events)),
        observers_(Observers({&metrics_, log_.get(), events_->observer()})),
        sandboxes_(std::move(sandboxes)),
        sessions_(config.sessions),
        queue_({Running(config), config.execution.waiting}),
        service_(
            {.version = host::kBelljarVersion, .instructions = kInstructions},
            tools::MakeTools(*sandboxes_, catalogue, config_.answers, resources_, &observers_,
                             config_.sessions.enabled ? &sessions_ : nullptr),
            queue_,
            [this](const Caller& caller, const CallQueue::Refusal& refusal) {
              log_->Overloaded(caller.name, NameOf(refusal.reason), refusal.running,
                               refusal.waiting);
            },
            &resources_, &observers_) {
    sessions_.TellCloses([this](const std::string& owner, const RegisteredSession& session,
                                SessionRegistry::Cause cause, const std::string& why) {
      const bool is_evicted = cause == SessionRegistry::Cause::kEvicted;
      observers_.SessionChanged(
          {is_evicted ? "evicted" : "closed", owner, session.id(), tools::ProfileOf(session), why});
    });
  }

  // Sessions are closed in time from now on.
  core::Result<void> WatchSessions() { return sessions_.Start(); }

  ~Server() {
    service_.CancelAll();
    if (queue_.Drain(Clock::now() + kLastMoment)) return;
    sessions_.CloseAll("the server was stopped");  // which calls may still wait for
  }

  mcp::McpService& service() { return service_; }
  CallQueue& queue() { return queue_; }
  operations::Log& log() { return *log_; }
  operations::Metrics& metrics() { return metrics_; }
  events::EventService& events() { return *events_; }

  void ReadMetricsFrom(std::function<size_t()> http_connections) {
    metrics_.ReadFrom({[this] { return queue_.counters(); }, [this] { return Spares(); },
                       std::move(http_connections), SessionCount(),
                       [this] { return FiguresOf(*events_); }});
  }

  // Calls are answered without delay once the first worker exists.
  bool IsReady() const {
    for (const tools::Sandboxes::Counted& each : sandboxes_->counters()) {
      if (each.counters.workers_spawned > 0) return true;
    }
    return false;
  }

  void LogStart(const std::string& listen) {
    operations::StartRecord record;
    record.version = host::kBelljarVersion;
    record.python = host::kPythonVersion;
    record.listen = listen;
    record.profiles = config_.execution.profiles;
    record.isolation = config_.execution.isolation;
    record.language = config_.execution.language;
    for (const TokenConfig& token : config_.tokens) record.tokens.push_back(token.caller.name);
    if (record.isolation != "strict") {
      record.warnings.push_back(
          "isolation is \"standard\": layers that this machine lacks are skipped");
    }
    if (record.language != "restricted") {
      record.warnings.push_back("language is \"full\": only the kernel layers contain the code");
    }
    for (const tools::EnabledProfile& each : sandboxes_->enabled()) {
      if (!each.profile.full_language) continue;
      record.warnings.push_back("profile " + each.profile.name +
                                " has no language policy: calls may choose that only the kernel "
                                "layers contain the code");
    }
    record.missing = WhyNothingRuns(config_.execution);
    log_->Started(record);
  }

  void LogStopping(const char* reason) {
    const CallQueue::Counters counters = queue_.counters();
    log_->Stopping(reason, counters.running, counters.waiting);
  }

 private:
  std::function<size_t()> SessionCount() const {
    if (!config_.sessions.enabled) return {};
    return [this] { return sessions_.open(); };
  }

  std::vector<operations::SpareGauge> Spares() const {
    std::vector<operations::SpareGauge> gauges;
    for (const tools::Sandboxes::Counted& each : sandboxes_->counters()) {
      gauges.push_back({each.profile, each.counters.waiting, config_.execution.spares});
    }
    return gauges;
  }

  const ServerConfig config_;
  const std::unique_ptr<operations::Log> log_;
  operations::Metrics metrics_;
  const std::unique_ptr<events::EventService> events_;
  operations::CallObservers observers_;
  const std::unique_ptr<tools::Sandboxes> sandboxes_;
  ResourceStore resources_;
  SessionRegistry sessions_;
  CallQueue queue_;
  mcp::McpService service_;
};

core::Result<void> ServeStdio(Server& server, const ServerConfig& config, int stop_fd) {
  server.ReadMetricsFrom({});
  stdio::StdioTransport transport(STDIN_FILENO, STDOUT_FILENO, server.service());
  server.LogStart("stdio");
  core::Result<stdio::StdioTransport::End> end = transport.Run(stop_fd);
  if (!end) return end.error();
  const bool stopped = *end == stdio::StdioTransport::End::kStopped;
  server.LogStopping(stopped ? "signal" : "end of input");
  bool drained =
      server.queue().Drain(Clock::now() + (stopped ? config.drain_timeout : kLastMoment));
  if (!drained) {
    server.service().CancelAll();
    server.queue().Drain(Clock::now() + kLastMoment);
  }
  server.log().Stopped(drained);
  return {};
}

// Graceful shutdown, from the signal to the end of the event loop.
class HttpShutdown {
 public:
  HttpShutdown(boost::asio::io_context& io, Server& server, http::HttpServer& http,
               std::chrono::milliseconds drain_timeout)
      : io_(io), timer_(io), server_(server), http_(http), drain_timeout_(drain_timeout) {}

  void Begin() {
    deadline_ = Clock::now() + drain_timeout_;
    server_.LogStopping("signal");
    http_.StopAccepting();
    server_.queue().Drain(Clock::now());
    Look();
  }

 private:
  void Look() {
    const CallQueue::Counters counters = server_.queue().counters();
    const bool has_calls = counters.running + counters.waiting > 0;
    // Their last events are sent; a stream is a connection that would never end by itself.
    if (!has_calls) server_.events().EndStreams();
    const bool quiet = !has_calls && http_.connections() == 0;
    const Clock::time_point now = Clock::now();
    if (now >= deadline_ && !cancelled_) {
      cancelled_ = true;
      server_.service().CancelAll();
    }
    if (quiet || now >= deadline_ + kLastMoment) {
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
  bool cancelled_ = false;
};

http::HttpMonitoring Monitor(Server& server) {
  http::HttpMonitoring monitoring;
  monitoring.metrics = [&server] { return server.metrics().Text(); };
  monitoring.ready = [&server] { return server.IsReady(); };
  monitoring.access = [&server](const http::HttpAccess& access) {
    if (access.status == 0) return;
    server.metrics().HttpAnswered(static_cast<int>(access.status));
    if (access.status != 401) return;
    server.metrics().AuthenticationFailed();
    server.log().AuthenticationFailed(access.peer, "no valid token");
  };
  return monitoring;
}

core::Result<void> ServeHttp(boost::asio::io_context& io, Server& server,
                             const ServerConfig& config, int stop_fd) {
  HttpConfig http_config = *config.http;
  http_config.max_connections = ConnectionsWithinLimit(config, Running(config));
  core::Result<std::unique_ptr<http::HttpServer>> listening =
      http::HttpServer::Listen(io, http_config, config.tokens, server.service(), Monitor(server),
                               server.events().handlers());
  if (!listening) return listening.error();
  http::HttpServer& http = **listening;
  server.ReadMetricsFrom([&http] { return http.connections(); });
  server.LogStart(Url(*config.http, http.port()));

  HttpShutdown shutdown(io, server, http, config.drain_timeout);
  boost::asio::posix::stream_descriptor stop(io, dup(stop_fd));
  stop.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                  [&](const boost::system::error_code& error) {
                    if (!error) shutdown.Begin();
                  });
  io.run();
  return {};
}

}  // namespace

core::Result<void> Serve(const ServerConfig& config, const outside::ProfileCatalogue& catalogue,
                         int stop_fd) {
  RaiseDescriptorLimit();
  ReturnLongTexts();
  core::Result<std::unique_ptr<tools::Sandboxes>> sandboxes =
      tools::Sandboxes::Open(config.execution, catalogue, config.container, config.packages);
  if (!sandboxes) return sandboxes.error();
  core::Result<std::unique_ptr<operations::Log>> log = operations::Log::Open(config.log);
  if (!log) return log.error();
  operations::Log& entries = **log;
  core::Result<std::unique_ptr<events::EventService>> events = events::EventService::Open(
      config, host::kBelljarVersion, [&entries](const events::EventService::Failure& failure) {
        entries.DeliveryFailed(failure.receiver, failure.why, failure.attempts, failure.lost);
      });
  if (!events) return events.error();
  // Outlives the server, whose last calls may still use it for their answers.
  boost::asio::io_context io(1);
  Server server(config, std::move(*log), std::move(*events), catalogue, std::move(*sandboxes));
  if (core::Result<void> watched = server.WatchSessions(); !watched) return watched.error();
  return config.http ? ServeHttp(io, server, config, stop_fd) : ServeStdio(server, config, stop_fd);
}

std::string FullAnswerSchemas() {
  nlohmann::ordered_json schemas = {{"execute_code", tools::OutcomeSchema()},
                                    {"validate_code", tools::FullValidationSchema()},
                                    {"get_sandbox_info", tools::FullSandboxInfoSchema()}};
  schemas.update(tools::SessionSchemas());
  return schemas.dump();
}

}  // namespace belljar::server
