// The table of the limits (limits.h). Profiles, the text format of containers and users refer to a
// limit by its `name` without the unit.
#ifndef BELLJAR_ENGINE_HOST_LIMIT_FIELDS_H_
#define BELLJAR_ENGINE_HOST_LIMIT_FIELDS_H_

#include <algorithm>

#include "engine/core/limits.h"
#include "engine/host/fields.h"

namespace belljar::host {

inline constexpr uint64_t kMaxTimeLimit = 86'400'000;  // milliseconds: a day

template <typename Visit>
void VisitFields(TableOf<core::Limits>, Visit visit) {
  constexpr unsigned kAll = kShown | kSent;
  visit(Row<kAll | kRequired>("timeout", &core::Limits::timeout, "Seconds of wall clock",
                              {.max = kMaxTimeLimit}));
  visit(Row<kAll | kRequired>("cpu", &core::Limits::cpu, "Seconds of CPU time",
                              {.max = kMaxTimeLimit}));
  visit(Row<kAll | kRequired>("memory_bytes", &core::Limits::memory));
  visit(Row<kAll | kRequired>("output_bytes", &core::Limits::output,
                              "Of stdout and of stderr, each"));
  visit(Row<kAll>("result_bytes", &core::Limits::result, "Of the result as JSON"));
  visit(Row<kAll>("source_bytes", &core::Limits::source));
  visit(Row<kAll>("file_size_bytes", &core::Limits::file_size));
  visit(Row<kAll>("artifact_bytes", &core::Limits::artifact,
                  "Content of one artifact within the result"));
  visit(Row<kAll>("artifacts_bytes", &core::Limits::artifacts, "Of all of them"));
  visit(Row<kAll>("open_files", &core::Limits::open_files));
  visit(Row<kAll>("processes", &core::Limits::processes));
}

// For display: "30s", "128m", "16".
inline std::string LimitText(std::chrono::milliseconds limit) {
  return core::FormatDuration(limit);
}
inline std::string LimitText(core::Bytes limit) { return limit.ToString(); }
inline std::string LimitText(uint32_t limit) { return std::to_string(limit); }

// "file_size"
template <typename Row_>
std::string LimitKey(const Row_& row) {
  return NameWithoutUnit<FieldType<Row_, const core::Limits>>(row.name);
}

// "file size"
template <typename Row_>
std::string LimitTitle(const Row_& row) {
  std::string title = LimitKey(row);
  std::ranges::replace(title, '_', ' ');
  return title;
}

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_LIMIT_FIELDS_H_
