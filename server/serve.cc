#include "server/serve.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/version.h"
#include "engine/outside/machine.h"
#include "server/audit/audit_log.h"
#include "server/audit/audit_observer.h"
#include "server/audit/audited_tool.h"
#include "server/audit/log_folder.h"
#include "server/core/execution.h"
#include "server/core/resource_store.h"
#include "server/core/session_registry.h"
#include "server/events/event_service.h"
#include "server/fronts/fronts.h"
#include "server/http/http_server.h"
#include "server/instructions.h"
#include "server/jobs/job_runner.h"
#include "server/jobs/postgres_job_store.h"
#include "server/jobs/sqlite_job_store.h"
#include "server/mcp/service.h"
#include "server/operations/call_observers.h"
#include "server/operations/log.h"
#include "server/operations/metrics.h"
#include "server/rest/job_service.h"
#include "server/rest/rest_service.h"
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

// Of the full answers, by tool.
nlohmann::ordered_json AnswerSchemas() {
  nlohmann::ordered_json schemas = {{"execute_code", tools::OutcomeSchema()},
                                    {"validate_code", tools::FullValidationSchema()},
                                    {"get_sandbox_info", tools::FullSandboxInfoSchema()}};
  schemas.update(tools::SessionSchemas());
  return schemas;
}

// Null: the operator wants none.
core::Result<std::unique_ptr<jobs::JobStore>> OpenJobs(const JobsConfig& config) {
  if (config.store.empty()) return std::unique_ptr<jobs::JobStore>();
  jobs::JobLimits limits;
  limits.owner_jobs = config.per_owner;
  limits.jobs = config.total;
  limits.retention = config.retention;
  limits.retained = config.retained;
  limits.lease = config.lease;
  if (config.store.find("://") != std::string::npos) {
    return jobs::OpenPostgresJobStore({.url = config.store, .limits = limits});
  }
  return jobs::OpenSqliteJobStore({.path = config.store, .limits = limits});
}

operations::Log::Fields FieldsOf(const audit::Notice& notice) {
  operations::Log::Fields fields = operations::Log::Fields::object();
  for (const auto& [name, value] : notice.facts) fields[std::string(name)] = value;
  return fields;
}

// Null: the operator wants none. `log` is borrowed.
core::Result<std::unique_ptr<audit::AuditLog>> OpenAudit(AuditConfig config, operations::Log& log) {
  if (!config.enabled) return std::unique_ptr<audit::AuditLog>();
  if (config.folder.empty()) config.folder = audit::DefaultFolder();
  if (config.folder.empty()) {
    return core::MakeError("open the audit log", "this user has no home: name audit.folder");
  }
  return audit::AuditLog::Open(config, [&log](const audit::Notice& notice) {
    log.Write(notice.is_fault ? operations::LogLevel::kError : operations::LogLevel::kInfo,
              notice.event, FieldsOf(notice));
  });
}

std::vector<audit::Setting> SettingsOf(const operations::StartRecord& record) {
  return {{"listen", record.listen},
          {"profiles", core::Joined(record.profiles)},
          {"isolation", record.isolation},
          {"language", record.language},
          {"tokens", core::Joined(record.tokens)}};
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
         std::unique_ptr<audit::AuditLog> audit, std::unique_ptr<jobs::JobStore> job_store,
         std::unique_ptr<events::EventService> events, const outside::ProfileCatalogue& catalogue,
         std::unique_ptr<tools::Sandboxes> sandboxes)
      : config_(config),
        log_(std::move(log)),
        audit_(std::move(audit)),
        audit_observer_(audit_ ? std::make_unique<audit::AuditObserver>(*audit_, config_.audit)
                               : nullptr),
        metrics_({host::kBelljarVersion, host::kPythonVersion}),
        events_(std::move(events)),
        observers_(Observers({&metrics_, log_.get(), audit_observer_.get(), events_->observer()})),
        sandboxes_(std::move(sandboxes)),
        sessions_(config.sessions),
        queue_({Running(config), config.execution.waiting}),
        service_({.version = host::kBelljarVersion, .instructions = kInstructions},
                 Tools(catalogue, config_.answers), queue_, TellRefusals(), &resources_,
                 &observers_),
        job_store_(std::move(job_store)) {
    if (config_.http && config_.http->rest) MakeRest(catalogue);
    if (config_.http) fronts_.emplace(FrontParts(catalogue), queue_, TellRefusals());
    sessions_.TellCloses([this](const std::string& owner, const RegisteredSession& session,
                                SessionRegistry::Cause cause, const std::string& why) {
      const bool is_evicted = cause == SessionRegistry::Cause::kEvicted;
      observers_.SessionChanged(
          {is_evicted ? "evicted" : "closed", owner, session.id(), tools::ProfileOf(session), why});
    });
  }

  // Sessions are closed in time from now on.
  core::Result<void> WatchSessions() { return sessions_.Start(); }
  // Jobs are run from now on.
  core::Result<void> StartJobs() {
    return job_runner_ ? job_runner_->Start() : core::Result<void>();
  }
  void StopJobs() {
    if (job_runner_) job_runner_->StopClaiming();
  }

  ~Server() {
    CancelAll();
    if (queue_.Drain(Clock::now() + kLastMoment)) return;
    sessions_.CloseAll("the server was stopped");  // which calls may still wait for
  }

  mcp::McpService& service() { return service_; }
  // What answers requests besides MCP's.
  std::vector<WebHandler*> web() {
    std::vector<WebHandler*> handlers = fronts_ ? fronts_->handlers() : std::vector<WebHandler*>();
    if (rest_) handlers.push_back(&*rest_);
    for (WebHandler* each : events_->handlers()) handlers.push_back(each);
    return handlers;
  }
  void CancelAll() {
    service_.CancelAll();
    if (fronts_) fronts_->CancelAll();
    if (rest_) rest_->CancelAll();
    if (job_runner_) job_runner_->InterruptAll();
  }
  CallQueue& queue() { return queue_; }
  operations::Log& log() { return *log_; }
  operations::Metrics& metrics() { return metrics_; }
  events::EventService& events() { return *events_; }

  void ReadMetricsFrom(std::function<size_t()> http_connections) {
    metrics_.ReadFrom({[this] { return queue_.counters(); }, [this] { return Spares(); },
                       std::move(http_connections), SessionCount(), Audit(),
                       [this] { return FiguresOf(*events_); }});
  }

  void AuthenticationFailed(std::string_view peer) {
    metrics_.AuthenticationFailed();
    log_->AuthenticationFailed(peer, "no valid token");
    if (audit_observer_) audit_observer_->Refused("", "authentication_failed", peer);
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
    if (audit_observer_) audit_observer_->Started(SettingsOf(record));
  }

  void LogStopping(const char* reason) {
    const CallQueue::Counters counters = queue_.counters();
    log_->Stopping(reason, counters.running, counters.waiting);
  }

 private:
  std::vector<std::unique_ptr<Tool>> Tools(const outside::ProfileCatalogue& catalogue,
                                           const AnswersConfig& answers) {
    std::vector<std::unique_ptr<Tool>> tools =
        tools::MakeTools(*sandboxes_, catalogue, answers, resources_, &observers_, sessions());
    return audit_ ? audit::WithAudit(std::move(tools), *audit_) : std::move(tools);
  }

  std::function<operations::AuditFigures()> Audit() const {
    if (!audit_) return {};
    return [this] {
      const audit::AuditLog::Figures now = audit_->figures();
      return operations::AuditFigures{now.entries, now.failures, now.lost, now.waiting,
                                      now.is_failing};
    };
  }

  std::function<size_t()> SessionCount() const {
    if (!config_.sessions.enabled) return {};
    return [this] { return sessions_.open(); };
  }

  // nullopt: the operator has not enabled it, for which the profile is named.
  std::optional<fronts::FrontTerms> TermsOf(const std::string& profile) {
    if (profile.empty()) return std::nullopt;
    const core::Result<const tools::EnabledProfile*> chosen =
        sandboxes_->Choose(&profile, Caller());
    if (!chosen) return std::nullopt;  // the configuration was checked
    return fronts::FrontTerms{profile, (*chosen)->profile.workspace.has_value(), (*chosen)->limits,
                              (*chosen)->profile.maximum_limits};
  }

  fronts::Fronts::Parts FrontParts(const outside::ProfileCatalogue& catalogue) {
    AnswersConfig answers = config_.answers;
    answers.detail = "full";
    fronts::Fronts::Parts parts;
    parts.tools = Tools(catalogue, answers);
    parts.sandbox_fusion = TermsOf(config_.fronts.sandbox_fusion);
    parts.piston = TermsOf(config_.fronts.piston);
    parts.judge0 = TermsOf(config_.fronts.judge0);
    parts.version = host::kBelljarVersion;
    parts.python_version = host::kPythonVersion;
    parts.queue = config_.execution.waiting;
    parts.observer = &observers_;
    return parts;
  }

  // The API, and jobs if there are any. Its answers are complete unless a request says otherwise.
  void MakeRest(const outside::ProfileCatalogue& catalogue) {
    AnswersConfig answers = config_.answers;
    answers.detail = "full";
    if (job_store_) MakeJobs(Tools(catalogue, answers));
    rest::RestService::Parts parts;
    parts.tools = Tools(catalogue, answers);
    parts.answers = AnswerSchemas();
    parts.version = host::kBelljarVersion;
    parts.python_version = host::kPythonVersion;
    parts.profiles = config_.execution.profiles;
    parts.limits = Limits();
    parts.statistics = [this] { return Statistics(); };
    parts.observer = &observers_;
    parts.jobs = job_service_ ? &*job_service_ : nullptr;
    parts.has_tokens = !config_.tokens.empty();
    parts.batch_width = Running(config_);
    rest_.emplace(std::move(parts), queue_, TellRefusals(), resources_, sessions());
  }

  void MakeJobs(std::vector<std::unique_ptr<Tool>> tools) {
    job_tools_ = std::move(tools);
    jobs::JobRunner::Options options;
    options.tools = {{rest::kExecutionKind, job_tools_.front().get()}};
    options.callers = [this](const std::string& owner) { return CallerNamed(owner); };
    options.width = Running(config_);
    options.renewal = config_.jobs.lease / 3;
    options.on_failure = [this](const core::Error& error) { log_->JobsFailed(error.ToString()); };
    job_runner_.emplace(*job_store_, queue_, std::move(options));
    job_service_.emplace(*job_store_, *job_runner_);
  }

  // Who submitted a job, with what the operator grants them now.
  std::optional<Caller> CallerNamed(const std::string& name) const {
    if (config_.tokens.empty())
      return name == Caller().name ? std::optional(Caller()) : std::nullopt;
    for (const TokenConfig& token : config_.tokens) {
      if (token.caller.name == name) return token.caller;
    }
    return std::nullopt;
  }

  nlohmann::ordered_json Limits() const {
    const SessionsConfig& sessions = config_.sessions;
    return {{"running", Running(config_)},
            {"waiting", config_.execution.waiting},
            {"body_bytes", config_.http->max_body.count},
            {"batch", rest::kMaxBatch},
            {"sessions",
             {{"enabled", sessions.enabled},
              {"per_token", sessions.per_owner},
              {"total", sessions.total},
              {"idle", sessions.idle.count() / 1000},
              {"lifetime", sessions.lifetime.count() / 1000},
              {"checkpoints", sessions.checkpoints}}}};
  }

  nlohmann::ordered_json Statistics() const {
    const CallQueue::Counters queue = queue_.counters();
    nlohmann::ordered_json workers = nlohmann::ordered_json::array();
    for (const tools::Sandboxes::Counted& each : sandboxes_->counters()) {
      workers.push_back({{"profile", each.profile},
                         {"waiting", each.counters.waiting},
                         {"spawned", each.counters.workers_spawned}});
    }
    return {{"queue",
             {{"running", queue.running}, {"waiting", queue.waiting}, {"refused", queue.refused}}},
            {"sessions", {{"open", sessions_.open()}}},
            {"workers", std::move(workers)}};
  }

  SessionRegistry* sessions() { return config_.sessions.enabled ? &sessions_ : nullptr; }

  // Tells the operator about calls that the queue refuses.
  ToolCalls::RefusalListener TellRefusals() {
    return [this](const Caller& caller, const CallQueue::Refusal& refusal) {
      const std::string_view reason = NameOf(refusal.reason);
      log_->Overloaded(caller.name, reason, refusal.running, refusal.waiting);
      if (audit_observer_) audit_observer_->Refused(caller.name, "overloaded", reason);
    };
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
  const std::unique_ptr<audit::AuditLog> audit_;  // null: there is none; and so below
  const std::unique_ptr<audit::AuditObserver> audit_observer_;
  operations::Metrics metrics_;
  const std::unique_ptr<events::EventService> events_;
  operations::CallObservers observers_;
  const std::unique_ptr<tools::Sandboxes> sandboxes_;
  ResourceStore resources_;
  SessionRegistry sessions_;
  CallQueue queue_;
  mcp::McpService service_;
  const std::unique_ptr<jobs::JobStore> job_store_;
  std::vector<std::unique_ptr<Tool>> job_tools_;
  std::optional<jobs::JobRunner> job_runner_;
  std::optional<rest::JobService> job_service_;
  std::optional<rest::RestService> rest_;
  std::optional<fronts::Fronts> fronts_;
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
    server.CancelAll();
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
    server_.StopJobs();
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
      server_.CancelAll();
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
    server.AuthenticationFailed(access.peer);
  };
  return monitoring;
}

core::Result<void> ServeHttp(boost::asio::io_context& io, Server& server,
                             const ServerConfig& config, int stop_fd) {
  HttpConfig http_config = *config.http;
  http_config.max_connections = ConnectionsWithinLimit(config, Running(config));
  core::Result<std::unique_ptr<http::HttpServer>> listening = http::HttpServer::Listen(
      io, http_config, config.tokens, server.service(), Monitor(server), server.web());
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
  core::Result<std::unique_ptr<audit::AuditLog>> audit = OpenAudit(config.audit, **log);
  if (!audit) return audit.error();
  core::Result<std::unique_ptr<jobs::JobStore>> job_store = OpenJobs(config.jobs);
  if (!job_store) return job_store.error();
  operations::Log& entries = **log;
  core::Result<std::unique_ptr<events::EventService>> events = events::EventService::Open(
      config, host::kBelljarVersion, [&entries](const events::EventService::Failure& failure) {
        entries.DeliveryFailed(failure.receiver, failure.why, failure.attempts, failure.lost);
      });
  if (!events) return events.error();
  // Outlives the server, whose last calls may still use it for their answers.
  boost::asio::io_context io(1);
  Server server(config, std::move(*log), std::move(*audit), std::move(*job_store),
                std::move(*events), catalogue, std::move(*sandboxes));
  if (core::Result<void> watched = server.WatchSessions(); !watched) return watched.error();
  if (core::Result<void> started = server.StartJobs(); !started) return started.error();
  return config.http ? ServeHttp(io, server, config, stop_fd) : ServeStdio(server, config, stop_fd);
}

std::string FullAnswerSchemas() { return AnswerSchemas().dump(); }

}  // namespace belljar::server
