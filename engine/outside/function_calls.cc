#include "engine/outside/function_calls.h"

#include <algorithm>

#include "engine/core/json_reader.h"
#include "engine/core/wire.h"

namespace belljar {
namespace {

// More than a refusal takes with a name of any length.
constexpr size_t kLongestRefusal = 1024;

// What goes back when the function's own answer cannot.
std::string Refusal(std::string_view type, const std::string& message) {
  return nlohmann::json{{"error", {{"type", type}, {"message", message}}}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

bool FunctionCalls::any() const {
  return call_ && !request_.functions.empty() && request_.mode == Request::Mode::kRun;
}

bool FunctionCalls::MayBe(size_t name_size, size_t arguments_size) const {
  return any() && name_size > 0 && name_size <= kMaxFunctionName && arguments_size > 0 &&
         arguments_size <= request_.limits.result.count;
}

bool FunctionCalls::Has(std::string_view name) const {
  return std::ranges::find(request_.functions, name) != request_.functions.end();
}

std::string FunctionCalls::Answer(std::string_view name, std::string_view arguments) const {
  // The runner sends no such thing; whoever else does gets an answer that tells nothing.
  if (std::holds_alternative<JsonFailure>(ReadJson(arguments, {.depth = kMaxCallDepth}))) {
    return Refusal("ValueError", std::string(name) + "(): its arguments are not plain data");
  }
  std::string answer = call_(name, arguments);
  const Bytes most = request_.limits.result;
  if (answer.size() <= most.count) return answer;
  return Refusal("ValueError", std::string(name) + "(): its answer takes more than the " +
                                   most.ToString() + " that a result may");
}

size_t FunctionCalls::LongestCall(const Limits& limits) {
  return kMaxFunctionName + limits.result.count;
}

size_t FunctionCalls::LongestAnswer(const Limits& limits) {
  return std::max<size_t>(limits.result.count, kLongestRefusal);
}

}  // namespace belljar
