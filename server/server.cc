#include "server/server.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/version.h"
#include "engine/outside/machine.h"
#include "server/audit/audited_tool.h"
#include "server/compatible/judge0/judge0.h"
#include "server/compatible/piston/piston.h"
#include "server/compatible/sandbox_fusion/sandbox_fusion.h"
#include "server/instructions.h"
#include "server/rest/batch.h"
#include "server/tools/opened_session.h"
#include "server/tools/output_schemas.h"

namespace belljar::server {
namespace {

using Clock = std::chrono::steady_clock;

// A call mostly waits for its worker, which needs a core: more concurrent calls would only make
// each one slower.
size_t RunningByDefault() { return std::max(4u, 2 * std::thread::hardware_concurrency()); }

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

std::vector<audit::RecordedSetting> SettingsOf(const operations::StartRecord& record) {
  return {{"listen", record.listen},
          {"profiles", core::Joined(record.profiles)},
          {"isolation", record.isolation},
          {"policy", record.policy},
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

std::string CommandText(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Null: there is none.
const TokenConfig* TokenNamed(const std::vector<TokenConfig>& tokens, std::string_view name) {
  const auto found = std::ranges::find_if(
      tokens, [&](const TokenConfig& token) { return token.caller.name == name; });
  return found == tokens.end() ? nullptr : &*found;
}

std::vector<CallObserver*> Observers(std::vector<CallObserver*> all) {
  std::erase(all, nullptr);
  return all;
}

}  // namespace

size_t Running(const ServerConfig& config) {
  return config.execution.running ? config.execution.running : RunningByDefault();
}

nlohmann::ordered_json AnswerSchemas() {
  nlohmann::ordered_json schemas = {{"execute_code", tools::OutcomeSchema()},
                                    {"validate_code", tools::FullValidationSchema()},
                                    {"get_sandbox_info", tools::FullSandboxInfoSchema()}};
  schemas.update(tools::SessionSchemas());
  return schemas;
}

Server::Server(const ServerConfig& config, Parts parts, const profiles::ProfileCatalogue& catalogue)
    : config_(config),
      tokens_(config.tokens),
      shutdown_grace_(parts.shutdown_grace),
      log_(std::move(parts.log)),
      audit_(std::move(parts.audit)),
      audit_observer_(audit_ ? std::make_unique<audit::AuditObserver>(*audit_, config_.audit)
                             : nullptr),
      metrics_({host::kBelljarVersion, host::kPythonVersion}),
      events_(std::move(parts.events)),
      observers_(Observers({&metrics_, log_.get(), audit_observer_.get(), events_->observer()})),
      sandboxes_(std::move(parts.sandboxes)),
      sessions_(config.sessions),
      queue_({Running(config), config.execution.waiting}),
      calls_(queue_, RefusalReporter(), &observers_),
      live_limits_(config_, queue_, sessions_),
      service_({.version = host::kBelljarVersion, .instructions = kInstructions},
               Tools(catalogue, config_.answers), calls_, &resources_),
      job_store_(std::move(parts.job_store)) {
  if (config_.http) MakeWeb(catalogue);
  ReportCloses();
}

void Server::ReportCloses() {
  sessions_.SetCloseListener([this](const std::string& owner, const RegisteredSession& session,
                                    SessionRegistry::Cause cause, const std::string& why) {
    const bool is_evicted = cause == SessionRegistry::Cause::kEvicted;
    observers_.SessionChanged(
        {is_evicted ? "evicted" : "closed", owner, session.id(), tools::ProfileOf(session), why});
  });
}

core::Result<void> Server::Start() {
  if (queue_.start_error()) return *queue_.start_error();
  if (job_service_ && job_service_->start_error()) return *job_service_->start_error();
  if (audit_service_ && audit_service_->start_error()) return *audit_service_->start_error();
  if (core::Result<void> watched = sessions_.Start(); !watched) return watched;
  return job_runner_ ? job_runner_->Start() : core::Result<void>();
}

void Server::StopJobs() {
  if (job_runner_) job_runner_->StopClaiming();
}

Server::~Server() {
  CancelAll();
  if (!queue_.Drain(Clock::now() + shutdown_grace_)) {
    sessions_.CloseAll("the server was stopped");  // which calls may still wait for
  }
  queue_.Stop();
}

std::vector<WebHandler*> Server::web() {
  std::vector<WebHandler*> handlers =
      compatible_apis_ ? compatible_apis_->handlers() : std::vector<WebHandler*>();
  if (rest_) handlers.push_back(&*rest_);
  if (pages_) handlers.push_back(&*pages_);
  for (WebHandler* each : events_->handlers()) handlers.push_back(each);
  return handlers;
}

void Server::CancelAll() {
  calls_.CancelAll();
  if (job_runner_) job_runner_->InterruptAll();
}

void Server::ReadMetricsFrom(std::function<size_t()> http_connections) {
  std::function<size_t()> sessions;
  if (config_.sessions.enabled) sessions = [this] { return sessions_.open(); };
  metrics_.ReadFrom({[this] { return queue_.counters(); }, [this] { return Spares(); },
                     std::move(http_connections), std::move(sessions), AuditFigures(),
                     [this] { return FiguresOf(*events_); }});
}

void Server::AuthenticationFailed(std::string_view peer) {
  metrics_.AuthenticationFailed();
  log_->AuthenticationFailed(peer, "no valid token");
  if (audit_observer_) audit_observer_->CallRefused("", "authentication_failed", peer);
}

bool Server::IsReady() const {
  for (const tools::Sandboxes::Counted& each : sandboxes_->counters()) {
    if (each.counters.workers_spawned > 0) return true;
  }
  return false;
}

void Server::LogStart(const std::string& listen) {
  operations::StartRecord record;
  record.version = host::kBelljarVersion;
  record.python = host::kPythonVersion;
  record.listen = listen;
  record.profiles = config_.execution.profiles;
  record.isolation = config_.execution.isolation;
  record.policy = config_.execution.policy;
  for (const TokenConfig& token : config_.tokens) record.tokens.push_back(token.caller.name);
  if (record.isolation != "strict") {
    record.warnings.push_back(
        "isolation is \"standard\": layers that this machine lacks are skipped");
  }
  if (record.policy != "on") {
    record.warnings.push_back(
        "the language policy is off: only the kernel layers contain the code");
  }
  for (const tools::EnabledProfile& each : sandboxes_->enabled()) {
    if (!each.profile.without_policy) continue;
    record.warnings.push_back("profile " + each.profile.name +
                              " has no language policy: calls may choose that only the kernel "
                              "layers contain the code");
  }
  for (const std::string& language : sandboxes_->languages()) {
    record.warnings.push_back("language " + language +
                              ": only the kernel layers contain its programs");
  }
  record.missing = WhyNothingRuns(config_.execution);
  log_->ServerStarted(record);
  if (audit_observer_) audit_observer_->ServerStarted(SettingsOf(record));
}

void Server::LogStopping(const char* reason) {
  const CallQueue::Counters counters = queue_.counters();
  log_->Stopping(reason, counters.running, counters.waiting);
}

std::vector<std::unique_ptr<Tool>> Server::Tools(const profiles::ProfileCatalogue& catalogue,
                                                 const AnswersConfig& answers) {
  std::vector<std::unique_ptr<Tool>> tools =
      tools::MakeTools(*sandboxes_, catalogue, answers, resources_, &observers_, sessions());
  return audit_ ? audit::WithAudit(std::move(tools), *audit_) : std::move(tools);
}

std::function<operations::AuditFigures()> Server::AuditFigures() const {
  if (!audit_) return {};
  return [this] {
    const audit::AuditLog::Figures now = audit_->figures();
    return operations::AuditFigures{now.entries, now.failures, now.lost, now.waiting,
                                    now.is_failing};
  };
}

// nullopt: disabled, since no profile is configured for it.
std::optional<compatible::ApiTerms> Server::TermsOf(const char* setting,
                                                    const std::string& profile) {
  if (profile.empty()) return std::nullopt;
  if (profile == kAutoProfile) return TermsOfAny(setting);
  const core::Result<const tools::EnabledProfile*> chosen = sandboxes_->Choose(&profile, Caller());
  if (!chosen) return std::nullopt;  // the configuration was checked
  return compatible::ApiTerms{profile, setting, (*chosen)->profile.workspace.has_value(),
                              (*chosen)->limits, (*chosen)->profile.maximum_limits};
}

// What holds whichever profile a program gets.
compatible::ApiTerms Server::TermsOfAny(const char* setting) const {
  const tools::EnabledProfile& base = sandboxes_->default_profile();
  compatible::ApiTerms terms{"", setting, base.profile.workspace.has_value(), base.limits,
                             base.profile.maximum_limits};
  for (const tools::EnabledProfile& each : sandboxes_->enabled()) {
    const core::Limits& maximum = each.profile.maximum_limits;
    terms.has_workspace = terms.has_workspace || each.profile.workspace.has_value();
    terms.maximum.timeout = std::min(terms.maximum.timeout, maximum.timeout);
    terms.maximum.memory = std::min(terms.maximum.memory, maximum.memory);
  }
  return terms;
}

void Server::MakeWeb(const profiles::ProfileCatalogue& catalogue) {
  const CompatibleApisConfig& apis = config_.compatible_apis;
  const bool has_compatible_apis =
      !apis.sandbox_fusion.empty() || !apis.piston.empty() || !apis.judge0.empty();
  if (!config_.http->rest && !has_compatible_apis) return;
  AnswersConfig answers = config_.answers;
  answers.detail = "full";
  std::vector<std::unique_ptr<Tool>> tools = Tools(catalogue, answers);
  full_tools_ = {std::make_move_iterator(tools.begin()), std::make_move_iterator(tools.end())};
  if (config_.http->rest) MakeRest();
  if (has_compatible_apis) MakeCompatibleApis();
  MakePages();
}

void Server::MakePages() {
  const CompatibleApisConfig& apis = config_.compatible_apis;
  pages::Pages::Parts parts;
  parts.version = host::kBelljarVersion;
  parts.python_version = host::kPythonVersion;
  parts.profiles = config_.execution.profiles;
  if (rest_) parts.open_api = rest_->open_api();
  if (!apis.sandbox_fusion.empty()) parts.compatible_apis.push_back({"SandboxFusion", "/run_code"});
  if (!apis.piston.empty()) parts.compatible_apis.push_back({"Piston", "/api/v2"});
  if (!apis.judge0.empty()) parts.compatible_apis.push_back({"Judge0", "/submissions"});
  parts.has_events = !events_->handlers().empty();
  pages_.emplace(std::move(parts));
}

// With their versions, which these APIs show.
std::vector<compatible::InstalledLanguage> Server::InstalledLanguages() const {
  std::vector<compatible::InstalledLanguage> installed;
  for (const tools::EnabledProfile* const each : sandboxes_->enabled_languages()) {
    const core::ProgramRule& program = *each->profile.program;
    installed.push_back({each->profile.name, program.title, sandboxes_->VersionOf(*each),
                         program.aliases, program.file, CommandText(program.compile),
                         CommandText(program.command), each->limits, each->profile.maximum_limits});
  }
  return installed;
}

void Server::MakeCompatibleApis() {
  const CompatibleApisConfig& profiles = config_.compatible_apis;
  compatible_apis_.emplace(full_tools_, calls_,
                           compatible::About{host::kBelljarVersion, host::kPythonVersion,
                                             config_.execution.waiting, InstalledLanguages()});
  if (const auto terms = TermsOf("fronts.sandbox_fusion", profiles.sandbox_fusion)) {
    compatible_apis_->Add<compatible::sandbox_fusion::SandboxFusion>(*terms);
  }
  if (const auto terms = TermsOf("fronts.piston", profiles.piston))
    compatible_apis_->Add<compatible::piston::Piston>(*terms);
  if (const auto terms = TermsOf("fronts.judge0", profiles.judge0))
    compatible_apis_->Add<compatible::judge0::Judge0>(*terms);
}

// The API, and jobs if enabled.
void Server::MakeRest() {
  if (job_store_) MakeJobs();
  if (audit_) {
    audit_service_.emplace(config_.audit.folder, audit_observer_->receipts(), audit_->key());
  }
  rest::RestService::Parts parts;
  parts.tools = full_tools_;
  parts.answers = AnswerSchemas();
  parts.version = host::kBelljarVersion;
  parts.python_version = host::kPythonVersion;
  parts.profiles = config_.execution.profiles;
  parts.languages = sandboxes_->languages();
  parts.limits = [this] { return Limits(); };
  parts.change_limits = [this](const Caller& caller, const nlohmann::json& patch) {
    return ChangeLimits(caller, patch);
  };
  parts.statistics = [this] { return Statistics(); };
  parts.audit = audit_service_ ? &*audit_service_ : nullptr;
  parts.jobs = job_service_ ? &*job_service_ : nullptr;
  parts.has_tokens = !config_.tokens.empty();
  parts.batch_width = Running(config_);
  rest_.emplace(std::move(parts), calls_, resources_, sessions());
}

void Server::MakeJobs() {
  jobs::JobRunner::Options options;
  options.tools = {{rest::kExecutionKind, full_tools_.front().get()}};
  options.callers = [this](const std::string& owner) { return CallerNamed(owner); };
  options.width = Running(config_);
  options.renewal = config_.jobs.lease / 3;
  options.on_failure = [this](const core::Error& error) { log_->JobsFailed(error.ToString()); };
  job_runner_.emplace(*job_store_, calls_, std::move(options));
  job_service_.emplace(*job_store_, *job_runner_);
}

// Who submitted a job, with what the operator grants them now.
std::optional<Caller> Server::CallerNamed(const std::string& name) const {
  const std::lock_guard lock(tokens_mutex_);
  if (tokens_.empty()) return name == Caller().name ? std::optional(Caller()) : std::nullopt;
  const TokenConfig* const token = TokenNamed(tokens_, name);
  return token ? std::optional(token->caller) : std::nullopt;
}

void Server::ReplaceTokens(std::vector<TokenConfig> tokens) {
  std::vector<TokenConfig> before = tokens;
  {
    const std::lock_guard lock(tokens_mutex_);
    before.swap(tokens_);
  }
  std::vector<std::string> names, changed, removed;
  for (const TokenConfig& token : tokens) names.push_back(token.caller.name);
  for (const TokenConfig& old : before) {
    const TokenConfig* const now = TokenNamed(tokens, old.caller.name);
    if (!now) removed.push_back(old.caller.name);
    if (now && *now != old) changed.push_back(old.caller.name);
  }
  log_->TokensReloaded(names, changed, removed);
  if (audit_observer_) audit_observer_->SettingChanged("", {"tokens", core::Joined(names)});
  std::vector<std::string> ended = changed;
  ended.insert(ended.end(), removed.begin(), removed.end());
  events_->EndStreamsOf(ended);
  sessions_.CloseIf([&](const std::string& owner,
                        const RegisteredSession&) { return core::Contains(removed, owner); },
                    "its token was removed");
  sessions_.CloseIf(
      [&](const std::string& owner, const RegisteredSession& session) {
        const TokenConfig* const now = TokenNamed(tokens, owner);
        return now && !tools::Sandboxes::Permits(now->caller, tools::ProfileOf(session));
      },
      "its token may no longer use its profile");
}

nlohmann::ordered_json Server::Limits() const {
  nlohmann::ordered_json limits = live_limits_.Get();
  limits["sessions"]["enabled"] = config_.sessions.enabled;
  limits["sessions"]["checkpoints"] = config_.sessions.checkpoints;
  limits["body_bytes"] = config_.http->max_body.count;
  limits["batch"] = rest::kMaxBatch;
  return limits;
}

core::Result<void> Server::ChangeLimits(const Caller& caller, const nlohmann::json& patch) {
  const auto changes = live_limits_.Set(patch);
  if (!changes) return changes.error();
  for (const LiveLimits::Change& change : *changes) {
    log_->SettingChanged(caller.name, change.setting, change.value);
    if (audit_observer_) {
      audit_observer_->SettingChanged(caller.name, {change.setting, change.value});
    }
  }
  return {};
}

nlohmann::ordered_json Server::Statistics() const {
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

// Logs calls that the queue refuses.
Calls::RefusalListener Server::RefusalReporter() {
  return [this](const Caller& caller, const CallQueue::Refusal& refusal) {
    const std::string_view reason = NameOf(refusal.reason);
    log_->Overloaded(caller.name, reason, refusal.running, refusal.waiting);
    if (audit_observer_) audit_observer_->CallRefused(caller.name, "overloaded", reason);
  };
}

std::vector<operations::SpareGauge> Server::Spares() const {
  std::vector<operations::SpareGauge> gauges;
  for (const tools::Sandboxes::Counted& each : sandboxes_->counters()) {
    gauges.push_back({each.profile, each.counters.waiting, config_.execution.spares});
  }
  return gauges;
}

}  // namespace belljar::server
