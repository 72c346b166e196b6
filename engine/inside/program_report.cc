#include "engine/inside/program_report.h"

#include <string.h>
#include <sys/resource.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "engine/core/text.h"

namespace belljar::inside {
namespace {

// Bytes of what an interpreter has written of an error.
constexpr size_t kMaxType = 200;
constexpr size_t kMaxMessage = size_t{16} << 10;

nlohmann::json Positive(int number) { return number > 0 ? nlohmann::json(number) : nullptr; }

// `what` was run: the type of an error that no pattern names.
nlohmann::json ErrorOf(const End& end, const char* type, const ProgramError& read) {
  std::string message = read.message;
  std::string of_type =
      read.type.empty() || type == std::string_view(kCompileError) ? type : read.type;
  if (end.not_started != 0) {
    message = std::string("the program could not be started: ") + strerrordesc_np(end.not_started);
  } else if (end.signal != 0) {
    const char* const name = sigabbrev_np(end.signal);
    const char* const description = sigdescr_np(end.signal);
    of_type = "SIG" + (name ? std::string(name) : std::to_string(end.signal));
    message = "killed by a signal";
    if (description) message += std::string(": ") + description;
  } else if (message.empty()) {
    message = "exited with status " + std::to_string(end.exit_code);
  }
  return {{"type", core::ValidUtf8(of_type.substr(0, kMaxType))},
          {"message", core::ValidUtf8(message.substr(0, kMaxMessage))},
          {"line", Positive(read.line)},
          {"column", Positive(read.column)},
          {"end_line", nullptr},
          {"end_column", nullptr},
          {"traceback", nullptr},
          {"hint", nullptr}};
}

uint64_t Microseconds(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000 + static_cast<uint64_t>(time.tv_usec);
}

// The parts that all reports have.
nlohmann::json Report(const End& end, nlohmann::json program, nlohmann::json error) {
  program["signal"] = end.signal;
  return {{"program", std::move(program)},
          {"status", error.is_null() ? "ok" : "exception"},
          {"has_result", false},
          {"result", nullptr},
          {"result_repr", nullptr},
          {"exit_code", end.signal == 0 ? nlohmann::json(end.exit_code) : nullptr},
          {"variables", nlohmann::json::array()},
          {"error", std::move(error)},
          {"findings", nlohmann::json::array()},
          {"analysis", nullptr},
          {"truncated", nlohmann::json::object()}};
}

std::string Text(const nlohmann::json& report) {
  return report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Discarded if it is no JSON, or nested deeper than a value of Python may be (plain_data.py).
nlohmann::json PlainValue(const std::string& text) {
  constexpr int kMaxDepth = 64;
  bool is_too_deep = false;
  nlohmann::json value = nlohmann::json::parse(
      text,
      [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        is_too_deep |= depth > kMaxDepth;
        return !is_too_deep;
      },
      /*allow_exceptions=*/false);
  return is_too_deep ? nlohmann::json(nlohmann::json::value_t::discarded) : value;
}

void LeaveOut(const char* part, nlohmann::json& report) {
  report[part] = nullptr;
  report["truncated"][part] = true;
}

// Without what would make it larger than `max_size`.
std::string TextWithValue(nlohmann::json report, const CellReport& of, size_t max_size) {
  if (of.result) {
    report["result"] = PlainValue(*of.result);
    report["has_result"] = !report["result"].is_discarded();
    if (report["result"].is_discarded()) LeaveOut("result", report);
  }
  if (of.result_repr) report["result_repr"] = core::ValidUtf8(*of.result_repr);
  AddShownFiles(of.shown, report);
  std::string text = Text(report);
  for (const char* const part : {"result_repr", "result"}) {
    if (text.size() <= max_size) break;
    LeaveOut(part, report);
    text = Text(report);
  }
  return text;
}

}  // namespace

ChildUsage UsageOfChildren() {
  rusage usage{};
  (void)getrusage(RUSAGE_CHILDREN, &usage);
  return {Microseconds(usage.ru_utime) + Microseconds(usage.ru_stime),
          static_cast<uint64_t>(usage.ru_maxrss) * 1024};
}

std::string ReportOfProgram(const End& end, const char* type, const ProgramError& error,
                            const ChildUsage& before, const CellReport& answer, size_t max_size) {
  const ChildUsage usage = UsageOfChildren();
  const bool is_program = usage.max_rss_bytes > before.max_rss_bytes;
  const uint64_t used_cpu = usage.cpu_microseconds + end.cpu_microseconds;
  nlohmann::json report =
      Report(end,
             {{"cpu_microseconds", used_cpu - std::min(used_cpu, before.cpu_microseconds)},
              {"max_rss_bytes",
               is_program ? std::max(usage.max_rss_bytes, end.max_rss_bytes) : end.max_rss_bytes}},
             end.ok() ? nlohmann::json() : ErrorOf(end, type, error));
  return TextWithValue(std::move(report), answer, max_size);
}

// The host sees from outside what the interpreter has used.
std::string ReportOfCell(const CellReport& cell, size_t max_size) {
  nlohmann::json report = Report(
      cell.end, {{"cpu_microseconds", 0}, {"max_rss_bytes", 0}, {"session_ended", cell.has_ended}},
      cell.error || !cell.end.ok()
          ? ErrorOf(cell.end, kExitStatus, cell.error.value_or(ProgramError{}))
          : nlohmann::json());
  return TextWithValue(std::move(report), cell, max_size);
}

size_t MaxAnswer(size_t max_result) {
  constexpr size_t kOverhead = size_t{64} << 10;
  constexpr size_t kEscaped = 6;  // "\u0000"
  return kOverhead + kEscaped * max_result;
}

}  // namespace belljar::inside
