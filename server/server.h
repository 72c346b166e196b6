// Server: everything in `belljar serve` except the transport: what runs code, what observes it, and
// the APIs on top. serve.h opens the parts and connects it to a transport.
//
//   Server server(config, std::move(parts), catalogue);
//   if (auto started = server.Start(); !started) return started.error();
//   http::HttpServer::Listen(io, …, server.service(), …, server.web());
#ifndef BELLJAR_SERVER_SERVER_H_
#define BELLJAR_SERVER_SERVER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/profiles/profile_catalogue.h"
#include "server/audit/audit_log.h"
#include "server/audit/audit_observer.h"
#include "server/calls/call_queue.h"
#include "server/calls/calls.h"
#include "server/compatible/compatible_apis.h"
#include "server/core/config.h"
#include "server/core/resource_store.h"
#include "server/core/session_registry.h"
#include "server/core/web.h"
#include "server/events/event_service.h"
#include "server/jobs/job_runner.h"
#include "server/jobs/job_store.h"
#include "server/live_limits.h"
#include "server/mcp/service.h"
#include "server/operations/log.h"
#include "server/operations/metrics.h"
#include "server/pages/pages.h"
#include "server/rest/audit_service.h"
#include "server/rest/job_service.h"
#include "server/rest/rest_service.h"
#include "server/tools/tools.h"

namespace belljar::server {

// Time for cancelled calls to end and the last answers to be sent.
inline constexpr std::chrono::seconds kShutdownGrace{5};

// Number of calls that run at a time.
size_t Running(const ServerConfig& config);

// JSON Schemas of the full answers, by tool.
nlohmann::ordered_json AnswerSchemas();

// A call may use any member until it has ended, and so may its deferred work. So the destructor
// stops the queue before any member is destroyed. The queue outlives the components that submit
// calls to it, which it then refuses.
class Server {
 public:
  struct Parts {
    std::unique_ptr<operations::Log> log;
    std::unique_ptr<audit::AuditLog> audit;     // null: disabled by the operator
    std::unique_ptr<jobs::JobStore> job_store;  // likewise
    std::unique_ptr<events::EventService> events;
    std::unique_ptr<tools::Sandboxes> sandboxes;
    // How long the destructor waits before it closes the sessions that calls may be waiting for.
    std::chrono::milliseconds shutdown_grace = kShutdownGrace;
  };
  // `catalogue` is read by the constructor only.
  Server(const ServerConfig& config, Parts parts, const profiles::ProfileCatalogue& catalogue);
  // Cancels running calls, and returns once none is running.
  ~Server();

  // From now on, sessions are closed when due, and jobs are run.
  core::Result<void> Start();
  // Starts no more jobs.
  void StopJobs();
  void CancelAll();

  // Whether calls are answered without delay: the first worker exists.
  bool IsReady() const;

  mcp::McpService& service() { return service_; }
  // Answers requests other than MCP's.
  std::vector<WebHandler*> web();
  CallQueue& queue() { return queue_; }
  operations::Log& log() { return *log_; }
  operations::Metrics& metrics() { return metrics_; }
  events::EventService& events() { return *events_; }

  // `http_connections`: the number of connections; null without HTTP.
  void ReadMetricsFrom(std::function<size_t()> http_connections);
  void AuthenticationFailed(std::string_view peer);
  // What callers may do from now on. Sessions of tokens that are no more are closed, those of
  // tokens that may no longer use their profile too, and event streams of every token that has
  // changed. Jobs run with what their token may do when they start. The rest, calls that run, goes
  // on.
  void ReplaceTokens(std::vector<TokenConfig> tokens);
  void LogStart(const std::string& listen);
  void LogStopping(const char* reason);

 private:
  std::vector<std::unique_ptr<Tool>> Tools(const profiles::ProfileCatalogue& catalogue,
                                           const AnswersConfig& answers);
  std::optional<compatible::ApiTerms> TermsOf(const char* setting, const std::string& profile);
  compatible::ApiTerms TermsOfAny(const char* setting) const;
  void MakeWeb(const profiles::ProfileCatalogue& catalogue);
  void MakeCompatibleApis();
  std::vector<compatible::InstalledLanguage> InstalledLanguages() const;
  void MakeRest();
  void MakeJobs();
  void MakePages();
  void ReportCloses();
  core::Result<void> ChangeLimits(const Caller& caller, const nlohmann::json& patch);
  std::optional<Caller> CallerNamed(const std::string& name) const;
  nlohmann::ordered_json Limits() const;
  nlohmann::ordered_json Statistics() const;
  SessionRegistry* sessions() { return config_.sessions.enabled ? &sessions_ : nullptr; }
  Calls::RefusalListener RefusalReporter();
  std::function<operations::AuditFigures()> AuditFigures() const;
  std::vector<operations::SpareGauge> Spares() const;

  const ServerConfig config_;
  mutable std::mutex tokens_mutex_;
  std::vector<TokenConfig> tokens_;  // under tokens_mutex_
  const std::chrono::milliseconds shutdown_grace_;
  const std::unique_ptr<operations::Log> log_;
  const std::unique_ptr<audit::AuditLog> audit_;  // null: disabled; likewise below
  const std::unique_ptr<audit::AuditObserver> audit_observer_;
  operations::Metrics metrics_;
  const std::unique_ptr<events::EventService> events_;
  CallObservers observers_;
  const std::unique_ptr<tools::Sandboxes> sandboxes_;
  ResourceStore resources_;
  SessionRegistry sessions_;
  CallQueue queue_;
  Calls calls_;
  LiveLimits live_limits_;
  mcp::McpService service_;
  const std::unique_ptr<jobs::JobStore> job_store_;
  // Answers in full detail unless a request says otherwise: for the APIs other than MCP.
  std::vector<std::shared_ptr<Tool>> full_tools_;
  std::optional<jobs::JobRunner> job_runner_;
  std::optional<rest::JobService> job_service_;
  std::optional<rest::AuditService> audit_service_;
  std::optional<rest::RestService> rest_;
  std::optional<compatible::CompatibleApis> compatible_apis_;
  std::optional<pages::Pages> pages_;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_SERVER_H_
