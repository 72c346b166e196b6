// Program: what the APIs ask to be run, as arguments of the tool execute_code.
#ifndef BELLJAR_SERVER_COMPATIBLE_PROGRAM_H_
#define BELLJAR_SERVER_COMPATIBLE_PROGRAM_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/calls/tool.h"
#include "server/compatible/languages.h"

namespace belljar::server::compatible {

struct ProgramFile {
  std::string path;
  std::string base64;  // as sent; the tool checks it
};

// Whether a program may have these: all are modules (.py), or there is a workspace.
bool MayHave(const std::vector<ProgramFile>& files, const ApiTerms& terms);

struct Program {
  std::string code;
  std::optional<std::string> standard_input;
  std::vector<std::string> arguments;
  std::vector<ProgramFile> files;
  // Within the terms: Clamped… (api_terms.h).
  std::optional<double> seconds;
  std::optional<double> cpu_seconds;  // nullopt: as `seconds`
  std::optional<double> memory_bytes;
  std::optional<double> compile_seconds;  // nullopt: what the language has
};

// A call of execute_code, whose result is for EndOf (run_report.h). `cancellation`: of who waits
// for its end.
ToolCall CallOf(Program program, const Language& language, const Caller& caller,
                std::shared_ptr<Cancellation> cancellation);
nlohmann::json FilesArgument(std::vector<ProgramFile> files);

// "./a/b" is "a/b".
std::string_view PlainPath(std::string_view path);

}  // namespace belljar::server::compatible

#endif  // BELLJAR_SERVER_COMPATIBLE_PROGRAM_H_
