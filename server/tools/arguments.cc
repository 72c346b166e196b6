#include "server/tools/arguments.h"

#include <algorithm>
#include <cmath>

#include "engine/core/text.h"
#include "engine/host/suggest.h"
#include "server/tools/file_list.h"

namespace belljar::server::tools {
namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;
using Type = Parameter::Type;

// Per call: a hostile one may have a million unknown names.
constexpr size_t kMaxProblems = 20;

constexpr const char* kSizePattern = "^[0-9]{1,19}([kKmMgG]([iI]?[bB])?|[bB])?$";
constexpr size_t kMaxSizeText = 24;

// As JSON; whole numbers without a decimal point: 300, 0.5.
Json NumberJson(double number) {
  const auto whole = static_cast<int64_t>(number);
  return static_cast<double>(whole) == number ? Json(whole) : Json(number);
}

std::string NumberText(double number) { return NumberJson(number).dump(); }

Json TextSchema(const Parameter& parameter) {
  Json schema = {{"type", "string"}};
  // There are never more characters than bytes, so what passes the check also passes the schema.
  if (parameter.max_bytes > 0) schema["maxLength"] = parameter.max_bytes;
  if (!parameter.choices.empty()) schema["enum"] = parameter.choices;
  return schema;
}

Json TypeSchema(const Parameter& parameter) {
  switch (parameter.type) {
    case Type::kText: return TextSchema(parameter);
    case Type::kNumber:
      return {{"type", "number"},
              {"minimum", NumberJson(parameter.minimum)},
              {"maximum", NumberJson(parameter.maximum)}};
    case Type::kBoolean: return {{"type", "boolean"}};
    case Type::kTextList:
      return {
          {"type", "array"}, {"items", TextSchema(parameter)}, {"maxItems", parameter.max_items}};
    case Type::kTextOrList:
      return {{"type", {"string", "array"}},
              {"items", {{"type", "string"}}},
              {"maxLength", parameter.max_bytes},
              {"maxItems", parameter.max_items}};
    case Type::kSize:
      return {{"anyOf",
               {{{"type", "string"}, {"pattern", kSizePattern}, {"maxLength", kMaxSizeText}},
                {{"type", "integer"},
                 {"minimum", NumberJson(parameter.minimum)},
                 {"maximum", NumberJson(parameter.maximum)}}}}};
    case Type::kFiles:
      return {{"type", "array"},
              {"items", FileSchema(parameter.max_bytes)},
              {"maxItems", parameter.max_items}};
    case Type::kTextMap:
      return {{"type", "object"},
              {"additionalProperties", TextSchema(parameter)},
              {"maxProperties", parameter.max_items}};
    case Type::kValue: return Json::object();
  }
  abort();
}

Json ParameterSchema(const Parameter& parameter) {
  Json schema = TypeSchema(parameter);
  schema["description"] = parameter.description;
  if (!parameter.default_value.is_null()) schema["default"] = parameter.default_value;
  return schema;
}

std::string Wanted(const Parameter& parameter) {
  switch (parameter.type) {
    case Type::kText: return "a string";
    case Type::kNumber:
      return "a number from " + NumberText(parameter.minimum) + " to " +
             NumberText(parameter.maximum);
    case Type::kBoolean: return "true or false";
    case Type::kTextList: return "an array of strings";
    case Type::kTextOrList: return "a string or an array of strings";
    case Type::kSize: return "a size such as \"256m\", or a whole number of bytes";
    case Type::kFiles: return "an array of objects with path and text or base64";
    case Type::kTextMap: return "an object of strings";
    case Type::kValue: return "any JSON";
  }
  abort();
}

// What is wrong with a text; empty if it is valid.
std::string TextProblem(const Parameter& parameter, const std::string& text) {
  if (parameter.max_bytes > 0 && text.size() > parameter.max_bytes) {
    return "is " + std::to_string(text.size()) + " bytes long; the maximum is " +
           std::to_string(parameter.max_bytes);
  }
  const size_t nul = parameter.may_hold_nul ? std::string::npos : text.find('\0');
  if (nul == std::string::npos) return "";
  return "contains a NUL character at byte " + std::to_string(nul + 1) + "; remove it";
}

std::string NumberProblem(const Parameter& parameter, double number, const std::string& shown) {
  if (number >= parameter.minimum && number <= parameter.maximum) return "";
  const bool above = number > parameter.maximum;
  return "is " + shown + "; the " + (above ? "maximum is " : "minimum is ") +
         NumberText(above ? parameter.maximum : parameter.minimum);
}

std::string LengthProblem(const Parameter& parameter, const json& list) {
  if (list.size() <= parameter.max_items) return "";
  return "has " + std::to_string(list.size()) + " items; the maximum is " +
         std::to_string(parameter.max_items);
}

std::string ListProblem(const Parameter& parameter, const json& list) {
  if (std::string problem = LengthProblem(parameter, list); !problem.empty()) return problem;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string where = "item " + std::to_string(i + 1) + " ";
    if (!list[i].is_string()) return where + "must be a string, not " + Shown(list[i]);
    const std::string problem = TextProblem(parameter, list[i].get_ref<const std::string&>());
    if (!problem.empty()) return where + problem;
  }
  return "";
}

std::string MapProblem(const Parameter& parameter, const json& map) {
  if (std::string problem = LengthProblem(parameter, map); !problem.empty()) return problem;
  for (const auto& [name, value] : map.items()) {
    const std::string where = "value of " + core::Quoted(name) + " ";
    if (!value.is_string()) return where + "must be a string, not " + Shown(value);
    const std::string problem = TextProblem(parameter, value.get_ref<const std::string&>());
    if (!problem.empty()) return where + problem;
    if (name.find('=') != std::string::npos) return "name " + core::Quoted(name) + " contains =";
  }
  return "";
}

// A whole number of bytes: 256 and 256.0 are the same in JSON.
std::optional<core::Bytes> WholeBytes(const json& value) {
  if (value.is_number_unsigned()) return core::Bytes{value.get<uint64_t>()};
  if (value.is_number_integer() && value.get<int64_t>() < 0) return std::nullopt;
  const double number = value.get<double>();
  if (!(number >= 0 && number < 9e18) || std::trunc(number) != number) return std::nullopt;
  return core::Bytes{static_cast<uint64_t>(number)};
}

std::optional<core::Bytes> ReadSize(const json& value) {
  if (!value.is_string()) return WholeBytes(value);
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() > kMaxSizeText) return std::nullopt;
  const core::Result<core::Bytes> size = core::Bytes::Parse(text);
  return size ? std::optional(*size) : std::nullopt;
}

std::string SizeProblem(const Parameter& parameter, const json& value) {
  const std::optional<core::Bytes> size = ReadSize(value);
  if (!size) return "must be " + Wanted(parameter) + ", not " + Shown(value);
  const auto bytes = static_cast<double>(size->count);
  if (bytes >= parameter.minimum && bytes <= parameter.maximum) return "";
  const bool above = bytes > parameter.maximum;
  const double bound = above ? parameter.maximum : parameter.minimum;
  return "is " + size->ToString() + "; the " + (above ? "maximum is " : "minimum is ") +
         core::Bytes{static_cast<uint64_t>(bound)}.ToString();
}

bool HasType(Type type, const json& value) {
  switch (type) {
    case Type::kText: return value.is_string();
    case Type::kNumber: return value.is_number();
    case Type::kBoolean: return value.is_boolean();
    case Type::kTextList: return value.is_array();
    case Type::kTextOrList: return value.is_array() || value.is_string();
    case Type::kSize: return value.is_string() || value.is_number();
    case Type::kFiles: return value.is_array();
    case Type::kTextMap: return value.is_object();
    case Type::kValue: return true;
  }
  abort();
}

// What is wrong with a value that is present and not a list of files; empty if it is valid.
std::string Problem(const Parameter& parameter, const json& value) {
  switch (parameter.type) {
    case Type::kText: return TextProblem(parameter, value.get_ref<const std::string&>());
    case Type::kNumber: return NumberProblem(parameter, value.get<double>(), value.dump());
    case Type::kTextOrList:
      if (value.is_string()) return TextProblem(parameter, value.get_ref<const std::string&>());
      return ListProblem(parameter, value);
    case Type::kTextList: return ListProblem(parameter, value);
    case Type::kSize: return SizeProblem(parameter, value);
    case Type::kFiles: return LengthProblem(parameter, value);
    case Type::kTextMap: return MapProblem(parameter, value);
    case Type::kBoolean:
    case Type::kValue: return "";
  }
  abort();
}

std::vector<std::string> Problems(const Parameter& parameter, const json& value) {
  if (!HasType(parameter.type, value)) {
    return {"must be " + Wanted(parameter) + ", not " + Shown(value)};
  }
  if (std::string problem = Problem(parameter, value); !problem.empty()) return {problem};
  if (parameter.type != Type::kFiles) return {};
  return FileListProblems(value, parameter.max_bytes);
}

}  // namespace

std::string Shown(const json& value) {
  switch (value.type()) {
    case json::value_t::null: return "null";
    case json::value_t::boolean: return value.get<bool>() ? "true" : "false";
    case json::value_t::string:
      return "the string " + core::Quoted(value.get_ref<const std::string&>());
    case json::value_t::array: return "an array of " + std::to_string(value.size());
    case json::value_t::object: return "an object of " + std::to_string(value.size());
    default: return "the number " + value.dump();
  }
}

const std::string* Arguments::Text(std::string_view name) const {
  const json* value = Find(name);
  return value ? &value->get_ref<const std::string&>() : nullptr;
}

std::optional<double> Arguments::Number(std::string_view name) const {
  const json* value = Find(name);
  return value ? std::optional(value->get<double>()) : std::nullopt;
}

std::optional<bool> Arguments::Boolean(std::string_view name) const {
  const json* value = Find(name);
  return value ? std::optional(value->get<bool>()) : std::nullopt;
}

std::optional<std::vector<std::string>> Arguments::Texts(std::string_view name) const {
  const json* value = Find(name);
  return value ? std::optional(value->get<std::vector<std::string>>()) : std::nullopt;
}

std::optional<std::vector<std::string>> Arguments::Pairs(std::string_view name) const {
  const json* map = Find(name);
  if (!map) return std::nullopt;
  std::vector<std::string> pairs;
  for (const auto& [key, value] : map->items()) {
    pairs.push_back(key + "=" + value.get_ref<const std::string&>());
  }
  return pairs;
}

std::optional<core::Bytes> Arguments::Size(std::string_view name) const {
  const json* value = Find(name);
  return value ? ReadSize(*value) : std::nullopt;
}

std::optional<std::vector<host::InputFile>> Arguments::Files(std::string_view name) const {
  const json* value = Find(name);
  return value ? std::optional(ReadFileList(*value)) : std::nullopt;
}

const json* Arguments::Find(std::string_view name) const {
  if (std::find(sound_.begin(), sound_.end(), name) == sound_.end()) return nullptr;
  return &*object_->find(std::string(name));
}

ParameterTable::ParameterTable(std::vector<Parameter> parameters)
    : parameters_(std::move(parameters)) {}

Json ParameterTable::Schema() const {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Parameter& parameter : parameters_) {
    if (parameter.is_unlisted) continue;
    properties[parameter.name] = ParameterSchema(parameter);
    if (parameter.required) required.push_back(parameter.name);
  }
  // No $schema: 2020-12 is the protocol's default dialect, and older clients fail on unknown names.
  Json schema = {{"type", "object"}, {"properties", properties}};
  if (!required.empty()) schema["required"] = required;
  schema["additionalProperties"] = false;
  return schema;
}

void ParameterTable::CheckNames(const json& arguments, std::vector<std::string>& problems) const {
  std::vector<std::string> known;
  for (const Parameter& parameter : parameters_) known.push_back(parameter.name);
  for (const auto& [name, value] : arguments.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (problems.size() == kMaxProblems) {
      problems.push_back("and further unknown arguments");
      return;
    }
    problems.push_back("unknown argument " + core::Quoted(name) + host::Suggestion(name, known));
  }
}

Arguments ParameterTable::Check(const json& arguments, std::vector<std::string>& problems) const {
  static const json kNone = json::object();
  Arguments sound;
  sound.object_ = arguments.is_null() ? &kNone : &arguments;
  if (!sound.object_->is_object()) {
    problems.push_back("the arguments must be an object, not " + Shown(arguments));
    return sound;
  }
  CheckNames(*sound.object_, problems);
  for (const Parameter& parameter : parameters_) {
    const auto found = sound.object_->find(parameter.name);
    if (found == sound.object_->end() || found->is_null()) {
      if (parameter.required) {
        problems.push_back(parameter.name + " is missing; it is " + Wanted(parameter) + ": " +
                           parameter.description);
      }
      continue;
    }
    const std::vector<std::string> wrong = Problems(parameter, *found);
    if (wrong.empty()) sound.sound_.push_back(parameter.name);
    for (const std::string& problem : wrong) problems.push_back(parameter.name + " " + problem);
  }
  return sound;
}

std::string ProblemsText(std::string_view tool, const std::vector<std::string>& problems) {
  std::string text = std::string(tool) + ": ";
  if (problems.size() == 1) {
    const bool is_ended = problems[0].ends_with('?') || problems[0].ends_with('.');
    return text + problems[0] + (is_ended ? " " : ". ") + "Nothing was run.";
  }
  text += std::to_string(problems.size()) + " problems with the arguments. Nothing was run.";
  for (const std::string& problem : problems) text += "\n- " + problem;
  return text;
}

}  // namespace belljar::server::tools
