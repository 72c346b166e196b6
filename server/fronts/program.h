// Program: a program that one of these APIs is asked to run, as arguments of the tool execute_code.
#ifndef BELLJAR_SERVER_FRONTS_PROGRAM_H_
#define BELLJAR_SERVER_FRONTS_PROGRAM_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/limits.h"
#include "server/calls/tool.h"

namespace belljar::server::fronts {

// What the operator allows the programs of one API.
struct FrontTerms {
  std::string profile;
  bool has_workspace = false;  // whether the profile has a workspace: files in and out
  core::Limits limits;         // for requests that name none
  core::Limits maximum;
};

// Borrowed from Fronts.
struct FrontTools {
  Tool& execute;  // answers in full detail
  // Null: this server has no sessions.
  Tool* open_session = nullptr;
  Tool* close_session = nullptr;
};

struct ProgramFile {
  std::string path;
  std::string base64;  // as sent; the tool checks it
};

struct Program {
  std::string code;
  std::optional<std::string> standard_input;
  std::vector<std::string> arguments;
  std::vector<ProgramFile> files;
  // Within the terms: see Clamped…
  std::optional<double> seconds;
  std::optional<double> memory_bytes;
};

nlohmann::json ArgumentsOf(Program program, const FrontTerms& terms);
// `cancellation`: of the client that waits for the result.
ToolCall CallOf(nlohmann::json arguments, const Caller& caller,
                std::shared_ptr<Cancellation> cancellation);
nlohmann::json FilesArgument(std::vector<ProgramFile> files);

// The nearest value that the tool accepts.
double ClampedSeconds(double seconds, const FrontTerms& terms);
double ClampedBytes(double bytes, const FrontTerms& terms);

// "./a/b" is "a/b".
std::string_view PlainPath(std::string_view path);

// The message for clients that send or fetch files.
std::string NoWorkspace(const FrontTerms& terms, const char* setting);

}  // namespace belljar::server::fronts

#endif  // BELLJAR_SERVER_FRONTS_PROGRAM_H_
