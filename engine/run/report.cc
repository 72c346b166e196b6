#include "engine/run/report.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/host/digest.h"
#include "engine/host/json_reader.h"
#include "engine/host/outcome_fields.h"

namespace belljar::run {
namespace {

using nlohmann::json;

std::string Text(const json& value) {
  return value.is_null() ? std::string() : value.get<std::string>();
}

int Count(const json& value) {
  const int count = Integer(value);
  if (count < 0) throw std::runtime_error("a negative count");
  return count;
}

// A text or number would be iterated as a list of itself.
const json& List(const json& value, size_t max) {
  if (!value.is_array()) throw std::runtime_error("not a list");
  if (value.size() > max) throw std::runtime_error("list too long");
  return value;
}

// Reads a value of a table row. For null the member keeps its initial value.
template <unsigned kFlags, typename T>
void ReadValue(const json& value, const host::FieldBounds& bounds, T& into) {
  if constexpr (host::OptionalField<T>) {
    if (!value.is_null()) ReadValue<kFlags>(value, bounds, into.emplace());
  } else if constexpr (host::ListField<T>) {
    for (const json& item : List(value, bounds.max_items)) {
      if (item.is_null()) throw std::runtime_error("null in a list");
      ReadValue<kFlags>(item, bounds, into.emplace_back());
    }
  } else if constexpr (host::RecordField<T>) {
    host::ForEachField<T>([&](auto row) {
      if constexpr (row.Is(host::kInReport)) {
        ReadValue<row.kFlags>(value.at(row.name), row.bounds, row.Of(into));
      }
    });
  } else if constexpr (std::same_as<T, int>) {
    if ((kFlags & host::kPositive) != 0) {
      into = Count(value);
    } else if (!value.is_null()) {
      into = Integer(value);
    }
  } else if constexpr (std::same_as<T, bool>) {
    into = value.get<bool>();
  } else {
    static_assert(std::same_as<T, std::string>);
    into = Text(value);
    if (into.size() > bounds.max) throw std::runtime_error("too long");
  }
}

host::Status ReadStatus(const std::string& name, ReportBy by) {
  // Limits are for the host to declare, except memory, which only the worker can detect.
  for (host::Status status : {host::Status::kOk, host::Status::kException, host::Status::kRefused,
                              host::Status::kMemoryLimit}) {
    if (host::StatusName(status) == name) return status;
  }
  for (host::Status status :
       {host::Status::kTimeout, host::Status::kCpuLimit, host::Status::kKilled}) {
    if (by == ReportBy::kHost && host::StatusName(status) == name) return status;
  }
  throw std::runtime_error("unknown status");
}

// Only names that the runner uses. The JSON of the outcome also has "stdout" and "stderr" here,
// which only the host counts, and each name is compared with all others, so a hostile worker must
// not add arbitrarily many.
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

bool IsPlain(std::string_view text, std::string_view others, size_t max) {
  return !text.empty() && text.size() <= max && std::ranges::all_of(text, [&](unsigned char c) {
    return (std::isalnum(c) != 0 && c < 0x80) || others.find(static_cast<char>(c)) != others.npos;
  });
}

ClaimedArtifact ReadArtifact(const json& object) {
  const json& offset = object.at("offset");
  const json& size = object.at("size");
  if (!offset.is_number_unsigned() || !size.is_number_unsigned()) {
    throw std::runtime_error("not an offset");
  }
  return {.name = Text(object.at("name")),
          .media_type = Text(object.at("media_type")),
          .note = Text(object.at("note")),
          .offset = offset.get<uint64_t>(),
          .size = size.get<uint64_t>()};
}

// A run without artifacts, or a profile that does not keep them, has no list.
void ReadArtifacts(const json& object, std::string_view bytes, host::Outcome& outcome) {
  if (!object.contains("artifacts")) return;
  for (const json& item : List(object.at("artifacts"), kMaxArtifacts)) {
    AddArtifact(ReadArtifact(item), bytes, outcome);
  }
  outcome.artifacts_left_out += static_cast<uint64_t>(Count(object.at("artifacts_left_out")));
}

}  // namespace

// A name becomes a file name and a media type a header, so only what the runner writes is accepted.
void AddArtifact(const ClaimedArtifact& claimed, std::string_view bytes, host::Outcome& outcome) {
  if (!IsDisplayName(claimed.name) || !IsMediaType(claimed.media_type) ||
      claimed.note.size() > kMaxArtifactNote) {
    throw std::runtime_error("not an artifact's name");
  }
  if (claimed.offset > bytes.size() || claimed.size > bytes.size() - claimed.offset) {
    throw std::runtime_error("outside the artifacts");
  }
  // Overlapping parts would multiply the amount of data.
  uint64_t total = claimed.size;
  for (const host::Artifact& other : outcome.artifacts) {
    if (other.name == claimed.name) throw std::runtime_error("two with the same name");
    total += other.size;
  }
  if (total > bytes.size()) throw std::runtime_error("larger than all of them");
  if (outcome.artifacts.size() == kMaxArtifacts) throw std::runtime_error("too many artifacts");
  host::Artifact artifact;
  artifact.origin = host::Artifact::Origin::kDisplay;
  artifact.name = claimed.name;
  artifact.media_type = claimed.media_type;
  artifact.note = claimed.note;
  artifact.size = claimed.size;
  artifact.content = std::string(bytes.substr(claimed.offset, claimed.size));
  artifact.sha256 = host::Sha256(*artifact.content);
  outcome.artifacts.push_back(std::move(artifact));
}

// json's own conversion would also accept true, 2.5 and 1e300.
int Integer(const json& value) {
  const bool fits = value.is_number_unsigned()
                        ? value.get<uint64_t>() <= INT_MAX
                        : value.is_number_integer() && value.get<int64_t>() >= INT_MIN;
  if (!fits) throw std::runtime_error("not an int");
  return value.get<int>();
}

bool IsDisplayName(std::string_view name, size_t max) {
  return IsPlain(name, "-_.", max) && name.front() != '.';
}

bool IsMediaType(std::string_view text) { return IsPlain(text, "/-+.", kMaxArtifactName); }

bool ReadReport(std::string_view report, host::Outcome& outcome, std::string_view artifacts,
                ReportBy by) {
  host::JsonReading reading = host::ReadJson(report, {.depth = kMaxReportDepth});
  if (std::holds_alternative<host::JsonFailure>(reading)) return false;
  return ReadReportObject(std::get<json>(reading), by, outcome, artifacts);
}

bool ReadAnswer(std::string_view report, host::Outcome& outcome) {
  host::JsonReading reading = host::ReadJson(report, {.depth = kMaxReportDepth});
  const json* const object = std::get_if<json>(&reading);
  if (!object || !object->is_object() || object->contains("has_result")) return false;
  const auto status = object->find("status");
  if (status == object->end() || *status != host::StatusName(host::Status::kOk)) return false;
  outcome.status = host::Status::kOk;
  outcome.result_json = object->dump();
  return true;
}

bool ReadReportObject(const json& object, ReportBy by, host::Outcome& outcome,
                      std::string_view artifacts) {
  try {
    host::Outcome read = outcome;
    read.status = ReadStatus(object.at("status").get<std::string>(), by);
    const json& result = object.at("result");
    if (object.at("has_result").get<bool>() && !result.is_null()) read.result_json = result.dump();
    ReadValue<0>(object, {}, read);
    // Only present if requested.
    const auto comments = object.find("comments");
    if (comments != object.end()) {
      ReadValue<0>(*comments, {.max_items = kMaxComments}, read.comments);
    }
    read.truncated = ReadTruncated(object.at("truncated"));
    ReadArtifacts(object, artifacts, read);
    outcome = std::move(read);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace belljar::run
