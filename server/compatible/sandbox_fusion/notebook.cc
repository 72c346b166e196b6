#include "server/compatible/sandbox_fusion/notebook.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/base64.h"
#include "server/compatible/run_report.h"

namespace belljar::server::compatible::sandbox_fusion {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// With less time left, a cell could not even start.
constexpr double kMinTimeLeft = 0.1;

// Display data in Jupyter's form: contents by media type, binary ones in base64.
Json DisplayOf(const RunReport& report) {
  Json display = Json::array();
  for (const RunReport::Output& output : report.outputs) {
    if (!output.is_display) continue;
    const bool is_text = output.media_type.starts_with("text/") && core::IsUtf8(*output.bytes);
    display.push_back(
        {{output.media_type, is_text ? *output.bytes : host::EncodeBase64(*output.bytes)}});
  }
  if (!report.value.empty()) display.push_back({{"text/plain", report.value}});
  return display;
}

Json ErrorOf(const RunReport& report) {
  Json error = Json::array();
  if (!report.exception) return error;
  Json lines = Json::array();
  for (const std::string_view line : core::SplitAt(report.exception->traceback, '\n')) {
    lines.push_back(line);
  }
  error.push_back({{"ename", report.exception->type},
                   {"evalue", report.exception->message},
                   {"traceback", std::move(lines)}});
  return error;
}

// The file of that name left by the cells; otherwise the one sent by the client.
std::optional<std::string> FetchedBase64(
    const std::string& path, const std::map<std::string, std::shared_ptr<const std::string>>& left,
    const nlohmann::json& wanted) {
  if (const auto found = left.find(path); found != left.end()) {
    return host::EncodeBase64(*found->second);
  }
  if (!wanted.contains("files")) return std::nullopt;
  for (const nlohmann::json& file : wanted["files"]) {
    if (file.at("path") == path) return file.at("base64").get<std::string>();
  }
  return std::nullopt;
}

}  // namespace

struct Notebook::Progress {
  Json cells = Json::array();
  std::map<std::string, std::shared_ptr<const std::string>> files;  // the newest file of each name
  std::string verdict = "ok";
  std::string message;  // why it ended early; empty: it did not
  bool out_of_time = false;
  bool is_lost = false;  // for reasons other than the cells
  Clock::time_point started = Clock::now();

  double seconds() const { return std::chrono::duration<double>(Clock::now() - started).count(); }
};

// Closes a session, however its cells end; cannot be cancelled.
class Notebook::ClosesSession {
 public:
  ClosesSession(const Notebook& notebook, const Caller& caller, std::string session)
      : notebook_(notebook), session_(std::move(session)) {
    call_.caller = caller;
  }
  ClosesSession(const ClosesSession&) = delete;
  ~ClosesSession() {
    try {
      (void)notebook_.Step(*notebook_.tools_.close_session, call_, {{"session", session_}});
    } catch (const std::exception&) {
      return;  // out of memory: it is closed when it has been idle for long enough
    }
  }

 private:
  const Notebook& notebook_;
  const std::string session_;
  ToolCall call_;
};

Notebook::Notebook(Calls& calls, const ApiTools& tools, const ApiTerms& terms)
    : calls_(calls), tools_(tools), terms_(terms), description_([] {
        ToolDescription description;
        description.name = "run_jupyter";
        return description;
      }()) {}

core::Result<ToolResult> Notebook::Call(const ToolCall& call) {
  nlohmann::json terms = ProfileArgument(terms_);
  if (call.arguments.contains("memory_limit")) {
    terms["memory_limit"] = call.arguments["memory_limit"];
  }
  core::Result<ToolResult> opened = Step(*tools_.open_session, call, std::move(terms));
  if (!opened || opened->session.empty()) return opened;
  const ClosesSession closes(*this, call.caller, opened->session);
  return RunCells(call, opened->session);
}

// Deferred work is done before this returns: a session is busy until then.
core::Result<ToolResult> Notebook::Step(Tool& tool, const ToolCall& call,
                                        nlohmann::json arguments) const {
  ToolCall step;
  step.arguments = std::move(arguments);
  step.caller = call.caller;
  step.profile_setting = terms_.setting;
  step.cancellation = call.cancellation;
  step.form = ToolCall::Form::kOutcome;
  std::optional<core::Result<ToolResult>> result;
  calls_.Run(tool, std::move(step),
             [&](core::Result<ToolResult> given) { result.emplace(std::move(given)); });
  return std::move(*result);
}

bool Notebook::RunCell(const ToolCall& call, nlohmann::json arguments, Progress& progress) const {
  std::optional<RunReport> unreadable =
      UnreadableSource(arguments.at("code").get_ref<const std::string&>());
  const RunEnd end = unreadable ? RunEnd(std::move(*unreadable))
                                : EndOf(Step(tools_.execute, call, std::move(arguments)));
  if (const auto* failure = std::get_if<RunFailure>(&end)) {
    progress.is_lost = true;
    progress.verdict = "killed";
    progress.message = failure->text;
    return false;
  }
  const auto& report = std::get<RunReport>(end);
  progress.cells.push_back({{"stdout", report.standard_output},
                            {"stderr", report.standard_error},
                            {"display", DisplayOf(report)},
                            {"error", ErrorOf(report)}});
  for (const RunReport::Output& output : report.outputs) {
    if (!output.is_display) progress.files[output.name] = output.bytes;
  }
  // An exception ends its cell, but not the notebook.
  if (report.end == RunReport::End::kExited) return true;
  progress.verdict = host::StatusName(report.status);
  progress.message = report.note;
  progress.out_of_time = report.end == RunReport::End::kTimeLimit;
  progress.is_lost = report.end == RunReport::End::kLost;
  return false;
}

ToolResult Notebook::RunCells(const ToolCall& call, const std::string& session) const {
  const nlohmann::json& wanted = call.arguments;
  const double of_cell = wanted.at("cell_timeout").get<double>();
  const double in_total = wanted.at("total_timeout").get<double>();
  Progress progress;
  bool has_sent_files = false;
  for (const nlohmann::json& cell : wanted.at("cells")) {
    const double left = in_total - progress.seconds();
    if (left < kMinTimeLeft) {
      progress.out_of_time = true;
      progress.verdict = "timeout";
      progress.message = "total_timeout has passed";
      break;
    }
    const double seconds = of_cell > 0 ? std::min(of_cell, left) : left;
    nlohmann::json arguments = {
        {"code", cell}, {"session", session}, {"timeout", ClampedSeconds(seconds, terms_)}};
    const bool sends_files = !has_sent_files && wanted.contains("files") &&
                             !UnreadableSource(cell.get_ref<const std::string&>());
    if (sends_files) arguments["files"] = wanted["files"];
    has_sent_files = has_sent_files || sends_files;
    if (!RunCell(call, std::move(arguments), progress)) break;
  }

  Json files = Json::object();
  for (const nlohmann::json& name : wanted.at("fetch_files")) {
    const auto& path = name.get_ref<const std::string&>();
    auto base64 = FetchedBase64(std::string(PlainPath(path)), progress.files, wanted);
    if (base64) files[path] = std::move(*base64);
  }
  const bool is_whole = progress.message.empty() && !progress.is_lost && !progress.out_of_time;
  const char* const driver = progress.is_lost       ? "Error"
                             : progress.out_of_time ? "TimeLimitExceeded"
                                                    : "Finished";
  const Json answer = {
      {"status", is_whole           ? "Success"
                 : progress.is_lost ? "SandboxError"
                                    : "Failed"},
      {"message", JoinedMessages(progress.message, wanted.at("note").get<std::string>())},
      {"driver",
       {{"status", driver},
        {"execution_time", progress.seconds()},
        {"return_code", is_whole ? Json(0) : Json()},
        {"stdout", ""},
        {"stderr", ""}}},
      {"cells", std::move(progress.cells)},
      {"executor_pod_name", nullptr},
      {"files", std::move(files)},
      {"verdict", progress.verdict}};
  ToolResult result;
  result.structured = answer.dump(-1, ' ', false, Json::error_handler_t::replace);
  return result;
}

}  // namespace belljar::server::compatible::sandbox_fusion
