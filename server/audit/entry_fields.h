// The tables of the audit log (entry.h). A new member needs one row here to appear in its lines and
// in receipts. Members without a value are omitted.
#ifndef BELLJAR_SERVER_AUDIT_ENTRY_FIELDS_H_
#define BELLJAR_SERVER_AUDIT_ENTRY_FIELDS_H_

#include "engine/host/fields.h"
#include "engine/host/outcome_fields.h"
#include "server/audit/entry.h"

namespace belljar::server::audit {

inline constexpr std::string_view kKindNames[] = {"segment",   "segment_end", "start",   "stop",
                                                  "settings",  "execution",   "refusal", "session",
                                                  "retention", "lost"};

inline std::string_view NameOf(Kind kind) { return kKindNames[static_cast<size_t>(kind)]; }

using host::kInJson;
using host::kOmittable;
using host::Row;
using host::TableOf;

template <typename Visit>
void VisitFields(TableOf<Digest>, Visit visit) {
  visit(Row<kInJson>("bytes", &Digest::bytes));
  visit(Row<kInJson>("sha256", &Digest::sha256));
}

template <typename Visit>
void VisitFields(TableOf<NamedDigest>, Visit visit) {
  visit(Row<kInJson>("name", &NamedDigest::name));
  visit(Row<kInJson>("bytes", &NamedDigest::bytes));
  visit(Row<kInJson>("sha256", &NamedDigest::sha256));
}

template <typename Visit>
void VisitFields(TableOf<RecordedSetting>, Visit visit) {
  visit(Row<kInJson>("name", &RecordedSetting::name));
  visit(Row<kInJson>("value", &RecordedSetting::value));
}

template <typename Visit>
void VisitFields(TableOf<AuditedExecution>, Visit visit) {
  visit(Row<kInJson>("id", &AuditedExecution::id));
  visit(Row<kInJson>("status", &AuditedExecution::status));
  visit(Row<kInJson>("reason", &AuditedExecution::reason));
  visit(Row<kInJson>("exit_code", &AuditedExecution::exit_code));
  visit(Row<kInJson>("rules", &AuditedExecution::rules));
  visit(Row<kInJson>("code", &AuditedExecution::code));
  visit(Row<kInJson>("stdin", &AuditedExecution::standard_input));
  visit(Row<kInJson>("arguments", &AuditedExecution::arguments));
  visit(Row<kInJson>("environment", &AuditedExecution::environment));
  visit(Row<kInJson>("inputs", &AuditedExecution::inputs));
  visit(Row<kInJson>("files", &AuditedExecution::files));
  visit(Row<kInJson>("allowed_imports", &AuditedExecution::allowed_imports));
  visit(Row<kInJson>("allowed_domains", &AuditedExecution::allowed_domains));
  visit(Row<kInJson>("stdout", &AuditedExecution::standard_output));
  visit(Row<kInJson>("stderr", &AuditedExecution::standard_error));
  visit(Row<kInJson | kOmittable>("dropped_bytes", &AuditedExecution::dropped_bytes));
  visit(Row<kInJson>("result", &AuditedExecution::result));
  visit(Row<kInJson>("artifacts", &AuditedExecution::artifacts));
  visit(Row<kInJson | kOmittable>("left_out", &AuditedExecution::left_out));
  visit(Row<kInJson>("security_events", &AuditedExecution::security_events));
  visit(Row<kInJson>("network", &AuditedExecution::network));
  visit(Row<kInJson>("limits", &AuditedExecution::limits));
  visit(Row<kInJson>("isolation", &AuditedExecution::isolation));
  visit(Row<kInJson>("usage", &AuditedExecution::usage));
  visit(Row<kInJson>("container", &AuditedExecution::container));
  visit(Row<kInJson>("session", &AuditedExecution::session));
}

template <typename Visit>
void VisitFields(TableOf<Entry>, Visit visit) {
  visit(Row<kInJson>("caller", &Entry::caller));
  visit(Row<kInJson>("tool", &Entry::tool));
  visit(Row<kInJson>("profile", &Entry::profile));
  visit(Row<kInJson>("action", &Entry::action));
  visit(Row<kInJson>("session", &Entry::session));
  visit(Row<kInJson>("detail", &Entry::detail));
  visit(Row<kInJson | kOmittable>("count", &Entry::count));
  visit(Row<kInJson>("settings", &Entry::settings));
  visit(Row<kInJson>("belljar", &Entry::belljar));
  visit(Row<kInJson>("python", &Entry::python));
  visit(Row<kInJson>("execution", &Entry::execution));
  visit(Row<kInJson>("code", &Entry::code));
  visit(Row<kInJson>("stdout", &Entry::standard_output));
  visit(Row<kInJson>("stderr", &Entry::standard_error));
}

template <typename Visit>
void VisitFields(TableOf<Segment>, Visit visit) {
  visit(Row<kInJson>("segment", &Segment::number));
  visit(Row<kInJson>("format", &Segment::format));
  visit(Row<kInJson>("log", &Segment::log));
  visit(Row<kInJson>("key", &Segment::key));
  visit(Row<kInJson>("belljar", &Segment::belljar));
  visit(Row<kInJson>("unclosed", &Segment::unclosed));
}

template <typename Visit>
void VisitFields(TableOf<SegmentEnd>, Visit visit) {
  visit(Row<kInJson>("segment", &SegmentEnd::number));
  visit(Row<kInJson>("lines", &SegmentEnd::lines));
  visit(Row<kInJson>("key", &SegmentEnd::key));
}

template <typename Visit>
void VisitFields(TableOf<Retention>, Visit visit) {
  visit(Row<kInJson>("through", &Retention::through));
  visit(Row<kInJson>("head", &Retention::head));
}

}  // namespace belljar::server::audit

#endif  // BELLJAR_SERVER_AUDIT_ENTRY_FIELDS_H_
