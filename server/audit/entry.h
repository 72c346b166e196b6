// Entry: one entry of the audit log, and AuditedExecution: what can be stated about a run without
// its content. Both are tables of fields, from which the lines of the log and the receipts are
// generated.
//
//   Entry entry;
//   entry.kind = Kind::kExecution;
//   entry.execution = Describe(request, outcome);
//   log.Add(MembersOf(entry));
//
// An entry contains no code and no output, only their hashes, unless the operator requests them.
#ifndef BELLJAR_SERVER_AUDIT_ENTRY_H_
#define BELLJAR_SERVER_AUDIT_ENTRY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/host/outcome.h"
#include "engine/host/request.h"

namespace belljar::server::audit {

enum class Kind {
  kSegment,     // the first line of a segment
  kSegmentEnd,  // its last one, signed
  kStart,
  kStop,
  kSettings,
  kExecution,
  kRefusal,  // nothing ran: because of the language policy, a missing token, a full queue, …
  kSession,
  kRetention,  // old segments were removed, as configured
  kLost,       // entries could not be written, and the operator chose to continue
};

struct Digest {
  uint64_t bytes = 0;
  std::string sha256;  // in hexadecimal
};
Digest DigestOf(std::string_view bytes);

struct NamedDigest {
  std::string name;
  uint64_t bytes = 0;
  std::string sha256;  // empty: unknown, since the content was not read
};

struct AuditedExecution {
  std::string id;
  std::string status;  // of the outcome, or "failure" for Belljar's own
  std::string reason;  // type of the error, reason of the kill, or Belljar's failure
  std::optional<int> exit_code;
  std::vector<std::string> rules;  // of the language policy that were violated, each once
  Digest code;
  std::optional<Digest> standard_input;
  // Each text of the list followed by a NUL byte; for inputs NAME=JSON.
  std::optional<Digest> arguments;
  std::optional<Digest> environment;
  std::optional<Digest> inputs;
  std::vector<NamedDigest> files;
  std::optional<std::vector<std::string>> allowed_imports;
  std::optional<std::vector<std::string>> allowed_domains;
  // The output that the caller could get: what exceeds the limit is only counted.
  std::optional<Digest> standard_output;
  std::optional<Digest> standard_error;
  uint64_t dropped_bytes = 0;
  std::optional<Digest> result;  // its JSON or, if it has none, its repr
  std::vector<NamedDigest> artifacts;
  // Number of items omitted from lists longer than kMaxListed.
  uint64_t left_out = 0;
  std::vector<host::SecurityEvent> security_events;
  std::vector<host::NetworkEvent> network;
  std::optional<core::Limits> limits;
  std::optional<host::Isolation> isolation;
  std::optional<host::Usage> usage;
  std::optional<host::ContainerReport> container;
  std::optional<host::SessionReport> session;
};

// Maximum number of items in one list of an execution.
inline constexpr size_t kMaxListed = 256;

// `outcome` is null if there is none; `failure` then says why.
AuditedExecution Describe(const host::Request& request, const host::Outcome* outcome,
                          std::string_view failure = {});

struct RecordedSetting {
  std::string name;
  std::string value;
};

struct Entry {
  Kind kind = Kind::kExecution;
  std::string caller;  // name of the token; never a secret
  std::string tool;
  std::string profile;
  std::string action;   // what happened to a session, …
  std::string session;  // its id
  std::string detail;
  uint64_t count = 0;  // number of events that this entry stands for, if several
  std::vector<RecordedSetting> settings;
  std::string belljar;  // versions
  std::string python;
  std::optional<AuditedExecution> execution;
  // Only if the operator requests them; truncated.
  std::optional<std::string> code;
  std::optional<std::string> standard_output;
  std::optional<std::string> standard_error;
};

// The first line of a segment.
struct Segment {
  uint64_t number = 0;
  unsigned format = 1;
  std::string log;  // random, the same in all segments of a log
  std::string key;  // id of the key that will sign the segment
  std::string belljar;
  // The previous segment has no signed end, since its server was killed. This is what follows its
  // last entry.
  std::optional<Digest> unclosed;
};

struct SegmentEnd {
  uint64_t number = 0;
  uint64_t lines = 0;  // of the segment, not counting this one
  std::string key;
};

struct Retention {
  uint64_t through = 0;  // number of the last segment that was removed
  std::string head;      // hash of its last line
};

// The members of a JSON object, without its braces: ASCII without control characters or spaces
// outside strings. They begin with the current time and the kind.
std::string MembersOf(const Entry& entry);
std::string MembersOf(const Segment& segment);
std::string MembersOf(const SegmentEnd& end);
std::string MembersOf(const Retention& retention);

// The object of an execution, in the same form.
std::string ObjectOf(const AuditedExecution& execution);

// "2026-11-26T05:14:53.123456Z".
std::string TimeNow();

// `text` as a JSON string, in quotes. Invalid UTF-8 becomes U+FFFD.
void AppendText(std::string& to, std::string_view text);

}  // namespace belljar::server::audit

#endif  // BELLJAR_SERVER_AUDIT_ENTRY_H_
