#include "engine/host/answer.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/outcome_fields.h"
#include "engine/host/program_text.h"

namespace belljar::host {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMaxFindings = 10;
constexpr size_t kMaxRefusals = 5;  // number of connections listed in the text

// The size up to which the object has a part in full, and how much of longer ones.
size_t WholeWithin(size_t characters) { return characters * 2 / 5; }
size_t ExcerptWithin(size_t characters) { return characters / 8; }

bool Contains(const std::vector<std::string>& parts, std::string_view part) {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

const std::string* UriOf(const AnswerOptions& options, LongPart part) {
  const auto found = options.uris.find(part);
  return found == options.uris.end() ? nullptr : &found->second;
}

// "1,234"
std::string Count(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

// --- text ---------------------------------------------------------------------------------------

std::string Note(const std::string& text) { return "[belljar: " + text + "]"; }

// Where a text is placed, and where the whole of it can be read.
struct TextLocation {
  const std::string* uri = nullptr;  // null: nowhere
  std::string reader = {};           // of that
  // whether it is the resource's text: then offsets in the text are the resource's
  bool is_same_text = true;
  Place place = Place::kOutput;
};

TextLocation LocationOf(const AnswerOptions& options, LongPart part) {
  return {.uri = UriOf(options, part), .reader = options.reader};
}

std::string CutNote(const Excerpt& excerpt, const TextLocation& location) {
  const std::string note = Count(excerpt.left_out) + " characters left out";
  if (!location.uri) return Note(note);
  const std::string offset =
      location.is_same_text ? "?offset=" + std::to_string(excerpt.begin_characters) : "";
  return Note(note + "; " + location.reader + ": " + *location.uri + offset);
}

// Empty for a text of only white space.
std::string Shortened(std::string_view text, size_t characters, const TextLocation& location = {}) {
  const std::string valid = IsLonger(text, characters) && !core::IsUtf8(text)
                                // As in the resource, whose pieces are counted.
                                ? core::ValidUtf8(text)
                                : std::string();
  if (!valid.empty()) text = valid;
  const Excerpt excerpt = ExcerptOf(WithoutTrailingSpace(text), characters);
  std::string shown = Disarmed(excerpt.begin, location.place);
  if (excerpt.left_out == 0) return shown;
  if (!shown.empty() && !shown.ends_with('\n')) shown += '\n';
  return shown + CutNote(excerpt, location) + "\n" + Disarmed(excerpt.end, location.place);
}

class Sections {
 public:
  explicit Sections(std::string text = "") : text_(std::move(text)) {}

  void Add(const std::string& heading, const std::string& text) {
    if (text.empty()) return;
    text_ += (text_.empty() ? "" : "\n\n") + heading + ":\n" + text;
  }
  void AddNote(const std::string& note) { text_ += (text_.empty() ? "" : "\n\n") + Note(note); }

  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

std::string StreamText(const Stream& stream, LongPart part, const AnswerOptions& options) {
  std::string text = Shortened(stream.text, options.characters, LocationOf(options, part));
  if (stream.dropped_bytes == 0) return text;
  if (!text.empty()) text += '\n';
  const std::string name = options.output_limit.empty() ? "" : " (" + options.output_limit + ")";
  return text +
         Note(Count(stream.dropped_bytes) + " bytes beyond the limit" + name + " were dropped");
}

// A program of another language may have printed its value, as those in R do.
bool HasPrintedValue(const Outcome& outcome) {
  return !outcome.language.empty() &&
         outcome.stdout_stream.text.ends_with(*outcome.result_repr + "\n");
}

// The worker bounds the repr; a value that is longer and plain data is shown as JSON.
void AddValue(const Outcome& outcome, const AnswerOptions& options, Sections& sections) {
  if (!outcome.result_repr || HasPrintedValue(outcome)) return;
  TextLocation location = LocationOf(options, LongPart::kResult);
  if (!outcome.result_json) {
    return sections.Add("value (its repr: it is not plain data)",
                        Shortened(*outcome.result_repr, options.characters));
  }
  if (Contains(outcome.truncated, "result_repr")) {
    return sections.Add("value (as JSON)",
                        Shortened(*outcome.result_json, options.characters, location));
  }
  location.is_same_text = false;
  sections.Add("value", Shortened(*outcome.result_repr, options.characters, location));
}

std::string SizeOf(const Artifact& artifact) { return Count(artifact.size) + " bytes"; }

std::string FilesText(const Outcome& outcome, const AnswerOptions& options) {
  std::string text;
  size_t listed = 0;
  for (const Artifact& artifact : outcome.artifacts) {
    std::string line = Disarmed(core::Printable(artifact.name)) + ", " + SizeOf(artifact);
    if (!artifact.note.empty()) line += ", " + core::Printable(artifact.note);
    if (!artifact.is_inline && !artifact.uri.empty()) line += ", resource " + artifact.uri;
    if (IsLonger(text + line, options.characters)) break;
    text += (text.empty() ? "" : "\n") + line;
    ++listed;
  }
  const uint64_t left_out = outcome.artifacts.size() - listed + outcome.artifacts_left_out;
  if (left_out == 0) return text;
  const std::string why =
      outcome.artifacts_note.empty() ? "" : ": " + core::Printable(outcome.artifacts_note);
  return text + (text.empty() ? "" : "\n") + Note(Count(left_out) + " more" + why);
}

// Equal refusals are one: programs try again.
struct Connections {
  const NetworkEvent* event;
  uint64_t count;
};
std::vector<Connections> ConnectionsOf(const Outcome& outcome) {
  std::vector<Connections> connections;
  std::map<std::tuple<std::string_view, uint16_t, std::string_view>, size_t> refused;
  for (const NetworkEvent& event : outcome.network) {
    const auto [at, is_new] =
        event.allowed
            ? std::pair(refused.end(), true)
            : refused.try_emplace({event.host, event.port, event.detail}, connections.size());
    if (is_new) {
      connections.push_back({&event, 1});
    } else {
      ++connections[at->second].count;
    }
  }
  return connections;
}

// A program may have handled the exception that a refused connection raises.
void AddRefusals(const Outcome& outcome, Sections& sections) {
  size_t shown = 0;
  uint64_t others = 0;
  for (const auto& [event, count] : ConnectionsOf(outcome)) {
    if (event->allowed) continue;
    if (++shown > kMaxRefusals) {
      others += count;
      continue;
    }
    const std::string port = std::to_string(event->port);
    const bool is_named = event->detail.starts_with(event->host + ":" + port);
    sections.AddNote(
        (is_named ? ""
                  : "no connection to " + core::Quoted(event->host) + ", port " + port + ": ") +
        core::Printable(event->detail) + (count > 1 ? " (" + Count(count) + " times)" : ""));
  }
  if (others > 0) sections.AddNote(Count(others) + " more connections were refused");
}

std::vector<std::string> MissingLayers(const Isolation& isolation) {
  std::vector<std::string> missing;
  for (const LayerState& layer : isolation.layers) {
    if (!layer.held) missing.push_back(layer.name);
  }
  return missing;
}

// Only if it is less than the strict mode promises, which every answer would otherwise repeat.
void AddIsolation(const Outcome& outcome, Sections& sections) {
  const Isolation& isolation = outcome.isolation;
  const bool has_run = !isolation.layers.empty() && outcome.status != Status::kRefused;
  if (!has_run || isolation.mode == "strict" || outcome.container) return;
  const std::vector<std::string> missing = MissingLayers(isolation);
  sections.AddNote("isolation " + isolation.mode +
                   (missing.empty() ? "" : ", without " + core::Joined(missing)));
}

// Only what its caller does not expect.
void AddSession(const Outcome& outcome, const AnswerOptions& options, Sections& sections) {
  if (!outcome.session) return;
  const SessionReport& session = *outcome.session;
  if (options.is_new_session) sections.AddNote("session " + session.id);
  if (session.restored) {
    sections.AddNote("the cell was stopped; the session goes on as it was before" +
                     (session.checkpoint.empty() ? "" : ", from checkpoint " + session.checkpoint));
  }
  if (!session.note.empty()) sections.AddNote(core::Printable(session.note));
}

std::string ErrorText(const GuestError& error, const AnswerOptions& options) {
  std::string text;
  if (error.traceback.empty()) {
    text = Disarmed(error.type, Place::kError) + ": " +
           Shortened(error.message, options.characters, {.place = Place::kError});
  } else {
    TextLocation location = LocationOf(options, LongPart::kTraceback);
    location.place = Place::kError;
    text = Shortened(error.traceback, options.characters, location);
  }
  if (error.hint.empty()) return text;
  return text + "\nhint: " + Shortened(error.hint, options.characters, {.place = Place::kError});
}

// --- object -------------------------------------------------------------------------------------

// Cut parts and counts of what is not listed; a member of the object if there are any.
class Cuts {
 public:
  explicit Cuts(const AnswerOptions& options) : options_(options) {}

  [[nodiscard]] const AnswerOptions& options() const { return options_; }

  // The whole text, or its beginning; `cut` then describes the rest.
  OrderedJson Text(const char* name, std::string_view text, std::optional<LongPart> part) {
    if (!IsLonger(text, WholeWithin(options_.characters))) return text;
    const Excerpt excerpt = ExcerptOf(text, ExcerptWithin(options_.characters));
    json_[name] = {{"left_out", excerpt.left_out}, {"end", excerpt.end}};
    if (part) AddUri(name, *part);
    return excerpt.begin;
  }

  // The items that fit; `cut` counts the others.
  template <typename Items, typename Convert>
  OrderedJson List(const char* name, const Items& items, uint64_t left_out, Convert convert) {
    OrderedJson list = OrderedJson::array();
    size_t size = 0;
    for (const auto& item : items) {
      OrderedJson json = convert(item);
      size += json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace).size();
      if (size > WholeWithin(options_.characters) && !list.empty()) break;
      list.push_back(std::move(json));
    }
    left_out += items.size() - list.size();
    if (left_out > 0) json_[name] = {{"left_out", left_out}};
    return list;
  }

  // The value is included completely or not at all: a program could not tell a part from the whole.
  OrderedJson Value(const Outcome& outcome) {
    if (!outcome.result_json) return nullptr;
    if (!IsLonger(*outcome.result_json, WholeWithin(options_.characters))) {
      return OrderedJson(nlohmann::json::parse(*outcome.result_json));
    }
    json_["result"] = {{"left_out", CharactersIn(*outcome.result_json)}};
    AddUri("result", LongPart::kResult);
    return nullptr;
  }

  void Dropped(const char* name, uint64_t bytes) {
    if (bytes > 0) json_[name]["dropped_bytes"] = bytes;
  }
  // What the worker truncated without counting.
  void Cut(const std::string& name) {
    if (!json_.contains(name)) json_[name] = {{"left_out", nullptr}};
  }

  const OrderedJson& json() const { return json_; }

 private:
  void AddUri(const char* name, LongPart part) {
    if (const std::string* const uri = UriOf(options_, part)) json_[name]["uri"] = *uri;
  }

  const AnswerOptions& options_;
  OrderedJson json_ = OrderedJson::object();
};

void AddText(const char* name, const std::string& text, OrderedJson& json) {
  if (!text.empty()) json[name] = text;
}

void AddNumber(const char* name, int number, OrderedJson& json) {
  if (number > 0) json[name] = number;
}

OrderedJson FindingJson(const Finding& finding) {
  OrderedJson json = {{"rule", finding.rule}};
  AddNumber("line", finding.line, json);
  AddNumber("column", finding.column, json);
  json["reason"] = finding.reason;
  AddText("hint", finding.hint, json);
  AddText("profile", finding.profile, json);
  return json;
}

OrderedJson ErrorJson(const GuestError& error, Cuts& cuts) {
  OrderedJson json = {{"type", error.type},
                      {"message", cuts.Text("message", error.message, std::nullopt)}};
  AddNumber("line", error.line, json);
  if (!error.traceback.empty()) {
    json["traceback"] = cuts.Text("traceback", error.traceback, LongPart::kTraceback);
  }
  AddText("hint", error.hint, json);
  return json;
}

OrderedJson IsolationJson(const Outcome& outcome) {
  const Isolation& isolation = outcome.isolation;
  OrderedJson json = {{"mode", isolation.mode}, {"policy", isolation.policy}};
  const std::vector<std::string> missing = MissingLayers(isolation);
  json["layers"] = isolation.layers.size() - missing.size();
  if (!missing.empty()) json["missing"] = missing;
  if (outcome.container) json["container"] = outcome.container->runtime;
  return json;
}

OrderedJson EventJson(const SecurityEvent& event) {
  OrderedJson json = {{"layer", event.layer}, {"action", event.action}, {"detail", event.detail}};
  if (event.count != 1) json["count"] = event.count;
  return json;
}

OrderedJson ArtifactJson(const Artifact& artifact) {
  OrderedJson json = {
      {"name", artifact.name}, {"media_type", artifact.media_type}, {"size", artifact.size}};
  AddText("note", artifact.note, json);
  AddText("uri", artifact.uri, json);
  return json;
}

OrderedJson NetworkJson(const Connections& connections) {
  const NetworkEvent& event = *connections.event;
  OrderedJson json = {{"host", event.host}, {"port", event.port}, {"allowed", event.allowed}};
  AddText("detail", event.detail, json);
  if (connections.count > 1) json["count"] = connections.count;
  return json;
}

OrderedJson SessionJson(const SessionReport& session) {
  OrderedJson json = {{"id", session.id}, {"cell", session.cell}};
  AddText("checkpoint", session.checkpoint, json);
  if (session.restored) json["restored"] = true;
  AddText("note", session.note, json);
  return json;
}

OrderedJson ContainerJson(const ContainerReport& container) {
  OrderedJson json = {{"engine", container.engine}, {"runtime", container.runtime}};
  if (!container.not_limited.empty()) json["not_limited"] = container.not_limited;
  if (!container.packages.empty()) json["packages"] = container.packages;
  return json;
}

template <typename Items, typename Convert>
void AddList(const char* name, const Items& items, uint64_t left_out, Convert convert, Cuts& cuts,
             OrderedJson& json) {
  OrderedJson list = cuts.List(name, items, left_out, convert);
  if (!list.empty()) json[name] = std::move(list);
}

// Anything below a tenth of a millisecond is noise.
double RoundedSeconds(std::chrono::microseconds time) {
  return std::round(Seconds(time) * 1e4) / 1e4;
}

// The bytes of a stream that is not UTF-8, unless they are too long.
void AddBytes(const char* name, const Stream& stream, const AnswerOptions& options,
              OrderedJson& json) {
  if (!IsLonger(stream.text, WholeWithin(options.characters))) {
    AddText(name, Base64Of(stream), json);
  }
}

// The keys that are always present, in the order of the full object.
OrderedJson AlwaysThere(const Outcome& outcome, Cuts& cuts) {
  OrderedJson json = {{"success", outcome.success()},
                      {"status", StatusName(outcome.status)},
                      {"execution_id", outcome.execution_id},
                      {"result", cuts.Value(outcome)}};
  // Redundant if there is a value.
  if (json["result"].is_null() && outcome.result_repr && outcome.result_json != "null") {
    json["result_repr"] = cuts.Text("result_repr", *outcome.result_repr, std::nullopt);
  }
  json["stdout"] = cuts.Text("stdout", outcome.stdout_stream.text, LongPart::kStdout);
  json["stderr"] = cuts.Text("stderr", outcome.stderr_stream.text, LongPart::kStderr);
  AddBytes("stdout_base64", outcome.stdout_stream, cuts.options(), json);
  AddBytes("stderr_base64", outcome.stderr_stream, cuts.options(), json);
  if (outcome.exit_code) json["exit_code"] = *outcome.exit_code;
  json["execution_time"] = RoundedSeconds(outcome.usage.wall_time);
  json["variables"] = cuts.List("variables", outcome.variables, 0,
                                [](const std::string& name) { return OrderedJson(name); });
  json["error"] = outcome.error ? ErrorJson(*outcome.error, cuts) : OrderedJson();
  return json;
}

}  // namespace

std::vector<WholePart> LongPartsOf(const Outcome& outcome, size_t characters) {
  std::vector<WholePart> parts;
  const auto add = [&](LongPart part, const char* name, const char* media_type,
                       const std::string& text) {
    if (!IsLonger(text, WholeWithin(characters))) return;
    parts.push_back({part, name, media_type, core::ValidUtf8(text)});
  };
  add(LongPart::kStdout, "stdout.txt", "text/plain", outcome.stdout_stream.text);
  add(LongPart::kStderr, "stderr.txt", "text/plain", outcome.stderr_stream.text);
  if (outcome.result_json) {
    add(LongPart::kResult, "result.json", "application/json", *outcome.result_json);
  }
  if (outcome.error) {
    add(LongPart::kTraceback, "traceback.txt", "text/plain", outcome.error->traceback);
  }
  return parts;
}

std::string AnswerText(const Outcome& outcome, const AnswerOptions& options) {
  Sections sections;
  sections.Add("stdout", StreamText(outcome.stdout_stream, LongPart::kStdout, options));
  sections.Add("stderr", StreamText(outcome.stderr_stream, LongPart::kStderr, options));
  AddValue(outcome, options, sections);
  if (!outcome.success()) {
    sections.Add("error (" + std::string(StatusName(outcome.status)) + ")",
                 FailureText(outcome, options));
  }
  sections.Add("files", FilesText(outcome, options));
  std::string text = std::move(sections).text();
  if (text.empty()) text = "The program finished. It printed nothing and left no value.";
  Sections notes(std::move(text));
  AddRefusals(outcome, notes);
  AddIsolation(outcome, notes);
  AddSession(outcome, options, notes);
  return std::move(notes).text();
}

std::string AnswerJson(const Outcome& outcome, const AnswerOptions& options, int indent) {
  Cuts cuts(options);
  OrderedJson json = AlwaysThere(outcome, cuts);
  // The error is the first finding.
  if (outcome.findings.size() > 1) {
    AddList("findings", outcome.findings, 0, FindingJson, cuts, json);
  }
  AddList("artifacts", outcome.artifacts, outcome.artifacts_left_out, ArtifactJson, cuts, json);
  AddText("artifacts_note", outcome.artifacts_note, json);
  AddList("network", ConnectionsOf(outcome), outcome.network_left_out, NetworkJson, cuts, json);
  AddList("security_events", outcome.security_events, 0, EventJson, cuts, json);
  if (outcome.container) json["container"] = ContainerJson(*outcome.container);
  if (outcome.session) json["session"] = SessionJson(*outcome.session);
  if (outcome.status != Status::kRefused) json["isolation"] = IsolationJson(outcome);
  cuts.Dropped("stdout", outcome.stdout_stream.dropped_bytes);
  cuts.Dropped("stderr", outcome.stderr_stream.dropped_bytes);
  for (const std::string& part : outcome.truncated) {
    if (part != "result_repr" || json.contains(part)) cuts.Cut(part);
  }
  if (!cuts.json().empty()) json["cut"] = cuts.json();
  return core::SafeJson(json.dump(indent, ' ', false, OrderedJson::error_handler_t::replace));
}

std::string FailureText(const Outcome& outcome, const AnswerOptions& options) {
  if (outcome.success()) return "";
  if (!outcome.findings.empty()) return "Nothing was run.\n" + FindingsText(outcome.findings);
  return outcome.error ? ErrorText(*outcome.error, options)
                       : std::string(StatusName(outcome.status));
}

std::string FindingsText(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    if (static_cast<size_t>(&finding - findings.data()) == kMaxFindings) break;
    if (!text.empty()) text += '\n';
    if (finding.line > 0) text += "line " + std::to_string(finding.line) + ": ";
    text += finding.rule + " " + core::Printable(finding.reason);
    if (!finding.hint.empty()) text += "\n  hint: " + core::Printable(finding.hint);
  }
  if (findings.size() <= kMaxFindings) return text;
  return text + "\nand " + std::to_string(findings.size() - kMaxFindings) + " more";
}

std::string FindingsToLeanJson(const std::vector<Finding>& findings, size_t characters) {
  const AnswerOptions options{characters};
  const OrderedJson list = Cuts(options).List("findings", findings, 0, FindingJson);
  return core::SafeJson(list.dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
}

std::string ProgramText(std::string_view text, const AnswerOptions& options,
                        const std::string& uri) {
  const std::string* const place = uri.empty() ? nullptr : &uri;
  return Shortened(text, options.characters, {.uri = place, .reader = options.reader});
}

}  // namespace belljar::host
