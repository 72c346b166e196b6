// The tables of an outcome and its parts (outcome.h). A new member needs one row here to appear in
// the JSON, the schema, the text formats and the Python package, according to its flags.
#ifndef BELLJAR_ENGINE_HOST_OUTCOME_FIELDS_H_
#define BELLJAR_ENGINE_HOST_OUTCOME_FIELDS_H_

#include <utility>

#include "engine/host/fields.h"
#include "engine/host/limit_fields.h"
#include "engine/host/outcome.h"

namespace belljar::host {

inline constexpr std::string_view kStatusNames[] = {
    "ok", "exception", "refused", "timeout", "cpu_limit", "memory_limit", "killed"};
template <>
inline constexpr Words kNames<Status> = kStatusNames;

inline constexpr std::string_view kKillCauseNames[] = {
    "unknown", "cancelled", "system_call", "unreadable",
    "exit",    "sigkill",   "signal",      "container_ended"};
template <>
inline constexpr Words kNames<KillCause> = kKillCauseNames;

inline constexpr std::string_view kOriginNames[] = {"file", "display"};
template <>
inline constexpr Words kNames<Artifact::Origin> = kOriginNames;

inline constexpr std::string_view kModes[] = {"strict", "standard"};
inline constexpr std::string_view kPolicies[] = {"on", "off"};
inline constexpr std::string_view kLanguages[] = {"restricted", "full"};
inline constexpr std::string_view kActions[] = {"denied", "killed"};
inline constexpr std::string_view kContainerLimits[] = {"memory", "processes", "cpu"};
// All layers that an engine may report for a worker, each once. Metrics and logs have one entry per
// name, so invented names could crowd out the real ones.
inline constexpr std::string_view kLayerNames[] = {"namespaces", "privileges", "rlimits",
                                                   "landlock",   "seccomp",    "cgroup"};

inline constexpr uint64_t kMaxName = 200;     // in bytes, of a layer name and of a media type
inline constexpr uint64_t kMaxDetail = 4000;  // bytes
inline constexpr uint64_t kMaxNote = 1000;    // bytes
inline constexpr uint64_t kMaxEvents = 2000;
inline constexpr uint64_t kMaxSignal = 64;
inline constexpr size_t kMaxImports = 200;
inline constexpr size_t kMaxImportBytes = 800;
inline constexpr size_t kMaxCommentBytes = 800;
inline constexpr uint64_t kMaxMicroseconds = 7ull * 86'400 * 1'000'000;

// JSON text embedded in other JSON.
struct JsonText {
  const std::optional<std::string>& text;
};
// Bytes in Python; text or base64 in JSON.
struct BinaryContent {
  const std::string* bytes;  // null: none
};
// What was truncated, and by how much; 0: not counted.
struct Truncations {
  std::vector<std::pair<std::string, uint64_t>> parts;
};

// Computed values.
inline JsonText ResultJson(const Outcome& outcome) { return {outcome.result_json}; }
Truncations TruncationsOf(const Outcome& outcome);
inline BinaryContent ContentOf(const Artifact& artifact) {
  return {artifact.content ? &*artifact.content : nullptr};
}
// What text cannot hold: the bytes of a stream that is not UTF-8. Null or empty if it is.
BinaryContent BytesOf(const Stream& stream);
std::string Base64Of(const Stream& stream);
inline BinaryContent StdoutBytes(const Outcome& outcome) { return BytesOf(outcome.stdout_stream); }
inline BinaryContent StderrBytes(const Outcome& outcome) { return BytesOf(outcome.stderr_stream); }
inline std::string StdoutBase64(const Outcome& outcome) { return Base64Of(outcome.stdout_stream); }
inline std::string StderrBase64(const Outcome& outcome) { return Base64Of(outcome.stderr_stream); }
// For content within the result; nullopt or empty otherwise.
std::string EncodingShown(const Artifact& artifact);
std::optional<std::string> ContentShown(const Artifact& artifact);

template <typename Visit>
void VisitFields(TableOf<Finding>, Visit visit) {
  constexpr unsigned kAll = kShown | kSent;
  visit(Row<kAll | kRequired>("rule", &Finding::rule, "Number of the rule, such as BJ201"));
  visit(Row<kAll | kRequired>("name", &Finding::name,
                              "Name of the rule, such as import-not-allowed"));
  visit(
      Row<kAll | kRequired | kNullable>("line", &Finding::line, "From 1; null: the whole source"));
  visit(Row<kAll | kNullable>("column", &Finding::column, "From 1"));
  visit(Row<kAll | kNullable>("end_line", &Finding::end_line));
  visit(Row<kAll | kNullable>("end_column", &Finding::end_column, "One past the last character"));
  visit(Row<kAll | kRequired>("reason", &Finding::reason));
  visit(Row<kAll | kNullable>("hint", &Finding::hint, "What to do instead"));
  visit(Row<kAll | kNullable>("profile", &Finding::profile, "The profile that would allow it"));
}

template <typename Visit>
void VisitFields(TableOf<GuestError>, Visit visit) {
  constexpr unsigned kAll = kShown | kSent;
  visit(Row<kAll | kRequired>("type", &GuestError::type,
                              "Class of the exception, or PolicyError, Timeout, CpuLimit, "
                              "MemoryLimit, Killed, Cancelled"));
  visit(Row<kAll | kRequired>("message", &GuestError::message));
  visit(Row<kAll | kNullable>("line", &GuestError::line, "Line of the code, from 1"));
  visit(Row<kAll | kNullable>("column", &GuestError::column, "From 1"));
  visit(Row<kSent | kNullable>("end_line", &GuestError::end_line));
  visit(Row<kSent | kNullable>("end_column", &GuestError::end_column));
  visit(Row<kAll | kNullable>("traceback", &GuestError::traceback));
  visit(Row<kAll | kNullable>("hint", &GuestError::hint, "How to fix it"));
}

template <typename Visit>
void VisitFields(TableOf<Analysis>, Visit visit) {
  constexpr unsigned kAll = kInPython | kSent;
  visit(Row<kAll>("imports", &Analysis::imports, "Dotted names of modules, sorted, each once",
                  {.max = kMaxImportBytes, .max_items = kMaxImports}));
  visit(Row<kAll | kPositive>("branches", &Analysis::branches));
  visit(Row<kAll | kPositive>("nesting", &Analysis::nesting));
  visit(Row<kSent>("missing", &Analysis::missing, "",
                   {.max = kMaxImportBytes, .max_items = kMaxImports}));
}

template <typename Visit>
void VisitFields(TableOf<Comment>, Visit visit) {
  visit(Row<kSent | kPositive>("line", &Comment::line));
  visit(Row<kSent>("text", &Comment::text, "", {.max = kMaxCommentBytes}));
}

template <typename Visit>
void VisitFields(TableOf<Usage>, Visit visit) {
  constexpr unsigned kAll = kShown | kSent;
  visit(Row<kAll>("wall_time", &Usage::wall_time, "Seconds", {.max = kMaxMicroseconds}));
  visit(Row<kAll>("cpu_time", &Usage::cpu_time, "Seconds, user and system",
                  {.max = kMaxMicroseconds}));
  visit(Row<kAll>("max_rss_bytes", &Usage::max_rss_bytes, "Peak resident memory"));
}

template <typename Visit>
void VisitFields(TableOf<LayerState>, Visit visit) {
  constexpr unsigned kAll = kShown | kSent;
  visit(Row<kAll | kRequired>("name", &LayerState::name, "",
                              {.max = kMaxName, .known = kLayerNames}));
  visit(Row<kAll | kRequired>("held", &LayerState::held));
  visit(Row<kAll | kPrintable>("detail", &LayerState::detail, "", {.max = kMaxDetail}));
}

template <typename Visit>
void VisitFields(TableOf<Isolation>, Visit visit) {
  visit(Row<kShown>("mode", &Isolation::mode, "", {.choices = kModes}));
  visit(Row<kShown>("policy", &Isolation::policy, "The language policy", {.choices = kPolicies}));
  visit(Row<kInJson>("language", &Isolation::language, "Deprecated: policy by its former name",
                     {.choices = kLanguages}));
  visit(Row<kShown>("layers", &Isolation::layers));
}

template <typename Visit>
void VisitFields(TableOf<SecurityEvent>, Visit visit) {
  constexpr unsigned kAll = kShown | kSent;
  visit(Row<kAll>("layer", &SecurityEvent::layer, "", {.max = kMaxName, .known = kLayerNames}));
  visit(Row<kAll>("action", &SecurityEvent::action, "", {.max = kMaxName, .choices = kActions}));
  visit(Row<kAll | kPrintable>("detail", &SecurityEvent::detail, "The system call",
                               {.max = kMaxDetail}));
  visit(Row<kAll>("count", &SecurityEvent::count));
}

// The host of a container validates the name and the content, and computes the digest
// (outcome_text.cc).
template <typename Visit>
void VisitFields(TableOf<Artifact>, Visit visit) {
  constexpr unsigned kAll = kShown | kInObservation;
  visit(Row<kShown | kRequired>("name", &Artifact::name, "For a file: its path in the workspace"));
  visit(Row<kAll | kRequired>("origin", &Artifact::origin,
                              "display: a figure or table made from a value of the code"));
  visit(Row<kAll | kRequired>("media_type", &Artifact::media_type, "", {.max = kMaxName}));
  visit(Row<kAll | kRequired>("size", &Artifact::size, "Bytes, before any truncation"));
  visit(Row<kShown | kNullable>("sha256", &Artifact::sha256,
                                "Digest of the complete content, in hexadecimal"));
  visit(
      Row<kInJson | kNullable>("encoding", EncodingShown, "Encoding of content: utf-8 or base64"));
  visit(Row<kInJson>("content", ContentShown,
                     "Only short text is inlined here. Anything else is in a content "
                     "block of the answer, or at uri"));
  visit(Row<kInPython>("content", ContentOf));
  visit(Row<kAll | kNullable>("note", &Artifact::note, "Why there is no content, or other remarks",
                              {.max = kMaxNote}));
  visit(Row<kInJson | kOmittable>("uri", &Artifact::uri,
                                  "Resource with the complete content, for resources/read; "
                                  "kept for a limited time, and omitted if it was not kept"));
}

template <typename Visit>
void VisitFields(TableOf<NetworkEvent>, Visit visit) {
  visit(Row<kShown | kRequired>("host", &NetworkEvent::host, "As given by the code"));
  visit(Row<kShown | kRequired>("port", &NetworkEvent::port));
  visit(Row<kShown>("protocol", &NetworkEvent::protocol));
  visit(Row<kShown | kRequired>("allowed", &NetworkEvent::allowed));
  visit(Row<kShown | kNullable>("detail", &NetworkEvent::detail,
                                "Reason for a refusal, or the address connected to"));
  visit(Row<kShown>("bytes_sent", &NetworkEvent::sent));
  visit(Row<kShown>("bytes_received", &NetworkEvent::received));
  visit(Row<kShown>("started", &NetworkEvent::started, "Seconds since the start of the run"));
  visit(Row<kShown>("lasted", &NetworkEvent::lasted, "Duration in seconds"));
}

template <typename Visit>
void VisitFields(TableOf<ContainerReport>, Visit visit) {
  visit(Row<kShown | kRequired>("engine", &ContainerReport::engine));
  visit(Row<kShown | kRequired>("runtime", &ContainerReport::runtime,
                                "runsc is gVisor, with a kernel of its own; runc uses the host's "
                                "kernel"));
  visit(Row<kShown>("image_digest", &ContainerReport::image_digest));
  visit(Row<kShown | kRequired>("warm", &ContainerReport::warm,
                                "Whether it was started in advance; otherwise for this call"));
  visit(Row<kShown>("started_in", &ContainerReport::started_in,
                    "Seconds until it was ready to run code"));
  visit(Row<kShown>("not_limited", &ContainerReport::not_limited,
                    "Resources that this engine cannot limit for a container: only the limits of "
                    "the worker inside it apply",
                    {.choices = kContainerLimits}));
  visit(Row<kShown>("packages", &ContainerReport::packages,
                    "Packages installed for this run, with dependencies: name==version"));
}

template <typename Visit>
void VisitFields(TableOf<SessionReport>, Visit visit) {
  visit(Row<kShown | kRequired>("id", &SessionReport::id));
  visit(Row<kShown | kRequired>("cell", &SessionReport::cell, "From 1"));
  visit(Row<kShown | kNullable>("checkpoint", &SessionReport::checkpoint,
                                "From which a roll-back undoes the cell"));
  visit(Row<kShown | kRequired>("restored", &SessionReport::restored,
                                "Whether the cell was stopped, so that the session has gone on "
                                "from that checkpoint, as if the cell had not been"));
  visit(Row<kShown>("restarted", &SessionReport::restarted,
                    "Whether the interpreter of another language has ended, so that the session "
                    "has gone on with a new one, without its variables"));
  visit(Row<kShown | kNullable>("note", &SessionReport::note));
}

// The order is that of the JSON, which people read: the answer before the accounting. Python uses
// other names for some, and handles `value`, `has_value` and `truncated` by hand
// (result_objects.cc). The reader of reports handles `status`, `result`, `truncated` and artifacts
// by hand (report.cc).
template <typename Visit>
void VisitFields(TableOf<Outcome>, Visit visit) {
  constexpr unsigned kObserved = kInPython | kInObservation;
  visit(Row<kInJson | kRequired>("success", &Outcome::success, "Whether status is ok"));
  visit(Row<kInPython>("ok", &Outcome::success));
  visit(Row<kShown | kRequired>("status", &Outcome::status,
                                "How the run ended. refused: by the language policy; nothing was "
                                "run"));
  visit(Row<kInObservation>("kill_cause", &Outcome::kill_cause, "", {.max = kMaxName}));
  visit(Row<kInObservation>("kill_signal", &Outcome::kill_signal, "", {.max = kMaxSignal}));
  visit(Row<kShown | kRequired>("execution_id", &Outcome::execution_id,
                                "A UUID; empty if the call was cancelled before it ran"));
  visit(
      Row<kInJson | kRequired>("result", ResultJson,
                               "Value of the last expression or, if that is None, of the "
                               "variable named result, as JSON; null if there is none or it is "
                               "not plain data. Values that JSON lacks are objects with a $type"));
  visit(Row<kInJson | kInReport>("result_repr", &Outcome::result_repr,
                                 "repr() of the same value, shortened; null if there is none"));
  visit(Row<kInPython>("value_repr", &Outcome::result_repr));
  visit(Row<kShown | kRequired>("stdout", Path(&Outcome::stdout_stream, &Stream::text),
                                "Output of the code; empty with capture_output false"));
  visit(Row<kShown | kRequired>("stderr", Path(&Outcome::stderr_stream, &Stream::text),
                                "The same for standard error"));
  visit(Row<kInJson | kOmittable>("stdout_base64", StdoutBase64,
                                  "The bytes of stdout; only if they are not UTF-8, of which "
                                  "stdout has U+FFFD instead"));
  visit(Row<kInJson | kOmittable>("stderr_base64", StderrBase64, "The same for standard error"));
  visit(Row<kInPython>("stdout_bytes", StdoutBytes));
  visit(Row<kInPython>("stderr_bytes", StderrBytes));
  visit(Row<kObserved>("stdout_dropped", Path(&Outcome::stdout_stream, &Stream::dropped_bytes)));
  visit(Row<kObserved>("stderr_dropped", Path(&Outcome::stderr_stream, &Stream::dropped_bytes)));
  visit(Row<kInPython>("language", &Outcome::language));
  visit(Row<kInJson | kOmittable>("language", &Outcome::language,
                                  "Language of the code; omitted for Python"));
  visit(Row<kShown | kInReport>("exit_code", &Outcome::exit_code,
                                "Argument of sys.exit, or what a program of another language "
                                "exited with"));
  visit(Row<kInJson | kRequired>("execution_time", Path(&Outcome::usage, &Usage::wall_time),
                                 "Seconds of wall clock"));
  visit(Row<kShown | kInReport | kRequired>("variables", &Outcome::variables,
                                            "Names bound at the top level of the code"));
  visit(Row<kShown | kInReport | kRequired>("error", &Outcome::error,
                                            "What went wrong; null if nothing did"));
  visit(Row<kShown | kInReport | kRequired>(
      "findings", &Outcome::findings, "What the language policy refuses, with what to do instead"));
  visit(Row<kInReport>("analysis", &Outcome::analysis));
  visit(Row<kInJson | kObserved | kRequired>("usage", &Outcome::usage));
  visit(Row<kInJson | kRequired>("truncated", TruncationsOf,
                                 "Only what was truncated: for stdout and stderr the number of "
                                 "bytes dropped, for artifacts and network the number omitted, "
                                 "for other keys true"));
  visit(Row<kShown | kRequired>("limits", &Outcome::limits));
  visit(Row<kShown | kRequired>(
      "isolation", &Outcome::isolation,
      "The layers that contained the code, as observed from outside its process"));
  visit(Row<kInObservation>("layers", Path(&Outcome::isolation, &Isolation::layers), "",
                            {.max_items = std::size(kLayerNames)}));
  visit(Row<kInJson | kObserved>("security_events", &Outcome::security_events,
                                 "System calls that were denied or that killed the code",
                                 {.max_items = kMaxEvents}));
  visit(Row<kShown | kRequired>("artifacts", &Outcome::artifacts,
                                "Figures and tables that the code made, and new or changed files "
                                "of its workspace. Untrusted: made by the code"));
  visit(Row<kObserved>("artifacts_left_out", &Outcome::artifacts_left_out));
  visit(Row<kInJson | kObserved | kNullable | kPrintable>(
      "artifacts_note", &Outcome::artifacts_note, "Files that are not among the artifacts, and why",
      {.max = kMaxNote}));
  visit(Row<kShown | kRequired>("network", &Outcome::network,
                                "Connections and refused attempts, in profiles with network"));
  visit(Row<kInPython>("network_left_out", &Outcome::network_left_out));
  visit(Row<kShown | kRequired>("container", &Outcome::container,
                                "The container that the code ran in; null if it ran without one"));
  visit(Row<kInJson | kOmittable>("session", &Outcome::session,
                                  "The session of which the code was a cell; omitted if it ran in "
                                  "a process of its own"));
}

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_OUTCOME_FIELDS_H_
