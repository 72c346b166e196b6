#include "server/tools/detail.h"

#include <utility>

#include "engine/core/text.h"

namespace belljar::server::tools {
namespace {

constexpr const char* kName = "detail";
constexpr const char* kLean = "lean";
constexpr const char* kFull = "full";

}  // namespace

Parameter DetailParameter(const AnswersConfig& config, std::string description) {
  Parameter parameter;
  parameter.name = kName;
  parameter.type = Parameter::Type::kText;
  parameter.description = std::move(description);
  parameter.default_value = config.detail;
  parameter.max_bytes = 16;
  parameter.choices = {kLean, kFull};
  return parameter;
}

bool WantsFull(const AnswersConfig& config, const Arguments& arguments,
               std::vector<std::string>& problems) {
  const std::string* const given = arguments.Text(kName);
  const std::string& detail = given ? *given : config.detail;
  if (detail != kLean && detail != kFull) {
    problems.push_back(std::string(kName) + " is " + core::Quoted(detail) + "; send \"" + kLean +
                       "\" or \"" + kFull + "\"");
  }
  return detail == kFull;
}

}  // namespace belljar::server::tools
