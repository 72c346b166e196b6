#include "server/serve.h"

#include <malloc.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <utility>

#include "engine/host/version.h"
#include "server/audit/audit_log.h"
#include "server/audit/log_folder.h"
#include "server/events/event_service.h"
#include "server/jobs/postgres_job_store.h"
#include "server/jobs/sqlite_job_store.h"
#include "server/operations/log.h"
#include "server/serve_http.h"
#include "server/server.h"
#include "server/stdio/stdio_transport.h"
#include "server/tools/sandboxes.h"

namespace belljar::server {
namespace {

using Clock = std::chrono::steady_clock;

// Connections and workers need descriptors, and the soft limit is often 1,024 while the hard limit
// is far higher. Workers have their own limit.
void RaiseDescriptorLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Returns the memory of large bodies and answers to the system at once. By default glibc raises its
// threshold after the first one and keeps the memory: a 10 MB server would stay at a gigabyte after
// one busy minute.
void ReturnLongTexts() {
  constexpr int kLong = 256 << 10;
  (void)mallopt(M_MMAP_THRESHOLD, kLong);
}

// Null: disabled by the operator.
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

// Null: disabled by the operator. `log` is borrowed.
core::Result<std::unique_ptr<audit::AuditLog>> OpenAudit(const AuditConfig& config,
                                                         operations::Log& log) {
  if (!config.enabled) return std::unique_ptr<audit::AuditLog>();
  if (config.folder.empty()) {
    return core::MakeError("open the audit log", "this user has no home folder: set audit.folder");
  }
  return audit::AuditLog::Open(config, [&log](const audit::Notice& notice) {
    log.Write(notice.is_fault ? operations::LogLevel::kError : operations::LogLevel::kInfo,
              notice.event, FieldsOf(notice));
  });
}

core::Result<void> ServeStdio(Server& server, const ServerConfig& config, int stop_fd) {
  server.ReadMetricsFrom({});
  stdio::StdioTransport transport(STDIN_FILENO, STDOUT_FILENO, server.service());
  server.LogStart("stdio");
  core::Result<stdio::StdioTransport::End> end = transport.Run(stop_fd);
  if (!end) return end.error();
  bool stopped = *end == stdio::StdioTransport::End::kStopped;
  if (*end == stdio::StdioTransport::End::kInput) {
    constexpr std::chrono::milliseconds kLook{100};
    while (!stopped && !server.queue().Drain(Clock::now() + kLook)) {
      pollfd signalled{stop_fd, POLLIN, 0};
      stopped = poll(&signalled, 1, 0) > 0;
    }
  }
  server.LogStopping(stopped ? "signal" : "end of input");
  bool drained =
      server.queue().Drain(Clock::now() + (stopped ? config.drain_timeout : kShutdownGrace));
  if (!drained) {
    server.CancelAll();
    server.queue().Drain(Clock::now() + kShutdownGrace);
  }
  server.log().Stopped(drained);
  return {};
}

}  // namespace

core::Result<void> Serve(const ServerConfig& given, const profiles::ProfileCatalogue& catalogue,
                         int stop_fd, const TokenReload& reload) {
  ServerConfig config = given;
  if (config.log.format == "auto") {
    config.log.format = config.http && isatty(STDERR_FILENO) ? "text" : "json";
  }
  if (config.audit.folder.empty()) config.audit.folder = audit::DefaultFolder();
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
  Server server(config,
                {.log = std::move(*log),
                 .audit = std::move(*audit),
                 .job_store = std::move(*job_store),
                 .events = std::move(*events),
                 .sandboxes = std::move(*sandboxes)},
                catalogue);
  if (core::Result<void> started = server.Start(); !started) return started.error();
  return config.http ? ServeHttp(io, server, config, stop_fd, reload)
                     : ServeStdio(server, config, stop_fd);
}

std::string FullAnswerSchemas() { return AnswerSchemas().dump(); }

}  // namespace belljar::server
