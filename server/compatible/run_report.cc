#include "server/compatible/run_report.h"

#include <signal.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/fields.h"

namespace belljar::server::compatible {
namespace {

using host::Status;

constexpr char kNotRun[] = "the server could not run the code; call again";

// As Python's compiler writes them, so that a grader takes them for what they are: an error of the
// program.
std::string FindingsText(const std::vector<host::Finding>& findings) {
  std::string text;
  for (const host::Finding& finding : findings) {
    text += "main.py";
    if (finding.line > 0) text += ":" + std::to_string(finding.line);
    text += ": " + finding.rule + " " + core::Printable(finding.reason) + "\n";
    if (!finding.hint.empty()) text += "  hint: " + core::Printable(finding.hint) + "\n";
  }
  return text;
}

void AddException(const host::GuestError& error, RunReport& report) {
  report.error_text = error.traceback;
  if (report.error_text.empty()) report.error_text = error.type + ": " + error.message + "\n";
  report.exception = RunReport::Exception{error.type, error.message, error.traceback};
}

// From 1 to 255: a program that ended by sys.exit(256) has failed, whatever a shell makes of it.
int FailedCode(std::optional<int> code) {
  const int low = code.value_or(1) & 0xff;
  return low == 0 ? 1 : low;
}

void SetKilledEnd(host::KillCause cause, int signal, RunReport& report) {
  report.end = Stage::End::kSignal;
  switch (cause) {
    case host::KillCause::kCancelled:
    case host::KillCause::kContainerEnded: report.end = Stage::End::kLost; break;
    case host::KillCause::kExit:
      report.end = Stage::End::kExited;
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

void SetEnd(const host::Outcome& outcome, RunReport& report) {
  const host::GuestError error = outcome.error.value_or(host::GuestError());
  report.end = Stage::End::kExited;
  switch (outcome.status) {
    case Status::kOk: return;
    case Status::kException:
      if (outcome.kill_signal > 0) {
        report.end = Stage::End::kSignal;
        report.signal = outcome.kill_signal;
        break;
      }
      report.exit_code = FailedCode(outcome.exit_code);
      // sys.exit(n): Python writes nothing either.
      if (!outcome.exit_code) return AddException(error, report);
      report.exception = RunReport::Exception{"SystemExit", error.message, ""};
      return;
    case Status::kRefused:
      report.exit_code = 1;
      report.error_text = FindingsText(outcome.findings);
      if (report.error_text.empty()) report.error_text = error.message + "\n";
      report.exception = RunReport::Exception{"PolicyError", error.message, report.error_text};
      return;
    case Status::kTimeout:
    case Status::kCpuLimit: report.end = Stage::End::kTimeLimit; break;
    case Status::kMemoryLimit:
      report.end = Stage::End::kMemoryLimit;
      report.signal = SIGKILL;
      // For graders that search for it.
      report.error_text = "MemoryError: " + error.message + "\n";
      break;
    case Status::kKilled: SetKilledEnd(outcome.kill_cause, outcome.kill_signal, report); break;
  }
  report.note = error.message;
  report.exception = RunReport::Exception{error.type, error.message, error.traceback};
}

void SetUsage(const host::Usage& usage, Stage& stage) {
  stage.wall_seconds = host::Seconds(usage.wall_time);
  stage.cpu_seconds = host::Seconds(usage.cpu_time);
  stage.memory_bytes = usage.max_rss_bytes;
}

void AddOutputs(const host::Outcome& outcome, const std::vector<Content>& contents,
                RunReport& report) {
  // What the store does not keep has no URI in the list.
  std::map<std::string, const Resource*> by_uri, by_name;
  for (const Content& content : contents) {
    by_uri[content.resource.uri] = &content.resource;
    by_name[content.resource.name] = &content.resource;
  }
  for (const host::Artifact& artifact : outcome.artifacts) {
    RunReport::Output output{artifact.name, artifact.media_type,
                             artifact.origin == host::Artifact::Origin::kDisplay, nullptr};
    const auto& known = artifact.uri.empty() ? by_name : by_uri;
    const auto found = known.find(artifact.uri.empty() ? artifact.name : artifact.uri);
    if (artifact.content && artifact.is_inline) {
      output.bytes = std::make_shared<const std::string>(*artifact.content);
    } else if (found != known.end()) {
      output.bytes = found->second->bytes;
    }
    if (output.bytes) report.outputs.push_back(std::move(output));
  }
}

// The compiler's stage, of a report that has both.
void SplitOff(const host::Compilation& made, RunReport& report) {
  Stage& compile = report.compile.emplace();
  if (made.failed) {
    std::swap(compile, static_cast<Stage&>(report));
    report.end = Stage::End::kNotRun;
    return;
  }
  const auto take = [](std::string& text, uint64_t size) {
    std::string taken = text.substr(0, size);
    text.erase(0, size);
    return taken;
  };
  compile.end = Stage::End::kExited;
  compile.standard_output = take(report.standard_output, made.stdout_bytes);
  compile.standard_error = take(report.standard_error, made.stderr_bytes);
  SetUsage(made.usage, compile);
  SetUsage(made.of_program, report);
}

}  // namespace

std::string Stage::WholeStandardError() const {
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
  if (!result->outcome) return RunFailure{result->fault, std::move(result->text)};
  const host::Outcome& outcome = *result->outcome;
  RunReport report;
  report.status = outcome.status;
  report.execution_id = outcome.execution_id;
  report.standard_output = outcome.stdout_stream.text;
  report.standard_error = outcome.stderr_stream.text;
  report.value = outcome.result_repr.value_or("");
  SetUsage(outcome.usage, report);
  SetEnd(outcome, report);
  if (outcome.compilation) SplitOff(*outcome.compilation, report);
  AddOutputs(outcome, result->contents, report);
  return report;
}

std::string JoinedMessages(std::string first, std::string_view second) {
  if (!first.empty() && !second.empty()) first += '\n';
  return first.append(second);
}

std::optional<RunReport> UnreadableSource(std::string_view code, const Language* language) {
  const bool is_python = !language || language->is_python;
  const char* why = nullptr;
  if (code.find('\0') != std::string_view::npos) {
    why = "source code string cannot contain null bytes";
  } else if (!core::IsUtf8(code)) {
    why = "(unicode error) the source is not UTF-8";
  } else {
    return std::nullopt;
  }
  RunReport report;
  report.end = Stage::End::kExited;
  report.exit_code = 1;
  report.status = Status::kException;
  report.error_text =
      (is_python ? "SyntaxError: " : language->installed.file + ": error: ") + why + "\n";
  report.exception = RunReport::Exception{"SyntaxError", why, report.error_text};
  if (!is_python && language->compiles())
    SplitOff({.failed = true, .usage = {}, .of_program = {}}, report);
  return report;
}

}  // namespace belljar::server::compatible
