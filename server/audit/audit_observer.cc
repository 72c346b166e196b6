#include "server/audit/audit_observer.h"

#include <algorithm>
#include <utility>

#include "engine/host/version.h"
#include "server/audit/receipt.h"

namespace belljar::server::audit {
namespace {

constexpr size_t kMaxKept = size_t{64} << 10;  // bytes of code, and of output
constexpr size_t kMaxText = 256;               // of texts chosen by others

std::string Bounded(std::string_view text) { return std::string(text.substr(0, kMaxText)); }

// Whether nothing ran.
bool IsRefusal(const CallRecord& record) {
  return record.outcome && record.outcome->status == host::Status::kRefused;
}

}  // namespace

AuditObserver::~AuditObserver() {
  Entry entry;
  entry.kind = Kind::kStop;
  log_.Add(MembersOf(entry));
}

void AuditObserver::Called(const CallRecord& record) {
  Entry entry;
  entry.kind = IsRefusal(record) ? Kind::kRefusal : Kind::kExecution;
  entry.caller = Bounded(record.caller);
  entry.tool = record.tool;
  entry.profile = Bounded(record.profile);
  entry.belljar = host::kBelljarVersion;
  entry.python = host::kPythonVersion;
  const std::string_view failure = record.failure ? *record.failure : std::string_view();
  if (record.request) {
    entry.execution = Describe(*record.request, record.outcome, failure);
  } else {
    host::Request request;
    request.source = record.code;
    entry.execution = Describe(request, record.outcome, failure);
  }
  if (!record.execution.empty()) {
    const std::string id(record.execution);
    receipts_.Add(std::string(record.caller), id,
                  StatementOf({entry.profile, entry.caller}, *entry.execution));
  }
  if (config_.code) entry.code = std::string(record.code.substr(0, kMaxKept));
  if (config_.output && record.outcome) {
    entry.standard_output = record.outcome->stdout_stream.text.substr(0, kMaxKept);
    entry.standard_error = record.outcome->stderr_stream.text.substr(0, kMaxKept);
  }
  log_.Add(MembersOf(entry));
}

void AuditObserver::Started(const ExecutionRecord& record) {
  receipts_.Begin(std::string(record.caller), std::string(record.execution));
}

void AuditObserver::Refused(const ExecutionRecord& record) {
  receipts_.Drop(std::string(record.caller), std::string(record.execution));
}

void AuditObserver::SessionChanged(const SessionRecord& record) {
  Entry entry;
  entry.kind = Kind::kSession;
  entry.caller = Bounded(record.caller);
  entry.profile = Bounded(record.profile);
  entry.action = record.action;
  entry.session = Bounded(record.session);
  entry.detail = Bounded(record.detail);
  log_.Add(MembersOf(entry));
}

void AuditObserver::ServerStarted(std::vector<RecordedSetting> settings) {
  Entry entry;
  entry.kind = Kind::kStart;
  entry.settings = std::move(settings);
  entry.belljar = host::kBelljarVersion;
  entry.python = host::kPythonVersion;
  log_.Add(MembersOf(entry));
}

void AuditObserver::SettingChanged(std::string_view caller, RecordedSetting setting) {
  Entry entry;
  entry.kind = Kind::kSettings;
  entry.caller = Bounded(caller);
  entry.settings.push_back(std::move(setting));
  log_.Add(MembersOf(entry));
}

void AuditObserver::CallRefused(std::string_view caller, std::string_view action,
                                std::string_view reason) {
  constexpr double kAtOnce = 5, kPerSecond = 1;
  Entry entry;
  {
    const std::lock_guard lock(mutex_);
    Gate& gate = gates_[std::string(action)];
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - gate.refilled).count();
    gate.refilled = now;
    gate.tokens = std::min(kAtOnce, gate.tokens + kPerSecond * seconds);
    if (gate.tokens < 1) {
      ++gate.suppressed;
      return;
    }
    gate.tokens -= 1;
    if (gate.suppressed > 0) entry.count = 1 + std::exchange(gate.suppressed, 0);
  }
  entry.kind = Kind::kRefusal;
  entry.caller = Bounded(caller);
  entry.action = action;
  entry.detail = Bounded(reason);
  log_.Add(MembersOf(entry));
}

}  // namespace belljar::server::audit
