// Parses the report of a worker of Python: JSON that a hostile process may have written.
#ifndef BELLJAR_ENGINE_RUN_REPORT_H_
#define BELLJAR_ENGINE_RUN_REPORT_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "engine/host/outcome_fields.h"

namespace belljar::run {

// Deeper nesting is refused before a tree is built.
inline constexpr int kMaxReportDepth = 256;

// The runner never writes more; the other bounds are in outcome_fields.h.
inline constexpr size_t kMaxComments = 1000;
inline constexpr size_t kMaxArtifacts = 64;
inline constexpr size_t kMaxArtifactName = 64;
inline constexpr size_t kMaxArtifactNote = 400;

// Who says it. A host that ran the worker, and is itself isolated (container/wire), may also
// declare what a worker cannot: that the run timed out or was killed.
enum class ReportBy { kWorker, kHost };

// Fills in the worker's part of the outcome: status, result, error, findings, analysis, comments,
// variables. `artifacts`: the bytes that contain the report's artifacts. False, with `outcome`
// unchanged, if the report does not have the form that runner.py writes.
bool ReadReport(std::string_view report, host::Outcome& outcome, std::string_view artifacts = {},
                ReportBy by = ReportBy::kWorker);

// The answer to a question, in a session: an object with status ok, which becomes the result. False
// for anything else.
bool ReadAnswer(std::string_view report, host::Outcome& outcome);

// As ReadReport, for a parsed object within the same depth.
bool ReadReportObject(const nlohmann::json& object, ReportBy by, host::Outcome& outcome,
                      std::string_view artifacts = {});

// Adds an artifact that a worker claims to have left among `bytes`, after those before it. Throws
// unless its name, its place and the number of artifacts are possible.
struct ClaimedArtifact {
  std::string name, media_type, note;
  uint64_t offset = 0;
  uint64_t size = 0;
};
void AddArtifact(const ClaimedArtifact& claimed, std::string_view bytes, host::Outcome& outcome);

// Throws unless it is a whole number that an int can hold.
int Integer(const nlohmann::json& value);

// For displayed artifacts: at most `max` letters, digits and "-_.", which cannot lead to another
// directory.
bool IsDisplayName(std::string_view name, size_t max = kMaxArtifactName);
bool IsMediaType(std::string_view text);

}  // namespace belljar::run

#endif  // BELLJAR_ENGINE_RUN_REPORT_H_
