// What a worker of a launcher reports of a program, or of a cell of its session.
#ifndef BELLJAR_ENGINE_INSIDE_PROGRAM_REPORT_H_
#define BELLJAR_ENGINE_INSIDE_PROGRAM_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/inside/error_lines.h"
#include "engine/inside/program_init.h"
#include "engine/inside/shown_files.h"

namespace belljar::inside {

// Types of an error that no pattern names: what was run.
inline constexpr char kCompileError[] = "CompileError";
inline constexpr char kExitStatus[] = "ExitStatus";

// Of all processes that have ended, which is more exact than what the host sees from outside.
struct ChildUsage {
  uint64_t cpu_microseconds = 0;
  uint64_t max_rss_bytes = 0;  // the most that one of them had
};
ChildUsage UsageOfChildren();

struct CellReport {
  End end;
  bool has_ended = false;  // the interpreter, in this cell
  std::optional<ProgramError> error;
  std::optional<std::string> result;  // JSON text
  std::optional<std::string> result_repr;
  FileNotes notes;
  ShownFiles shown;
};
// Without what would make it larger than `max_size`, in bytes.
std::string ReportOfCell(const CellReport& cell, size_t max_size);

// The same of a program: its value and what it shows are those of `answer`. `before`: what was used
// before the request (CPU time), and by the compiler (memory).
std::string ReportOfProgram(const End& end, const char* type, const ProgramError& error,
                            const ChildUsage& before, const CellReport& answer, size_t max_size);

// The most that is read of an interpreter's answer with a result of `max_result` bytes.
size_t MaxAnswer(size_t max_result);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_PROGRAM_REPORT_H_
