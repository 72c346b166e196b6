// Reads the report of a worker: JSON that a hostile process may have written.
#ifndef BELLJAR_ENGINE_OUTSIDE_REPORT_H_
#define BELLJAR_ENGINE_OUTSIDE_REPORT_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "engine/host/outcome_fields.h"

namespace belljar::outside {

// Nesting past this is refused before a tree of it is built.
inline constexpr int kMaxReportDepth = 256;

// More than this is none that the runner wrote; outcome_fields.h has the others.
inline constexpr size_t kMaxComments = 1000;
inline constexpr size_t kMaxArtifacts = 64;
inline constexpr size_t kMaxArtifactName = 64;
inline constexpr size_t kMaxArtifactNote = 400;

// Fills what the worker knows of the outcome: status, result, error, findings, analysis, comments,
// variables. False, with `outcome` unchanged, when the report is not of the form that runner.py
// writes.
// `artifacts`: the bytes that the report's artifacts are parts of.
bool ReadReport(std::string_view report, host::Outcome& outcome, std::string_view artifacts = {});

// The same of what has been parsed already, within the same depth. A host that ran the worker, and
// is itself behind a wall (container/wire), may also declare what a worker cannot: that it ran out
// of time, or was killed.
enum class ReportBy { kWorker, kHost };
bool ReadReportObject(const nlohmann::json& object, ReportBy by, host::Outcome& outcome,
                      std::string_view artifacts = {});

// Of what is displayed: at most `max` letters, digits and "-_.", none of them leading to another
// directory.
bool IsDisplayName(std::string_view name, size_t max = kMaxArtifactName);
bool IsMediaType(std::string_view text);

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_REPORT_H_
