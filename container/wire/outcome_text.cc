#include "container/wire/outcome_text.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <span>

#include "container/wire/fields.h"
#include "engine/core/beneath.h"
#include "engine/core/digest.h"
#include "engine/core/text.h"
#include "engine/outside/report.h"
#include "engine/outside/workspace.h"

namespace belljar {
namespace {

using nlohmann::json;

constexpr size_t kOverhead = 32 * 1024 * 1024;
constexpr size_t kMostEvents = 2000;
// All that an engine has to say of a worker, each once. A metric and a log have a name apiece: made
// up ones would crowd out those that are.
constexpr std::string_view kLayers[] = {"namespaces", "privileges", "rlimits",
                                        "landlock",   "seccomp",    "cgroup"};
constexpr std::string_view kActions[] = {"denied", "killed"};
constexpr size_t kLongestName = 200;
constexpr size_t kLongestDetail = 4000;
constexpr size_t kLongestNote = 1000;
constexpr uint64_t kMostMicroseconds = 7ull * 86'400 * 1'000'000;
// One byte of a name becomes four where it is not printable.
constexpr size_t kLongestFileName = 4 * kLongestPath;
// A display that has the name of a file gets another one, which is longer.
constexpr size_t kLongestDisplayName = 2 * kMaxArtifactName;

// --- the parts ----------------------------------------------------------------------------------

json ToForm(const GuestError& error) {
  return {{"type", error.type},           {"message", error.message},
          {"line", error.line},           {"column", error.column},
          {"end_line", error.end_line},   {"end_column", error.end_column},
          {"traceback", error.traceback}, {"hint", error.hint}};
}

json ToForm(const Finding& finding) {
  return {{"rule", finding.rule},         {"name", finding.name},
          {"line", finding.line},         {"column", finding.column},
          {"end_line", finding.end_line}, {"end_column", finding.end_column},
          {"reason", finding.reason},     {"hint", finding.hint},
          {"profile", finding.profile}};
}

json ToForm(const Analysis& analysis) {
  return {{"imports", analysis.imports},
          {"branches", analysis.branches},
          {"nesting", analysis.nesting}};
}

json ToForm(const Comment& comment) { return {{"line", comment.line}, {"text", comment.text}}; }

// People see it, in terminals too.
std::string Plain(const std::string& text) {
  return Printable(std::string_view(text).substr(0, kLongestDetail / 4));
}

json ToForm(const LayerState& layer) {
  return {{"name", layer.name}, {"held", layer.held}, {"detail", Plain(layer.detail)}};
}

json ToForm(const SecurityEvent& event) {
  return {{"layer", event.layer},
          {"action", event.action},
          {"detail", Plain(event.detail)},
          {"count", event.count}};
}

json ToForm(const Usage& usage) {
  const auto time = [](std::chrono::microseconds spent) {
    return static_cast<uint64_t>(std::max<int64_t>(spent.count(), 0));
  };
  return {{"wall_microseconds", time(usage.wall_time)},
          {"cpu_microseconds", time(usage.cpu_time)},
          {"max_rss_bytes", usage.max_rss_bytes}};
}

json ToForm(const Artifact& artifact) {
  return {{"origin", artifact.origin == Artifact::Origin::kFile ? "file" : "display"},
          {"name", artifact.name},
          {"media_type", artifact.media_type},
          {"size", artifact.size},
          {"taken_along", artifact.content.has_value()},
          {"note", artifact.note}};
}

template <typename T>
json ListOf(const std::vector<T>& items) {
  json list = json::array();
  for (const T& item : items) list.push_back(ToForm(item));
  return list;
}

// --- the worker's part: its report, as runner.py writes it --------------------------------------

json ReportForm(const Outcome& outcome) {
  json report = {{"status", StatusName(outcome.status)},
                 {"exit_code", nullptr},
                 {"has_result", outcome.result_json.has_value()},
                 {"result", nullptr},
                 {"result_repr", nullptr},
                 {"variables", outcome.variables},
                 {"error", nullptr},
                 {"findings", ListOf(outcome.findings)},
                 {"analysis", nullptr},
                 {"comments", ListOf(outcome.comments)},
                 {"truncated", json::object()}};
  if (outcome.exit_code) report["exit_code"] = *outcome.exit_code;
  if (outcome.result_json) report["result"] = json::parse(*outcome.result_json);
  if (outcome.result_repr) report["result_repr"] = *outcome.result_repr;
  if (outcome.error) report["error"] = ToForm(*outcome.error);
  if (outcome.analysis) report["analysis"] = ToForm(*outcome.analysis);
  for (const std::string& part : outcome.truncated) report["truncated"][part] = true;
  return report;
}

// What was understood, written again, is what stood there: so there is nothing else in it.
void ReadReportForm(const json& form, Outcome& outcome) {
  if (!ReadReportObject(form, ReportBy::kHost, outcome) || ReportForm(outcome) != form) {
    throw FormError("its report is not one");
  }
}

// --- what its host has seen ---------------------------------------------------------------------

// As Plain writes it: a terminal shows it as it is.
std::string Shown(Fields& fields, const char* key, size_t most) {
  std::string text = fields.Text(key, most);
  if (Printable(text) != text) throw FormError(std::string(key) + " has control characters");
  return text;
}

Usage ReadUsage(const json& form) {
  Fields fields(form);
  Usage usage;
  usage.wall_time =
      std::chrono::microseconds(fields.Number("wall_microseconds", kMostMicroseconds));
  usage.cpu_time = std::chrono::microseconds(fields.Number("cpu_microseconds", kMostMicroseconds));
  usage.max_rss_bytes = fields.Number("max_rss_bytes", INT64_MAX);
  fields.End();
  return usage;
}

std::string OneOf(std::span<const std::string_view> names, Fields& fields, const char* key) {
  std::string name = fields.Text(key, kLongestName);
  if (std::ranges::find(names, name) == names.end()) {
    throw FormError(std::string(key) + " is none that there is");
  }
  return name;
}

LayerState ReadLayer(const json& form) {
  Fields fields(form);
  LayerState layer{OneOf(kLayers, fields, "name"), fields.Flag("held"),
                   Shown(fields, "detail", kLongestDetail)};
  fields.End();
  return layer;
}

void ReadLayers(const json& list, std::vector<LayerState>& layers) {
  std::set<std::string> names;
  for (const json& item : list) {
    layers.push_back(ReadLayer(item));
    if (!names.insert(layers.back().name).second) throw FormError("a layer is there twice");
  }
}

SecurityEvent ReadEvent(const json& form) {
  Fields fields(form);
  SecurityEvent event{OneOf(kLayers, fields, "layer"), OneOf(kActions, fields, "action"),
                      Shown(fields, "detail", kLongestDetail), fields.Number("count", INT64_MAX)};
  fields.End();
  return event;
}

// --- artifacts ----------------------------------------------------------------------------------

// A path below a directory, as Printable shows one: nothing in it leads elsewhere.
bool IsFileName(std::string_view name) {
  if (name.empty() || name.size() > kLongestFileName || Printable(name) != name) return false;
  return std::ranges::none_of(PathParts(name), [](std::string_view part) {
    return part.empty() || part == "." || part == "..";
  });
}

Artifact::Origin ReadOrigin(const std::string& name) {
  if (name == "file") return Artifact::Origin::kFile;
  if (name == "display") return Artifact::Origin::kDisplay;
  throw FormError("an artifact's origin is not known");
}

// All of them together, so that thousands of small ones are not more than one may be.
class ArtifactJudge {
 public:
  explicit ArtifactJudge(const OutcomeBounds& bounds) : bounds_(bounds) {}

  Artifact Read(const json& form) {
    Fields fields(form);
    Artifact artifact;
    artifact.origin = ReadOrigin(fields.Text("origin", kLongestName));
    artifact.name = fields.Text("name", kLongestFileName);
    artifact.media_type = fields.Text("media_type", kLongestName);
    artifact.size = fields.Number("size", INT64_MAX);
    if (fields.Flag("taken_along")) artifact.content.emplace();
    artifact.note = fields.Text("note", kLongestNote);
    fields.End();
    if (!IsMediaType(artifact.media_type)) throw FormError("an artifact's media type is none");
    if (artifact.origin == Artifact::Origin::kFile) {
      JudgeFile(artifact);
    } else {
      JudgeDisplay(artifact);
    }
    return artifact;
  }

 private:
  void JudgeFile(const Artifact& file) {
    if (!bounds_.has_workspace) throw FormError("a profile without a workspace has left files");
    if (++files_ > kMostArtifacts) throw FormError("too many files");
    if (!IsFileName(file.name)) throw FormError("a file's name is none");
    if (file.content) Spend(file.size, kMostKept, files_size_);
  }

  void JudgeDisplay(const Artifact& display) {
    if (++displays_ > kMaxArtifacts) throw FormError("too many displays");
    if (!IsDisplayName(display.name, kLongestDisplayName) || !names_.insert(display.name).second) {
      throw FormError("a display's name is none, or another one's");
    }
    if (!display.content) throw FormError("a display without content");
    Spend(display.size, bounds_.displays, displays_size_);
  }

  static void Spend(uint64_t size, Bytes most, uint64_t& spent) {
    if (size > most.count - spent) throw FormError("the artifacts are too large");
    spent += size;
  }

  const OutcomeBounds& bounds_;
  size_t files_ = 0;
  size_t displays_ = 0;
  uint64_t files_size_ = 0;
  uint64_t displays_size_ = 0;
  std::set<std::string> names_;
};

void Read(const json& form, const OutcomeBounds& bounds, Outcome& outcome) {
  Fields fields(form);
  ReadReportForm(fields.Any("report"), outcome);
  outcome.stdout_stream.dropped_bytes = fields.Number("stdout_dropped", INT64_MAX);
  outcome.stderr_stream.dropped_bytes = fields.Number("stderr_dropped", INT64_MAX);
  outcome.usage = ReadUsage(fields.Any("usage"));
  ReadLayers(fields.List("layers", std::size(kLayers)), outcome.isolation.layers);
  for (const json& item : fields.List("security_events", kMostEvents)) {
    outcome.security_events.push_back(ReadEvent(item));
  }
  ArtifactJudge judge(bounds);
  for (const json& item : fields.List("artifacts", kMostArtifacts + kMaxArtifacts)) {
    outcome.artifacts.push_back(judge.Read(item));
  }
  outcome.artifacts_left_out = fields.Number("artifacts_left_out", INT64_MAX);
  outcome.artifacts_note = Shown(fields, "artifacts_note", kLongestNote);
  fields.End();
}

}  // namespace

size_t MaxOutcomeText(const OutcomeBounds& bounds) {
  return static_cast<size_t>(bounds.limits.result.count) + kOverhead;
}

std::string OutcomeToText(const Outcome& outcome) {
  return FormText({{"report", ReportForm(outcome)},
                   {"stdout_dropped", outcome.stdout_stream.dropped_bytes},
                   {"stderr_dropped", outcome.stderr_stream.dropped_bytes},
                   {"usage", ToForm(outcome.usage)},
                   {"layers", ListOf(outcome.isolation.layers)},
                   {"security_events", ListOf(outcome.security_events)},
                   {"artifacts", ListOf(outcome.artifacts)},
                   {"artifacts_left_out", outcome.artifacts_left_out},
                   {"artifacts_note", outcome.artifacts_note}});
}

std::vector<std::string_view> OutcomeContent(const Outcome& outcome) {
  std::vector<std::string_view> content;
  for (const Artifact& artifact : outcome.artifacts) {
    if (artifact.content) content.push_back(*artifact.content);
  }
  return content;
}

Result<void> ReadOutcomeText(std::string_view text, const OutcomeBounds& bounds, Outcome& outcome,
                             Content& content) {
  // Each value of a result takes a byte of its text and a comma at least.
  const JsonBounds json_bounds{
      .depth = kMaxReportDepth + 1,
      .values = static_cast<size_t>(bounds.limits.result.count) / 2 + 300'000};
  Result<void> read = ReadForm(text, json_bounds, "read a container's outcome",
                               [&](const json& form) { Read(form, bounds, outcome); });
  if (!read) return read;
  for (Artifact& artifact : outcome.artifacts) {
    if (artifact.content) content.Announce(&*artifact.content, artifact.size);
  }
  return read;
}

void FinishOutcome(Outcome& outcome) {
  for (Artifact& artifact : outcome.artifacts) {
    if (artifact.content) artifact.sha256 = Sha256(*artifact.content);
  }
  MarkInline(outcome);
}

}  // namespace belljar
