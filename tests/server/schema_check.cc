#include "tests/server/schema_check.h"

#include <algorithm>
#include <regex>
#include <set>

namespace belljar::tests {
namespace {

using nlohmann::json;
using Errors = std::vector<std::string>;

bool HasType(const std::string& type, const json& value) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "integer") return value.is_number_integer();
  return type == "number" && value.is_number();
}

void CheckType(const json& schema, const json& value, const std::string& where, Errors& errors) {
  const json types = schema["type"].is_array() ? schema["type"] : json::array({schema["type"]});
  for (const json& type : types) {
    if (HasType(type.get<std::string>(), value)) return;
  }
  errors.push_back(where + ": " + value.dump().substr(0, 80) + " is not of type " + types.dump());
}

void CheckObject(const json& schema, const json& value, const std::string& where, Errors& errors) {
  for (const json& key : schema.value("required", json::array())) {
    if (!value.contains(key)) errors.push_back(where + ": no " + key.dump());
  }
  const json properties = schema.value("properties", json::object());
  const json others = schema.value("additionalProperties", json(true));
  if (value.size() > schema.value("maxProperties", SIZE_MAX)) errors.push_back(where + ": many");
  for (const auto& [key, member] : value.items()) {
    Errors more;
    if (properties.contains(key)) {
      more = SchemaErrors(properties[key], member, where + "/" + key);
    } else if (others.is_object()) {
      more = SchemaErrors(others, member, where + "/" + key);
    } else if (others == false) {
      more = {where + ": \"" + key + "\" is not known"};
    }
    errors.insert(errors.end(), more.begin(), more.end());
  }
}

void CheckText(const json& schema, const std::string& text, const std::string& where,
               Errors& errors) {
  const auto characters =
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xc0) != 0x80; });
  if (schema.contains("maxLength") && characters > schema["maxLength"].get<int64_t>()) {
    errors.push_back(where + ": too long");
  }
  if (schema.contains("pattern") &&
      !std::regex_search(text, std::regex(schema["pattern"].get<std::string>()))) {
    errors.push_back(where + ": does not match the pattern");
  }
}

}  // namespace

std::vector<std::string> SchemaErrors(const json& schema, const json& value,
                                      const std::string& where) {
  static const std::set<std::string> kKnown = {
      "type",     "description",  "properties", "required", "additionalProperties",
      "items",    "enum",         "const",      "anyOf",    "minimum",
      "maximum",  "maxLength",    "pattern",    "default",  "examples",
      "maxItems", "maxProperties"};
  Errors errors;
  for (const auto& [keyword, rule] : schema.items()) {
    if (!kKnown.contains(keyword)) errors.push_back(where + ": unknown keyword " + keyword);
  }
  if (schema.contains("type")) CheckType(schema, value, where, errors);
  const json choices = schema.value("enum", json::array({value}));
  if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
    errors.push_back(where + ": " + value.dump() + " is none of " + choices.dump());
  }
  if (schema.contains("const") && schema["const"] != value) errors.push_back(where + ": const");
  if (schema.contains("anyOf")) {
    const json& ways = schema["anyOf"];
    if (std::none_of(ways.begin(), ways.end(),
                     [&](const json& way) { return SchemaErrors(way, value).empty(); })) {
      errors.push_back(where + ": none of anyOf");
    }
  }
  if (value.is_number()) {
    if (schema.contains("minimum") && value < schema["minimum"]) errors.push_back(where + ": low");
    if (schema.contains("maximum") && value > schema["maximum"]) errors.push_back(where + ": high");
  }
  if (value.is_string()) CheckText(schema, value.get<std::string>(), where, errors);
  if (value.is_object()) CheckObject(schema, value, where, errors);
  if (value.is_array()) {
    if (value.size() > schema.value("maxItems", SIZE_MAX)) errors.push_back(where + ": many");
    for (size_t i = 0; schema.contains("items") && i < value.size(); ++i) {
      const Errors more = SchemaErrors(schema["items"], value[i], where + "/" + std::to_string(i));
      errors.insert(errors.end(), more.begin(), more.end());
    }
  }
  return errors;
}

}  // namespace belljar::tests
