#include "engine/outside/report.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/core/digest.h"
#include "engine/core/json_reader.h"

namespace belljar {
namespace {

using nlohmann::json;

std::string Text(const json& object, const char* key) {
  const json& value = object.at(key);
  return value.is_null() ? std::string() : value.get<std::string>();
}

// json's own conversion would take true, 2.5 and 1e300 too.
int Integer(const json& value) {
  const bool fits = value.is_number_unsigned()
                        ? value.get<uint64_t>() <= INT_MAX
                        : value.is_number_integer() && value.get<int64_t>() >= INT_MIN;
  if (!fits) throw std::runtime_error("not an int");
  return value.get<int>();
}

int Position(const json& object, const char* key) {
  const json& value = object.at(key);
  return value.is_null() ? 0 : Integer(value);
}

// A text or a number would be iterated over as a list of itself.
const json& List(const json& object, const char* key) {
  const json& value = object.at(key);
  if (!value.is_array()) throw std::runtime_error("not a list");
  return value;
}

Status ReadStatus(const std::string& name, ReportBy by) {
  // The limits are the host's to declare, but for memory, which only the worker sees as such.
  for (Status status : {Status::kOk, Status::kException, Status::kRefused, Status::kMemoryLimit}) {
    if (StatusName(status) == name) return status;
  }
  for (Status status : {Status::kTimeout, Status::kCpuLimit, Status::kKilled}) {
    if (by == ReportBy::kHost && StatusName(status) == name) return status;
  }
  throw std::runtime_error("unknown status");
}

Finding ReadFinding(const json& object) {
  return {Text(object, "rule"),       Text(object, "name"),         Position(object, "line"),
          Position(object, "column"), Position(object, "end_line"), Position(object, "end_column"),
          Text(object, "reason"),     Text(object, "hint"),         Text(object, "profile")};
}

GuestError ReadError(const json& object) {
  return {Text(object, "type"),       Text(object, "message"),      Position(object, "line"),
          Position(object, "column"), Position(object, "end_line"), Position(object, "end_column"),
          Text(object, "traceback"),  Text(object, "hint")};
}

int Count(const json& object, const char* key) {
  const int count = Integer(object.at(key));
  if (count < 0) throw std::runtime_error("a negative count");
  return count;
}

Analysis ReadAnalysis(const json& object) {
  Analysis analysis{{}, Count(object, "branches"), Count(object, "nesting")};
  const json& imports = List(object, "imports");
  if (imports.size() > kMaxImports) throw std::runtime_error("too many imports");
  for (const json& name : imports) {
    analysis.imports.push_back(name.get<std::string>());
    if (analysis.imports.back().size() > kMaxImportBytes) throw std::runtime_error("too long");
  }
  return analysis;
}

// Asked for by the request; otherwise the report has none.
std::vector<Comment> ReadComments(const json& object) {
  std::vector<Comment> comments;
  if (!object.contains("comments")) return comments;
  const json& list = List(object, "comments");
  if (list.size() > kMaxComments) throw std::runtime_error("too many comments");
  for (const json& item : list) {
    comments.push_back({Count(item, "line"), Text(item, "text")});
    if (comments.back().text.size() > kMaxCommentBytes) throw std::runtime_error("too long");
  }
  return comments;
}

// A name of the runner's only. The object that the outcome is shown as has "stdout" and "stderr"
// beside these, which are the host's to count; and as many names as a hostile worker likes would be
// looked up in each other.
std::vector<std::string> ReadTruncated(const json& object) {
  constexpr std::string_view kParts[] = {"result",    "result_repr", "traceback", "findings",
                                         "variables", "message",     "imports"};
  if (!object.is_object()) throw std::runtime_error("not an object");
  std::vector<std::string> truncated;
  for (const auto& [part, cut] : object.items()) {
    if (std::find(std::begin(kParts), std::end(kParts), part) == std::end(kParts)) {
      throw std::runtime_error("unknown part");
    }
    if (cut.get<bool>()) truncated.push_back(part);
  }
  return truncated;
}

bool IsPlain(std::string_view text, std::string_view others, size_t most) {
  return !text.empty() && text.size() <= most && std::ranges::all_of(text, [&](unsigned char c) {
    return (std::isalnum(c) != 0 && c < 0x80) || others.find(static_cast<char>(c)) != others.npos;
  });
}

// A name becomes a file's, a media type a header: nothing else than what the runner writes.
Artifact ReadArtifact(const json& object, std::string_view bytes) {
  Artifact artifact;
  artifact.origin = Artifact::Origin::kDisplay;
  artifact.name = Text(object, "name");
  artifact.media_type = Text(object, "media_type");
  artifact.note = Text(object, "note");
  if (!IsDisplayName(artifact.name) || !IsMediaType(artifact.media_type) ||
      artifact.note.size() > kMaxArtifactNote) {
    throw std::runtime_error("not an artifact's name");
  }
  const json& offset = object.at("offset");
  const json& size = object.at("size");
  if (!offset.is_number_unsigned() || !size.is_number_unsigned()) {
    throw std::runtime_error("not a place");
  }
  const auto from = offset.get<uint64_t>();
  artifact.size = size.get<uint64_t>();
  if (from > bytes.size() || artifact.size > bytes.size() - from) {
    throw std::runtime_error("outside of the artifacts");
  }
  artifact.content = std::string(bytes.substr(from, artifact.size));
  artifact.sha256 = Sha256(*artifact.content);
  return artifact;
}

// A run that made none, and a profile that keeps none, have no list.
void ReadArtifacts(const json& object, std::string_view bytes, Outcome& outcome) {
  if (!object.contains("artifacts")) return;
  const json& list = List(object, "artifacts");
  if (list.size() > kMaxArtifacts) throw std::runtime_error("too many artifacts");
  uint64_t total = 0;
  for (const json& item : list) {
    Artifact artifact = ReadArtifact(item, bytes);
    total += artifact.size;
    // Parts that overlap would make much of little.
    if (total > bytes.size()) throw std::runtime_error("larger than all of them");
    for (const Artifact& other : outcome.artifacts) {
      if (other.name == artifact.name) throw std::runtime_error("two of one name");
    }
    outcome.artifacts.push_back(std::move(artifact));
  }
  outcome.artifacts_left_out += static_cast<uint64_t>(Count(object, "artifacts_left_out"));
}

}  // namespace

bool IsDisplayName(std::string_view name, size_t most) {
  return IsPlain(name, "-_.", most) && name.front() != '.';
}

bool IsMediaType(std::string_view text) { return IsPlain(text, "/-+.", kMaxArtifactName); }

bool ReadReport(std::string_view report, Outcome& outcome, std::string_view artifacts) {
  JsonReading reading = ReadJson(report, {.depth = kMaxReportDepth});
  if (std::holds_alternative<JsonFailure>(reading)) return false;
  return ReadReportObject(std::get<json>(reading), ReportBy::kWorker, outcome, artifacts);
}

bool ReadReportObject(const json& object, ReportBy by, Outcome& outcome,
                      std::string_view artifacts) {
  try {
    Outcome read = outcome;
    read.status = ReadStatus(object.at("status").get<std::string>(), by);
    const json& exit_code = object.at("exit_code");
    if (!exit_code.is_null()) read.exit_code = Integer(exit_code);
    const json& result = object.at("result");
    if (object.at("has_result").get<bool>() && !result.is_null()) read.result_json = result.dump();
    if (!object.at("result_repr").is_null()) read.result_repr = Text(object, "result_repr");
    for (const json& name : List(object, "variables")) {
      read.variables.push_back(name.get<std::string>());
    }
    if (!object.at("error").is_null()) read.error = ReadError(object["error"]);
    for (const json& finding : List(object, "findings")) {
      read.findings.push_back(ReadFinding(finding));
    }
    if (!object.at("analysis").is_null()) read.analysis = ReadAnalysis(object["analysis"]);
    read.comments = ReadComments(object);
    read.truncated = ReadTruncated(object.at("truncated"));
    ReadArtifacts(object, artifacts, read);
    outcome = std::move(read);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace belljar
