#include "server/operations/log.h"

#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <system_error>
#include <utility>

#include "engine/core/thread.h"
#include "engine/host/known_names.h"
#include "server/operations/log_sink.h"

namespace belljar::server::operations {
namespace {

using Fields = Log::Fields;

// Entries; fewer if they may contain code: one can be six times kMaxCodeBytes long (\u0000).
constexpr size_t kMaxWaiting = 2048;
constexpr size_t kMaxWaitingWithCode = 128;
constexpr size_t kMaxCodeBytes = 64 << 10;
constexpr size_t kMaxTextBytes = 256;  // of a string chosen by a guest or a peer
constexpr size_t kMaxFailureBytes = 2048;
constexpr size_t kMaxListed = 16;  // findings, events
constexpr std::chrono::seconds kGrace{1};

constexpr std::pair<std::string_view, LogLevel> kLevels[] = {
    {"debug", LogLevel::kDebug}, {"info", LogLevel::kInfo}, {"warning", LogLevel::kWarning},
    {"error", LogLevel::kError}, {"off", LogLevel::kOff},
};

LogLevel LevelOf(std::string_view name) {
  for (const auto& [known, level] : kLevels) {
    if (known == name) return level;
  }
  return LogLevel::kInfo;
}

std::string_view NameOf(LogLevel level) {
  for (const auto& [name, known] : kLevels) {
    if (known == level) return name;
  }
  return "info";
}

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
    case LogLevel::kOff: break;
  }
  return spdlog::level::off;
}

// RFC 3339, UTC: "2026-11-21T09:23:09.123Z".
std::string Now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  std::array<char, 40> text;
  const size_t length = strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  snprintf(text.data() + length, text.size() - length, ".%03ldZ", now.tv_nsec / 1'000'000);
  return text.data();
}

std::string Dump(const Fields& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/true, Fields::error_handler_t::replace);
}

std::string Bounded(std::string_view text, size_t max = kMaxTextBytes) {
  if (text.size() <= max) return std::string(text);
  return std::string(text.substr(0, max)) + "...";
}

// A word verbatim, a list of words with commas, anything else as JSON.
std::string TextValue(const Fields& value) {
  std::string json = Dump(value);
  if (value.is_array() && !value.empty()) {
    std::string list;
    for (const Fields& item : value) {
      if (!item.is_string()) return json;
      const std::string text = TextValue(item);
      if (text.starts_with('"')) return json;
      list.append(list.empty() ? "" : ",").append(text);
    }
    return list;
  }
  if (!value.is_string()) return json;
  const std::string& text = value.get_ref<const std::string&>();
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.:/+@").find(c) != std::string_view::npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), plain) ? text : json;
}

double Milliseconds(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) / 1e3;
}

Fields RulesOf(const std::vector<host::Finding>& findings) {
  Fields rules = Fields::array();
  for (const host::Finding& finding : findings) {
    if (rules.size() == kMaxListed) break;
    const std::string_view rule = host::KnownRule(finding.rule);
    if (std::find(rules.begin(), rules.end(), rule) == rules.end()) rules.push_back(rule);
  }
  return rules;
}

Fields EventsOf(const std::vector<host::SecurityEvent>& events) {
  Fields list = Fields::array();
  for (const host::SecurityEvent& event : events) {
    if (list.size() == kMaxListed) break;
    list.push_back({{"layer", Bounded(event.layer)},
                    {"action", Bounded(event.action)},
                    {"detail", Bounded(event.detail)},
                    {"count", event.count}});
  }
  return list;
}

Fields NamesOf(const std::vector<host::LayerState>& layers, bool held) {
  Fields names = Fields::array();
  for (const host::LayerState& layer : layers) {
    if (layer.held == held) names.push_back(layer.name);
  }
  return names;
}

Fields StreamFields(const host::Stream& stream) {
  Fields fields = {{"bytes", stream.text.size()}};
  if (stream.dropped_bytes > 0) fields["dropped_bytes"] = stream.dropped_bytes;
  return fields;
}

void AddOutcome(const host::Outcome& outcome, Fields& fields) {
  fields["status"] = host::StatusName(outcome.status);
  fields["execution_id"] = Bounded(outcome.execution_id);
  fields["wall_ms"] = Milliseconds(outcome.usage.wall_time);
  fields["cpu_ms"] = Milliseconds(outcome.usage.cpu_time);
  fields["max_rss_bytes"] = outcome.usage.max_rss_bytes;
  fields["stdout"] = StreamFields(outcome.stdout_stream);
  fields["stderr"] = StreamFields(outcome.stderr_stream);
  if (outcome.error) fields["error_type"] = host::KnownErrorType(outcome.error->type);
  if (!outcome.findings.empty()) {
    fields["findings"] = outcome.findings.size();
    fields["rules"] = RulesOf(outcome.findings);
  }
  if (!outcome.security_events.empty()) {
    fields["security_events"] = EventsOf(outcome.security_events);
  }
  if (outcome.container) {
    fields["container"] = {{"runtime", Bounded(outcome.container->runtime)},
                           {"warm", outcome.container->warm}};
  }
  if (outcome.session) {
    fields["session"] = outcome.session->id;
    fields["cell"] = outcome.session->cell;
    if (outcome.session->restored) fields["restored"] = true;
  }
  fields["isolation"] = outcome.isolation.mode;
  fields["policy"] = outcome.isolation.policy;
  const Fields missing = NamesOf(outcome.isolation.layers, false);
  if (!missing.empty()) {
    fields["layers_held"] = NamesOf(outcome.isolation.layers, true);
    fields["layers_missing"] = missing;
  }
}

// Ordinary failures of guests must not drown entries that need the operator's attention.
LogLevel LevelOf(const CallRecord& record) {
  if (record.failure) return LogLevel::kError;
  if (record.outcome && !record.outcome->security_events.empty()) return LogLevel::kWarning;
  return LogLevel::kInfo;
}

// A validation is not an execution.
std::string_view EventOf(const CallRecord& record) {
  if (record.execution.empty()) return "call.ended";
  const bool refused = record.outcome && record.outcome->status == host::Status::kRefused;
  return refused ? "execution.refused" : "execution.ended";
}

std::string EventOf(const SessionRecord& record) {
  std::string_view action = record.action;
  if (action == "branched") action = "opened";
  if (action == "rolled_back") action = "restored";
  return "session." + std::string(action);
}

}  // namespace

// spdlog's queue and thread, with our own sink.
struct Log::Queue {
  std::shared_ptr<spdlog::details::thread_pool> pool;
  std::shared_ptr<PatientSink> sink;
  std::shared_ptr<spdlog::async_logger> logger;
};

Log::Log(const LogConfig& config)
    : level_(LevelOf(config.level)), text_(config.format == "text"), code_(config.code) {}

core::Result<std::unique_ptr<Log>> Log::Open(const LogConfig& config, int fd) {
  std::unique_ptr<Log> log(new Log(config));
  if (core::Result<void> started = log->StartWriting(fd); !started) return started.error();
  return log;
}

core::Result<void> Log::StartWriting(int fd) {
  queue_ = std::make_unique<Queue>();
  try {
    const core::BlockedSignals blocked;
    queue_->pool = std::make_shared<spdlog::details::thread_pool>(
        code_ ? kMaxWaitingWithCode : kMaxWaiting, 1);
  } catch (const std::system_error& error) {
    return core::NoThread(error.code().value(), "open the log");
  }
  core::Result<std::shared_ptr<PatientSink>> sink = PatientSink::Create(
      fd, [pool = queue_->pool.get()] { return pool->overrun_counter(); },
      [this](uint64_t count) {
        return Entry(LogLevel::kWarning, "log_dropped", {{"entries", count}});
      });
  if (!sink) return sink.error();
  queue_->sink = std::move(*sink);
  queue_->logger = std::make_shared<spdlog::async_logger>(
      "belljar", queue_->sink, queue_->pool, spdlog::async_overflow_policy::overrun_oldest);
  queue_->logger->set_level(SpdlogLevel(level_));
  return {};
}

Log::~Log() {
  if (!queue_ || !queue_->sink) return;  // Open failed
  queue_->sink->Close(kGrace);
  queue_->pool.reset();  // writes queued entries within the grace period and joins
}

std::string Log::Entry(LogLevel level, std::string_view event, const Fields& fields) const {
  if (!text_) {
    Fields entry = {{"time", Now()}, {"level", NameOf(level)}, {"event", event}};
    entry.update(fields);
    return Dump(entry) + "\n";
  }
  std::string entry = Now();
  entry.append(" ").append(NameOf(level)).append(" ").append(TextValue(Fields(event)));
  for (const auto& [name, value] : fields.items()) {
    entry.append(" ").append(name).append("=").append(TextValue(value));
  }
  return entry + "\n";
}

void Log::Write(LogLevel level, std::string_view event, const Fields& fields) {
  if (!Writes(level)) return;
  const std::string entry = Entry(level, event, fields);
  // The string_view overload writes the text verbatim; the others treat it as a format string.
  queue_->logger->log(SpdlogLevel(level), spdlog::string_view_t(entry.data(), entry.size()));
}

void Log::ServerStarted(const StartRecord& record) {
  Write(LogLevel::kInfo, "started",
        {{"version", record.version},
         {"python", record.python},
         {"listen", record.listen},
         {"profiles", record.profiles},
         {"isolation", record.isolation},
         {"policy", record.policy},
         {"tokens", record.tokens}});
  for (const std::string& warning : record.warnings) {
    Write(LogLevel::kWarning, "weak", {{"warning", warning}});
  }
  for (const std::string& why : record.missing) {
    Write(LogLevel::kError, "cannot_run", {{"why", why}});
  }
}

void Log::Called(const CallRecord& record) {
  const LogLevel level = LevelOf(record);
  if (!Writes(level)) return;
  Fields fields = {{"tool", record.tool},
                   {"token", Bounded(record.caller)},
                   {"profile", Bounded(record.profile)}};
  if (record.outcome) {
    AddOutcome(*record.outcome, fields);
  } else {
    fields["status"] = record.failure ? "failure" : "none";
    if (!record.execution.empty()) fields["execution_id"] = Bounded(record.execution);
  }
  if (record.failure) fields["failure"] = Bounded(*record.failure, kMaxFailureBytes);
  if (code_) {
    fields["code"] = record.code.substr(0, kMaxCodeBytes);
    if (record.code.size() > kMaxCodeBytes) fields["code_bytes"] = record.code.size();
  }
  Write(level, EventOf(record), fields);
}

void Log::SessionChanged(const SessionRecord& record) {
  if (!Writes(LogLevel::kInfo)) return;
  Fields fields = {{"token", Bounded(record.caller)},
                   {"session", Bounded(record.session)},
                   {"profile", Bounded(record.profile)}};
  if (!record.detail.empty()) fields["detail"] = Bounded(record.detail);
  Write(LogLevel::kInfo, EventOf(record), fields);
}

void Log::AuthenticationFailed(std::string_view peer, std::string_view reason) {
  uint64_t suppressed = 0;
  if (!auth_gate_.Open(suppressed)) return;
  Write(LogLevel::kWarning, "authentication_failed",
        {{"peer", Bounded(peer)}, {"reason", reason}, {"suppressed", suppressed}});
}

void Log::Overloaded(std::string_view caller, std::string_view reason, size_t running,
                     size_t waiting) {
  uint64_t suppressed = 0;
  if (!overload_gate_.Open(suppressed)) return;
  Write(LogLevel::kWarning, "overloaded",
        {{"token", Bounded(caller)},
         {"reason", reason},
         {"running", running},
         {"waiting", waiting},
         {"suppressed", suppressed}});
}

void Log::JobsFailed(std::string_view reason) {
  uint64_t suppressed = 0;
  if (!jobs_gate_.Open(suppressed)) return;
  Write(LogLevel::kError, "jobs_failed", {{"reason", Bounded(reason)}, {"suppressed", suppressed}});
}

void Log::TokensReloaded(const std::vector<std::string>& names,
                         const std::vector<std::string>& changed,
                         const std::vector<std::string>& removed) {
  Write(LogLevel::kInfo, "tokens_reloaded",
        {{"tokens", names}, {"changed", changed}, {"removed", removed}});
}

void Log::ReloadFailed(std::string_view why) {
  Write(LogLevel::kError, "reload_failed", {{"why", Bounded(why, kMaxFailureBytes)}});
}

void Log::SettingChanged(std::string_view caller, std::string_view setting,
                         std::string_view value) {
  Write(LogLevel::kInfo, "setting_changed",
        {{"caller", Bounded(caller)}, {"setting", setting}, {"value", Bounded(value)}});
}

void Log::DeliveryFailed(std::string_view receiver, std::string_view why, unsigned attempts,
                         bool lost) {
  uint64_t suppressed = 0;
  if (!delivery_gate_.Open(suppressed)) return;
  Write(LogLevel::kWarning, "delivery_failed",
        {{"receiver", Bounded(receiver)},
         {"why", Bounded(why)},
         {"attempts", attempts},
         {"lost", lost},
         {"suppressed", suppressed}});
}

void Log::Stopping(std::string_view reason, size_t running, size_t waiting) {
  Write(LogLevel::kInfo, "stopping",
        {{"reason", reason}, {"running", running}, {"waiting", waiting}});
}

void Log::Stopped(bool drained) {
  Fields fields = {{"drained", drained}, {"dropped_entries", dropped()}};
  if (const uint64_t count = auth_gate_.suppressed()) fields["authentication_failures"] = count;
  if (const uint64_t count = overload_gate_.suppressed()) fields["overloads"] = count;
  Write(drained ? LogLevel::kInfo : LogLevel::kWarning, "stopped", fields);
}

uint64_t Log::dropped() const { return queue_->sink->dropped(); }

bool Log::Gate::Open(uint64_t& suppressed) {
  constexpr double kAtOnce = 5, kPerSecond = 1;
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  tokens_ = std::min(kAtOnce,
                     tokens_ + kPerSecond * std::chrono::duration<double>(now - refilled_).count());
  refilled_ = now;
  if (tokens_ < 1) {
    ++suppressed_;
    return false;
  }
  tokens_ -= 1;
  suppressed = std::exchange(suppressed_, 0);
  return true;
}

uint64_t Log::Gate::suppressed() const {
  const std::lock_guard lock(mutex_);
  return suppressed_;
}

}  // namespace belljar::server::operations
