#include "engine/outside/function_calls.h"

#include <algorithm>

#include "engine/core/wire.h"
#include "engine/host/json_reader.h"

namespace belljar::outside {
namespace {

// More than a refusal takes with a name of any length.
constexpr size_t kMaxRefusal = 1024;

// What goes back when the function's own answer cannot.
std::string Refusal(std::string_view type, const std::string& message) {
  return nlohmann::json{{"error", {{"type", type}, {"message", message}}}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// A name as plain data has it: text, or the form of text that is no UTF-8.
bool IsName(const nlohmann::json& key) {
  return key.is_string() || (key.is_object() && key.value("$type", nlohmann::json()) == "str");
}

// Keyword arguments: an object, or the form of a dict whose order counts.
bool AreKeywords(const nlohmann::json& keywords) {
  if (!keywords.is_object()) return false;
  if (!keywords.contains("$type")) return true;
  const auto items = keywords.find("items");
  return keywords["$type"] == "dict" && keywords.size() == 2 && items != keywords.end() &&
         items->is_array() && std::ranges::all_of(*items, [](const nlohmann::json& pair) {
           return pair.is_array() && pair.size() == 2 && IsName(pair[0]);
         });
}

// As the runner writes it (engine/inside/runner/host_functions.py). Whoever answers spreads both: a
// text in their place would become an argument for each of its characters.
bool IsCall(const nlohmann::json& call) {
  if (!call.is_object() || call.size() != 2) return false;
  const auto args = call.find("args");
  const auto keywords = call.find("kwargs");
  return args != call.end() && args->is_array() && keywords != call.end() && AreKeywords(*keywords);
}

}  // namespace

bool FunctionCalls::any() const {
  return call_ && !request_.functions.empty() && request_.mode == host::Request::Mode::kRun;
}

bool FunctionCalls::MayBe(size_t name_size, size_t arguments_size) const {
  return any() && name_size > 0 && name_size <= core::kMaxFunctionName && arguments_size > 0 &&
         arguments_size <= request_.limits.result.count;
}

bool FunctionCalls::Has(std::string_view name) const {
  return std::ranges::find(request_.functions, name) != request_.functions.end();
}

std::string FunctionCalls::Answer(std::string_view name, std::string_view arguments) const {
  // The runner sends no such thing; whoever else does gets an answer that tells nothing.
  const host::JsonReading reading = host::ReadJson(arguments, {.depth = core::kMaxCallDepth});
  const auto* frame = std::get_if<nlohmann::json>(&reading);
  if (frame == nullptr || !IsCall(*frame)) {
    return Refusal("ValueError", std::string(name) + "(): its arguments are not plain data");
  }
  std::string answer = call_(name, arguments);
  const core::Bytes max = request_.limits.result;
  if (answer.size() <= max.count) return answer;
  return Refusal("ValueError", std::string(name) + "(): its answer takes more than the " +
                                   max.ToString() + " that a result may");
}

size_t FunctionCalls::MaxCall(const core::Limits& limits) {
  return core::kMaxFunctionName + limits.result.count;
}

size_t FunctionCalls::MaxAnswer(const core::Limits& limits) {
  return std::max<size_t>(limits.result.count, kMaxRefusal);
}

}  // namespace belljar::outside
