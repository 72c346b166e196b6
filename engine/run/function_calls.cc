#include "engine/run/function_calls.h"

#include <algorithm>

#include "engine/core/wire.h"
#include "engine/host/json_reader.h"

namespace belljar::run {
namespace {

// More than a refusal needs, however long the name.
constexpr size_t kMaxRefusal = 1024;

// The answer if the function's own answer cannot be sent.
std::string Refusal(std::string_view type, const std::string& message) {
  return nlohmann::json{{"error", {{"type", type}, {"message", message}}}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// A name in plain data: text, or the encoding of text that is not UTF-8.
bool IsName(const nlohmann::json& key) {
  return key.is_string() || (key.is_object() && key.value("$type", nlohmann::json()) == "str");
}

// Keyword arguments: an object, or the encoding of an ordered dict.
bool AreKeywords(const nlohmann::json& keywords) {
  if (!keywords.is_object()) return false;
  if (!keywords.contains("$type")) return true;
  const auto items = keywords.find("items");
  return keywords["$type"] == "dict" && keywords.size() == 2 && items != keywords.end() &&
         items->is_array() && std::ranges::all_of(*items, [](const nlohmann::json& pair) {
           return pair.is_array() && pair.size() == 2 && IsName(pair[0]);
         });
}

// As written by the runner (engine/inside/runner/host_functions.py). The callee unpacks both: a
// text in their place would become one argument per character.
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

bool FunctionCalls::MayBe(size_t name_size, size_t arguments_size, bool of_earlier) const {
  return (any() || of_earlier) && name_size > 0 && name_size <= core::kMaxFunctionName &&
         arguments_size > 0 && arguments_size <= request_.limits.result.count;
}

bool FunctionCalls::Has(std::string_view name) const {
  return std::ranges::find(request_.functions, name) != request_.functions.end();
}

std::optional<std::string> FunctionCalls::Answer(std::string_view name,
                                                 std::string_view arguments) const {
  // The runner never sends this. Anyone else gets an answer that reveals nothing.
  const host::JsonReading reading = host::ReadJson(arguments, {.depth = core::kMaxCallDepth});
  const auto* frame = std::get_if<nlohmann::json>(&reading);
  if (frame == nullptr || !IsCall(*frame)) {
    return Refusal("ValueError", std::string(name) + "(): its arguments are not plain data");
  }
  std::string answer = call_(name, arguments);
  if (answer == kRefusedCall) return std::nullopt;
  const core::Bytes max = request_.limits.result;
  if (answer.size() <= max.count) return answer;
  const std::string limit = " answer exceeds the " + max.ToString() + " limit of a result";
  if (!answer.starts_with(kCallEnded)) {
    return Refusal("ValueError", std::string(name) + "(): its" + limit);
  }
  // The program has to know which call it was.
  const size_t head = answer.find(',');
  return answer.substr(0, head) + "," + Refusal("ValueError", "the function's" + limit).substr(1);
}

bool FunctionCalls::StopsClock(std::string_view name, bool is_cell) {
  return name == host::kAsksInput ||
         (is_cell && name != host::kAwaitsCallsUntil && name != host::kStartsPython);
}

std::string FunctionCalls::NotGiven() {
  return Refusal("RuntimeError", "this cell calls a function that it was not given");
}

std::string FunctionCalls::Interrupted() { return R"({"interrupt": true})"; }

size_t FunctionCalls::MaxCall(const core::Limits& limits) {
  return core::kMaxFunctionName + limits.result.count;
}

size_t FunctionCalls::MaxAnswer(const core::Limits& limits) {
  return std::max<size_t>(limits.result.count, kMaxRefusal);
}

}  // namespace belljar::run
