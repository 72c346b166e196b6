#include "server/fronts/program.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace belljar::server::fronts {
namespace {

// Lower bounds of execute_code.
constexpr double kMinSeconds = 0.1;
constexpr double kMinBytes = 8 << 20;

}  // namespace

nlohmann::json FilesArgument(std::vector<ProgramFile> files) {
  nlohmann::json list = nlohmann::json::array();
  for (ProgramFile& file : files) {
    list.push_back({{"path", std::move(file.path)}, {"base64", std::move(file.base64)}});
  }
  return list;
}

nlohmann::json ArgumentsOf(Program program, const FrontTerms& terms) {
  nlohmann::json arguments = {{"code", std::move(program.code)}, {"profile", terms.profile}};
  if (program.standard_input) arguments["stdin"] = std::move(*program.standard_input);
  if (!program.arguments.empty()) arguments["args"] = std::move(program.arguments);
  if (!program.files.empty()) arguments["files"] = FilesArgument(std::move(program.files));
  if (program.seconds) arguments["timeout"] = *program.seconds;
  if (program.memory_bytes) {
    arguments["memory_limit"] = static_cast<uint64_t>(*program.memory_bytes);
  }
  return arguments;
}

ToolCall CallOf(nlohmann::json arguments, const Caller& caller,
                std::shared_ptr<Cancellation> cancellation) {
  ToolCall call;
  call.arguments = std::move(arguments);
  call.caller = caller;
  call.cancellation = std::move(cancellation);
  return call;
}

double ClampedSeconds(double seconds, const FrontTerms& terms) {
  const double max = std::chrono::duration<double>(terms.maximum.timeout).count();
  return std::clamp(seconds, kMinSeconds, std::max(kMinSeconds, max));
}

double ClampedBytes(double bytes, const FrontTerms& terms) {
  const double max = static_cast<double>(terms.maximum.memory.count);
  return std::floor(std::clamp(bytes, kMinBytes, std::max(kMinBytes, max)));
}

std::string_view PlainPath(std::string_view path) {
  while (path.starts_with("./")) path.remove_prefix(2);
  return path;
}

std::string NoWorkspace(const FrontTerms& terms, const char* setting) {
  return "profile " + terms.profile +
         " of this server has no files; an operator enables them with " + setting +
         " = \"filesystem\"";
}

}  // namespace belljar::server::fronts
