// The fields of events (event.h). A new one needs one row here.
#ifndef BELLJAR_SERVER_EVENTS_EVENT_FIELDS_H_
#define BELLJAR_SERVER_EVENTS_EVENT_FIELDS_H_

#include "server/events/event.h"

namespace belljar::server::events {

inline constexpr unsigned kAlways = host::kInJson;
inline constexpr unsigned kIfAny = host::kInJson | host::kOmittable;

inline constexpr char kExecutionMeaning[] = "`execution_id` of its result";
inline constexpr char kSessionMeaning[] = "the session that the cell belongs to";

template <typename Visit>
void VisitFields(host::TableOf<ExecutionSubmitted>, Visit visit) {
  visit(host::Row<kAlways>("execution", &ExecutionSubmitted::execution, kExecutionMeaning));
  visit(host::Row<kAlways>("tool", &ExecutionSubmitted::tool));
  visit(
      host::Row<kIfAny>("traceparent", &ExecutionSubmitted::traceparent, "as the client sent it"));
}

template <typename Visit>
void VisitFields(host::TableOf<ExecutionStarted>, Visit visit) {
  visit(host::Row<kAlways>("execution", &ExecutionStarted::execution));
  visit(host::Row<kAlways>("tool", &ExecutionStarted::tool));
}

template <typename Visit>
void VisitFields(host::TableOf<ExecutionOutput>, Visit visit) {
  visit(host::Row<kAlways>("execution", &ExecutionOutput::execution));
  visit(host::Row<kAlways>("text", &ExecutionOutput::text, "of stdout or stderr; untrusted"));
}

template <typename Visit>
void VisitFields(host::TableOf<ExecutionEnded>, Visit visit) {
  visit(host::Row<kAlways>("execution", &ExecutionEnded::execution));
  visit(host::Row<kAlways>("tool", &ExecutionEnded::tool));
  visit(host::Row<kAlways>("profile", &ExecutionEnded::profile));
  visit(host::Row<kAlways>("status", &ExecutionEnded::status,
                           "as in the result, or `failure`: of the server"));
  visit(host::Row<kIfAny>(
      "error_type", &ExecutionEnded::error_type,
      "class of the exception, if it is one of Python's own or of ours; else `other`"));
  visit(host::Row<kIfAny>("session", &ExecutionEnded::session, kSessionMeaning));
  visit(host::Row<kIfAny>("cell", &ExecutionEnded::cell, "its number in the session"));
  visit(host::Row<kAlways>("wall_time", &ExecutionEnded::wall_time, "seconds"));
  visit(host::Row<kAlways>("cpu_time", &ExecutionEnded::cpu_time, "seconds"));
  visit(host::Row<kAlways>("max_rss_bytes", &ExecutionEnded::max_rss_bytes));
}

template <typename Visit>
void VisitFields(host::TableOf<ExecutionRefused>, Visit visit) {
  visit(host::Row<kAlways>("execution", &ExecutionRefused::execution));
  visit(host::Row<kAlways>("tool", &ExecutionRefused::tool));
  visit(host::Row<kAlways>("reason", &ExecutionRefused::reason,
                           "`policy`, `queue_full`, `token_full`, `closing`, `arguments`, "
                           "`not_found`, `conflict`, `unavailable`, `cancelled`, `failure`, or of "
                           "a job `expired` or `interrupted`"));
  visit(host::Row<kIfAny>("rules", &ExecutionRefused::rules, "of the policy, such as `BJ201`"));
  visit(host::Row<kIfAny>("session", &ExecutionRefused::session, kSessionMeaning));
}

template <typename Visit>
void VisitFields(host::TableOf<ExecutionLimit>, Visit visit) {
  visit(host::Row<kAlways>("execution", &ExecutionLimit::execution));
  visit(host::Row<kAlways>("limit", &ExecutionLimit::limit,
                           "`timeout`, `cpu`, `memory` or `output`"));
  visit(host::Row<kIfAny>("session", &ExecutionLimit::session, kSessionMeaning));
}

template <typename Visit>
void VisitFields(host::TableOf<SessionOpened>, Visit visit) {
  visit(host::Row<kAlways>("session", &SessionOpened::session, "its id"));
  visit(host::Row<kAlways>("profile", &SessionOpened::profile));
  visit(host::Row<kIfAny>("parent", &SessionOpened::parent, "the session that it branched from"));
}

template <typename Visit>
void VisitFields(host::TableOf<SessionClosed>, Visit visit) {
  visit(host::Row<kAlways>("session", &SessionClosed::session));
  visit(host::Row<kAlways>("profile", &SessionClosed::profile));
  visit(host::Row<kAlways>("reason", &SessionClosed::reason, "a sentence"));
}

template <typename Visit>
void VisitFields(host::TableOf<SessionRestored>, Visit visit) {
  visit(host::Row<kAlways>("session", &SessionRestored::session));
  visit(host::Row<kAlways>("profile", &SessionRestored::profile));
  visit(host::Row<kIfAny>("checkpoint", &SessionRestored::checkpoint));
  visit(host::Row<kIfAny>("execution", &SessionRestored::execution,
                          "the cell that was stopped; omitted if a caller rolled back"));
}

template <typename Visit>
void VisitFields(host::TableOf<SessionEvicted>, Visit visit) {
  visit(host::Row<kAlways>("session", &SessionEvicted::session));
  visit(host::Row<kAlways>("profile", &SessionEvicted::profile));
  visit(host::Row<kAlways>("reason", &SessionEvicted::reason, "a sentence"));
}

template <typename Visit>
void VisitFields(host::TableOf<NetworkRefused>, Visit visit) {
  visit(host::Row<kAlways>("execution", &NetworkRefused::execution));
  visit(host::Row<kAlways>("host", &NetworkRefused::host, "as given by the code"));
  visit(host::Row<kAlways>("port", &NetworkRefused::port));
  visit(host::Row<kAlways>("reason", &NetworkRefused::reason, "a sentence"));
}

template <typename Visit>
void VisitFields(host::TableOf<ContainerStarted>, Visit visit) {
  visit(host::Row<kAlways>("execution", &ContainerStarted::execution));
  visit(host::Row<kAlways>("runtime", &ContainerStarted::runtime));
  visit(host::Row<kAlways>("started_in", &ContainerStarted::started_in, "seconds"));
}

template <typename Visit>
void VisitFields(host::TableOf<StreamOpened>, Visit visit) {
  visit(host::Row<kAlways>("server", &StreamOpened::server, "version"));
}

template <typename Visit>
void VisitFields(host::TableOf<Gap>, Visit visit) {
  visit(host::Row<kAlways>("cause", &Gap::cause,
                           "`restart`: the server was restarted; `expired`: no longer kept; "
                           "`slow`: not read or delivered in time; "
                           "`output`: only output is missing"));
  visit(host::Row<kAlways>("missed", &Gap::missed, "how many, of all kinds; null: not known"));
}

}  // namespace belljar::server::events

#endif  // BELLJAR_SERVER_EVENTS_EVENT_FIELDS_H_
