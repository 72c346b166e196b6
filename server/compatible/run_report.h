// RunReport: the result of a run in the terms of the imitated APIs: an exit code or a signal, the
// output, a verdict.
//
//   RunEnd end = EndOf(std::move(result));
//   if (const auto* failure = std::get_if<RunFailure>(&end)) return Refuse(*failure);
#ifndef BELLJAR_SERVER_COMPATIBLE_RUN_REPORT_H_
#define BELLJAR_SERVER_COMPATIBLE_RUN_REPORT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "server/calls/tool.h"
#include "server/compatible/languages.h"

namespace belljar::server::compatible {

// How a program ended, or its compiler.
struct Stage {
  enum class End {
    kExited,  // with exit_code; 1 also for code that the language policy refused
    kTimeLimit,
    kMemoryLimit,
    kSignal,
    kLost,    // cancelled, or its container ended: says nothing about the program
    kNotRun,  // it could not be compiled
  };
  End end = End::kLost;
  int exit_code = 0;  // of kExited, from 0 to 255
  int signal = 0;     // of kSignal and kMemoryLimit
  std::string standard_output;
  std::string standard_error;  // what the program wrote
  std::string error_text;      // what Python would have added: a traceback, or why nothing ran
  std::string note;            // why it was stopped; empty if it ended by itself
  double wall_seconds = 0;
  double cpu_seconds = 0;
  uint64_t memory_bytes = 0;

  // Both parts, as shown on a terminal.
  std::string WholeStandardError() const;
};

struct RunReport : Stage {
  std::optional<Stage> compile;  // of a language that is compiled
  host::Status status = host::Status::kKilled;
  std::string execution_id;  // may be empty

  struct Exception {
    std::string type;
    std::string message;
    std::string traceback;
  };
  std::optional<Exception> exception;
  std::string value;  // repr of the last expression; empty: none

  struct Output {
    std::string name;  // for a file: its path in the workspace
    std::string media_type;
    bool is_display = false;                   // a figure or a table
    std::shared_ptr<const std::string> bytes;  // never null
  };
  std::vector<Output> outputs;

  // The newest file of that name; null: there is none, or it was too large to keep.
  const Output* FindFile(std::string_view path) const;
};

// The call has no outcome.
struct RunFailure {
  ToolResult::Fault fault = ToolResult::Fault::kUnavailable;
  std::string text;
};

using RunEnd = std::variant<RunReport, RunFailure>;

// Precondition: a result of execute_code, called for its outcome.
RunEnd EndOf(core::Result<ToolResult> result);

// Two messages, one below the other; either may be empty.
std::string JoinedMessages(std::string first, std::string_view second);

// A source that cannot be read: with NUL, or not UTF-8. To a grader this is an error of the
// program, although the tool refuses such an argument. Null: Python.
std::optional<RunReport> UnreadableSource(std::string_view code,
                                          const Language* language = nullptr);

}  // namespace belljar::server::compatible

#endif  // BELLJAR_SERVER_COMPATIBLE_RUN_REPORT_H_
