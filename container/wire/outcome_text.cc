#include "container/wire/outcome_text.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "container/wire/fields.h"
#include "engine/core/text.h"
#include "engine/host/beneath.h"
#include "engine/host/digest.h"
#include "engine/host/outcome_fields.h"
#include "engine/run/report.h"
#include "engine/workspace/workspace.h"

namespace belljar::container::wire {
namespace {

using nlohmann::json;

constexpr size_t kOverhead = 32 * 1024 * 1024;
// An unprintable byte of a name becomes four.
constexpr size_t kMaxFileName = 4 * host::kMaxPath;
// A displayed artifact with the name of a file is renamed, which makes it longer.
constexpr size_t kMaxDisplayName = 2 * run::kMaxArtifactName;

// --- the worker's part: its report, as written by runner.py -------------------------------------

json ReportForm(const host::Outcome& outcome) {
  json report = ToForm<host::kInReport>(outcome);
  report["status"] = host::NameOf(outcome.status);
  report["has_result"] = outcome.result_json.has_value();
  report["result"] = outcome.result_json ? json::parse(*outcome.result_json) : json();
  report["comments"] = ToForm<host::kInReport>(outcome.comments);
  report["truncated"] = json::object();
  for (const std::string& part : outcome.truncated) report["truncated"][part] = true;
  return report;
}

// Writing the parsed outcome again must reproduce the input: so it contains nothing else.
void ReadReportForm(const json& form, host::Outcome& outcome) {
  if (!run::ReadReportObject(form, run::ReportBy::kHost, outcome) || ReportForm(outcome) != form) {
    throw FormError("its report is invalid");
  }
}

// --- artifacts ----------------------------------------------------------------------------------

// A path below a directory in Printable form, which cannot lead elsewhere.
bool IsFileName(std::string_view name) {
  if (name.empty() || name.size() > kMaxFileName || core::Printable(name) != name) return false;
  return std::ranges::none_of(host::PathParts(name), [](std::string_view part) {
    return part.empty() || part == "." || part == "..";
  });
}

// Checks them in total, so that thousands of small ones cannot exceed the bounds.
class ArtifactValidator {
 public:
  explicit ArtifactValidator(const OutcomeBounds& bounds) : bounds_(bounds) {}

  host::Artifact Read(const json& form) {
    Fields fields(form);
    host::Artifact artifact;
    fields.Rows<host::kInObservation>(artifact);
    artifact.name = fields.Text("name", kMaxFileName);
    if (fields.Flag("taken_along")) artifact.content.emplace();
    fields.End();
    if (!run::IsMediaType(artifact.media_type))
      throw FormError("an artifact's media type is invalid");
    if (artifact.origin == host::Artifact::Origin::kFile) {
      CheckFile(artifact);
    } else {
      CheckDisplay(artifact);
    }
    return artifact;
  }

 private:
  void CheckFile(const host::Artifact& file) {
    if (!bounds_.has_workspace) throw FormError("a profile without a workspace has left files");
    if (++files_ > workspace::kMaxArtifactFiles) throw FormError("too many files");
    if (!IsFileName(file.name)) throw FormError("a file's name is invalid");
    if (file.content) Spend(file.size, workspace::kMaxKept, files_size_);
  }

  void CheckDisplay(const host::Artifact& display) {
    if (++displays_ > run::kMaxArtifacts) throw FormError("too many displays");
    if (!run::IsDisplayName(display.name, kMaxDisplayName) || !names_.insert(display.name).second) {
      throw FormError("a display's name is invalid or a duplicate");
    }
    if (!display.content) throw FormError("a display without content");
    Spend(display.size, bounds_.displays, displays_size_);
  }

  static void Spend(uint64_t size, core::Bytes max, uint64_t& spent) {
    if (size > max.count - spent) throw FormError("the artifacts are too large");
    spent += size;
  }

  const OutcomeBounds& bounds_;
  size_t files_ = 0;
  size_t displays_ = 0;
  uint64_t files_size_ = 0;
  uint64_t displays_size_ = 0;
  std::set<std::string> names_;
};

void CheckLayers(const std::vector<host::LayerState>& layers) {
  std::set<std::string_view> names;
  for (const host::LayerState& layer : layers) {
    if (!names.insert(layer.name).second) throw FormError("a layer is duplicated");
  }
}

// Only the host knows how a container has ended.
void CheckKillCause(const host::Outcome& outcome) {
  if (outcome.kill_cause == host::KillCause::kContainerEnded ||
      (outcome.status != host::Status::kKilled &&
       outcome.kill_cause != host::KillCause::kUnknown)) {
    throw FormError("its kill_cause is not allowed");
  }
  // That of a program of another language, which the worker survives, is an exception.
  const bool has_signal = outcome.kill_signal != 0;
  const bool may_have = outcome.status == host::Status::kException;
  if (!may_have && has_signal != (outcome.kill_cause == host::KillCause::kSignal)) {
    throw FormError("its kill_signal is not allowed");
  }
}

void Read(const json& form, const OutcomeBounds& bounds, host::Outcome& outcome) {
  Fields fields(form);
  ReadReportForm(fields.Any("report"), outcome);
  fields.Rows<host::kInObservation>(outcome);
  CheckKillCause(outcome);
  CheckLayers(outcome.isolation.layers);
  ArtifactValidator validator(bounds);
  for (const json& item :
       fields.List("artifacts", workspace::kMaxArtifactFiles + run::kMaxArtifacts)) {
    outcome.artifacts.push_back(validator.Read(item));
  }
  fields.End();
}

}  // namespace

size_t MaxOutcomeText(const OutcomeBounds& bounds) {
  return static_cast<size_t>(bounds.limits.result.count) + kOverhead;
}

std::string OutcomeToText(const host::Outcome& outcome) {
  json form = ToForm<host::kInObservation>(outcome);
  form["report"] = ReportForm(outcome);
  json& artifacts = form["artifacts"] = json::array();
  for (const host::Artifact& artifact : outcome.artifacts) {
    json& item = artifacts.emplace_back(ToForm<host::kInObservation>(artifact));
    item["name"] = artifact.name;
    item["taken_along"] = artifact.content.has_value();
  }
  return FormText(form);
}

std::vector<std::string_view> OutcomeContent(const host::Outcome& outcome) {
  std::vector<std::string_view> content;
  for (const host::Artifact& artifact : outcome.artifacts) {
    if (artifact.content) content.push_back(*artifact.content);
  }
  return content;
}

core::Result<void> ReadOutcomeText(std::string_view text, const OutcomeBounds& bounds,
                                   host::Outcome& outcome, Content& content) {
  // Each value of a result takes at least one byte of its text and a comma.
  const host::JsonBounds json_bounds{
      .depth = run::kMaxReportDepth + 1,
      .values = static_cast<size_t>(bounds.limits.result.count) / 2 + 300'000};
  core::Result<void> read = ReadForm(text, json_bounds, "read a container's outcome",
                                     [&](const json& form) { Read(form, bounds, outcome); });
  if (!read) return read;
  for (host::Artifact& artifact : outcome.artifacts) {
    if (artifact.content) content.Announce(&*artifact.content, artifact.size);
  }
  return read;
}

void FinishOutcome(host::Outcome& outcome) {
  for (host::Artifact& artifact : outcome.artifacts) {
    if (artifact.content) artifact.sha256 = host::Sha256(*artifact.content);
  }
  host::MarkInline(outcome);
}

}  // namespace belljar::container::wire
