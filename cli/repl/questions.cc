#include "cli/repl/questions.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "engine/core/text.h"
#include "engine/run/question.h"

namespace belljar::cli::repl {
namespace {

using Json = nlohmann::json;
using run::Question;

constexpr size_t kMaxCompletions = 200;
constexpr size_t kMaxCompletion = 200;  // bytes
constexpr size_t kNameWidth = 30;
constexpr size_t kReprWidth = 100;
// A prompt that does not react to Tab is worse than one without completions.
constexpr sessions::Patience kBriefly{true, std::chrono::milliseconds(2000)};

bool IsLead(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

size_t CharactersIn(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, IsLead));
}

// The byte offset of character `count`; npos: there are fewer.
size_t OffsetOf(std::string_view text, size_t count) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (IsLead(text[at]) && count-- == 0) return at;
  }
  return count == 0 ? text.size() : text.npos;
}

std::string Cut(std::string_view text, size_t characters) {
  const size_t end = OffsetOf(text, characters);
  return end >= text.size() ? std::string(text) : std::string(text.substr(0, end)) + "…";
}

std::string TextAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<size_t> NumberAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<size_t>();
}

core::Result<Json> Ask(Live& live, const Question& question, sessions::Patience patience) {
  const core::Result<std::string> answer = live.branches.current().session->Ask(question, patience);
  if (!answer) return answer.error();
  Json object = Json::parse(*answer, nullptr, false);
  if (!object.is_object()) {
    return core::MakeError("ask the session", "its answer is not an object");
  }
  return object;
}

// The elements of an array that are objects.
std::vector<Json> ObjectsAt(const Json& object, const char* key) {
  std::vector<Json> objects;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return objects;
  std::ranges::copy_if(*found, std::back_inserter(objects),
                       [](const Json& each) { return each.is_object(); });
  return objects;
}

// "int64 (3, 4)".
std::string TypeText(const Json& variable) {
  std::string text = TextAt(variable, "type");
  const auto shape = variable.find("shape");
  if (shape == variable.end() || !shape->is_array()) return text;
  std::string sizes;
  for (const Json& size : *shape) {
    if (size.is_number_integer()) sizes += (sizes.empty() ? "" : "×") + size.dump();
  }
  return sizes.empty() ? text : text + " " + sizes;
}

std::string Padded(std::string text, size_t width) {
  const size_t length = CharactersIn(text);
  if (length < width) text.append(width - length, ' ');
  return text;
}

}  // namespace

Completions CompleteCode(Live& live, const std::string& above, std::string_view before) {
  if (live.program()) return {};  // only Python tells its names
  Question question{Question::Kind::kComplete, above + std::string(before), std::nullopt};
  const core::Result<Json> answer = Ask(live, question, kBriefly);
  Completions completions;
  if (!answer) return completions;
  const size_t offset = CharactersIn(above);
  const size_t cursor = offset + CharactersIn(before);
  std::optional<size_t> start;
  for (const Json& each : ObjectsAt(*answer, "completions")) {
    const std::string text = TextAt(each, "text");
    const std::optional<size_t> begin = NumberAt(each, "start");
    if (!begin || *begin < offset || *begin > cursor || NumberAt(each, "end") != cursor) continue;
    if (start && *start != *begin) continue;  // all candidates start at one place
    // Names are the guest's, and insertion is like typing.
    if (text.empty() || text.size() > kMaxCompletion || core::Printable(text) != text) continue;
    start = begin;
    completions.texts.push_back(text);
    if (completions.texts.size() == kMaxCompletions) break;
  }
  if (start) completions.start = OffsetOf(before, *start - offset);
  return completions;
}

core::Result<std::string> Inspect(Live& live, const std::string& name) {
  const core::Result<Json> answer =
      Ask(live, {Question::Kind::kInspect, name, std::nullopt}, sessions::Patience{});
  if (!answer) return answer.error();
  const std::string text = PrintableLines(TextAt(*answer, "text"));
  if (text.empty()) return core::Printable(name) + " is not defined here\n";
  return text.ends_with('\n') ? text : text + "\n";
}

core::Result<std::string> VariablesText(Live& live) {
  const core::Result<Json> answer = Ask(live, {}, sessions::Patience{});
  if (!answer) return answer.error();
  std::vector<std::pair<std::string, std::string>> rows;  // name, type
  std::vector<std::string> reprs;
  size_t names = 0;
  size_t types = 0;
  for (const Json& each : ObjectsAt(*answer, "variables")) {
    rows.emplace_back(Cut(core::Printable(TextAt(each, "name")), kNameWidth),
                      Cut(core::Printable(TypeText(each)), kNameWidth));
    reprs.push_back(Cut(core::Printable(TextAt(each, "repr")), kReprWidth));
    names = std::max(names, CharactersIn(rows.back().first));
    types = std::max(types, CharactersIn(rows.back().second));
  }
  if (rows.empty()) return std::string("no variables yet\n");
  std::string text;
  for (size_t i = 0; i < rows.size(); ++i) {
    text += Padded(rows[i].first, names) + "  " + Padded(rows[i].second, types) + "  " + reprs[i] +
            "\n";
  }
  return text;
}

}  // namespace belljar::cli::repl
