#include "engine/run/input.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/json_reader.h"
#include "engine/host/request.h"

namespace belljar::run {
namespace {

using nlohmann::json;

constexpr size_t kMaxPrompt = 1000;  // bytes

std::string AnswerOf(const json& value) {
  return json{{"value", value}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

// The runner sends {"args": [prompt, is_hidden], "kwargs": {}}.
InputQuestion ReadQuestion(std::string_view arguments) {
  InputQuestion question;
  const host::JsonReading reading = host::ReadJson(arguments, {.depth = 4});
  const auto* const call = std::get_if<json>(&reading);
  if (call == nullptr || !call->is_object()) return question;
  const json args = call->value("args", json());
  if (!args.is_array()) return question;
  if (!args.empty() && args[0].is_string()) {
    std::string_view text = args[0].get_ref<const std::string&>();
    // Its end is what comes before the cursor.
    if (text.size() > kMaxPrompt) text.remove_prefix(text.size() - kMaxPrompt);
    question.prompt = core::Printable(core::ValidUtf8(text));
  }
  question.is_hidden = args.size() > 1 && args[1] == json(true);
  return question;
}

FunctionCall AnsweringInput(AskForInput ask, FunctionCall others) {
  return [ask = std::move(ask), others = std::move(others), has_ended = std::make_shared<bool>()](
             std::string_view name, std::string_view arguments) -> std::string {
    if (name != host::kAsksInput) return others ? others(name, arguments) : std::string();
    if (*has_ended) return AnswerOf(nullptr);
    const InputAnswer answer = ask(ReadQuestion(arguments));
    if (answer.kind == InputAnswer::Kind::kNone) return {};
    *has_ended = answer.kind == InputAnswer::Kind::kEnd;
    return *has_ended ? AnswerOf(nullptr) : AnswerOf(answer.line);
  };
}

}  // namespace belljar::run
