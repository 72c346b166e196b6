// The tables of the audit log (entry.h). A new member needs one row here to appear in its lines and
// in receipts. Members without a value are omitted.
#ifndef BELLJAR_SERVER_AUDIT_ENTRY_FIELDS_H_
#define BELLJAR_SERVER_AUDIT_ENTRY_FIELDS_H_

#include "engine/host/fields.h"
#include "engine/host/outcome_fields.h"
#include "server/audit/entry.h"

namespace belljar::server::audit {

inline constexpr std::string_view kKindNames[] = {"segment",  "segment_end", "start",   "stop",
                                                  "settings", "execution",   "refusal", "approval",
                                                  "session",  "retention",   "lost"};

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
void VisitFields(TableOf<Setting>, Visit visit) {
  visit(Row<kInJson>("name", &Setting::name));
  visit(Row<kInJson>("value", &Setting::value));
}

template <typename Visit>
void VisitFields(TableOf<Execution>, Visit visit) {
  visit(Row<kInJson>("id", &Execution::id));
  visit(Row<kInJson>("status", &Execution::status));
  visit(Row<kInJson>("reason", &Execution::reason));
  visit(Row<kInJson>("exit_code", &Execution::exit_code));
  visit(Row<kInJson>("rules", &Execution::rules));
  visit(Row<kInJson>("code", &Execution::code));
  visit(Row<kInJson>("stdin", &Execution::standard_input));
  visit(Row<kInJson>("arguments", &Execution::arguments));
  visit(Row<kInJson>("environment", &Execution::environment));
  visit(Row<kInJson>("inputs", &Execution::inputs));
  visit(Row<kInJson>("files", &Execution::files));
  visit(Row<kInJson>("allowed_imports", &Execution::allowed_imports));
  visit(Row<kInJson>("allowed_domains", &Execution::allowed_domains));
  visit(Row<kInJson>("stdout", &Execution::standard_output));
  visit(Row<kInJson>("stderr", &Execution::standard_error));
  visit(Row<kInJson | kOmittable>("dropped_bytes", &Execution::dropped_bytes));
  visit(Row<kInJson>("result", &Execution::result));
  visit(Row<kInJson>("artifacts", &Execution::artifacts));
  visit(Row<kInJson | kOmittable>("left_out", &Execution::left_out));
  visit(Row<kInJson>("security_events", &Execution::security_events));
  visit(Row<kInJson>("network", &Execution::network));
  visit(Row<kInJson>("limits", &Execution::limits));
  visit(Row<kInJson>("isolation", &Execution::isolation));
  visit(Row<kInJson>("usage", &Execution::usage));
  visit(Row<kInJson>("container", &Execution::container));
  visit(Row<kInJson>("session", &Execution::session));
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
