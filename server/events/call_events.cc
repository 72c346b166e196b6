#include "server/events/call_events.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/text.h"
#include "engine/host/known_names.h"

namespace belljar::server::events {
namespace {

// Limits for a text chosen by a guest or a client, for a piece of output, and for lists.
constexpr size_t kMaxText = 256;
constexpr size_t kMaxOutputPiece = 16 << 10;
constexpr size_t kMaxRefusedConnections = 16;
constexpr size_t kMaxRules = 16;

std::string Bounded(std::string_view text) {
  if (text.size() <= kMaxText) return std::string(text);
  return std::string(text.substr(0, core::CompletePrefix(text.substr(0, kMaxText)))) + "...";
}

std::vector<std::string> RulesOf(const std::vector<host::Finding>& findings) {
  std::vector<std::string> rules;
  for (const host::Finding& finding : findings) {
    if (rules.size() == kMaxRules) break;
    const std::string rule(host::KnownRule(finding.rule));
    if (!core::Contains(rules, rule)) rules.push_back(rule);
  }
  return rules;
}

std::string_view LimitOf(const host::Outcome& outcome) {
  switch (outcome.status) {
    case host::Status::kTimeout: return "timeout";
    case host::Status::kCpuLimit: return "cpu";
    case host::Status::kMemoryLimit: return "memory";
    default: break;
  }
  const bool lost = outcome.stdout_stream.dropped_bytes + outcome.stderr_stream.dropped_bytes > 0;
  return lost ? "output" : "";
}

std::string SessionOf(const host::Outcome& outcome) {
  return outcome.session ? outcome.session->id : std::string();
}

}  // namespace

void CallEvents::Submitted(const ExecutionRecord& record) {
  hub_.Publish(record.caller,
               ExecutionSubmitted{std::string(record.execution), std::string(record.tool),
                                  Bounded(record.traceparent)});
}

void CallEvents::Started(const ExecutionRecord& record) {
  hub_.Publish(record.caller,
               ExecutionStarted{std::string(record.execution), std::string(record.tool)});
}

void CallEvents::Refused(const ExecutionRecord& record) {
  hub_.Publish(record.caller, ExecutionRefused{std::string(record.execution),
                                               std::string(record.tool),
                                               std::string(record.reason),
                                               {},
                                               {}});
}

void CallEvents::Printed(const ExecutionRecord& record, std::string_view text) {
  while (!text.empty()) {
    const size_t whole = core::CompletePrefix(text.substr(0, kMaxOutputPiece));
    const size_t size = whole > 0 ? whole : std::min(text.size(), kMaxOutputPiece);
    hub_.PublishOutput(record.caller, ExecutionOutput{std::string(record.execution),
                                                      std::string(text.substr(0, size))});
    text.remove_prefix(size);
  }
}

// What happened during the call, as far as it becomes known only now.
void CallEvents::PublishDetails(const CallRecord& record) {
  const host::Outcome& outcome = *record.outcome;
  const std::string execution(record.execution);
  if (outcome.container && !outcome.container->warm) {
    hub_.Publish(record.caller, ContainerStarted{execution, Bounded(outcome.container->runtime),
                                                 outcome.container->started_in});
  }
  size_t refused = 0;
  for (const host::NetworkEvent& each : outcome.network) {
    if (each.allowed || ++refused > kMaxRefusedConnections) continue;
    hub_.Publish(record.caller,
                 NetworkRefused{execution, Bounded(each.host), each.port, Bounded(each.detail)});
  }
  if (const std::string_view limit = LimitOf(outcome); !limit.empty()) {
    hub_.Publish(record.caller, ExecutionLimit{execution, std::string(limit), SessionOf(outcome)});
  }
}

void CallEvents::Called(const CallRecord& record) {
  if (record.execution.empty()) return;
  if (!record.outcome) {
    ExecutionEnded ended;
    ended.execution = record.execution;
    ended.tool = record.tool;
    ended.profile = Bounded(record.profile);
    ended.status = "failure";
    return hub_.Publish(record.caller, std::move(ended));
  }
  const host::Outcome& outcome = *record.outcome;
  PublishDetails(record);
  if (outcome.session && outcome.session->restored) {
    hub_.Publish(record.caller, SessionRestored{outcome.session->id, Bounded(record.profile),
                                                Bounded(outcome.session->checkpoint),
                                                std::string(record.execution)});
  }
  if (outcome.status == host::Status::kRefused) {
    return hub_.Publish(record.caller,
                        ExecutionRefused{std::string(record.execution), std::string(record.tool),
                                         "policy", RulesOf(outcome.findings), SessionOf(outcome)});
  }
  ExecutionEnded ended;
  ended.execution = record.execution;
  ended.tool = record.tool;
  ended.profile = Bounded(record.profile);
  ended.status = host::StatusName(outcome.status);
  if (outcome.error) ended.error_type = host::KnownErrorType(outcome.error->type);
  if (outcome.session) {
    ended.session = outcome.session->id;
    ended.cell = outcome.session->cell;
  }
  ended.wall_time = outcome.usage.wall_time;
  ended.cpu_time = outcome.usage.cpu_time;
  ended.max_rss_bytes = outcome.usage.max_rss_bytes;
  hub_.Publish(record.caller, std::move(ended));
}

void CallEvents::SessionChanged(const SessionRecord& record) {
  std::string session(record.session), profile = Bounded(record.profile),
                                       detail = Bounded(record.detail);
  if (record.action == "opened") {
    hub_.Publish(record.caller, SessionOpened{std::move(session), std::move(profile), {}});
  } else if (record.action == "branched") {
    hub_.Publish(record.caller,
                 SessionOpened{std::move(session), std::move(profile), std::move(detail)});
  } else if (record.action == "closed") {
    hub_.Publish(record.caller,
                 SessionClosed{std::move(session), std::move(profile), std::move(detail)});
  } else if (record.action == "evicted") {
    hub_.Publish(record.caller,
                 SessionEvicted{std::move(session), std::move(profile), std::move(detail)});
  } else if (record.action == "rolled_back") {
    hub_.Publish(record.caller,
                 SessionRestored{std::move(session), std::move(profile), std::move(detail), {}});
  }
}

}  // namespace belljar::server::events
