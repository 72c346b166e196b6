#include "engine/run/program_report.h"

#include <signal.h>
#include <string.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include "engine/core/flat.h"
#include "engine/core/program_messages.h"
#include "engine/core/text.h"
#include "engine/host/json_reader.h"
#include "engine/host/outcome_fields.h"
#include "engine/run/report.h"

namespace belljar::run {
namespace {

using nlohmann::json;

// Bytes of what an interpreter has written of an error.
constexpr size_t kMaxType = 200;
constexpr size_t kMaxMessage = size_t{16} << 10;
// An answer has a few members, of which one is an object; its result is nested no deeper than a
// value of Python may be (plain_data.py).
constexpr host::JsonBounds kAnswerBounds{.depth = 8, .values = 64};
constexpr host::JsonBounds kResultBounds{.depth = 64};

struct CellValue {
  std::optional<std::string> result;  // JSON
  std::optional<std::string> repr;
  json notes = json::object();  // by name of what it shows
};

int IntegerAt(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? 0 : Integer(*found);
}

// What an interpreter says of a cell: hostile, but only to its own session. Throws.
CellValue ReadAnswer(const json& answer, core::ProgramReport& report) {
  report.end = {.exit_code = IntegerAt(answer, "exit_code") & 0xff};
  if (answer.value("interrupted", false)) {
    report.end.exit_code = 128 + SIGINT;
    report.error = {.type = "Interrupted", .message = "interrupted"};
  }
  if (const auto error = answer.find("error"); error != answer.end()) {
    report.end.exit_code = 1;
    report.error = {.type = error->value("type", ""),
                    .message = error->value("message", ""),
                    .line = IntegerAt(*error, "line"),
                    .column = IntegerAt(*error, "column")};
  }
  CellValue value;
  if (answer.contains("result")) value.result = answer.at("result").get<std::string>();
  if (answer.contains("repr")) value.repr = answer.at("repr").get<std::string>();
  if (answer.contains("notes") && answer.at("notes").is_object()) value.notes = answer.at("notes");
  return value;
}

std::optional<CellValue> ReadAnswer(const std::string& text, core::ProgramReport& report) {
  const host::JsonReading reading = host::ReadJson(text, kAnswerBounds);
  const json* const read = std::get_if<json>(&reading);
  try {
    return read ? std::optional(ReadAnswer(*read, report)) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// A program's answer counts only for its value: how it ended is known.
CellValue TakeAnswer(core::ProgramReport& report) {
  if (report.answer.empty()) {
    core::ProgramReport unused;
    return ReadAnswer(report.value, unused).value_or(CellValue());
  }
  if (std::optional<CellValue> value = ReadAnswer(report.answer, report)) return std::move(*value);
  report.end = {.exit_code = 1};
  report.error = {.type = "SessionError", .message = "the interpreter's answer was malformed"};
  report.session_ended = true;
  return {};
}

void SetValue(const CellValue& value, uint64_t max_size, host::Outcome& outcome) {
  if (value.result) {
    const host::JsonReading reading = value.result->size() <= max_size
                                          ? host::ReadJson(*value.result, kResultBounds)
                                          : host::JsonFailure{};
    const json* const read = std::get_if<json>(&reading);
    if (!read) outcome.truncated.emplace_back("result");
    if (read && !read->is_null()) outcome.result_json = read->dump();
  }
  if (!value.repr) return;
  const uint64_t used = outcome.result_json ? outcome.result_json->size() : 0;
  if (value.repr->size() > max_size - std::min(used, max_size)) {
    outcome.truncated.emplace_back("result_repr");
  } else {
    outcome.result_repr = core::ValidUtf8(*value.repr);
  }
}

// Throws.
void AddShown(const core::ProgramReport& report, const json& notes, std::string_view bytes,
              host::Outcome& outcome) {
  if (report.shown_left_out > INT_MAX) throw std::runtime_error("not a count");
  for (const core::ShownFile& file : report.shown) {
    ClaimedArtifact claimed{.name = file.name,
                            .media_type = file.media_type,
                            .note = {},
                            .offset = file.offset,
                            .size = file.size};
    const auto note = notes.find(file.name);
    if (note != notes.end() && note->is_string()) {
      claimed.note = core::ValidUtf8(note->get<std::string>().substr(0, kMaxArtifactNote / 2));
    }
    AddArtifact(claimed, bytes, outcome);
  }
  outcome.artifacts_left_out = report.shown_left_out;
}

host::GuestError ErrorOf(const core::ProgramReport& report) {
  const core::ProgramEnd& end = report.end;
  std::string type = report.error.type;
  std::string message = report.error.message;
  if (report.is_compiler) type = "CompileError";
  if (type.empty()) type = "ExitStatus";
  if (end.not_started != 0) {
    const char* const why = strerrordesc_np(end.not_started);
    message = std::string("the program could not be started: ") + (why ? why : "unknown error");
  } else if (end.signal != 0) {
    const char* const description = sigdescr_np(end.signal);
    type = host::SignalName(end.signal);
    message = "killed by a signal";
    if (description) message += std::string(": ") + description;
  } else if (message.empty()) {
    message = "exited with status " + std::to_string(end.exit_code);
  }
  return {.type = core::ValidUtf8(type.substr(0, kMaxType)),
          .message = core::ValidUtf8(message.substr(0, kMaxMessage)),
          .line = std::max(report.error.line, 0),
          .column = std::max(report.error.column, 0)};
}

}  // namespace

std::string ProgramMetadata(const host::Request& request) {
  const json warm = {{"file", request.filename},
                     {"arguments", request.arguments},
                     {"memory", request.limits.memory.count},
                     {"max_result", request.limits.result.count}};
  return core::ToFlat(
      core::ProgramRequest{.file = request.filename,
                           .arguments = request.arguments,
                           .environment = request.environment,
                           .warm = warm.dump(-1, ' ', false, json::error_handler_t::replace),
                           .max_result = request.limits.result.count});
}

bool ReadProgramReport(std::string_view bytes, uint64_t max_size, host::Outcome& outcome,
                       std::string_view artifacts) {
  core::Result<core::ProgramReport> read = core::FromFlat<core::ProgramReport>("report", bytes);
  if (!read || read->end.signal < 0 || static_cast<uint64_t>(read->end.signal) > host::kMaxSignal) {
    return false;
  }
  const CellValue value = TakeAnswer(*read);
  host::Outcome shown;
  try {
    AddShown(*read, value.notes, artifacts, shown);
  } catch (const std::exception&) {
    return false;
  }
  outcome.artifacts = std::move(shown.artifacts);
  outcome.artifacts_left_out += shown.artifacts_left_out;
  SetValue(value, max_size, outcome);
  const core::ProgramEnd& end = read->end;
  outcome.usage.cpu_time =
      std::chrono::microseconds(std::min<uint64_t>(read->cpu_microseconds, host::kMaxMicroseconds));
  outcome.usage.max_rss_bytes = end.max_rss_bytes;
  outcome.status = end.ok() ? host::Status::kOk : host::Status::kException;
  outcome.kill_signal = end.signal;
  if (end.signal == 0) outcome.exit_code = end.exit_code;
  if (!end.ok()) outcome.error = ErrorOf(*read);
  if (read->session_ended) outcome.session.emplace().restarted = true;
  return true;
}

}  // namespace belljar::run
