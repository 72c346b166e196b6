// What a worker of a launcher reports of a program, or of a cell of its session.
#ifndef BELLJAR_ENGINE_INSIDE_PROGRAM_REPORT_H_
#define BELLJAR_ENGINE_INSIDE_PROGRAM_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "engine/inside/error_lines.h"
#include "engine/inside/program_init.h"

namespace belljar::inside {

// Types of an error that no pattern names: what was run.
inline constexpr char kCompileError[] = "CompileError";
inline constexpr char kExitStatus[] = "ExitStatus";

// `cpu_before`: used before the request, in microseconds.
std::string ReportOfProgram(const End& end, const char* type, const ProgramError& error,
                            uint64_t cpu_before);

struct CellReport {
  End end;
  bool has_ended = false;  // the interpreter, in this cell
  std::optional<ProgramError> error;
  std::optional<std::string> result;  // JSON text
  std::optional<std::string> result_repr;
  bool result_is_truncated = false;
};
std::string ReportOfCell(const CellReport& cell);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_PROGRAM_REPORT_H_
