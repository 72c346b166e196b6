#include "cli/outcome_text.h"

#include <algorithm>

#include "cli/console.h"
#include "cli/finding_text.h"

namespace belljar::cli {
namespace {

std::string WholeLines(std::string text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

std::string HintLine(const std::string& hint) { return hint.empty() ? "" : "hint: " + hint + "\n"; }

std::string ExceptionText(const host::Outcome& outcome) {
  if (!outcome.error) return "";
  // sys.exit(n): Python prints nothing either.
  if (outcome.exit_code) return "";
  const host::GuestError& error = *outcome.error;
  std::string text = WholeLines(error.traceback);
  if (text.empty()) text = "belljar: " + error.type + ": " + error.message + "\n";
  const bool is_about_files = error.type == "FileNotFoundError" && !error.hint.empty();
  return text + HintLine(error.hint + (is_about_files ? " (--file FILE)" : ""));
}

std::string RefusedText(const host::Outcome& outcome, const std::string& filename) {
  std::string text;
  for (const host::Finding& finding : outcome.findings) text += FindingText(filename, finding);
  const auto& cut = outcome.truncated;
  if (std::find(cut.begin(), cut.end(), "findings") != cut.end()) {
    text += "belljar: more findings are not shown\n";
  }
  if (text.empty() && outcome.error) text = "belljar: " + outcome.error->message + "\n";
  return text;
}

std::string StoppedText(const host::Outcome& outcome) {
  if (!outcome.error) return "belljar: killed\n";
  const host::GuestError& error = *outcome.error;
  // If the worker could still report, the traceback shows where it ran out of memory.
  std::string message = error.message;
  if (outcome.status == host::Status::kMemoryLimit) {
    message = "stopped at " + outcome.limits.memory.ToString() + " of memory";
  }
  // For a program that was stopped from outside, the last line repeats ours.
  std::string traceback = WholeLines(error.traceback);
  const std::string last = error.type + ": " + error.message + "\n";
  if (outcome.status != host::Status::kMemoryLimit && traceback.ends_with(last)) {
    traceback.resize(traceback.size() - last.size());
  }
  return traceback + "belljar: " + message + (error.hint.empty() ? "" : "; " + error.hint) + "\n";
}

std::string DroppedText(const char* stream, uint64_t bytes, const core::Limits& limits) {
  if (bytes == 0) return "";
  return "belljar: " + WithThousands(bytes) + " bytes of " + stream + " were discarded (limit " +
         limits.output.ToString() + ", --max-output)\n";
}

}  // namespace

std::string OutcomeText(const host::Outcome& outcome, const std::string& filename) {
  std::string text;
  switch (outcome.status) {
    case host::Status::kOk: break;
    case host::Status::kException: text = ExceptionText(outcome); break;
    case host::Status::kRefused: text = RefusedText(outcome, filename); break;
    case host::Status::kTimeout:
    case host::Status::kCpuLimit:
    case host::Status::kMemoryLimit:
    case host::Status::kKilled: text = StoppedText(outcome); break;
  }
  return text + DroppedText("stdout", outcome.stdout_stream.dropped_bytes, outcome.limits) +
         DroppedText("stderr", outcome.stderr_stream.dropped_bytes, outcome.limits);
}

}  // namespace belljar::cli
