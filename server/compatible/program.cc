#include "server/compatible/program.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace belljar::server::compatible {
namespace {

std::optional<std::chrono::milliseconds> Milliseconds(std::optional<double> seconds) {
  if (!seconds) return std::nullopt;
  return std::chrono::milliseconds(std::max<int64_t>(1, std::llround(*seconds * 1000)));
}

}  // namespace

bool MayHave(const std::vector<ProgramFile>& files, const ApiTerms& terms) {
  return terms.has_workspace || std::ranges::all_of(files, [](const ProgramFile& file) {
           return file.path.ends_with(".py");
         });
}

nlohmann::json FilesArgument(std::vector<ProgramFile> files) {
  nlohmann::json list = nlohmann::json::array();
  for (ProgramFile& file : files) {
    list.push_back({{"path", std::move(file.path)}, {"base64", std::move(file.base64)}});
  }
  return list;
}

ToolCall CallOf(Program program, const Language& language, const Caller& caller,
                std::shared_ptr<Cancellation> cancellation) {
  ToolCall call;
  call.arguments = ProfileArgument(language.terms);
  nlohmann::json& arguments = call.arguments;
  if (!language.is_python) arguments["language"] = language.name();
  arguments["code"] = std::move(program.code);
  if (program.standard_input) arguments["stdin"] = std::move(*program.standard_input);
  if (!program.arguments.empty()) arguments["args"] = std::move(program.arguments);
  if (!program.files.empty()) arguments["files"] = FilesArgument(std::move(program.files));
  if (program.seconds) arguments["timeout"] = *program.seconds;
  if (program.memory_bytes) {
    arguments["memory_limit"] = static_cast<uint64_t>(*program.memory_bytes);
  }
  call.cpu_limit = Milliseconds(program.cpu_seconds);
  call.compile_limit = Milliseconds(program.compile_seconds);
  call.caller = caller;
  call.profile_setting = language.terms.setting;
  call.cancellation = std::move(cancellation);
  call.form = ToolCall::Form::kOutcome;
  return call;
}

std::string_view PlainPath(std::string_view path) {
  while (path.starts_with("./")) path.remove_prefix(2);
  return path;
}

}  // namespace belljar::server::compatible
