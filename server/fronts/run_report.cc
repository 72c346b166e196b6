#include "server/fronts/run_report.h"

#include <signal.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/base64.h"
#include "engine/host/json_reader.h"

namespace belljar::server::fronts {
namespace {

// The value in an outcome is the program's, and may be nested as deeply as the engine allows.
constexpr host::JsonBounds kOutcomeBounds = {.depth = 10'000};

constexpr char kNotRun[] = "the server could not run the code; call again";

std::string TextAt(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return "";
  return found->get<std::string>();
}

double NumberAt(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

const nlohmann::json& MemberAt(const nlohmann::json& object, const char* name) {
  static const nlohmann::json kNothing = nlohmann::json::object();
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? kNothing : *found;
}

// The program's output on that stream, as bytes.
std::string StreamAt(const nlohmann::json& outcome, const std::string& name) {
  std::optional<std::string> bytes =
      host::DecodeBase64(TextAt(outcome, (name + "_base64").c_str()));
  return bytes && !bytes->empty() ? *std::move(bytes) : TextAt(outcome, name.c_str());
}

// In the words of Python's compiler, so that a grader recognises them as errors of the program.
std::string FindingsText(const nlohmann::json& findings) {
  std::string text;
  for (const nlohmann::json& finding : findings) {
    text += "main.py";
    if (NumberAt(finding, "line") > 0) {
      text += ":" + std::to_string(static_cast<int>(NumberAt(finding, "line")));
    }
    text +=
        ": " + TextAt(finding, "rule") + " " + core::Printable(TextAt(finding, "reason")) + "\n";
    if (const std::string hint = TextAt(finding, "hint"); !hint.empty()) {
      text += "  hint: " + core::Printable(hint) + "\n";
    }
  }
  return text;
}

void AddException(const nlohmann::json& error, RunReport& report) {
  RunReport::Exception exception{TextAt(error, "type"), TextAt(error, "message"),
                                 TextAt(error, "traceback")};
  report.error_text = exception.traceback;
  if (report.error_text.empty()) {
    report.error_text = exception.type + ": " + exception.message + "\n";
  }
  report.exception = std::move(exception);
}

// From 1 to 255: a program that ended with sys.exit(256) has failed, whatever a shell makes of it.
int FailedCode(const nlohmann::json& outcome) {
  const auto code = outcome.find("exit_code");
  if (code == outcome.end() || !code->is_number_integer()) return 1;
  const int low = static_cast<int>(code->get<int64_t>() & 0xff);
  return low == 0 ? 1 : low;
}

void SetKilledEnd(host::KillCause cause, int signal, RunReport& report) {
  report.end = RunReport::End::kSignal;
  switch (cause) {
    case host::KillCause::kCancelled:
    case host::KillCause::kContainerEnded: report.end = RunReport::End::kLost; break;
    case host::KillCause::kExit:
      report.end = RunReport::End::kExited;
      report.exit_code = 1;
      return;
    case host::KillCause::kSystemCall: report.signal = SIGSYS; return;
    case host::KillCause::kSignal: report.signal = signal; return;
    case host::KillCause::kUnknown:
    case host::KillCause::kUnreadable:
    case host::KillCause::kSigkill: break;
  }
  report.signal = SIGKILL;
}

void SetEnd(const nlohmann::json& outcome, const ToolResult& result, RunReport& report) {
  const nlohmann::json& error = MemberAt(outcome, "error");
  if (report.status == "ok") {
    report.end = RunReport::End::kExited;
    return;
  }
  if (report.status == "exception") {
    report.end = RunReport::End::kExited;
    report.exit_code = FailedCode(outcome);
    // sys.exit(n): Python writes nothing either.
    if (!outcome.contains("exit_code") || outcome["exit_code"].is_null()) {
      AddException(error, report);
    } else {
      report.exception = RunReport::Exception{"SystemExit", TextAt(error, "message"), ""};
    }
    return;
  }
  if (report.status == "refused") {
    report.end = RunReport::End::kExited;
    report.exit_code = 1;
    report.error_text = FindingsText(MemberAt(outcome, "findings"));
    if (report.error_text.empty()) report.error_text = TextAt(error, "message") + "\n";
    report.exception =
        RunReport::Exception{"PolicyError", TextAt(error, "message"), report.error_text};
    return;
  }
  report.note = TextAt(error, "message");
  report.exception = RunReport::Exception{TextAt(error, "type"), report.note, ""};
  if (report.status == "timeout" || report.status == "cpu_limit") {
    report.end = RunReport::End::kTimeLimit;
  } else if (report.status == "memory_limit") {
    report.end = RunReport::End::kMemoryLimit;
    report.signal = SIGKILL;
    // For graders that search for this line.
    report.error_text = "MemoryError: " + report.note + "\n";
  } else {
    SetKilledEnd(result.kill_cause, result.kill_signal, report);
  }
}

std::shared_ptr<const std::string> InlineContent(const nlohmann::json& artifact) {
  const auto content = artifact.find("content");
  if (content == artifact.end() || !content->is_string()) return nullptr;
  const auto& text = content->get_ref<const std::string&>();
  if (TextAt(artifact, "encoding") != "base64") return std::make_shared<const std::string>(text);
  std::optional<std::string> bytes = host::DecodeBase64(text);
  return bytes ? std::make_shared<const std::string>(std::move(*bytes)) : nullptr;
}

void AddOutputs(const nlohmann::json& outcome, const std::vector<Content>& contents,
                RunReport& report) {
  // What the store did not keep has no URI in the list.
  std::map<std::string, const Resource*> by_uri, by_name;
  for (const Content& content : contents) {
    by_uri[content.resource.uri] = &content.resource;
    by_name[content.resource.name] = &content.resource;
  }
  for (const nlohmann::json& artifact : MemberAt(outcome, "artifacts")) {
    RunReport::Output output{TextAt(artifact, "name"), TextAt(artifact, "media_type"),
                             TextAt(artifact, "origin") == "display", InlineContent(artifact)};
    const std::string uri = TextAt(artifact, "uri");
    const auto& known = uri.empty() ? by_name : by_uri;
    const auto found = known.find(uri.empty() ? output.name : uri);
    if (!output.bytes && found != known.end()) output.bytes = found->second->bytes;
    if (output.bytes) report.outputs.push_back(std::move(output));
  }
}

}  // namespace

std::string RunReport::WholeStandardError() const {
  std::string text = standard_error;
  if (!text.empty() && !text.ends_with('\n') && !error_text.empty()) text += '\n';
  return text + error_text;
}

const RunReport::Output* RunReport::FindFile(std::string_view path) const {
  const auto found = std::find_if(outputs.rbegin(), outputs.rend(), [&](const Output& output) {
    return !output.is_display && output.name == path;
  });
  return found == outputs.rend() ? nullptr : &*found;
}

RunEnd EndOf(core::Result<ToolResult> result) {
  if (!result) return RunFailure{ToolResult::Fault::kUnavailable, kNotRun};
  if (result->structured.empty()) return RunFailure{result->fault, std::move(result->text)};
  host::JsonReading reading = host::ReadJson(result->structured, kOutcomeBounds);
  const auto* const outcome = std::get_if<nlohmann::json>(&reading);
  if (!outcome || !outcome->is_object()) {
    return RunFailure{ToolResult::Fault::kUnavailable, "the outcome of the run is unreadable"};
  }
  RunReport report;
  report.status = TextAt(*outcome, "status");
  report.execution_id = TextAt(*outcome, "execution_id");
  report.standard_output = StreamAt(*outcome, "stdout");
  report.standard_error = StreamAt(*outcome, "stderr");
  report.value = TextAt(*outcome, "result_repr");
  const nlohmann::json& usage = MemberAt(*outcome, "usage");
  report.wall_seconds = NumberAt(usage, "wall_time");
  report.cpu_seconds = NumberAt(usage, "cpu_time");
  report.memory_bytes = static_cast<uint64_t>(NumberAt(usage, "max_rss_bytes"));
  SetEnd(*outcome, *result, report);
  AddOutputs(*outcome, result->contents, report);
  return report;
}

std::optional<RunReport> UnreadableSource(std::string_view code) {
  const char* why = nullptr;
  if (code.find('\0') != std::string_view::npos) {
    why = "source code string cannot contain null bytes";
  } else if (!core::IsUtf8(code)) {
    why = "(unicode error) the source is not UTF-8";
  } else {
    return std::nullopt;
  }
  RunReport report;
  report.end = RunReport::End::kExited;
  report.exit_code = 1;
  report.status = "exception";
  report.error_text = std::string("SyntaxError: ") + why + "\n";
  report.exception = RunReport::Exception{"SyntaxError", why, report.error_text};
  return report;
}

}  // namespace belljar::server::fronts
