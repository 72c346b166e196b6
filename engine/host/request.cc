#include "engine/host/request.h"

#include <algorithm>
#include <set>

#include "engine/core/text.h"
#include "engine/core/wire.h"

namespace belljar::host {
namespace {

// Empty if the text can be in a program's arguments or environment.
std::string TextProblem(std::string_view text) {
  if (text.size() > kMaxArgument) {
    return "is " + std::to_string(text.size()) + " bytes long; the maximum is " +
           std::to_string(kMaxArgument);
  }
  if (text.find('\0') != text.npos) return "contains a NUL character";
  return core::IsUtf8(text) ? "" : "is not UTF-8";
}

core::Result<void> CheckTotal(const char* what, const std::vector<std::string>& texts) {
  size_t total = 0;
  for (const std::string& text : texts) total += text.size();
  if (texts.size() > kMaxArguments) {
    return core::MakeError(what, "there are " + std::to_string(texts.size()) + "; the maximum is " +
                                     std::to_string(kMaxArguments));
  }
  if (total <= kMaxArgumentsTotal) return {};
  return core::MakeError(
      what, "they are " + std::to_string(total) + " bytes long together; the maximum is " +
                std::to_string(kMaxArgumentsTotal) + "; pass large data as standard input");
}

// Empty if "NAME=VALUE" can be a variable of an environment.
std::string VariableProblem(const std::string& variable) {
  const size_t equals = variable.find('=');
  if (equals == variable.npos) return "has no value: NAME=VALUE";
  if (equals == 0) return "has no name: NAME=VALUE";
  if (equals > kMaxVariableName) {
    return "has a name of " + std::to_string(equals) + " bytes; the maximum is " +
           std::to_string(kMaxVariableName);
  }
  return TextProblem(variable);
}

}  // namespace

core::Result<void> CheckArguments(const Request& request) {
  if (core::Result<void> checked = CheckTotal("take arguments", request.arguments); !checked)
    return checked;
  for (size_t i = 0; i < request.arguments.size(); ++i) {
    const std::string problem = TextProblem(request.arguments[i]);
    if (!problem.empty())
      return core::MakeError("take argument " + std::to_string(i + 1), "it " + problem);
  }
  if (core::Result<void> checked = CheckTotal("take the environment", request.environment);
      !checked) {
    return checked;
  }
  std::set<std::string_view> names;
  for (const std::string& variable : request.environment) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    const std::string what = "take environment variable " + core::Quoted(name);
    const std::string problem = VariableProblem(variable);
    if (!problem.empty()) return core::MakeError(what, "it " + problem);
    if (!names.insert(name).second) return core::MakeError(what, "it occurs twice");
  }
  return {};
}

bool IsVariableName(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && name.size() <= core::kMaxFunctionName && is_letter(name.front()) &&
         std::ranges::all_of(
             name, [&](char c) { return is_letter(c) || c == '_' || (c >= '0' && c <= '9'); });
}

}  // namespace belljar::host
